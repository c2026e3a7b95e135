package gppl

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

// walkConcurrently evaluates l at random θ around its start, first on one goroutine
// and then on two at once, each in an order of its own: values and gradients must be
// the same to what is promised, as the sums and factors that are kept differ.
func walkConcurrently(t *testing.T, build func() Loss, steps int, spread float64) {
	t.Helper()
	alone := build()
	start := values(alone.Params())
	type step struct {
		theta, grad  []float64
		value, bound float64
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	var walk []step
	for range steps {
		s := step{theta: append([]float64(nil), start...), grad: make([]float64, len(start))}
		for p, q := range alone.Params() {
			if q.Role != RoleInput {
				s.theta[p] *= math.Exp(spread * rnd.NormFloat64())
			}
		}
		var err error
		if s.value, err = alone.ValueGrad(s.grad, s.theta); err != nil {
			t.Fatal(err)
		}
		s.bound = alone.Report().LastBound
		walk = append(walk, s)
	}
	shared := build()
	var group sync.WaitGroup
	for worker := range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			grad := make([]float64, len(start))
			for i := range 2 * steps {
				s := walk[(i*(2*worker+1)+worker*steps/2)%steps]
				value, err := shared.ValueGrad(grad, s.theta)
				if err != nil {
					t.Error(err)
					return
				}
				if math.Abs(value-s.value) > 2*s.bound {
					t.Errorf("%v at %v: %v, alone %v, promised %.2g", shared, s.theta, value, s.value, s.bound)
				}
				for p, g := range grad {
					if off := math.Abs((g - s.grad[p]) * s.theta[p]); off > 40*s.bound {
						t.Errorf("%v at %v: derivative %d is %v, alone %v: off by %.2g, promised %.2g", shared, s.theta, p, g, s.grad[p], off, s.bound)
					}
				}
			}
		}()
	}
	group.Wait()
}

// TestConcurrentSpectral: one loss on two goroutines, whose kernels take different
// circles and numbers of waves.
func TestConcurrentSpectral(t *testing.T) {
	d := benchData(t, 200)
	for _, k := range []Kernel{SE{1, 60}, RQ{1, 100, 1}, LocPer{1, 300, 130, 1}} {
		walkConcurrently(t, func() Loss {
			l, err := NewExact(Model{Kernel: k, Noise: 0.3}, d, WithEngine(EngineSpectral))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}, 8, 0.5)
	}
}

// TestConcurrentGridded is the same by grids.
func TestConcurrentGridded(t *testing.T) {
	d := benchData(t, 200)
	walkConcurrently(t, func() Loss {
		l, err := NewExact(Model{Kernel: SE{1, 20}, Noise: 0.3}, d, WithEngine(EngineGridded))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}, 20, 0.5)
}

// TestConcurrentVFE is the same with inducing inputs, by either engine.
func TestConcurrentVFE(t *testing.T) {
	d := benchData(t, 200)
	z, err := KMeans(d.X, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{EngineDense, EngineSpectral, ""} {
		walkConcurrently(t, func() Loss {
			l, err := NewVFE(Model{Kernel: SE{1, 90}, Noise: 0.3}, d, z, VFEOptions{}, WithEngine(engine))
			if err != nil {
				t.Fatal(err)
			}
			return l
		}, 8, 0.3)
	}
}
