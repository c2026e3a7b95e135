package gppl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/mat"
)

// A loss may be used from several goroutines, and what was asked of it before must
// not show. These tests compare one object with others that are made anew.

// walkLosses are the kinds of loss that the walks and the goroutines use.
var walkLosses = []struct {
	name  string
	build func(m Model, d Data, p *Projection, opts ...Option) (Loss, error)
}{
	{"exact",
		func(m Model, d Data, _ *Projection, opts ...Option) (Loss, error) {
			return NewExact(context.Background(), m, d, opts...)
		}},
	{"PL",
		func(m Model, d Data, p *Projection, opts ...Option) (Loss, error) {
			return NewProjected(context.Background(), m, d, p, opts...)
		}},
	{"residual",
		func(m Model, d Data, p *Projection, opts ...Option) (Loss, error) {
			return NewResidual(context.Background(), m, d, p, opts...)
		}},
	{"VFE",
		func(m Model, d Data, _ *Projection, opts ...Option) (Loss, error) {
			return NewVFE(context.Background(), m, d, Scalars([]float64{10, 40, 55}), VFEOptions{}, opts...)
		}},
}

// answer is what a loss says at one θ.
type answer struct {
	value float64
	grad  []float64 // nil: not asked
	bound float64   // error bound reported
	panel bool      // the interpolated engine may have answered
	err   error
}

func askLoss(l Loss, theta []float64, gradient bool) (a answer) {
	if gradient {
		a.grad = make([]float64, len(theta))
	}
	a.value, a.err = l.ValueGrad(context.Background(), a.grad, theta)
	a.bound, _ = promised(l)
	a.panel = strings.Contains(l.Report().Engine, EngineInterpolated)
	return a
}

// agree wants the same digits of two answers at theta. Only the interpolated engine begins after as many evaluations as a panel
// costs: its answers agree within what they promise.
func agree(got, want answer, theta []float64, terms int) error {
	switch {
	case (got.err == nil) != (want.err == nil):
		return fmt.Errorf("error %v, fresh %v", got.err, want.err)
	case got.err != nil:
		return nil
	case !got.panel && !want.panel:
		if got.value != want.value || !slices.Equal(got.grad, want.grad) {
			return fmt.Errorf("value %v, fresh %v; gradient %v, fresh %v", got.value, want.value, got.grad, want.grad)
		}
		return nil
	}
	allowed := got.bound + want.bound
	if off := math.Abs(got.value - want.value); !(off <= allowed) {
		return fmt.Errorf("value %v, fresh %v: off by %.2g of %.2g promised", got.value, want.value, off, allowed)
	}
	var off, norm float64
	for i := range got.grad {
		off = math.Hypot(off, (got.grad[i]-want.grad[i])*theta[i])
		norm = math.Hypot(norm, want.grad[i]*theta[i])
	}
	if limit := gradientTolerance*max(norm, float64(terms)) + 20*allowed; !(off <= limit) {
		return fmt.Errorf("gradient %v, fresh %v: off by %.2g, %.2g allowed", got.grad, want.grad, off, limit)
	}
	return nil
}

