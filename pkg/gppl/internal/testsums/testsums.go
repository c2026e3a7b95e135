// Package testsums provides the series and the sums that tests of several packages share.
package testsums

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Plain and Weighted are ranges for Series without its weights and with them.
var (
	Plain    = sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Centre: 3, Largest: 5}
	Weighted = sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Centre: 3, Largest: 5, LargestWeight: 2}
)

// Series is a series on [0, 100] with weights.
func Series(seed uint64, n int) (x, y, w []float64) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	for range n {
		t := 100 * rnd.Float64()
		x, y, w = append(x, t), append(y, 3+math.Sin(t)+0.3*rnd.NormFloat64()), append(w, 2*(1-rnd.Float64()))
	}
	return x, y, w
}

// Header returns the header of the plan for a range.
func Header(t testing.TB, r sums.Range) sums.Header {
	t.Helper()
	return testkit.Must(sums.NewPlan(r))(t).Header
}

// New returns empty sums for a range.
func New(t testing.TB, r sums.Range) *sums.Sums {
	t.Helper()
	return testkit.Must(sums.New(Header(t, r)))(t)
}
