package gppl_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// meanLoss is a loss of a case with a mean.
type meanLoss struct {
	name string
	of   func(m gppl.Model, d gppl.Data) (gppl.Loss, error)
}

func projectedOn(design gppl.Design, k int, residual bool, opts ...gppl.Option) func(m gppl.Model,
	d gppl.Data) (gppl.Loss, error) {
	return func(m gppl.Model, d gppl.Data) (gppl.Loss, error) {
		p, err := gppl.NewProjection(context.Background(), design, d.X, k, 1)
		if err != nil {
			return nil, err
		}
		if residual {
			return gppl.NewResidual(context.Background(), m, d, p, opts...)
		}
		return gppl.NewProjected(context.Background(), m, d, p, opts...)
	}
}

func vfeOn(z gppl.Inputs, opts ...gppl.Option) func(m gppl.Model, d gppl.Data) (gppl.Loss, error) {
	return func(m gppl.Model, d gppl.Data) (gppl.Loss, error) {
		return gppl.NewVFE(context.Background(), m, d, z, gppl.VFEOptions{}, opts...)
	}
}

func evaluated(t *testing.T, l gppl.Loss) (value float64, grad []float64) {
	t.Helper()
	theta := gppl.Values(l.Params())
	grad = make([]float64, len(theta))
	value, err := l.ValueGrad(t.Context(), grad, theta)
	if err != nil {
		t.Fatal(err)
	}
	return value, grad
}

// TestMeanOnAllProjections: PL on n projections, with the residual or without, and VFE with
// an inducing input at every observation, are the exact likelihood with the same mean.
func TestMeanOnAllProjections(t *testing.T) {
	const n = 40
	for _, c := range meanCases(n) {
		exact, err := gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		want, slopes := evaluated(t, exact)
		losses := []meanLoss{{"VFE/dense", vfeOn(c.data.X, gppl.WithEngine(gppl.EngineDense))}}
		engines := []string{gppl.EngineDense, ""}
		for _, e := range c.engines {
			if e != gppl.EngineToeplitz && e != gppl.EngineGridded { // the exact likelihood alone has them
				engines = append(engines, e)
			}
		}
		for _, e := range engines {
			losses = append(losses,
				meanLoss{"PL/" + e, projectedOn(gppl.Sphere{}, n, false, gppl.WithEngine(e))},
				meanLoss{"residual/" + e, projectedOn(gppl.Sphere{}, n, true, gppl.WithEngine(e))})
		}
		for _, l := range losses {
			t.Run(c.name+"/"+l.name, func(t *testing.T) {
				loss, err := l.of(c.model, c.data)
				if err != nil {
					t.Fatal(err)
				}
				got, grad := evaluated(t, loss)
				if off := math.Abs(got - want); !(off <= 1e-8*n) {
					t.Errorf("%.12g, exact %.12g: off by %.2g", got, want, off)
				}
				if strings.HasPrefix(l.name, "VFE") {
					return // the trace contributes to its derivatives in Z
				}
				for i := range slopes {
					if off := math.Abs(grad[i] - slopes[i]); !(off <= 1e-6*(1+math.Abs(slopes[i]))) {
						t.Errorf("derivative %d: %.10g, exact %.10g", i, grad[i], slopes[i])
					}
				}
			})
		}
	}
}

// someLosses see less than all of n = 60 observations.
func someLosses(x gppl.Inputs) []meanLoss {
	z := make([]float64, 12)
	lo, hi := x.Range(0)
	for i := range z {
		z[i] = lo + (hi-lo)*(float64(i)+0.4)/12
	}
	return []meanLoss{
		{"PL, Sphere", projectedOn(gppl.Sphere{}, 20, false)},
		{"PL, Spectral", projectedOn(gppl.Spectral{}, 21, false)},
		{"PL, Raw", projectedOn(gppl.Raw{Design: gppl.Sphere{}}, 20, false)},
		{"residual, Sphere", projectedOn(gppl.Sphere{}, 20, true)},
		{"residual, Spectral", projectedOn(gppl.Spectral{}, 21, true)},
		{"VFE, dense", vfeOn(gppl.Scalars(z), gppl.WithEngine(gppl.EngineDense))},
		{"VFE", vfeOn(gppl.Scalars(z))},
		{"VFE, spectral", vfeOn(gppl.Scalars(z), gppl.WithEngine(gppl.EngineSpectral))},
	}
}

