//go:build !openblas

package dense

// Tile is the side of a tile. At 64, gonum's pure-Go Gemm runs serially and
// without allocating, near its full speed.
const Tile = 64

// smallTriangle is the size of the triangles that Trsm leaves to gonum: below it, products are too small to gain (BenchmarkTrsm).
const smallTriangle = 8
