package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Limits are the bounds at which Gaussian observations are censored (the Tobit model). y = Lo means that the value without
// bounds, f(x) + ε, is at most Lo; y = Hi means that it is at least Hi. ±Inf stands for no bound.
type Limits struct{ Lo, Hi float64 }

// At reports whether y is at a bound.
func (l Limits) At(y float64) bool { return y <= l.Lo || y >= l.Hi }

// Censored returns Gaussian data whose likelihood and posterior under a model approximate what data with limits have, by
// expectation propagation (Minka 2001; Rasmussen and Williams 2006, section 3.6). Let g = h(x)ᵀβ + f(x) + ε be the value without
// bounds; given all other observations it is N(m, v). Each value at a bound becomes an observation ỹ with a known error e, such
// that N(g; ỹ, e²) changes this mean and variance as g ≤ Lo does (at Hi, g ≥ Hi). Values between the bounds stay as they are,
// with an error of 0. The evidence is exact for one censored value, and
//
//	−log p(y) ≈ −log N(ỹ; …) + nats,  nats = −Σ (log P(g ≤ Lo) + ½log 2π(v + e²) + ½(m − ỹ)²/(v + e²)).
//
// Its derivatives in the parameters of the model are the derivatives at fixed ỹ, e and nats: training and Censored in turn find
// its optimum. It takes some ten evaluations of the likelihood with the variances of Exact.Residuals. It is an error if the data
// have errors, or if a value is beyond its bound.
//
// The iteration begins at from: data that Censored returned before for the same inputs under another model, or nil to begin anew.
func Censored(
	ctx context.Context, m gppl.Model, d gppl.Data, l Limits, from *gppl.Data, opts ...gppl.Option,
) (of gppl.Data, nats float64, err error) {
	if !(l.Lo < l.Hi) {
		panic(fmt.Sprintf("observe: Censored: limits of %v and %v", l.Lo, l.Hi))
	}
	if from != nil && (from.Len() != d.Len() || len(from.Errors) != d.Len()) {
		panic(fmt.Sprintf("observe: Censored: from %d observations with %d errors, of %d", from.Len(), len(from.Errors), d.Len()))
	}
	if err := cmp.Or(m.CheckPlain("censored values", d), m.Check(), d.Check()); err != nil {
		return d, 0, err
	}
	if d.Errors != nil || d.Relative != nil {
		return d, 0, fmt.Errorf("observe: censored values are not combined with known errors: leave one of them out")
	}
	n := d.Len()
	s := sites{y: slices.Clone(d.Y), errors: make([]float64, n)}
	for i, y := range d.Y {
		switch {
		case y < l.Lo || y > l.Hi:
			return d, 0, fmt.Errorf("observe: observation %d: %v is beyond the limits, %v and %v", i, y, l.Lo, l.Hi)
		case y == l.Lo:
			s.at, s.side = append(s.at, i), append(s.side, 1)
		case y == l.Hi:
			s.at, s.side = append(s.at, i), append(s.side, -1)
		}
	}
	if s.at == nil {
		of, err = d.WithErrors(s.errors)
		return of, 0, err
	}
	if from == nil {
		s.begin(m)
	} else {
		s.y, s.errors = slices.Clone(from.Y), slices.Clone(from.Errors)
	}
	if of, err = d.WithErrors(s.errors); err != nil {
		return of, 0, err
	}
	exact, err := gppl.NewExact(ctx, m, of, opts...)
	if err != nil {
		return of, 0, err
	}
	alpha, precisions, theta := make([]float64, n), make([]float64, n), m.Values()
	for round := range mostPropagated {
		if exact, err = exact.WithObservations(s.y, s.errors); err != nil {
			return of, 0, err
		}
		if _, err = exact.Residuals(ctx, alpha, precisions, nil, theta); err != nil {
			return of, 0, err
		}
		c := s.change(d.Y, alpha, precisions)
		if c.moved < propagated { // its nats belong to the sites before it
			of.Y, of.Errors = s.y, s.errors
			return of, c.nats, of.Check()
		}
		s.move(c, s.mixing.next(c.from, c.by, c.weights, damping/float64(1+round/slower)))
	}
	return of, 0, fmt.Errorf("observe: %d values at their bounds: expectation propagation has not converged within %d rounds",
		len(s.at), mostPropagated)
}

