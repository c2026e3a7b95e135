package gppl

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// sloped is a mean with derivatives of its basis in closed form.
type sloped interface {
	Mean
	// slope sets dst, which is zero, to the derivatives at time t, the first coordinate of a point; at a kink, to the mean of the
	// derivatives on either side.
	slope(dst []float64, t float64)
}

// basisSlopes returns the derivatives of the basis along an axis: in closed form, or by differences on the scale of the interval
// from lo to hi for a mean of one's own.
func basisSlopes(m Mean, x Inputs, axis int, lo, hi float64) (*mat.Dense, error) {
	switch m := m.(type) {
	case GaussianBeta:
		return basisSlopes(m.Of, x, axis, lo, hi)
	case MeanSum:
		all := mat.NewDense(x.Len(), len(m.Columns()), nil)
		at := 0
		for _, part := range m.parts {
			s, err := basisSlopes(part, x, axis, lo, hi)
			if err != nil {
				return nil, err
			}
			_, h := s.Dims()
			all.Slice(0, x.Len(), at, at+h).(*mat.Dense).Copy(s)
			at += h
		}
		return all, nil
	case Intercept, Trend, Linear, Fourier, Step, Kink, Regressor: // not a type that embeds one
		of, all := m.(sloped), mat.NewDense(x.Len(), len(m.Columns()), nil)
		for i := range x.Len() {
			of.slope(all.RawRowView(i), x.At(i)[0])
		}
		return all, nil
	}
	return basisDifferences(m, x, axis, lo, hi)
}

// basisDifferences returns the derivatives by central differences, on the scale of the interval from lo to hi and finer. They are
// extrapolated to a step of zero (Ridders 1982). Steps are powers of two, which change x exactly.
func basisDifferences(m Mean, x Inputs, axis int, lo, hi float64) (*mat.Dense, error) {
	largest := max(math.Abs(lo), math.Abs(hi))
	scale := max(hi-lo, 1e-9*largest)
	if scale == 0 {
		scale = 1e-3
	}
	const steps = 20
	n, cols := x.Len(), len(m.Columns())
	limits := newLimits(n, cols)
	var before []*mat.Dense // extrapolations from the step before, by their order
	for s := range steps {
		step := math.Exp2(math.Floor(math.Log2(scale)) - float64(s) - 3)
		if step < 4*0x1p-52*largest {
			break
		}
		up, err := basisAt(m, x.shifted(axis, step))
		if err != nil {
			return nil, err
		}
		down, err := basisAt(m, x.shifted(axis, -step))
		if err != nil {
			return nil, err
		}
		difference := mat.NewDense(n, cols, nil)
		difference.Sub(up, down)
		difference.Scale(1/(2*step), difference)
		now := []*mat.Dense{difference}
		for k, coarse := range before {
			now = append(now, limits.extrapolate(now[k], coarse, k))
		}
		before = now
	}
	return limits.best, nil
}

// limits holds, for each entry of a matrix that depends on a step, the extrapolation to a step of zero whose estimated error is
// least.
type limits struct{ best, off *mat.Dense }

func newLimits(n, cols int) *limits {
	l := &limits{mat.NewDense(n, cols, nil), mat.NewDense(n, cols, nil)}
	for i := range n {
		for j := range cols {
			l.off.Set(i, j, math.Inf(1))
		}
	}
	return l
}

// extrapolate returns the extrapolation of order k + 1 from those of order k with a step and with twice that step, and keeps its
// entries that are better than what is known.
func (l *limits) extrapolate(fine, coarse *mat.Dense, k int) *mat.Dense {
	// Estimates that differ by more than contradiction times their errors exclude each other, and that of the smaller step is right:
	// differences over whole periods of a wave agree on 0.
	const contradiction = 8
	n, cols := fine.Dims()
	next, power := mat.NewDense(n, cols, nil), math.Exp2(2*float64(k+1))
	for i := range n {
		for j := range cols {
			f, c := fine.At(i, j), coarse.At(i, j)
			v := (power*f - c) / (power - 1)
			next.Set(i, j, v)
			e, off := max(math.Abs(v-f), math.Abs(v-c)), l.off.At(i, j)
			if math.IsInf(off, 1) || e < off || math.Abs(v-l.best.At(i, j)) > contradiction*(e+off) {
				l.best.Set(i, j, v)
				l.off.Set(i, j, e)
			}
		}
	}
	return next
}
