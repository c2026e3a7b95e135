package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestTwoWeeks: structures of ten minutes and of quarters of an hour are compared on two weeks, in the tests of the past too,
// unless many of these are missing.
func TestTwoWeeks(t *testing.T) {
	series := func(step time.Duration, n, gap int) *series.Series {
		var at []time.Time
		for i := range n {
			if gap < 0 || i < gap || i >= gap+40 {
				at = append(at, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i)*step))
			}
		}
		return testseries.Dated(t, at, func(at time.Time) float64 { return float64(at.Weekday()) + float64(at.Minute()%7) })
	}
	for _, c := range []struct {
		step             time.Duration
		n, gap           int
		standard, shorts int
		every            int
	}{
		{15 * time.Minute, 4000, -1, 1344, 1344, 1},
		{15 * time.Minute, 4000, 3900, 400, 250, 7}, // uneven: four weeks are 2688
		{15 * time.Minute, 4000, 100, 1344, 1344, 1},
		{15 * time.Minute, 1200, -1, 800, 500, 1},
		{10 * time.Minute, 4000, -1, 2016, 2016, 1},
		{30 * time.Minute, 4000, -1, 800, 672, 1},
		{time.Hour, 4000, -1, 672, 500, 1},
		{5 * time.Minute, 9000, -1, 1344, 1344, 3},
		{5 * time.Minute, 3000, -1, 800, 576, 1},
		{time.Minute, 4000, -1, 1440, 1440, 2},
		{24 * time.Hour, 1500, -1, 800, 730, 1},
	} {
		s := series(c.step, c.n, c.gap)
		if p := planner(t, s, Options{}).Plan(); !s.NeedsDense() && p.Trained < p.Every*p.Searched || p.Every != c.every {
			t.Errorf("%v: %v", c.step, p)
		}
		if got, every := planner(t, s, Options{}).searchedOn(Efforts[standard]); got != c.standard || every != c.every {
			t.Errorf("%v, %d, gap at %d: structures are compared on %d, one in %d, want %d", c.step, c.n, c.gap, got, every, c.standard)
		}
		if got, _ := planner(t, s, Options{}).searchedOn(Efforts[1]); got != c.shorts {
			t.Errorf("%v, %d, gap at %d: a short search compares on %d, want %d", c.step, c.n, c.gap, got, c.shorts)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, jitter := range []float64{0, 0.5} {
		s := longSeries(t, 20000, jitter)
		plain := planner(t, s, Options{}).Plan()
		if plain.Effort != "standard" || plain.Over || plain.Seconds > 60 {
			t.Errorf("without a budget, jitter %v: %v", jitter, plain)
		}
		var before Plan
		for _, budget := range []time.Duration{time.Millisecond, time.Second, 10 * time.Second, time.Minute, time.Hour} {
			p := planner(t, s, Options{Budget: budget}).Plan()
			if p.Searched < before.Searched || p.Trained < before.Trained || p.Seconds < before.Seconds {
				t.Errorf("%v, jitter %v: %v, after %v for less", budget, jitter, p, before)
			}
			if p.Over != (p.Seconds > budget.Seconds()) || p.Over && p.Effort != "quick" {
				t.Errorf("%v, jitter %v: %v, over: %v", budget, jitter, p, p.Over)
			}
			before = p
		}
		if before.Effort != "widest" {
			t.Errorf("an hour, jitter %v: %v", jitter, before)
		}
	}
}

// TestPlanOfNamedKernels: a named kernel learns from all of a series that the automatic search learns from the latest part of, as
// far as a minute allows, and the shape of RQ may be of any magnitude.
func TestPlanOfNamedKernels(t *testing.T) {
	s := longSeries(t, 3000, 0)
	if p := planner(t, s, Options{}).Plan(); p.Trained != series.DecisiveRows {
		t.Errorf("automatic: %v", p)
	}
	if p := planner(t, s, Options{Kernels: []string{"RQ"}}).Plan(); p.Trained != 3000 || p.Over {
		t.Errorf("RQ: %v", p)
	}
	rq := gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}
	p, ok := priorOf(rq, rq.Params()[2], extent{})
	at := func(alpha float64) float64 { log, _ := withModeAt(p).LogDensity(alpha); return log }
	if !ok || math.Abs(at(0.01)-at(1)) > 3 || math.Abs(at(1)-at(50)) > 3 {
		t.Errorf("the prior of alpha is %v", p)
	}
}

