//go:build openblas

package dense

// Tile is the side of a tile. OpenBLAS packs its operands and wants them
// larger than the pure-Go Gemm does.
const Tile = 192

// smallTriangle is the size of the triangles that Trsm leaves to OpenBLAS, which splits them itself.
const smallTriangle = Tile
