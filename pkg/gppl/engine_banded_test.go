package gppl

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

func norm(x []float64) float64 { return blas64.Nrm2(dense.Vec(x)) }

// spaced returns n times one apart.
func spaced(n int) Inputs {
	x := timeline.Steps(n)
	return Scalars(x)
}

// smoothCases are smooth kernels whose band is many blocks wide. At commit
// 1b1a4f7 their gradient was wrong by factors between 1e2 and 1e67, without a
// word: Takahashi's recursion amplified its own rounding.
var smoothCases = []struct {
	name  string
	n     int
	k     Kernel
	noise float64
}{
	{"LocPer", 2000, LocPer{1, 60, 12, 1}, 0.1},
	{"SE", 3000, SE{1, 32}, 1e-6},
	{"Matern52×Periodic", 2000, Mul(Matern52{1, 32}, Periodic{1, 1, 12}), 1e-4},
	{"SE×Periodic", 1500, Mul(SE{1, 24}, Periodic{1, 0.7, 9}), 1e-5},
}

// TestBandedGradientSmooth compares the gradient of smooth kernels, at spacing
// 1, with the dense engine's.
func TestBandedGradientSmooth(t *testing.T) {
	t.Parallel()
	for _, c := range smoothCases {
		t.Run(c.name, func(t *testing.T) {
			n := min(c.n, 1000) // where the recursion of 1b1a4f7 was long beyond use
			switch {
			case testkit.Long():
				n = c.n
			case testkit.Quick():
				n = 500
			}
			m := Model{Kernel: c.k, Noise: c.noise}
			d := drawFrom(t, m, spaced(n), rand.New(rand.NewPCG(1, 11)))
			got, want := make([]float64, len(m.Params())), make([]float64, len(m.Params()))
			series := lineOf(d.X.at, d.Y)
			v, err := nllBy(newBandedExact(series), got, m.Kernel, m.Noise, n, nil)
			if err != nil {
				t.Fatal(err)
			}
			w, err := nllBy(newDenseExact(d.X, dense.AsColumn(d.Y), observed.Noise{}), want, m.Kernel, m.Noise, n, nil)
			if err != nil {
				t.Fatal(err)
			}
			var off float64
			for i := range got {
				off = max(off, math.Abs(got[i]-want[i]))
			}
			// What the two promise for derivatives of about one nat per observation.
			u := bandedRounding(variance(c.k), c.noise) + rounding(variance(c.k), c.noise)
			limit := 4 * u * max(float64(n), norm(want)) // 4: a period's gradient is larger
			t.Logf("value %.9g, dense %.9g; gradient %.6g, dense %.6g; off by %.2g, %.2g allowed", v, w, got, want, off, limit)
			if !(off <= limit) {
				t.Errorf("the gradient is off by %.2g, %.2g allowed", off, limit)
			}
		})
	}
}

