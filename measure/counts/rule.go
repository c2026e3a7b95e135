package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// learnt and heldOut are the numbers of observations to learn from and to hold out.
const learnt, heldOut = 80, 20

// distributions draw a count with a given mean.
var distributions = []struct {
	name string
	draw func(mean float64, rnd *rand.Rand) float64
}{
	{"Poisson", func(mean float64, rnd *rand.Rand) float64 { return distuv.Poisson{Lambda: mean, Src: rnd}.Rand() }},
	{"negative binomial, shape 2", func(mean float64, rnd *rand.Rand) float64 {
		return distuv.Poisson{Lambda: distuv.Gamma{Alpha: 2, Beta: 2 / mean, Src: rnd}.Rand(), Src: rnd}.Rand()
	}},
	{"Poisson, a third zeros", func(mean float64, rnd *rand.Rand) float64 {
		if rnd.Float64() < 1./3 {
			return 0
		}
		return distuv.Poisson{Lambda: mean, Src: rnd}.Rand()
	}},
}

// compareRule prints, for simulated counts with a slow random rate, how many of the series the rule of gppl fit models as counts,
// and how much counts gain over the normal distribution of y or log y on the held-out counts: in the log score of each count, and
// in the CRPS.
func compareRule(ctx context.Context, each int) error {
	dir, err := os.MkdirTemp("", "counts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Print("| counts | level | recognised | log score, counts − normal | CRPS, counts ÷ normal " +
		"|\n| --- | --: | --: | --: | --: |\n")
	for k, kind := range distributions {
		for _, level := range []float64{0.3, 1, 3, 10, 30} {
			rnd := rand.New(rand.NewPCG(uint64(k), uint64(100*level)))
			var logs, crps [2][]float64
			recognised := 0
			for s := range each {
				text, y := new(strings.Builder), make([]float64, learnt+heldOut)
				text.WriteString("t,y\n")
				rate := 0.0
				for i := range y {
					rate = 0.95*rate + 0.15*rnd.NormFloat64()
					if y[i] = kind.draw(level*math.Exp(rate), rnd); i < learnt {
						fmt.Fprintf(text, "%d,%v\n", i, y[i])
					}
				}
				path := filepath.Join(dir, fmt.Sprintf("%d.csv", s))
				if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
					return err
				}
				for at, likelihood := range []string{"auto", "gaussian"} {
					p, counted, err := ahead(ctx, path, likelihood)
					if err != nil {
						return fmt.Errorf("%s, level %v, series %d, %s: %w", kind.name, level, s, likelihood, err)
					}
					if counted {
						recognised++
					} else if at == 0 {
						break // both are the same
					}
					logs[at], crps[at] = append(logs[at], stat.Mean(p.LogDensity(y[learnt:]), nil)),
						append(crps[at], stat.Mean(p.CRPS(y[learnt:]), nil))
				}
			}
			if len(logs[0]) < 2 {
				fmt.Printf("| %s | %v | %d of %d |  |  |\n", kind.name, level, recognised, each)
				continue
			}
			gains := make([]float64, len(logs[0]))
			for i := range gains {
				gains[i] = logs[0][i] - logs[1][i]
			}
			mean, sd := stat.MeanStdDev(gains, nil)
			fmt.Printf("| %s | %v | %d of %d | %+.2f ± %.2f | %.2f |\n", kind.name, level, recognised, each, mean,
				sd/math.Sqrt(float64(len(gains))), stat.Mean(crps[0], nil)/stat.Mean(crps[1], nil))
		}
	}
	return nil
}

// ahead forecasts the held-out counts, and reports whether they were modelled as counts.
func ahead(ctx context.Context, path, likelihood string) (p judge.Predictive, counted bool, err error) {
	s, err := series.Read(ctx, path, series.ReadOptions{Likelihood: likelihood})
	if err != nil {
		return nil, false, err
	}
	a, err := forecast.Fit(ctx, s, forecast.Options{})
	if err != nil {
		return nil, false, err
	}
	x := make([]float64, heldOut)
	for i := range x {
		x[i] = float64(learnt + i)
	}
	f, err := a.Predict(ctx, x)
	if err != nil {
		return nil, false, err
	}
	return judge.PredictiveOf(f), s.Counting != nil, nil
}