// Each holiday adds to the predicted time: with 28 of them, chicago's ridership takes six times as long.
func TestPlanOfHolidays(t *testing.T) {
	s := longSeries(t, 3000, 0)
	o := Options{NoSeason: true} // x are no dates on which holidays could be taken off
	without := planner(t, s, o).Plan().Seconds
	s.Holidays = &series.Holidays{Country: "US", Names: make([]string, 28), Scale: make([]float64, 28)}
	if with := planner(t, s, o).Plan().Seconds; with < 5*without || with > 8*without {
		t.Errorf("%.1f s with 28 holidays, %.1f s without", with, without)
	}
}

// TestConcurrentCandidates: a search on several processors finds what one finds that trains one candidate after the other.
func TestConcurrentCandidates(t *testing.T) {
	s := longSeries(t, 100, 0.5)
	search := func(processors int) (found []string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		p, err := searchPolicy(t.Context(), s, Options{Log: "never", effort: &Efforts[0]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.trials {
			found = append(found, fmt.Sprint(c.Name(), c.score, c.Rough, c.Evaluations, c.model.Values()))
		}
		return append(found, fmt.Sprint(p.scoreLimit, p.spent))
	}
	one, four := search(1), search(4)
	if len(one) < 8 {
		t.Fatalf("candidates: %q", one)
	}
	if diff := cmp.Diff(one, four); diff != "" {
		t.Errorf("on several processors: %s", diff)
	}
}

// TestSlowRhythmOfLongSeries: a rhythm longer than the observations on which structures are compared, beside stronger red noise,
// is found in all observations of a long uneven series, by a term whose cost is linear in their number; without the rhythm no
// period is found.
func TestSlowRhythmOfLongSeries(t *testing.T) {
	t.Parallel()
	for _, amplitude := range []float64{0, 1.5} {
		rnd := rand.New(rand.NewPCG(5, 2))
		const n, span, rhythm = 4000, 300.0, 11.3
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = span * rnd.Float64()
		}
		slices.Sort(x)
		level := 0.0
		for i := range x {
			if i > 0 {
				keep := math.Exp(-(x[i] - x[i-1]) / 8)
				level = keep*level + math.Sqrt(1-keep*keep)*rnd.NormFloat64()
			}
			y[i] = 2*level + amplitude*math.Sin(2*math.Pi*x[i]/rhythm) + 0.5*rnd.NormFloat64()
		}
		s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Find(t.Context(), s, Options{Log: "never", Trend: "none", effort: &Effort{"", 150, 2, 400, 400, 0, 3, 60, false, 0}})
		if err != nil {
			t.Fatal(err)
		}
		periods := series.PeriodsOf(a.Result.Model.Kernel.Params())
		switch {
		case amplitude == 0 && len(periods) > 0:
			t.Errorf("noise has the periods %v: %s", periods, a.Candidates[0].Name())
		case amplitude > 0 && (len(periods) != 1 || math.Abs(periods[0]-rhythm) > 0.2):
			t.Errorf("%s has the periods %v, want %v", a.Candidates[0].Name(), periods, rhythm)
		case amplitude > 0 && a.Trained < n:
			t.Errorf("%s learnt from %d observations of %d", a.Candidates[0].Name(), a.Trained, n)
		}
	}
}

// TestDearCandidateIsLeftOut: a candidate too slow for the observations that the best takes does not hold the best back, and the
// list says so.
func TestDearCandidateIsLeftOut(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range uint64(testkit.Size(3, 3, 8)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		x, y := make([]float64, 6000), make([]float64, 6000)
		at, level := 0.0, 0.0
		for i := range x {
			step := rnd.ExpFloat64()
			decay := math.Exp(-step / 20)
			at, level = at+step, decay*level+math.Sqrt(1-decay*decay)*rnd.NormFloat64()
			x[i], y[i] = at, level+0.3*math.Sin(at/3)+0.2*rnd.NormFloat64()
		}
		s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Find(context.Background(), s, Options{effort: &Effort{"", 150, 3, 400, 400, 0, 2, 40, false, 0}, Log: "never"})
		if err != nil {
			t.Fatal(err)
		}
		if a.Trained != len(x) {
			t.Errorf("series %d: %s was learnt from %d observations", seed, a.Candidates[0].Name(), a.Trained)
		}
		for _, c := range a.Candidates {
			if strings.HasPrefix(c.Error, "it is too slow for 6000 observations, and was ") {
				left++
			}
		}
	}
	if left == 0 {
		t.Error("no candidate was left out")
	}
}

// TestAtOnce: a limit of memory lets fewer models be learnt at once, and long series one.
func TestAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	s := longSeries(t, 1000, 0)
	for _, c := range []struct {
		memory float64
		n      int
		want   int
	}{
		{0, 1000, 4}, {0, 10_001, 1}, {s.MemoryBytes() + 2.5*DenseBytes(1000), 1000, 2}, {s.MemoryBytes(), 1000, 1},
		{s.MemoryBytes() + 9*DenseBytes(1000), 1000, 4},
	} {
		if got := (Options{Memory: c.memory}).AtOnce(s, c.n); got != c.want {
			t.Errorf("%d observations in %.3g bytes: %d at once, want %d", c.n, c.memory, got, c.want)
		}
	}
}

