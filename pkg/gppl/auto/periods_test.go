package auto_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/must"
	"github.com/projected-likelihood/gppl/internal/testsize"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// co2 is a small rhythm on a large trend.
func co2(t *testing.T) gppl.Data {
	t.Helper()
	s, _ := dataset.CO2().Standardize()
	return must.Get(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
}

func TestLikelyPeriods(t *testing.T) {
	d := co2(t)
	if p := auto.LikelyPeriods(d, 2); len(p) != 2 || math.Abs(p[0]-1) > 0.01 || math.Abs(p[1]-0.5) > 0.005 {
		t.Errorf("periods of CO2: %v years, want 1 and 0.5", p)
	}
	// Uneven times in any order.
	rnd := rand.New(rand.NewPCG(8, 8))
	x, y := make([]float64, 400), make([]float64, 400)
	for i := range x {
		x[i] = 100 + 50*rnd.Float64()
		y[i] = 0.3*(x[i]-100) + math.Sin(2*math.Pi*x[i]/3.7) + 0.5*rnd.NormFloat64()
	}
	uneven := must.Get(gppl.NewData(gppl.Scalars(x), y))(t)
	if p := auto.LikelyPeriods(uneven, 1); len(p) != 1 || math.Abs(p[0]/3.7-1) > 0.01 {
		t.Errorf("periods %v, want 3.7", p)
	}
	for _, none := range []gppl.Data{
		{X: gppl.Scalars([]float64{1}), Y: []float64{2}},
		{X: gppl.Scalars([]float64{3, 3, 3, 3}), Y: []float64{1, 2, 3, 4}},
		{X: gppl.Vectors([]float64{1, 2, 3, 4, 5, 6}, 2), Y: []float64{1, 2, 3}},
	} {
		if p := auto.LikelyPeriods(none, 3); p != nil {
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
	d := must.Get(gppl.NewData(gppl.Scalars(x), y))(t)
	before := append([]float64(nil), y...)
	if rest := gppl.Detrend(d).Y; floats.Norm(rest, math.Inf(1)) > 1e-9 {
		t.Errorf("a cubic leaves %v", rest)
	}
	if !floats.Equal(y, before) {
		t.Error("the data were changed")
	}
	same := must.Get(gppl.NewData(gppl.Scalars([]float64{2, 2, 2, 2, 2}), []float64{1, 2, 3, 4, 5}))(t)
	if rest := gppl.Detrend(same).Y; math.Abs(stat.Mean(rest, nil)) > 1e-12 || floats.Norm(rest, 2) == 0 {
		t.Errorf("one x: %v", rest)
	}
}

// TestStartFromTrend wants the rhythm of a series that rises, alone and beside a term for the rise.
func TestStartFromTrend(t *testing.T) {
	t.Parallel()
	d := co2(t)
	for _, k := range []gppl.Kernel{
		gppl.LocPer{}, gppl.Add(gppl.SE{}, gppl.Periodic{}), gppl.Add(gppl.SE{}, gppl.LocPer{}), gppl.Add(gppl.SE{}, gppl.LocPer{}, gppl.Matern32{}),
	}[:testsize.Of(1, 4, 4)] {
		m := auto.StartFrom(gppl.Model{Kernel: k, Noise: 1}, d)
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
		exact := must.Get(gppl.NewExact(m, d))(t)
		theta := gppl.Values(m.Params())
		// A constant has 1.42 nats an observation.
		if v, err := exact.ValueGrad(nil, theta); err != nil || v > 0 {
			t.Errorf("%v starts at %v nats (error: %v)", k, v, err)
		}
	}
}
