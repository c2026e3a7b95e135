package gppl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// openHours is a series of days of 11 open hours each, the given observations left out, with a trend in its mean.
func openHours(tb testing.TB, days int, skipped ...int) Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(7, uint64(days)))
	var x, y []float64
	for i := range 11 * days {
		if len(skipped) > 0 && skipped[0] == i {
			skipped = skipped[1:]
			continue
		}
		at := float64(i/11) + float64(7+i%11)/24
		x = append(x, at)
		y = append(y, math.Sin(2*math.Pi*at)+0.05*at+0.3*rnd.NormFloat64())
	}
	return testkit.Must(NewData(Scalars(x), y))(tb)
}

// TestCyclesEngine compares values, gradients and predictions of open hours with dense algebra.
func TestCyclesEngine(t *testing.T) {
	m := Model{Kernel: Add(Laplace{0.5, 9}, LocPer{0.8, 30, 1, 0.7}, White{0.02}), Noise: 0.1, Mean: Linear{}}
	far := openHours(t, 30) // values that are larger than the model expects
	for i := range far.Y {
		far.Y[i] *= 30
	}
	holidays := openHours(t, 30, 55, 56, 57, 200, 328, 329)
	for what, d := range map[string]Data{"all": openHours(t, 30), "holidays": holidays, "far": far} {
		by := func(engine string) (value float64, grad, mean, variance []float64) {
			l := testkit.Must(NewExact(t.Context(), m, d, WithEngine(engine)))(t)
			grad = make([]float64, len(l.Params()))
			value = testkit.Must(l.ValueGrad(t.Context(), grad, Values(l.Params())))(t)
			p := testkit.Must(NewPosterior(t.Context(), m, d, WithEngine(engine)))(t)
			mean, variance, err := p.Latent(t.Context(), Scalars([]float64{3.4, 12.1, 30.5, 33}))
			if err != nil {
				t.Fatal(err)
			}
			return value, grad, mean, variance
		}
		value, grad, mean, variance := by(EngineToeplitz)
		wantValue, wantGrad, wantMean, wantVariance := by(EngineDense)
		if math.Abs(value-wantValue) > 1e-9*float64(d.Len()) {
			t.Errorf("%s: %.12g, densely %.12g", what, value, wantValue)
		}
		for _, c := range []struct {
			what      string
			got, want []float64
		}{{"gradient", grad, wantGrad}, {"mean", mean, wantMean}, {"variance", variance, wantVariance}} {
			for i, v := range c.got {
				if math.Abs(v-c.want[i]) > 1e-8*(1+math.Abs(c.want[i])) {
					t.Errorf("%s: %s %d is %.12g, densely %.12g", what, c.what, i, v, c.want[i])
				}
			}
		}
		l := testkit.Must(NewExact(t.Context(), m, d))(t)
		if engine, _ := l.Cost(Values(l.Params())); engine != EngineToeplitz {
			t.Errorf("%s: the %s engine is chosen", what, engine)
		}
	}
}

// TestCyclesFarApart: covariances over a few cycles whose squares are not 0, but have few digits in float64, count as zero.
func TestCyclesFarApart(t *testing.T) {
	var x, y []float64
	for day := range 42 {
		if day%7 < 5 {
			x, y = append(x, float64(day)), append(y, math.Cos(float64(day)))
		}
	}
	d := testkit.Must(NewData(Scalars(x), y))(t)
	for lengthscale := 0.15; lengthscale < 0.6; lengthscale += 0.001 {
		m := Model{Kernel: SE{1, lengthscale}, Noise: 0.3}
		by := func(engine string) float64 {
			l := testkit.Must(NewExact(t.Context(), m, d, WithEngine(engine)))(t)
			return testkit.Must(l.ValueGrad(t.Context(), make([]float64, 3), m.Values()))(t)
		}
		if got, want := by(EngineToeplitz), by(EngineDense); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("lengthscale %.3f: %.15g, densely %.15g", lengthscale, got, want)
		}
	}
}

// BenchmarkOpenHours: an evaluation of 748 open hours, by each engine that takes them.
func BenchmarkOpenHours(b *testing.B) {
	d := openHours(b, 68)
	m := Model{Kernel: Add(Laplace{0.5, 9}, LocPer{0.8, 30, 1, 0.7}), Noise: 0.1}
	for _, engine := range []string{EngineToeplitz, EngineDense} {
		b.Run(engine, func(b *testing.B) {
			l := testkit.Must(NewExact(b.Context(), m, d, WithEngine(engine)))(b)
			grad := make([]float64, len(l.Params()))
			for b.Loop() {
				if _, err := l.ValueGrad(b.Context(), grad, Values(l.Params())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
