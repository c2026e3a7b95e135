package gppl_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var faultCases = flag.Int("faults", 0, "TestFaults: `cases` for each engine and fault; 0 is a short set")

// faultsCaught says whether training is expected to notice faulty gradients.
// While it is false, TestFaults reports what is caught and is skipped.
const faultsCaught = true

// caughtShare is the least share of faults that must be caught, and
// 1 − caughtShare the largest share of false alarms without a fault.
const caughtShare = 0.95

// A fault is what may be wrong with a gradient (in natural values) that an
// engine returns; p is one of the parameters and logDet the gradient of the
// log-determinant's part.
type fault struct {
	name    string
	parts   bool // corrupt needs logDet
	corrupt func(grad []float64, p int, logDet []float64)
}

var faults = []fault{
	{"none", false, func([]float64, int, []float64) {}},
	{"wrong sign of one", false, func(g []float64, p int, _ []float64) { g[p] = -g[p] }},
	{"one × 1.001", false, func(g []float64, p int, _ []float64) { g[p] *= 1.001 }},
	{"all × 1.001", false, func(g []float64, _ int, _ []float64) {
		for i := range g {
			g[i] *= 1.001
		}
	}},
	{"no −αᵀ∂Aα", true, func(g []float64, _ int, logDet []float64) { copy(g, logDet) }},
	{"no log|A|", true, func(g []float64, _ int, logDet []float64) {
		for i := range g {
			g[i] -= logDet[i]
		}
	}},
	{"no −αᵀ∂Aα in one", true, func(g []float64, p int, logDet []float64) { g[p] = logDet[p] }},
	{"no log|A| in one", true, func(g []float64, p int, logDet []float64) { g[p] -= logDet[p] }},
}

// faulty is a loss whose engine has a fault.
type faulty struct {
	gppl.Loss
	fault  fault
	p      int
	silent gppl.Loss // the same loss for y = 0: the log-determinant alone
	start  []float64
	buf    []float64
}

// faultRange is how far, in log θ, a faulty gradient may lead: beyond, engines
// that are forced take long.
const faultRange = 1.5

func (l *faulty) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	for p, v := range theta {
		if !(math.Abs(math.Log(v/l.start[p])) <= faultRange) {
			return 0, fmt.Errorf("parameter %d = %v is far from its start %v", p, v, l.start[p])
		}
	}
	value, err := l.Loss.ValueGrad(context.Background(), grad, theta)
	if err != nil || grad == nil {
		return value, err
	}
	if l.fault.parts {
		if _, err := l.silent.ValueGrad(context.Background(), l.buf, theta); err != nil {
			return 0, err
		}
	}
	l.fault.corrupt(grad, l.p, l.buf)
	return value, nil
}

// faultEngine is an engine of one of the losses, and kernels that it takes on
// the range [0, 1].
type faultEngine struct {
	loss, engine string
	kernels      func(l float64) []gppl.Kernel
}

func faultEngines() (all []faultEngine) {
	matern := func(l float64) []gppl.Kernel {
		return []gppl.Kernel{
			gppl.Laplace{Variance: 1, Lengthscale: l}, gppl.Matern32{Variance: 1, Lengthscale: l},
			gppl.Matern52{Variance: 1, Lengthscale: l},
		}
	}
	smooth := func(l float64) []gppl.Kernel {
		return []gppl.Kernel{
			gppl.SE{Variance: 1, Lengthscale: l},
			gppl.LocPer{Variance: 1, Lengthscale: 4 * l, Period: 2 * l, PeriodicLengthscale: 1},
		}
	}
	compact := func(l float64) []gppl.Kernel {
		return []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: l}, gppl.Matern52{Variance: 1, Lengthscale: l}}
	}
	every := func(l float64) []gppl.Kernel { return slices.Concat(matern(l), smooth(l)) }
	for _, loss := range []string{"exact", "PL", "residual"} {
		all = append(all,
			faultEngine{loss, gppl.EngineDense, every}, faultEngine{loss, gppl.EngineSpectral, smooth},
			faultEngine{loss, gppl.EngineBanded, compact}, faultEngine{loss, gppl.EngineStateSpace, matern})
		if loss != "exact" {
			all = append(all, faultEngine{loss, gppl.EngineInterpolated, compact})
		}
	}
	all = append(all, faultEngine{"exact", gppl.EngineStateSpace, func(l float64) []gppl.Kernel {
		return []gppl.Kernel{
			gppl.SHO{Variance: 1, Period: 3 * l, Quality: 1.5},
			gppl.Rotation{Variance: 1, Period: 5 * l, Quality: 0.6, Difference: 0.5, Mix: 0.5},
			gppl.Mul(gppl.Matern32{Variance: 1, Lengthscale: 6 * l}, gppl.Cosine{Variance: 1, Period: 4 * l}),
		}
	}})
	return append(all, faultEngine{"exact", gppl.EngineGridded, func(l float64) []gppl.Kernel {
		return []gppl.Kernel{gppl.SE{Variance: 1, Lengthscale: l}}
	}})
}

