package auto_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// co2 is a small rhythm on a large trend.
func co2(t *testing.T) gppl.Data {
	t.Helper()
	s, _ := dataset.CO2().Standardize()
	return testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
}

func TestLikelyPeriods(t *testing.T) {
	d := co2(t)
	if p, _ := auto.LikelyPeriods(t.Context(), d, 2); len(p) != 2 || math.Abs(p[0]-1) > 0.01 || math.Abs(p[1]-0.5) > 0.005 {
		t.Errorf("periods of CO2: %v years, want 1 and 0.5", p)
	}
	// Uneven times in any order.
	rnd := rand.New(rand.NewPCG(8, 8))
	x, y := make([]float64, 400), make([]float64, 400)
	for i := range x {
		x[i] = 100 + 50*rnd.Float64()
		y[i] = 0.3*(x[i]-100) + math.Sin(2*math.Pi*x[i]/3.7) + 0.5*rnd.NormFloat64()
	}
	uneven := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	if p, _ := auto.LikelyPeriods(t.Context(), uneven, 1); len(p) != 1 || math.Abs(p[0]/3.7-1) > 0.01 {
		t.Errorf("periods %v, want 3.7", p)
	}
	for _, none := range []gppl.Data{
		{X: gppl.Scalars([]float64{1}), Y: []float64{2}},
		{X: gppl.Scalars([]float64{3, 3, 3, 3}), Y: []float64{1, 2, 3, 4}},
		{X: gppl.Vectors([]float64{1, 2, 3, 4, 5, 6}, 2), Y: []float64{1, 2, 3}},
	} {
		if p, _ := auto.LikelyPeriods(t.Context(), none, 3); p != nil {
			t.Errorf("%v has periods %v", none.X, p)
		}
	}
}

func TestDetrend(t *testing.T) {
	x := floats.Span(make([]float64, 50), 1e4, 1e4+3)
	y := make([]float64, 50)
	for i, v := range x {
		u := v - 1e4
		y[i] = 5 - 2*u + 3*u*u - u*u*u
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	before := append([]float64(nil), y...)
	if rest := d.Detrend().Y; floats.Norm(rest, math.Inf(1)) > 1e-9 {
		t.Errorf("a cubic leaves %v", rest)
	}
	if !floats.Equal(y, before) {
		t.Error("the data were changed")
	}
	same := testkit.Must(gppl.NewData(gppl.Scalars([]float64{2, 2, 2, 2, 2}), []float64{1, 2, 3, 4, 5}))(t)
	if rest := same.Detrend().Y; math.Abs(stat.Mean(rest, nil)) > 1e-12 || floats.Norm(rest, 2) == 0 {
		t.Errorf("one x: %v", rest)
	}
}

// TestStartFromTrend wants the rhythm of a series that rises, alone and beside a term for the rise.
func TestStartFromTrend(t *testing.T) {
	t.Parallel()
	d := co2(t)
	for _, k := range []gppl.Kernel{
		gppl.LocPer{}, gppl.Add(gppl.SE{}, gppl.Periodic{}), gppl.Add(gppl.SE{}, gppl.LocPer{}),
		gppl.Add(gppl.SE{}, gppl.LocPer{}, gppl.Matern32{}),
	}[:testkit.Size(1, 4, 4)] {
		m := testkit.Must(auto.StartFrom(t.Context(), gppl.Model{Kernel: k, Noise: 1}, d))(t)
		found := false
		for _, p := range m.Params() {
			if p.Name == "period" || p.Name == "LocPer.period" || p.Name == "Periodic.period" {
				found = true
				if math.Abs(p.Value-1) > 0.01 {
					t.Errorf("%v starts at a period of %v years", k, p.Value)
				}
			}
		}
		if !found {
			t.Errorf("%v has no period", k)
		}
		exact := testkit.Must(gppl.NewExact(t.Context(), m, d))(t)
		theta := gppl.Values(m.Params())
		// A constant has 1.42 nats an observation.
		if v, err := exact.ValueGrad(t.Context(), nil, theta); err != nil || v > 0 {
			t.Errorf("%v starts at %v nats (error: %v)", k, v, err)
		}
	}
}

// TestClearPeriods: of noise, white, red or brown, one series in twenty may have a clear period; a rhythm in it is clear where it
// is worth some dozens of nats, also where the noise has more power at others.
func TestClearPeriods(t *testing.T) {
	const n, span, rhythm = 2000, 400.0, 11.3
	for _, memory := range []float64{0, 8, math.Inf(1)} {
		for _, amplitude := range []float64{0, 1.2} {
			false0, found := 0, 0
			const series = 100
			for seed := range uint64(series) {
				rnd := rand.New(rand.NewPCG(seed, 11))
				x, y := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i] = span * rnd.Float64()
				}
				slices.Sort(x)
				state := 0.0
				for i := range x {
					switch {
					case memory == 0:
						state = 0
					case i > 0 && math.IsInf(memory, 1):
						state += 0.3 * math.Sqrt(x[i]-x[i-1]) * rnd.NormFloat64()
					case i > 0:
						keep := math.Exp(-(x[i] - x[i-1]) / memory)
						state = keep*state + math.Sqrt(1-keep*keep)*rnd.NormFloat64()
					}
					y[i] = 2*state + amplitude*math.Sin(2*math.Pi*x[i]/rhythm) + 0.5*rnd.NormFloat64()
				}
				for _, p := range testkit.Must(auto.ClearPeriods(t.Context(), gppl.Data{X: gppl.Scalars(x), Y: y}, 1))(t) {
					if math.Abs(p-rhythm) < 0.2 {
						found++
					} else {
						false0++
					}
				}
			}
			t.Logf("memory %v, amplitude %v: %d of %d found, %d others", memory, amplitude, found, series, false0)
			if most := 12; false0 > most { // Binomial(100, 0.05) exceeds it with a probability of at most 1e-3
				t.Errorf("memory %v, amplitude %v: %d of %d series have a clear period that is none", memory, amplitude, false0, series)
			}
			if amplitude > 0 && found < 90 {
				t.Errorf("memory %v: the rhythm is found in %d of %d series", memory, found, series)
			}
		}
	}
}
