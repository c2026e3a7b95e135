package gppl

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// wavers are kernels that are sums of few waves over the span, with sharp and blunt harmonics, and lengthscales on both
// sides of the period and of the span.
func wavers(span float64) (kernels []waver) {
	for _, p := range []float64{1e-4 * span, 0.03 * span, 0.7 * span, 20 * span} {
		for _, l := range []float64{0.05, 0.7, 3, 1e3} {
			kernels = append(kernels, Periodic{1.3, l, p})
			for _, decay := range []float64{0.1, 1, 300} {
				if decay*span > 20*p*l || l == 1e3 { // not too many waves for a test
					kernels = append(kernels, LocPer{0.7, decay * span, p, max(l, 0.3)})
				}
			}
		}
		kernels = append(kernels, SpectralMixture{0.8, 0.3 * span, p}, SpectralMixture{0.8, 40 * span, p})
	}
	for _, l := range []float64{0.01, 0.4, 1e4} {
		kernels = append(kernels, SE{1.1, l * span})
	}
	for _, alpha := range []float64{0.1, 1, 30} {
		m, _ := RQ{1.1, 0.2 * span, alpha}.mixture()
		for _, from := range []float64{0.1 * span, 0.2 * span, span} {
			if k := m.between(from, 4*from, false); len(k.scales.Terms) > 0 {
				kernels = append(kernels, k)
			}
		}
		kernels = append(kernels, m.between(0.2*span, math.Inf(1), true))
	}
	return kernels
}

// TestWaves: the waves of a kernel add up to it, and their derivatives to its derivatives, but for what eps allows. It
// fails if a band is too narrow, a coefficient wrong, or if one has lost the digits of a frequency far above others.
func TestWaves(t *testing.T) {
	const span = 30.0
	rnd := rand.New(rand.NewPCG(4, 9))
	for _, k := range wavers(span) {
		for _, eps := range []float64{1e-6, 1e-13} {
			period, bands := k.Bands(nil, span, eps)
			if bands == nil {
				t.Fatalf("%v: no bands", k)
			}
			c := make([]float64, waves.Count(bands))
			k.Coefficients(c, period, bands)
			for i := range 8 {
				r := []float64{span * math.Pow(rnd.Float64(), float64(1+i%3))}
				w, sum, moved, at := make([]float64, len(c)), 0.0, 0.0, 0
				turns := r[0] / period
				for _, b := range bands {
					for m := b.From; m <= b.To; m++ {
						_, turn := math.Modf(turns * float64(m))
						sin, cos := math.Sincos(2 * math.Pi * turn)
						w[at], at = cos, at+1
						sum += c[at-1] * cos
						moved += c[at-1] * 2 * math.Pi * turns * float64(m) * sin
						if c[at-1] < 0 {
							t.Fatalf("%v: c_%d = %v", k, m, c[at-1])
						}
					}
				}
				v, steep := variance(k), 1+steepness(k, span)
				fastest := 1 + 2*math.Pi*span*float64(bands[len(bands)-1].To)/period // a wave's slope; eps of it is left out
				got, want := make([]float64, len(k.Params())), make([]float64, len(k.Params()))
				k.ContractCoefficients(got, w, period, bands)
				if p := k.PeriodParam(); p >= 0 {
					got[p] += moved
				}
				k.Contract(want, []float64{1}, r)
				cov := make([]float64, 1)
				k.Cov(cov, r)
				rounding := 1e-15 * steep * math.Sqrt(1+period/span) // rounding of the phase
				if limit := v * (eps + 2e-14 + rounding); !(math.Abs(sum-cov[0]) <= limit) {
					t.Errorf("%v, eps %g, r = %v: %v by %d waves, want %v within %.1g", k, eps, r[0], sum, len(c), cov[0], limit)
				}
				for p := range want {
					if limit := v * (10*fastest*eps + 100*steep*(1e-14+rounding)); !(math.Abs(got[p]-want[p]) <= limit) {
						t.Errorf("%v, eps %g, r = %v: derivative %d is %v by %d waves, want %v within %.1g",
							k, eps, r[0], p, got[p], len(c), want[p], limit)
					}
				}
			}
		}
	}
}

