package forecast

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestEvents: daily sales with a week and an event, seeds 1, 3, 5 and 7: the effect is learnt, forecasts are as before the event,
// and have the effect when it comes again; a model that is saved and read has it too.
func TestEvents(t *testing.T) {
	const n, steps, effect, noise = 300, 42, -40.0, 6.0
	from := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	sales := func(d time.Time) float64 { return 150 + 25*math.Cos(2*math.Pi*float64(d.Weekday())/7) }
	again := func(i int) bool { return i >= n+20 && i < n+30 }
	var days []time.Time
	for i := range n {
		days = append(days, from.AddDate(0, 0, i))
	}
	for _, seed := range []uint64{1, 3, 5, 7}[:testkit.Size(1, 4, 4)] {
		r := rand.New(rand.NewPCG(seed, 68))
		s := testseries.Dated(t, days, func(d time.Time) float64 {
			y := sales(d) + noise*r.NormFloat64()
			if i := int(d.Sub(from).Hours() / 24); i >= 180 && i < 240 {
				y += effect
			}
			return y
		})
		date := func(i int) string { return from.AddDate(0, 0, i).Format("2006-01-02") }
		events := testkit.Must(s.Axis.ParseEvents([]string{
			"strike=" + date(180) + ".." + date(239), "strike=" + date(n+20) + ".." + date(n+29),
		}))(t)
		s = testkit.Must(s.WithEvents(events))(t)
		a := testkit.Must(Fit(t.Context(), s, Options{Log: "never"}))(t)
		effects := testkit.Must(a.Effects(t.Context()))(t)
		if len(effects) != 1 || effects[0].Name != "strike" || math.Abs(effects[0].Value-effect) > max(4, 3*effects[0].StdErr) {
			t.Fatalf("seed %d: %+v, want one of %v", seed, effects, effect)
		}
		f := testkit.Must(a.Forecast(t.Context(), steps))(t)
		for i, v := range f.Median {
			want := sales(from.AddDate(0, 0, n+i))
			if again(n + i) {
				want += effect
			}
			if math.Abs(v-want) > 1.5*noise {
				t.Errorf("seed %d, %s: %.1f, want %.1f", seed, f.When[i], v, want)
			}
		}
		path := filepath.Join(t.TempDir(), "model.json")
		if err := a.Save(path); err != nil {
			t.Fatal(err)
		}
		g := testkit.Must(testkit.Must(Load(path))(t).Forecast(t.Context(), steps))(t)
		if diff := cmp.Diff(f.Median, g.Median); diff != "" {
			t.Error(diff)
		}
		if d := testkit.Must(a.Decompose(t.Context(), steps))(t); !slices.Contains(d.Names, "strike") {
			t.Errorf("seed %d: the parts are %q", seed, d.Names)
		}
		before := testkit.Must(s.KnownIn(0, 150))(t)
		if before.Events != nil {
			t.Errorf("before the event a series has %+v", before.Events)
		}
	}
}

// TestEventInExactSeason: a week that repeats itself exactly is found beside the effect of an event, which takes a wild value out
// of the noise.
func TestEventInExactSeason(t *testing.T) {
	for seed := range uint64(3) {
		const n, odd = 60, 33
		r := rand.New(rand.NewPCG(1516, seed))
		var week [7]float64
		for i := range week {
			week[i] = 50 + 450*r.Float64()
		}
		s := testseries.Steps(t, n, 0, func(i int) float64 {
			if i == odd {
				return 3000
			}
			return week[i%7]
		})
		s = testkit.Must(s.WithEvents([]series.Event{{Name: "odd", Spans: [][2]float64{{odd, odd}}}}))(t)
		a := testkit.Must(Fit(t.Context(), s, Options{Periods: []float64{7}}))(t)
		f := testkit.Must(a.Forecast(t.Context(), 7))(t)
		for i, median := range f.Median {
			if want := week[(n+i)%7]; !(math.Abs(median-want) < 20) || !(f.Upper[i]-f.Lower[i] < 100) {
				t.Errorf("%s: step %d is %.4g, %.4g to %.4g, want %.4g", a.Name(), i+1, median, f.Lower[i], f.Upper[i], want)
			}
		}
	}
}
