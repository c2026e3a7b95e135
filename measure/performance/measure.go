package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A loss that reports how it computes.
type loss interface {
	gppl.Loss
	Explain() string
}

// A maker builds a loss whose engine is forced, unless the name is empty.
type maker func(engine string) (loss, error)

// point is one measurement.
type point struct {
	engine    string
	x         float64 // n or l
	seconds   float64 // median time of one value and gradient
	predicted float64
	exact     bool // the engine keeps the tolerance
	value     float64
	grad      []float64 // derivatives in the logs of the parameters
}

// sweep holds the measurements along one axis.
type sweep struct {
	title   string
	auto    []point // the automatic choice, once it has settled
	engines []point // each engine that supports the kernel within plan.limit
}

// find returns the measurement of an engine at x.
func (s sweep) find(engine string, x float64) (point, bool) {
	for _, p := range s.engines {
		if p.engine == engine && p.x == x {
			return p, true
		}
	}
	return point{}, false
}

// candidate is the line of Explain about an engine.
type candidate struct {
	engine  string
	chosen  bool
	refused bool
	seconds float64
	bound   float64 // nats
	exact   bool
}

var explained = regexp.MustCompile(`^(→ |  )(\w+) +(?:(no): .*|([-+.\w]+) (µs|ms|s) an evaluation` +
	`.*error at most (\S+) nats(: not exact enough)?.*)$`)

// candidates parses Explain. It panics if it does not understand the text, since this file is then out of date.
func candidates(l loss) []candidate {
	var cs []candidate
	for _, row := range strings.Split(strings.TrimSpace(l.Explain()), "\n")[1:] {
		m := explained.FindStringSubmatch(row)
		if m == nil {
			panic(fmt.Sprintf("Explain: %q", row))
		}
		c := candidate{engine: m[2], chosen: m[1] == "→ ", refused: m[3] != "", exact: m[7] == ""}
		if !c.refused {
			c.seconds = parsed(m[4]) * map[string]float64{"µs": 1e-6, "ms": 1e-3, "s": 1}[m[5]]
			c.bound = parsed(strings.TrimSuffix(m[6], ":"))
		}
		cs = append(cs, c)
	}
	return cs
}

func parsed(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func chosen(cs []candidate) candidate {
	return cs[slices.IndexFunc(cs, func(c candidate) bool { return c.chosen })]
}

// timeLoss returns the median time of one value and gradient, after one that includes set-up.
func timeLoss(l loss, p plan) (point, error) {
	theta := gppl.Values(l.Params())
	grad := make([]float64, len(theta))
	var value float64
	var times []float64
	begin := time.Now()
	for i := 0; ; i++ {
		start := time.Now()
		v, err := l.ValueGrad(context.Background(), grad, theta)
		if err != nil {
			return point{}, err
		}
		value = v
		if i == 0 {
			begin = time.Now()
			continue
		}
		times = append(times, time.Since(start).Seconds())
		if spent := time.Since(begin); i >= 3 && spent >= p.repeat || i >= 2 && spent > 3*time.Second {
			break
		}
	}
	floats.Mul(grad, theta)
	c := chosen(candidates(l))
	return point{engine: c.engine, seconds: numeric.Median(times), predicted: c.seconds, exact: c.exact, value: value, grad: grad},
		nil
}

// settle evaluates until the choice of engine is final: an interpolation is built once as many evaluations have been made near
// one another as it has nodes.
func settle(l loss, p plan) error {
	theta := gppl.Values(l.Params())
	grad := make([]float64, len(theta))
	start := time.Now()
	for range 36 {
		if _, err := l.ValueGrad(context.Background(), grad, theta); err != nil {
			return err
		}
		c := chosen(candidates(l)).engine
		if c == gppl.EngineInterpolated || time.Since(start) > p.settle {
			return nil
		}
		if _, ok := l.(*gppl.Exact); ok {
			return nil
		}
	}
	return nil
}

// measure times the automatic choice at x, and each engine that supports the kernel and is predicted to take at most p.limit. The
// dense engine is timed only if dense.
func (s *sweep) measure(x float64, p plan, dense bool, build maker) error {
	auto, err := build("")
	if err != nil {
		return err
	}
	if err := settle(auto, p); err != nil {
		return err
	}
	best, err := timeLoss(auto, p)
	if err != nil {
		return err
	}
	best.x = x
	s.auto = append(s.auto, best)
	progress("%s, %g: %s %s", s.title, x, best.engine, timeline.Seconds(best.seconds))
	for _, c := range candidates(auto) {
		if c.engine == best.engine {
			s.engines = append(s.engines, best)
			continue
		}
		if c.refused || c.seconds > p.limit || c.engine == gppl.EngineDense && !dense {
			continue
		}
		l, err := build(c.engine)
		if err != nil {
			return err
		}
		got, err := timeLoss(l, p)
		if err != nil {
			progress("%s, %g: %v", s.title, x, err)
			continue
		}
		got.x = x
		s.engines = append(s.engines, got)
		progress("%s, %g: %s %s", s.title, x, got.engine, timeline.Seconds(got.seconds))
	}
	return nil
}

// The benchmarks have irregular, unsorted times on [0, span], k projections, and a model with lengthscale l0.
const (
	span  = 1000.0
	k     = 100
	l0    = 5.0
	noise = 0.1
)

func dataOf(n int) (gppl.Data, error) {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = span * rnd.Float64()
		y[i] = rnd.NormFloat64() // the values do not affect the time of an evaluation
	}
	return gppl.NewData(gppl.Scalars(x), y)
}

