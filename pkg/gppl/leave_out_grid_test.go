package gppl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestLeaveOutGrid compares what is left out on a grid, of a short SE alone and beside waves, with the dense engine: single
// observations and blocks, at the ends, in a gap and at coinciding times.
func TestLeaveOutGrid(t *testing.T) {
	n := testkit.Size(150, 300, 600)
	rnd := rand.New(rand.NewPCG(4, 14))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		if x[i] = 400 * rnd.Float64(); x[i] > 200 && x[i] < 220 {
			x[i] -= 150
		}
		y[i] = math.Sin(x[i]) + 0.3*rnd.NormFloat64()
	}
	x[5] = x[6]
	d := Data{X: Scalars(x), Y: y}
	var first, last int
	for i := range x {
		if x[i] < x[first] {
			first = i
		}
		if x[i] > x[last] {
			last = i
		}
	}
	blocks := [][]int{{5, 7}, {6}, {0, 1, 2, 3}, {first, last}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}
	var ones [][]int
	for i := range n {
		ones = append(ones, []int{i})
	}
	relative := make([]float64, n)
	for i := range relative {
		relative[i] = 0.5 + rnd.Float64()
	}
	for _, c := range []struct {
		engine string
		kernel Kernel
		mean   Mean
		uneven bool
	}{
		{EngineGridded, SE{1, 3}, nil, false},
		{EngineGridded, SE{1, 3}, Intercept{}, true},
		{EngineMixed, Add(SE{1, 3}, Periodic{0.5, 1, 6.3}), nil, false},
		{EngineMixed, Add(SE{1, 3}, Periodic{0.5, 1, 6.3}, White{0.1}), Intercept{}, false},
		{EngineMixed, Add(SE{1, 3}, SE{2, 300}), nil, false},
	} {
		m := Model{Kernel: c.kernel, Noise: 0.1, Mean: c.mean}
		if d.Relative = nil; c.uneven {
			d.Relative = relative
		}
		posterior := func(engine string) *Posterior {
			l, err := NewExact(t.Context(), m, d, WithEngine(engine), forPosterior)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range l.engines {
				if mixed, ok := e.(*mixedExact); ok {
					mixed.favour = math.Inf(1) // a band is faster for so few
				}
			}
			p, err := l.Posterior(t.Context(), m.Values())
			if err != nil {
				t.Fatalf("%v by %s: %v", m, engine, err)
			}
			return p
		}
		got, want := posterior(c.engine), posterior(EngineDense)
		if based, ok := got.predictor.(*basedPosterior); c.engine == EngineMixed && (!ok || based.which != gridBase) {
			t.Errorf("%v is not on a grid", c.kernel)
		}
		for _, blocks := range [][][]int{ones, blocks} {
			mean, variances, err := got.leaveOut(context.Background(), m, d, blocks)
			if err != nil {
				t.Fatal(err)
			}
			wantMean, wantVariances, err := want.leaveOut(context.Background(), m, d, blocks)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range wantVariances {
				if math.IsNaN(want) != math.IsNaN(variances[i]) || math.Abs(mean[i]-wantMean[i]) > 1e-7*math.Sqrt(want) ||
					math.Abs(variances[i]-want) > 1e-7*want {
					t.Errorf("%v, y[%d] of %d blocks: %.12g ± √%.12g, dense %.12g ± √%.12g",
						m, i, len(blocks), mean[i], variances[i], wantMean[i], want)
					break
				}
			}
		}
	}
}
