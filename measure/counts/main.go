// Command counts trains models of counts and scores them on held-out observations, for scripts/counts.py, which trains other
// libraries on the same:
//
//	go run ./measure/counts -export          # the series, a JSON object a line
//	go run ./measure/counts -fit "0 or 1"    # seconds to a trained model and its log score
//	go run ./measure/counts -rule 20         # gain of modelling counts as counts, on 20 simulated series of each distribution
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/measure/counts/simulated"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// exported is a series in the form that other libraries read.
type exported struct {
	Name, Likelihood string
	X, Y             []float64
	Held             []int
	Start            map[string]float64
}

// answer is the result of training.
type answer struct {
	Seconds, First float64 // median of all runs, and the first run
	Score          float64 // mean log probability of the held-out counts
	Status         string
	Params         map[string]float64
}

const runs = 5

func main() {
	log.SetFlags(0)
	export := flag.Bool("export", false, "print the series")
	fit := flag.String("fit", "", "the name of the series to train on")
	rule := flag.Int("rule", 0, "compare the rule that recognises counts with the normal "+
		"distribution, on so many series of each kind")
	flag.Parse()
	if *rule > 0 {
		if err := compareRule(context.Background(), *rule); err != nil {
			log.Fatal(err)
		}
		return
	}
	set, err := simulated.Set(simulated.All)
	if err != nil {
		log.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, s := range set {
		switch {
		case *export:
			start := map[string]float64{}
			for _, p := range s.Start.Params() {
				start[p.Name] = p.Value
			}
			err = out.Encode(exported{s.Name, kind(s.Likelihood), s.X, s.Y, s.Held, start})
		case s.Name == *fit:
			var a answer
			if a, err = fitRepeatedly(s); err == nil {
				err = out.Encode(a)
			}
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func kind(l observe.Likelihood) string {
	switch l.(type) {
	case observe.NegBinomial:
		return "negbinomial"
	case observe.Binomial:
		return "bernoulli"
	}
	return "poisson"
}

func fitRepeatedly(s simulated.Series) (a answer, err error) {
	ctx := context.Background()
	train, held, err := s.Split()
	if err != nil {
		return a, err
	}
	var times []float64
	var fit *observe.LaplaceFit
	for range runs {
		start := time.Now()
		if fit, err = observe.FitLaplace(ctx, s.Start, train, s.Likelihood, nil, gppl.Settings{NoStandardErrors: true}); err != nil {
			return a, fmt.Errorf("%s: %w", s.Name, err)
		}
		times = append(times, time.Since(start).Seconds())
	}
	next, err := fit.Predict(ctx, held.X, nil)
	if err != nil {
		return a, fmt.Errorf("%s: %w", s.Name, err)
	}
	logs, err := next.LogDensity(ctx, held.Y)
	if err != nil {
		return a, fmt.Errorf("%s: %w", s.Name, err)
	}
	for _, v := range logs {
		a.Score += v / float64(held.Len())
	}
	a.First, a.Status, a.Params = times[0], fmt.Sprint(fit.Status), map[string]float64{}
	for _, p := range fit.Params {
		a.Params[p.Name] = p.Value
	}
	a.Seconds = numeric.Median(times)
	return a, nil
}
