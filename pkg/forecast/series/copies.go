package series

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// withoutCopies returns the indices of the rows of a file that are not copies of earlier ones, the number of copies, and how many
// of these have another y, but only in its last digits. A join repeats rows, and so does a file that was appended twice; tables
// that keep different digits of the same measurements differ in the last. Each copy would count as one more observation without
// noise. s has the rows in ascending order of x; order has their indices in the file, nil if they are the same.
//
// Values that are measured several times at one x may also be equal. Rows therefore count as copies only if nine in ten of those
// that share their x with an earlier one also share its y, error and regressors, and if neighbours are not equal as often.
func withoutCopies(s dataset.Series, also dataset.CSVMore, order []int) (kept []int, copies, inexact int) {
	const most, chance, fewest = 0.9, 0.5, 3
	near := lastDigits * typicalChange(s)
	same := func(i, j int) bool {
		if !(math.Abs(s.Y[i]-s.Y[j]) <= near) {
			return false
		}
		for _, values := range also.Values {
			a, b := i, j
			if order != nil {
				a, b = order[i], order[j]
			}
			if values[a] != values[b] {
				return false
			}
		}
		return true
	}
	repeated, neighbours, equal, begins := 0, 0, 0, 0
	for i := range s.X {
		if i == 0 || s.X[i] != s.X[i-1] {
			if i > 0 {
				if neighbours++; same(i, i-1) {
					equal++
				}
			}
			begins = i
			kept = append(kept, i)
			continue
		}
		repeated++
		copied := -1
		for j := begins; j < i && copied < 0 && i-begins < mostAtOne; j++ {
			if same(i, j) {
				copied = j
			}
		}
		if copied < 0 {
			kept = append(kept, i)
			continue
		}
		copies++
		if s.Y[i] != s.Y[copied] {
			inexact++
		}
	}
	if copies == 0 || len(kept) < fewest || float64(copies) < most*float64(repeated) ||
		float64(equal)*float64(repeated) > chance*float64(copies)*float64(neighbours) {
		return timeline.Range(0, len(s.X)), 0, 0
	}
	return kept, copies, inexact
}

const (
	// mostAtOne is the largest number of rows at one x that are compared with one another: no join makes more.
	mostAtOne = 100
	// lastDigits is the share of a typical change from one x to the next by which y may differ in its last digits. Values that
	// were measured twice differ by less in nine of ten cases only if their noise is below a two-hundredth of such a change; then
	// the second says nothing new.
	lastDigits = 0.01
)

// typicalChange returns the median distance of y from one x to the next; 0 if no x has several rows.
func typicalChange(s dataset.Series) float64 {
	var apart []float64
	for i := 1; i < s.Len(); i++ {
		if s.X[i] != s.X[i-1] {
			apart = append(apart, math.Abs(s.Y[i]-s.Y[i-1]))
		}
	}
	if len(apart) == 0 || len(apart) == s.Len()-1 {
		return 0
	}
	return numeric.UpperMedian(apart)
}
