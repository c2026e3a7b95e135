package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
)

// regularSeries is n places of the given step, some of them empty, in random order, with y of no model.
func regularSeries(tb testing.TB, n int, step, gaps float64, seed uint64) gppl.Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(seed, 67))
	var x, y []float64
	for i := range n {
		if i == 0 || i == n-1 || rnd.Float64() >= gaps {
			x, y = append(x, 3+step*float64(i)), append(y, math.Sin(0.3*float64(i))+0.4*rnd.NormFloat64())
		}
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(tb)
	return d.Pick(rnd.Perm(len(x)))
}

// whittleOptions are the periodograms and expectations that there are.
var whittleOptions = []gppl.WhittleOptions{{}, {Taper: 4}, {Density: true}, {Density: true, Taper: 2}}

// TestWhittleLoss sends every kernel through the suite of losses, with gaps and with means.
func TestWhittleLoss(t *testing.T) {
	t.Parallel()
	for i, k := range kernels() {
		for j, opt := range whittleOptions {
			if testkit.Quick() && (i+j)%3 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", k, opt), func(t *testing.T) {
				for n, mean := range map[int]gppl.Mean{64: nil, 97: gppl.Intercept{},
					60: gppl.AddMeans(gppl.GaussianBeta{Of: gppl.Fourier{Period: 9, Harmonics: 1}, Variances: []float64{0.3}}, gppl.Linear{})} {
					d := regularSeries(t, n, 0.25, []float64{0, 0.2}[n%2], 5)
					l := testkit.Must(gppl.NewWhittle(t.Context(), gppl.Model{Kernel: k, Noise: 0.2, Mean: mean}, d, opt))(t)
					if _, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params())); err != nil && opt.Density &&
						strings.Contains(err.Error(), "decay") {
						return
					}
					gppltest.CheckLoss(t, l)
				}
			})
		}
	}
}

// TestWhittleDirect compares the value with a sum over the ordinates, whose expectations come from the covariance matrix or, for
// the spectral density, from a sum over 10 000 lags.
func TestWhittleDirect(t *testing.T) {
	for _, k := range []gppl.Kernel{gppl.SE{Variance: 1.3, Lengthscale: 2}, gppl.Laplace{Variance: 0.7, Lengthscale: 1},
		gppl.Add(gppl.LocPer{Variance: 1, Lengthscale: 5, Period: 1.9, PeriodicLengthscale: 0.8}, gppl.White{Variance: 0.1})} {
		for _, n := range []int{96, 101} {
			for _, gaps := range []float64{0, 0.2} {
				for _, opt := range whittleOptions[:3] {
					d := regularSeries(t, n, 0.25, gaps, 3)
					m := gppl.Model{Kernel: k, Noise: 0.2}
					got, _ := valueAt(t, testkit.Must(gppl.NewWhittle(t.Context(), m, d, opt))(t))
					want := directWhittle(m, d, n, 0.25, opt)
					if math.Abs(got-want) > 1e-10*math.Abs(want) {
						t.Errorf("%v, n = %d of %d, %+v: %v, want %v", k, d.Len(), n, opt, got, want)
					}
				}
			}
		}
	}
}

// directWhittle is the loss of plain data at the parameters of m, by sums.
func directWhittle(m gppl.Model, d gppl.Data, n int, step float64, opt gppl.WhittleOptions) (value float64) {
	place := func(i int) int { return int(math.Round((d.X.At(i)[0] - 3) / step)) }
	taper := make([]float64, n)
	for i := range taper {
		taper[i] = 1
	}
	if opt.Taper > 0 {
		taper = tridiagonalSlepian(n, opt.Taper)
	}
	var squares float64
	for i := range d.Y {
		squares += taper[place(i)] * taper[place(i)]
	}
	const lags = 10_000
	cov := make([]float64, lags)
	for i := range cov {
		cov[i] = float64(i) * step
	}
	m.Kernel.Cov(cov, cov)
	cov[0] += m.Noise + capability.Nugget(m.Kernel)
	for j := range n {
		wave := func(i int) complex128 {
			return cmplx.Rect(taper[place(i)]/math.Sqrt(squares), -2*math.Pi*float64(j*place(i)%n)/float64(n))
		}
		var sum complex128
		var expected float64
		for i, y := range d.Y {
			sum += wave(i) * complex(y, 0)
			for l := range d.Y {
				apart := place(i) - place(l)
				expected += cov[max(apart, -apart)] * real(wave(i)*cmplx.Conj(wave(l)))
			}
		}
		if opt.Density {
			expected = cov[0]
			for i, c := range cov[1:] {
				expected += 2 * c * math.Cos(2*math.Pi*float64(j*(i+1)%n)/float64(n))
			}
		}
		value += 0.5 * (math.Log(expected) + (real(sum)*real(sum)+imag(sum)*imag(sum))/expected + math.Log(2*math.Pi))
	}
	return value * float64(d.Len()) / float64(n)
}

