package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

const script = "<script>alert(1)</script>"

// fitted is a model of a rhythm on a rise, of a series whose name is a script.
func fitted(t *testing.T) (*forecast.Analysis, *forecast.Forecast) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(6, 6))
	var b strings.Builder
	fmt.Fprintf(&b, "month,%s (m)\n", script)
	for i := range 96 {
		x := float64(i) // a slow wave and two harmonics, so that the data determine every parameter
		fmt.Fprintf(&b, "%d-%02d,%.4f\n", 2015+i/12, 1+i%12,
			100+0.2*x+2*math.Sin(x/9)+3*math.Sin(2*math.Pi*x/12)+math.Sin(4*math.Pi*x/12)+0.5*rnd.NormFloat64())
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := series.Read(t.Context(), path, series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"SE", "SE + Periodic"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Forecast(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	return a, f
}

func TestShow(t *testing.T) {
	a, f := fitted(t)
	if a.Kernel() != "SE + Periodic" {
		t.Fatalf("%s is the best: %+v", a.Kernel(), a.Candidates)
	}
	t.Run("report", func(t *testing.T) {
		var b strings.Builder
		if err := HTML(context.Background(), &b, a, f, nil, Live{}, dataset.Setting.String); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		own := "<script>" + string(viz.Script()) + "</script>"
		if strings.Count(page, own) != 1 {
			t.Error("the page does not have the script of its figures once")
		}
		allowed := sha256.Sum256([]byte(viz.Script()))
		policy := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(allowed[:]) + "';"
		if head, _, _ := strings.Cut(page, "<style"); !strings.Contains(head, "Content-Security-Policy") ||
			!strings.Contains(html.UnescapeString(head), policy) {
			t.Errorf("no policy that allows this script only in %s", head)
		}
		page = strings.Replace(page, own, "", 1)
		page = regexp.MustCompile(`data-gppl="[^"]*"`).ReplaceAllString(page, "") // compressed
		if strings.Contains(page, "<script") || !strings.Contains(page, html.EscapeString(script)) {
			t.Error("the name of the series is not escaped")
		}
		if bad := regexp.MustCompile(`NaN|[+−-]?Inf\b|%!|https?://[^w]`).FindString(page); bad != "" {
			t.Errorf("the page has %q", bad)
		}
		figures, captions := strings.Count(page, "<figure"), strings.Count(page, "<figcaption")
		if figures < 7 || captions != figures { // forecast, series, three of residuals, spectrum, components; the others if there is time
			t.Errorf("%d figures, %d captions, want 7 at least", figures, captions)
		}
		for _, want := range []string{"Does the model capture the periodicities?", "prefers-color-scheme:dark", "BIC above the best",
			"For specialists", "fits"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is not on the page", want)
			}
		}
	})
	t.Run("live", func(t *testing.T) {
		program := &viz.Program{Worker: "worker", Packed: "program"}
		var b strings.Builder
		if err := HTML(context.Background(), &b, a, f, nil, Live{Program: program}, dataset.Setting.String); err != nil {
			t.Fatal(err)
		}
		page := html.UnescapeString(b.String())
		if n := strings.Count(page, "<figure data-live="); n != 1 {
			t.Errorf("%d live figures", n)
		}
		for _, want := range []string{"'wasm-unsafe-eval'; worker-src blob:", `id="gppl-worker">worker<`, `id="gppl-program">program<`,
			"What if?"} {
			if strings.Count(page, want) != 1 {
				t.Errorf("%q is not on the page once", want)
			}
		}
		a, err := forecast.Fit(t.Context(), a.Series, forecast.Options{
			Kernels: []string{"SE + Periodic"}, Trend: "linear", Log: "never"}.WithEffort(search.Efforts[2]))
		if err != nil {
			t.Fatal(err)
		}
		f, err := a.Forecast(t.Context(), 12)
		if err != nil {
			t.Fatal(err)
		}
		_, again, err := tryFigure(t.Context(), a, f)
		if err != nil {
			t.Fatal(err)
		}
		// One model makes the forecast: what its figure publishes is what the tables of the page say.
		got, last := again.Figure.Fitted.Published, len(f.X)-1
		for _, pair := range [][2]float64{{got.NLL, a.Result.Value + a.Result.LogPrior}, {got.Middle, f.Median[last]},
			{got.Lower, f.Lower[last]}, {got.Upper, f.Upper[last]}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*math.Abs(pair[1]) {
				t.Errorf("the figure publishes %.12g, the page says %.12g", pair[0], pair[1])
			}
		}
		if names := again.Controls[0].Labels; len(names) != 4 || names[1] != "Matern52 + Periodic, not learnt" {
			t.Errorf("kernels %q", names)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := HTML(ctx, &strings.Builder{}, a, f, nil, Live{}, dataset.Setting.String); err == nil {
			t.Error("a report was made after it was cancelled")
		}
	})
	t.Run("text", func(t *testing.T) {
		r, err := judge.CheckResiduals(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Text(&b, a, f, r, nil, []string{"out.html"}, dataset.Setting.String); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"96 observations", "SE + Periodic", "2023-12", "written: out.html", "m²"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
		text, err := json.Marshal(Describe(a, f, r, nil, dataset.Setting.String))
		if err != nil || !json.Valid(text) {
			t.Error(err)
		}
	})
	t.Run("units", func(t *testing.T) {
		changed, result := *a, *a.Result
		changed.Result = &result
		place := gppl.FittedParam{Param: gppl.Param{Name: "location", Role: gppl.RoleLocation, Unit: "x", Value: 2018.5,
			Transform: transform.Free{}}}
		result.Params = append(slices.Clone(result.Params), place)
		var got []ParameterJSON
		for _, p := range Describe(&changed, nil, nil, nil, dataset.Setting.String).Parameters {
			switch {
			case p.Name == "noise variance" && math.Abs(p.InUnits/a.Scaling.Variance(p.Value)-1) < 1e-12 && p.StdErr > 0 &&
				p.Unit == "m²",
				p.Name == "location" && p.InUnits == 2018.5 && p.Unit == "year":
				got = append(got, p)
			}
		}
		if len(got) != 2 {
			t.Errorf("%+v", got)
		}
		if rows := Parameters(&changed).Rows; rows[len(rows)-1][1] != "2018-07" {
			t.Errorf("%v", rows)
		}
	})
	t.Run("noise", func(t *testing.T) {
		fig, err := WithNoise(t.Context(), a, 10*a.Result.Model.Noise, 12)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(fig.Title, "NLL +") {
			t.Errorf("ten times the noise costs nothing: %q", fig.Title)
		}
	})
}

// TestDecimals wants a forecast with as many digits as it deserves.
// TestWeeks: figures of weekly series name the weeks, by the day on which they begin, and others do not.
func TestWeeks(t *testing.T) {
	sunday := time.Date(2023, 3, 5, 0, 0, 0, 0, time.UTC)
	day := func(i int) string { return sunday.AddDate(0, 0, i).Format(time.DateOnly) }
	for name, c := range map[string]struct {
		date func(i int) string
		want string
	}{
		"weeks":    {func(i int) string { return day(7 * i) }, `"week":0`},
		"numbered": {func(i int) string { return fmt.Sprintf("2023-W%02d", i+1) }, `"week":1`},
		"days":     {day, ""},
		"months":   {func(i int) string { return fmt.Sprintf("2023-%02d", i+1) }, ""},
	} {
		var b strings.Builder
		b.WriteString("date,y\n")
		for i := range 12 {
			fmt.Fprintf(&b, "%s,%d\n", c.date(i), i*i)
		}
		path := filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := series.Read(t.Context(), path, series.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(calendar(s))
		if err != nil || strings.Contains(string(got), `"week":`) != (c.want != "") || !strings.Contains(string(got), c.want) {
			t.Errorf("%s: %s, %v, want %q", name, got, err, c.want)
		}
	}
}

// TestBoundedComponents: the terms of a model between bounds add up to the log odds.
func TestBoundedComponents(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		v := float64(i)
		x[i], y[i] = v, 0.5+0.3*math.Sin(v/4)+0.05*math.Sin(37*v*v)
	}
	s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Bound(0, 1); err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(t.Context(), s, forecast.Options{Kernels: []string{"SE + Laplace"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Forecast(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	fig, err := Components(t.Context(), a, f)
	if err != nil {
		t.Fatal(err)
	}
	page, err := fig.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "(log odds)") || strings.Contains(string(page), "log y") {
		t.Error("the terms are not said to be of the log odds")
	}
}

// TestRecent: a figure shows the latest observations, twice as many as the steps ahead, and at least 24.
func TestRecent(t *testing.T) {
	for _, c := range []struct{ n, ahead, want int }{
		{20, 4, 20}, {50, 4, 24}, {1000, 4, 24}, {1000, 20, 41}, {5000, 1000, 2001}, {400, 300, 400},
	} {
		s := &series.Series{X: timeline.Steps(c.n)}
		f := &forecast.Forecast{X: timeline.Steps(c.n + c.ahead)[c.n:]}
		if got := c.n - recent(s, f); got != c.want {
			t.Errorf("%d ahead of %d: %d observations are drawn, want %d", c.ahead, c.n, got, c.want)
		}
	}
}

// TestLeaveOut: at closed times neither the median nor a band is drawn.
func TestLeaveOut(t *testing.T) {
	p := viz.Prediction{X: []float64{1, 2, 3}, Mean: []float64{4, 5, 6}, Lower: []float64{1, 2, 3}, Upper: []float64{7, 8, 9}}
	leaveOut(&p, func(x float64) bool { return x == 2 })
	for _, c := range [][]float64{p.Mean, p.Lower, p.Upper} {
		if !math.IsNaN(c[1]) || math.IsNaN(c[0]) || math.IsNaN(c[2]) {
			t.Errorf("%v", c)
		}
	}
	if p.X[1] != 2 || p.NoisyVar != nil {
		t.Errorf("%+v", p)
	}
}

// TestTermNames: terms have descriptive names, and numbers if the names are alike.
func TestTermNames(t *testing.T) {
	got := termNames([]forecast.Component{{Name: "trend", About: "constant"}, {Name: "LocPer", About: "week"}, {Name: "SE"},
		{Name: "LocPer", About: "year"}, {Name: "LocPer", About: "week"}, {Name: "SHO", About: "season of 10 days"},
		{Name: "Matern32", About: "over 3 days"}})
	if want := []string{"level", "weekly pattern 1", "SE", "yearly pattern", "weekly pattern 2", "pattern of 10 days",
		"change over 3 days"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFailed: a sentence below the table says why a step failed.
func TestFailed(t *testing.T) {
	table := &viz.Table{}
	addFailed(table, search.Candidate{Kernel: "SE", Error: "gppl: too long"})
	addFailed(table, search.Candidate{Kernel: "SE", Status: search.LeftOut, Error: "it is too slow"})
	status := []any{table.Rows[0][6], table.Rows[1][6]}
	if got := strings.Join(table.Notes, " "); got != "SE could not be trained: too long. SE was left out: it is too slow." ||
		!slices.Equal(status, []any{"failed", "left out"}) {
		t.Errorf("%s, %v", got, status)
	}
}

func TestDigits(t *testing.T) {
	for _, test := range []struct {
		mean, sd float64
		want     string
	}{
		{1, 3, "1.0"}, {-1, 0.4, "−1.00"}, {1234, 250, "1230"}, {1, 1e-4, "1.00000"}, {1, 0, "1.000000"},
		{3615764498, 6e8, "3620000000"}, {-2, 70, "−2"}, {-2, 7000, "0"},
		{1000, 1e-12, "1000.000000000000"}, {1e15 + 868, 30, "1000000000000868"},
		{3.14159265e-20, 1e-22, "3.142e-20"}, {3.68e-8, 1.1e-10, "3.680e-8"}, {1e-7, 2, "0.0"}, {-2.5e130, 3e127, "−2.5000e130"},
		{3.157e14, 1e10, "315700000000000"},
	} {
		f := &forecast.Forecast{Median: []float64{test.mean}, NoisyVar: []float64{test.sd * test.sd}}
		if got := digits(f)(test.mean); got != test.want {
			t.Errorf("%v with a standard deviation of %v is written %s, want %s", test.mean, test.sd, got, test.want)
		}
	}
}

// TestBrief: times are written without the zone and, if all are whole minutes, without seconds; other texts do not change.
func TestBrief(t *testing.T) {
	for _, c := range []struct{ cells, want []string }{
		{[]string{"2025-06-12T23:06:00Z", "2025-06-12T23:07:00Z", "2025-06-12", "…"},
			[]string{"2025-06-12 23:06", "2025-06-12 23:07", "2025-06-12", "…"}},
		{[]string{"2025-06-12T23:06:00Z", "2025-06-12T23:06:01Z", "2025-06-12"},
			[]string{"2025-06-12 23:06:00", "2025-06-12 23:06:01", "2025-06-12"}},
	} {
		table := viz.Table{}
		for _, cell := range c.cells {
			table.Rows = append(table.Rows, []any{cell, nil})
		}
		for i, row := range brief(&table).Rows {
			if row[0] != c.want[i] {
				t.Errorf("row %d of %q has %v, want %q", i, c.cells, row[0], c.want[i])
			}
		}
	}
}

// TestPageTimes: a page writes a time as 2025-06-12 23:06, in sentences as in tables and figures.
func TestPageTimes(t *testing.T) {
	var b strings.Builder
	b.WriteString("time,y\n")
	for i := range 60 {
		y := math.Sin(float64(i)/3) + 0.1*math.Sin(float64(7*i*i))
		if i == 20 {
			y = 9 // an outlier
		}
		fmt.Fprintf(&b, "2025-06-%02d %02d:00,%.4f\n", 12+i/24, i%24, y)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := series.Read(t.Context(), path, series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"SE"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Forecast(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := HTML(context.Background(), &b, a, f, nil, Live{}, dataset.Setting.String); err != nil {
		t.Fatal(err)
	}
	if at := regexp.MustCompile(`.{0,60}\d\dT\d\d:\d\d.{0,20}`).FindString(b.String()); at != "" {
		t.Errorf("the page has %q", at)
	}
	page := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(b.String(), ""))
	for _, want := range []string{"from 2025-06-12 00:00 to 2025-06-14 11:00", "2025-06-12 20:00 (9", "14 June 2025, 14:00: "} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// TestWithoutFar: an outlier beside which the rest would be a line is left out of the figure and counted; others are in it.
func TestWithoutFar(t *testing.T) {
	y := []float64{1, 2, 1e6, 3, 6}
	lower, upper := []float64{0, 0}, []float64{4, 4}
	for _, c := range []struct {
		outliers []float64
		limits   [2]float64
		beyond   int
	}{
		{nil, [2]float64{}, 0}, {[]float64{6}, [2]float64{}, 0}, {[]float64{1e6}, [2]float64{-0.3, 6.3}, 1},
		{[]float64{1e6, 6}, [2]float64{-0.3, 6.3}, 1},
	} {
		if limits, beyond := withoutFar(c.outliers, y, lower,
			upper); math.Abs(limits[0]-c.limits[0])+math.Abs(limits[1]-c.limits[1]) > 1e-9 || beyond != c.beyond {
			t.Errorf("%v: %v, %d beyond, want %v, %d", c.outliers, limits, beyond, c.limits, c.beyond)
		}
	}
}

// TestWithError: a parameter has as many decimals as its standard error with two digits.
func TestWithError(t *testing.T) {
	for _, c := range []struct {
		value, se float64
		want      string
	}{
		{57.92, 35.24, "58 ± 35"}, {0.00431, 0.001058, "0.0043 ± 0.0011"}, {1.026e-4, 2.048e-5, "0.000103 ± 0.000020"},
		{7.546e16, 5.517e16, "7.5e16 ± 5.5e16"},
		{5.909e-6, 2.72e-6, "5.9e-6 ± 2.7e-6"}, {1, 0, "1 ± <nil>"}, {19800, math.NaN(), "19800 ± <nil>"},
	} {
		value, known := withError(c.value, c.se)
		if got := fmt.Sprintf("%v ± %v", value, known); got != c.want {
			t.Errorf("%v ± %v is written %s, want %s", c.value, c.se, got, c.want)
		}
	}
}

// TestBunched: outliers near each other are counted, single ones are not.
func TestBunched(t *testing.T) {
	var all []forecast.Outlier
	for _, at := range []int{3, 9, 14, 15, 40, 80, 85} {
		all = append(all, forecast.Outlier{Index: at})
	}
	if n := bunched(all); n != 5 {
		t.Errorf("%d of 5", n)
	}
}