// TestLayerWithParams: a layer at other parameters has the terms between its bounds.
func TestLayerWithParams(t *testing.T) {
	for _, constant := range []bool{false, true} {
		m, _ := RQ{1, 2, 0.5}.mixture()
		want, _ := RQ{1.3, 0.7, 3}.mixture()
		got := m.between(0.5, 8, constant).WithParams([]float64{1.3, 0.7, 3})
		a, b := []float64{0.6}, []float64{0.6}
		got.Cov(a, a)
		want.between(0.5, 8, constant).Cov(b, b)
		if a[0] != b[0] || !(a[0] > 0) {
			t.Errorf("constant %v: %v, want %v", constant, a[0], b[0])
		}
	}
}

// TestScaleLayersMissing: a layer that is forgotten, or taken twice, is an error.
func TestScaleLayersMissing(t *testing.T) {
	e := newMixedExact(observed.Sorted(benchData(t, 100).X.at), options{tolerance: defaultTolerance})
	m := compiledAt(Add(RQ{1, 20, 0.7}, Periodic{1, 1, 30}), 0.1)
	f := mixedFactor{Factor: mixed.Factor{Noise: m.noise}, engine: e, model: m, eps: e.eps(m)}
	e.divide(&f.division, m, f.eps)
	if err := f.verifyLayers(); err != nil {
		t.Error(err)
	}
	whole := f.division.waves
	for i, of := range whole {
		if of.index == f.division.layered && variance(of.kernel) > 1e-10 {
			f.division.waves = slices.Delete(slices.Clone(whole), i, i+1)
			if f.verifyLayers() == nil {
				t.Errorf("layer %d is missing, and no error", i)
			}
			f.division.waves = append(slices.Clone(whole), of)
			if f.verifyLayers() == nil {
				t.Errorf("layer %d is there twice, and no error", i)
			}
		}
	}
}

// TestMixedRank: a periodic kernel takes 2J + 1 columns however short its period is, and a quasi-periodic one those near its
// harmonics.
func TestMixedRank(t *testing.T) {
	const span = 1000.0
	for _, c := range []struct {
		k    waver
		most int
	}{
		{Periodic{1, 1, 1e-3}, 16}, {Periodic{1, 1, 300}, 16}, {LocPer{1, span, 0.01, 1}, 430}, {LocPer{1, 1e6 * span, 0.01, 1}, 400},
		{SpectralMixture{1, span, 0.01}, 40},
	} {
		if _, bands := c.k.Bands(nil, span, 1e-13); bands == nil || waves.Count(bands) > c.most {
			t.Errorf("%v takes %d frequencies, want at most %d", c.k, waves.Count(bands), c.most)
		}
	}
}

