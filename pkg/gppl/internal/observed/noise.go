package observed

import (
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Noise describes the noise of each observation, whose variance is
//
//	λ_i = σ²·Scale_i + Known_i.
type Noise struct {
	Scale                  []float64 // e_i²; nil means that all are 1
	Known                  []float64 // s_i²; nil means none
	leastScale, leastKnown float64   // least values of Scale and Known, where given
}

// NewNoise returns the noise of observations with these squared relative errors and known variances, each nil if there are
// none.
func NewNoise(scale, known []float64) Noise {
	r := Noise{Scale: scale, Known: known}
	if len(scale) > 0 {
		r.leastScale = slices.Min(scale)
	}
	if len(known) > 0 {
		r.leastKnown = slices.Min(known)
	}
	return r
}

// Even reports whether all observations have the noise variance σ².
func (r *Noise) Even() bool { return r.Scale == nil && r.Known == nil }

// Weight returns ∂λ_i/∂σ².
func (r *Noise) Weight(i int) float64 {
	if r.Scale == nil {
		return 1
	}
	return r.Scale[i]
}

// Set sets dst to λ, in the memory of dst where it does.
func (r *Noise) Set(dst []float64, n int, noise float64) []float64 {
	dst = dense.Resize(dst, n)
	for i := range dst {
		dst[i] = noise * r.Weight(i)
		if r.Known != nil {
			dst[i] += r.Known[i]
		}
	}
	return dst
}

// Least returns a lower bound on all λ_i.
func (r *Noise) Least(noise float64) float64 {
	if r.Scale != nil {
		noise *= r.leastScale
	}
	return noise + r.leastKnown
}

// standIn is the σ² used in place of 0 beside known errors, relative to the least of their variances: it changes none of their
// digits, and the derivative in σ² exists.
const standIn = 0x1p-80

// StandIn returns a σ² that changes no λ_i of the observations i with has(i), or of all if has is nil; 0 unless all of these have
// known errors.
func (r *Noise) StandIn(has func(i int) bool) (noise float64) {
	least, most := math.Inf(1), 1.
	for i, s := range r.Known {
		if has == nil || has(i) {
			least, most = min(least, s), max(most, r.Weight(i))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return standIn * least / most
}

// Positive returns theta. If all observations have known errors, a σ² of 0, at the given place, is replaced by StandIn in a
// copy.
func (r *Noise) Positive(theta []float64, place int) []float64 {
	if place >= len(theta) || theta[place] != 0 || !(r.leastKnown > 0) {
		return theta
	}
	theta = slices.Clone(theta)
	theta[place] = r.StandIn(nil)
	return theta
}

// negligibleNoise is the share of a known error's variance below which further noise is negligible: it changes no error bar by
// more than half a per cent.
const negligibleNoise = 0.01

// Negligible reports whether σ² changes no λ_i, of the observations i with has(i) or of all if has is nil, by more than
// negligibleNoise.
func (r *Noise) Negligible(noise float64, has func(i int) bool) bool {
	for i, s := range r.Known {
		if (has == nil || has(i)) && noise*r.Weight(i) > negligibleNoise*s {
			return false
		}
	}
	return r.Known != nil
}

// Most returns an upper bound on all λ_i.
func (r *Noise) Most(noise float64) float64 {
	if r.Scale != nil {
		noise *= slices.Max(r.Scale)
	}
	if r.Known != nil {
		noise += slices.Max(r.Known)
	}
	return noise
}

// diagonal is a matrix whose diagonal is still incomplete.
type diagonal interface{ AddDiagonals(d []float64) }

// OnDiagonal returns the number to add to the whole diagonal of K before Add: σ², or 0 if each observation has its own share
// of it.
func (r *Noise) OnDiagonal(noise float64) float64 {
	if r.Scale != nil {
		return 0
	}
	return noise
}

// Add completes the diagonal of K, after OnDiagonal was added. It returns work, its working memory.
func (r *Noise) Add(a diagonal, work []float64, n int, noise float64) []float64 {
	switch {
	case r.Scale != nil:
		work = r.Set(work, n, noise)
		a.AddDiagonals(work)
	case r.Known != nil:
		a.AddDiagonals(r.Known)
	}
	return work
}
