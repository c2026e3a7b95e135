package gppl_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestChannelsInexact: the error bound takes account of the size of y and of the slopes of channels. If the tolerance is missed,
// LossReport.LastInexact and Posterior.Inexact are positive.
func TestChannelsInexact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 61))
	n := 40
	x, y, channel := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range x {
		x[i], y[i], channel[i] = float64(i)/10, rnd.NormFloat64(), i%2
	}
	two := func(noise, slope float64) []gppl.Channel {
		return []gppl.Channel{{Name: "A", Value: 1, Noise: noise}, {Name: "B", Value: 0.5, Slope: slope, Noise: noise}}
	}
	k := gppl.Matern52{Variance: 1, Lengthscale: 3}
	report := func(m gppl.Model, y []float64, opts ...gppl.Option) gppl.LossReport {
		t.Helper()
		l, err := gppl.NewExact(t.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, channel, nil), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.ValueGrad(t.Context(), nil, gppl.Values(l.Params())); err != nil {
			t.Fatal(err)
		}
		p, err := gppl.NewPosterior(t.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, channel, nil), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if r := l.Report(); (p.Inexact() > 0) != (r.LastInexact > 0) {
			t.Errorf("the posterior is inexact by %v, the loss by %v", p.Inexact(), r.LastInexact)
		}
		return l.Report()
	}
	plain := report(gppl.Model{Kernel: k, Channels: two(1e-2, 0)}, y)
	if plain.LastInexact > 0 || !(plain.LastBound < 1e-8) {
		t.Errorf("%+v", plain)
	}
	far := make([]float64, n)
	for i := range far {
		far[i] = 1e4 * y[i]
	}
	if r := report(gppl.Model{Kernel: k, Channels: two(1e-2, 0)}, far); !(r.LastBound > 1e6*plain.LastBound) {
		t.Errorf("y a thousand times as far: a bound of %v, %v before", r.LastBound, plain.LastBound)
	}
	smooth := make([]float64, n) // data from such a model
	for i, at := range x {
		if smooth[i] = math.Sin(at / 3); channel[i] == 1 {
			smooth[i] = 0.5*math.Sin(at/3) + math.Cos(at/3)/3
		}
	}
	if r := report(gppl.Model{Kernel: k, Channels: two(1e-12, 1)}, smooth); r.LastInexact > 0 {
		t.Errorf("noise 1e-12: %+v", r)
	}
	if r := report(gppl.Model{Kernel: k, Channels: two(1e-18, 1)}, smooth); !(r.LastInexact > 0) {
		t.Errorf("noise 1e-18: %+v", r)
	}
	if r := report(gppl.Model{Kernel: k, Channels: two(1e-12, 1)}, smooth, gppl.WithMemory(30000)); !(r.LastInexact > 0) {
		t.Errorf("no memory for more digits: %+v", r)
	}
}

// TestChannelsHarmonics: the posterior takes what the likelihood takes: a product whose harmonics are many has as many as there is
// room for, and what they lack is in the bound.
func TestChannelsHarmonics(t *testing.T) {
	var x, y []float64
	var channel []int
	for i := range 30 {
		x, y, channel = append(x, float64(i)/7), append(y, math.Sin(float64(i))), append(channel, i%2)
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	for _, l := range []float64{0.5, 0.3, 0.2, 0.1, 0.05, 0.01} {
		m := gppl.Model{Kernel: gppl.Mul(gppl.Rotation{Variance: 1, Period: 3, Quality: 2, Difference: 0.5, Mix: 0.4},
			gppl.Periodic{Variance: 1, Period: 1.7, Lengthscale: l}), Channels: []gppl.Channel{
			{Name: "A", Value: 1, Noise: 0.01}, {Name: "B", Value: 0.7, Noise: 0.02}}}
		loss, err := gppl.NewExact(t.Context(), m, viewed(d, channel, nil))
		if err == nil {
			_, err = loss.ValueGrad(t.Context(), nil, gppl.Values(loss.Params()))
		}
		p, posteriorErr := gppl.NewPosterior(t.Context(), m, viewed(d, channel, nil))
		if (err == nil) != (posteriorErr == nil) {
			t.Errorf("l = %v: the likelihood says %v, the posterior %v", l, err, posteriorErr)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "256 numbers") {
				t.Errorf("l = %v: %v", l, err)
			}
			continue
		}
		if r := loss.Report(); l >= 0.2 && (r.LastInexact > 0) != (p.Inexact() > 0) {
			t.Errorf("l = %v: %+v, %v", l, r, p.Inexact())
		}
	}
}
