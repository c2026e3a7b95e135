// Package simulated has the series of counts that notebook 15 shows and on which measure/counts trains other libraries, and draws
// such series.
package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/data"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Series is a series of counts, with a model of it and the observations that are held out.
type Series struct {
	Name       string
	Likelihood observe.Likelihood
	X, Y       []float64
	Held       []int // indices of the held-out fifth of the observations, ascending
	Start      gppl.Model
}

// All is the number of events of the longest series of Set in measurements.
const All = 10000

// Set returns five series of counts: Poisson counts at 300 irregular times, coal-mining disasters by year, weekly cases of an
// illness, intermittent daily demand, and the given number of yes-or-no events. All but the second are simulated.
func Set(events int) ([]Series, error) {
	coal, err := dataset.ReadCSV(strings.NewReader(data.Coal), dataset.CSVOptions{})
	if err != nil {
		return nil, fmt.Errorf("simulated: %w", err)
	}
	rnd := rand.New(rand.NewPCG(15, 1))
	irregular := make([]float64, 300)
	for i := range irregular {
		irregular[i] = 100 * rnd.Float64()
	}
	slices.Sort(irregular)
	weeks, days, trials := timeline.Steps(520), timeline.Steps(365), timeline.Steps(events)
	season := func(g []float64) []float64 {
		for i := range g {
			g[i] += math.Cos(2 * math.Pi * float64(i) / 52.18)
		}
		return g
	}
	set := []Series{
		{Name: "Poisson counts", Likelihood: observe.Poisson{}, X: irregular,
			Y: Draw(rnd, observe.Poisson{}, Wander(rnd, irregular, 1, 1, 10))},
		{Name: "coal-mining disasters", Likelihood: observe.Poisson{}, X: coal.X, Y: coal.Y},
		{Name: "weekly cases", Likelihood: observe.NegBinomial{Shape: 3}, X: weeks,
			Y: Draw(rnd, observe.NegBinomial{Shape: 6}, season(Wander(rnd, weeks, 2, 0.3, 40)))},
		{Name: "intermittent demand", Likelihood: observe.NegBinomial{Shape: 3}, X: days,
			Y: Draw(rnd, observe.NegBinomial{Shape: 0.7}, Wander(rnd, days, -1, 0.6, 60))},
		{Name: "0 or 1", Likelihood: observe.Binomial{}, X: trials,
			Y: Draw(rnd, observe.Binomial{}, Wander(rnd, trials, 0.5, 2, 150))},
	}
	for i := range set {
		s := &set[i]
		span := s.X[len(s.X)-1] - s.X[0]
		s.Start = Start(span)
		s.Held = rnd.Perm(len(s.X))[:len(s.X)/5]
		slices.Sort(s.Held)
	}
	return set, nil
}

// Start returns the model from which training on counts in a range of x begins.
func Start(span float64) gppl.Model {
	return gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 0.1 * span}, Mean: gppl.Intercept{},
		Noise: 1e-6}.Fix(gppl.NoiseName)
}

// Wander draws a function with the covariance of Matérn 3/2 around a level: a sum of waves with frequencies drawn from the
// spectral density, Student's t with three degrees of freedom.
func Wander(rnd *rand.Rand, x []float64, level, variance, lengthscale float64) []float64 {
	const waves = 200
	g := slices.Repeat([]float64{level}, len(x))
	for range waves {
		var chi float64
		for range 3 {
			z := rnd.NormFloat64()
			chi += z * z
		}
		omega, phase := rnd.NormFloat64()/math.Sqrt(chi/3)/lengthscale, 2*math.Pi*rnd.Float64()
		for i, t := range x {
			g[i] += math.Sqrt(2*variance/waves) * math.Cos(omega*t+phase)
		}
	}
	return g
}

// Draw draws an observation at each latent value.
func Draw(rnd *rand.Rand, l observe.Likelihood, g []float64) []float64 {
	y := make([]float64, len(g))
	for i := range y {
		for u := rnd.Float64(); l.CDF(y[i], 1, g[i]) < u; y[i]++ {
		}
	}
	return y
}

// Split returns the observations to train on and the held-out ones.
func (s *Series) Split() (train, held gppl.Data, err error) {
	var x, y [2][]float64
	for i, v := range s.X {
		k := 0
		if _, found := slices.BinarySearch(s.Held, i); found {
			k = 1
		}
		x[k], y[k] = append(x[k], v), append(y[k], s.Y[i])
	}
	if train, err = gppl.NewData(gppl.Scalars(x[0]), y[0]); err != nil {
		return train, held, fmt.Errorf("simulated: %s: %w", s.Name, err)
	}
	held, err = gppl.NewData(gppl.Scalars(x[1]), y[1])
	return train, held, err
}