// TestGoroutines evaluates one loss of each kind and engine from two goroutines at
// once, starting with what it computes once, and wants what one alone gets from
// another loss.
func TestGoroutines(t *testing.T) {
	steps := 6
	if testkit.Quick() {
		steps = 3
	}
	kernels := []Kernel{SE{1, 60}, Matern32{1, 60}, Add(SE{1, 90}, Periodic{0.5, 1, 40}, White{0.1}),
		Add(Laplace{1, 30}, Matern52{0.5, 90})}
	for _, inputs := range []string{"regular", "irregular"} {
		if testkit.Quick() && inputs == "irregular" {
			continue
		}
		rnd := rand.New(rand.NewPCG(1, 20))
		x := engineInputs(inputs, 80, rnd)
		for i := range x.at {
			x.at[i] *= 10
		}
		sphere, err := NewProjection(t.Context(), Sphere{}, x, 15, 1)
		if err != nil {
			t.Fatal(err)
		}
		waves, err := NewProjection(t.Context(), Spectral{}, x, 15, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range kernels {
			m := Model{Kernel: k, Noise: 0.1}
			d := drawFrom(t, m, x, rnd)
			for _, kind := range walkLosses {
				for _, engine := range append(Engines(), "") {
					for _, p := range []*Projection{sphere, waves} {
						if kind.name == "exact" && p != sphere {
							continue
						}
						build := func() Loss {
							l, err := kind.build(m, d, p, WithEngine(engine))
							if err != nil {
								t.Fatal(err)
							}
							return l
						}
						l, terms := build(), d.Len()
						start := Values(l.Params())
						if engine != "" && expensive(build(), engine, start) {
							continue
						}
						count := steps
						if engine == EngineInterpolated { // a panel falls into the walk
							count = 2 * steps
						}
						thetas, want, alone := make([][]float64, count), make([]answer, count), build()
						for i := range thetas {
							thetas[i] = slices.Clone(start)
							for j := range thetas[i] {
								thetas[i][j] *= math.Exp(0.2 * rnd.NormFloat64())
							}
							want[i] = askLoss(alone, thetas[i], true)
						}
						if want[0].err != nil {
							continue // not for this engine
						}
						var wait sync.WaitGroup
						failures := make([]error, 2)
						for g := range failures {
							wait.Add(1)
							go func() {
								defer wait.Done()
								for i := range thetas {
									at := (i + g*count/2) % count
									got := askLoss(l, thetas[at], true)
									got.bound = want[at].bound // from the same engine, or one as good
									if err := agree(got, want[at], thetas[at], terms); err != nil {
										failures[g] = fmt.Errorf("at %.4g: %w", thetas[at], err)
									}
									_ = l.Report()
								}
							}()
						}
						wait.Wait()
						for _, err := range failures {
							if err != nil {
								t.Errorf("%s, %v, %s inputs, engine %q, %s: %v", kind.name, k, inputs, engine, p.Design, err)
							}
						}
					}
				}
			}
		}
	}
}

// TestWalk takes one loss through a random walk over θ, with values, gradients,
// information and posteriors by turns, and compares each answer with the answer of an
// object made for it alone.
func TestWalk(t *testing.T) {
	t.Parallel()
	steps := 6
	switch {
	case testkit.Long():
		steps = 1000
	case testkit.Quick():
		steps = 5
	}
	for i, k := range engineKernels(1, 10) {
		if testkit.Quick() && i%4 != 0 {
			continue
		}
		rnd := rand.New(rand.NewPCG(uint64(i), 21))
		m := Model{Kernel: k, Noise: 0.1}
		d := drawFrom(t, m, engineInputs(inputKinds[i%len(inputKinds)], 60, rnd), rnd)
		p, err := NewProjection(t.Context(), Sphere{}, d.X, 12, 1)
		if err != nil {
			t.Fatal(err)
		}
		at := engineInputs("irregular", 7, rnd)
		for _, kind := range walkLosses {
			for _, engine := range append(Engines(), "") {
				where := fmt.Sprintf("%s, %v, engine %q", kind.name, k, engine)
				build := func() Loss {
					l, err := kind.build(m, d, p, WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					return l
				}
				l := build()
				if _, err := l.ValueGrad(t.Context(), nil, Values(l.Params())); err != nil {
					continue // not for this engine
				}
				w := walker{loss: l, fresh: build, where: where, rnd: rnd, at: at, data: d, engine: engine}
				w.start(Values(l.Params()))
				for range steps {
					if !w.step(t) {
						break
					}
				}
			}
		}
	}
}

type walker struct {
	loss         Loss
	fresh        func() Loss
	where        string
	engine       string
	rnd          *rand.Rand
	data         Data
	at           Inputs
	first, theta []float64
}

func (w *walker) start(theta []float64) { w.first, w.theta = theta, slices.Clone(theta) }

// step goes on and asks one thing; false ends the walk.
func (w *walker) step(t *testing.T) bool {
	size := 0.02 // near, as training: panels are built
	if w.rnd.IntN(8) == 0 {
		size = 0.6
	}
	for j := range w.theta {
		w.theta[j] *= math.Exp(size * w.rnd.NormFloat64())
		w.theta[j] = min(max(w.theta[j], w.first[j]/5), 5*w.first[j])
	}
	if w.engine != "" && expensive(w.loss, w.engine, w.theta) {
		return true
	}
	var err error
	switch w.rnd.IntN(4) {
	case 0:
		err = w.compare(false)
	case 1:
		err = w.compare(true)
	case 2:
		err = w.information()
	default:
		err = w.posterior()
	}
	if err != nil {
		t.Errorf("%s at %.5g: %v", w.where, w.theta, err)
	}
	return err == nil
}

func (w *walker) compare(gradient bool) error {
	got, want := askLoss(w.loss, w.theta, gradient), askLoss(w.fresh(), w.theta, gradient)
	return agree(got, want, w.theta, w.data.Len())
}

// information compares the information of a projected loss.
func (w *walker) information() error {
	informed := func(l Loss) (*mat.SymDense, error) { return l.(*Projected).Information(context.Background(), w.theta) }
	if _, ok := w.loss.(*Projected); !ok {
		return w.compare(true)
	}
	got, err := informed(w.loss)
	want, wantErr := informed(w.fresh())
	if (err == nil) != (wantErr == nil) {
		return fmt.Errorf("information: error %v, fresh %v", err, wantErr)
	}
	if err != nil {
		return nil
	}
	panel := strings.Contains(w.loss.Report().Engine, EngineInterpolated)
	if !mat.Equal(got, want) && !(panel && mat.EqualApprox(got, want, 1e-7)) {
		return fmt.Errorf("information %v, fresh %v", mat.Formatted(got), mat.Formatted(want))
	}
	return nil
}

// posterior compares the predictions of the exact loss that walks, conditioned where it is, with another's.
func (w *walker) posterior() error {
	exact, ok := w.loss.(*Exact)
	if !ok {
		return w.compare(false)
	}
	predict := func(l *Exact) (mean, variances []float64, err error) {
		_, f, err := l.evaluate(context.Background(), nil, w.theta, true)
		if err != nil {
			return nil, nil, err
		}
		if strings.HasSuffix(fmt.Sprintf("%T", f), ".legacyFactor") { // a posterior would lock the loss
			f.release()
			return nil, nil, nil
		}
		mean, variances = make([]float64, w.at.Len()), make([]float64, w.at.Len())
		err = f.posterior().latent(context.Background(), dense.AsColumn(mean), variances, w.at)
		return mean, variances, err
	}
	mean, vars, err := predict(exact)
	wantMean, wantVars, wantErr := predict(w.fresh().(*Exact))
	if (err == nil) != (wantErr == nil) {
		return fmt.Errorf("posterior: error %v, fresh %v", err, wantErr)
	}
	if err != nil {
		return nil
	}
	if !slices.Equal(mean, wantMean) || !slices.Equal(vars, wantVars) {
		return fmt.Errorf("posterior at %v: mean %v, variance %v, fresh %v, %v", w.at, mean, vars, wantMean, wantVars)
	}
	return nil
}
