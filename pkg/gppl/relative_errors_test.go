package gppl_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func withRelative(t *testing.T, d gppl.Data, of func(i int) float64) gppl.Data {
	t.Helper()
	e := make([]float64, d.Len())
	for i := range e {
		e[i] = of(i)
	}
	d, err := d.WithRelativeErrors(e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// uneven are relative errors between 0.4 and 2.7.
func uneven(i int) float64 { return math.Exp(math.Sin(float64(i))) }

// takesRelative are the engines that take errors known up to their scale, and, with known
// errors on top, those that take both.
func takesRelative(c meanCase) (relative, both []string) {
	for _, e := range append(c.engines, gppl.EngineDense, "") {
		if e != gppl.EngineToeplitz {
			relative = append(relative, e)
		}
		if e != gppl.EngineToeplitz && e != gppl.EngineGridded {
			both = append(both, e)
		}
	}
	return relative, both
}

// TestRelativeErrors: the exact likelihood and its posterior against dense formulas, by
// every engine that takes errors known up to their scale; errors that are all equal are a
// noise variance; a huge one leaves its observation out.
func TestRelativeErrors(t *testing.T) {
	const n = 60
	at := gppl.Scalars([]float64{2019.2, 2020.03, 2023.4, 2027, 2060, 2500})
	for _, c := range meanCases(n) {
		relative, both := takesRelative(c)
		compare := func(t *testing.T, c meanCase, engine string) {
			t.Helper()
			if got, want := valueOf(t, c, engine), denseWithMean(t, c); !(math.Abs(got-want) <= 1e-8*n) {
				t.Errorf("%.12g, dense formulas give %.12g", got, want)
			}
			checkGradient(t, c, engine)
			p, err := gppl.NewPosterior(t.Context(), c.model, c.data, gppl.WithEngine(engine))
			if err != nil {
				t.Fatal(err)
			}
			m, v := testkit.Must2(p.Latent(t.Context(), at))(t)
			mean, variances := denseMeanPosterior(t, c, at)
			for i := range m {
				if !(math.Abs(m[i]-mean[i]) <= 1e-7*(1+math.Abs(mean[i]))) || !(math.Abs(v[i]-variances[i]) <= 1e-7*(1+variances[i])) {
					t.Errorf("x = %v: %.10g ± %.10g², want %.10g ± %.10g²", at.At(i)[0], m[i], v[i], mean[i], variances[i])
				}
			}
		}
		for _, engine := range relative {
			t.Run(fmt.Sprintf("%s/%s", c.name, engine), func(t *testing.T) {
				varied := c
				varied.data = withRelative(t, c.data, uneven)
				compare(t, varied, engine)

				same, noisier := c, c
				same.data = withRelative(t, c.data, func(int) float64 { return 1.7 })
				noisier.model.Noise = 1.7 * 1.7 * (c.model.Noise + capability.Nugget(c.model.Kernel)) // White is noise
				noisier.model.Noise -= capability.Nugget(c.model.Kernel)
				if got, want := valueOf(t, same, engine), valueOf(t, noisier, gppl.EngineDense); !(math.Abs(got-want) <= 1e-8*n) {
					t.Errorf("equal relative errors: %.12g, the same in the noise variance: %.12g", got, want)
				}

				// What an observation of huge error adds is its density.
				const out, huge = 17, 1e7
				lost := c
				lost.model.Mean = nil
				lost.data.Y = make([]float64, n)
				var rest []int
				for i := range n {
					lost.data.Y[i] = math.Sin(float64(i))
					if i != out {
						rest = append(rest, i)
					}
				}
				lost.data = withRelative(t, lost.data, func(i int) float64 {
					if i == out {
						return huge
					}
					return uneven(i)
				})
				left := lost
				left.data = lost.data.Pick(rest)
				noise := lost.model.Noise + capability.Nugget(lost.model.Kernel)
				got := valueOf(t, lost, engine) - 0.5*math.Log(2*math.Pi*huge*huge*noise)
				if want := valueOf(t, left, gppl.EngineDense); !(math.Abs(got-want) <= 1e-8*n) {
					t.Errorf("with an error of %g at one: %.10g, without it: %.10g", huge, got, want)
				}
			})
		}
		for _, engine := range both {
			t.Run(fmt.Sprintf("%s/%s and known", c.name, engine), func(t *testing.T) {
				c := c
				c.data = withErrors(t, withRelative(t, c.data, uneven), func(i int) float64 { return 0.2 * float64(i%5) })
				compare(t, c, engine)
			})
		}
	}
}

// TestRelativeErrorsAreWeights: the likelihood with errors known up to their scale equals the likelihood of
// sums with the weights 1/e².
func TestRelativeErrorsAreWeights(t *testing.T) {
	const n = 300
	x, y, w, e := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 100 * math.Mod(0.618*float64(i+1), 1)
		y[i] = 3 + math.Sin(x[i]/4) + 0.3*math.Cos(7*float64(i))
		w[i] = 0.5 + 0.5*math.Mod(0.7*float64(i), 1)
		e[i] = 1 / math.Sqrt(w[i])
	}
	s, err := sums.New(testsums.Header(t, sums.Range{Lo: 0, Hi: 100, Shortest: 2, Centre: 3, Largest: 5, LargestWeight: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddWeighted(x, y, w); err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 4}, Noise: 0.1}
	sums, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, 3))
	if err != nil {
		t.Fatal(err)
	}
	want, slopes := evaluated(t, sums)
	for i := range y {
		y[i] -= 3
	}
	for _, engine := range []string{gppl.EngineDense, gppl.EngineSpectral, gppl.EngineGridded, gppl.EngineBanded} {
		d, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithRelativeErrors(e)
		if err != nil {
			t.Fatal(err)
		}
		l, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine))
		if err != nil {
			t.Fatal(err)
		}
		got, grad := evaluated(t, l)
		if !(math.Abs(got-want) <= 1e-8*n) {
			t.Errorf("%s: %.12g, by weighted sums %.12g", engine, got, want)
		}
		for i := range grad {
			if !(math.Abs(grad[i]-slopes[i]) <= 1e-6*(1+math.Abs(slopes[i]))) {
				t.Errorf("%s: derivative %d %.10g, by weighted sums %.10g", engine, i, grad[i], slopes[i])
			}
		}
	}
}

