package auto_test

import (
	"context"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// TestFindStarts: if the search saw all data, the first start is the optimum that auto.Fit returns, with priors too, and it is
// described in the same words.
func TestFindStarts(t *testing.T) {
	d := observe(t, 60, 1, 0.2, 3, func(x float64) float64 { return math.Sin(2 * math.Pi * x / 7.3) })
	m := gppl.Model{Kernel: gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1, PeriodicLengthscale: 1}}
	for _, priors := range [][]gppl.ParamPrior{nil, {{Name: "lengthscale", Prior: prior.LogNormalWithin(5, 50)}}} {
		s := auto.Settings{Priors: priors}
		found, err := auto.FindStarts(t.Context(), m, d, s)
		if err != nil {
			t.Fatal(err)
		}
		if found.Search.Screened == 0 {
			t.Error(found.Search)
		}
		start := found.Models[0]
		for i, p := range start.Params() {
			if p.Transform != m.Params()[i].Transform {
				t.Errorf("%s has the transform %v, not the model's", p.Name, p.Transform)
			}
		}
		r, err := found.Train(t.Context(), exactly, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if gained := r.Trace[0].Value - r.Value; gained > 0.01 {
			t.Errorf("training gained %.3g nats on what the search found", gained)
		}
		whole, err := auto.Fit(t.Context(), m, d, s)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Value-whole.Value) > 0.01 || r.Status != whole.Status ||
			!slices.Equal(withoutNumbers(r.Warnings), withoutNumbers(whole.Warnings)) {
			t.Errorf("%v nats, %s, %q; auto.Fit has %v, %s, %q", r.Value, r.Status, r.Warnings, whole.Value, whole.Status, whole.Warnings)
		}
	}
}

// TestStartsOn: starts that are found on y serve for log y. Aliases of its period, which look alike at irregular times, are then
// compared on log y.
func TestStartsOn(t *testing.T) {
	const n = 520 // more than what aliases are looked for in
	rnd := rand.New(rand.NewPCG(5, n))
	x, y, logs := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 300 * rnd.Float64()
		logs[i] = math.Sin(2*math.Pi*x[i]/0.83) + 0.3*rnd.NormFloat64()
		y[i] = math.Exp(logs[i])
	}
	in := func(values []float64) gppl.Data { return testkit.Must(gppl.NewData(gppl.Scalars(x), values))(t) }
	search := func(d gppl.Data) *auto.Starts {
		return testkit.Must(auto.FindStarts(t.Context(), gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}}, d,
			auto.Settings{}))(t)
	}
	train := func(s *auto.Starts) *gppl.Result {
		return testkit.Must(s.Train(t.Context(), exactly, gppl.Settings{NoStandardErrors: true}))(t)
	}
	found := search(in(y))
	on, own := train(found.On(t.Context(), in(logs))), train(search(in(logs)))
	if on.Value > own.Value+0.01 || on.Status != own.Status {
		t.Errorf("%v nats (%s) from the search of y, %v (%s) from one of its own", on.Value, on.Status, own.Value, own.Status)
	}
	if before, after := train(found), train(found.On(t.Context(), in(y))); before.Value != after.Value {
		t.Errorf("on the same values %v nats, not %v", after.Value, before.Value)
	}
}