// TestMixedAgainstDense: value and gradient by the mixed engine equal the dense one's within both error bounds, for short
// and long periods, uneven noise and means; and the automatic choice takes it where it is the fastest.
func TestMixedAgainstDense(t *testing.T) {
	const n = 150
	rnd := rand.New(rand.NewPCG(3, 17))
	x, y, e, s := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = n * rnd.Float64()
		y[i] = math.Sin(2*math.Pi*x[i]/0.37) + 0.01*x[i] + 0.3*rnd.NormFloat64()
		e[i], s[i] = math.Exp(rnd.NormFloat64()), 0.2*rnd.Float64()
	}
	var worst float64
	for _, p := range []float64{0.37, 3, 200} {
		for _, k := range []Kernel{
			Periodic{1, 1, p}, LocPer{1, 2 * n, p, 1.3}, SpectralMixture{1, 60, p}, Add(SE{0.4, 40}, Periodic{1, 0.8, p}, White{0.05}),
			Add(Periodic{1, 1, p}, Periodic{0.3, 1, 1.7 * p}),
			Add(Matern32{0.5, 20}, Periodic{1, 1, p}), Add(SE{0.5, 1}, SpectralMixture{1, 300, p}, Laplace{0.1, 0.3}),
			Add(Laplace{0.3, 4}, SE{0.5, 60}, Matern52{0.4, 30}, SpectralMixture{1, 300, p}, White{0.05}),
			Add(SE{0.4, 0.5}, Periodic{1, 0.8, p}, White{0.05}), Add(LocPer{1, 2 * n, p, 1.3}, Periodic{1, 1, 7}, SE{0.4, 0.9}),
			RQ{1, 2, 0.1 + 0.01*p}, Add(RQ{1, 9, 0.6}, Periodic{0.5, 1, p}), Add(Matern32{0.5, 3}, RQ{0.7, 20, 2},
				LocPer{1, 2 * n, p, 1.3}),
		} {
			for noise, d := range []Data{{X: Scalars(x), Y: y}, {X: Scalars(x), Y: y, Relative: e}, {X: Scalars(x), Y: y, Errors: s},
				{X: Scalars(x), Y: y, Relative: e, Errors: s}} {
				m := Model{Kernel: k, Noise: 0.1}
				if noise%2 == 1 {
					m.Mean = AddMeans(Intercept{}, NewTrend(1, d.X))
				}
				got, grad, bound := evaluated(t, m, d, EngineMixed)
				want, wantGrad, other := evaluated(t, m, d, EngineDense)
				bound += other
				worst = max(worst, math.Abs(got-want)/bound)
				if !(math.Abs(got-want) <= bound) {
					t.Errorf("%v, noise %d: %v, dense %v, off by %.2g and %.2g is promised", k, noise, got, want, got-want, bound)
				}
				for i := range grad {
					limit := gradientPromise*bound*(1+steepness(k, n)) + 1e-12*math.Abs(wantGrad[i])
					if off := math.Abs(grad[i] - wantGrad[i]); !(off <= limit) {
						t.Errorf("%v, noise %d: derivative %d is %v, dense %v, allowed %.2g", k, noise, i, grad[i], wantGrad[i], limit)
					}
				}
			}
		}
	}
	t.Logf("at most %.2g of the promise", worst)
}

// TestPackets: value and gradient with packets of waves equal the dense engine's, at random lengthscales from a sixtieth of
// the range to many times it, and clusters of times where the waves are the hardest to tell apart. A packet whose waves span too
// little, or a derivative that leaves the packet, fails it.
func TestPackets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 8))
	var worst, fewest float64 = 0, 1
	summed := 0
	for range testkit.Size(15, 60, 300) {
		n := 40 + rnd.IntN(testkit.Size(150, 400, 800))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = rnd.Float64()
			if i%3 == 0 {
				x[i] = 1e-3 * x[i]
			}
			y[i] = rnd.NormFloat64() + math.Sin(20*x[i])
		}
		log := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
		k := []Kernel{
			SE{1, log(0.02, 10)}, LocPer{1, log(0.3, 10), log(0.003, 0.3), log(0.5, 2)}, SpectralMixture{1, log(0.05, 10), log(0.01, 1)},
			Add(SE{1, log(0.05, 10)}, LocPer{1, log(0.3, 10), log(0.003, 0.3), log(0.5, 2)}),
			Add(Matern32{1, log(0.01, 1)}, LocPer{1, log(0.3, 10), log(0.01, 0.3), 1}),
			Mul(SE{1, log(0.3, 10)}, Periodic{0.8, log(0.5, 2), log(0.003, 0.3)}),
			Add(Mul(Periodic{1.3, 1, log(0.003, 0.3)}, SE{0.7, log(0.3, 10)}), Laplace{1, 0.1}),
			Add(Periodic{0.8, log(0.5, 2), log(0.003, 0.5)}, SE{1, log(0.02, 1)}), Periodic{0.8, log(0.5, 2), log(0.003, 3)},
			Add(Periodic{0.8, log(0.5, 2), log(0.003, 0.5)}, SE{1, log(0.001, 0.008)}), RQ{1, log(0.1, 3), log(waves.LeastAlpha, 100)},
			Add(RQ{1, log(0.003, 3), log(0.1, 10)}, Periodic{0.8, 1, log(0.003, 3)}),
			Add(RQ{1, log(0.01, 3), log(0.1, 10)}, Matern32{1, log(0.01, 1)}, RQ{0.1, 0.01, 20}),
		}[rnd.IntN(13)]
		d, m := Data{X: Scalars(x), Y: y}, Model{Kernel: k, Noise: log(1e-4, 1)}
		got, grad, bound := evaluated(t, m, d, EngineMixed)
		want, wantGrad, other := evaluated(t, m, d, EngineDense)
		bound += other
		worst = max(worst, math.Abs(got-want)/bound)
		if !(math.Abs(got-want) <= bound) {
			t.Errorf("%v, noise %v: %v, dense %v, off by %.2g and %.2g is promised", k, m.Noise, got, want, got-want, bound)
		}
		for i := range grad {
			limit := gradientPromise*bound*(1+steepness(k, 1)) + 1e-12*math.Abs(wantGrad[i])
			if off := math.Abs(grad[i] - wantGrad[i]); !(off <= limit) {
				t.Errorf("%v, noise %v: derivative %d is %v, dense %v, allowed %.2g", k, m.Noise, i, grad[i], wantGrad[i], limit)
			}
		}
		columns, whole, sums := mixedColumns(t, m, d)
		fewest = min(fewest, columns/whole)
		if sums {
			summed++
		}
	}
	t.Logf("at most %.2g of the promise, at best %.2g of the columns, %d by sums", worst, fewest, summed)
	if fewest > 0.4 || summed == 0 {
		t.Errorf("packets save too few columns, at best %.2g are left, or sums are not taken: %d times", fewest, summed)
	}
}

