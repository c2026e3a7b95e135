package gppl

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// vfePosterior returns the sparse posterior of m through z.
func vfePosterior(t testing.TB, m Model, d Data, z Inputs) (*Posterior, error) {
	l, err := NewVFE(t.Context(), m, d, z, VFEOptions{})
	if err != nil {
		return nil, err
	}
	return l.Posterior(t.Context(), Values(l.Params()))
}

func TestOraclePosteriors(t *testing.T) {
	for _, c := range readOracle(t) {
		t.Run(c.Kernel, func(t *testing.T) {
			m, d, x := c.model(t), c.data(t), Scalars(c.XStar)
			exact, err := NewPosterior(t.Context(), m, d)
			if err != nil {
				t.Fatal(err)
			}
			vfe, err := vfePosterior(t, m, d, Scalars(c.Inducing))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []struct {
				name string
				got  *Posterior
				want oraclePosterior
			}{{"exact", exact, c.PosteriorExact}, {"VFE", vfe, c.PosteriorVFE}} {
				mean, latent := testkit.Must2(p.got.Latent(t.Context(), x))(t)
				nearVector(t, p.name+" mean", mean, p.want.Mean, 1e-8)
				nearVector(t, p.name+" variance", latent, p.want.VarLatent, 1e-8)
				_, noisy := testkit.Must2(p.got.Noisy(t.Context(), x))(t)
				for i := range noisy {
					near(t, p.name+" noisy variance", noisy[i], latent[i]+m.Noise, 1e-12)
				}
				if p.got.Jitter() != 0 {
					t.Errorf("%s: jitter %v", p.name, p.got.Jitter())
				}
			}
		})
	}
}

// TestPosteriorAcrossTiles compares predictions at many inputs with the same
// ones a single input at a time, and VFE at Z = X with exact.
func TestPosteriorAcrossTiles(t *testing.T) {
	d := benchData(t, 150)
	m := Model{Kernel: Matern32{Variance: 1.3, Lengthscale: 30}, Noise: 0.2}
	exact, err := NewPosterior(t.Context(), m, d)
	if err != nil {
		t.Fatal(err)
	}
	vfe, err := vfePosterior(t, m, d, d.X)
	if err != nil {
		t.Fatal(err)
	}
	grid := make([]float64, 200)
	for i := range grid {
		grid[i] = 6 * float64(i)
	}
	mean, v := testkit.Must2(exact.Latent(t.Context(), Scalars(grid)))(t)
	for i := range grid {
		m1, v1 := testkit.Must2(exact.Latent(t.Context(), Scalars(grid[i:i+1])))(t)
		if math.Abs(m1[0]-mean[i]) > 1e-12 || math.Abs(v1[0]-v[i]) > 1e-12 {
			t.Fatalf("at %v: %v, %v among others, %v, %v alone", grid[i], mean[i], v[i], m1[0], v1[0])
		}
	}
	vm, vv := testkit.Must2(vfe.Latent(t.Context(), Scalars(grid)))(t)
	nearVector(t, "VFE mean at Z = X", vm, mean, 1e-8)
	nearVector(t, "VFE variance at Z = X", vv, v, 1e-8)
	// Far from all data the prior returns.
	_, far := testkit.Must2(exact.Latent(t.Context(), Scalars([]float64{1e5})))(t)
	near(t, "variance far away", far[0], 1.3, 1e-12)
}

// TestSamples compares moments of many draws with what they are drawn from.
func TestSamples(t *testing.T) {
	d := benchData(t, 40)
	m := Model{Kernel: SE{Variance: 2, Lengthscale: 60}, Noise: 0.5}
	x := Scalars([]float64{-100, 3, 100, 101, 500, 1200})
	const count = 20000
	for name, p := range map[string]func() (*Posterior, error){
		"exact": func() (*Posterior, error) { return NewPosterior(t.Context(), m, d) },
		"VFE": func() (*Posterior, error) {
			return vfePosterior(t, m, d, Scalars([]float64{0, 200, 500, 900}))
		},
	} {
		post, err := p()
		if err != nil {
			t.Fatal(err)
		}
		f, err := post.Sample(t.Context(), x, count, 1)
		if err != nil {
			t.Fatal(err)
		}
		mean, v := testkit.Must2(post.Latent(t.Context(), x))(t)
		for j := range mean {
			var s1, s2 float64
			for i := range f {
				s1 += f[i].F[j]
				s2 += (f[i].F[j] - mean[j]) * (f[i].F[j] - mean[j])
			}
			// five standard errors of the mean and of the variance
			if got := s1 / count; math.Abs(got-mean[j]) > 5*math.Sqrt(v[j]/count)+1e-6 {
				t.Errorf("%s: mean of draws at %v is %v, want %v", name, x.at[j], got, mean[j])
			}
			if got := s2 / count; math.Abs(got-v[j]) > 5*v[j]*math.Sqrt(2./count)+1e-6 {
				t.Errorf("%s: variance of draws at %v is %v, want %v", name, x.at[j], got, v[j])
			}
		}
	}
	// The prior: at many far-apart inputs draws are independent.
	grid := make([]float64, 400)
	for i := range grid {
		grid[i] = 1000 * float64(i)
	}
	draw, err := m.Sample(t.Context(), Scalars(grid), 3)
	if err != nil || draw.Jitter != 0 {
		t.Fatalf("jitter %v, %v", draw.Jitter, err)
	}
	f, y := draw.F, draw.Y
	var ff, ee float64
	for i := range f {
		ff += f[i] * f[i] / 400
		ee += (y[i] - f[i]) * (y[i] - f[i]) / 400
	}
	if math.Abs(ff-2) > 5*2*math.Sqrt(2./400) || math.Abs(ee-0.5) > 5*0.5*math.Sqrt(2./400) {
		t.Errorf("variances of the prior draw: signal %v, want 2; noise %v, want 0.5", ff, ee)
	}
	again, other := testkit.Must(m.Sample(t.Context(), Scalars(grid), 3))(t), testkit.Must(m.Sample(t.Context(), Scalars(grid), 4))(t)
	if again.F[7] != f[7] || other.F[7] == f[7] {
		t.Error("draws do not follow their seed")
	}
	// A smooth kernel on close inputs is singular to rounding: jitter, told.
	close := make([]float64, 300)
	for i := range close {
		close[i] = 0.01 * float64(i)
	}
	if d, err := m.Sample(t.Context(), Scalars(close), 1, WithEngine(EngineDense)); err != nil || d.Jitter <= 0 || d.Jitter > 1e-6*2 {
		t.Errorf("jitter %v, %v; want some, below 2e-6", d.Jitter, err)
	}
}

// TestPosteriorInexact: an engine that is named although it cannot keep the tolerance says so.
func TestPosteriorInexact(t *testing.T) {
	d := benchData(t, 80)
	for _, c := range []struct {
		noise float64
		want  bool
	}{{0.1, false}, {1e-8, true}} {
		p, err := NewPosterior(t.Context(), Model{Kernel: RQ{Variance: 1, Lengthscale: 30, Alpha: 0.3}, Noise: c.noise}, d,
			WithEngine(EngineSpectral))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Inexact(); (got > 1e-8*80) != c.want {
			t.Errorf("noise %g: inexact by %g nats", c.noise, got)
		}
	}
}
