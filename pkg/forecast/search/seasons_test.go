package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// rough draws a season whose steps have independent random means, about a level of 50, with noise of 1 and a season of root mean
// square 5. The level walks at random if walk, the size of its steps, is not 0.
func rough(seed uint64, n, period int, walk float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 65))
	shape := make([]float64, period)
	var mean, square float64
	for i := range shape {
		shape[i] = r.NormFloat64()
		mean += shape[i] / float64(period)
	}
	for i := range shape {
		shape[i] -= mean
		square += shape[i] * shape[i] / float64(period)
	}
	y, level := make([]float64, n), 50.0
	for i := range y {
		level += walk * r.NormFloat64()
		y[i] = level + 5*shape[i%period]/math.Sqrt(square) + r.NormFloat64()
	}
	return y
}

func evenSeries(t *testing.T, axis series.Axis, first, step float64, y []float64) *series.Series {
	t.Helper()
	s, err := series.NewSeries(axis, line(first, step, len(y)), y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRoughSeasons: a season whose steps have independent means is found, on an axis of dates and of numbers, about a level and
// on a walk, also one that goes much further than the season. Two peaks of a periodogram do not show it; seasonal means do. A period of a whole number of steps is found exactly.
func TestRoughSeasons(t *testing.T) {
	days := series.Axis{Name: "day", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, c := range []struct {
		period, cycles int
		axis           series.Axis
		step, walk     float64
	}{
		{10, 12, days, 1, 0}, {10, 12, days, 1, 0.5}, {12, 6, series.Axis{Name: "t"}, 1, 0}, {24, 6, series.Axis{Name: "t"}, 0.25, 0},
		{13, 12, days, 1.0 / 24, 0}, {52, 4, series.Axis{Name: "t"}, 1, 0}, {9, 8, series.Axis{Name: "t"}, 30, 0.5}, {24, 13, series.Axis{Name: "t"}, 1, 2},
	} {
		found := 0
		const draws = 10
		for seed := range uint64(draws) {
			s := evenSeries(t, c.axis, 0, c.step, rough(seed, c.period*c.cycles, c.period, c.walk))
			all := planner(t, s, Options{}).seasons
			want := float64(c.period) * s.Step
			if len(all) > 0 && all[0].fixed && all[0].shown && math.Abs(all[0].period-want) < 1e-9*want {
				found++
			}
		}
		if found < draws-1 {
			t.Errorf("a season of %d steps of %v, on a walk of %v: found in %d of %d", c.period, c.step, c.walk, found, draws)
		}
	}
}

// TestRoughSeasonsLearnt: the best model has the rough season, whether it is found or given, and its noise is the noise of the
// draws, 0.2 of the season. Training from a smooth shape would take one of the 30 seasons for noise.
func TestRoughSeasonsLearnt(t *testing.T) {
	for seed := range uint64(30) {
		s := evenSeries(t, series.Axis{Name: "t"}, 0, 1, rough(100+seed, 6*24, 24, 0))
		for name, o := range map[string]Options{"found": {Trend: "none"}, "given": {Trend: "none", Periods: []float64{24}}} {
			found := testkit.Must(Find(t.Context(), s, o.WithEffort(Efforts[0])))(t)
			if noise := found.Result.Model.Noise; len(found.Candidates[0].Seasons) != 1 || noise > 0.15 {
				t.Errorf("seed %d, %s: %s with a noise variance of %.2f of the whole", seed, name, found.Candidates[0].Name(), noise)
			}
		}
	}
}

// TestShownBesideTheCalendar: a season that the series shows joins the calendar's, the clearer one first; the calendar's own
// is not taken for another.
func TestShownBesideTheCalendar(t *testing.T) {
	days := series.Axis{Name: "day", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	rota, week, nines := rough(1, 200, 10, 0), rough(2, 200, 7, 0), rough(3, 200, 9, 0)
	both, nine := make([]float64, 200), make([]float64, 200) // the second repeats itself after 63 days
	for i := range both {
		both[i] = rota[i] + 2*week[i]
		nine[i] = 2*nines[i] + week[i]
	}
	for name, c := range map[string]struct {
		y     []float64
		want  []float64
		shown int // place of the shown one
	}{
		"rota":          {rota, []float64{10, 7, 365.2425}, 0},
		"week":          {week, []float64{7, 365.2425}, -1},
		"rota and week": {both, []float64{7, 365.2425, 10}, 2},
		"nine and week": {nine, []float64{9, 7, 365.2425}, 0},
	} {
		s := evenSeries(t, days, 0, 1, c.y)
		all := planner(t, s, Options{}).seasons
		for i, s := range all {
			if len(all) != len(c.want) || math.Abs(s.period-c.want[i]) > 1e-9 || s.shown != (i == c.shown) {
				t.Fatalf("%s: the seasons are %+v, want %v", name, all, c.want)
			}
		}
	}
}

// TestOpeningHours: the hours from 7 to 17 look the same in 12 hours as in a day, which is what the calendar has.
func TestOpeningHours(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 65))
	hours := series.Axis{Name: "when", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Clock: true}
	var x, y []float64
	for day := range 40 {
		for hour := 7; hour <= 17; hour++ {
			x = append(x, float64(day)+float64(hour)/24)
			y = append(y, 100+10*float64(hour*hour%7)+r.NormFloat64())
		}
	}
	s, err := series.NewSeries(hours, x, y)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range planner(t, s, Options{}).seasons {
		if c.shown {
			t.Errorf("a season of %v days is shown beside the day and the week", c.period)
		}
	}
}

// TestTide: a smooth tide of 12.42 hours in ten-minute data is found beside the calendar's day and week. A week has 13.53 tides, and
// its nearest fractions, a thirteenth and a fourteenth, are most of a cycle apart from a tide after twelve days.
func TestTide(t *testing.T) {
	days := series.Axis{Name: "when", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Clock: true}
	const tide = 12.42 / 24
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 69))
		y := make([]float64, 12*144)
		for i := range y {
			y[i] = 3 + 1.5*math.Sin(2*math.Pi*float64(i)/144/tide) + 0.15*r.NormFloat64()
		}
		var shown []float64
		for _, c := range planner(t, evenSeries(t, days, 0, 1.0/144, y), Options{}).seasons {
			if c.shown {
				shown = append(shown, c.period)
			}
		}
		if len(shown) != 1 || math.Abs(shown[0]/tide-1) > 0.002 {
			t.Errorf("seed %d: beside the calendar's it shows %v days, want %v", seed, shown, tide)
		}
	}
}

