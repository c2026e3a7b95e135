package gppl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

func TestCheckEngine(t *testing.T) {
	t.Parallel()
	line := func(_ gppl.Model, d gppl.Data) bool { lo, hi := d.X.Range(0); return hi > lo }
	musts := map[string]func(m gppl.Model, d gppl.Data, p *gppl.Projection) bool{
		gppl.EngineDense: func(gppl.Model, gppl.Data, *gppl.Projection) bool { return true },
		gppl.EngineStateSpace: func(m gppl.Model, _ gppl.Data, _ *gppl.Projection) bool {
			return onlyOf(m.Kernel, "Laplace", "Matern32", "Matern52", "White")
		},
		gppl.EngineSpectral: func(m gppl.Model, d gppl.Data, _ *gppl.Projection) bool {
			return line(m, d) && onlyOf(m.Kernel, "SE", "Periodic", "LocPer", "White")
		},
		gppl.EngineBanded: func(m gppl.Model, _ gppl.Data, _ *gppl.Projection) bool {
			return onlyOf(m.Kernel, "SE", "Laplace", "Matern32", "Matern52", "LocPer")
		},
		gppl.EngineGridded: func(m gppl.Model, d gppl.Data, p *gppl.Projection) bool {
			return p == nil && line(m, d) && strings.Count(fmt.Sprint(m.Kernel), "SE(") == 1 && onlyOf(m.Kernel, "SE", "White")
		},
		gppl.EngineToeplitz: func(_ gppl.Model, d gppl.Data, p *gppl.Projection) bool {
			return p == nil && d.Len() > 1 && d.X.At(0)[0] == -7 // the regular ones
		},
		gppl.EngineMixed: func(m gppl.Model, d gppl.Data, p *gppl.Projection) bool {
			return p == nil && line(m, d) && onlyOf(m.Kernel, "SE", "Periodic", "LocPer", "SpectralMixture",
				"White") && !strings.Contains(fmt.Sprint(m.Kernel), "×")
		},
		gppl.EngineInterpolated: func(m gppl.Model, _ gppl.Data, p *gppl.Projection) bool {
			return p != nil && onlyOf(m.Kernel, "SE", "Laplace", "Matern32", "Matern52")
		},
	}
	for _, engine := range gppl.Engines() {
		if engine == gppl.EngineKronecker {
			continue // takes grids of several axes alone: TestKroneckerRandom
		}
		t.Run(engine, func(t *testing.T) { gppltest.CheckEngine(t, engine, musts[engine]) })
	}
}

// onlyOf reports whether a kernel is made of the named ones alone, by its text.
func onlyOf(k gppl.Kernel, names ...string) bool {
	for _, word := range regexp.MustCompile(`[A-Z][A-Za-z]*[0-9]*\(`).FindAllString(fmt.Sprint(k), -1) {
		if !slices.Contains(names, strings.TrimSuffix(word, "(")) {
			return false
		}
	}
	return true
}

// engineData is n times on [0, 100], unsorted, with some structure.
func engineData(tb testing.TB, n int) gppl.Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(23, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 100 * rnd.Float64()
		y[i] = math.Sin(x[i]) + math.Sin(x[i]/9) + 0.3*rnd.NormFloat64()
	}
	return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(tb)
}

// TestEngineErrors: engines that there are not, and kernels that they do not
// take.
func TestEngineErrors(t *testing.T) {
	d := engineData(t, 30)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 5, 1))(t)
	for _, c := range []struct {
		kernel gppl.Kernel
		engine string
		want   []string // in the message
	}{
		{gppl.SE{Variance: 1, Lengthscale: 2}, gppl.EngineStateSpace, []string{"statespace", "Matérn"}},
		{gppl.Laplace{Variance: 1, Lengthscale: 2}, gppl.EngineSpectral, []string{"spectral", "spectrum"}},
		{gppl.Periodic{Variance: 1, Lengthscale: 2, Period: 3}, gppl.EngineBanded, []string{"banded", "die out"}},
	} {
		m := gppl.Model{Kernel: c.kernel, Noise: 0.1}
		for _, l := range []gppl.Loss{
			testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(c.engine)))(t),
			testkit.Must(gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(c.engine)))(t),
		} {
			_, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
			if err == nil {
				t.Errorf("%v: %s took %v", l, c.engine, c.kernel)
				continue
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v: %q does not say %q", l, err, w)
				}
			}
		}
	}
}