func exactMaker(m gppl.Model, d gppl.Data) maker {
	return func(engine string) (loss, error) {
		return gppl.NewExact(context.Background(), m, d, gppl.WithEngine(engine))
	}
}

func projectedMaker(m gppl.Model, d gppl.Data, omega *gppl.Projection) maker {
	return func(engine string) (loss, error) {
		return gppl.NewProjected(context.Background(), m, d, omega, gppl.WithEngine(engine))
	}
}

// The sweeps against n, in the order of the figure's panels.
const (
	plSE = iota
	plLaplace
	nllSE
	nllMatern32
)

func sweepN(p plan) ([]sweep, error) {
	sweeps := []sweep{{title: "PL, SE"}, {title: "PL, Laplace"}, {title: "Exact NLL, SE"}, {title: "Exact NLL, Matérn 3/2"}}
	for _, n := range p.sizes {
		d, err := dataOf(int(n))
		if err != nil {
			return nil, err
		}
		omega, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, d.X, k, 1)
		if err != nil {
			return nil, err
		}
		for i, kernel := range []gppl.Kernel{
			gppl.SE{Variance: 1, Lengthscale: l0}, gppl.Laplace{Variance: 1, Lengthscale: l0},
			gppl.SE{Variance: 1, Lengthscale: l0}, gppl.Matern32{Variance: 1, Lengthscale: l0},
		} {
			m := gppl.Model{Kernel: kernel, Noise: noise}
			build, most := projectedMaker(m, d, omega), 8000.0
			if i >= nllSE {
				build, most = exactMaker(m, d), 4000
			}
			if err := sweeps[i].measure(n, p, n <= most, build); err != nil {
				return nil, err
			}
		}
	}
	return sweeps, nil
}

func sweepL(p plan) ([]sweep, error) {
	sweeps := []sweep{{title: "PL, SE"}, {title: "Exact NLL, SE"}}
	d, err := dataOf(p.n)
	if err != nil {
		return nil, err
	}
	omega, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, d.X, k, 1)
	if err != nil {
		return nil, err
	}
	for _, l := range p.lengthscales {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: l}, Noise: noise}
		for i, build := range []maker{projectedMaker(m, d, omega), exactMaker(m, d)} {
			if err := sweeps[i].measure(l, p, slices.Contains(p.denseAt, l), build); err != nil {
				return nil, err
			}
		}
	}
	return sweeps, nil
}
