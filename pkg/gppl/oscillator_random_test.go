package gppl_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// oscillating draws a kernel with an oscillator of a quality between 1e-20 and 1e6, whose decay or period suits the span.
func (d dice) oscillating(span float64) gppl.Kernel {
	scale := func() float64 { return span * d.log10(-2.5, 1) }
	v := d.log10(-1, 1)
	quality := d.log10(-20, 6)
	sho := gppl.SHO{Variance: v, Period: scale(), Quality: quality}
	if d.chance(0.6) { // what lasts is 1/(ω₀·slow), see statespace.Oscillator
		sho.Period = 2 * math.Pi * scale() * min(quality, 1/quality)
	}
	trend := gppl.DampedTrend{Variance: v, Lengthscale: scale(), Memory: d.log10(-20, 20)}
	if d.chance(0.5) {
		trend.Lengthscale /= max(1, trend.Memory)
	}
	rotation := gppl.Rotation{Variance: v, Period: scale(), Quality: d.log10(-20, 6), Difference: d.log10(-20, 6), Mix: d.log10(-2, 2)}
	if d.chance(0.3) {
		rotation.Period = scale() / math.Sqrt(min(rotation.Quality, 1))
	}
	cosine := gppl.Cosine{Variance: 1, Period: scale()}
	switch d.IntN(8) {
	case 0, 1:
		return sho
	case 2, 3:
		return trend
	case 4:
		return rotation
	case 5:
		return gppl.Mul(sho, cosine)
	case 6:
		return gppl.Mul(trend, cosine)
	}
	return gppl.Add(gppl.Mul(gppl.Matern32{Variance: v, Lengthscale: scale()}, sho), trend)
}

// newOscillatorCase draws a case with an oscillating kernel.
func newOscillatorCase(number int) *randomCase {
	d := dice{rand.New(rand.NewPCG(uint64(number), 13))}
	n := 2 + d.IntN(24)
	c := &randomCase{number: 3*number + 1} // these numbers have no inducing inputs
	x := c.drawInputs(d, n)
	for gppl.Scalars(x).Check() != nil {
		x = c.drawInputs(d, n)
	}
	lo, hi := gppl.Scalars(x).Range(0)
	c.model = gppl.Model{Kernel: d.oscillating(max(hi-lo, 1e-9)), Noise: d.log10(-7, 0.5)}
	y := c.drawTarget(d, x)
	var err error
	if c.data, err = gppl.NewData(gppl.Scalars(x), y); err != nil {
		panic(err)
	}
	return c
}

// TestOscillatorsOfAnyQuality compares values, gradients and predictions of oscillators of a quality between 1e-20 and 1e6 with the
// double-double reference: none errs by more than it says, the tolerance not counted.
func TestOscillatorsOfAnyQuality(t *testing.T) {
	t.Parallel()
	judged, worst := 0, map[string]float64{}
	for number := range testkit.Size(150, 2000, 10000) {
		c := newOscillatorCase(number)
		x := c.data.X.Coordinate(0)
		gram := newWideGram(c.model.Kernel, x)
		truth, err := gram.exact(c.model.Noise, nil, c.data.Y)
		if errors.Is(err, errBeyondReference) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []string{"", gppl.EngineDense, gppl.EngineStateSpace, gppl.EngineBanded, gppl.EngineToeplitz} {
			e := evaluate(func() (explained, error) {
				return gppl.NewExact(t.Context(), c.model, c.data, gppl.WithEngine(engine))
			}, nil)
			if e.verdict != kept || e.report.Jitter > 0 {
				if e.verdict == panicked || e.verdict == hung || engine == "" && e.verdict != kept {
					t.Errorf("%v by %q: %s %s", c, engine, e.verdict, e.detail)
				}
				continue
			}
			judged++
			note := func(what string, off, allowed float64) {
				key := engine + " " + what
				if off != 0 {
					worst[key] = max(worst[key], math.Abs(off)/allowed)
				}
				if !(math.Abs(off) <= allowed) {
					t.Errorf("%v by %q: %s errs by %.3g, allowed %.3g", c, engine, what, off, allowed)
				}
			}
			bound := e.report.LastBound
			note("the value", e.value-truth.value.Hi, bound+relativeRounding*truth.size)
			for p, g := range e.grad {
				note(fmt.Sprintf("derivative %d", p), g-truth.grad[p].Hi,
					gradientFactor*truth.slope[p]*bound+relativeRounding*truth.gradSize[p])
			}
			comparePredictions(t, c, engine, bound, note)
		}
	}
	t.Logf("%d judged, worst errors over what is allowed: %v", judged, worst)
}