// TestEngineNames: a loss is not made with an engine that there is not, or with a
// tolerance that is none.
func TestEngineNames(t *testing.T) {
	d := engineData(t, 30)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 5, 1))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}
	for _, c := range []struct {
		option gppl.Option
		want   []string
	}{
		{gppl.WithEngine("quantum"), []string{"quantum", "statespace", "spectral", "banded", "interpolated", "dense"}},
		{gppl.WithTolerance(0), []string{"tolerance 0"}},
		{gppl.WithTolerance(math.NaN()), []string{"NaN"}},
	} {
		_, exact := gppl.NewExact(t.Context(), m, d, c.option)
		_, projected := gppl.NewProjected(t.Context(), m, d, p, c.option)
		_, residual := gppl.NewResidual(t.Context(), m, d, p, c.option)
		_, vfe := gppl.NewVFE(t.Context(), m, d, d.X.Slice(0, 5), gppl.VFEOptions{}, c.option)
		_, posterior := gppl.NewPosterior(t.Context(), m, d, c.option)
		for _, err := range []error{exact, projected, residual, vfe, posterior} {
			for _, w := range c.want {
				if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "WithTolerance: ", "tolerance "), w) {
					t.Errorf("%v does not say %q", err, w)
				}
			}
		}
	}
}

// TestRefusalSaysWhy: parameters that nothing can be computed with are refused
// with a reason.
func TestRefusalSaysWhy(t *testing.T) {
	t.Parallel()
	d := engineData(t, 30)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 5, 1))(t)
	for i, engine := range append(gppl.Engines(), "") {
		for j, l := range []float64{1e-300, 1e-160, 1e160, 1e300} {
			if testkit.Quick() && (i+j)%4 > 0 {
				continue
			}
			for _, k := range []gppl.Kernel{
				gppl.SE{Variance: 1, Lengthscale: l}, gppl.Periodic{Variance: 1, Lengthscale: l, Period: 1},
				gppl.Periodic{Variance: 1, Lengthscale: 1, Period: l},
				gppl.RQ{Variance: 1, Lengthscale: l, Alpha: 1}, gppl.LocPer{Variance: 1, Lengthscale: l, Period: l, PeriodicLengthscale: 1},
				gppl.Matern52{Variance: 1, Lengthscale: l}, gppl.Laplace{Variance: l, Lengthscale: 1},
				gppl.Add(gppl.SE{Variance: 1, Lengthscale: l}, gppl.White{Variance: 1}),
			} {
				m := gppl.Model{Kernel: k, Noise: 0.1}
				// Slow spectra.
				if m.Check() != nil || testkit.Quick() && engine == gppl.EngineSpectral && onlyOf(k, "Matern52", "Laplace", "RQ") {
					continue
				}
				for _, loss := range []gppl.Loss{
					testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine)))(t),
					testkit.Must(gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(engine)))(t),
				} {
					grad := make([]float64, len(m.Params()))
					v, err := loss.ValueGrad(t.Context(), grad, gppl.Values(loss.Params()))
					if err != nil && strings.HasSuffix(strings.TrimSpace(err.Error()), ":") {
						t.Errorf("%v, %v, engine %q: %q", loss, k, engine, err)
					}
					if err == nil && math.IsNaN(v) {
						t.Errorf("%v, %v, engine %q: %v %v", loss, k, engine, v, grad)
					}
				}
			}
		}
	}
}

// TestEnginePlane: two dimensions are for the dense engine.
func TestEnginePlane(t *testing.T) {
	d := randomData(t, 40, 2, 3)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 9, 1))(t)
	for _, l := range []interface {
		gppl.Loss
		Explain() string
	}{
		testkit.Must(gppl.NewExact(t.Context(), m, d))(t),
		testkit.Must(gppl.NewProjected(t.Context(), m, d, p))(t),
	} {
		valueAt(t, l)
		if e := l.Report().Engine; e != gppl.EngineDense {
			t.Errorf("%v: %s engine", l, e)
		}
	}
	l := testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineBanded)))(t)
	if _, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params())); err == nil || !strings.Contains(err.Error(), gppl.EngineDense) {
		t.Errorf("banded in the plane: %v", err)
	}
}

