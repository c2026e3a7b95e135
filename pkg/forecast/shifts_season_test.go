package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestJumpsBesideSeason: two changes of level that are about as large as a rough season are found, and the band at the end of the
// forecast is as wide as noise. Without them the model would wander, with a band several times as wide.
func TestJumpsBesideSeason(t *testing.T) {
	const noise = 5.0
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 68))
		shape := []float64{30, -25, 10, 20, -30, 5, -10}
		r.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
		y := make([]float64, 180)
		for i := range y {
			y[i] = 130 + shape[i%7] + noise*r.NormFloat64()
			if i >= 60 {
				y[i] += 50
			}
			if i >= 125 {
				y[i] -= 90
			}
		}
		s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, timeline.Steps(len(y)), y))(t)
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		shifts := testkit.Must(a.Shifts(t.Context()))(t)
		if len(shifts) != 2 || math.Abs(shifts[0].X-60) > 1 || math.Abs(shifts[1].X-125) > 1 {
			t.Errorf("seed %d, %s: the changes are %+v, want one at 60 and one at 125", seed, a.Name(), shifts)
		}
		f := testkit.Must(a.Forecast(t.Context(), 28))(t)
		if wide := f.Upper[27] - f.Lower[27]; wide > 2*4*noise {
			t.Errorf("seed %d, %s: the band is %.0f wide after 28 steps", seed, a.Name(), wide)
		}
	}
}

// TestDeseasonalised: a season is subtracted wherever the level changes, with gaps and with a season of an even or an odd number
// of steps; fewer cycles than a median needs are left alone.
func TestDeseasonalised(t *testing.T) {
	for _, steps := range []int{2, 7, 12} {
		var x, y []float64
		for i := range 9 * steps {
			if i == 3*steps+1 {
				continue // a gap
			}
			level := 10.0
			if i >= 5*steps {
				level = 50
			}
			x, y = append(x, float64(i)), append(y, level+float64(i%steps*i%steps))
		}
		s := testkit.Must(series.NewSeries(series.Axis{Name: "t"}, x, y))(t)
		left := deseasonalised(s, s.Y, steps)
		middle := 10 + (left[0] - 10)
		for i, v := range left {
			want := middle
			if x[i] >= float64(5*steps) {
				want += 40
			}
			if math.Abs(v-want) > 1e-9 {
				t.Errorf("%d steps: at %v it is %.2f, want %.2f", steps, x[i], v, want)
			}
		}
		if deseasonalised(s, s.Y[:leastSeasonCycles*steps], steps) != nil {
			t.Errorf("%d steps: four cycles less the first half are a season", steps)
		}
	}
}
