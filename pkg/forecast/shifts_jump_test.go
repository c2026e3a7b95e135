package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestJumpBeforeScale: a change of level affects the choice between y and log y, so it is found first. Otherwise 40 values at 3
// and 20 at 103 would give a model of log y, whose bands reach from 21 to 477. This holds for short series and counts, too.
func TestJumpBeforeScale(t *testing.T) {
	for name, c := range map[string]struct {
		n, at         int
		before, after float64
		counts        bool
	}{
		"60 values": {60, 40, 3, 103, false}, "down": {60, 30, 90, 4, false}, "24 values": {24, 14, 5, 50, false}, "15 values": {15, 8, 30, 60, false},
		"counts": {70, 45, 4, 60, true}, "near counts": {80, 48, 5, 22, true},
	} {
		r := rand.New(rand.NewPCG(65, uint64(c.n)))
		y := make([]float64, c.n)
		for i := range y {
			level := c.before
			if i >= c.at {
				level = c.after
			}
			y[i] = level + 0.8*r.NormFloat64()
			if c.counts {
				y[i] = math.Round(level + math.Sqrt(level)*r.NormFloat64())
				y[i] = max(0, y[i])
			}
		}
		s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(c.n), y))(t)
		scatter := 0.8
		if c.counts {
			s.Counting, scatter = &series.Counting{Likelihood: "poisson"}, math.Sqrt(c.after)
		}
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		shifts := testkit.Must(a.Shifts(t.Context()))(t)
		if len(shifts) != 1 || shifts[0].X != float64(c.at) || !shifts[0].Used || !(shifts[0].Chance > 0 && shifts[0].Chance < 1e-3) {
			t.Errorf("%s, %s: the changes are %+v, want one at %d", name, a.Name(), shifts, c.at)
		}
		f := testkit.Must(a.Forecast(t.Context(), 10))(t)
		for i := range f.X {
			lo, hi := f.Lower[i], f.Upper[i]
			if math.Abs(f.Median[i]-c.after) > 2*scatter || hi-lo > 12*scatter {
				t.Errorf("%s, %s: at %v it forecasts %.1f, from %.1f to %.1f", name, a.Name(), f.X[i], f.Median[i], lo, hi)
				break
			}
		}
	}
}

// TestJumpOfCounts: changes of counts from 4 to 12 are found, though three values before and three after them differ hardly more
// than others. Without changes, and where the rate wanders, none is found.
func TestJumpOfCounts(t *testing.T) {
	const draws, walks, n, at = 6, 2, 170, 90
	changes := func(y []float64) []ShiftSize {
		s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(n), y))(t)
		s.Counting = &series.Counting{Likelihood: "poisson"}
		return testkit.Must(testkit.Must(Fit(t.Context(), s, Options{}))(t).Shifts(t.Context()))(t)
	}
	found := 0
	for seed := range uint64(draws) {
		r := rand.New(rand.NewPCG(seed, 66))
		y, walk, log := make([]float64, n), make([]float64, n), math.Log(6)
		for i := range y {
			level := 4.0
			if i >= at {
				level = 12
			}
			log += 0.1 * r.NormFloat64()
			y[i] = distuv.Poisson{Lambda: level, Src: r}.Rand()
			walk[i] = distuv.Poisson{Lambda: math.Exp(log), Src: r}.Rand()
		}
		if all := changes(y); len(all) == 1 && math.Abs(all[0].X-at) <= 2 {
			found++
		}
		if seed >= walks {
			continue
		}
		if all := changes(walk); len(all) > 0 {
			t.Errorf("seed %d: a walk has the changes %+v", seed, all)
		}
	}
	if found < draws*2/3 {
		t.Errorf("%d of %d changes are found", found, draws)
	}
	t.Logf("%d of %d changes are found", found, draws)
}