// TestChoiceMoves follows the automatic choice as the lengthscale moves, and
// checks every value on the way.
func TestChoiceMoves(t *testing.T) {
	n := 700
	d := engineData(t, n)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 20, 1))(t)
	type loss interface {
		gppl.Loss
		Explain() string
	}
	for _, c := range []struct {
		auto, dense loss
		want, all   []string
	}{
		{
			testkit.Must(gppl.NewExact(t.Context(), m, d))(t), testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineDense)))(t),
			[]string{gppl.EngineBanded, gppl.EngineSpectral},
			[]string{gppl.EngineStateSpace, gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineDense},
		},
		{
			testkit.Must(gppl.NewProjected(t.Context(), m, d, p))(t), testkit.Must(gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(gppl.EngineDense)))(t),
			[]string{gppl.EngineBanded, gppl.EngineSpectral},
			[]string{gppl.EngineInterpolated, gppl.EngineStateSpace, gppl.EngineSpectral, gppl.EngineBanded, gppl.EngineDense},
		},
	} {
		lengthscales := []float64{0.01, 0.02, 0.05, 0.2, 1, 5, 30, 200, 3, 0.3, 0.02}
		if testkit.Quick() {
			lengthscales = []float64{0.02, 5}
		}
		for _, l := range lengthscales {
			theta := []float64{1.1, l, 0.1}
			grad, want := make([]float64, 3), make([]float64, 3)
			a, err := c.auto.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.dense.ValueGrad(t.Context(), want, theta)
			if err != nil {
				t.Fatal(err)
			}
			var diff, norm float64
			for i := range grad {
				diff, norm = math.Hypot(diff, (grad[i]-want[i])*theta[i]), math.Hypot(norm, want[i]*theta[i])
			}
			if math.Abs(a-b) > 1e-8*math.Abs(b) || diff > 1e-6*norm {
				t.Errorf("%v, l = %v: %v %v, dense %v %v\n%s", c.auto, l, a, grad, b, want, c.auto.Explain())
			}
			explained := c.auto.Explain()
			for _, name := range c.all {
				if !strings.Contains(explained, name) {
					t.Errorf("%v, l = %v: no %s in\n%s", c.auto, l, name, explained)
				}
			}
			if strings.Count(explained, "→") != 1 {
				t.Errorf("not one engine is marked in\n%s", explained)
			}
		}
		for _, w := range c.want {
			if !strings.Contains(c.auto.Report().Engine, w) {
				t.Errorf("%v: %s never chosen, but %s", c.auto, w, c.auto.Report().Engine)
			}
		}
		if r := c.auto.Report(); r.Inexact != 0 || r.Fallbacks != 0 || r.Jitter != 0 {
			t.Errorf("%v: %+v", c.auto, r)
		}
	}
}

// TestTolerance: a tighter tolerance takes another engine, or says that none
// keeps it.
func TestTolerance(t *testing.T) {
	d := engineData(t, 700)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 10}, Noise: 0.1}
	for _, c := range []struct {
		nats    float64
		engine  string
		inexact bool
	}{
		{1e-8, gppl.EngineSpectral, false},
		{1e-12, gppl.EngineSpectral, false}, // the truncation follows the tolerance
		{1e-18, "", true},
	} {
		l := testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithTolerance(c.nats)))(t)
		valueAt(t, l)
		r := l.Report()
		if c.engine != "" && r.Engine != c.engine || c.inexact != (r.Inexact > 0) {
			t.Errorf("tolerance %v: %+v\n%s", c.nats, r, l.Explain())
		}
		if c.engine == "" && r.Engine == gppl.EngineSpectral && !c.inexact {
			t.Errorf("tolerance %v: %s\n%s", c.nats, r.Engine, l.Explain())
		}
	}
	tiny := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: m.Kernel, Noise: 1e-11}, d))(t)
	if _, err := tiny.ValueGrad(t.Context(), nil, gppl.Values(tiny.Params())); err == nil && tiny.Report().Inexact == 0 {
		t.Errorf("noise 1e-11 of the variance, and no warning: %+v", tiny.Report())
	}
}

// TestEngineDeterminism: the processors do not show in the last bit.
func TestEngineDeterminism(t *testing.T) {
	n := 400
	if testkit.Quick() {
		n = 150
	}
	d := engineData(t, n)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, d.X, 70, 1))(t)
	for _, k := range []gppl.Kernel{
		gppl.SE{Variance: 1, Lengthscale: 3},
		gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 3}, gppl.Matern52{Variance: 1, Lengthscale: 9}),
		gppl.RQ{Variance: 1, Lengthscale: 5, Alpha: 2},
	} {
		m := gppl.Model{Kernel: k, Noise: 0.1}
		for _, engine := range gppl.Engines() {
			run := func(procs int) (out []string) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				for _, l := range []gppl.Loss{
					testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine)))(t),
					testkit.Must(gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(engine)))(t),
				} {
					theta := gppl.Values(l.Params())
					grad := make([]float64, len(theta))
					v, err := l.ValueGrad(t.Context(), grad, theta)
					if err != nil {
						out = append(out, "refused")
						continue
					}
					out = append(out, fmt.Sprintf("%x %x", v, grad))
				}
				return out
			}
			one := run(1)
			for _, procs := range []int{2, 3} {
				if more := run(procs); fmt.Sprint(more) != fmt.Sprint(one) {
					t.Errorf("%v, %s: %v with %d processors, %v with one", k, engine, more, procs, one)
				}
			}
		}
	}
}

