package gppl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// KMeans returns m centres of the inputs x: seeded by k-means++ (Arthur and
// Vassilvitskii 2007) and refined by Lloyd's iteration until no point changes
// its centre, at most 100 times. They are good inducing inputs to start VFE
// from. On the line the centres come in ascending order. Time is O(nm) for the
// seeding and per iteration; on the line, O(n log m) per iteration. It is an
// error if m is not in 1, …, n or if x has fewer than m distinct points.
func KMeans(x Inputs, m int, seed uint64) (Inputs, error) {
	n := x.Len()
	if err := x.check("x"); err != nil {
		return Inputs{}, err
	}
	if m < 1 || m > n {
		return Inputs{}, fmt.Errorf("gppl: m = %d centres of n = %d points: want 1 ≤ m ≤ n", m, n)
	}
	centres, err := seedCentres(x, m, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return Inputs{}, err
	}
	owner := make([]int, n)
	for range 100 {
		if x.d == 1 {
			slices.Sort(centres.at)
		}
		if !assign(owner, x, centres) {
			break
		}
		moveCentres(centres, x, owner)
	}
	if x.d == 1 {
		slices.Sort(centres.at)
	}
	return centres, nil
}

// seedCentres draws each centre with probability proportional to the squared
// distance from those already drawn.
func seedCentres(x Inputs, m int, rnd *rand.Rand) (Inputs, error) {
	n := x.Len()
	next := rnd.IntN(n)
	centres := Inputs{d: x.d, at: append(make([]float64, 0, m*x.d), x.At(next)...)}
	dist2 := make([]float64, n)
	for i := range dist2 {
		dist2[i] = math.Inf(1)
	}
	for centres.Len() < m {
		var total float64
		last := centres.At(centres.Len() - 1)
		for i := range dist2 {
			dist2[i] = min(dist2[i], squaredDistance(x.At(i), last))
			total += dist2[i]
		}
		if total == 0 {
			return Inputs{}, fmt.Errorf("gppl: m = %d centres asked for, but x has only %d distinct points", m, centres.Len())
		}
		at := rnd.Float64() * total
		next = -1
		for i, v := range dist2 {
			if v == 0 {
				continue
			}
			next = i
			if at -= v; at < 0 {
				break
			}
		}
		centres.at = append(centres.at, x.At(next)...)
	}
	return centres, nil
}

func squaredDistance(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += (v - b[i]) * (v - b[i])
	}
	return s
}

// assign gives each point to its nearest centre and reports whether any
// changed hands. On the line centres must be sorted.
func assign(owner []int, x, centres Inputs) (changed bool) {
	for i := range owner {
		best := 0
		if x.d == 1 {
			best, _ = slices.BinarySearch(centres.at, x.at[i])
			if best == centres.Len() || best > 0 && x.at[i]-centres.at[best-1] <= centres.at[best]-x.at[i] {
				best--
			}
		} else {
			nearest := math.Inf(1)
			for c := range centres.Len() {
				if d := squaredDistance(x.At(i), centres.At(c)); d < nearest {
					best, nearest = c, d
				}
			}
		}
		changed = changed || owner[i] != best
		owner[i] = best
	}
	return changed
}

// moveCentres moves each centre to the mean of its points; one that has none
// stays.
func moveCentres(centres, x Inputs, owner []int) {
	sum := make([]float64, len(centres.at))
	count := make([]int, centres.Len())
	for i, c := range owner {
		count[c]++
		dense.Add(sum[c*x.d:(c+1)*x.d], x.At(i))
	}
	for c, m := range count {
		if m == 0 {
			continue
		}
		for j, v := range sum[c*x.d : (c+1)*x.d] {
			centres.At(c)[j] = v / float64(m)
		}
	}
}
