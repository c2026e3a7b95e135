package nuts_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/nuts"
)

var settings = nuts.Settings{Warmup: 500, Draws: 2000, Accept: 0.8, MaxDepth: 10}

// unit is the identity.
func unit(n int) *mat.TriDense {
	l := mat.NewTriDense(n, mat.Lower, nil)
	for i := range n {
		l.SetTri(i, i, 1)
	}
	return l
}

func run(density nuts.Density, n, chains int, s nuts.Settings) (all []*nuts.Chain) {
	for i := range chains {
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		start := make([]float64, n)
		for j := range start {
			start[j] = rnd.NormFloat64()
		}
		all = append(all, nuts.Run(context.Background(), density, start, unit(n), rnd, s))
	}
	return all
}

// column returns the draws of coordinate j.
func column(chains []*nuts.Chain, j int) (out [][]float64) {
	for _, c := range chains {
		var v []float64
		for _, u := range c.Draws {
			v = append(v, u[j])
		}
		out = append(out, v)
	}
	return out
}

// TestGaussian: means and covariances of scales from 0.01 to 10, far from the metric at the start, within five standard errors of
// the effective sizes.
func TestGaussian(t *testing.T) {
	lower := mat.NewTriDense(3, mat.Lower, []float64{10, 0, 0, 1, 0.5, 0, -0.02, 0.03, 0.01})
	mean := []float64{3, -1, 0.5}
	var chol mat.Cholesky
	var l mat.Dense
	l.Mul(lower, lower.T())
	cov := mat.NewSymDense(3, nil)
	for a := range 3 {
		for b := range 3 {
			cov.SetSym(a, b, l.At(a, b))
		}
	}
	chol.Factorize(cov)
	density := func(grad, u []float64) float64 {
		d, g := mat.NewVecDense(3, nil), mat.NewVecDense(3, grad)
		for j := range u {
			d.SetVec(j, u[j]-mean[j])
		}
		if err := chol.SolveVecTo(g, d); err != nil {
			return math.NaN()
		}
		g.ScaleVec(-1, g)
		return 0.5 * mat.Dot(g, d)
	}
	chains := run(density, 3, 4, settings)
	for a := range 3 {
		x := column(chains, a)
		d := nuts.Diagnose(x)
		if !(d.RHat < 1.01) || !(d.Bulk > 2000) || !(d.Tail > 2000) {
			t.Errorf("coordinate %d: %+v", a, d)
		}
		for b := range a + 1 {
			y := column(chains, b)
			var first, second float64
			for c := range x {
				for i := range x[c] {
					first += x[c][i] - mean[a]
					second += (x[c][i] - mean[a]) * (y[c][i] - mean[b])
				}
			}
			n := float64(4 * settings.Draws)
			sd := math.Sqrt(cov.At(a, a))
			if z := first / n / sd * math.Sqrt(d.Bulk); math.Abs(z) > 5 {
				t.Errorf("mean %d off by %v standard errors", a, z)
			}
			scale := sd * math.Sqrt(cov.At(b, b))
			if e := (second/n - cov.At(a, b)) / scale; math.Abs(e) > 5*math.Sqrt(2/d.Tail) {
				t.Errorf("covariance (%d, %d) off by %v", a, b, e)
			}
		}
	}
	for _, c := range chains {
		if c.Divergent > 0 || c.Saturated > 0 || !(c.Accept > 0.7 && c.Accept < 0.97) || len(c.Draws) != settings.Draws {
			t.Errorf("%d divergent, %d saturated, acceptance %v", c.Divergent, c.Saturated, c.Accept)
		}
	}
	again := run(density, 3, 1, settings)
	if !slices.EqualFunc(again[0].Draws, chains[0].Draws, slices.Equal[[]float64]) {
		t.Error("the same seed draws otherwise")
	}
}

// TestFunnel: Neal's funnel, which no step suits, is told by divergences or by R̂.
func TestFunnel(t *testing.T) {
	const n = 8
	density := func(grad, u []float64) float64 { // u₀ ~ N(0, 9), the others N(0, e^u₀)
		v := u[0]
		log := -v*v/18 - 0.5*float64(n-1)*v
		grad[0] = -v/9 - 0.5*float64(n-1)
		for j := 1; j < n; j++ {
			q := u[j] * u[j] * math.Exp(-v)
			log -= 0.5 * q
			grad[0] += 0.5 * q
			grad[j] = -u[j] * math.Exp(-v)
		}
		return log
	}
	s := settings
	s.Draws = 1000
	divergent := 0
	for _, c := range run(density, n, 4, s) {
		divergent += c.Divergent
	}
	if divergent == 0 {
		t.Error("no divergence in a funnel")
	}
}

// TestHardEdge: outside its support a density is −Inf, and draws stay inside: an exponential distribution by its rate.
func TestHardEdge(t *testing.T) {
	density := func(grad, u []float64) float64 {
		grad[0] = -1
		if u[0] < 0 {
			return math.Inf(-1)
		}
		return -u[0]
	}
	c := nuts.Run(context.Background(), density, []float64{1}, unit(1), rand.New(rand.NewPCG(3, 3)), settings)
	var mean float64
	for _, u := range c.Draws {
		if u[0] < 0 {
			t.Fatal("a draw outside of the support")
		}
		mean += u[0] / float64(len(c.Draws))
	}
	if math.Abs(mean-1) > 0.2 || c.Divergent == 0 {
		t.Errorf("mean %v, want 1; %d divergences", mean, c.Divergent)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if c := nuts.Run(ended, density, []float64{1}, unit(1), rand.New(rand.NewPCG(3, 3)), settings); len(c.Draws) > 0 {
		t.Errorf("%d draws after the end of the context", len(c.Draws))
	}
}

// TestDiagnose: the effective size of an autoregression is n(1 − φ)/(1 + φ); a chain elsewhere, or of another width, shows in R̂.
func TestDiagnose(t *testing.T) {
	const n, chains = 4000, 4
	series := func(phi, mean, sd float64, seed uint64) []float64 {
		rnd := rand.New(rand.NewPCG(9, seed))
		out, state := make([]float64, n), rnd.NormFloat64()
		for i := range out {
			out[i] = mean + sd*state
			state = phi*state + math.Sqrt(1-phi*phi)*rnd.NormFloat64()
		}
		return out
	}
	for _, phi := range []float64{0, 0.5, 0.9, -0.3} {
		var all [][]float64
		for c := range chains {
			all = append(all, series(phi, 0, 1, uint64(c)))
		}
		d := nuts.Diagnose(all)
		if want := n * chains * (1 - phi) / (1 + phi); math.Abs(d.Bulk/want-1) > 0.15 || d.RHat > 1.02 || !(d.Tail > 0.3*want) {
			t.Errorf("φ = %v: %+v, want an effective size of %v", phi, d, want)
		}
		moved, wide := slices.Clone(all), slices.Clone(all)
		moved[0], wide[0] = series(phi, 1, 1, 7), series(phi, 0, 3, 7)
		if d := nuts.Diagnose(moved); d.RHat < 1.05 {
			t.Errorf("a chain elsewhere: %+v", d)
		}
		if d := nuts.Diagnose(wide); d.RHat < 1.05 {
			t.Errorf("a wider chain: %+v", d)
		}
	}
	if d := nuts.Diagnose([][]float64{{1, 2, 3}}); !math.IsNaN(d.RHat) {
		t.Errorf("three draws: %+v", d)
	}
}
