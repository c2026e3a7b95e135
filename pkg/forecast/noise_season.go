package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// NoiseSeason is a scatter that depends on the calendar: quiet winters, busy hours. The standard deviation of the noise of a
// prediction is the model's, times a factor.
type NoiseSeason struct {
	Of     string    `json:"of"`     // "month", "weekday" or "hour"
	Factor []float64 `json:"factor"` // one for each month from January, weekday from Sunday, or hour from 0
}

// noiseCycle is a cycle of the calendar that noise may follow.
type noiseCycle struct {
	of     string
	groups int
	group  func(t time.Time) int
	length time.Duration
	step   time.Duration // longest mean distance between observations
}

const day = 24 * time.Hour

var noiseCycles = []noiseCycle{
	{"month", 12, func(t time.Time) int { return int(t.Month()) - 1 }, 365 * day, 31 * day},
	{"weekday", 7, func(t time.Time) int { return int(t.Weekday()) }, 7 * day, day},
	{"hour", 24, func(t time.Time) int { return t.Hour() }, day, time.Hour},
}

const (
	// noiseChance is the probability, over all cycles, of variances that differ as much by chance. Below it the noise has
	// factors.
	noiseChance = 0.005
	// fewestNoiseCycles is the number of cycles that must show them: one stormy January is no season.
	fewestNoiseCycles = 3
)

// withNoiseSeason returns the analysis with the factors of the noise of its best model, or the analysis itself if its innovations
// show none. An analysis of variance of the logarithm of their mean squares, one for each group in each cycle, tells whether
// groups differ more than one group does from cycle to cycle; so neither heavy tails nor a time of high volatility is a season.
// The same test of differences between neighbours comes first, in O(n): innovations of n values take n³/3 flops.
func (a *Analysis) withNoiseSeason(ctx context.Context) (*Analysis, error) {
	s := a.Series
	if !s.Axis.Dates || s.Errors != nil || s.Approximated() || len(a.Options.Kernels) > 0 || a.Options.NoSeason {
		return a, nil
	}
	apart := make([]float64, 0, len(s.Y))
	for i := 1; i+1 < len(s.Y); i++ {
		apart = append(apart, s.Y[i]-0.5*(s.Y[i-1]+s.Y[i+1]))
	}
	const maybe = 0.05
	cycles := slices.DeleteFunc(slices.Clone(noiseCycles), func(c noiseCycle) bool {
		return c.chance(s, s.X[1:len(s.X)-1], apart) > maybe
	})
	if len(cycles) == 0 {
		return a, nil
	}
	x, e, err := a.Innovations(ctx, series.DecisiveRows)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the season of the noise: %w", ctx.Err())
	}
	if err != nil { // there is no dense factor, and the noise stays as it is
		return a, nil
	}
	least, best := noiseChance/float64(len(noiseCycles)), noiseCycle{}
	for _, c := range cycles {
		if chance := c.chance(s, x, e); chance < least {
			least, best = chance, c
		}
	}
	if best.of == "" {
		return a, nil
	}
	b := *a
	b.Noise = &NoiseSeason{Of: best.of, Factor: best.factors(s, x, e)}
	return &b, nil
}

// chance returns the probability that variances of e at x differ as much between the groups of a cycle by chance; 1 if there are
// too few cycles or observations.
func (c noiseCycle) chance(s *series.Series, x, e []float64) float64 {
	if len(x) < 2 {
		return 1
	}
	first, last := s.Axis.Time(x[0]), s.Axis.Time(x[len(x)-1])
	cycles := int(last.Sub(first) / c.length)
	if cycles < fewestNoiseCycles || last.Sub(first)/time.Duration(len(x)-1) > c.step {
		return 1
	}
	type cell struct{ cycle, group int }
	square, count := map[cell]float64{}, map[cell]float64{}
	for i, v := range x {
		at := s.Axis.Time(v)
		k := cell{int(at.Sub(first) / c.length), c.group(at)}
		square[k] += e[i] * e[i]
		count[k]++
	}
	logs := make([][]float64, c.groups)
	var all []float64
	for cycle := range cycles + 1 {
		for group := range c.groups {
			if k := (cell{cycle, group}); square[k] > 0 {
				logs[group] = append(logs[group], math.Log(square[k]/count[k]))
			}
		}
	}
	var between, within, groups float64
	for _, l := range logs {
		all = append(all, l...)
	}
	mean := stat.Mean(all, nil)
	for _, l := range logs {
		if len(l) == 0 {
			continue
		}
		groups++
		own := stat.Mean(l, nil)
		between += float64(len(l)) * (own - mean) * (own - mean)
		for _, v := range l {
			within += (v - own) * (v - own)
		}
	}
	left := float64(len(all)) - groups
	if groups < 2 || left < groups || !(within > 0) {
		return 1
	}
	return distuv.F{D1: groups - 1, D2: left}.Survival(between / (groups - 1) / (within / left))
}

// factors returns the standard deviation of each group divided by the standard deviation of all, as if each group had one more
// observation with the latter.
func (c noiseCycle) factors(s *series.Series, x, e []float64) []float64 {
	total := 0.0
	for _, v := range e {
		total += v * v / float64(len(e))
	}
	square, count := make([]float64, c.groups), make([]float64, c.groups)
	for i, v := range x {
		g := c.group(s.Axis.Time(v))
		square[g] += e[i] * e[i]
		count[g]++
	}
	for g := range square {
		square[g] = math.Sqrt((1 + square[g]/total) / (1 + count[g]))
	}
	return square
}

// at returns the factor on the standard deviation of the noise at x; 1 without a season.
func (n *NoiseSeason) at(a series.Axis, x float64) float64 {
	if n == nil {
		return 1
	}
	for _, c := range noiseCycles {
		if c.of == n.Of {
			return n.Factor[c.group(a.Time(x))]
		}
	}
	panic("forecast: no cycle " + n.Of)
}

// check returns an error for factors that this program cannot have written; nil for none.
func (n *NoiseSeason) check(a series.Axis) error {
	if n == nil {
		return nil
	}
	i := slices.IndexFunc(noiseCycles, func(c noiseCycle) bool { return c.of == n.Of })
	if !a.Dates || i < 0 || len(n.Factor) != noiseCycles[i].groups ||
		slices.ContainsFunc(n.Factor, func(f float64) bool { return !(f > 0 && f <= series.Largest) }) {
		return fmt.Errorf("the season of the noise, of each %q, is incomplete", n.Of)
	}
	return nil
}
