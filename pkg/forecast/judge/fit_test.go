package judge

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// learn fits a monthly rhythm once for several tests.
func learn(t *testing.T) *forecast.Analysis {
	t.Helper()
	s, err := series.Read(t.Context(), testdraws.File(t, testdraws.Monthly(120)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var last forecast.Progress
	a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"SE", "SE + Periodic", "Matern32"}, Trend: "none",
		Log: "never", Progress: func(p forecast.Progress) { last = p }}.WithEffort(search.Efforts[2]))
	if err != nil {
		t.Fatal(err)
	}
	if last.Count != 100 || last.Evaluations == 0 {
		t.Errorf("last progress %+v", last)
	}
	return a
}

func TestFit(t *testing.T) {
	a := learn(t)
	if a.Kernel() != "SE + Periodic" {
		t.Fatalf("kernel %s: %+v", a.Kernel(), a.Candidates)
	}
	for _, p := range a.Result.Params {
		if p.Name == "Periodic.period" && math.Abs(p.Value-1) > 0.01 {
			t.Errorf("period %v years, want 1", p.Value)
		}
	}
	best := a.Candidates[0]
	if want := 2*best.NLL + 6*math.Log(120); math.Abs(best.BIC-want) > 1e-9 {
		t.Errorf("BIC %v, want %v", best.BIC, want)
	}
	learnt, err := a.Learnt(t.Context())
	if err != nil || a.Log {
		t.Fatal(a.Log, err)
	}
	data, offset := learnt[0].Data, 120*math.Log(learnt[0].Scaling.Scale)
	exact := testkit.Must(gppl.NewExact(t.Context(), a.Result.Model, data))(t)
	if v, err := exact.ValueGrad(t.Context(), nil, a.Result.Model.Values()); err != nil || math.Abs(v+offset-best.NLL) > 1e-6 {
		t.Errorf("exact NLL of y %v (%v), the candidate says %v", v+offset, err, best.NLL)
	}

	f, err := a.Forecast(t.Context(), 24)
	if err != nil {
		t.Fatal(err)
	}
	if f.When[0] != "2010-01-01" || f.When[23] != "2011-12-01" {
		t.Errorf("forecast from %s to %s", f.When[0], f.When[23])
	}
	for i := range f.X {
		want := 10 + 0.02*float64(120+i) + math.Sin(2*math.Pi*float64(i)/12)
		if lo, hi := f.Lower[i], f.Upper[i]; f.NoisyVar[i] <= f.LatentVar[i] || want < lo-0.3 || want > hi+0.3 {
			t.Errorf("step %d: %v in [%v, %v], want about %v", i, f.Median[i], lo, hi, want)
		}
	}

	t.Run("components add up", func(t *testing.T) {
		x := []float64{a.Series.X[3], a.Series.X[50] + 0.01, f.X[5]}
		terms, err := a.Components(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			sum := a.Scaling.Mean
			for _, term := range terms {
				sum += term.Mean[i]
			}
			if math.Abs(sum-p.Median[i]) > 1e-6 {
				t.Errorf("at %v: %v, the posterior is %v", x[i], sum, p.Median[i])
			}
		}
	})
	t.Run("innovations are one-step predictions", func(t *testing.T) {
		r, err := CheckResiduals(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		const i = 40
		past, err := gppl.NewData(data.X.Slice(0, i), data.Y[:i])
		if err != nil {
			t.Fatal(err)
		}
		post, err := gppl.NewPosterior(t.Context(), a.Result.Model, past)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := testkit.Must2(post.Noisy(t.Context(), data.X.Slice(i, i+1)))(t)
		if want := (data.Y[i] - mean[0]) / math.Sqrt(variance[0]); math.Abs(r.E[i]-want) > 1e-6 {
			t.Errorf("innovation %v, want %v", r.E[i], want)
		}
		if r.LjungBoxP < 0.01 || r.JarqueBeraP < 0.01 {
			t.Errorf("the right model is refused: %q", r.Verdict())
		}
	})
	t.Run("saved and loaded", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "m.json")
		if err := a.Save(path); err != nil {
			t.Fatal(err)
		}
		b, err := forecast.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		g, err := b.Forecast(t.Context(), 24)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(f, g, ofParts, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Error(diff)
		}
		if b.Series.Source.SHA256 == "" || b.Series.Source.File != "data.csv" {
			t.Errorf("%+v", b.Series.Source)
		}
		text, _ := os.ReadFile(path)
		for _, bad := range []string{
			"", "{}", `{"format":"gppl analysis","version":1}`, string(text[:len(text)/2]),
			strings.Replace(string(text), `"unit":"year"`, `"unit":"week"`, 1),
			strings.Replace(string(text), `"x":[`, `"x":[1,`, 1),
		} {
			if _, err := decoded(t, []byte(bad)); err == nil {
				t.Errorf("no error for %.60q", bad)
			}
		}
	})
	t.Run("csv", func(t *testing.T) {
		var b bytes.Buffer
		if err := f.WriteCSV(&b, a.Series.Axis); err != nil {
			t.Fatal(err)
		}
		s, err := dataset.ReadCSV(&b, dataset.CSVOptions{X: "t", Y: "mean"})
		if err != nil || s.Len() != 24 || math.Abs(s.Y[3]-f.Median[3]) > 1e-6 {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// TestTrend: a series that rises has a trend, in the components as well, and a forecast that rises with it; one that does not
// has none.
func TestTrend(t *testing.T) {
	s, err := series.Read(t.Context(), testdraws.File(t, testdraws.Monthly(120)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"Periodic", "SE"}}.WithEffort(search.Efforts[2]))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Candidates) != 8 || a.Candidates[0].Name() != "Periodic, linear trend" { // two kernels, trends and scales
		t.Errorf("%+v", a.Candidates)
	}
	f, err := a.Forecast(t.Context(), 120)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.X {
		want := 10 + 0.02*float64(120+i) + math.Sin(2*math.Pi*float64(i)/12)
		if lo, hi := f.Lower[i], f.Upper[i]; want < lo || want > hi || hi-lo > 1 {
			t.Errorf("step %d: [%v, %v], want about %v", i, lo, hi, want)
		}
	}
	x := []float64{a.Series.X[3], f.X[90]}
	terms, err := a.Components(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		sum := a.Scaling.Mean
		for _, term := range terms {
			sum += term.Mean[i]
		}
		if terms[0].Name != "trend" || terms[1].About == "" || math.Abs(sum-p.Median[i]) > 1e-6 {
			t.Errorf("at %v: the components from %s on sum to %v, the posterior is %v", x[i], terms[0].Name, sum, p.Median[i])
		}
	}
	if r, err := CheckResiduals(t.Context(), a); err != nil || r.LjungBoxP < 0.001 || math.Abs(r.SD-1) > 0.3 {
		t.Errorf("%+v, %v", r, err)
	}
	for i := range s.Y {
		s.Y[i] -= 0.02 * float64(i)
	}
	if a, err = forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"Periodic", "SE"}}); err != nil ||
		a.Candidates[0].Name() != "Periodic" {
		t.Errorf("without a trend: %+v, %v", a.Candidates, err)
	}
	if _, err := forecast.Fit(context.Background(), s, forecast.Options{Trend: "cubic"}); err == nil || !strings.Contains(err.Error(), "quadratic") {
		t.Errorf("a cubic trend: %v", err)
	}
}