// TestUnevenSeason: structures of a long uneven series are compared on four of a season that is clear in it, in tests of the past
// too, which learn it; on its latest observations if there is none.
func TestUnevenSeason(t *testing.T) {
	const n, period, noise = 1400, 150.0, 0.3
	data := func(amplitude float64) *series.Series {
		rng := rand.New(rand.NewPCG(7, 7))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			if i > 0 {
				x[i] = x[i-1] + rng.ExpFloat64()
			}
			y[i] = amplitude*math.Sin(2*math.Pi*x[i]/period) + noise*rng.NormFloat64()
		}
		s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if most, every := planner(t, data(0), Options{}).searchedOn(Efforts[1]); most != Efforts[1].searched || every != 1 {
		t.Errorf("of noise, structures are compared on %d, one in %d", most, every)
	}
	s := data(2)
	for _, e := range Efforts[1:3] {
		most, every := planner(t, s, Options{}).searchedOn(e)
		if span := s.X[n-1] - s.X[n-most*every]; most != e.searched || span < 4*period || every > 3 {
			t.Errorf("%s: structures are compared on %d, one in %d, which span %.0f", e.Name, most, every, span)
		}
		if most, every := planner(t, s, Options{NoSeason: true}).searchedOn(e); most != e.searched || every != 1 {
			t.Errorf("%s, without seasons: structures are compared on %d, one in %d", e.Name, most, every)
		}
	}
	at := Efforts[1]
	at.scouts, at.finalists = true, 1
	known := *s
	known.Errors = make([]float64, n)
	for i := range known.Errors {
		known.Errors[i] = noise * (0.5 + float64(i%3)/2)
	}
	thin := known.Thinned(n-500, 2)
	if len(thin.X) != 250 || !slices.Equal(thin.Errors[247:], []float64{known.Errors[n-5], known.Errors[n-3], known.Errors[n-1]}) {
		t.Errorf("of 500 known errors, one in 2 leaves %d observations with %v at last", len(thin.X), thin.Errors[247:])
	}
	for _, s := range []*series.Series{s, &known} {
		a := testkit.Must(Find(t.Context(), s, Options{Log: "never", Trend: "none", effort: &at, origin: true}))(t)
		if !slices.ContainsFunc(series.PeriodsOf(a.Result.Model.Params()), func(p float64) bool { return math.Abs(p/period-1) < 0.03 }) {
			t.Errorf("a short search finds %s", a.Candidates[0].Name())
		}
	}
}