// tridiagonalSlepian is the eigenvector of the largest eigenvalue of Slepian's tridiagonal matrix, by a dense factorisation.
func tridiagonalSlepian(n int, nw float64) []float64 {
	a := mat.NewSymDense(n, nil)
	for t := range n {
		u := 0.5 * float64(n-1-2*t)
		a.SetSym(t, t, u*u*math.Cos(2*math.Pi*nw/float64(n)))
		if t > 0 {
			a.SetSym(t-1, t, 0.5*float64(t)*float64(n-t))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		panic("no eigenvectors")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return mat.Col(nil, n-1, &v)
}

// TestWhittleRefuses: what has no constant step, or no periodogram, is an error that says what takes it.
func TestWhittleRefuses(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}
	at := func(x ...float64) gppl.Data { return gppl.Data{X: gppl.Scalars(x), Y: make([]float64, len(x))} }
	even := regularSeries(t, 30, 1, 0, 1)
	for want, d := range map[string]gppl.Data{
		"from x = 2 to 3.5 it is 1.5 times": at(3.5, 0, 1, 2, 4.5, 5.5), "two are at x = 2": at(0, 1, 2, 2, 3), "three observations": at(0, 1),
		"a quarter": at(0, 1, 30, 60), "dimension 2": {X: gppl.Vectors(make([]float64, 8), 2), Y: make([]float64, 4)},
		"known errors": testkit.Must(even.WithErrors(make([]float64, 30)))(t),
	} {
		_, err := gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || d.Len() > 2 && !strings.Contains(err.Error(), "NewExact") {
			t.Errorf("got %v, want an error that says %q and names NewExact", err, want)
		}
	}
	if _, err := gppl.NewWhittle(t.Context(), m, at(0, 1.05, 1.98, 3.02, 5.96, 7.03), gppl.WhittleOptions{}); err != nil {
		t.Errorf("within a tenth of a step: %v", err)
	}
	m.Mean = gppl.AddMeans(gppl.Intercept{}, gppl.Trend{Degree: 4, Lo: 0, Hi: 4})
	if _, err := gppl.NewWhittle(t.Context(), m, at(0, 1, 2, 3, 4), gppl.WhittleOptions{}); err == nil {
		t.Error("a mean that explains all observations: no error")
	}
	l := testkit.Must(gppl.NewWhittle(t.Context(), gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 7}, Noise: 0.1}, even,
		gppl.WhittleOptions{Density: true}))(t)
	if _, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params())); !errors.As(err, new(*gppl.Refusal)) {
		t.Errorf("the density of Periodic: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative taper: no panic")
		}
	}()
	_, _ = gppl.NewWhittle(t.Context(), m, even, gppl.WhittleOptions{Taper: -1})
}

