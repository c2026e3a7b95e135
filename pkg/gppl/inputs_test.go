package gppl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// TestBadData checks that each bad argument gives an error which names it and
// the first bad index, from every constructor.
func TestBadData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	m := gppl.PaperModel(gppl.SE{})
	for _, c := range []struct {
		name string
		x    gppl.Inputs
		y    []float64
		want string
	}{
		{"no data", gppl.Scalars(nil), nil, "x is empty"},
		{"NaN x", gppl.Scalars([]float64{1, nan, nan}), []float64{1, 2, 3}, "x[1] = NaN"},
		{"infinite x", gppl.Vectors([]float64{1, 2, 3, inf}, 2), []float64{1, 2}, "x[1][1] = -Inf"},
		{"lengths", gppl.Scalars([]float64{1, 2, 3}), []float64{1, 2}, "len(y) = 2, but x has 3"},
		{"NaN y", gppl.Scalars([]float64{1, 2, 3}), []float64{1, 2, nan}, "y[2] = NaN"},
		{"infinite y", gppl.Scalars([]float64{1, 2, 3}), []float64{inf, 2, nan}, "y[0] = -Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, y := fmt.Sprint(c.x), fmt.Sprint(c.y)
			_, err := gppl.NewData(c.x, c.y)
			check := func(where string, err error) {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want an error that says %q", where, err, c.want)
				}
			}
			check("NewData", err)
			d := gppl.Data{X: c.x, Y: c.y} // not through NewData
			_, err = gppl.NewExact(t.Context(), m, d)
			check("NewExact", err)
			_, err = gppl.NewProjected(t.Context(), m, d, &gppl.Projection{})
			check("NewProjected", err)
			_, err = gppl.NewVFE(t.Context(), m, d, gppl.Scalars([]float64{1}), gppl.VFEOptions{})
			check("NewVFE", err)
			_, err = gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{})
			check("NewWhittle", err)
			_, err = gppl.NewPosterior(t.Context(), m, d)
			check("NewPosterior", err)
			if fmt.Sprint(c.x) != x || fmt.Sprint(c.y) != y {
				t.Error("the arguments were changed")
			}
		})
	}
}

func TestBadModels(t *testing.T) {
	d := randomData(t, 10, 1, 1)
	for _, c := range []struct {
		m    gppl.Model
		want string
	}{
		{gppl.Model{Noise: 1}, "no kernel"},
		{gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 0}, Noise: 1}, `"lengthscale" (index 1) = 0 is not positive`},
		{gppl.Model{Kernel: gppl.SE{Variance: -2, Lengthscale: 1}, Noise: 1}, `"variance" (index 0) = -2 is not positive`},
		{gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: math.NaN()}, Noise: 1}, `"lengthscale" (index 1) = NaN is not finite`},
		{gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0}, `"noise variance" (index 2) = 0 is not positive`},
		{gppl.Model{Kernel: gppl.Add(gppl.White{Variance: 1}, gppl.SE{Variance: 1, Lengthscale: math.Inf(1)}), Noise: 1},
			`"SE.lengthscale" (index 2) = +Inf`},
		{gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1e-7}.WithTransform(gppl.NoiseName,
			transform.Softplus{Floor: 1e-6}), "out of the range of its transform"},
	} {
		if _, err := gppl.NewExact(t.Context(), c.m, d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that says %s", err, c.want)
		}
	}
}

func TestBadInducing(t *testing.T) {
	d := randomData(t, 10, 1, 1)
	m := gppl.PaperModel(gppl.SE{})
	for want, z := range map[string]gppl.Inputs{
		"inducing inputs is empty":          gppl.Scalars(nil),
		"inducing inputs[1] = NaN":          gppl.Scalars([]float64{1, math.NaN()}),
		"dimension 2, x has 1":              gppl.Vectors([]float64{1, 2}, 2),
		"m = 11 inducing inputs for n = 10": gppl.Scalars(make([]float64, 11)),
	} {
		if _, err := gppl.NewVFE(t.Context(), m, d, z, gppl.VFEOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, randomData(t, 9, 1, 1).X, 3, 1))(t)
	if _, err := gppl.NewProjected(t.Context(), m, d, p); err == nil || !strings.Contains(err.Error(),
		"projection is of 9 observations, but x and y have 10") {
		t.Errorf("a projection of other data: %v", err)
	}
}

// TestNotFactorisable checks that a covariance no jitter can mend is an error
// which says so: Periodic in three dimensions is not positive definite.
func TestNotFactorisable(t *testing.T) {
	d := randomData(t, 100, 3, 2)
	l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 0.2, Period: 0.5}, Noise: 1e-3}, d))(t)
	_, err := l.ValueGrad(t.Context(), nil, []float64{1, 0.2, 0.5, 1e-3})
	if err == nil || !strings.Contains(err.Error(), "cannot be factorised") || !strings.Contains(err.Error(), "jitter up to 1e-06") {
		t.Errorf("got %v", err)
	}
}