// TestTides: the periods of two or three tides are found and no others, in rows of an hour and of ten minutes, with dates and
// without. A wave of 12 hours is not the calendar's day; a daily pattern beside a tide is, and is not faint.
func TestTides(t *testing.T) {
	const m2, s2, o1 = 12.4206, 12, 25.8193
	daily := func(hour float64) float64 { return 0.3 * math.Exp(2*math.Cos(2*math.Pi*(hour-9)/24)) / 3 }
	for name, c := range map[string]struct {
		tides []float64
		days  int
		rows  int // in an hour
		noise float64
		day   bool
	}{
		"three, hourly":           {[]float64{m2, s2, o1}, 30, 1, 0.01, false},
		"three, noisy":            {[]float64{m2, s2, o1}, 60, 1, 0.1, false},
		"two, ten minutes":        {[]float64{m2, s2}, 30, 6, 0.05, false},
		"two, long":               {[]float64{m2, s2}, 120, 1, 0.03, false},
		"one and a daily pattern": {[]float64{m2}, 45, 6, 0.01, true},
	} {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 80))
			y := make([]float64, c.days*24*c.rows)
			phases := []float64{6 * r.Float64(), 6 * r.Float64(), 6 * r.Float64()}
			for i := range y {
				hour := float64(i) / float64(c.rows)
				y[i] = 3 + c.noise*r.NormFloat64()
				for k, period := range c.tides {
					y[i] += []float64{1, 0.3, 0.2}[k] * math.Sin(2*math.Pi*hour/period+phases[k])
				}
				if c.day {
					y[i] += daily(hour)
				}
			}
			axis, unit := series.Axis{Name: "t"}, 1.0
			if seed%2 == 0 {
				axis = series.Axis{Name: "when", Dates: true, Unit: "day", Clock: true, Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
				unit = 24
			}
			var shown []float64
			for _, s := range planner(t, evenSeries(t, axis, 0, 1/unit/float64(c.rows), y), Options{}).seasons {
				switch period := s.period * unit; {
				case s.shown && !(c.day && math.Abs(period-24) < 0.1):
					shown = append(shown, period)
				case !s.shown && period == 24 && s.faint == c.day:
					t.Errorf("%s, seed %d: the daily pattern is faint: %v", name, seed, s.faint)
				}
			}
			slices.Sort(shown)
			want := slices.Sorted(slices.Values(c.tides))
			if !slices.EqualFunc(shown, want, func(a, b float64) bool { return math.Abs(a/b-1) < 0.001 }) {
				t.Errorf("%s, seed %d: it shows %.4f hours, want %v", name, seed, shown, want)
			}
		}
	}
}

