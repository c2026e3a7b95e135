package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// end is the scale of a truth with bounds: y is z to a power, clipped to lo and hi.
type end struct{ lo, hi, power float64 }

var _ draws.Ended = end{}

func (e end) Ends() (lo, hi float64)    { return e.lo, e.hi }
func (e end) Forward(y float64) float64 { return math.Pow(max(0, y), 1/e.power) }
func (e end) Inverse(z float64) float64 { return min(max(math.Pow(max(0, z), e.power), e.lo), e.hi) }
func (e end) LogSlope(y float64) float64 {
	return (1/e.power-1)*math.Log(y) - math.Log(e.power)
}

// atBounds is a series with bounds, and its held-out values y. Before scale maps them, these have the means mu and the standard
// deviation sd.
type atBounds struct {
	kind  string
	s     *series.Series
	ahead int
	y     []float64
	scale end
	mu    []float64
	sd    float64
}

// ended returns 20 series with bounds.
func ended(seed uint64) (all []atBounds) {
	for i := range 20 {
		r := rand.New(rand.NewPCG(seed, 2000+uint64(i)))
		phase, inf := 2*math.Pi*r.Float64(), math.Inf(1)
		wave := func(k int, period float64) float64 { return math.Sin(2*math.Pi*float64(k)/period + phase) }
		c := atBounds{}
		n, hours := 0, 24.0
		var mu func(k int) float64
		switch i % 4 {
		case 0:
			c.kind, n, c.ahead, c.scale, c.sd = "per cent at 100", 120, 24, end{0, 100, 1}, 5
			mu = func(k int) float64 { return 91 + 8*wave(k, 7) }
		case 1:
			c.kind, n, c.ahead, c.scale, c.sd = "rain", 400, 28, end{0, inf, 2}, 2
			mu = func(k int) float64 { return -0.5 + 1.5*wave(k, 180) }
		case 2:
			c.kind, n, c.ahead, c.scale, c.sd, hours = "power of the sun", 24*25, 24, end{0, inf, 1}, 25, 1
			mu = func(k int) float64 { return 400*wave(k, 24) - 60 }
		default:
			c.kind, n, c.ahead, c.scale, c.sd = "sales, often none", 300, 28, end{0, inf, 1}, 18
			mu = func(k int) float64 { return 20 + 25*wave(k, 7) }
		}
		axis, x := dated(n+c.ahead, hours)
		y := make([]float64, n+c.ahead)
		for k := range y {
			y[k] = c.scale.Inverse(mu(k) + c.sd*r.NormFloat64())
		}
		for k := n; k < len(y); k++ {
			c.mu = append(c.mu, mu(k))
		}
		c.y = y[n:]
		var err error
		if c.s, err = series.NewSeries(axis, x[:n:n], y[:n:n]); err != nil {
			log.Fatalf("%s: %v", c.kind, err)
		}
		all = append(all, c)
	}
	return all
}

// scores are mean CRPS of the truth, and of fits with bounds and without.
type scores struct{ truth, bounded, plain float64 }

// score fits a series with its bounds and without.
func (c atBounds) score() (o scores) {
	ctx := context.Background()
	truth := judge.PredictiveMixture(&draws.Mixture{Weights: []float64{1}, Means: [][]float64{c.mu},
		Variances: [][]float64{slices.Repeat([]float64{c.sd * c.sd}, len(c.mu))}, Scales: []draws.Scale{c.scale}})
	o.truth = average(truth.CRPS(c.y))
	of := func(s *series.Series) float64 {
		a, err := forecast.Fit(ctx, s, forecast.Options{})
		if err != nil {
			log.Fatalf("%s: %v", c.kind, err)
		}
		f, err := a.Forecast(ctx, c.ahead)
		if err != nil {
			log.Fatalf("%s: %v", c.kind, err)
		}
		return average(judge.PredictiveOf(f).CRPS(c.y))
	}
	o.plain = of(c.s)
	bounded := *c.s
	if err := bounded.Bound(c.scale.lo, c.scale.hi); err != nil {
		log.Fatalf("%s: %v", c.kind, err)
	}
	o.bounded = of(&bounded)
	return o
}

func average(v []float64) (mean float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean
}

// reportEnded prints the scores of some kinds, divided by the scores of the true model.
func reportEnded(all []atBounds) {
	got := make([]scores, len(all))
	parallel.Each(2, len(all), func(i int) { got[i] = all[i].score() })
	var names []string
	for _, c := range all {
		if !slices.Contains(names, c.kind) {
			names = append(names, c.kind)
		}
	}
	for _, kind := range names {
		var bounded, plain []float64
		for i, c := range all {
			if c.kind == kind {
				bounded, plain = append(bounded, got[i].bounded/got[i].truth), append(plain, got[i].plain/got[i].truth)
			}
		}
		slices.Sort(bounded)
		slices.Sort(plain)
		half, last := len(bounded)/2, len(bounded)-1
		fmt.Printf("%-32s %3d series: CRPS over that of the true model: median %5.2f, largest %6.2f; without bounds %5.2f, %6.2f\n",
			kind, len(bounded), bounded[half], bounded[last], plain[half], plain[last])
	}
}