// TestMeanGradients: against differences of the value, with flat and Gaussian columns.
func TestMeanGradients(t *testing.T) {
	for _, c := range meanCases(60) {
		for _, l := range someLosses(c.data.X) {
			if l.name == "VFE, spectral" && !slices.Contains(c.engines, gppl.EngineSpectral) {
				continue
			}
			t.Run(c.name+"/"+l.name, func(t *testing.T) {
				loss, err := l.of(c.model, c.data)
				if err != nil {
					t.Fatal(err)
				}
				checkDifferences(t, loss, 1e-5)
			})
		}
	}
}

// checkDifferences compares the gradient of a loss with differences of its value.
func checkDifferences(t *testing.T, loss gppl.Loss, tolerance float64) {
	t.Helper()
	_, grad := evaluated(t, loss)
	theta := gppl.Values(loss.Params())
	for i := range theta {
		at := func(step float64) float64 {
			moved := slices.Clone(theta)
			moved[i] += step
			v, err := loss.ValueGrad(t.Context(), nil, moved)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		h := 1e-4 * min(1, math.Abs(theta[i]))
		slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
		if off := math.Abs(grad[i] - slope); !(off <= tolerance*(1+math.Abs(slope))) {
			t.Errorf("derivative in %q of %v: %.10g, differences give %.10g", loss.Params()[i].Name, loss, grad[i], slope)
		}
	}
}

// TestMeanHugePrior: flat coefficients equal those with a huge prior variance b, but for its
// density h/2·log 2πb and for ½log|HᵀH| of the basis that the loss sees.
func TestMeanHugePrior(t *testing.T) {
	const b = 1e12
	c := meanCases(60)[0]
	for i := range c.data.Y {
		c.data.Y[i] -= 300
	}
	exact := meanLoss{"exact", func(m gppl.Model, d gppl.Data) (gppl.Loss, error) { return gppl.NewExact(t.Context(), m, d) }}
	for _, l := range append(someLosses(c.data.X), exact) {
		t.Run(l.name, func(t *testing.T) {
			huge := c.model
			huge.Mean = gppl.GaussianBeta{Of: c.model.Mean, Variances: []float64{b}}
			flat, err := l.of(c.model, c.data)
			if err != nil {
				t.Fatal(err)
			}
			gaussian, err := l.of(huge, c.data)
			if err != nil {
				t.Fatal(err)
			}
			want, slopes := evaluated(t, flat)
			got, grad := evaluated(t, gaussian)
			h, err := c.model.Mean.Basis(c.data.X)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(l.name, "PL") {
				design, k := gppl.Design(gppl.Sphere{}), 20
				switch l.name {
				case "PL, Spectral":
					design, k = gppl.Spectral{}, 21
				case "PL, Raw":
					design = gppl.Raw{Design: gppl.Sphere{}}
				}
				p, err := gppl.NewProjection(t.Context(), design, c.data.X, k, 1)
				if err != nil {
					t.Fatal(err)
				}
				var seen mat.Dense
				seen.Mul(testkit.Must(p.Omega(t.Context()))(t).T(), h)
				h = &seen
			}
			var hh mat.Dense
			hh.Mul(h.T(), h)
			logDet, _ := mat.LogDet(&hh)
			_, cols := h.Dims()
			want += 0.5 * (logDet + float64(cols)*math.Log(2*math.Pi*b))
			if off := math.Abs(got - want); !(off <= 1e-8*60) {
				t.Errorf("prior of %g: %.12g, flat %.12g: off by %.2g", b, got, want, off)
			}
			for i := range slopes {
				if off := math.Abs(grad[i] - slopes[i]); !(off <= 1e-7*(1+math.Abs(slopes[i]))) {
					t.Errorf("derivative %d: %.10g, flat %.10g", i, grad[i], slopes[i])
				}
			}
		})
	}
}

// TestMeanVFEPosterior: with an inducing input at every observation, the exact posterior
// and its coefficients.
func TestMeanVFEPosterior(t *testing.T) {
	x := gppl.Scalars([]float64{2019.2, 2020.03, 2023.4, 2027, 2060})
	for _, c := range meanCases(50) {
		exact, err := gppl.NewPosterior(t.Context(), c.model, c.data)
		if err != nil {
			t.Fatal(err)
		}
		vfe, err := gppl.VFEPosterior(t, c.model, c.data, c.data.X)
		if err != nil {
			t.Fatal(err)
		}
		mean, variances := testkit.Must2(exact.Latent(t.Context(), x))(t)
		gotMean, gotVariances := testkit.Must2(vfe.Latent(t.Context(), x))(t)
		for i := range mean {
			if math.Abs(gotMean[i]-mean[i]) > 1e-7*(1+math.Abs(mean[i])) ||
				math.Abs(gotVariances[i]-variances[i]) > 1e-7*(1+variances[i]) {
				t.Errorf("%s, x = %v: %.10g ± %.10g², exact %.10g ± %.10g²", c.name, x.At(i)[0], gotMean[i], gotVariances[i], mean[i],
					variances[i])
			}
		}
		sameCoefficients(t, vfe.Coefficients(), exact.Coefficients(), 1e-7)
	}
}

func sameCoefficients(t *testing.T, got, want []gppl.Coefficient, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d coefficients, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || math.Abs(g.Value-w.Value) > tol*(1+math.Abs(w.Value)) || math.Abs(g.StdErr-w.StdErr) > tol*(1+w.StdErr) {
			t.Errorf("coefficient %d: %+v, want %+v", i, g, w)
		}
	}
}

