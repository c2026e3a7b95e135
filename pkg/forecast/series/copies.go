package series

import (
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// withoutCopies returns the indices of the rows of a file that are not exact copies of earlier ones, and the number of copies. A
// join repeats rows, and so does a file that was appended twice; each copy would count as one more observation without noise. s
// has the rows in ascending order of x; order has their indices in the file, nil if they are the same.
//
// Values that are measured several times at one x may also be equal. Rows therefore count as copies only if nine in ten of those
// that share their x with an earlier one also share its y, error and regressors, and if neighbours are not equal as often.
func withoutCopies(s dataset.Series, also dataset.CSVMore, order []int) (kept []int, copies int) {
	const most, chance, fewest = 0.9, 0.5, 3
	same := func(i, j int) bool {
		if s.Y[i] != s.Y[j] {
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
		copied := false
		for j := begins; j < i && !copied && i-begins < mostAtOne; j++ {
			copied = same(i, j)
		}
		if copied {
			copies++
			continue
		}
		kept = append(kept, i)
	}
	if copies == 0 || len(kept) < fewest || float64(copies) < most*float64(repeated) ||
		float64(equal)*float64(repeated) > chance*float64(copies)*float64(neighbours) {
		return timeline.Range(0, len(s.X)), 0
	}
	return kept, copies
}

// mostAtOne is the largest number of rows at one x that are compared with one another: no join makes more.
const mostAtOne = 100
