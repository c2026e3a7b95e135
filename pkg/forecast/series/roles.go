package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Bound sets bounds of y; ±Inf stands for none. It is an error if a value is beyond them.
func (s *Series) Bound(lo, hi float64) error {
	b := &Bounds{Lo: lo, Hi: hi}
	b.Censored = b.open()
	if err := b.checkAll(s.Y); err != nil {
		return err
	}
	s.setBounds(*b)
	return nil
}

// setBounds sets the bounds, and the distance beyond them at which the log odds are infinite. A value at a bound has no log odds,
// and the log odds of one close to it may be outliers. The distance is therefore the one at which the values are likeliest to be
// normal, among half the smallest distance of a value from a bound and its multiples by powers of two. If no value lies at a
// bound it is 0, unless another is likelier by log n nats. If several do, they may be censored instead (Bounds.censored).
func (s *Series) setBounds(b Bounds) {
	if b.Censored {
		b.setRoot(s.Y)
		s.Bounds = &b
		return
	}
	at, next, whole := false, b.Hi-b.Lo, b.Hi-b.Lo
	for _, y := range s.Y {
		for _, d := range []float64{y - b.Lo, b.Hi - y} {
			if d == 0 {
				at = true
			} else {
				next = min(next, d)
			}
		}
	}
	likeliest := math.Inf(-1)
	if !at {
		likeliest = b.normal(s.Y) + math.Log(float64(len(s.Y)))
	}
	best := b.Beyond
	for beyond := next / 2; beyond <= whole; beyond *= 2 {
		b.Beyond = beyond
		if v := b.normal(s.Y); v > likeliest {
			best, likeliest = beyond, v
		}
	}
	b.Beyond = best
	if c, ok := b.censored(s.Y, next); ok && s.Errors == nil {
		b = c
	}
	s.Bounds = &b
}

// normal returns the largest log likelihood, over mean and variance, of independent values whose log odds are normal, up to a
// constant.
func (b *Bounds) normal(y []float64) (nats float64) {
	n := float64(len(y))
	var sum, squares float64
	for _, v := range y {
		z := b.Forward(v)
		sum, squares, nats = sum+z, squares+z*z, nats+b.LogSlope(v)
	}
	return nats - 0.5*n*math.Log(max(squares/n-sum*sum/(n*n), math.SmallestNonzeroFloat64))
}

// wrongValues returns an error that names the line of each value that check rejects. The values belong to the rows in the given
// order, nil for all rows.
func wrongValues(y []float64, m dataset.CSVMore, order []int, check func(i int, v float64) error) error {
	var wrong dataset.CSVError
	for i, v := range y {
		err := check(i, v)
		if err == nil {
			continue
		}
		row := i
		if order != nil {
			row = order[i]
		}
		if row >= len(m.Lines) {
			return fmt.Errorf("observation %d: %w", i+1, err)
		}
		wrong.Add(dataset.CSVProblem{Line: m.Lines[row], Err: err})
	}
	if len(wrong.Problems) > 0 {
		return &wrong
	}
	return nil
}

// checkCounting returns an error for impossible observations.
func (s *Series) checkCounting(y []float64) error {
	c := s.Counting
	if !slices.Contains(Likelihoods[3:], c.Likelihood) {
		return fmt.Errorf("a likelihood %q: it is one of %s", c.Likelihood, strings.Join(Likelihoods[3:], ", "))
	}
	if c.Sizes != nil && len(c.Sizes) != len(y) {
		return fmt.Errorf("%d sizes of %d observations", len(c.Sizes), len(y))
	}
	if c.Likelihood == "binomial" && c.Sizes == nil {
		return message("a binomial distribution needs the number of trials of each observation: name their column by %v",
			dataset.Setting{Field: "Size", Value: "COLUMN"})
	}
	for i, v := range y {
		if err := c.check(v, c.Size(i)); err != nil {
			return fmt.Errorf("observation %d: %w", i, err)
		}
	}
	return nil
}

// Count makes the values of a series counts with a likelihood from Likelihoods, except its first three. Sizes are the exposures
// of the observations or their numbers of trials; nil means all 1. It is an error if a value is impossible.
func (s *Series) Count(likelihood string, sizes []float64) error {
	before := s.Counting
	s.Counting = &Counting{Likelihood: likelihood, Sizes: sizes}
	if err := s.checkCounting(s.Y); err != nil {
		s.Counting = before
		return err
	}
	return nil
}

