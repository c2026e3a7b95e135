package gppl

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
)

// oldEngine is an engine that remembers what it was last asked.
type oldEngine interface {
	name() string
	forecast(k Kernel, noise float64) forecast
	nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error)
	posterior() predictor
	measure() (form, extra float64)
}

// legacyEngine makes an old engine a new one, at twice the cost.
type legacyEngine struct {
	mu  sync.Mutex
	old oldEngine
	n   float64
}

func legacy(e oldEngine) exactEngine { return &legacyEngine{old: e} }

type legacyFactor struct {
	e           *legacyEngine
	m           *compiled
	value       float64
	form, extra float64
	added       float64
}

func (e *legacyEngine) name() string { return e.old.name() }
func (e *legacyEngine) forecast(m *compiled) forecast {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.old.forecast(m.kernel, m.noise)
}

func (e *legacyEngine) factor(m *compiled) (exactFactor, error) {
	e.mu.Lock()
	f := &legacyFactor{e: e, m: m}
	var err error
	f.value, f.added, err = e.old.nll(nil, m.kernel, m.noise)
	if err != nil {
		e.mu.Unlock()
		return nil, err
	}
	f.form, f.extra = e.old.measure()
	return f, nil
}

func (f *legacyFactor) jitter() float64       { return f.added }
func (f *legacyFactor) logDet() float64       { return 2*f.value - f.form - f.n()*log2Pi }
func (f *legacyFactor) gram(g blas64.General) { g.Data[0] = f.form }
func (f *legacyFactor) uncertainty() float64  { return f.extra }
func (f *legacyFactor) n() float64 {
	switch e := f.e.old.(type) {
	case *bandedExact:
		return float64(len(e.band.line.t))
	case *stateSpaceExact:
		return float64(len(e.line.t))
	case *toeplitzExact:
		return float64(len(e.line.t))
	}
	return math.NaN()
}
func (f *legacyFactor) gradient(grad []float64, r blas64.General) error {
	_, _, err := f.e.old.nll(grad, f.m.kernel, f.m.noise)
	return err
}
func (f *legacyFactor) posterior() predictor { return f.e.old.posterior() }
func (f *legacyFactor) release()             { f.e.mu.Unlock() }