// TestJumpsOfFew finds two levels in few values with white noise, three values at the first of two levels, and a rate of counts
// that becomes three times as high. These changes leave nothing that wanders, and less evidence suffices for them.
func TestJumpsOfFew(t *testing.T) {
	const draws, fewest = 10, 8
	for name, c := range map[string]struct {
		n, at        int
		size, counts float64 // in standard deviations of the noise; the first level of counts, which size multiplies
	}{
		"20 values": {20, 11, 6.2, 0}, "three of 12": {12, 3, 30, 0}, "counts": {60, 25, 3, 6},
	} {
		found := 0
		for seed := range uint64(draws) {
			r := rand.New(rand.NewPCG(seed, 69))
			y := make([]float64, c.n)
			for i := range y {
				switch level := float64(min(1, i/c.at)); {
				case c.counts > 0:
					y[i] = distuv.Poisson{Lambda: c.counts * math.Pow(c.size, level), Src: r}.Rand()
				default:
					y[i] = 50 + c.size*level + r.NormFloat64()
				}
			}
			s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(c.n), y))(t)
			if c.counts > 0 {
				s.Counting = &series.Counting{Likelihood: "poisson"}
			}
			a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
			all := testkit.Must(a.Shifts(t.Context()))(t)
			if len(all) == 1 && math.Abs(all[0].X-float64(c.at)) <= 2 && all[0].Chance < 0.1 {
				found++
			}
		}
		if found < fewest {
			t.Errorf("%s: %d of %d changes are found", name, found, draws)
		}
		t.Logf("%s: %d of %d changes are found", name, found, draws)
	}
}

// TestNoJumpsOfFew: noise, red noise, walks and counts whose rate wanders or grows have no levels.
func TestNoJumpsOfFew(t *testing.T) {
	const most = 0.02
	for name, c := range map[string]struct {
		counts bool
		next   func(r *rand.Rand, i int, before float64) float64
	}{
		"noise":             {false, func(r *rand.Rand, _ int, _ float64) float64 { return r.NormFloat64() }},
		"red":               {false, func(r *rand.Rand, _ int, before float64) float64 { return 0.9*before + r.NormFloat64() }},
		"walk":              {false, func(r *rand.Rand, _ int, before float64) float64 { return before + r.NormFloat64() }},
		"rate that wanders": {true, func(r *rand.Rand, _ int, before float64) float64 { return before + 0.15*r.NormFloat64() }},
		"rate that grows":   {true, func(r *rand.Rand, i int, _ float64) float64 { return 0.02 * float64(i) }},
	} {
		found, draws := 0, testkit.Size(40, 40, 200)
		for seed := range uint64(draws) {
			r := rand.New(rand.NewPCG(seed, 70))
			n := []int{12, 20, 40, 90}[seed%4]
			y, v := make([]float64, n), 0.0
			for i := range y {
				v = c.next(r, i, v)
				if y[i] = v; c.counts {
					y[i] = distuv.Poisson{Lambda: 5 * math.Exp(v), Src: r}.Rand()
				}
			}
			s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(n), y))(t)
			if c.counts {
				s.Counting = &series.Counting{Likelihood: "poisson"}
			}
			if a := testkit.Must(Fit(t.Context(), s, Options{}))(t); len(a.Series.Shifts) > 0 {
				found++
			}
		}
		if float64(found) > most*float64(draws) {
			t.Errorf("%s: %d of %d have a change", name, found, draws)
		}
	}
}

// TestNoJump: in noise, red noise, walks, lines and rough seasons, the medians hardly ever differ so much that a second search
// follows.
func TestNoJump(t *testing.T) {
	const draws, most = 100, 0.1
	for name, next := range map[string]func(r *rand.Rand, i int, before float64) float64{
		"noise": func(r *rand.Rand, _ int, _ float64) float64 { return r.NormFloat64() },
		"red":   func(r *rand.Rand, _ int, before float64) float64 { return 0.8*before + r.NormFloat64() },
		"walk":  func(r *rand.Rand, _ int, before float64) float64 { return before + r.NormFloat64() },
		"line":  func(r *rand.Rand, i int, _ float64) float64 { return 0.3*float64(i) + 0.1*r.NormFloat64() },
		"season": func(r *rand.Rand, i int, _ float64) float64 {
			return float64([]int{4, 1, 6, 3, 0, 9}[i%6]) + r.NormFloat64()
		},
	} {
		found := 0
		for seed := range uint64(draws) {
			r := rand.New(rand.NewPCG(seed, 67))
			n := []int{24, 60, 150, 300}[seed%4]
			y, v := make([]float64, n), 0.0
			for i := range y {
				v = next(r, i, v)
				y[i] = v
			}
			if len(jumps(testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(n), y))(t))) > 0 {
				found++
			}
		}
		if float64(found) > most*draws {
			t.Errorf("%s: %d of %d have a jump", name, found, draws)
		}
		t.Logf("%s: %d of %d have a jump", name, found, draws)
	}
}