// draw makes training number i of the engine: a series from a model, and a start
// that is some way off.
func (e faultEngine) draw(i int) (loss, silent gppl.Loss, err error) {
	rnd := rand.New(rand.NewPCG(uint64(i), 41))
	n := 24 + rnd.IntN(24)
	x, y := make([]float64, n), make([]float64, n)
	for j := range x {
		x[j] = rnd.Float64()
	}
	kernels := e.kernels(0.06 * math.Exp(rnd.Float64()))
	k := kernels[rnd.IntN(len(kernels))]
	c := randomCase{model: gppl.Model{Kernel: k, Noise: 0.05 * math.Exp(rnd.Float64())}}
	if !c.drawFromModel(dice{rnd}, y, x) {
		return nil, nil, fmt.Errorf("%v cannot be drawn from", k)
	}
	theta := c.model.Values()
	for p := range theta {
		spread := 0.4
		if strings.Contains(c.model.Params()[p].Name, "period") {
			spread = 0.03 // there are other optima
		}
		theta[p] *= math.Exp(spread * rnd.NormFloat64())
	}
	m := c.model.WithParams(theta)
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		return nil, nil, err
	}
	build := func(d gppl.Data) (gppl.Loss, error) {
		if e.loss == "exact" {
			return gppl.NewExact(context.Background(), m, d, gppl.WithEngine(e.engine))
		}
		proj, err := gppl.NewProjection(context.Background(), gppl.Spectral{}, d.X, n/2, uint64(i))
		if err != nil {
			return nil, err
		}
		if e.loss == "residual" {
			return gppl.NewResidual(context.Background(), m, d, proj, gppl.WithEngine(e.engine))
		}
		return gppl.NewProjected(context.Background(), m, d, proj, gppl.WithEngine(e.engine))
	}
	if loss, err = build(data); err != nil {
		return nil, nil, err
	}
	silent, err = build(gppl.Data{X: data.X, Y: make([]float64, n)})
	return loss, silent, err
}

// saysSo reports whether the outcome of training tells that something is wrong.
func saysSo(r *gppl.Result, err error) bool {
	return err != nil || r.Status != gppl.Converged ||
		slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "gradient") })
}

// TestFaults trains through engines whose gradients are faulty, and asks whether
// training says so; without a fault it must not. In full:
//
//	go test ./pkg/gppl -run TestFaults -faults 100 -v
func TestFaults(t *testing.T) {
	count, engines := *faultCases, faultEngines()
	if count == 0 {
		count = 3
		if testkit.Quick() {
			engines = engines[:4]
		}
	}
	caught, err := catch(engines, count)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d trainings, how many say that something is wrong:\n%s", count, faultTable(engines, caught))
	good := true
	enough := func(f fault, caught, of int) bool {
		if f.name == "none" {
			return float64(caught) <= (1-caughtShare)*float64(of)
		}
		return float64(caught) >= caughtShare*float64(of)
	}
	for i, f := range faults {
		total := 0
		for e := range engines {
			total += caught[e][i]
			good = good && (*faultCases == 0 || enough(f, caught[e][i], count))
		}
		good = good && enough(f, total, count*len(engines))
	}
	switch {
	case good:
	case !faultsCaught:
		t.Skip("faultsCaught is false: fewer faults are caught than should be")
	default:
		t.Errorf("less than %g of the faults are caught, or more than %.2g false alarms", caughtShare, 1-caughtShare)
	}
}

// faultEvaluations limits a training: two to three times what one without a
// fault takes.
const faultEvaluations = 80

// vanished is the gradient at an optimum. Trainings whose gradient does not
// vanish without a fault, since the optimum is out of range, tell nothing.
const vanished = 1e-3

// catch trains count times by every engine with every fault and returns how
// often training said so.
func catch(engines []faultEngine, count int) (caught [][]int, err error) {
	for _, e := range engines {
		said := make([]int, len(faults))
		for c, taken := 0, 0; taken < count; c++ {
			loss, silent, err := e.draw(c)
			if err != nil {
				return nil, fmt.Errorf("%s %s, training %d: %w", e.loss, e.engine, c, err)
			}
			params := len(loss.Params())
			train := func(f fault) (*gppl.Result, error) {
				l := &faulty{Loss: loss, fault: f, p: c % params, silent: silent, start: gppl.Values(loss.Params()),
					buf: make([]float64, params)}
				return gppl.Fit(context.Background(), l, nil, gppl.Settings{NoStandardErrors: true, MaxEvaluations: faultEvaluations})
			}
			clean, err := train(faults[0])
			if (err != nil || clean.GradientNorm > vanished) && c < 5*count {
				continue // the optimum is out of range
			}
			taken++
			for i, f := range faults {
				if saysSo(train(f)) {
					said[i]++
				}
			}
		}
		caught = append(caught, said)
	}
	return caught, nil
}

// faultTable has a line for each engine.
func faultTable(engines []faultEngine, caught [][]int) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "loss\tengine\t")
	for _, f := range faults {
		fmt.Fprint(w, f.name, "\t")
	}
	fmt.Fprintln(w)
	for i, e := range engines {
		fmt.Fprintf(w, "%s\t%s\t", e.loss, e.engine)
		for _, c := range caught[i] {
			fmt.Fprintf(w, "%d\t", c)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}