// TestBandedTraining: training by the banded engine ends where the spectral
// engine's does. With the gradient of 1b1a4f7 it stalled far above.
func TestBandedTraining(t *testing.T) {
	t.Parallel()
	d := drawFrom(t, Model{Kernel: SE{1, 16}, Noise: 1e-8}, spaced(testkit.Size(500, 1000, 1000)), rand.New(rand.NewPCG(0, 12)))
	var value [2]float64
	for i, engine := range []string{EngineBanded, EngineSpectral} {
		l, err := NewExact(t.Context(), Model{Kernel: SE{0.5, 10}, Noise: 1e-4}, d, WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Fit(context.Background(), l, nil, Settings{NoStandardErrors: true, MaxEvaluations: 150})
		if err != nil {
			t.Fatal(err)
		}
		value[i] = r.Value
		t.Logf("%s: %.4f nats, %v, %d evaluations, %v", engine, r.Value, r.Status, r.Evaluations, r.Model)
	}
	if !(math.Abs(value[0]-value[1]) < 0.01) {
		t.Errorf("banded ends at %.4f nats, spectral at %.4f", value[0], value[1])
	}
}

// TestBandedLags: on days of work, which have fewer distances than pairs, a kernel is computed once for each distance, in days
// and in years, which round them, and a kernel that depends on the place for each pair.
func TestBandedLags(t *testing.T) {
	for unit, year := range map[string]float64{"days": 1, "years": 365.2425} {
		x := make([]float64, 300)
		for i := range x {
			x[i] = map[bool]float64{true: 2010}[unit == "years"] + float64(i/5*7+i%5)/year
		}
		for _, k := range []Kernel{
			SE{1, 9 / year}, Laplace{1, 4 / year}, Matern32{1, 5 / year}, LocPer{1, 8 / year, 1, 4.9 / year},
			Add(SE{1, 6 / year}, Mul(Matern52{0.5, 7 / year}, Periodic{1, 1, 5 / year}), White{0.01}),
			ChangePoint{SE{1, 9 / year}, Matern32{2, 4 / year}, x[100], 20 / year},
		} {
			m := Model{Kernel: k, Noise: 0.01}
			d := drawFrom(t, m, Scalars(x), rand.New(rand.NewPCG(1, 13)))
			var value [2]float64
			var grad [2][]float64
			for i, engine := range []string{EngineDense, EngineBanded} {
				l, err := NewExact(t.Context(), m, d, WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				grad[i] = make([]float64, len(l.Params()))
				if value[i], err = l.ValueGrad(t.Context(), grad[i], Values(l.Params())); err != nil {
					t.Fatal(k, err)
				}
			}
			const tol = 1e-9
			if math.Abs(value[1]-value[0]) > tol {
				t.Errorf("%v in %s: %v, dense %v", k, unit, value[1], value[0])
			}
			for p, g := range grad[0] {
				if math.Abs(grad[1][p]-g) > tol*(1+math.Abs(g)) {
					t.Errorf("%v in %s: derivative %d is %v, dense %v", k, unit, p, grad[1][p], g)
				}
			}
		}
	}
}

// faultyBanded is the banded engine with a fault between its inverse and the
// check, and one in the gradient.
type faultyBanded struct {
	exactEngine
	inverse func(row, col int, tile blas64.General)
	grad    func(grad []float64)
}

type faultyBandedFactor struct {
	*bandedFactor
	faults faultyBanded
}

func (e faultyBanded) factor(m *compiled) (exactFactor, error) {
	f, err := e.exactEngine.factor(m)
	if err != nil {
		return nil, err
	}
	return faultyBandedFactor{f.(*bandedFactor), e}, nil
}

// gradient is a bandedFactor's, with the faults.
func (f faultyBandedFactor) gradient(grad []float64, r blas64.General) error {
	f.invert(r)
	f.band.gram.EachTile(f.faults.inverse)
	if err := f.checkInverse(); err != nil {
		return err
	}
	f.contract(grad)
	f.faults.grad(grad)
	return f.checkScale(grad)
}

// TestBandedCheck: faults of the inverse and of its sums send an evaluation to
// the next engine, and are counted.
func TestBandedCheck(t *testing.T) {
	k := Add(SE{1, 6}, Mul(SE{0.5, 4}, Periodic{1, 1, 5}), White{0.01})
	m := Model{Kernel: k, Noise: 0.01}
	d := drawFrom(t, m, spaced(400), rand.New(rand.NewPCG(1, 13)))
	theta := Values(m.Params())
	want := make([]float64, len(theta))
	byDense, err := NewExact(t.Context(), m, d, WithEngine(EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	value, err := byDense.ValueGrad(t.Context(), want, theta)
	if err != nil {
		t.Fatal(err)
	}
	inTile := func(f func(tile blas64.General, diagonal bool)) func(int, int, blas64.General) {
		return func(row, col int, tile blas64.General) { f(tile, row == col) }
	}
	scale := func(x []float64, f float64) { blas64.Scal(f, dense.Vec(x)) }
	for _, fault := range []struct {
		name    string
		inverse func(tile blas64.General, diagonal bool)
		grad    func(grad []float64)
	}{
		{"none", nil, nil},
		{"inverse 1.001 times as large", func(tile blas64.General, _ bool) { scale(tile.Data, 1.001) }, nil},
		{"wrong sign beside the diagonal", func(tile blas64.General, diagonal bool) {
			if !diagonal {
				scale(tile.Data, -1)
			}
		}, nil},
		{"nothing beside the diagonal", func(tile blas64.General, diagonal bool) {
			if !diagonal {
				clear(tile.Data)
			}
		}, nil},
		{"not a number", func(tile blas64.General, _ bool) { tile.Data[0] = math.NaN() }, nil},
		{"gradient 1.001 times as large", nil, func(g []float64) { scale(g, 1.001) }},
		{"wrong sign", nil, func(g []float64) { scale(g, -1) }},
		{"no first term", nil, func(g []float64) { g[0] = 0 }},
		{"no noise", nil, func(g []float64) { g[len(g)-1] = 0 }},
	} {
		t.Run(fault.name, func(t *testing.T) {
			l, err := NewExact(t.Context(), m, d)
			if err != nil {
				t.Fatal(err)
			}
			banded := -1
			for i, e := range l.engines {
				if e.name() != EngineBanded {
					continue
				}
				banded = i
				faulty := faultyBanded{e, func(int, int, blas64.General) {}, func([]float64) {}}
				if fault.inverse != nil {
					faulty.inverse = inTile(fault.inverse)
				}
				if fault.grad != nil {
					faulty.grad = fault.grad
				}
				l.engines[i] = faulty
			}
			l.engines = []exactEngine{l.engines[banded], l.engines[len(l.engines)-1]} // banded, then dense
			l.chooser = choice.New(l.options.Limits, l.chooser.Limit, []string{EngineBanded, EngineDense})
			grad := make([]float64, len(theta))
			got, err := l.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Fatal(err)
			}
			r, u := l.Report(), verify.Failed{}
			if fault.inverse == nil && fault.grad == nil {
				if r.Engine != EngineBanded || r.Fallbacks > 0 {
					t.Errorf("without a fault: %+v, %v", r, l.chooser.Last().LastErr)
				}
			} else if r.Engine != EngineDense || r.Fallbacks != 1 || !errors.As(l.chooser.Last().LastErr, &u) {
				t.Errorf("not caught: %+v, %v", r, l.chooser.Last().LastErr)
			}
			if math.Abs(got-value) > 1e-8*400 {
				t.Errorf("value %v, want %v", got, value)
			}
			for i := range grad {
				if math.Abs(grad[i]-want[i]) > 1e-6*(1+math.Abs(want[i])) {
					t.Errorf("gradient %v, want %v", grad, want)
					break
				}
			}
		})
	}
}

// TestBandedPosterior compares predictions with the dense engine's: regular, irregular, repeated and clustered
// inputs with gaps, from within one reach to hundreds, in and out of order, few and many new inputs, a mean, known
// errors, and variances of the noise from 1e-6 of the signal's to ten times it.
func TestBandedPosterior(t *testing.T) {
	n, cases := 500, 24
	if testkit.Quick() {
		n, cases = 250, 12
	}
	for c := range cases {
		rnd := rand.New(rand.NewPCG(uint64(c), 24))
		x, y, known := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			switch c % 4 {
			case 0:
				x[i] = float64(i)
			case 1:
				x[i] = float64(n) * rnd.Float64()
			case 2: // fifties, with gaps
				x[i] = float64(i/50*300) + 50*rnd.Float64()
			case 3:
				x[i] = float64((i * 7) % n / 3) // repeated, out of order
			}
			y[i] = rnd.NormFloat64()
			known[i] = 0.1 * rnd.Float64()
		}
		l := 0.3 * math.Pow(300, rnd.Float64())
		m := Model{Kernel: []Kernel{SE{1.3, l}, LocPer{0.7, l, 3 * l, 1}, Matern52{1, l / 3}, Add(SE{1, l}, White{0.2})}[c/4%4],
			Noise: math.Pow(10, 1-7*rnd.Float64())}
		if c%3 == 1 {
			m.Mean = AddMeans(Intercept{}, NewTrend(1, Scalars(x)))
		}
		d, err := NewData(Scalars(x), y)
		if err != nil {
			t.Fatal(err)
		}
		if c%5 == 2 {
			if d, err = d.WithErrors(known); err != nil {
				t.Fatal(err)
			}
		}
		want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		got, err := NewPosterior(t.Context(), m, d, WithEngine(EngineBanded))
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 3, 40, 700} {
			at := make([]float64, count)
			for i := range at {
				at[i] = float64(n) * (2*rnd.Float64() - 0.5)
				if i%7 == 0 {
					at[i] = x[rnd.IntN(n)]
				}
			}
			mean, variances := testkit.Must2(got.Latent(t.Context(), Scalars(at)))(t)
			wantMean, wantVariances := testkit.Must2(want.Latent(t.Context(), Scalars(at)))(t)
			limit := 1e-12 * (1 + 1/m.Noise)
			for i := range at {
				if math.Abs(mean[i]-wantMean[i]) > 10*limit || math.Abs(variances[i]-wantVariances[i]) > limit {
					t.Fatalf("case %d, %v, %d inputs, x = %v: %v, variance %v; dense %v, %v",
						c, m, count, at[i], mean[i], variances[i], wantMean[i], wantVariances[i])
				}
			}
		}
	}
}
