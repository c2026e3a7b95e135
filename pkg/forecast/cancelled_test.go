package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// analysisCalls returns the calls of a new analysis of n observations at uneven times.
func analysisCalls(tb testing.TB, n int) (calls []testkit.Call) {
	tb.Helper()
	const learnt = 80
	rnd := rand.New(rand.NewPCG(1, 9))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.4*rnd.Float64()
		y[i] = math.Sin(2*math.Pi*x[i]/12) + math.Sin(x[i]/31) + 0.2*rnd.NormFloat64()
	}
	few, err := FitValues(context.Background(), x[:learnt], y[:learnt], nil,
		Options{Kernels: []string{"RQ + Periodic"}, Periods: []float64{12}, Shifts: "never"})
	if err != nil {
		tb.Fatal(err)
	}
	more := &series.Further{X: x[learnt:], Y: y[learnt:]}
	fresh := func() *Analysis { return few.with(more, len(more.X)) }
	if n > maxDense { // components are computed of up to maxDense observations
		more = &series.Further{X: x[learnt:maxDense], Y: y[learnt:maxDense]}
	}
	ahead := x[n-learnt:]
	add := func(name string, run func(ctx context.Context) error) {
		calls = append(calls, testkit.Call{Name: name, Run: run})
	}
	add("Analysis.Forecast", func(ctx context.Context) error {
		_, err := fresh().Forecast(ctx, 12)
		return err
	})
	add("Analysis.Predict", func(ctx context.Context) error {
		_, err := fresh().Predict(ctx, ahead)
		return err
	})
	add("Analysis.Components", func(ctx context.Context) error {
		_, err := fresh().Components(ctx, ahead)
		return err
	})
	add("Analysis.Decompose", func(ctx context.Context) error {
		_, err := fresh().Decompose(ctx, 12)
		return err
	})
	add("Analysis.innovations", func(ctx context.Context) error {
		_, _, err := fresh().Innovations(ctx, 2500)
		return err
	})
	add("Analysis.WithNoise", func(ctx context.Context) error {
		_, _, err := fresh().WithNoise(ctx, 0.1)
		return err
	})
	add("Analysis.Periodogram", func(ctx context.Context) error {
		_, err := fresh().Periodogram(ctx)
		return err
	})
	add("Analysis.Outliers", func(ctx context.Context) error {
		_, err := fresh().Outliers(ctx)
		return err
	})
	add("Analysis.Extend", func(ctx context.Context) error {
		_, _, err := few.Extend(ctx, more.X, more.Y, nil)
		return err
	})
	return calls
}

func TestCancelledAnalysis(t *testing.T) { testkit.TestCancelled(t, analysisCalls(t, 200)) }

// TestCancelledAndAgain: a call that a context ended leaves nothing behind in the analysis, and a context that ends after a
// forecast does not end the next one.
func TestCancelledAndAgain(t *testing.T) {
	s, err := series.Read(t.Context(), testdraws.File(t, testdraws.Monthly(120)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := automatic(t, s, Options{Shifts: "never"})
	whole := reloaded(t, a)
	want, err := whole.Forecast(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	note := whole.Note()
	for end := int64(1); end < 400; end += 1 + end/4 {
		b := reloaded(t, a)
		ctx := &testkit.Looked{Context: t.Context(), End: end}
		if _, err := b.Forecast(ctx, 12); err == nil && ctx.Looks.Load() >= end {
			t.Errorf("look %d: no error", end)
		}
		ended, stop := context.WithCancel(t.Context())
		first, err := b.Forecast(ended, 12)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		second, err := b.Forecast(t.Context(), 12)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []*Forecast{first, second} {
			for i := range want.Median {
				if got.Median[i] != want.Median[i] || got.NoisyVar[i] != want.NoisyVar[i] {
					t.Fatalf("look %d: step %d is %v ± %v, want %v ± %v", end, i, got.Median[i], got.NoisyVar[i], want.Median[i],
						want.NoisyVar[i])
				}
			}
		}
		if b.Note() != note {
			t.Errorf("look %d: the note is %q, want %q", end, b.Note(), note)
		}
	}
}