// The tests must refuse white Gaussian noise about as often as their level says, and see a weak correlation.
func TestCheckWhite(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const draws = 400
	var correlated, skewed, seen int
	for range draws {
		white, red := make([]float64, 500), make([]float64, 500)
		for i := range white {
			white[i] = rnd.NormFloat64()
			red[i] = white[i]
			if i > 0 {
				red[i] += 0.3 * red[i-1]
			}
		}
		r := checkWhite(white)
		if r.LjungBoxP < 0.05 {
			correlated++
		}
		if r.JarqueBeraP < 0.05 {
			skewed++
		}
		if r = checkWhite(red); r.LjungBoxP < 0.01 && strings.Contains(r.Verdict()[0], "largest at lag 1)") {
			seen++
		}
	}
	// 5 % of 400 is 20 ± 4.4; both tests hold their level only about.
	if correlated < 6 || correlated > 40 || skewed < 6 || skewed > 40 || seen < 0.98*draws {
		t.Errorf("of %d: white noise refused %d times for its correlation and %d for its distribution; red noise %d times",
			draws, correlated, skewed, seen)
	}
}

// TestChangePointFit: a change point is found in a list of kernels, learnt and preferred where there is one.
func TestChangePointFit(t *testing.T) {
	x := make([]float64, 160)
	for i := range x {
		x[i] = -3 + 0.25*float64(i)
	}
	truth := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 5},
		After: gppl.Laplace{Variance: 2, Lengthscale: 1}, Location: 22, Width: 0.5}, Noise: 0.01}
	draw, err := truth.Sample(t.Context(), gppl.Scalars(x), 4, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	names, err := search.ParseKernels("SE, ChangePoint(SE, Laplace)")
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	a, err := forecast.Fit(t.Context(), &series.Series{X: x, Y: y, Step: 0.25}, forecast.Options{Kernels: names, Trend: "none"})
	if err != nil {
		t.Fatal(err)
	}
	change, ok := a.Result.Model.Kernel.(gppl.ChangePoint)
	if !ok {
		t.Fatalf("the best is %v", a.Result.Model)
	}
	if at := change.Location; math.Abs(at-22) > 3 {
		t.Errorf("the change is learnt at %v, it is at 22", at)
	}
	r, err := CheckResiduals(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(r.SD-1) < 0.1) { // at an optimum their squares add to n
		t.Errorf("the innovations have the standard deviation %.3g, not 1", r.SD)
	}
}
