package gppl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// maternSum is a random sum of Matérn terms over a random series, regular or not, with equal inputs at times.
type maternSum struct {
	kernel Kernel
	noise  float64
	d      Data
}

// newMaternSum draws one. Half of the sums have Matérn 3/2 alone.
func newMaternSum(tb testing.TB, rnd *rand.Rand, n int) (s maternSum) {
	tb.Helper()
	log10 := func(a, b float64) float64 { return math.Pow(10, a+(b-a)*rnd.Float64()) }
	x, y := make([]float64, n), make([]float64, n)
	regular, spacing := rnd.IntN(3) == 0, log10(-2, 2)
	for i := range x {
		x[i], y[i] = spacing*float64(i), rnd.NormFloat64()
		if !regular {
			x[i] = spacing * float64(n) * rnd.Float64()
		}
		if !regular && i > 0 && rnd.IntN(20) == 0 {
			x[i] = x[i-1]
		}
	}
	alike := rnd.IntN(2) == 0
	var terms []Kernel
	for range 1 + rnd.IntN(4) {
		v, l, order := log10(-2, 1), spacing*log10(-1, 3), 1
		if !alike {
			order = rnd.IntN(3)
		}
		terms = append(terms, []Kernel{Laplace{v, l}, Matern32{v, l}, Matern52{v, l}}[order])
	}
	if s.kernel = terms[0]; len(terms) > 1 {
		s.kernel = Add(terms...)
	}
	s.noise = log10(-9, 1)
	var err error
	if s.d, err = NewData(Scalars(x), y); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestSweeps compares random sums of Matérn terms with the dense engine: value and gradient agree within the bounds of both, and
// pairs of terms are taken only where their bound keeps the tolerance.
func TestSweeps(t *testing.T) {
	t.Parallel()
	draws := 500
	if testkit.Quick() {
		draws = 150
	}
	rnd := rand.New(rand.NewPCG(5, 63))
	count := map[bool]int{}
	for range draws {
		s := newMaternSum(t, rnd, 2+rnd.IntN(80))
		m := Model{Kernel: s.kernel, Noise: s.noise}
		theta := Values(m.Params())
		var value, bound [2]float64
		var grad [2][]float64
		for i, engine := range []string{EngineStateSpace, EngineDense} {
			loss, err := NewExact(t.Context(), m, s.d, WithEngine(engine))
			if err != nil {
				t.Fatal(err)
			}
			grad[i] = make([]float64, len(theta))
			if value[i], err = loss.ValueGrad(t.Context(), grad[i], theta); err != nil {
				t.Fatalf("%v, noise %v: %v", s.kernel, s.noise, err)
			}
			bound[i] = loss.Report().LastBound
		}
		both := bound[0] + bound[1]
		if !(math.Abs(value[0]-value[1]) <= both) {
			t.Errorf("%v, noise %.3g, n = %d: value %v, dense %v, promised %.2g", s.kernel, s.noise, len(s.d.Y), value[0], value[1], both)
		}
		for p := range theta {
			if d := theta[p] * (grad[0][p] - grad[1][p]); !(math.Abs(d) <= gradientPromise*both) {
				t.Errorf("%v, noise %.3g, n = %d: derivative %d errs by %.2g, promised %.2g", s.kernel, s.noise, len(s.d.Y), p, d,
					gradientPromise*both)
			}
		}
		e := newStateSpaceExact(lineOf(s.d.X.at, s.d.Y))
		c := compiledAt(s.kernel, s.noise)
		n := float64(len(s.d.Y))
		f, by := e.sweep(&c.state, c)
		pairs := by == statespace.ByPairs
		count[pairs]++
		if pairs && f.Err > n*e.tolerance {
			t.Errorf("%v, noise %.3g: pairs of terms, whose bound is %.2g", s.kernel, s.noise, f.Err)
		}
		e.tolerance = 0 // a tolerance that pairs never keep
		if _, by := e.sweep(&c.state, c); by == statespace.ByPairs {
			t.Errorf("%v: pairs of terms without any tolerance", s.kernel)
		}
	}
	if count[true] < draws/10 || count[false] < draws/10 {
		t.Errorf("sweeps by pairs and not: %v", count)
	}
}

// BenchmarkSweeps times value and gradient of random sums of Matérn terms by both sweeps, in turn, and reports how much longer
// the one that is chosen takes than the faster one, at worst and in the mean, for the sums where pairs may be taken.
func BenchmarkSweeps(b *testing.B) {
	const turns = 15
	rnd := rand.New(rand.NewPCG(5, 64))
	worst, sum, count := 0., 0., 0.
	for b.Loop() {
		s := newMaternSum(b, rnd, int(math.Pow(10, 1.3+2.4*rnd.Float64())))
		line, c := lineOf(s.d.X.at, s.d.Y), compiledAt(s.kernel, s.noise)
		n, e := float64(len(line.T)), newStateSpaceExact(line)
		_, chosen := e.sweep(&c.state, c)
		if pairsSpare*e.byPairs(&c.state, c, n, s.noise).Err > n*defaultTolerance {
			continue
		}
		var filters [2]*statespace.Filter
		var times [2][]float64
		r := blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}
		for turn := range 2 * turns {
			by := []statespace.Sweep{statespace.BySum, statespace.ByPairs}[(turn+turn/2)%2]
			i := int(by)
			if filters[i] == nil {
				filters[i] = statespace.NewFilter(line.T, nil)
			}
			begin, f := time.Now(), filters[i]
			for range max(1, 2000/len(line.T)) {
				if err := f.Factorise(line.Columns, c.state.blocks, s.noise, by); err != nil {
					b.Fatal(err)
				}
				f.Gradient(make([]float64, f.Derivatives()), r)
			}
			times[i] = append(times[i], time.Since(begin).Seconds())
		}
		took := [2]float64{slices.Min(times[0]), slices.Min(times[1])}
		ratio := took[chosen] / min(took[0], took[1])
		if ratio > 1.1 {
			b.Logf("%v, n = %d: %.3g times", s.kernel, len(line.T), ratio)
		}
		worst, sum, count = max(worst, ratio), sum+ratio, count+1
	}
	b.ReportMetric(worst, "worst/best")
	b.ReportMetric(sum/max(1, count), "mean/best")
}