// TestRelativeErrorsLosses: PL on n projections and VFE with an inducing input at every
// observation are the exact likelihood with the same errors; equal ones are a noise
// variance; and gradients equal differences, with known errors in addition too.
func TestRelativeErrorsLosses(t *testing.T) {
	const n = 60
	for _, c := range meanCases(n) {
		relative, both := c, c
		relative.data = withRelative(t, c.data, uneven)
		both.data = withErrors(t, relative.data, func(i int) float64 { return 0.2 * float64(i%5) })
		for _, varied := range []meanCase{relative, both} {
			want := valueOf(t, varied, gppl.EngineDense)
			full := []meanLoss{
				{"PL", projectedOn(gppl.Sphere{}, n, false)},
				{"residual", projectedOn(gppl.Sphere{}, n, true)},
				{"VFE", vfeOn(c.data.X, gppl.WithEngine(gppl.EngineDense))},
			}
			for _, l := range full {
				loss, err := l.of(varied.model, varied.data)
				if err != nil {
					t.Fatal(err)
				}
				if got, _ := evaluated(t, loss); !(math.Abs(got-want) <= 1e-8*n) {
					t.Errorf("%s: %s sees all: %.12g, exact %.12g", c.name, l.name, got, want)
				}
			}
		}
		same, noisier := c, c
		same.data = withRelative(t, c.data, func(int) float64 { return 1.7 })
		noisier.model.Noise = 1.7*1.7*(c.model.Noise+capability.Nugget(c.model.Kernel)) - capability.Nugget(c.model.Kernel)
		for _, l := range someLosses(c.data.X) {
			spectral := l.name == "VFE, spectral"
			if spectral && !slices.Contains(c.engines, gppl.EngineSpectral) {
				continue
			}
			value := func(c meanCase) float64 {
				loss, err := l.of(c.model, c.data)
				if err != nil {
					t.Fatal(err)
				}
				v, _ := evaluated(t, loss)
				return v
			}
			if got, want := value(same), value(noisier); !(math.Abs(got-want) <= 1e-8*n) {
				t.Errorf("%s, %s: equal errors %.12g, the same in the noise variance %.12g", c.name, l.name, got, want)
			}
			if spectral {
				dense, err := vfeOn(someInducing(c.data.X), gppl.WithEngine(gppl.EngineDense))(relative.model, relative.data)
				if err != nil {
					t.Fatal(err)
				}
				if want, _ := evaluated(t, dense); !(math.Abs(value(relative)-want) <= 1e-8*n) {
					t.Errorf("%s: VFE by the spectral engine %.12g, densely %.12g", c.name, value(relative), want)
				}
			}
			for _, varied := range []meanCase{relative, both} {
				if spectral && varied.data.Errors != nil {
					continue
				}
				loss, err := l.of(varied.model, varied.data)
				if err != nil {
					t.Fatal(err)
				}
				checkDifferences(t, loss, 1e-5)
			}
		}
	}
}

