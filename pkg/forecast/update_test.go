package forecast

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// wandering returns n observations of a mean-reverting process of variance 1 and lengthscale l, with noise, at uneven steps.
func wandering(rnd *rand.Rand, n int, l, noise float64) (x, y []float64) {
	f, at := rnd.NormFloat64(), 0.0
	for range n {
		gap := 0.5 + rnd.Float64()
		at += gap
		phi := math.Exp(-gap / l)
		f = phi*f + math.Sqrt(1-phi*phi)*rnd.NormFloat64()
		x, y = append(x, at), append(y, 5+3*(f+math.Sqrt(noise)*rnd.NormFloat64()))
	}
	return x, y
}

// trueModel is the analysis of a wandering series with the parameters that it was drawn with.
func trueModel(t *testing.T, x, y []float64, l, noise float64) *Analysis {
	t.Helper()
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	a := &Analysis{Series: s, Candidates: make([]search.Candidate, 1), trained: len(x), computed: new(computed)}
	search.Restore(a.Candidates)
	v, err := a.scale(false)
	if err != nil {
		t.Fatal(err)
	}
	unit := 9 / (v.Scaling.Scale * v.Scaling.Scale)
	a.Scaling = v.Scaling
	a.Result = &gppl.Result{Model: gppl.Model{Kernel: gppl.Laplace{Variance: unit, Lengthscale: l}, Noise: unit * noise,
		Mean: gppl.Intercept{}}}
	a.members = a.alone()
	return a
}

// TestFalseAlarms: of observations that follow the model, a share of 1e-3 has a P below 1e-3, and the tests of drift doubt the
// model in at most a share of driftLevel.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const level, before, each = 1e-3, 400, 500
	series := testkit.Size(60, 600, 2000)
	alarms, doubts := 0, 0
	for k := range series {
		x, y := wandering(rand.New(rand.NewPCG(uint64(k), 12)), before+each, 9, 0.3)
		_, arrivals, err := trueModel(t, x[:before], y[:before], 9, 0.3).Extend(t.Context(), x[before:], y[before:], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range arrivals.P {
			if p < level {
				alarms++
			}
		}
		if arrivals.Drift.Word == driftWords[1] {
			doubts++
		}
	}
	n := float64(series * each)
	t.Logf("%d alarms in %v observations at %v; %d of %d series in doubt", alarms, n, level, doubts, series)
	if want := n * level; math.Abs(float64(alarms)-want) > 4*math.Sqrt(want) || n == 1e6 && (alarms < 700 || alarms > 1300) {
		t.Errorf("%d alarms in %v observations, want about %v", alarms, n, want)
	}
	if want := driftLevel * float64(series); float64(doubts) > want+4*math.Sqrt(want)+1 {
		t.Errorf("%d of %d series that follow the model are in doubt, want at most about %v", doubts, series, want)
	}
}

