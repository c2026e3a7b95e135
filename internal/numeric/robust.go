package numeric

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Qn is the first quartile of the distances between pairs, scaled to the standard deviation of a normal sample
// (Rousseeuw and Croux 1993, with their correction for small n). Half of the values may be anywhere. It panics for fewer than
// two.
func Qn(v []float64) float64 {
	n := len(v)
	var d []float64
	for i, a := range v {
		for _, b := range v[:i] {
			d = append(d, math.Abs(a-b))
		}
	}
	slices.Sort(d)
	h := n/2 + 1
	q := 2.2219 * d[h*(h-1)/2-1]
	small := map[int]float64{3: 0.994, 4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}
	switch c, ok := small[n]; {
	case ok:
		return c * q
	case n%2 == 1:
		return q * float64(n) / (float64(n) + 1.4)
	}
	return q * float64(n) / (float64(n) + 3.8)
}

// Holm returns p values corrected for their number: the probability of any false rejection at a level is at most that level,
// however they depend on one another (Holm 1979).
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	most := 0.0
	order := make([]int, len(p))
	floats.ArgsortStable(slices.Clone(p), order)
	for rank, i := range order {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}
