package show

import (
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func line(n int) dataset.Series {
	s := dataset.Series{Name: "line", XName: "time", XUnit: "year", YName: "level", YUnit: "m"}
	for i := range n {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 10+2*float64(i)+0.1*math.Sin(7*float64(i)))
	}
	return s
}

func TestSplitAt(t *testing.T) {
	s, err := SplitAt(line(20), 12, 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Train.Len() != 4 || s.Train.X[3] != 9 || s.Held.Len() != 8 || s.Held.X[0] != 12 {
		t.Errorf("trained on %v, held out %v", s.Train.X, s.Held.X)
	}
	if y := s.Scaling.Value(s.Data.Y[2]); math.Abs(y-s.Train.Y[2]) > 1e-12 {
		t.Errorf("scaled back %g, want %g", y, s.Train.Y[2])
	}
	for _, x := range []float64{-1, 20} {
		if _, err := SplitAt(line(20), x, 1); err == nil || !strings.Contains(err.Error(), "want some of both") {
			t.Errorf("cut at %g: %v", x, err)
		}
	}
}

// TestForecast trains a line and its trend: the forecast is the line, and the scores belong to the forecast's band.
func TestForecast(t *testing.T) {
	s, err := SplitAt(line(40), 30, 1)
	if err != nil {
		t.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.SE{Variance: 0.01, Lengthscale: 2}, Noise: 0.01,
		Mean: gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, s.Data.X))}
	loss, err := gppl.NewExact(t.Context(), model, s.Data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Train("training", loss, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Forecast("a line", r.Model)
	if err != nil {
		t.Fatal(err)
	}
	if f.N != 10 || f.RMSE > 0.15 || f.Coverage < 0.8 || f.Unit != "m" {
		t.Errorf("of a line: %+v", f)
	}
	posterior, err := gppl.NewPosterior(t.Context(), r.Model, s.Data)
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := testkit.Must2(posterior.Noisy(t.Context(), gppl.Scalars(s.Held.X)))(t)
	mean, variance = s.Scaling.Values(nil, mean), s.Scaling.Variances(nil, variance)
	inside, squares := 0.0, 0.0
	for i, y := range s.Held.Y {
		e := y - mean[i]
		squares += e * e
		if math.Abs(e) <= 1.959963984540054*math.Sqrt(variance[i]) {
			inside++
		}
	}
	if math.Abs(f.Coverage-inside/10) > 1e-12 || math.Abs(f.RMSE-math.Sqrt(squares/10)) > 1e-9 {
		t.Errorf("coverage %g and RMSE %g, by hand %g and %g", f.Coverage, f.RMSE, inside/10, math.Sqrt(squares/10))
	}

	zero, err := s.Forecast("zero mean", gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	if zero.RMSE < 5*f.RMSE {
		t.Errorf("a mean of zero forecasts a line with RMSE %g, a trend with %g", zero.RMSE, f.RMSE)
	}
	table := Scores(f, zero)
	if len(table.Rows) != 2 || table.Columns[3].Unit != "m" {
		t.Errorf("scores: %v", table)
	}
	figure, err := f.Figure("A line", 20)
	if err != nil {
		t.Fatal(err)
	}
	if html, err := figure.HTML(); err != nil || !strings.Contains(string(html), "of the 10 held-out observations") {
		t.Errorf("the caption does not count: %v", err)
	}
}

// TestForecastFar checks that there is no forecast and no score if a distance has lost the digits that a kernel needs.
func TestForecastFar(t *testing.T) {
	far := line(20)
	far.X[19] = 1e300
	s, err := SplitAt(far, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := s.Forecast("far", gppl.Model{Kernel: gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 7},
		Noise: 0.1}); err == nil {
		t.Errorf("%v", f)
	}
}

func TestParameters(t *testing.T) {
	s, err := SplitAt(line(20), 15, 1)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}.Fix("lengthscale"), s.Data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Train("training", loss, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if text := Parameters(r, "", "").String(); strings.Contains(text, "()") || !strings.Contains(text, "y²") {
		t.Errorf("without units:\n%s", text)
	}
	text := Parameters(r, "years", "m").String()
	for _, want := range []string{"variance", "(m)²", "lengthscale", "years", "–"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