// TestCoefficients: the coefficients of a result are the generalised least-squares estimates by dense
// formulas, whatever the loss is wrapped in, and are printed and saved with it.
func TestCoefficients(t *testing.T) {
	for _, c := range meanCases(60) {
		want := denseCoefficients(t, c)
		exact, err := gppl.NewExact(t.Context(), c.model, c.data)
		if err != nil {
			t.Fatal(err)
		}
		lasting := []gppl.Loss{exact}
		for _, of := range []func(gppl.Model, gppl.Data) (gppl.Loss, error){
			projectedOn(gppl.Sphere{}, 60, false), projectedOn(gppl.Sphere{}, 60, true),
			vfeOn(c.data.X, gppl.WithEngine(gppl.EngineDense)),
		} {
			l, err := of(c.model, c.data)
			if err != nil {
				t.Fatal(err)
			}
			lasting = append(lasting, l)
		}
		wrapped, err := gppl.NewMAP(exact, gppl.ParamPrior{Name: gppl.NoiseName, Prior: prior.LogNormal{Sigma: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append(lasting, wrapped) {
			// One evaluation: the coefficients at the start.
			r, err := gppl.Fit(context.Background(), l, nil, gppl.Settings{MaxEvaluations: 1, NoStandardErrors: true})
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(r.Starts[0].Theta[:len(r.Params)], gppl.Values(exact.Params())) {
				sameCoefficients(t, r.Mean, want, 1e-6)
			} else {
				at := c
				at.model = r.Model
				sameCoefficients(t, r.Mean, denseCoefficients(t, at), 1e-6)
			}
			if !strings.Contains(r.String(), "mean: trend 1") {
				t.Errorf("the coefficients are not printed:\n%v", r)
			}
			b, err := json.Marshal(store.Result{Result: r})
			if err != nil {
				t.Fatal(err)
			}
			var read store.Result
			if err := json.Unmarshal(b, &read); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(read.Mean, r.Mean) {
				t.Errorf("saved %v, read %v", r.Mean, read.Mean)
			}
		}
	}
}

// denseCoefficients are β̂ = (HᵀA⁻¹H + B⁻¹)⁻¹HᵀA⁻¹y and their standard errors.
func denseCoefficients(t *testing.T, c meanCase) (all []gppl.Coefficient) {
	t.Helper()
	h, err := c.model.Mean.Basis(c.data.X)
	if err != nil {
		t.Fatal(err)
	}
	var chol, gc mat.Cholesky
	if !chol.Factorize(covarianceOf(c.model, c.data.X)) {
		t.Fatal("not positive definite")
	}
	var solved, g mat.Dense
	if err := chol.SolveTo(&solved, h); err != nil {
		t.Fatal(err)
	}
	g.Mul(h.T(), &solved)
	gs := symmetricOf(&g)
	for j, column := range c.model.Mean.Columns() {
		if !math.IsInf(column.Variance, 1) {
			gs.SetSym(j, j, gs.At(j, j)+1/column.Variance)
		}
	}
	if !gc.Factorize(gs) {
		t.Fatal("no regression")
	}
	var right, beta mat.VecDense
	var cov mat.SymDense
	right.MulVec(solved.T(), mat.NewVecDense(c.data.Len(), c.data.Y))
	if err := gc.SolveVecTo(&beta, &right); err != nil {
		t.Fatal(err)
	}
	if err := gc.InverseTo(&cov); err != nil {
		t.Fatal(err)
	}
	for j, column := range c.model.Mean.Columns() {
		all = append(all, gppl.Coefficient{Name: column.Name, Value: beta.AtVec(j), StdErr: math.Sqrt(cov.At(j, j))})
	}
	return all
}

// TestMeanInformation: the information of n projections is ½tr(PȦPȦ) with the P of the restricted
// likelihood, A⁻¹ − A⁻¹H(HᵀA⁻¹H + B⁻¹)⁻¹HᵀA⁻¹, by dense formulas.
func TestMeanInformation(t *testing.T) {
	const n = 40
	for _, c := range meanCases(n) {
		theta := append(gppl.Values(c.model.Kernel.Params()), c.model.Noise)
		h, err := c.model.Mean.Basis(c.data.X)
		if err != nil {
			t.Fatal(err)
		}
		var inverse, g, inner, ph, p mat.Dense
		if err := inverse.Inverse(covarianceOf(c.model, c.data.X)); err != nil {
			t.Fatal(err)
		}
		ph.Mul(&inverse, h)
		g.Mul(h.T(), &ph)
		for j, column := range c.model.Mean.Columns() {
			if !math.IsInf(column.Variance, 1) {
				g.Set(j, j, g.At(j, j)+1/column.Variance)
			}
		}
		if err := inner.Inverse(&g); err != nil {
			t.Fatal(err)
		}
		p.Product(&ph, &inner, ph.T())
		p.Sub(&inverse, &p)
		var moved []*mat.Dense
		for a := range theta {
			at := func(step float64) *mat.SymDense {
				v := slices.Clone(theta)
				v[a] *= math.Exp(step)
				return covarianceOf(c.model.WithParams(v), c.data.X)
			}
			const step = 1e-4
			var dot, w mat.Dense
			dot.Sub(at(step), at(-step))
			dot.Scale(1/(2*step), &dot)
			w.Mul(&p, &dot)
			moved = append(moved, &w)
		}
		all, err := fisher.New(t.Context(), c.model, c.data.X)
		if err != nil {
			t.Fatal(err)
		}
		for a := range theta {
			for b := range theta {
				var w mat.Dense
				w.Mul(moved[a], moved[b])
				if got, want := all.Data().At(a, b), 0.5*mat.Trace(&w); !(math.Abs(got-want) <= 1e-5*(1+math.Abs(want))) {
					t.Errorf("%s: information of the data [%d,%d] = %.8g, want %.8g", c.name, a, b, got, want)
				}
			}
		}
		for _, design := range []gppl.Design{gppl.Sphere{}, gppl.OneHot{}, gppl.Raw{Design: gppl.Sphere{}}} {
			p, err := gppl.NewProjection(t.Context(), design, c.data.X, 12, 1)
			if err != nil {
				t.Fatal(err)
			}
			pl, err := gppl.NewProjected(t.Context(), c.model, c.data, p)
			if err != nil {
				t.Fatal(err)
			}
			want, err := pl.Information(t.Context(), theta)
			if err != nil {
				t.Fatal(err)
			}
			got, err := all.Projected(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			lost, err := all.Loss(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for a := range theta {
				for b := range theta {
					if off := math.Abs(got.At(a, b) - want.At(a, b)); !(off <= 1e-8*(1+math.Abs(want.At(a, b)))) {
						t.Errorf("%s, %v: information of projections [%d,%d] = %.10g, the projected likelihood has %.10g",
							c.name, design, a, b, got.At(a, b), want.At(a, b))
					}
					if total := all.Data().At(a, b) - got.At(a, b); !(math.Abs(total-lost.Total().At(a, b)) <= 1e-8*(1+math.Abs(total))) {
						t.Errorf("%s, %v: lost [%d,%d] = %.10g, by the theorem %.10g", c.name, design, a, b, total, lost.Total().At(a, b))
					}
				}
			}
		}
		for _, residual := range []bool{false, true} {
			for _, k := range []int{n, 12} {
				l, err := projectedOn(gppl.Sphere{}, k, residual)(c.model, c.data)
				if err != nil {
					t.Fatal(err)
				}
				info, err := l.(*gppl.Projected).Information(t.Context(), theta)
				if err != nil {
					t.Fatal(err)
				}
				if k < n { // fewer have no more than all
					if info.At(0, 0) <= 0 {
						t.Errorf("%s: information %v of %d projections", c.name, info.At(0, 0), k)
					}
					continue
				}
				for a := range theta {
					for b := range theta {
						var w mat.Dense
						w.Mul(moved[a], moved[b])
						want := 0.5 * mat.Trace(&w)
						if off := math.Abs(info.At(a, b) - want); off > 1e-5*(1+math.Abs(want)) {
							t.Errorf("%s: information [%d,%d] = %.8g, want %.8g", c.name, a, b, info.At(a, b), want)
						}
					}
				}
			}
		}
	}
}

// TestMeanSample: draws have the covariance K + HBHᵀ, and flat coefficients are refused.
func TestMeanSample(t *testing.T) {
	x := gppl.Scalars([]float64{0, 1, 4})
	m := gppl.Model{Kernel: gppl.SE{Variance: 0.5, Lengthscale: 1}, Noise: 0.1, Mean: gppl.Linear{Origin: 1}}
	if _, err := m.Sample(t.Context(), x, 1); err == nil || !strings.Contains(err.Error(), "flat") {
		t.Errorf("a flat prior is drawn from: %v", err)
	}
	m.Mean = gppl.GaussianBeta{Of: m.Mean, Variances: []float64{2}}
	const draws = 4000
	var squares, product float64
	for seed := range uint64(draws) {
		draw, err := m.Sample(t.Context(), x, seed)
		if err != nil {
			t.Fatal(err)
		}
		f := draw.F
		squares += f[2] * f[2] / draws
		product += f[0] * f[2] / draws
	}
	if want := 0.5 + 2*9.; math.Abs(squares/want-1) > 0.1 {
		t.Errorf("variance %.3g, want %.3g", squares, want)
	}
	if want := -2*3. + 0.5*math.Exp(-8); math.Abs(product/want-1) > 0.15 {
		t.Errorf("covariance %.3g, want %.3g", product, want)
	}
}

// TestProjectedKnownErrors: PL on n projections is the exact likelihood with the same errors,
// errors that are all equal are a noise variance whatever the projections, and gradients
// agree with differences.
func TestProjectedKnownErrors(t *testing.T) {
	const n = 60
	for _, c := range meanCases(n) {
		varied, same, noisier := c, c, c
		varied.data = withErrors(t, c.data, func(i int) float64 { return 0.2 * float64(i%5) })
		same.data = withErrors(t, c.data, func(int) float64 { return 0.4 })
		noisier.model.Noise += 0.16
		want := valueOf(t, varied, gppl.EngineDense)
		for _, residual := range []bool{false, true} {
			full, err := projectedOn(gppl.Sphere{}, n, residual)(varied.model, varied.data)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := evaluated(t, full); !(math.Abs(got-want) <= 1e-8*n) {
				t.Errorf("%s: %.12g on n projections, exact %.12g", c.name, got, want)
			}
			for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Spectral{}, gppl.Raw{Design: gppl.Sphere{}}} {
				if _, raw := design.(gppl.Raw); raw && residual {
					continue
				}
				of := projectedOn(design, 21, residual)
				a, err := of(same.model, same.data)
				if err != nil {
					t.Fatal(err)
				}
				b, err := of(noisier.model, noisier.data)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := evaluated(t, a)
				if want, _ := evaluated(t, b); !(math.Abs(got-want) <= 1e-8*n) {
					t.Errorf("%s, %v: equal errors %.12g, the same in the noise variance %.12g", c.name, design, got, want)
				}
				l, err := of(varied.model, varied.data)
				if err != nil {
					t.Fatal(err)
				}
				_, grad := evaluated(t, l)
				theta := gppl.Values(l.Params())
				for i := range theta {
					at := func(step float64) float64 {
						moved := slices.Clone(theta)
						moved[i] *= math.Exp(step)
						v, err := l.ValueGrad(t.Context(), nil, moved)
						if err != nil {
							t.Fatal(err)
						}
						return v
					}
					const h = 1e-4
					slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
					if off := math.Abs(grad[i]*theta[i] - slope); !(off <= 1e-5*(1+math.Abs(slope))) {
						t.Errorf("%s, %v: derivative %d: %.10g, differences give %.10g", c.name, design, i, grad[i]*theta[i], slope)
					}
				}
			}
		}
	}
}

// TestVFEKnownErrors: VFE with an inducing input at every observation is the exact likelihood
// with the same errors, and so is its posterior; equal errors are a noise variance; gradients
// agree with differences.
func TestVFEKnownErrors(t *testing.T) {
	const n = 60
	at := gppl.Scalars([]float64{2019.2, 2020.03, 2023.4, 2027})
	for _, c := range meanCases(n) {
		varied, same, noisier := c, c, c
		varied.data = withErrors(t, c.data, func(i int) float64 { return 0.2 * float64(i%5) })
		same.data = withErrors(t, c.data, func(int) float64 { return 0.4 })
		noisier.model.Noise += 0.16
		full, err := vfeOn(c.data.X)(varied.model, varied.data)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := evaluated(t, full)
		if want := valueOf(t, varied, gppl.EngineDense); !(math.Abs(got-want) <= 1e-8*n) {
			t.Errorf("%s: %.12g with all inducing inputs, exact %.12g", c.name, got, want)
		}
		exact, err := gppl.NewPosterior(t.Context(), varied.model, varied.data)
		if err != nil {
			t.Fatal(err)
		}
		vfe, err := gppl.VFEPosterior(t, varied.model, varied.data, c.data.X)
		if err != nil {
			t.Fatal(err)
		}
		mean, variances := testkit.Must2(exact.Latent(t.Context(), at))(t)
		gotMean, gotVariances := testkit.Must2(vfe.Latent(t.Context(), at))(t)
		for i := range mean {
			if math.Abs(gotMean[i]-mean[i]) > 1e-7*(1+math.Abs(mean[i])) ||
				math.Abs(gotVariances[i]-variances[i]) > 1e-7*(1+variances[i]) {
				t.Errorf("%s, x = %v: %.10g ± %.10g², exact %.10g ± %.10g²", c.name, at.At(i)[0], gotMean[i], gotVariances[i], mean[i],
					variances[i])
			}
		}
		z := make([]float64, 12)
		lo, hi := c.data.X.Range(0)
		for i := range z {
			z[i] = lo + (hi-lo)*(float64(i)+0.4)/12
		}
		of := vfeOn(gppl.Scalars(z))
		a, err := of(same.model, same.data)
		if err != nil {
			t.Fatal(err)
		}
		b, err := of(noisier.model, noisier.data)
		if err != nil {
			t.Fatal(err)
		}
		got, _ = evaluated(t, a)
		if want, _ := evaluated(t, b); !(math.Abs(got-want) <= 1e-8*n) {
			t.Errorf("%s: equal errors %.12g, the same in the noise variance %.12g", c.name, got, want)
		}
		l, err := of(varied.model, varied.data)
		if err != nil {
			t.Fatal(err)
		}
		checkDifferences(t, l, 1e-5)
	}
}