// TestJitter checks that jitter is added only when needed, and told.
func TestJitter(t *testing.T) {
	x := make([]float64, 80)
	for i := range x {
		x[i] = 0.01 * float64(i)
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), make([]float64, 80)))(t)
	theta := []float64{1, 5, 1e-18}
	l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 1e-18}, d))(t)
	if _, err := l.ValueGrad(t.Context(), nil, theta); err != nil || l.Report().Jitter <= 0 {
		t.Errorf("%v, jitter %v; want some", err, l.Report().Jitter)
	}
	theta[2] = 0.1
	l = testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}, d))(t)
	if _, err := l.ValueGrad(t.Context(), nil, theta); err != nil || l.Report().Jitter != 0 {
		t.Errorf("%v, jitter %v; want none", err, l.Report().Jitter)
	}
}

func TestTransforms(t *testing.T) {
	for _, tr := range []transform.Transform{transform.Log{}, transform.Softplus{}, transform.Softplus{Floor: 1e-6}, transform.Cycles{Span: 20},
		transform.Free{}} {
		for _, u := range []float64{-30, -5, -1e-3, 0, 0.7, 4, 40} {
			theta := tr.Natural(u)
			if s, ok := tr.(transform.Softplus); ok && u < -20 && s.Floor > 0 {
				if theta < s.Floor || theta > s.Floor*1.001 {
					t.Errorf("%v: %v at u = %v, far below its floor", tr, theta, u)
				}
			} else if got := tr.Raw(theta); math.Abs(got-u) > 1e-6*(1+math.Abs(u)) {
				t.Errorf("%v: Raw(Natural(%v)) = %v", tr, u, got)
			}
			h := 1e-5 * (1 + math.Abs(u))
			slope := (tr.Natural(u+h) - tr.Natural(u-h)) / (2 * h)
			if math.Abs(tr.Slope(u)-slope) > 1e-6*(math.Abs(slope)+1e-6) {
				t.Errorf("%v: slope %v at %v, central difference %v", tr, tr.Slope(u), u, slope)
			}
		}
	}
	m := gppl.PaperModel(gppl.RQ{})
	if got, want := m.String(), "GP(RQ(variance=1, lengthscale=1, alpha=1), noise variance=0.6931)"; got != want {
		t.Errorf("the paper's start is %s, want %s", got, want)
	}
}

// TestTransformJSON writes and reads a model with each of the transforms.
func TestTransformJSON(t *testing.T) {
	for _, tr := range []transform.Transform{transform.Log{}, transform.Softplus{Floor: 1e-6}, transform.Cycles{Span: 20}, transform.Fixed{}} {
		m := gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 3}, Noise: 0.1}.WithTransform("period", tr)
		text, err := json.Marshal(store.Model{Model: m})
		var read store.Model
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if got := read.Params()[2].Transform; err != nil || got != tr {
			t.Errorf("%v was written as %s and read as %v: %v", tr, text, got, err)
		}
	}
	var read store.Model
	text := `{"kernel":{"type":"White","parameters":{"variance":1}},"noise_variance":1,` +
		`"transforms":[{"kind":"cycles"},{"kind":"log"}]}`
	if err := json.Unmarshal([]byte(text), &read); err == nil {
		t.Errorf("cycles over no range: %v", read)
	}
}

// TestMisusePanics: misuse of shapes panics with the name of the argument.
func TestMisusePanics(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{1, 2, 3, 4}), Y: []float64{1, 0, 1, 2}}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	exact, err := gppl.NewExact(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	omega, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := gppl.NewProjected(t.Context(), m, d, omega)
	if err != nil {
		t.Fatal(err)
	}
	vfe, err := gppl.NewVFE(t.Context(), m, d, gppl.Scalars([]float64{1.5, 3}), gppl.VFEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := gppl.NewPosterior(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{1, 1, 0.1}
	for want, misuse := range map[string]func(){
		"len(grad) = 2, want 3":     func() { exact.ValueGrad(t.Context(), make([]float64, 2), theta) },
		"LikelyPeriods: count = -1": func() { testkit.Must(auto.LikelyPeriods(t.Context(), d, -1))(t) },
		"len(grad) = 0, want 3":     func() { pl.ValueGrad(t.Context(), []float64{}, theta) },
		"len(grad) = 3, want 5":     func() { vfe.ValueGrad(t.Context(), make([]float64, 3), append(theta, 1.5, 3)) },
		"len(theta) = 2, want 3":    func() { exact.ValueGrad(t.Context(), nil, theta[:2]) },
		"count = -1":                func() { posterior.Sample(t.Context(), d.X, -1, 1) },
		"sum: kernel 1 is nil":      func() { gppl.Add(gppl.SE{}, nil) },
		"product: kernel 0 is nil":  func() { gppl.Mul(nil, gppl.SE{}) },
		"AddMeans: mean 1 is nil":   func() { gppl.AddMeans(gppl.Intercept{}, nil) },
		"design is nil":             func() { gppl.NewProjection(t.Context(), nil, d.X, 2, 1) },
		"lo = 3 and hi = 1, want 0": func() { prior.LogNormalWithin(3, 1) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "gppl: ") || !strings.Contains(got, want) {
					t.Errorf("the panic says %q, want %q", got, want)
				}
			}()
			misuse()
		}()
	}
}

