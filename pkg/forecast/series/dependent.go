package series

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
)

// Regressors that are linearly dependent at the observations have no coefficients of their own: the priors alone would divide an
// effect between them, and a table would show parts of it.

// negligibleRest is the share of a column, in standard deviations, below which it counts as explained by the others. Two prices
// rounded to their last digits differ by as much. n observations tell the coefficients of such columns apart only if the noise is
// below √n·negligibleRest.
const negligibleRest = 1e-3

// followsFrom returns, for each column, the columns before it whose weighted sum it is, to a thousandth and up to a constant; nil
// if there are none. It takes O(n·k²) for k columns.
func followsFrom(columns [][]float64) [][]int {
	const share = 0.01          // least weight, in standard deviations, that counts
	var basis, sums [][]float64 // orthonormal vectors, and the weight of each column in the sum that gives them
	out := make([][]int, len(columns))
	for j, column := range columns {
		left, weights := slices.Clone(column), make([]float64, len(columns))
		weights[j] = 1
		floats.AddConst(-floats.Sum(left)/float64(len(left)), left)
		length := floats.Norm(left, 2)
		for i, c := range numeric.Orthogonalise(left, basis) {
			floats.AddScaled(weights, -c, sums[i])
		}
		rest := floats.Norm(left, 2)
		if rest > negligibleRest*length {
			floats.Scale(1/rest, left)
			floats.Scale(1/rest, weights)
			basis, sums = append(basis, left), append(sums, weights)
			continue
		}
		out[j] = []int{}
		for i := range j {
			if spread := deviation(columns[i]); math.Abs(weights[i])*spread > share*length {
				out[j] = append(out[j], i)
			}
		}
	}
	return out
}

// deviation returns the Euclidean norm of a column minus its mean.
func deviation(column []float64) float64 {
	left := slices.Clone(column)
	floats.AddConst(-floats.Sum(left)/float64(len(left)), left)
	return floats.Norm(left, 2)
}

// AllGroups returns Groups or, if there are none, one group for each regressor.
func (k *Known) AllGroups() [][]int {
	if k.Groups != nil {
		return k.Groups
	}
	all := make([][]int, len(k.Names))
	for j := range all {
		all[j] = []int{j}
	}
	return all
}

// GroupName names the regressors of a group.
func (k *Known) GroupName(group []int) string {
	var names []string
	for _, j := range group {
		names = append(names, k.Names[j])
	}
	return groupName(names)
}

// columns returns the standardised regressors of each group at x; a nil Known has none.
func (k *Known) columns(x []float64) (all [][]float64) {
	if k == nil {
		return nil
	}
	for _, group := range k.AllGroups() {
		j := group[0]
		column := make([]float64, len(x))
		for i, at := range x {
			v, _ := k.value(j, at)
			column[i] = (v - k.Centre[j]) / k.Scale[j]
		}
		all = append(all, column)
	}
	return all
}

// group sets Groups by the values at the observations, unless the regressors are independent there.
func (k *Known) group(x []float64) {
	k.Groups = nil
	columns, equal := k.columns(x), make([][]int, len(k.Names))
	from := followsFrom(columns)
	for j, of := range from {
		if of == nil {
			equal[j] = []int{j}
			continue
		}
		if len(of) == 1 && floats.Dot(columns[j], columns[of[0]]) > 0 && k.alike(j, of[0]) {
			equal[of[0]] = append(equal[of[0]], j)
		}
	}
	if !slices.ContainsFunc(from, func(of []int) bool { return of != nil }) {
		return
	}
	k.Groups = nil
	for _, group := range equal {
		if group != nil {
			k.Groups = append(k.Groups, group)
		}
	}
}

// alike reports whether two regressors that rise together have the same values to a thousandth of their scale.
func (k *Known) alike(i, j int) bool {
	most := negligibleRest * k.Scale[i]
	return math.Abs(k.Centre[i]-k.Centre[j]) <= most && math.Abs(k.Scale[i]-k.Scale[j]) <= most
}

// note names the regressors without a coefficient of their own; "" if all have one.
func (k *Known) note() string {
	var merged, left []string
	has := map[int]bool{}
	for _, group := range k.AllGroups() {
		for _, j := range group {
			has[j] = true
		}
		if len(group) > 1 {
			merged = append(merged, k.GroupName(group))
		}
	}
	for j, name := range k.Names {
		if !has[j] {
			left = append(left, name)
		}
	}
	var sentences string
	if merged != nil {
		sentences = fmt.Sprintf(" Equal at the observations, with one coefficient together: %s.", strings.Join(merged, "; "))
	}
	if left != nil {
		sentences += fmt.Sprintf(" %s %s from the others at the observations, whose coefficients include what %s.",
			strings.Join(left, ", "), text.Choose(len(left), "follows", "follow"), text.Choose(len(left), "it adds", "they add"))
	}
	return sentences
}

// groupName names effects that share one coefficient.
func groupName(group []string) string { return strings.Join(group, " = ") }