const (
	mostPropagated   = 200  // rounds; some ten are usual
	propagated       = 1e-3 // largest change of the last round, over the sd of g given the other observations
	leastInformation = 1e-6 // share of the precision of g that each value tells at least, so that no error is infinite
	damping          = 0.8  // share of each change that is made: the sites of neighbours change at the same time
	slower           = 40   // rounds after which the share is halved
)

// sites are the Gaussian observations that stand for those at bounds.
type sites struct {
	y, errors []float64
	at        []int     // indices of the observations at bounds
	side      []float64 // 1 at the lower bound, −1 at the upper one
	mixing    mixing
}

// begin sets weak sites: each half the variance of g within the bound, as uncertain as the model is at the start.
func (s *sites) begin(m gppl.Model) {
	at := []float64{0}
	m.Kernel.Cov(at, at)
	sd := math.Sqrt(at[0] + m.Noise)
	for k, i := range s.at {
		s.y[i] -= s.side[k] * 0.5 * sd
		s.errors[i] = sd
	}
}

// A change matches the moments of every site, given the others.
type change struct {
	// from holds the natural parameters of the sites, the precisions 1/e² of all and then the forces ỹ/e² of all, and by the
	// change of each; weights put these on the scale of g given the others.
	from, by, weights []float64
	moved             float64 // largest change of a precision or of a force about the mean of g, on that scale
	nats              float64 // see Censored, before the change
}

// change returns the change that the residuals of the sites and of the other observations ask for.
func (s *sites) change(bound, alpha, precisions []float64) change {
	n := len(s.at)
	c := change{from: make([]float64, 2*n), by: make([]float64, 2*n), weights: make([]float64, 2*n)}
	for k, i := range s.at {
		e2 := s.errors[i] * s.errors[i]
		total := 1 / precisions[i] // v + e²
		v := max(total-e2, 1e-12*total)
		mean := s.y[i] - alpha[i]*total
		sd := math.Sqrt(v)
		z := s.side[k] * (bound[i] - mean) / sd // g ≤ bound has the probability Φ(z)
		log, ratio := tail(z)
		information := max(ratio*(z+ratio), leastInformation) // 1 less the variance, in units of v
		away := s.y[i] - mean
		c.nats -= log + 0.5*math.Log(2*math.Pi*total) + 0.5*away*away/total
		// in natural parameters: 1/e² and (ỹ − mean)/e²
		informed := information / (1 - min(information, 1-1e-9)) / v
		pull := -s.side[k] * ratio / sd // pull on the mean of g, in units of v
		precision, force := informed-1/e2, pull*(1+informed*v)-away/e2
		c.from[k], c.from[n+k] = 1/e2, s.y[i]/e2
		c.by[k], c.by[n+k] = precision, force+mean*precision
		c.weights[k], c.weights[n+k] = 1/(1/v+1/e2), sd/(1+v/e2)
		c.moved = max(c.moved, math.Abs(precision)*c.weights[k], math.Abs(force)*c.weights[n+k])
	}
	return c
}

// move sets the sites to natural parameters, or half-way along the change where a precision is far from its range.
func (s *sites) move(c change, to []float64) {
	const margin = 10 // precisions may be so many times beyond the range
	n := len(s.at)
	for k, i := range s.at {
		precision, force, aim := to[k], to[n+k], c.from[k]+c.by[k]
		if !(precision > min(aim, c.from[k])/margin && precision < max(aim, c.from[k])*margin) {
			precision, force = c.from[k]+0.5*c.by[k], c.from[n+k]+0.5*c.by[n+k]
		}
		s.errors[i], s.y[i] = 1/math.Sqrt(precision), force/precision
	}
}

// tail returns log Φ(z) and φ(z)/Φ(z).
func tail(z float64) (log, ratio float64) {
	const far = -30
	if z > far {
		p := 0.5 * math.Erfc(-z/math.Sqrt2)
		log = math.Log(p)
		if z > 0 {
			log = math.Log1p(-0.5 * math.Erfc(z/math.Sqrt2))
		}
		return log, math.Exp(-0.5*z*z) / (p * math.Sqrt(2*math.Pi))
	}
	q := 1 / (z * z)
	series := 1 - q*(1-3*q*(1-5*q*(1-7*q))) // the series of Φ(z)·|z|/φ(z), to 1e-10
	return -0.5*z*z - 0.5*math.Log(2*math.Pi) - math.Log(-z) + math.Log(series), -z / series
}
