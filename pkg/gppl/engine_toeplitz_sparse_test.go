package gppl

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// singleDays is a mean with a constant, a trend and a coefficient for each of 12 sets of three days.
type singleDays struct{ n int }

func (m singleDays) Columns() []Column {
	c := []Column{{"constant", math.Inf(1)}, {"slope", 4}}
	for j := range 12 {
		c = append(c, Column{"day " + string(rune('a'+j)), 0.1 + 0.05*float64(j)})
	}
	return c
}
func (singleDays) Check() error   { return nil }
func (singleDays) String() string { return "single days" }
func (m singleDays) Basis(x Inputs) (*mat.Dense, error) {
	rnd := rand.New(rand.NewPCG(uint64(m.n), 2))
	days := map[float64]int{0: 0, float64(m.n - 1): 1}
	for j := range 12 {
		for range 3 {
			days[float64(rnd.IntN(m.n))] = j
		}
	}
	h := mat.NewDense(x.Len(), 14, nil)
	for i := range x.Len() {
		t := x.At(i)[0]
		h.Set(i, 0, 1)
		h.Set(i, 1, t/float64(m.n))
		if j, ok := days[t]; ok {
			h.Set(i, 2+j, 1)
		}
	}
	return h, nil
}

// TestToeplitzSparseMean: with a mean of single days the toeplitz engine, which solves for these by rows of A⁻¹, answers as the
// dense one does: values, gradients, predictions and leave-one-out, with and without missing rows, of short and long series.
func TestToeplitzSparseMean(t *testing.T) {
	near := func(what string, got, want []float64, tolerance float64) {
		t.Helper()
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= tolerance*(1+math.Abs(v))) {
				t.Errorf("%s %d is %v, dense %v", what, i, got[i], v)
			}
		}
	}
	for _, n := range []int{200, 560} {
		for _, missing := range [][]int{nil, {7, 90}} {
			d := regularData(t, n, 0, 1, missing...)
			for _, k := range []Kernel{Laplace{1, 9}, SE{1, 4}, Add(RQ{1, 5, 0.7}, Periodic{0.5, 1, 7})} {
				m := Model{Kernel: k, Noise: 0.05, Mean: singleDays{n}}
				toeplitz := testkit.Must(NewExact(t.Context(), m, d, WithEngine(EngineToeplitz)))(t)
				full := testkit.Must(NewExact(t.Context(), m, d, WithEngine(EngineDense)))(t)
				if toeplitz.series.Sparse == nil {
					t.Fatal("the basis has no sparse columns")
				}
				theta := make([]float64, len(toeplitz.Params()))
				for i, p := range toeplitz.Params() {
					theta[i] = p.Value
				}
				grad, want := make([]float64, len(theta)), make([]float64, len(theta))
				value := testkit.Must(toeplitz.ValueGrad(t.Context(), grad, theta))(t)
				wantValue := testkit.Must(full.ValueGrad(t.Context(), want, theta))(t)
				near("value", []float64{value}, []float64{wantValue}, 1e-10)
				near("derivative", grad, want, 1e-8)
				at := Scalars([]float64{-3, 0, 0.5, float64(n - 1), float64(n + 4)})
				p := testkit.Must(NewPosterior(t.Context(), m, d, WithEngine(EngineToeplitz)))(t)
				wantP := testkit.Must(NewPosterior(t.Context(), m, d, WithEngine(EngineDense)))(t)
				mean, v := testkit.Must2(p.Latent(t.Context(), at))(t)
				wantMean, wantV := testkit.Must2(wantP.Latent(t.Context(), at))(t)
				near("mean", mean, wantMean, 1e-9)
				near("variance", v, wantV, 1e-9)
				left, spread := testkit.Must2(LeaveOut(t.Context(), m, d, nil, WithEngine(EngineToeplitz)))(t)
				wantLeft, wantSpread := testkit.Must2(LeaveOut(t.Context(), m, d, nil, WithEngine(EngineDense)))(t)
				near("left out", left, wantLeft, 1e-8)
				near("its variance", spread, wantSpread, 1e-8)
			}
		}
	}
}