// someInducing are the inducing inputs of someLosses.
func someInducing(x gppl.Inputs) gppl.Inputs {
	z := make([]float64, 12)
	lo, hi := x.Range(0)
	for i := range z {
		z[i] = lo + (hi-lo)*(float64(i)+0.4)/12
	}
	return gppl.Scalars(z)
}

// TestRelativeErrorsVFEPosterior: with an inducing input at every observation it is the exact
// one, by each engine.
func TestRelativeErrorsVFEPosterior(t *testing.T) {
	at := gppl.Scalars([]float64{2019.2, 2020.03, 2023.4, 2027})
	for _, c := range meanCases(40) {
		c.data = withRelative(t, c.data, uneven)
		mean, variances := denseMeanPosterior(t, c, at)
		p, err := gppl.VFEPosterior(t, c.model, c.data, c.data.X)
		if err != nil {
			t.Fatal(err)
		}
		m, v := testkit.Must2(p.Latent(t.Context(), at))(t)
		for i := range m {
			if !(math.Abs(m[i]-mean[i]) <= 1e-7*(1+math.Abs(mean[i]))) || !(math.Abs(v[i]-variances[i]) <= 1e-7*(1+variances[i])) {
				t.Errorf("%s, x = %v: %.10g ± %.10g², exact %.10g ± %.10g²", c.name, at.At(i)[0], m[i], v[i], mean[i], variances[i])
			}
		}
	}
}

// TestRelativeErrorsLeaveOut: leaving out is refitting.
func TestRelativeErrorsLeaveOut(t *testing.T) {
	for _, c := range meanCases(40) {
		c.data = withRelative(t, c.data, uneven)
		blocks := [][]int{{0}, {5}, {7, 8, 9}, {39, 2}}
		got, variances, err := gppl.LeaveOut(t.Context(), c.model, c.data, blocks)
		if err != nil {
			t.Fatal(err)
		}
		noise := c.model.Noise + capability.Nugget(c.model.Kernel)
		for _, block := range blocks { // Noisy has e = 1
			for _, i := range block {
				variances[i] -= (c.data.Relative[i]*c.data.Relative[i] - 1) * noise
			}
		}
		comparedWithRefits(t, c, blocks, got, variances)
	}
}

func TestRelativeErrorsRefused(t *testing.T) {
	c := meanCases(40)[0]
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), 1e200, 1e-200} {
		e := make([]float64, 40)
		for i := range e {
			e[i] = 1
		}
		e[3] = bad
		if _, err := c.data.WithRelativeErrors(e); err == nil {
			t.Errorf("a relative error of %v: none", bad)
		}
	}
	if _, err := c.data.WithRelativeErrors([]float64{1, 2}); err == nil {
		t.Error("2 relative errors for 40 observations: none")
	}
}