// comparePredictions compares the posterior by an engine with k(x, ·)ᵀA⁻¹y and k(0) − k(x, ·)ᵀA⁻¹k(·, x) in double-double.
func comparePredictions(t *testing.T, c *randomCase, engine string, bound float64, note func(what string, off, allowed float64)) {
	t.Helper()
	p, err := gppl.NewPosterior(t.Context(), c.model, c.data, gppl.WithEngine(engine))
	if err != nil {
		t.Errorf("%v by %q: %v", c, engine, err)
		return
	}
	lo, hi := c.data.X.Range(0)
	span := max(hi-lo, 1e-9)
	at := []float64{lo, hi, lo + 0.37*span, lo - 1e-3*span, hi + 0.02*span, hi + 5*span, c.data.X.At(0)[0] + 1e-6*span}
	mean, variances := testkit.Must2(p.Latent(t.Context(), gppl.Scalars(at)))(t)
	x := c.data.X.Coordinate(0)
	k := widen(c.model.Kernel)
	a := newWideGram(c.model.Kernel, x).withNoise(c.model.Noise)
	if err := a.Cholesky(); err != nil {
		return
	}
	half := a.Solve(widenVector(c.data.Y))
	scratch := make([]wide, k.params())
	prior := k.at(scratch, wide{}, true).Hi
	contrast, size := 1+prior/c.model.Noise, math.Sqrt(doubled.Dot(half, half).Hi)
	for i, s := range at {
		cross := make([]wide, len(x))
		for j, xj := range x {
			cross[j] = k.at(scratch, doubled.Difference(s, xj).Abs(), false)
		}
		cross = a.Solve(cross)
		wantMean, explained := doubled.Dot(cross, half).Hi, doubled.Dot(cross, cross)
		want := doubled.Of(prior).Sub(explained).Hi
		rounding := 256*0x1p-53*contrast + bound
		note("a mean", mean[i]-wantMean, rounding*(size*math.Sqrt(prior)))
		note("a variance", variances[i]-want, rounding*prior)
	}
}

// TestTinyQuality: every engine computes nine digits of the derivatives of heavily overdamped oscillators in memory and quality,
// although they are as small as the memory, or differences of much larger numbers.
func TestTinyQuality(t *testing.T) {
	x := []float64{0, 0.3, 0.9, 1.7, 2, 3.4, 3.9, 5.5}
	y := []float64{0.4, -0.2, 0.9, 1.3, 0.2, -0.8, 0.5, 0.1}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	for _, tiny := range []float64{1e-3, 1e-6, 1e-12, 1e-20, 1e-40} {
		root := math.Sqrt(tiny)
		for _, k := range []gppl.Kernel{
			gppl.DampedTrend{Variance: 1.3, Lengthscale: 2, Memory: tiny}, gppl.DampedTrend{Variance: 1.3, Lengthscale: 2 * tiny, Memory: 1 / tiny},
			gppl.SHO{Variance: 1.3, Period: 12 * root, Quality: root}, gppl.SHO{Variance: 1.3, Period: 12 / root, Quality: root},
			gppl.Mul(gppl.DampedTrend{Variance: 1.3, Lengthscale: 2, Memory: tiny}, gppl.Cosine{Variance: 1, Period: 7}),
		} {
			m := gppl.Model{Kernel: k, Noise: 0.2}
			want, err := newWideGram(k, x).exact(m.Noise, nil, y)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range []string{gppl.EngineDense, gppl.EngineStateSpace, gppl.EngineBanded} {
				e := evaluate(func() (explained, error) { return gppl.NewExact(t.Context(), m, data, gppl.WithEngine(engine)) }, nil)
				if e.verdict != kept {
					t.Errorf("%v by %s: %s %s", k, engine, e.verdict, e.detail)
					continue
				}
				for p, g := range e.grad {
					if off := math.Abs(g - want.grad[p].Hi); !(off <= 1e-9*math.Abs(want.grad[p].Hi)+1e-16*tiny) {
						t.Errorf("%v by %s: derivative %d is %v, want %v", k, engine, p, g, want.grad[p].Hi)
					}
				}
			}
		}
	}
}
