package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Regular reports whether ascending x have a constant step, with at most a few missing values: the Toeplitz engine then takes any
// kernel, in O(n²) instead of O(n³).
func Regular(x []float64) bool {
	const off, missing = 1e-4, 0.02
	g, ok := timeline.RegularOf(x)
	return ok && float64(g.N) <= (1+missing)*float64(len(x)) && g.Off <= off*g.Step
}

// OpenPlaces returns the number of observations in a cycle of ascending x with a constant step and the same closed places, such
// as nights and weekends, in every cycle; 0 for other x. The Toeplitz engine then takes any kernel, in O(b·n²) for b of them.
func OpenPlaces(x []float64) int {
	const off = 1e-4
	if c, ok := timeline.CyclesOf(x); ok && c.Off <= off*c.Step {
		return len(c.Open)
	}
	return 0
}

// NeedsDense reports whether most kernels take n³ operations: the series is long, and its latest x are not regular or its
// observations have errors, are counts, or are censored.
func (s *Series) NeedsDense() bool {
	n := len(s.X)
	return n > FewUneven && (s.Errors != nil || s.Approximated() || !Regular(s.X[max(0, n-DecisiveRows):]))
}

// DecisiveRows is the number of latest observations whose spacing determines whether a series is regular. A search of standard
// effort learns parameters from as many.
const DecisiveRows = 1500

// FewUneven replaces MostRemembered where a likelihood takes dense algebra (Series.NeedsDense).
const FewUneven = 700

// NewSeries returns the series of y at ascending x on an axis, with the checks of Read. The slices are kept.
func NewSeries(axis Axis, x, y []float64) (*Series, error) {
	s := &Series{Axis: axis, YName: "y", X: x, Y: y}
	if err := s.checkColumns(); err != nil {
		return nil, err
	}
	s.spacing()
	return s, nil
}

// Span writes the length of a number of steps: in units of the calendar if the steps are one, as in "28 days", and
// otherwise as "28 steps".
func (s *Series) Span(steps int) string {
	if !s.Even || s.closed != nil {
		return text.Count(steps, "step")
	}
	if months := map[int]string{1: "month", 3: "quarter", 12: "year"}[s.Axis.Months]; months != "" { // the median may be 31 days
		return text.Count(steps, months)
	}
	return text.Count(steps, cmp.Or(s.Axis.unitOf(s.Step), "step"))
}

// spacing finds the step, the gaps and the duplicates. A gap is wider than 1.5 steps, or than 10 if steps vary. Times of the week
// or day that never have an observation are not gaps.
func (s *Series) spacing() {
	for i := 1; i < len(s.X); i++ {
		if n := len(s.Duplicates); s.X[i] == s.X[i-1] && (n == 0 || s.Duplicates[n-1] != s.X[i]) {
			s.Duplicates = append(s.Duplicates, s.X[i])
		}
	}
	s.Step, s.Even = usualStep(s.X)
	s.closed = s.findClosed()
	wide := 1.5
	if !s.Even {
		wide = 10
	}
	for i := 1; i < len(s.X); i++ {
		if d := s.X[i] - s.X[i-1]; d > wide*s.Step {
			absent := int(math.Round(d/s.Step)) - 1 - s.closed.between(s.X[i-1], s.X[i])
			if s.closed != nil && absent == 0 {
				continue
			}
			s.Gaps = append(s.Gaps, Stretch{s.X[i-1], s.X[i]})
			s.Absent += absent
		}
	}
	// The last digit of numbers such as 1903.08333333333 is rounded, so the whole length gives the step more exactly than
	// neighbours.
	const rounding = 1e-6
	if whole := (s.X[len(s.X)-1] - s.X[0]) / float64(len(s.X)-1+s.Absent); math.Abs(whole-s.Step) < rounding*s.Step {
		s.Step = whole
	}
	slices.SortStableFunc(s.Gaps, func(a, b Stretch) int {
		switch la, lb := a.To-a.From, b.To-b.From; {
		case la > lb*(1+1e-9):
			return -1
		case lb > la*(1+1e-9):
			return 1
		}
		return 0
	})
}

// usualStep returns the median distance between neighbours of ascending x, without duplicates. even says that half of the
// distances are within a fifth of it of one another.
func usualStep(x []float64) (step float64, even bool) {
	steps := make([]float64, 0, len(x))
	for i := 1; i < len(x); i++ {
		if d := x[i] - x[i-1]; d > 0 {
			steps = append(steps, d)
		}
	}
	slices.Sort(steps)
	step = steps[len(steps)/2]
	q1, q3 := steps[len(steps)/4], steps[3*len(steps)/4]
	return step, q3-q1 < 0.2*step
}

func checkLength(s dataset.Series) error {
	distinct := distinct(s.X)
	const fewest = 5
	switch {
	case s.Len() < fewest:
		return fmt.Errorf("%s %s too few to learn from: at least %d are needed",
			text.Count(s.Len(), "observation"), text.Are(s.Len()), fewest)
	case distinct < 3:
		return fmt.Errorf("%d observations at %d different x are not a series "+
			"(if the time is spread over several columns, combine them into one)", s.Len(), distinct)
	}
	if span := s.X[s.Len()-1] - s.X[0]; span < smallest {
		return fmt.Errorf("x ranges over only %.3g: multiply it by a power of ten", span)
	}
	if slices.Min(s.Y) == slices.Max(s.Y) {
		return &ConstantError{y: s.Y[0], rows: s.Len()}
	}
	if scaling := s.Scaling(); scaling.Scale < smallest {
		return fmt.Errorf("y varies by only %.3g: multiply it by a power of ten", scaling.Scale)
	}
	return nil
}