// TestTideWithErrors: a tide of 12.42 steps is found in values with known errors, and no wave in noise with such errors.
func TestTideWithErrors(t *testing.T) {
	const tide, draws, most = 12.42, 40, 1
	false := 0
	for seed := range uint64(2 * draws) {
		r := rand.New(rand.NewPCG(seed, 84))
		y, errs, before := make([]float64, 400), make([]float64, 400), 0.0
		for i := range y {
			errs[i] = 0.2 + 0.6*r.Float64()
			y[i] = 0.5*before + errs[i]*r.NormFloat64()
			before = y[i]
			if seed%2 == 1 {
				w := 2 * math.Pi * float64(i) / tide
				y[i] = 1.5*math.Sin(w) + 0.8*math.Sin(2*w+1) + errs[i]*r.NormFloat64()
			}
		}
		s := evenSeries(t, series.Axis{Name: "t"}, 0, 1, y)
		s.Errors = errs
		switch all := planner(t, s, Options{}).seasons; {
		case seed%2 == 0 && len(all) > 0:
			false++
		case seed%2 == 1 && (len(all) != 1 || math.Abs(all[0].period/tide-1) > 0.002):
			t.Errorf("seed %d: the seasons are %+v, want %v", seed, all, tide)
		}
	}
	if false > most {
		t.Errorf("%d of %d series of noise show a season", false, draws)
	}
}

// TestTidesLearnt: the best model has both of two tides, which the latest 400 hours hardly tell apart, and no daily pattern.
func TestTidesLearnt(t *testing.T) {
	days := series.Axis{Name: "when", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Clock: true}
	r := rand.New(rand.NewPCG(1, 81))
	y := make([]float64, 45*24)
	for i := range y {
		hour := float64(i)
		y[i] = 3 + math.Sin(2*math.Pi*hour/12.4206) + 0.3*math.Sin(2*math.Pi*hour/12+1) + 0.03*r.NormFloat64()
	}
	found := testkit.Must(Find(t.Context(), evenSeries(t, days, 0, 1.0/24, y), Options{}.WithEffort(Efforts[0])))(t)
	periods := series.PeriodsOf(found.Result.Model.Kernel.Params())
	slices.Sort(periods)
	if len(periods) != 2 || math.Abs(24*periods[0]-12) > 0.02 || math.Abs(24*periods[1]-12.4206) > 0.02 {
		t.Errorf("%s has the periods %v days", found.Candidates[0].Name(), periods)
	}
}

// TestSeasonOfParts: shifts of 12.5 hours are found as a season of 25; two seasons, one about a multiple of the other, are told
// apart; and a long wave is found in the whole series.
func TestSeasonOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 65))
	draw := func(n int, f func(x float64) float64) []float64 {
		y := make([]float64, n)
		for i := range y {
			y[i] = f(float64(i)) + 0.3*r.NormFloat64()
		}
		return y
	}
	wave := func(period float64) func(x float64) float64 {
		return func(x float64) float64 { return 2 * math.Sin(2*math.Pi*x/period) }
	}
	for name, c := range map[string]struct {
		y    []float64
		want []float64
	}{
		"shifts":                  {draw(400, func(x float64) float64 { return wave(12.5)(x) + wave(6.25)(x+2) }), []float64{12.5}},
		"a week and a wave of 90": {draw(600, func(x float64) float64 { return wave(7)(x) + wave(90)(x) }), []float64{90, 7}},
		"500 of 5000":             {draw(5000, wave(500)), []float64{500}},
		"1000 of 5000":            {draw(5000, wave(1000)), []float64{1000}},
		"three of 500":            {draw(1500, wave(500)), []float64{500}},
		"2160 of 20000":           {draw(20000, wave(2160)), []float64{2160}},
	} {
		all := planner(t, evenSeries(t, series.Axis{Name: "t"}, 0, 1, c.y), Options{}).seasons
		ok := len(all) >= len(c.want)
		for _, want := range c.want {
			near := false
			for _, s := range all {
				near = near || math.Abs(s.period/want-1) < 0.01
			}
			ok = ok && near
		}
		if !ok {
			t.Errorf("%s: the seasons are %+v, want %v", name, all, c.want)
		}
	}
}

// TestTwoRoughSeasons: rough seasons of 5 steps (or twice as many) and of 12 are found as two, not as one of 60 steps, their common
// multiple, whose means explain both.
func TestTwoRoughSeasons(t *testing.T) {
	const draws = 10
	found := 0
	for seed := range uint64(draws) {
		y, other := rough(seed, 600, 5, 0), rough(seed+50, 600, 12, 0)
		for i := range y {
			y[i] += other[i]
		}
		all := planner(t, evenSeries(t, series.Axis{Name: "t"}, 0, 1, y), Options{}).seasons
		has := func(period float64) bool {
			return slices.ContainsFunc(all, func(s season) bool { return math.Abs(s.period-period) < 1e-3*period })
		}
		if (has(5) || has(10)) && has(12) && !has(60) {
			found++
		}
	}
	if found < draws-1 {
		t.Errorf("seasons of 5 and 12 steps are found in %d of %d", found, draws)
	}
}