// TestWhittleInformation compares H with the Fisher information of the data, on a range of many lengthscales, and J with the
// scatter of gradients over draws.
func TestWhittleInformation(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 4}, Noise: 0.1}
	d := evenNoise(400, 0, 1, math.Sin)
	l := testkit.Must(gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}))(t)
	got, want := testkit.Must(l.Information(t.Context(), m.Values()))(t), testkit.Must(fisher.New(t.Context(), m, d.X))(t).Data()
	for a := range 3 {
		for b := range a + 1 {
			if off := math.Abs(got.At(a, b)-want.At(a, b)) / math.Sqrt(want.At(a, a)*want.At(b, b)); off > 0.1 {
				t.Errorf("entry %d, %d is %v, exactly %v", a, b, got.At(a, b), want.At(a, b))
			}
		}
	}
	if testkit.Quick() {
		return
	}
	const draws = 600
	for _, opt := range []gppl.WhittleOptions{{}, {Taper: 4}, {Density: true}} {
		gaps := regularSeries(t, 150, 1, 0.2, 9)
		m := m
		m.Mean = gppl.Linear{}
		j := testkit.Must(testkit.Must(gppl.NewWhittle(t.Context(), m, gaps, opt))(t).ScoreCovariance(t.Context(), m.Values()))(t)
		scatter := mat.NewSymDense(3, nil)
		var mean [3]float64
		for s := range draws {
			y := testkit.Must(gppl.Model{Kernel: m.Kernel, Noise: m.Noise}.Sample(t.Context(), gaps.X, uint64(s)))(t).Y
			_, grad := valueAt(t, testkit.Must(gppl.NewWhittle(t.Context(), m, gppl.Data{X: gaps.X, Y: y}, opt))(t))
			for a, v := range m.Values() {
				grad[a] *= v
				mean[a] += grad[a] / draws
			}
			scatter.SymRankOne(scatter, 1./draws, mat.NewVecDense(3, grad))
		}
		for a := range 3 {
			scatter.SetSym(a, a, scatter.At(a, a)-mean[a]*mean[a])
			if z := mean[a] / math.Sqrt(j.At(a, a)/draws); !opt.Density && math.Abs(z) > 4 { // unbiased
				t.Errorf("%+v: the mean of derivative %d is %.2g standard errors from 0", opt, a, z)
			}
			if ratio := scatter.At(a, a) / j.At(a, a); !opt.Density && math.Abs(ratio-1) > 0.3 {
				t.Errorf("%+v: derivative %d varies by %v, want %v", opt, a, scatter.At(a, a), j.At(a, a))
			}
		}
	}
}

// TestWhittleErrors: standard errors of the sandwich cover the truth, also of losses that wrap the likelihood.
func TestWhittleErrors(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	t.Parallel()
	const n, draws = 512, 150
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 5}, Noise: 0.1}
	x := regularSeries(t, n, 1, 0, 1).X
	covered := 0
	for s := range draws {
		y := testkit.Must(m.Sample(t.Context(), x, uint64(s)))(t).Y
		l := testkit.Must(gppl.NewWhittle(t.Context(), m, gppl.Data{X: x, Y: y}, gppl.WhittleOptions{}))(t)
		r := testkit.Must(gppl.Fit(t.Context(), l, nil, gppl.Settings{}))(t)
		if r.Status != gppl.Converged {
			t.Errorf("draw %d: %v", s, r)
		}
		for i, p := range r.Params {
			if math.Abs(math.Log(p.Value/m.Values()[i])) < 1.96*p.StdErrLog {
				covered++
			}
		}
		if s > 0 {
			continue
		}
		tied := testkit.Must(gppl.Tie(testkit.Must(gppl.NewPanel(l, l))(t), []string{"variance", "noise variance"}))(t)
		double := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewPanel(l, l))(t), nil, gppl.Settings{}))(t)
		for i, p := range double.Params {
			if ratio := r.Params[i].StdErrLog / p.StdErrLog; math.Abs(ratio-math.Sqrt2) > 1e-3 {
				t.Errorf("the same series twice: %s is known %v times as well", p.Name, ratio)
			}
		}
		if r := testkit.Must(gppl.Fit(t.Context(), tied, nil, gppl.Settings{}))(t); !(r.Params[0].StdErrLog > 0) {
			t.Errorf("tied: %v", r)
		}
		believed := testkit.Must(gppl.NewMAP(l, gppl.ParamPrior{Name: "lengthscale", Prior: prior.LogNormal{Mu: math.Log(5), Sigma: 1e-3}}))(t)
		if r := testkit.Must(gppl.Fit(t.Context(), believed, nil, gppl.Settings{}))(t); math.Abs(r.Params[1].StdErrLog/1e-3-1) > 0.01 {
			t.Errorf("a prior that determines the lengthscale to 0.001: %v", r.Params[1].StdErrLog)
		}
	}
	if share := float64(covered) / (3 * draws); share < 0.92 || share > 0.98 {
		t.Errorf("%.3g of the intervals of 95 %% cover the truth", share)
	}
}

