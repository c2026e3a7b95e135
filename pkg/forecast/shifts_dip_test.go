package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestDip: some values far off, as in the months of a lockdown or the week of a promotion, are changes of level at both ends, and
// do not hide the season and the growth of the others. The level need not come back to what it was.
func TestDip(t *testing.T) {
	for name, c := range map[string]struct {
		n, from, to  int
		period       float64
		size, remain float64
	}{
		"lockdown":  {90, 50, 55, 12, -60, -15},
		"promotion": {70, 40, 43, 7, 80, 0},
		"ten":       {120, 60, 70, 12, -50, 0},
	} {
		r := rand.New(rand.NewPCG(65, uint64(c.n)))
		mean := func(i int) float64 {
			level := 100 + 0.5*float64(i) + 6*math.Sin(2*math.Pi*float64(i)/c.period)
			switch {
			case i >= c.to:
				level += c.remain
			case i >= c.from:
				level += c.size
			}
			return level
		}
		y := make([]float64, c.n)
		for i := range y {
			y[i] = mean(i) + 2*r.NormFloat64()
		}
		s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(c.n), y))(t)
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		shifts := testkit.Must(a.Shifts(t.Context()))(t)
		if len(shifts) != 2 || shifts[0].X != float64(c.from) || shifts[1].X != float64(c.to) ||
			math.Abs(shifts[0].Size-c.size) > 6 || math.Abs(shifts[1].Size-c.remain+c.size) > 6 {
			t.Errorf("%s, %s: the changes are %+v", name, a.Name(), shifts)
			continue
		}
		f := testkit.Must(a.Forecast(t.Context(), int(c.period)))(t)
		for i := range f.X {
			if math.Abs(f.Median[i]-mean(c.n+i)) > 8 || f.Upper[i]-f.Lower[i] > 30 {
				t.Errorf("%s, %s: step %d is %.1f, from %.1f to %.1f, want %.1f", name, a.Name(), i+1, f.Median[i], f.Lower[i],
					f.Upper[i], mean(c.n+i))
				break
			}
		}
	}
}

// TestNoDip: noise, also of heavy tails, walks, rough seasons and peaks that come every year hardly ever have a dip.
func TestNoDip(t *testing.T) {
	const draws, most = 100, 0.05
	for name, next := range map[string]func(r *rand.Rand, i int, before float64) float64{
		"noise": func(r *rand.Rand, _ int, _ float64) float64 { return r.NormFloat64() },
		"heavy": func(r *rand.Rand, _ int, _ float64) float64 { return r.NormFloat64() / (0.2 + r.Float64()) },
		"walk":  func(r *rand.Rand, _ int, before float64) float64 { return before + r.NormFloat64() },
		"season": func(r *rand.Rand, i int, _ float64) float64 {
			return float64([]int{4, 1, 6, 3, 0, 9}[i%6]) + r.NormFloat64()
		},
		"peaks": func(r *rand.Rand, i int, _ float64) float64 {
			if i%40 > 36 {
				return 100 + r.NormFloat64()
			}
			return r.NormFloat64()
		},
	} {
		found := 0
		for seed := range uint64(draws) {
			r := rand.New(rand.NewPCG(seed, 67))
			n := []int{24, 60, 160, 300}[seed%4]
			y, v := make([]float64, n), 0.0
			for i := range y {
				v = next(r, i, v)
				y[i] = v
			}
			if name == "peaks" && n < 160 {
				continue
			}
			if len(dips(testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(n), y))(t))) > 0 {
				found++
			}
		}
		if float64(found) > most*draws {
			t.Errorf("%s: %d of %d have a dip", name, found, draws)
		}
	}
}
