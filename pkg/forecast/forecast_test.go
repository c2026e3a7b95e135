package forecast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rhythm is a noisy rhythm of 12 steps on a trend: rows of step and value.
func rhythm(n int, row func(i int, y float64) string) string {
	rnd := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := range n {
		x := float64(i)
		b.WriteString(row(i, 10+0.02*x+math.Sin(2*math.Pi*x/12)+0.1*rnd.NormFloat64()))
	}
	return b.String()
}

func monthly(n int) string {
	return rhythm(n, func(i int, y float64) string { return fmt.Sprintf("%d-%02d-01,%.4f\n", 2000+i/12, i%12+1, y) })
}

func TestKernels(t *testing.T) {
	names, err := ParseKernels(" se, matern52 + LOCPER ,auto")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{"SE", "Matern52 + LocPer"}, Auto...), names); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseKernels("SE + Foo"); err == nil || !strings.Contains(err.Error(), `"Foo"`) ||
		!strings.Contains(err.Error(), "LocPer") {
		t.Error(err)
	}
}

// learn fits a monthly rhythm once for several tests.
func learn(t *testing.T) *Analysis {
	t.Helper()
	s, err := series.Read(file(t, monthly(120)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var last Progress
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"SE", "SE + Periodic", "Matern32"}, Trend: "none",
		Progress: func(p Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if last.Count != 4 || last.Evaluations == 0 { // the best on the log scale as well
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
	learnt, err := a.Learnt()
	if err != nil || a.Log {
		t.Fatal(a.Log, err)
	}
	data, offset := learnt[0].Data, 120*math.Log(learnt[0].Scaling.Scale)
	exact := testkit.Must(gppl.NewExact(t.Context(), a.Result.Model, data))(t)
	if v, err := exact.ValueGrad(t.Context(), nil, a.Result.Model.Values()); err != nil || math.Abs(v+offset-best.NLL) > 1e-6 {
		t.Errorf("exact NLL of y %v (%v), the candidate says %v", v+offset, err, best.NLL)
	}

	f, err := a.Forecast(24)
	if err != nil {
		t.Fatal(err)
	}
	if f.When[0] != "2010-01-01" || f.When[23] != "2011-12-01" {
		t.Errorf("forecast from %s to %s", f.When[0], f.When[23])
	}
	for i := range f.X {
		want := 10 + 0.02*float64(120+i) + math.Sin(2*math.Pi*float64(i)/12)
		if lo, hi := f.Band(i); f.NoisyVar[i] <= f.LatentVar[i] || want < lo-0.3 || want > hi+0.3 {
			t.Errorf("step %d: %v in [%v, %v], want about %v", i, f.Mean[i], lo, hi, want)
		}
	}

	t.Run("components add up", func(t *testing.T) {
		x := []float64{a.Series.X[3], a.Series.X[50] + 0.01, f.X[5]}
		terms, err := a.Components(x)
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if sum := a.Scaling.Mean + terms[0].Mean[i] + terms[1].Mean[i]; math.Abs(sum-p.Mean[i]) > 1e-6 {
				t.Errorf("at %v: %v, the posterior is %v", x[i], sum, p.Mean[i])
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
		b, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		g, err := b.Forecast(24)
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
		if err != nil || s.Len() != 24 || math.Abs(s.Y[3]-f.Mean[3]) > 1e-6 {
			t.Errorf("%v, %v", s, err)
		}
	})
}

// TestTrend: a series that rises has a trend, in the components as well, and a forecast that rises with it; one that does not
// has none.
func TestTrend(t *testing.T) {
	s, err := series.Read(file(t, monthly(120)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"Periodic", "SE"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Candidates) != 5 || a.Candidates[0].Name() != "Periodic, linear trend" { // three trends, the other kernel, and the logarithm
		t.Errorf("%+v", a.Candidates)
	}
	f, err := a.Forecast(120)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.X {
		want := 10 + 0.02*float64(120+i) + math.Sin(2*math.Pi*float64(i)/12)
		if lo, hi := f.Band(i); want < lo || want > hi || hi-lo > 1 {
			t.Errorf("step %d: [%v, %v], want about %v", i, lo, hi, want)
		}
	}
	x := []float64{a.Series.X[3], f.X[90]}
	terms, err := a.Components(x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x {
		sum := a.Scaling.Mean
		for _, term := range terms {
			sum += term.Mean[i]
		}
		if terms[0].Name != "trend" || terms[1].About == "" || math.Abs(sum-p.Mean[i]) > 1e-6 {
			t.Errorf("at %v: the components from %s on sum to %v, the posterior is %v", x[i], terms[0].Name, sum, p.Mean[i])
		}
	}
	if r, err := CheckResiduals(t.Context(), a); err != nil || r.LjungBoxP < 0.001 || math.Abs(r.SD-1) > 0.3 {
		t.Errorf("%+v, %v", r, err)
	}
	for i := range s.Y {
		s.Y[i] -= 0.02 * float64(i)
	}
	if a, err = Fit(context.Background(), s, Options{Kernels: []string{"Periodic", "SE"}}); err != nil ||
		a.Candidates[0].Name() != "Periodic" {
		t.Errorf("without a trend: %+v, %v", a.Candidates, err)
	}
	if _, err := Fit(context.Background(), s, Options{Trend: "cubic"}); err == nil || !strings.Contains(err.Error(), "quadratic") {
		t.Errorf("a cubic trend: %v", err)
	}
}

// TestFitProjected: above MaxExact, a kernel that neither a state space nor a Toeplitz factor takes is learnt from projections,
// with a trend like the others.
func TestFitProjected(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var rows strings.Builder
	rows.WriteString("x,y\n")
	x, walk := 0.0, 0.0
	for range 2200 { // a walk on uneven times, whose lengthscales RQ spreads so far that no engine is fast
		step := 0.2 + 1.6*rnd.Float64()
		x, walk = x+step, walk+math.Sqrt(0.02*step)*rnd.NormFloat64()
		fmt.Fprintf(&rows, "%v,%v\n", x, walk+0.1*rnd.NormFloat64())
	}
	s, err := series.Read(file(t, rows.String()), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"RQ"}, MaxExact: 2000})
	if err != nil {
		t.Fatal(err)
	}
	if a.Projections != projections {
		t.Errorf("%d projections, %+v", a.Projections, a.Candidates)
	}
	f, err := a.Forecast(2)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range f.X {
		if math.Abs(f.Mean[i]-walk) > 0.5 {
			t.Errorf("at %v: %v, the walk ends at %v", x, f.Mean[i], walk)
		}
	}
}

// TestFitLong: above MaxExact the likelihood stays exact where its cost does not depend on the parameters.
func TestFitLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	var rows strings.Builder
	rows.WriteString("x,y\n")
	level := 0.0
	for i := range 600 {
		level = 0.95*level + 0.3*rnd.NormFloat64()
		fmt.Fprintf(&rows, "%d,%v\n", i, 0.05*float64(i)+level+0.2*rnd.NormFloat64())
	}
	s, err := series.Read(file(t, rows.String()), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"Laplace", "RQ"}, MaxExact: 400})
	if err != nil {
		t.Fatal(err)
	}
	if a.Projections != 0 || a.Name() != "Laplace, linear trend" {
		t.Errorf("%d projections, %+v", a.Projections, a.Candidates)
	}
	for _, c := range a.Candidates {
		want := gppl.EngineStateSpace
		if c.Kernel == "RQ" {
			want = gppl.EngineToeplitz
		}
		if c.Error != "" || c.Engine != want {
			t.Errorf("%s: engine %q, want %q: %s", c.Name(), c.Engine, want, c.Error)
		}
	}
}

func TestFitCancelled(t *testing.T) {
	s, err := series.Read(file(t, monthly(60)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := Fit(ctx, s, Options{Progress: func(p Progress) {
		if p.Evaluations > 5 {
			cancel()
		}
	}})
	if a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", a, err)
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

func TestParseKernel(t *testing.T) {
	for text, want := range map[string]string{
		"SE*Periodic + White":                  "SE * Periodic",
		" white+rq ":                           "RQ",
		"(SE + RQ) * periodic × Laplace":       "(SE + RQ) * Periodic * Laplace",
		"SE * (Periodic)+ ((LocPer))":          "SE * Periodic + LocPer",
		"SpectralMixture + SpectralMixture":    "SpectralMixture + SpectralMixture",
		"(SE + (RQ + Laplace)) + SE * (SE*RQ)": "SE + RQ + Laplace + SE * SE * RQ",
		"changepoint( SE+RQ ,Matern32) + SE":   "ChangePoint(SE + RQ, Matern32) + SE",
	} {
		k, err := ParseKernel(text)
		if err != nil || kernelName(k) != want {
			t.Errorf("%q: got %v (%v), want %s", text, k, err, want)
			continue
		}
		again, err := ParseKernel(kernelName(k))
		if err != nil || again.String() != k.String() {
			t.Errorf("%s is read as %v (%v), want %v", kernelName(k), again, err, k)
		}
	}
	for text, want := range map[string]string{
		"":                             "ends too early",
		"SE +":                         "ends too early",
		"SE RQ":                        `"RQ" was not expected`,
		"SE + * RQ":                    `"*" was not expected`,
		"(SE + RQ":                     "lacks a closing parenthesis",
		"SE)":                          `")" was not expected`,
		"SE * Foo":                     `no kernel "Foo"`,
		"White":                        "noise alone",
		"SE * White":                   "White as a factor",
		"(SE + White)":                 "White within parentheses",
		"White * SE":                   "White as a factor",
		"SE(RQ)":                       `"(" was not expected`,
		"ChangePoint":                  "ChangePoint(BEFORE, AFTER)",
		"ChangePoint(SE)":              "ChangePoint(BEFORE, AFTER)",
		"ChangePoint(SE, RQ":           "lacks a closing parenthesis",
		"ChangePoint(SE, White)":       "White within parentheses",
		"SE, RQ":                       `"," was not expected`,
		strings.Repeat("(", 99) + "SE": "nested deeper",
	} {
		if k, err := ParseKernel(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v (%v), want an error that says %s", text, k, err, want)
		}
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
	_, y, _, err := truth.Sample(t.Context(), gppl.Scalars(x), 4)
	if err != nil {
		t.Fatal(err)
	}
	names, err := ParseKernels("SE, ChangePoint(SE, Laplace)")
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	a, err := Fit(t.Context(), &series.Series{X: x, Y: y, Step: 0.25}, Options{Kernels: names, Trend: "none"})
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

// TestProductFit: of a product only what the data determine is trained, and it is no worse than LocPer, the same kernel with one
// variance.
func TestProductFit(t *testing.T) {
	var x, y []float64
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		x = append(x, 0.2*float64(i))
		y = append(y, math.Sin(2*math.Pi*x[i]/3)*(1+0.3*math.Sin(x[i]/9))+0.1*rnd.NormFloat64())
	}
	fit := func(kernel string) *Analysis {
		t.Helper()
		s := &series.Series{X: x, Y: y, Step: 0.2}
		a, err := Fit(context.Background(), s, Options{Kernels: []string{kernel}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, b := fit("SE*Periodic + White"), fit("LocPer")
	if a.Kernel() != "SE * Periodic" || a.Candidates[0].Parameters != 5 || b.Candidates[0].Parameters != 5 {
		t.Errorf("%+v and %+v", a.Candidates[0], b.Candidates[0])
	}
	if math.Abs(a.Result.Value-b.Result.Value) > 0.01 {
		t.Errorf("the product has %v nats, LocPer %v", a.Result.Value, b.Result.Value)
	}
	fixed := 0
	for _, p := range a.Result.Params {
		if p.Param.IsFixed() {
			fixed++
		} else if p.StdErrLog == 0 {
			t.Errorf("%s has no standard error: %v", p.Name, a.Result.Warnings)
		}
	}
	if fixed != 1 {
		t.Errorf("%d parameters are fixed, want one:\n%v", fixed, a.Result)
	}
}

// A named kernel is also tried on the logarithm if Options.Log allows it. Growth by a share is likelier there, growth by a step
// is not, and both likelihoods are those of y.
func TestFitNamedOnTheLogarithm(t *testing.T) {
	multiplied := steps(t, 60, 0, func(i int) float64 { return float64(i) })
	added := steps(t, 60, 0, func(i int) float64 { return float64(i) })
	rng := rand.New(rand.NewPCG(5, 0))
	for i := range multiplied.Y {
		e := rng.NormFloat64()
		multiplied.Y[i] = 10 * math.Exp(0.05*float64(i)+0.1*e+0.3*math.Sin(0.3*float64(i)))
		added.Y[i] = 40 + 0.5*float64(i) + 4*e + 8*math.Sin(0.3*float64(i))
	}
	for _, test := range []struct {
		s   *series.Series
		log string
		is  bool
	}{{multiplied, "", true}, {multiplied, "auto", true}, {multiplied, "never", false}, {added, "auto", false},
		{added, "always", true}} {
		a := automatic(t, test.s, Options{Kernels: []string{"SE"}, Trend: "linear", Log: test.log, RandomStarts: -1})
		if a.Log != test.is || a.Candidates[0].Log != test.is {
			t.Errorf("--log %q: the logarithm is modelled: %v, want %v; %+v", test.log, a.Log, test.is, a.Candidates)
		}
		if auto := test.log == "" || test.log == "auto"; auto != (len(a.Candidates) == 2) {
			t.Errorf("--log %q: %d candidates", test.log, len(a.Candidates))
		}
		for _, c := range a.Candidates { // −log p(y) from the model's own values
			if c.Log != a.Log {
				continue
			}
			v, err := newYScale(test.s, 0, 60, c.Log)
			if err != nil {
				t.Fatal(err)
			}
			if want := a.Result.Value + a.Result.LogPrior + v.offset; math.Abs(c.NLL-want) > 1e-9*math.Abs(want) ||
				a.NLL() != a.Candidates[0].NLL {
				t.Errorf("the NLL of y is %v, reported as %v and %v", want, c.NLL, a.NLL())
			}
		}
		f, err := a.Forecast(3)
		if err != nil {
			t.Fatal(err)
		}
		if f.Mean[2] < 0.3*test.s.Y[59] || f.Mean[2] > 3*test.s.Y[59] {
			t.Errorf("--log %q: %v is forecast after %v", test.log, f.Mean[2], test.s.Y[59])
		}
	}
}