// mixedColumns returns the columns that the mixed engine takes for a model, and how many there are without packets, and
// whether sums over the data give their products.
func mixedColumns(t *testing.T, m Model, d Data) (columns, whole float64, sums bool) {
	t.Helper()
	series, y := observed.Sorted(d.X.at), dense.New(d.Len(), 1)
	copy(y.Data, d.Y)
	series.SetColumns(y)
	f, err := newMixedExact(series, options{tolerance: defaultTolerance}).factor(compiledAt(m.Kernel, m.Noise))
	if err != nil {
		t.Fatal(err)
	}
	of := f.(*mixedFactor)
	for i := range of.terms {
		whole += 2 * float64(len(of.terms[i].Coef))
	}
	return float64(of.Columns()), whole, of.Circle != nil
}

// TestMixedSums: log-determinant, form and gradient from sums over the data are those from the data themselves, for waves that
// stay and for waves whose frequency is a parameter, with periods below the spacing and beyond the range. A fault in their lines
// is found.
func TestMixedSums(t *testing.T) {
	defer func() { verify.Tamper = nil }()
	rnd := rand.New(rand.NewPCG(5, 31))
	for i := range testkit.Size(8, 40, 200) {
		log := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
		n := 20 + rnd.IntN(200)
		x, y := make([]float64, n), dense.New(n, 2)
		for i := range x {
			x[i] = 3 + 7*rnd.Float64()
			y.Data[2*i], y.Data[2*i+1] = rnd.NormFloat64(), 1
		}
		k := []Kernel{
			Periodic{1, log(0.5, 2), log(0.01, 20)}, Add(SE{1, log(0.3, 20)}, Periodic{0.5, log(0.5, 2), log(0.01, 20)}),
			Add(Periodic{1, 1, log(0.01, 1)}, Periodic{0.5, 0.8, log(1, 20)}, LocPer{0.7, log(3, 30), log(0.1, 0.5), 1}),
			Add(SE{1, log(0.3, 5)}, SE{0.4, log(1, 3)}),
			Add(SE{1, log(0.03, 0.05)}, Periodic{0.5, 1, log(0.1, 20)}), Add(Periodic{0.5, 0.8, log(1, 20)}, SE{1, log(0.03, 0.05)}),
			Cosine{1, log(0.01, 20)}, Add(SE{1, log(0.3, 5)}, Cosine{0.5, log(0.01, 20)}),
		}[i%8]
		series := observed.Sorted(x)
		series.SetColumns(y)
		m := compiledAt(k, log(1e-3, 1))
		var promise float64
		evaluate := func(favour float64) (det float64, g blas64.General, grad []float64, err error) {
			e := newMixedExact(series, options{tolerance: defaultTolerance})
			e.favour = favour
			promise += e.estimate(m).Err
			f, err := e.factor(m)
			if err != nil {
				return 0, g, nil, err
			}
			if by := f.(*mixedFactor).Circle != nil; by != (favour > 0) {
				t.Fatalf("%v: by sums: %v", k, by)
			}
			g, grad = dense.New(2, 2), make([]float64, len(m.theta)+1)
			f.gram(g)
			r := dense.New(2, 1)
			r.Data[0], r.Data[1] = 1, 0.3
			return f.logDet(), g, grad, f.gradient(grad, r)
		}
		det, g, grad, err := evaluate(math.Inf(1))
		want, h, wantGrad, other := evaluate(0)
		if err != nil || other != nil {
			t.Fatal(k, err, other)
		}
		steep := (1 + 10*steepness(k, 10)) * (1 + m.variance/m.noise)
		if limit := 1e-12 * float64(n) * steep; !(math.Abs(det-want) <= limit) {
			t.Errorf("%v: log-determinant %v, from the data %v, allowed %.2g", k, det, want, limit)
		}
		promise = choice.Completed(promise, h.Data[0], float64(n)) // y is white, and its form larger than a draw's
		if off := 0.5 * math.Abs(det+g.Data[0]-want-h.Data[0]); !(off <= promise) {
			t.Errorf("%v, noise %v: the values differ by %.2g, and %.2g is promised", k, m.noise, off, promise)
		}
		for i, v := range h.Data {
			if limit := 1e-12 * steep * (h.Data[0] + h.Data[3]); !(math.Abs(g.Data[i]-v) <= limit) {
				t.Errorf("%v: form %v, from the data %v, allowed %.2g", k, g.Data[i], v, limit)
			}
		}
		for p, v := range wantGrad {
			if limit := 1e-11 * steep * (float64(n) + h.Data[0] + h.Data[3]); !(math.Abs(grad[p]-v) <= limit) {
				t.Errorf("%v, noise %v: derivative %d is %v, from the data %v, allowed %.2g", k, m.noise, p, grad[p], v, limit)
			}
		}
		for _, stage := range []string{"mixed lines", "mixed grid", "mixed sums"} {
			hit := false
			verify.Tamper = func(what string, x []float64) {
				if what == stage {
					scaleBy(x, 1.001)
					hit = true
				}
			}
			_, _, _, err = evaluate(math.Inf(1))
			verify.Tamper = nil
			moves, grid := i%8 != 3, i%8 == 4 || i%8 == 5
			if want := stage == "mixed sums" || stage == "mixed lines" && moves || stage == "mixed grid" && grid; hit != want || want &&
				err == nil {
				t.Errorf("%v: a fault in %s, tried %v, is not found", k, stage, hit)
			}
		}
	}
}

