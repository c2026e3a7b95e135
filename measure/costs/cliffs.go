package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A point is a cliff if it takes more than steepest times as long as its neighbours.
const steepest = 10

// cliffs evaluates at random points over kernel, lengthscale, noise and n, and at four neighbours of each. It prints the points
// that take longest beside their neighbours.
func cliffs(ctx context.Context, points int, seed uint64) error {
	type cliff struct {
		at     cell
		engine string
		ratio  float64
		own    float64
		near   []float64
	}
	rnd := rand.New(rand.NewPCG(seed, 69))
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, rnd.Float64()) }
	var found []cliff
	for range points {
		c := cell{Kernel: kernels[rnd.IntN(len(kernels))].name, N: int(between(50, 4000)), Regular: rnd.IntN(3) == 0,
			Share: between(0.002, 0.5), Noise: between(1e-4, 1), White: rnd.IntN(2) == 0}
		own, engine, err := c.chosen(ctx)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		var near []float64
		for _, by := range [][3]float64{{1.1, 1, 1}, {1 / 1.1, 1, 1}, {1, 1.2, 1}, {1, 1, 1.1}} {
			d := c
			d.Share, d.Noise, d.N = c.Share*by[0], c.Noise*by[1], int(float64(c.N)*by[2])
			s, _, err := d.chosen(ctx)
			if err != nil {
				return fmt.Errorf("%v: %w", d, err)
			}
			near = append(near, s)
		}
		slices.Sort(near)
		found = append(found, cliff{c, engine, own / (0.5 * (near[1] + near[2])), own, near})
	}
	slices.SortFunc(found, func(a, b cliff) int { return cmp.Compare(b.ratio, a.ratio) })
	count := 0
	for i, c := range found {
		if c.ratio > steepest {
			count++
		}
		if i < 15 || c.ratio > steepest {
			fmt.Printf("%6.2f %v noise %.2g white %v: %.3g ms by %s, beside %.3g\n",
				c.ratio, c.at, c.at.Noise, c.at.White, 1e3*c.own, c.engine,
				[]float64{1e3 * c.near[0], 1e3 * c.near[1], 1e3 * c.near[2], 1e3 * c.near[3]})
		}
	}
	fmt.Printf("%d points: %d above %d times the median of their neighbours\n", points, count, steepest)
	return nil
}

// chosen returns the least seconds of an evaluation after the first, and the chosen engine, which may hand over.
func (c cell) chosen(ctx context.Context) (seconds float64, engine string, err error) {
	data, err := c.data()
	if err != nil {
		return 0, "", err
	}
	loss, theta, err := c.loss(ctx, data, "")
	if err != nil {
		return 0, "", err
	}
	grad := make([]float64, len(theta))
	seconds = math.Inf(1)
	for i := range 4 {
		start := processor()
		if _, err := loss.ValueGrad(ctx, grad, theta); err != nil {
			return 0, "", err
		}
		if s := processor() - start; i > 0 || s > 0.3 {
			seconds = min(seconds, s)
		}
		if seconds > 0.1 && !math.IsInf(seconds, 1) {
			break
		}
	}
	engine, _ = loss.Cost(theta)
	return seconds, engine, nil
}
