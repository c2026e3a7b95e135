package store_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// bounded allows for each byte what a nested kernel takes.
func bounded(t *testing.T, size int, read func()) {
	t.Helper()
	testkit.BoundedAllocation(t, size, 2000, read)
}

func fuzzModels() []gppl.Model {
	se := gppl.SE{Variance: 1, Lengthscale: 20}
	return []gppl.Model{
		{Kernel: se, Noise: 0.1},
		gppl.PaperModel(gppl.RQ{}),
		gppl.PaperModel(gppl.Add(gppl.Mul(se, gppl.Periodic{Variance: 2, Lengthscale: 1, Period: 3}),
			gppl.White{Variance: 1})).Fix("noise variance"),
		{Kernel: se, Noise: 1, Mean: gppl.AddMeans(gppl.Intercept{}, gppl.Trend{Degree: 2, Hi: 1},
			gppl.GaussianBeta{Of: gppl.Fourier{Period: 2, Harmonics: 3}, Variances: []float64{4}}, gppl.Regressor{Name: "wind"})},
		{Kernel: gppl.Mul(gppl.On(gppl.ARD(se, 1, 2), 2, 0), gppl.On(se, 1)), Noise: 1},
		gppl.Model{Kernel: gppl.LocPer{}, Noise: 1}.WithParams([]float64{1e-300, 1, 1e300, 2, 3}),
		gppl.Model{Kernel: se, Noise: 0.1}.WithTransform("lengthscale", transform.Interval{Lo: 1, Hi: 50}).WithTransform("noise variance",
			transform.Interval{Lo: -0.5, Hi: 2}),
	}
}

func FuzzModelJSON(f *testing.F) {
	for _, m := range fuzzModels() {
		f.Add(testkit.JSON(f, store.Model{Model: m}))
	}
	f.Add([]byte(`{"kernel":{"type":"Sum","parts":[{"type":"SE"}]},"noise_variance":1e999,"transforms":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m store.Model
		var err error
		bounded(t, len(b), func() { err = json.Unmarshal(b, &m) })
		if err != nil {
			if m.Kernel != nil {
				t.Fatalf("a model was made in spite of %v", err)
			}
			return
		}
		if m.Kernel == nil {
			if string(b) == "null" { // encoding/json takes null for no value at all
				return
			}
			t.Fatal("no kernel and no error")
		}
		if err := m.Check(); err != nil {
			t.Fatalf("what was read is not a model: %v", err)
		}
		first := testkit.JSON(t, m)
		var again store.Model
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		testkit.SameJSON(t, first, again)
		if m.String() != again.String() {
			t.Fatalf("written and read again: %v, want %v", again, m)
		}
	})
}

func FuzzResultJSON(f *testing.F) {
	for i, m := range fuzzModels() {
		r := &gppl.Result{
			Model: m, Value: -12.5, Loss: "exact NLL (n=3)", Status: "converged", Reason: "gradient", Evaluations: 7, Iterations: 3,
			SetupTime: 16777188, FitTime: 3, Engine: "dense", Warnings: []string{"w"},
			Trace:  []gppl.TracePoint{{Evaluation: 1, Seconds: 0.25, Value: 3}},
			Starts: []gppl.StartResult{{Value: 1, Theta: []float64{1, 2}}},
		}
		if i == 1 {
			r.LogPrior = -2.5
			r.Priors = []gppl.ParamPrior{{Name: gppl.NoiseName, Role: gppl.RoleNoise, Prior: prior.Gamma{Shape: 2, Rate: 3}}}
		}
		for _, p := range m.Params() {
			r.Params = append(r.Params, gppl.FittedParam{Param: p, Start: p.Value, StdErrLog: float64(i + 1), AtBound: i > 1})
		}
		f.Add(testkit.JSON(f, store.Result{Result: r}))
	}
	f.Add([]byte(`{"format":"gppl result","version":1}`))
	path := filepath.Join(f.TempDir(), "result.json")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var r *gppl.Result
		var err error
		bounded(t, len(b), func() { r, err = store.Load(path) })
		if err != nil {
			if r != nil {
				t.Fatalf("a result was made in spite of %v", err)
			}
			return
		}
		_ = r.String()
		first := testkit.JSON(t, store.Result{Result: r})
		again := new(store.Result)
		if err := json.Unmarshal(first, again); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		testkit.SameJSON(t, first, again)
		if again.SetupTime != r.SetupTime || again.FitTime != r.FitTime || r.SetupTime < 0 || r.FitTime < 0 {
			t.Fatalf("times of %v and %v, read again as %v and %v", r.SetupTime, r.FitTime, again.SetupTime, again.FitTime)
		}
	})
}

func FuzzAutoResultJSON(f *testing.F) {
	projection := gppl.ProjectionOf(mat.NewDense(2, 1, []float64{0.6, 0.8}))
	projection.Orthonormal, projection.Design, projection.Seed = true, "Sphere", 3
	for _, m := range fuzzModels() {
		r := auto.Result{
			Result: &gppl.Result{Model: m, Status: "doubtful"}, Exact: true, Kept: []float64{0.5, math.Inf(1)}, Why: "w",
			Projection: projection,
			Steps:      []auto.Step{{K: 3, Gain: math.NaN(), StdErrLog: []float64{math.Inf(-1)}, Decision: "d"}},
		}
		for _, p := range m.Params() {
			r.Params = append(r.Params, gppl.FittedParam{Param: p})
		}
		f.Add(testkit.JSON(f, r))
		f.Add(testkit.JSON(f, store.Result{Result: r.Result}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var r auto.Result
		var err error
		bounded(t, len(b), func() { err = json.Unmarshal(b, &r) })
		if err != nil || r.Result == nil {
			if r.Result != nil || err == nil && string(b) != "null" {
				t.Fatalf("a result was made in spite of %v, or none without", err)
			}
			return
		}
		first := testkit.JSON(t, r)
		var again auto.Result
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		testkit.SameJSON(t, first, again)
	})
}