// TestMixedFaults: what goes wrong in an intermediate result of the mixed engine is an error.
func TestMixedFaults(t *testing.T) {
	defer func() { verify.Tamper = nil }()
	d := benchData(t, 400)
	stages := []string{"mixed coefficients", "mixed packets", "mixed block", "mixed h", "mixed diag"}
	for _, c := range []struct {
		k      Kernel
		stages []string
	}{
		{Add(SE{1, 300}, Periodic{0.5, 1, 37}), stages}, {Add(Laplace{0.5, 20}, LocPer{1, 900, 37, 1}), stages},
		{Add(SE{0.5, 300}, LocPer{1, 900, 37, 1}), append(stages, "mixed sums")}, {RQ{1, 20, 1}, stages},
	} {
		k := c.k
		for _, stage := range c.stages {
			for _, fault := range []string{"wrong sign", "factor 1.001", "dropped"} {
				if stage == "mixed packets" && fault == "wrong sign" {
					continue // all waves of a packet have the same covariance
				}
				l, err := NewExact(t.Context(), Model{Kernel: k, Noise: 0.1}, d, WithEngine(EngineMixed))
				if err != nil {
					t.Fatal(err)
				}
				theta, hit := Values(l.Params()), false
				verify.Tamper = func(what string, x []float64) {
					if what == stage {
						faults[fault](x, 0)
						hit = true
					}
				}
				_, err = l.ValueGrad(t.Context(), make([]float64, len(theta)), theta)
				verify.Tamper = nil
				u, notPositive := verify.Failed{}, dense.NotPositive{}
				if !hit || !errors.As(err, &u) && !(stage == "mixed sums" && errors.As(err, &notPositive)) {
					t.Errorf("%v: %s, %s: tried %v, error %v", k, stage, fault, hit, err)
				}
			}
		}
	}
}