// setCounting makes the values of a file counts if the options ask for it, or if they leave it open and the values are counts.
func (s *Series) setCounting(o ReadOptions, y []float64, m dataset.CSVMore, order []int) error {
	switch o.Likelihood {
	case "", "gaussian", "student":
		if o.Size != "" {
			return message("sizes are those of counts or of shares: %v says which", dataset.Setting{Field: "Likelihood"})
		}
		if o.Likelihood == "student" {
			s.Student = new(Student)
		}
		return nil
	case "auto":
		if o.Size == "" {
			if s.Counting = guessCounting(y); s.Counting == nil && o.Bounds == nil {
				s.Bounds = guessAmounts(y)
			}
			return nil
		}
		s.Counting = &Counting{Likelihood: "negbinomial"}
	default:
		s.Counting = &Counting{Likelihood: o.Likelihood}
	}
	c := s.Counting
	if o.Size != "" {
		at := o.sizeColumn()
		c.SizeName = alsoName(m, at)
		c.Sizes = timeline.Pick(m.Values[at], order)
	}
	if err := wrongValues(y, m, order, func(i int, v float64) error { return c.check(v, c.Size(i)) }); err != nil {
		return err
	}
	return s.checkCounting(y)
}

// checkRoles returns an error if a column has two roles.
func (o ReadOptions) checkRoles(path string, rep dataset.CSVReport) error {
	if rep.X == rep.Y {
		return fmt.Errorf("%s: x and y are both column %d: choose another for one of them", path, rep.X+1)
	}
	taken := map[int]string{rep.X: "x", rep.Y: "y"}
	for i, col := range rep.Also.Columns {
		role := "a regressor"
		if i == 0 && o.YError != "" {
			role = "the error of y"
		}
		if o.Size != "" && i == o.sizeColumn() {
			role = "the size"
		}
		if before, ok := taken[col]; ok {
			return fmt.Errorf("%s: column %d (%q) is %s and cannot be %s too: choose another for one of them",
				path, col+1, rep.Also.Names[i], before, role)
		}
		taken[col] = role
	}
	for i, col := range rep.Also.KeyColumns {
		if before, ok := taken[col]; ok {
			return fmt.Errorf("%s: column %d (%q) is %s and cannot tell series apart too: choose another for one of them",
				path, col+1, rep.Columns[col], before)
		}
		taken[col] = fmt.Sprintf("number %d of the columns that tell series apart", i+1)
	}
	return nil
}

// alsoName returns the name of one of the further columns, or its number if it has none.
func alsoName(m dataset.CSVMore, i int) string {
	return cmp.Or(m.Names[i], fmt.Sprintf("column %d", m.Columns[i]+1))
}

// wrongCells returns an error for invalid errors of y and sizes in rows of the given order (nil: all), and for missing
// regressors.
func (o ReadOptions) wrongCells(m dataset.CSVMore, order []int) error {
	var wrong dataset.CSVError
	add := func(i int, format string, args ...any) {
		wrong.Add(dataset.CSVProblem{Line: m.Lines[i], Err: fmt.Errorf(format, args...)})
	}
	if order == nil {
		order = timeline.Range(0, len(m.Lines))
	}
	for _, i := range order {
		if o.YError == "" {
			break
		}
		name := alsoName(m, 0)
		switch v := m.Values[0][i]; {
		case math.IsNaN(v):
			add(i, "the error of y (%s) is missing although the row has a y: fill it in, or leave y of that row empty too", name)
		case v < 0:
			add(i, "the error of y (%s) is %v: a standard deviation is positive", name, v)
		case v == 0:
			add(i, "the error of y (%s) is 0, but no observation is exact: write the smallest possible error, or remove the row", name)
		}
	}
	first := len(m.Names) - len(o.Regressors)
	for j, name := range o.regressorNames(m) {
		for i, v := range m.Values[first+j] {
			if math.IsNaN(v) {
				add(i, "the regressor %s is missing although the row has a y: fill it in, or leave y of that row empty too", name)
			}
		}
	}
	if o.Size != "" {
		at := o.sizeColumn()
		name := alsoName(m, at)
		for _, i := range order {
			switch v := m.Values[at][i]; {
			case math.IsNaN(v):
				add(i, "the size (%s) is missing although the row has a y: fill it in, or leave y of that row empty too", name)
			case !(v > 0):
				add(i, "the size (%s) is %v: want a positive number", name, v)
			}
		}
	}
	if len(wrong.Problems) == 0 {
		return nil
	}
	return &wrong
}

// sizeColumn returns the index of the sizes among the further columns.
func (o ReadOptions) sizeColumn() int {
	if o.YError != "" {
		return 1
	}
	return 0
}

// regressorNames returns the names of the regressors in the header, or their numbers.
func (o ReadOptions) regressorNames(m dataset.CSVMore) (names []string) {
	for i := len(m.Names) - len(o.Regressors); i < len(m.Names); i++ {
		names = append(names, alsoName(m, i))
	}
	return names
}
