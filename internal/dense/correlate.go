package dense

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
)

const (
	// windows is the number of neighbouring windows that Correlate multiplies at a time.
	windows = 8
	// strands is the number of sums that a product of vectors is added up in, as by gonum: every fourth product in one.
	strands = 4
)

// Correlate sets dst to the products of x with the windows of long, which is zero beyond its end,
//
//	dst_i = Σ_j long_(i+j)·x_j,
//
// and returns its working memory, work or a larger slice. dst has at most one entry more than long, and may share memory with x
// or long. This takes at most 2·len(dst)·len(x) operations. With AVX it takes half to three quarters of the time of inner
// products one by one (BenchmarkCorrelate), and gives the same bits.
func Correlate(dst, long, x, work []float64) []float64 {
	n, m := len(x), len(long)
	if len(dst) > m+1 {
		panic(fmt.Sprintf("dense: dst has %d entries, long %d", len(dst), m))
	}
	// The zeros before x and after both serve whole strands, and windows that begin later.
	const behind = windows + strands
	work = Resize(work, strands+n+behind+m+behind)
	clear(work[:strands])
	clear(work[strands+copy(work[strands:], x):][:behind])
	from := work[strands+n+behind:]
	clear(from[copy(from, long):])
	var sums [windows]float64
	for i := 0; i < len(dst); i += windows {
		if products := min(n, m-i); products > 0 {
			slide(&sums, (products+strands-1)/strands*strands, from[i:], work[:strands+n+behind])
		} else {
			clear(sums[:])
		}
		copy(dst[i:], sums[:])
	}
	return work
}

// slideEach sets sums to the products of k entries of x, from the fifth on, with the first windows of long. k is a multiple of
// strands, and further entries of x meet zeros.
func slideEach(sums *[windows]float64, k int, long, x []float64) {
	for s := range sums {
		sums[s] = floats.Dot(long[s:][:k], x[strands:][:k])
	}
}