// TestSlowWaves: a sine of two to four cycles over the series is found in noise, on an axis of numbers and, where it is close to
// a week but not a week, of dates. The best model has it, while smooth curves that do not repeat show no wave.
func TestSlowWaves(t *testing.T) {
	const draws, fewest = 10, 9
	hours := series.Axis{Name: "when", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Clock: true}
	noisy := func(seed uint64, n int, f func(x float64) float64) []float64 {
		r := rand.New(rand.NewPCG(seed, 83))
		phase, y := r.Float64(), make([]float64, n)
		for i := range y {
			y[i] = f(float64(i)/float64(n)+phase) + 0.3*r.NormFloat64()
		}
		return y
	}
	for _, c := range []struct {
		rows   int
		cycles float64
		axis   series.Axis
		step   float64
	}{{120, 2.2, series.Axis{Name: "t"}, 1}, {240, 3.4, series.Axis{Name: "t"}, 0.25}, {239, 1.7, hours, 1.0 / 24}} {
		found := 0
		for seed := range uint64(draws) {
			wave := func(x float64) float64 { return 1.5 * math.Sin(2*math.Pi*c.cycles*x) }
			s := evenSeries(t, c.axis, 0, c.step, noisy(seed, c.rows, wave))
			of := testkit.Must(Find(t.Context(), s, Options{}.WithEffort(Efforts[0])))(t)
			for _, period := range series.PeriodsOf(of.Result.Model.Kernel.Params()) {
				if math.Abs(float64(c.rows)*c.step/period/c.cycles-1) < 0.06 {
					found++
				}
			}
		}
		if found < fewest {
			t.Errorf("%.1f cycles in %d rows: found in %d of %d", c.cycles, c.rows, found, draws)
		}
	}
	for name, curve := range map[string]func(x float64) float64{
		"a logistic curve": func(x float64) float64 { return 5 / (1 + math.Exp(-12*(x-1))) },
		"a bump":           func(x float64) float64 { return 4 * math.Exp(-50*(x-1)*(x-1)) },
		"growth":           func(x float64) float64 { return math.Exp(1.5 * x) },
	} {
		for seed := range uint64(draws) {
			s := evenSeries(t, series.Axis{Name: "t"}, 0, 1, noisy(seed, 150, curve))
			of := testkit.Must(Find(t.Context(), s, Options{}.WithEffort(Efforts[0])))(t)
			if periods := series.PeriodsOf(of.Result.Model.Kernel.Params()); len(periods) > 0 {
				t.Errorf("%s, seed %d: the best model has the periods %v", name, seed, periods)
			}
		}
	}
}

// TestNoSeasonShown: white, red, wandering and heavy-tailed noise and lines show no season, by numbers or by days.
func TestNoSeasonShown(t *testing.T) {
	const draws, most = 200, 0.03
	for name, next := range map[string]func(r *rand.Rand, before float64) float64{
		"white noise":        func(r *rand.Rand, _ float64) float64 { return r.NormFloat64() },
		"red noise":          func(r *rand.Rand, before float64) float64 { return 0.7*before + r.NormFloat64() },
		"a walk":             func(r *rand.Rand, before float64) float64 { return before + r.NormFloat64() },
		"a line":             func(r *rand.Rand, before float64) float64 { return 0.1*r.NormFloat64() + 1 },
		"heavy-tailed noise": func(r *rand.Rand, _ float64) float64 { return r.NormFloat64() / math.Pow(r.Float64(), 1.0/3) },
	} {
		false, seed := 0, uint64(0)
		for _, n := range []int{30, 60, 150, 400} {
			for range draws / 4 {
				seed++
				r := rand.New(rand.NewPCG(seed, 66))
				y, v := make([]float64, n), 0.0
				for i := range y {
					v = next(r, v)
					y[i] = v
				}
				axis := series.Axis{Name: "t"}
				if seed%2 == 0 {
					axis = series.Axis{Name: "day", Dates: true, Unit: "day", Origin: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
				}
				seasons := planner(t, evenSeries(t, axis, 0, 1, y), Options{}).seasons
				if slices.ContainsFunc(seasons, func(c season) bool { return c.shown }) {
					false++
				}
			}
		}
		if float64(false) > most*draws {
			t.Errorf("%s: a season is shown in %d of %d", name, false, draws)
		}
	}
}
