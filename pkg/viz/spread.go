package viz

import (
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Spread summarises the distribution of values from several runs, such as seeds. As a cell of a [Table] it reads "median [lower
// quartile, upper quartile] worst", each in the column's format; [Column.Best] compares medians. Make it with [SpreadOf].
type Spread struct {
	N      int // number of finite values
	Failed int // number of other values
	Median float64
	Q1, Q3 float64 // quartiles
	Worst  float64
}

// SpreadOf summarises values; the largest is the worst. Quantiles interpolate linearly between order statistics (R's type 7).
// Values that are not finite, such as those from failed runs, are counted separately; if none is finite, the fields are NaN. It
// takes O(n log n).
func SpreadOf(values []float64) Spread {
	sorted := numeric.OnlyFinite(values)
	slices.Sort(sorted)
	return Spread{
		N: len(sorted), Failed: len(values) - len(sorted),
		Q1: numeric.SortedQuantile(sorted, 0.25), Median: numeric.SortedQuantile(sorted, 0.5), Q3: numeric.SortedQuantile(sorted, 0.75),
		Worst: numeric.SortedQuantile(sorted, 1),
	}
}

// parts returns the two texts of a cell: the median, and the rest in small print.
func (s Spread) parts(number func(float64) string) (median, rest string) {
	if s.N == 0 {
		return absent, s.failures()
	}
	rest = fmt.Sprintf("[%s, %s] worst %s", number(s.Q1), number(s.Q3), number(s.Worst))
	if s.Failed > 0 {
		rest += ", " + s.failures()
	}
	return number(s.Median), rest
}

func (s Spread) failures() string {
	if s.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d failed", s.Failed)
}
