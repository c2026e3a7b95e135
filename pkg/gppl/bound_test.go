package gppl_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The transforms of somebody else: two that level off exponentially, one slowly, and one that ends. Of those, sigmoid overflows.
type (
	shifted struct{ floor float64 }
	sigmoid struct{ lo, hi float64 }
	arcus   struct{ lo, hi float64 }
	ceiling struct{ hi float64 }
)

func (t shifted) Natural(u float64) float64 { return t.floor + math.Exp(u) }
func (t shifted) Raw(v float64) float64     { return math.Log(v - t.floor) }
func (t shifted) Slope(u float64) float64   { return math.Exp(u) }
func (t shifted) String() string            { return "shifted" }

func (t sigmoid) Natural(u float64) float64 {
	return t.lo + (t.hi-t.lo)*math.Exp(u)/(1+math.Exp(u))
}
func (t sigmoid) Raw(v float64) float64 { return math.Log((v - t.lo) / (t.hi - v)) }
func (t sigmoid) Slope(u float64) float64 {
	s := math.Exp(u) / (1 + math.Exp(u))
	return (t.hi - t.lo) * s * (1 - s)
}
func (t sigmoid) String() string { return "sigmoid" }

func (t arcus) Natural(u float64) float64 { return t.lo + (t.hi-t.lo)*(0.5+math.Atan(u)/math.Pi) }
func (t arcus) Raw(v float64) float64     { return math.Tan(math.Pi * ((v-t.lo)/(t.hi-t.lo) - 0.5)) }
func (t arcus) Slope(u float64) float64   { return (t.hi - t.lo) / math.Pi / (1 + u*u) }
func (t arcus) String() string            { return "arcus" }

func (t ceiling) Natural(u float64) float64 { return t.hi / (1 + math.Exp(-u)) }
func (t ceiling) Raw(v float64) float64     { return math.Log(v / (t.hi - v)) }
func (t ceiling) Slope(u float64) float64 {
	s := 1 / (1 + math.Exp(-u))
	return t.hi * s * (1 - s)
}
func (t ceiling) String() string { return "ceiling" }

// bounds are transforms with a bound on one side, the other far off.
var bounds = []struct {
	name  string
	upper bool
	at    func(bound float64) transform.Transform
}{
	{"Softplus", false, func(b float64) transform.Transform { return transform.Softplus{Floor: b} }},
	{"Interval", false, func(b float64) transform.Transform { return transform.Interval{Lo: b, Hi: 1000 * b} }},
	{"Interval", true, func(b float64) transform.Transform { return transform.Interval{Lo: b / 1000, Hi: b} }},
	{"Interval from 0", true, func(b float64) transform.Transform { return transform.Interval{Hi: b} }},
	{"shifted", false, func(b float64) transform.Transform { return shifted{b} }},
	{"sigmoid", true, func(b float64) transform.Transform { return sigmoid{b / 30, b} }},
	{"sigmoid", false, func(b float64) transform.Transform { return sigmoid{b, 30 * b} }},
	{"arcus", false, func(b float64) transform.Transform { return arcus{b, 9 * b} }},
	{"arcus", true, func(b float64) transform.Transform { return arcus{b / 9, b} }},
	{"ceiling", true, func(b float64) transform.Transform { return ceiling{b} }},
}

// TestBounds trains without a bound, and then with one so many standard errors above or below the optimum: where the optimum is
// allowed, value and standard error are those without a bound, and nothing is said; beyond it the parameter is at the bound, which
// a warning names, and others have standard errors.
func TestBounds(t *testing.T) {
	methods := map[string]gppl.Settings{
		"L-BFGS": {}, "a gradient": {GradientTolerance: 1e-5}, "no standard errors": {NoStandardErrors: true}, "BFGS": {Method: gppl.BFGS},
	}
	names := []string{"L-BFGS", "a gradient", "no standard errors", "BFGS"}
	rnd := rand.New(rand.NewPCG(1, 61))
	cases, wrong := testkit.Size(60, 160, 1000), 0
	for c := range cases {
		d := drawn(t, 100, uint64(c%5)+1)
		free := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}, d))(t)
		want := testkit.Must(gppl.Fit(t.Context(), free, nil, gppl.Settings{}))(t)
		kind, i, by := bounds[c%len(bounds)], rnd.IntN(3), names[rnd.IntN(4)]
		p := want.Params[i]
		away := []float64{-4, -1, -0.3, 0.3, 1, 4}[rnd.IntN(6)] // standard errors by which the optimum is inside
		b := p.Value * math.Exp(-away*p.StdErrLog)
		if kind.upper {
			b = p.Value * math.Exp(away*p.StdErrLog)
		}
		start := want.Model.Values()
		if start[i] = b * 1.5; kind.upper {
			start[i] = b / 1.5
		}
		m := want.Model.WithParams(start).WithTransform(p.Name, kind.at(b))
		r := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, methods[by]))(t)
		got, said := r.Params[i], strings.Join(r.Warnings, "; ")
		var fault string
		switch close := "the optimal value found for " + p.Name; {
		case r.Status != gppl.Converged:
			fault = "not converged"
		case away < 0 && (!got.AtBound || !strings.Contains(said, close) || !strings.Contains(said, fmt.Sprintf("bound %.6g", b))):
			fault = "the bound is not mentioned"
		case away > 0 && (got.AtBound || said != ""):
			fault = "an optimum is called a bound"
		case away > 0 && math.Abs(math.Log(got.Value/p.Value)) > 0.01*p.StdErrLog:
			fault = fmt.Sprintf("the optimum is %v", p.Value)
		case away > 0 && by != "no standard errors" && !(math.Abs(got.StdErrLog/p.StdErrLog-1) < 0.02):
			fault = fmt.Sprintf("the standard error is %v", p.StdErrLog)
		}
		for j, other := range r.Params {
			if j != i && fault == "" && (other.AtBound || by != "no standard errors" && !(other.StdErrLog > 0 && other.StdErrLog < 2)) {
				fault = other.Name
			}
		}
		if fault != "" {
			wrong++
			t.Errorf("case %d, %s, %s at %v by %s, the optimum %v standard errors inside: %s: %v", c, kind.name, p.Name, b, by, away, fault, r)
		}
	}
	t.Logf("%d of %d wrong", wrong, cases)
}

