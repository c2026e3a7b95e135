package show

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

// TestForecastLive verifies a forecast with the program that a page carries: the program computes the published numbers.
func TestForecastLive(t *testing.T) {
	s, err := SplitAt(dataset.CO2(), 1996, 16)
	if err != nil {
		t.Fatal(err)
	}
	cycle := gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1}
	trend := gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, s.Data.X))
	f, err := s.Forecast("trend", gppl.Model{Mean: trend, Kernel: gppl.Add(cycle, gppl.Matern32{Variance: 0.01, Lengthscale: 1}),
		Noise: 0.001})
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.live(1988)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	var sent struct {
		Figure json.RawMessage `json:"figure"`
	}
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	var session live.Session
	if a := session.Answer(sent.Figure); string(a) != "{}" {
		t.Fatalf("the page sends its figure: %s", a)
	}
	a := string(session.Answer([]byte(`{"verify": true}`)))
	if n := strings.Count(a, `"agrees":true`); n != 6 || strings.Contains(a, `"agrees":false`) {
		t.Errorf("verified: %s", a)
	}
	// The layers have the kinds and names of the figure's layers.
	fig, err := f.Figure("CO₂", 1988)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := fig.LiveHTML(again); err != nil || !strings.HasPrefix(string(h), `<figure data-live="H4sI`) {
		t.Errorf("the figure in a page begins %.60s, %v", h, err)
	}
}

// TestExcess draws the layers that the program returns.
func TestExcess(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}
	x := gppl.Scalars(line(120).X)
	draw, err := m.Sample(t.Context(), x, 1, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	d, err := gppl.NewData(x, y)
	if err != nil {
		t.Fatal(err)
	}
	f, again, err := excess("title", m, d, "s")
	if err != nil {
		t.Fatal(err)
	}
	if e := again.Figure.Excess; e.At != 48 || e.Published.Exact == 0 {
		t.Errorf("published at k = %d: %+v", e.At, e.Published)
	}
	if h, err := f.LiveHTML(again); err != nil || !strings.Contains(string(h), "In words") {
		t.Errorf("%v: %.80s", err, h)
	}
	if err := Excess("title", m, d, "s"); err != nil {
		t.Error(err)
	}
}

func TestLost(t *testing.T) {
	f, again, err := lost("title", gppl.Model{Kernel: gppl.SE{Variance: 5, Lengthscale: 10}, Noise: 0.1}, line(60).X, "s")
	if err != nil {
		t.Fatal(err)
	}
	if l := again.Figure.Lost; l.At != 12 || !(l.Published > 0) || !strings.Contains(f.Caption, "60 observations") {
		t.Errorf("published at k = %d: %g, %q", l.At, l.Published, f.Caption)
	}
	if err := Lost("title", gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 0.1}, line(60).X, "s"); err == nil {
		t.Error("a kernel without a lengthscale is no error")
	}
}

func TestKept(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 5, Lengthscale: 10}, Noise: 0.1}
	f, again, err := kept("title", m, line(60).X, "s")
	if err != nil {
		t.Fatal(err)
	}
	if e := again.Figure.Kept; e.At != 8 || len(e.Published) != 5 || !strings.Contains(f.Caption, "60 observations") {
		t.Errorf("published at k = %d: %g, %q", e.At, e.Published, f.Caption)
	}
	if err := Kept("title", m, line(60).X, "s"); err != nil {
		t.Error(err)
	}
	if err := Kept("title", gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 0.1}, line(60).X, "s"); err == nil {
		t.Error("a kernel without a lengthscale is no error")
	}
}
