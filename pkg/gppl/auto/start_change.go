package auto

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// startChange is StartFrom for a change point.
func startChange(ctx context.Context, m gppl.Model, k gppl.ChangePoint, d gppl.Data) gppl.Model {
	l := newLine(d.X, d.Y)
	n := len(l.t)
	theta := m.Values()
	own := len(theta) - 3 // parameters other than the location
	at := likelyChange(l)
	location := l.t[0] + 0.5*l.span()
	if at > 0 {
		location = 0.5 * (l.t[at-1] + l.t[at])
	} else {
		at = n / 2
	}
	split := len(k.Before.Params())
	var noise float64
	for _, side := range []struct {
		kernel   gppl.Kernel
		from, to int
		theta    []float64
	}{{k.Before, 0, at, theta[:split]}, {k.After, at, n, theta[split:own]}} {
		part := gppl.Data{X: d.X, Y: d.Y}
		if side.to > side.from {
			part = gppl.Data{X: gppl.Scalars(l.t[side.from:side.to]), Y: l.y[side.from:side.to]}
		}
		start := startWithin(ctx, gppl.Model{Kernel: side.kernel, Noise: 1}, part)
		copy(side.theta, start.Values())
		noise += start.Noise * float64(side.to-side.from) / float64(n)
	}
	theta[own], theta[own+1], theta[own+2] = location, changeWidth(l), noise
	return startAt(m, theta)
}

// changeWidth returns the width of a change over a tenth of the series, and more than the distance between neighbours.
func changeWidth(l *line) float64 {
	if !(l.span() > 0) {
		return 1
	}
	return max(l.span()/40, l.spacing())
}

// leastSide is the least number of observations on a side of a change, unless a tenth of them is more.
const leastSide = 8

// likelyChange returns the index of the first observation after the change: the one at which normal models of the observations
// and of their steps, with a variance for each side, have the greatest joint likelihood. It is 0 if the series is too short,
// and takes O(n).
func likelyChange(l *line) int {
	n := len(l.t)
	side := max(leastSide, n/10)
	if n < 2*side {
		return 0
	}
	levels, steps := newPrefix(n), newPrefix(n)
	for i, y := range l.y {
		levels.add(i, y)
		if i > 0 {
			steps.add(i, y-l.y[i-1])
		} else {
			steps.add(i, 0)
		}
	}
	best, least := 0, math.Inf(1)
	for at := side; at <= n-side; at++ {
		cost := levels.cost(0, at) + levels.cost(at, n) + steps.cost(1, at) + steps.cost(at+1, n)
		if cost < least {
			best, least = at, cost
		}
	}
	return best
}

// prefix holds sums of numbers and of their squares up to each index.
type prefix struct{ sum, square []float64 }

func newPrefix(n int) prefix { return prefix{make([]float64, n+1), make([]float64, n+1)} }

func (p prefix) add(i int, v float64) {
	p.sum[i+1], p.square[i+1] = p.sum[i]+v, p.square[i]+v*v
}

// cost returns ½n·log of the variance of the values with indices from to to−1. The variance is at least 1e-12 of the mean
// square, against rounding.
func (p prefix) cost(from, to int) float64 {
	n := float64(to - from)
	mean, square := (p.sum[to]-p.sum[from])/n, (p.square[to]-p.square[from])/n
	return 0.5 * n * math.Log(max(square-mean*mean, 1e-12*square, math.SmallestNonzeroFloat64))
}