// TestWhittleMean: the coefficients of a result equal the exact likelihood's at the same parameters, whatever they
// are, and the loss does not depend on them.
func TestWhittleMean(t *testing.T) {
	d := regularSeries(t, 200, 0.5, 0.1, 2)
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 3}, Noise: 0.2, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{})}
	moved := d
	moved.Y = append([]float64(nil), d.Y...)
	for i := range moved.Y {
		moved.Y[i] += 1000 - 7*d.X.At(i)[0]
	}
	for _, opt := range whittleOptions {
		v, _ := valueAt(t, testkit.Must(gppl.NewWhittle(t.Context(), m, d, opt))(t))
		w, _ := valueAt(t, testkit.Must(gppl.NewWhittle(t.Context(), m, moved, opt))(t))
		if math.Abs(v-w) > 1e-8 {
			t.Errorf("%+v: %v, and with another trend %v", opt, v, w)
		}
	}
	l := testkit.Must(gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}))(t)
	r := testkit.Must(gppl.Fit(t.Context(), l, nil, gppl.Settings{}))(t)
	exact := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), r.Model, d))(t), nil,
		gppl.Settings{MaxIterations: 1, MaxEvaluations: 1, GradientTolerance: 1e9, NoStandardErrors: true}))(t)
	if len(r.Mean) != 2 || math.Abs(r.Mean[1].Value-exact.Mean[1].Value) > 1e-9 {
		t.Errorf("coefficients %v, want %v", r.Mean, exact.Mean)
	}
}

// TestWhittleConcurrent: goroutines that share a loss get what one alone gets.
func TestWhittleConcurrent(t *testing.T) {
	d := regularSeries(t, 20_000, 1, 0, 4)
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 5, Alpha: 0.5}, Noise: 0.3, Mean: gppl.Intercept{}}
	l := testkit.Must(gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}))(t)
	var want [4]float64
	theta := func(i int) []float64 { return []float64{1, 5 + float64(i), 0.5, 0.3} }
	for i := range want {
		want[i] = testkit.Must(testkit.Must(gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}))(t).ValueGrad(t.Context(), nil, theta(i)))(t)
	}
	parallel.Each(4, 12, func(i int) {
		if v, err := l.ValueGrad(context.Background(), make([]float64, 4), theta(i%4)); v != want[i%4] || err != nil {
			t.Errorf("%v (%v), want %v", v, err, want[i%4])
		}
	})
	if name, seconds := l.Cost(m.Values()); name != "whittle" || !(seconds > 1e-4 && seconds < 1) {
		t.Errorf("%s is predicted to take %v s", name, seconds)
	}
}

// TestWhittleSunspots: from the paper's start, the Whittle likelihood ends within 5 nats of the exact optimum for the kernels whose
// spectra a periodogram tells, as the exact likelihood counts.
func TestWhittleSunspots(t *testing.T) {
	d := sunspots(t)
	for _, c := range []struct {
		kernel  gppl.Kernel
		optimum float64
	}{{gppl.SE{}, 1549.119}, {gppl.Laplace{}, 1432.675}, {gppl.LocPer{}, 1468.565}} {
		l := testkit.Must(gppl.NewWhittle(t.Context(), gppl.PaperModel(c.kernel), d, gppl.WhittleOptions{}))(t)
		r := testkit.Must(gppl.Fit(t.Context(), l, nil, gppl.Settings{}))(t)
		exact := testkit.Must(gppl.NewExact(t.Context(), r.Model, d))(t)
		v := testkit.Must(exact.ValueGrad(t.Context(), nil, r.Model.Values()))(t)
		t.Logf("%v: exact NLL %.2f, %+.2f; %d evaluations", r.Model, v, v-c.optimum, r.Evaluations)
		if r.Status != gppl.Converged || !(v < c.optimum+5) {
			t.Errorf("%v: %v, exact NLL %v, want within 5 of %v", c.kernel, r.Status, v, c.optimum)
		}
	}
}
