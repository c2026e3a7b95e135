// Package kmeans finds centres of points: seeded by k-means++ (Arthur and Vassilvitskii 2007) and refined by Lloyd's iteration.
package kmeans

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Centres returns m centres of the points x of R^d, point by point, after at most 100 iterations; on the line in ascending
// order. Time is O(nm) for the seeding and per iteration; on the line, O(n log m) per iteration. Centres returns an error if x
// has fewer than m distinct points.
func Centres(ctx context.Context, x []float64, d, m int, seed uint64) ([]float64, error) {
	centres, err := seeds(ctx, x, d, m, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, err
	}
	owner := make([]int, len(x)/d)
	for range 100 {
		if d == 1 {
			slices.Sort(centres)
		}
		if !assign(ctx, owner, x, centres, d) {
			break
		}
		move(centres, x, d, owner)
	}
	if d == 1 {
		slices.Sort(centres)
	}
	return centres, nil
}

// point returns point i of x.
func point(x []float64, d, i int) []float64 { return x[i*d:][:d] }

// seeds draws each centre with probability proportional to the squared distance from those already drawn.
func seeds(ctx context.Context, x []float64, d, m int, rnd *rand.Rand) (centres []float64, err error) {
	n := len(x) / d
	next := rnd.IntN(n)
	dist2 := slices.Repeat([]float64{math.Inf(1)}, n)
	for count := 1; ; count++ {
		parallel.Look(ctx)
		last := point(x, d, next)
		if centres = append(centres, last...); count == m {
			return centres, nil
		}
		var total float64
		for i := range dist2 {
			dist2[i] = min(dist2[i], dense.SquaredDistance(point(x, d, i), last))
			total += dist2[i]
		}
		if total == 0 {
			return nil, fmt.Errorf("m = %d centres asked for, but x has only %d distinct points", m, count)
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
	}
}

// assign gives each point to its nearest centre and reports whether any changed hands. On the line centres must be sorted.
func assign(ctx context.Context, owner []int, x, centres []float64, d int) (changed bool) {
	m := len(centres) / d
	for i := range owner {
		if i%64 == 0 {
			parallel.Look(ctx)
		}
		best := 0
		if d == 1 {
			best, _ = slices.BinarySearch(centres, x[i])
			if best == m || best > 0 && x[i]-centres[best-1] <= centres[best]-x[i] {
				best--
			}
		} else {
			nearest := math.Inf(1)
			for c := range m {
				if d2 := dense.SquaredDistance(point(x, d, i), point(centres, d, c)); d2 < nearest {
					best, nearest = c, d2
				}
			}
		}
		changed = changed || owner[i] != best
		owner[i] = best
	}
	return changed
}

// move moves each centre to the mean of its points; one that has none stays.
func move(centres, x []float64, d int, owner []int) {
	sum, count := make([]float64, len(centres)), make([]int, len(centres)/d)
	for i, c := range owner {
		count[c]++
		dense.Add(point(sum, d, c), point(x, d, i))
	}
	for c, m := range count {
		if m == 0 {
			continue
		}
		for j, v := range point(sum, d, c) {
			centres[c*d+j] = v / float64(m)
		}
	}
}
