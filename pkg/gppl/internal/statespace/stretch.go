package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Stretch is a short stretch of a series for checking gradients by differences of values. The zero value is ready for Of.
type Stretch struct {
	*Filter
	Columns blas64.General // columns of the stretch

	g         blas64.General
	grad      []float64
	moved     []Block
	processes []Matern
}

// Of takes the stretch from the middle of a series, with its columns, known errors and scales of the noise (SetErrors, SetScale).
// The inputs of all calls must be the same.
func (s *Stretch) Of(t []float64, columns blas64.General, known, scale []float64) {
	const longest = 1000
	n := len(t)
	length := min(n, max(4, min(n/250, longest)))
	from := (n - length) / 2
	part := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		return x[from : from+length]
	}
	if s.Filter == nil {
		s.Filter = NewFilter(part(t), nil)
	}
	s.SetErrors(part(known))
	s.SetScale(part(scale))
	s.Columns = dense.Rows(columns, from, length)
	s.g = dense.Reshape(s.g, columns.Cols, columns.Cols)
}

// CompareMatern is Compare for Summable blocks, in the logs of their variances and lengthscales.
func (s *Stretch) CompareMatern(blocks []Block, noise float64, by Sweep, r blas64.General,
	rounding float64) (slope, difference, limit float64, err error) {
	s.moved, s.processes = append(s.moved[:0], blocks...), dense.Resize(s.processes, len(blocks))
	return s.Compare(func(step float64) error {
		for i, b := range blocks {
			p := *b.Process.(*Matern)
			p.Lengthscale *= math.Exp(step * verify.Direction(2*i+1))
			s.processes[i] = p
			s.moved[i].Process = &s.processes[i]
			s.moved[i].Variance = b.Variance * math.Exp(step*verify.Direction(2*i))
		}
		return s.Factorise(s.Columns, s.moved, noise*math.Exp(step*verify.Direction(2*len(blocks))), by)
	}, func(grad []float64) []float64 { return grad }, r, rounding)
}

// Compare returns the slope of ½log|A| + ½Σ_j (Cr_j)ᵀA⁻¹Cr_j along the direction in log θ by its gradient and by a difference
// of values, and the limit on their difference. rounding is the error of a value, relative to its size. factorise sets the
// filter a step along the direction; chain converts derivatives of the filter to derivatives in log θ. Where the kernel turns
// by many radians within the stretch, so a step of its period moves the far end by much of a radian, Compare takes a smaller
// step.
func (s *Stretch) Compare(factorise func(step float64) error, chain func(grad []float64) []float64, r blas64.General,
	rounding float64) (slope, difference, limit float64, err error) {
	value := func(step float64) (float64, error) {
		if err := factorise(step); err != nil {
			return 0, err
		}
		s.Gram(s.g)
		return 0.5 * (s.LogDet() + dense.Form(s.g, r)), nil
	}
	if _, err := value(0); err != nil {
		return 0, 0, 0, err
	}
	s.grad = dense.Resize(s.grad, s.Derivatives())
	s.Gradient(s.grad, r)
	size := float64(s.Columns.Rows) + dense.Form(s.g, r)
	for i, d := range chain(s.grad) {
		slope += verify.Direction(i) * d
		size += math.Abs(d)
	}
	const (
		largest, least = 1e-4, 1e-6
		most           = 1e-4 // share of the size, by rounding, that allows a smaller step
	)
	for h := largest; ; h /= 10 {
		plus, err := value(h)
		if err != nil {
			return 0, 0, 0, err
		}
		minus, err := value(-h)
		if err != nil {
			return 0, 0, 0, err
		}
		difference, limit = (plus-minus)/(2*h), size*(1e-6+rounding/h)
		if smaller := h / 10; math.Abs(slope-difference) <= limit || smaller < 0.9*least || rounding/smaller > most {
			return slope, difference, limit, nil
		}
	}
}
