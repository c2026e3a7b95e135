package gppl

import (
	"math"
	"sync"
)

// projectedTerm is one family of kernels with the engines that may compute ΩᵀKΩ.
type projectedTerm struct {
	k              int
	mass           float64 // of the directions
	span           float64 // the largest distance there is
	directionError float64 // what the directions add to the error of each engine
	engines        []projectedEngine
	chooser        *chooser
	scaling        scaling
}

func newProjectedTerm(k Kernel, x Inputs, d directions, o options, engines ...projectedEngine) *projectedTerm {
	var names []string
	for _, e := range engines {
		names = append(names, e.name())
	}
	return &projectedTerm{
		k: d.k, mass: d.mass, span: extent(x), directionError: d.bound(),
		engines: engines, chooser: newChooser(o, o.tolerance*float64(d.k), names), scaling: scalingOf(k),
	}
}

// callBytes are those of a projectedCall, over k².
const callBytes = 12 * 8

// forecast collects the forecasts of all engines for m.
func (t *projectedTerm) forecast(s *selection, m *compiledTerm) {
	t.chooser.begin(s)
	blur := float64(t.k)*phases(m.kernel, t.span, m.noise, math.Sqrt(t.mass)) + t.directionError
	blur += float64(t.k) * gramRounding(m.cond-1, 1) // what engines allow for is the signal
	for i, e := range t.engines {
		f := e.forecast(m)
		f.bytes += callBytes * float64(t.k*t.k)
		s.candidates[i] = t.chooser.limited(f)
		s.candidates[i].err += blur
	}
}

// best returns the forecast of the best engine that has not failed.
func (t *projectedTerm) best(s *selection) forecast {
	if i := t.chooser.next(s); i >= 0 {
		return s.candidates[i]
	}
	return cannot("no engine takes it")
}

// termCall is a term at one evaluation, with its engine and its covariance.
type termCall struct {
	*projectedTerm
	compiledTerm
	selection
	gram projectedGram // nil: not computed
}

// compute has the engines attempt the covariance, unless it is there.
func (t *termCall) compute(derivatives bool) error {
	if t.gram != nil {
		return nil
	}
	return t.chooser.evaluate(&t.selection, func(i int) (outcome, error) {
		t.release() // of an engine that promised too little
		gram, err := t.engines[i].gram(&t.compiledTerm, derivatives)
		if err == nil {
			t.gram = gram
		}
		return outcome{terms: float64(t.k)}, err
	})
}

// reject notes that the answer of the engine failed its check, so that the next
// takes over.
func (t *termCall) reject(err error) {
	t.release()
	t.selection.failed |= 1 << t.chosen
	t.fallbacks++
	t.lastErr = err
}

// release gives the memory of the covariance back, if there is one.
func (t *termCall) release() {
	if t.gram != nil {
		t.gram.release()
		t.gram = nil
	}
}

// largest returns the largest entry of the covariance: positive semi-definite, it
// is on the diagonal.
func (t *termCall) largest() float64 { return largestDiagonal(t.gram.covariance(), t.k) }

func largestDiagonal(s []float64, k int) (v float64) {
	for i := 0; i < len(s); i += k + 1 {
		v = max(v, s[i])
	}
	return v
}

// A witness is a projected engine that makes its forecasts from where evaluations
// were made. The loss tells it of each, once.
type witness interface {
	// saw says that an evaluation was made of m, whose covariance had the given
	// largest entry; 0 if it is not known.
	saw(m *compiledTerm, largest float64)
}

// tell has the engines of the term know of the evaluation.
func (t *termCall) tell() {
	for _, e := range t.engines {
		if w, ok := e.(witness); ok {
			var largest float64
			if t.gram != nil {
				largest = t.largest()
			}
			w.saw(&t.compiledTerm, largest)
		}
	}
}

// lastUse is which terms the last evaluation used, for Explain and Report.
type lastUse struct {
	mu      sync.Mutex
	terms   []*projectedTerm
	kernels []Kernel
}

func (u *lastUse) note(use []*termCall) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.terms, u.kernels = u.terms[:0], u.kernels[:0]
	for _, t := range use {
		u.terms, u.kernels = append(u.terms, t.projectedTerm), append(u.kernels, t.kernel)
	}
}

// each calls f for each of them.
func (u *lastUse) each(f func(t *projectedTerm, k Kernel)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, t := range u.terms {
		f(t, u.kernels[i])
	}
}