// TestBoundFloor is the first case that was met: the optimum lies a third above a floor.
func TestBoundFloor(t *testing.T) {
	x := uniform(600, 60, 3)
	draw, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.53}.Sample(t.Context(), x, 3, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	d := testkit.Must(gppl.NewData(x, y))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 1}
	want := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{}))(t).Params[2]
	r := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m.WithTransform(gppl.NoiseName, transform.Softplus{Floor: 0.4}), d))(t), nil,
		gppl.Settings{}))(t)
	if got := r.Params[2]; got.AtBound || len(r.Warnings) > 0 || math.Abs(got.StdErr()/want.StdErr()-1) > 0.01 {
		t.Errorf("%v, the standard error without a floor is %v", r, want.StdErr())
	}
}

// TestBoundFar: a start that is off by nine orders of magnitude does not make a bound of the optimum.
func TestBoundFar(t *testing.T) {
	d := drawn(t, 100, 2)
	for i := range d.Y {
		d.Y[i] *= 3e5
	}
	for name, m := range map[string]gppl.Model{
		"too small": {Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1},
		"too large": {Kernel: gppl.SE{Variance: 1e20, Lengthscale: 2}, Noise: 1e19},
	} {
		r := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{}))(t)
		for _, p := range r.Params {
			if p.AtBound || !(p.StdErrLog < 1) {
				t.Errorf("%s: %s ± %v: %v", name, p.Name, p.StdErrLog, r)
			}
		}
	}
}

// TestBoundUndetermined: what the data do not determine is still driven to the end of its range: a variance that is not there.
func TestBoundUndetermined(t *testing.T) {
	x := uniform(200, 40, 5)
	rnd := rand.New(rand.NewPCG(5, 5))
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	d := testkit.Must(gppl.NewData(x, y))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}.Fix("lengthscale").WithTransform("variance",
		transform.Softplus{Floor: 1e-9})
	r := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{}))(t)
	if p := r.Params[0]; p.Value < 1e-6 && (!p.AtBound || len(r.Warnings) == 0) {
		t.Errorf("%v", r)
	}
	if p := r.Params[2]; math.Abs(p.StdErrLog/math.Sqrt(2./200)-1) > 0.05 {
		t.Errorf("the noise variance ± %v: %v", p.StdErrLog, r)
	}
}

// TestBoundPlace is for a parameter of any sign: the place of a change.
func TestBoundPlace(t *testing.T) {
	k := gppl.ChangePoint{Before: gppl.SE{Variance: 4, Lengthscale: 3}, After: gppl.SE{Variance: 0.05, Lengthscale: 3}, Location: 50, Width: 2}
	m := gppl.Model{Kernel: k, Noise: 0.05}
	s := drawnChange(t, m, 120, 3)
	d := testkit.Must(gppl.NewData(gppl.Scalars(s.x), s.y))(t)
	place := -1
	for i, p := range m.Params() {
		if p.Role == gppl.RoleLocation {
			place = i
		}
	}
	name := m.Params()[place].Name
	m = m.Fix(m.Params()[place+1].Name)
	want := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{}))(t).Params[place]
	at, se := want.Value, want.StdErr()
	for _, c := range []struct {
		by     transform.Transform
		start  float64
		inside bool
	}{
		{transform.Interval{Lo: at - 0.3*se, Hi: at + 40}, at + 1, true},
		{transform.Interval{Lo: at - 40, Hi: at + 0.3*se}, at - 1, true},
		{shifted{at - 0.3*se}, at + 1, true},
		{transform.Interval{Lo: at + se, Hi: at + 40}, at + 1.5*se, false},
		{transform.Interval{Lo: at - 40, Hi: at - se}, at - 1.5*se, false},
		{sigmoid{at + se, at + 60}, at + 1.5*se, false},
		{shifted{at + se}, at + 1.5*se, false},
	} {
		theta := m.Values()
		theta[place] = c.start
		bounded := m.WithParams(theta).WithTransform(name, c.by)
		r := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), bounded, d))(t), nil, gppl.Settings{}))(t)
		p, said := r.Params[place], strings.Contains(strings.Join(r.Warnings, ";"), "the optimal value found for "+name)
		if p.AtBound == c.inside || said == c.inside || c.inside && math.Abs(p.StdErr()/se-1) > 0.05 {
			t.Errorf("%v, the optimum at %v ± %v: %v", c.by, at, se, r)
		}
	}
}