// TestNilArguments: a projection or loss that is nil, as a constructor returns it beside an error, panics with its name.
func TestNilArguments(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{1, 2, 3, 4}), Y: []float64{1, -1, 2, 0.5}}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	info := testkit.Must(fisher.New(t.Context(), m, d.X))(t)
	ctx := context.Background()
	var p *gppl.Projection
	for name, misuse := range map[string]func(){
		"NewProjected: the projection p":    func() { gppl.NewProjected(ctx, m, d, p) },
		"NewResidual: the projection p":     func() { gppl.NewResidual(ctx, m, d, p) },
		"Information: the projection p":     func() { info.Projected(ctx, p) },
		"Information: the projection p ":    func() { info.Loss(ctx, p) },
		"Information: the projection p  ":   func() { info.Conditional(ctx, p) },
		"Information: the projection p   ":  func() { info.ConditionalLatent(ctx, p) },
		"Information: the projection p    ": func() { info.ConditionalTrace(ctx, p) },
		"Fit: the loss":                     func() { gppl.Fit(ctx, nil, nil, gppl.Settings{}) },
		"Fit: the loss ":                    func() { gppl.Fit(ctx, (*gppl.Exact)(nil), m.Params(), gppl.Settings{}) },
		"NewMAP: the loss":                  func() { gppl.NewMAP(nil) },
		"NewMAP: the loss ":                 func() { gppl.NewMAP((*gppl.Projected)(nil)) },
		"Tie: the loss":                     func() { gppl.Tie(nil) },
	} {
		func() {
			defer func() {
				if got, want := fmt.Sprint(recover()), "gppl: "+strings.TrimSpace(name)+" is nil"; got != want {
					t.Errorf("the panic says %q, want %q", got, want)
				}
			}()
			misuse()
		}()
	}
}

// TestUnknownParameter: a name that no parameter has is an error with the nearest name, wherever the model is used, and what
// is derived from the model keeps it.
func TestUnknownParameter(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{1, 2, 3, 4, 5.5}), Y: []float64{1, -1, 2, 0.5, 0.1}}
	good := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 2, 1))(t)
	ctx := context.Background()
	for name, m := range map[string]gppl.Model{
		"Fix":           good.Fix("lenghtscale"),
		"Fix twice":     good.Fix("variance", "lenghtscale").Fix(gppl.NoiseName),
		"WithTransform": good.WithTransform("lenghtscale", transform.Log{}),
		"WithParams":    good.Fix("lenghtscale").WithParams([]float64{1, 2, 3}),
		"FixRedundant":  good.Fix("lenghtscale").FixRedundant(),
		"StartFrom":     testkit.Must(auto.StartFrom(ctx, good.Fix("lenghtscale"), d))(t),
	} {
		for use, try := range map[string]func() error{
			"Check":        m.Check,
			"NewExact":     func() error { _, err := gppl.NewExact(ctx, m, d); return err },
			"NewProjected": func() error { _, err := gppl.NewProjected(ctx, m, d, p); return err },
			"NewResidual":  func() error { _, err := gppl.NewResidual(ctx, m, d, p); return err },
			"NewVFE": func() error {
				_, err := gppl.NewVFE(ctx, m, d, gppl.Scalars([]float64{1, 3}), gppl.VFEOptions{})
				return err
			},
			"NewPosterior":   func() error { _, err := gppl.NewPosterior(ctx, m, d); return err },
			"NewInformation": func() error { _, err := fisher.New(ctx, m, d.X); return err },
			"LeaveOneOut":    func() error { _, _, err := gppl.LeaveOut(ctx, m, d, nil); return err },
			"auto.Fit":       func() error { _, err := auto.Fit(ctx, m, d, auto.Settings{}); return err },
			"MarshalJSON":    func() error { _, err := store.Model{Model: m}.MarshalJSON(); return err },
		} {
			if err := try(); err == nil || !strings.Contains(err.Error(), `no parameter "lenghtscale": did you mean "lengthscale"?`) {
				t.Errorf("%s, %s: %v", name, use, err)
			}
		}
	}
	if err := good.Check(); err != nil {
		t.Errorf("the model that it came from: %v", err)
	}
}