// TestFindStartsNotSearched: a model that is not searched has start values and a doubt that says so; one that cannot be trained
// is an error.
func TestFindStartsNotSearched(t *testing.T) {
	d := observe(t, 60, 1, 0.1, 3, func(x float64) float64 { return math.Sin(x / 3) })
	change := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 1},
		After: gppl.SE{Variance: 1, Lengthscale: 1}, Width: 1}, Noise: 1}
	line := observe(t, 60, 1, 0, 3, func(x float64) float64 { return 2 * x })
	for what, c := range map[string]struct {
		m gppl.Model
		d gppl.Data
	}{
		"a change point": {change, d},
		"a line": {gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1,
			Mean: gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, line.X))}, line},
	} {
		found, err := auto.FindStarts(t.Context(), c.m, c.d, auto.Settings{})
		if err != nil || len(found.Models) == 0 || found.Search.Screened > 0 || len(found.Doubts) != 1 ||
			!strings.HasPrefix(found.Doubts[0], "not searched: ") {
			t.Errorf("%s: %+v, %v", what, found, err)
			continue
		}
		r, err := found.Train(t.Context(), exactly, gppl.Settings{NoStandardErrors: true})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if r.Status != gppl.Doubtful || !slices.Contains(r.Warnings, found.Doubts[0]) {
			t.Errorf("%s: %s, %q", what, r.Status, r.Warnings)
		}
	}
	if _, err := auto.FindStarts(t.Context(), gppl.Model{Noise: 1}, d, auto.Settings{}); err == nil {
		t.Error("no error for a model without a kernel")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := auto.FindStarts(ctx, gppl.Model{Kernel: gppl.SE{}, Noise: 1}, d, auto.Settings{}); err == nil {
		t.Error("no error after the context ended")
	}
}

func exactly(ctx context.Context, m gppl.Model, d gppl.Data) (gppl.Loss, error) {
	return gppl.NewExact(ctx, m, d)
}

// TestTrainScarce: with few evaluations of all data the best start alone is trained on them, from a part of them or another
// trend's end, and the limit holds.
func TestTrainScarce(t *testing.T) {
	d := observe(t, 600, 1, 0.2, 3, func(x float64) float64 { return math.Sin(2 * math.Pi * x / 7.3) })
	found, err := auto.FindStarts(t.Context(), gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 1}}, d,
		auto.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := found.Train(t.Context(), exactly, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{15, 60, 250} {
		for _, further := range [][]gppl.Model{nil, {whole.Model}} {
			r, err := found.Train(t.Context(), exactly, gppl.Settings{NoStandardErrors: true, MaxEvaluations: limit}, further...)
			if err != nil {
				t.Fatal(err)
			}
			most := limit
			if further == nil { // plus some of the part
				most += 250
			}
			if r.Evaluations > most || r.Value > whole.Value+3 {
				t.Errorf("at most %d, %d further: %d evaluations, %.2f nats above", limit, len(further), r.Evaluations, r.Value-whole.Value)
			}
		}
	}
}

// withoutNumbers returns messages with # for every number.
func withoutNumbers(messages []string) (out []string) {
	for _, m := range messages {
		out = append(out, regexp.MustCompile(`[-+]?[\d.]+(e[-+]?\d+)?`).ReplaceAllString(m, "#"))
	}
	return out
}

// TestStandardErrorsOfSeveral: the best of several trainings has the standard errors of a training that begins where it ended,
// and none where a limit ended it before.
func TestStandardErrorsOfSeveral(t *testing.T) {
	d := observe(t, 500, 1, 0.5, 3, func(x float64) float64 {
		return math.Sin(2*math.Pi*x/7.3) + 0.8*math.Sin(2*math.Pi*x/11+0.01*x*math.Sin(x/40))
	})
	found, err := auto.FindStarts(t.Context(), gppl.Model{Kernel: gppl.LocPer{Variance: 1, Lengthscale: 1, Period: 1,
		PeriodicLengthscale: 1}}, d, auto.Settings{})
	if err != nil || len(found.Models) < 2 {
		t.Fatalf("%d starts: want several; %v", len(found.Models), err)
	}
	r, err := found.Train(t.Context(), exactly, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	loss, err := exactly(t.Context(), r.Model, d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Params {
		if want := again.Params[i].StdErrLog; !(want > 0) || !(math.Abs(math.Log(p.StdErrLog/want)) < 0.01) {
			t.Errorf("%s: the standard error of the log is %v, want %v", p.Name, p.StdErrLog, want)
		}
	}
	limited, err := found.Train(t.Context(), exactly, gppl.Settings{MaxEvaluations: 400, EvaluationSeconds: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if limited.Status != gppl.Limited || !math.IsNaN(limited.Params[0].StdErrLog) {
		t.Errorf("%s, with the standard error %v", limited.Status, limited.Params[0].StdErrLog)
	}
}
