package fourier

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

// Spread is NUFFT for points that come in parts, and whose weights the caller adds up
// on the fine grid itself: Taps says where and how much, Sums transforms what came of
// it. What Taps returns for a point depends on that point alone, and is the same on
// every processor. A Spread does not change.
type Spread struct {
	grid
	origin, period float64
}

// spreadTolerance is below Floor: the caller may add without rounding.
const spreadTolerance = 1e-15

// NewSpread returns the plan for sums at frequencies below m1 of the circle that begins
// at origin, with over grid points to the shortest half wave.
func NewSpread(origin, period float64, m1, over int) *Spread {
	if !(period > 0) || m1 < 1 || over < 2 {
		panic(fmt.Sprintf("fourier: period %v, %d frequencies, %d points to half a wave", period, m1, over))
	}
	return &Spread{gridOf(m1, over, spreadTolerance), origin, period}
}

// Size returns the number of grid points on the circle.
func (s *Spread) Size() int { return s.size }

// Width returns the number of grid points under the window of a point.
func (s *Spread) Width() int { return s.width }

// First returns the first of the grid points under the window of x, in [0, Size).
func (s *Spread) First(x float64) int {
	first, _ := s.place(phase(x, s.origin, s.period))
	return first
}

// Taps sets first[i] to First(x[i]), and taps[i·Width:] to the values of the window, in
// (0, 1], at that grid point and at those after it.
func (s *Spread) Taps(first []int, taps, x []float64) {
	first, taps = first[:len(x)], taps[:len(x)*s.width]
	for i, v := range x {
		at, ahead := s.place(phase(v, s.origin, s.period))
		first[i] = at
		s.exponents(taps[i*s.width:][:s.width], ahead)
	}
	vexp.Exp(taps, taps)
}

// Sums sets dst (2M) to the sums at the frequencies 0 … M−1, as Points.Sums orders them,
// of the weights on the grid: values[i] at the grid point from + i, modulo Size, where
// Σ W_i·ψ has been added up. It takes an FFT.
func (s *Spread) Sums(dst []float64, from int, values []float64) {
	if len(dst)%2 != 0 || len(values) > s.size || len(dst) > s.size {
		panic(fmt.Sprintf("fourier: %d sums of %d values on a grid of %d", len(dst), len(values), s.size))
	}
	m := len(dst) / 2
	rows := blas64.General{Rows: len(values), Cols: 1, Stride: 1, Data: values}
	s.transform(blas64.General{Rows: len(dst), Cols: 1, Stride: 1, Data: dst}, []strip{{from, rows}}, s.gains(0, m), 0)
}

// Gain is what the sum of the values on the grid is multiplied by to give the sum at frequency 0, without an FFT.
func (s *Spread) Gain() float64 { return s.gains(0, 1)[0] }