// TestDrift: new observations of another process are a reason to learn again, whichever parameter changed; one distant
// observation is not.
func TestDrift(t *testing.T) {
	t.Parallel()
	const before, each = 300, 200
	for name, change := range map[string]struct {
		l, noise, level, out float64
		word                 string
	}{
		"nothing": {9, 0.3, 0, 0, "holds"}, "one far out": {9, 0.3, 0, 300, "holds"}, "more noise": {9, 4, 0, 0, "learn again"},
		"less noise": {9, 0.02, 0, 0, "learn again"},
		"rougher":    {0.5, 0.3, 0, 0, "learn again"}, "a level": {9, 0.3, 60, 0, "learn again"},
	} {
		rnd := rand.New(rand.NewPCG(3, 13))
		x, y := wandering(rnd, before, 9, 0.3)
		later, z := wandering(rnd, each, change.l, change.noise)
		for i := range later {
			later[i] += x[before-1]
			z[i] += change.level * float64(i) / each
		}
		z[each/2] += change.out
		_, arrivals, err := trueModel(t, x, y, 9, 0.3).Extend(t.Context(), later, z, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := arrivals.Drift; d.Word != change.word {
			t.Errorf("%s: %q, want %q: %+v", name, d.Word, change.word, d)
		}
		if p := arrivals.P[each/2]; (change.out > 0) != (p < 1e-9) {
			t.Errorf("%s: the observation in the middle has the probability %v", name, p)
		}
	}
	for _, n := range []int{leastDrift, 20, 100} { // independent and N(0, 1)
		rnd, bad, all := rand.New(rand.NewPCG(uint64(n), 16)), 0, testkit.Size(4000, 40000, 400000)
		for range all {
			z := make([]float64, n)
			for i := range z {
				z[i] = rnd.NormFloat64()
			}
			if driftOf(z).Word == "learn again" {
				bad++
			}
		}
		if most := driftLevel*float64(all) + 4*math.Sqrt(driftLevel*float64(all)); float64(bad) > most {
			t.Errorf("%d of %d times %d observations that follow the model are a reason to learn again, want at most %.0f",
				bad, all, n, most)
		}
	}
	if d := driftOf([]float64{9, 9, 9}); d.Word != "too few to tell" ||
		!strings.Contains(d.Verdict(), "3 new observations are too few") {
		t.Errorf("of three: %+v, %s", d, d.Verdict())
	}
}

// TestUpdatedPredictions: for every kind of series, an updated analysis and its file give the posterior predictions of the same
// model given all observations, in the standardisation of the observations that it was learnt from.
func TestUpdatedPredictions(t *testing.T) {
	t.Parallel()
	x, y := wandering(rand.New(rand.NewPCG(1, 14)), 60, 9, 0.3)
	const before = 40
	a := trueModel(t, x[:before], y[:before], 9, 0.3)
	u, _, err := a.Extend(t.Context(), x[before:50], y[before:50], nil)
	if err == nil {
		u, _, err = u.Extend(t.Context(), x[50:], y[50:], nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = a.Scaling.Standard(v)
	}
	d, err := gppl.NewData(gppl.Scalars(x), z)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gppl.NewPosterior(t.Context(), a.Result.Model, d)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{x[3], x[before], x[59] + 1, x[59] + 20}
	mean, variances := testkit.Must2(p.Noisy(t.Context(), gppl.Scalars(at)))(t)
	f, err := u.Predict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range at {
		if m, v := a.Scaling.Values(nil, mean)[i], a.Scaling.Variance(variances[i]); math.Abs(f.Median[i]-m) > 1e-9*math.Abs(m) ||
			math.Abs(f.NoisyVar[i]-v) > 1e-9*v {
			t.Errorf("at %v: N(%v, %v), by the library N(%v, %v)", at[i], f.Median[i], f.NoisyVar[i], m, v)
		}
	}
	if u.TrainedOn() != before || len(u.Series.Added) != 2 || len(a.Series.X) != before {
		t.Errorf("trained on %d, added %v, and %d observations before", u.TrainedOn(), u.Series.Added, len(a.Series.X))
	}
}

// updateKinds are files in months, one after another, and how they are read and fitted.
var updateKinds = map[string]struct {
	read    series.ReadOptions
	fit     Options
	counted bool
}{
	"plain":     {series.ReadOptions{X: "date", Y: "y (m)"}, Options{Kernels: []string{"Matern32"}}, false},
	"automatic": {series.ReadOptions{X: "date", Y: "y (m)"}, Options{}, false},
	"log":       {series.ReadOptions{X: "date", Y: "y (m)"}, Options{Kernels: []string{"SE"}, Log: "always"}, false},
	"bounds":    {series.ReadOptions{X: "date", Y: "y (m)", Bounds: &series.Bounds{Lo: 0, Hi: 100}}, Options{Kernels: []string{"Laplace"}}, false},
	"errors":    {series.ReadOptions{X: "date", Y: "y (m)", YError: "se"}, Options{Kernels: []string{"Matern32"}}, false},
	"relative": {series.ReadOptions{X: "date", Y: "y (m)", YError: "se", RelativeErrors: true}, Options{Kernels: []string{"Matern32"}},
		false},
	"regressor": {series.ReadOptions{X: "date", Y: "y (m)", Regressors: []string{"price"}}, Options{Kernels: []string{"Laplace"}}, false},
	"counts":    {series.ReadOptions{X: "date", Y: "sold", Likelihood: "poisson"}, Options{Kernels: []string{"Laplace"}}, true},
	"shares": {series.ReadOptions{X: "date", Y: "sold", Likelihood: "binomial", Size: "shown"}, Options{Kernels: []string{"Laplace"}},
		true},
}

// updateFile writes the rows from ≤ i < to, and rows without y up to ahead.
func updateFile(t *testing.T, from, to, ahead int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("price,date,y (m),se,sold,shown\n")
	for i := from; i < ahead; i++ {
		rnd := rand.New(rand.NewPCG(uint64(i), 15))
		price := 3 + math.Sin(float64(i)) + 0.1*rnd.NormFloat64()
		row := fmt.Sprintf("%.3f,%s,%.4f,%.3f,%d,%d", price,
			time.Date(2015, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
			20+4*price+5*math.Sin(float64(i)/9)+rnd.NormFloat64(), 0.5+rnd.Float64(), 1+rnd.IntN(4), 9+rnd.IntN(4))
		if i >= to {
			row = fmt.Sprintf("%.3f,%s,,,,", price, time.Date(2015, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		}
		b.WriteString(row + "\n")
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUpdateFromFiles: for every kind of series, an update by a file of the new rows, or of all rows, equals the series read
// whole with the same models, before and after saving.
func TestUpdateFromFiles(t *testing.T) {
	t.Parallel()
	const before, all, ahead = 48, 60, 66
	for name, kind := range updateKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := series.Read(t.Context(), updateFile(t, 0, before, before+2), kind.read)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Fit(t.Context(), s, kind.fit)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := series.Read(t.Context(), updateFile(t, 0, all, ahead), kind.read)
			if err != nil {
				t.Fatal(err)
			}
			whole.Added = []series.Addition{{Observations: all - before}}
			if whole.Known != nil {
				whole.Known.Centre, whole.Known.Scale = s.Known.Centre, s.Known.Scale
			}
			want := a.with(&series.Further{}, 0)
			want.Series = whole
			at := []float64{whole.X[3], whole.X[all-1], whole.X[all-1] + 1./12, whole.X[all-1] + 0.25}
			wantForecast, err := want.Predict(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, u *Analysis) {
				t.Helper()
				f, err := u.Predict(t.Context(), at)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				for i := range at {
					if math.Abs(f.Median[i]-wantForecast.Median[i]) > 1e-9*math.Abs(f.Median[i]) ||
						math.Abs(f.NoisyVar[i]-wantForecast.NoisyVar[i]) > 1e-9*f.NoisyVar[i] || f.When[i] != wantForecast.When[i] {
						t.Errorf("%s at %s: N(%v, %v), all read together N(%v, %v)",
							what, f.When[i], f.Median[i], f.NoisyVar[i], wantForecast.Median[i], wantForecast.NoisyVar[i])
					}
				}
			}
			for from, already := range map[int]int{before: 0, 0: before} {
				u, arrivals, err := a.Update(t.Context(), updateFile(t, from, all, ahead), series.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				check("updated", u)
				if len(arrivals.Y) != all-before || arrivals.Already != already || arrivals.Drift.N != all-before ||
					slices.ContainsFunc(arrivals.P, func(p float64) bool { return !(p > 0 && p <= 1) }) {
					t.Errorf("%d arrivals, %d already, %+v, P = %v", len(arrivals.Y), arrivals.Already, arrivals.Drift, arrivals.P)
				}
				// A forecast does not have the number of trials to come. New observations are predicted without the factor that
				// widens bands further ahead.
				widen := a.Widen
				a.Widen = 0
				first, err := a.Predict(t.Context(), u.Series.X[before:before+1])
				a.Widen = widen
				near := 1e-6
				if kind.read.YError != "" { // nor their errors, on which the median of a mixture depends
					near = 1e-3
				}
				if err == nil && name != "shares" && (math.Abs(first.Median[0]-arrivals.Forecast.Median[0]) > near*math.Abs(first.Median[0])) {
					t.Errorf("the first new observation is predicted as %v, by the analysis as %v", arrivals.Forecast.Median[0], first.Median[0])
				}
				var b bytes.Buffer
				if err := u.Encode(&b); err != nil {
					t.Fatal(err)
				}
				loaded, err := decode(b.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				check("saved and loaded", loaded)
				again, none, err := loaded.Update(t.Context(), updateFile(t, from, all, ahead), series.ReadOptions{})
				if err != nil || len(none.Y) != 0 || len(again.Series.X) != all {
					t.Errorf("the same file again: %v, %d new observations", err, len(none.Y))
				}
			}
		})
	}
}

// TestUpdateErrors: rows that do not continue the series are errors that name the line and say what to do.
func TestUpdateErrors(t *testing.T) {
	t.Parallel()
	const before = 48
	for name, c := range map[string]struct{ kind, text, want string }{
		"revised":    {"plain", "date,y (m)\n2018-12-01,1\n", "line 2: y = 1 at 2018-12-01 is not among the observations of the model, and not after the last of them, at 2018-12-01: fit again with all rows"},
		"before":     {"plain", "date,y (m)\n2014-12-01,1\n2019-01-01,2\n", "line 2"},
		"numbers":    {"plain", "date,y (m)\n1,1\n2,2\n", "the model has dates"},
		"no rows":    {"plain", "date,y (m)\n", "row"},
		"no column":  {"plain", "date,z\n2019-01-01,2\n", `y (m)`},
		"no log":     {"log", "date,y (m)\n2019-01-01,-2\n", "line 2: -2 has no logarithm"},
		"beyond":     {"bounds", "date,y (m)\n2019-01-01,101\n", "line 2: 101 is beyond the bounds"},
		"at a bound": {"bounds", "date,y (m)\n2019-01-01,100\n", "line 2: 100 is at a bound"},
		"no error":   {"errors", "date,y (m),se\n2019-01-01,1,\n", "line 2: the error of y (se) is missing"},
		"no price":   {"regressor", "date,y (m),price\n2019-01-01,1,\n", "line 2: the regressor price is missing"},
		"no count":   {"counts", "date,sold\n2019-01-01,1.5\n", "line 2: 1.5"},
		"headless":   {"errors", "2019-01-01,1,1\n", "needs a header"},
	} {
		kind := updateKinds[c.kind]
		s, err := series.Read(t.Context(), updateFile(t, 0, before, before+1), kind.read)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Fit(t.Context(), s, kind.fit)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := a.Update(t.Context(), path, series.ReadOptions{NoHeader: name == "headless"}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