// TestOracleSunspotsEngines sends every case of the oracle through every engine
// that takes it.
func TestOracleSunspotsEngines(t *testing.T) {
	if testkit.Quick() {
		t.Skip("the sunspots in full")
	}
	t.Parallel()
	d := sunspots(t)
	var oracle struct {
		K     int
		Cases []struct {
			Kernel     string
			Parameters []float64
			NLL, PL    struct {
				Value   float64
				GradLog []float64 `json:"grad_log"`
			}
		}
	}
	b, err := os.ReadFile("testdata/oracle-sunspots.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &oracle); err != nil {
		t.Fatal(err)
	}
	omega := mat.NewDense(d.Len(), oracle.K, nil)
	for i := range d.Len() {
		for j := range oracle.K {
			omega.Set(i, j, math.Sin(0.7391*float64(i+1)*float64(j+1)))
		}
	}
	kernels := map[string]gppl.Kernel{
		"SE": gppl.SE{}, "Laplace": gppl.Laplace{}, "Matern32": gppl.Matern32{}, "Matern52": gppl.Matern52{},
		"RQ": gppl.RQ{}, "LocPer": gppl.LocPer{},
		"Sum(SE,Periodic)":           gppl.Add(gppl.SE{}, gppl.Periodic{}),
		"Product(Matern32,Periodic)": gppl.Mul(gppl.Matern32{}, gppl.Periodic{}),
	}
	for i, c := range oracle.Cases {
		last := len(c.Parameters) - 1
		m := gppl.Model{Kernel: kernels[c.Kernel].WithParams(c.Parameters[:last]), Noise: c.Parameters[last]}
		for _, engine := range append(gppl.Engines(), "") {
			if engine == gppl.EngineDense && i%4 > 0 && !testkit.Long() {
				continue // the dense engine is what all others are compared with elsewhere
			}
			check := func(what string, l gppl.Loss, want float64, wantGrad []float64) {
				t.Helper()
				grad := make([]float64, len(wantGrad))
				got, err := l.ValueGrad(t.Context(), grad, gppl.Values(l.Params()))
				if err != nil {
					if engine == "" {
						t.Error(err)
					}
					return
				}
				var diff, norm float64
				for i, g := range grad {
					diff = math.Hypot(diff, g*c.Parameters[i]-wantGrad[i])
					norm = math.Hypot(norm, wantGrad[i])
				}
				t.Logf("%-4s %-12s %v: value %.2g, gradient %.2g (%s)", what, engine, m.Kernel, math.Abs(got-want)/math.Abs(want), diff/norm,
					l.Report().Engine)
				if !(math.Abs(got-want) <= 1e-8*math.Abs(want)) || !(diff <= 1e-6*norm) {
					t.Errorf("%s of %v by %q: %v, want %v, gradient off by %.2g", what, m.Kernel, engine, got, want, diff/norm)
				}
			}
			check("PL", testkit.Must(gppl.NewProjected(t.Context(), m, d, gppl.ProjectionOf(omega), gppl.WithEngine(engine)))(t), c.PL.Value, c.PL.GradLog)
			if exactTooLong(m.Kernel, engine) {
				continue
			}
			check("NLL", testkit.Must(gppl.NewExact(t.Context(), m, d, gppl.WithEngine(engine)))(t), c.NLL.Value, c.NLL.GradLog)
		}
	}
}

// exactTooLong reports whether the exact NLL of the sunspots takes the better
// part of a second or more: GPPL_LONG=1 asks for all.
func exactTooLong(k gppl.Kernel, engine string) bool {
	if testkit.Long() || engine == gppl.EngineStateSpace {
		return false
	}
	switch k := k.(type) {
	case gppl.SE:
		return engine == gppl.EngineBanded && k.Lengthscale > 2 || engine == gppl.EngineSpectral && k.Lengthscale < 1
	case gppl.Laplace, gppl.Matern32:
		return engine != ""
	}
	return true
}