// TestBoundStuck: a start beside a bound, where a transform levels off, is no optimum if the loss falls away from it.
func TestBoundStuck(t *testing.T) {
	d := drawn(t, 100, 1)
	for _, c := range []struct {
		by    transform.Transform
		noise float64
	}{
		{transform.Interval{Lo: 0.01, Hi: 5}, 5 - 1e-12}, {sigmoid{0.01, 5}, 5 - 1e-12}, {transform.Interval{Lo: 1e-3, Hi: 5}, 1e-3 + 1e-15},
	} {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: c.noise}.WithTransform(gppl.NoiseName, c.by)
		r, err := gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), m, d))(t), nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		moved := math.Abs(math.Log(r.Model.Noise/c.noise)) > 0.1
		if !moved && (r.Status == gppl.Converged || !strings.Contains(strings.Join(r.Warnings, ";"), "levels off")) {
			t.Errorf("%v at %v: %v", c.by, c.noise, r)
		}
	}
}

// strict is a loss that cannot be evaluated at a noise variance above its limit.
type strict struct {
	*gppl.Exact
	most float64
}

func (l strict) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if theta[2] > l.most {
		return 0, fmt.Errorf("noise %v is above %v", theta[2], l.most)
	}
	return l.Exact.ValueGrad(ctx, grad, theta)
}

// TestBoundStrict: other parameters have standard errors also where the loss cannot be evaluated beyond the bound of one.
func TestBoundStrict(t *testing.T) {
	d := drawn(t, 100, 1)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.02}.WithTransform(gppl.NoiseName, transform.Interval{Lo: 1e-3, Hi: 0.05})
	r := testkit.Must(gppl.Fit(t.Context(), strict{testkit.Must(gppl.NewExact(t.Context(), m, d))(t), 0.05}, nil, gppl.Settings{}))(t)
	if !r.Params[2].AtBound || !(r.Params[1].StdErrLog < 1) || !strings.Contains(strings.Join(r.Warnings, ";"), "bound 0.05") {
		t.Errorf("%v", r)
	}
}

// TestIntervalTransform: values stay within the bounds, raw values are recovered, slopes are derivatives, bad bounds are errors.
func TestIntervalTransform(t *testing.T) {
	for _, b := range []transform.Interval{{Lo: 0.5, Hi: 3}, {Lo: -7, Hi: -2}, {Lo: 0, Hi: 1e-9}, {Lo: 1e-5, Hi: 1e5}, {Lo: -1e200, Hi: 1e200}} {
		for _, u := range []float64{-1e9, -700, -30, -3, -0.5, 0, 0.5, 4, 30, 700, 1e9} {
			theta := b.Natural(u)
			if !(theta >= b.Lo && theta <= b.Hi) {
				t.Errorf("%v: θ(%v) = %v", b, u, theta)
			}
			const h = 1e-5
			want, width := (b.Natural(u+h)-b.Natural(u-h))/(2*h), b.Hi-b.Lo
			if got := b.Slope(u); !(math.Abs(got-want) < 1e-8*width) {
				t.Errorf("%v: slope at %v: %v, by differences %v", b, u, got, want)
			}
			if math.Abs(u) < 5 && !(math.Abs(b.Raw(theta)-u) < 1e-9) {
				t.Errorf("%v: u(θ(%v)) = %v", b, u, b.Raw(theta))
			}
		}
	}
	inf := math.Inf(1)
	for _, b := range []transform.Interval{{}, {Lo: 2, Hi: 1}, {Lo: 1, Hi: 1}, {Lo: 2, Hi: 3}, {Lo: 0, Hi: 0.5}, {Lo: 1, Hi: 2}, {Lo: 0, Hi: inf},
		{Lo: -inf, Hi: 3}, {Lo: math.NaN(), Hi: 3}} {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 1}.WithTransform(gppl.NoiseName, b)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), "noise variance") {
			t.Errorf("noise 1 within %v: %v", b, err)
		}
	}
}
