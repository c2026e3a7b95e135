package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// questions returns the answers of an analysis, by the name of the question.
func questions(ctx context.Context, a *Analysis) []func() (any, error) {
	x := []float64{10, 20.5, 200}
	return []func() (any, error){
		func() (any, error) { return a.Outliers(ctx) },
		func() (any, error) { return a.Shifts(ctx) },
		func() (any, error) { return a.Forecast(ctx, 6) },
		func() (any, error) { _, e, err := a.Innovations(ctx, 2500); return e, err },
		func() (any, error) { _, e, err := a.Innovations(ctx, 50); return e, err },
		func() (any, error) { return a.Components(ctx, x) },
		func() (any, error) { return a.Learnt(ctx) },
		func() (any, error) { return a.Decompose(ctx, 3) },
		func() (any, error) { return a.Until(ctx, 3, []float64{150, 151, 152}, 1) },
		func() (any, error) { _ = a.Note(); return a.Effects(ctx) },
	}
}

// TestAnalysisConcurrent: several goroutines may use one analysis, and its answers do not depend on earlier questions.
func TestAnalysisConcurrent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 41))
	s := testseries.Steps(t, 120, 0.3, func(i int) float64 {
		y := math.Sin(2*math.Pi*float64(i)/12) + 0.1*rnd.NormFloat64()
		if i >= 80 {
			y += 5
		}
		if i == 40 {
			y += 9
		}
		return y
	})
	fits := map[string]func() *Analysis{
		"automatic": func() *Analysis { return automatic(t, s, Options{Shifts: shiftsReported, Log: "never"}) },
		"named": func() *Analysis {
			return automatic(t, s, Options{Kernels: []string{"SE + Periodic"}, Trend: "none", Log: "never"})
		},
		"from a file": func() *Analysis {
			return reloaded(t, automatic(t, s, Options{Kernels: []string{"Matern32"}, Trend: "none", Log: "never"}))
		},
	}
	for name, fit := range fits {
		t.Run(name, func(t *testing.T) {
			var want []any
			for _, ask := range questions(t.Context(), fit()) {
				answer, err := ask()
				if err != nil {
					answer = err.Error()
				}
				want = append(want, answer)
			}
			a := fit()
			all := questions(t.Context(), a)
			var wait sync.WaitGroup
			for first := range all {
				wait.Go(func() {
					for k := range all {
						i := (first + k) % len(all)
						answer, err := all[i]()
						if err != nil {
							answer = err.Error()
						}
						if !reflect.DeepEqual(answer, want[i]) {
							t.Errorf("question %d, after others: %+v, want %+v", i, answer, want[i])
						}
					}
				})
			}
			wait.Wait()
		})
	}
	// A model whose noise is not normal is conditioned on as many observations before the first forecast as after it.
	a, _, err := automatic(t, s, Options{Shifts: "never", Log: "never", NoSeason: true}).WithNoise(t.Context(), 0.1)
	if err != nil {
		t.Fatal(err)
	}
	before := a.conditionsOn()
	if _, err := a.Forecast(t.Context(), 1); err != nil || a.conditionsOn() != before {
		t.Errorf("conditioned on %d observations, then on %d (%v)", before, a.conditionsOn(), err)
	}
}
