package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// lags are the distances between inputs on a grid of equal steps, most places of which may be empty: the opening hours of a shop,
// working days. The covariance of n inputs on N places then has N values, in place of one for each of n² pairs, and a gradient
// contracts with N sums of weights. This saves the dense engine half of its time at n = 750, where a kernel has two seasons.
type lags struct {
	place []int     // of each input, in steps from the first
	r     []float64 // the distance of each number of steps
}

// lagsOf returns the lags of x; nil if x has several dimensions or is on no grid of few places. The grid holds to rounding:
// distances of the inputs themselves are off by as much.
func lagsOf(x Inputs) *lags {
	const (
		fewest   = 128     // observations, below which little is saved
		spread   = 16      // places to an observation
		rounding = 0x1p-50 // of the largest input
	)
	n := x.Len()
	if x.Dim() != 1 || n < fewest {
		return nil
	}
	sorted := slices.Sorted(slices.Values(x.at))
	span, step := sorted[n-1]-sorted[0], math.Inf(1)
	for i := 1; i < n; i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 {
			step = min(step, d)
		}
	}
	places := math.Round(span / step)
	if !(places >= 1 && places < spread*float64(n)) {
		return nil
	}
	step = span / places
	off := rounding * max(math.Abs(sorted[0]), math.Abs(sorted[n-1]))
	g := &lags{place: make([]int, n), r: make([]float64, int(places)+1)}
	for i, v := range x.at {
		k := math.Round((v - sorted[0]) / step)
		if math.Abs(v-sorted[0]-k*step) > off {
			return nil
		}
		g.place[i] = int(k)
	}
	for k := range g.r {
		g.r[k] = float64(k) * step
	}
	return g
}

// of returns the number of steps between two inputs.
func (g *lags) of(i, j int) int {
	k := g.place[i] - g.place[j]
	return max(k, -k)
}

// fillGram is fillGram with one covariance for each lag, which it keeps in table.
func (g *lags) fillGram(l *dense.Lower, k Kernel, noise float64, table []float64) {
	k.Cov(table, g.r)
	l.EachTile(func(i, j int, t blas64.General) {
		for a := range t.Rows {
			row := t.Data[a*t.Stride : a*t.Stride+t.Cols]
			for b := range row {
				row[b] = table[g.of(i*dense.Tile+a, j*dense.Tile+b)]
			}
		}
	})
	l.AddDiagonal(noise)
}

// gather adds the weights of tile (j, i) to those of their lags.
func (g *lags) gather(sums, w []float64, i, j, height, cols int) {
	for a := range height {
		for b, weight := range w[a*cols : (a+1)*cols] {
			sums[g.of(j*dense.Tile+a, i*dense.Tile+b)] += weight
		}
	}
}
