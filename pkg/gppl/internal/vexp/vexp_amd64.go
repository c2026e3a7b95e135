package vexp

import "golang.org/x/sys/cpu"

// constants are what expVector reads, in its order.
var constants = [...]float64{lowest, highest, perUnit, shift, c1, c2, p5, p4, p3, p2}

// expFours does as Exp for fours of entries, up to the first with a number above highest or a NaN, and returns how many entries
// it did: all of them, but for the last three at most, if no such number is there.
func expFours(dst, x []float64) int {
	if !cpu.X86.HasAVX2 {
		expEach(dst, x)
		return len(x)
	}
	if len(x) < 4 {
		return 0
	}
	return expVector(len(x)/4, &dst[0], &x[0], &constants[0], &table[0])
}

// expVector does as expFours, which passes the number of fours and its constants, and takes the steps of expEach with four
// numbers at once. It needs AVX2.
//
//go:noescape
func expVector(fours int, dst, x, constants *float64, table *uint64) (done int)

// squaresOfFours does as AddSquares for fours of entries, and returns how many entries it did.
func squaresOfFours(s []float64, x float64, from []float64) int {
	fours := len(s) / 4
	if fours > 0 && cpu.X86.HasAVX {
		addSquaresVector(fours, &s[0], x, &from[0])
		return 4 * fours
	}
	return 0
}

// addSquaresVector does as squaresOfFours, which passes the number of fours. It needs AVX.
//
//go:noescape
func addSquaresVector(fours int, s *float64, x float64, from *float64)

// rootsOfFours does as Roots for fours of entries, and returns how many entries it did.
func rootsOfFours(x []float64) int {
	fours := len(x) / 4
	if fours > 0 && cpu.X86.HasAVX {
		rootVector(fours, &x[0])
		return 4 * fours
	}
	return 0
}

// rootVector does as rootsOfFours, which passes the number of fours. It needs AVX.
//
//go:noescape
func rootVector(fours int, x *float64)
