//go:build !amd64

package vexp

// expFours does as Exp and returns the number of entries.
func expFours(dst, x []float64) int {
	expEach(dst, x)
	return len(x)
}

// rootsOfFours leaves all entries to Roots.
func rootsOfFours([]float64) int { return 0 }

// squaresOfFours leaves all entries to AddSquares.
func squaresOfFours([]float64, float64, []float64) int { return 0 }
