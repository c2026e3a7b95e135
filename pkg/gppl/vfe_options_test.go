package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// TestVFEAuthorsOptions checks the gradient with the noise in K_uu, by both engines and in two dimensions, and that it loosens
// the bound.
func TestVFEAuthorsOptions(t *testing.T) {
	for _, c := range []struct {
		kernel gppl.Kernel
		engine string
		d      int
	}{
		{gppl.RQ{Variance: 1.3, Lengthscale: 2, Alpha: 0.8}, gppl.EngineDense, 1},
		{gppl.SE{Variance: 1.3, Lengthscale: 4}, gppl.EngineSpectral, 1},
		{gppl.SE{Variance: 1.3, Lengthscale: 2}, gppl.EngineDense, 2},
	} {
		data := randomData(t, 60, c.d, 3)
		z := testkit.Must(data.X.KMeans(t.Context(), 7, 1))(t)
		m := gppl.Model{Kernel: c.kernel, Noise: 0.3}
		loss := func(opt gppl.VFEOptions) *gppl.VFE {
			return testkit.Must(gppl.NewVFE(t.Context(), m, data, z, opt, gppl.WithEngine(c.engine)))(t)
		}
		t.Run(fmt.Sprint(c.kernel, c.engine, c.d), func(t *testing.T) {
			gppltest.CheckLoss(t, loss(gppl.VFEOptions{NoiseInGram: true}))
			proper, _ := valueAt(t, loss(gppl.VFEOptions{}))
			noisy, _ := valueAt(t, loss(gppl.VFEOptions{NoiseInGram: true}))
			if !(noisy > proper) {
				t.Errorf("with the noise in K_uu %v, without %v: want a looser bound", noisy, proper)
			}
		})
	}
}

// TestVFEUnits: the unit and the origin of x change nothing about training, inducing inputs included.
func TestVFEUnits(t *testing.T) {
	const n, m = 120, 12
	rnd := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.3*rnd.Float64()
		y[i] = math.Sin(x[i]/6) + 0.1*rnd.NormFloat64()
	}
	learn := func(unit, origin float64) *gppl.Result {
		at := make([]float64, n)
		for i := range x {
			at[i] = unit * (x[i] - origin)
		}
		d := gppl.Data{X: gppl.Scalars(at), Y: y}
		z, err := d.X.KMeans(t.Context(), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		l, err := gppl.NewVFE(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5 * unit}, Noise: 0.1}, d, z, gppl.VFEOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := gppl.Fit(t.Context(), l, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := learn(1, 0)
	// The last: hours in seconds since 1970.
	for _, view := range []struct{ unit, origin float64 }{{1e-9, 0}, {1e-6, 0}, {1e6, 0}, {1e12, 0}, {3600, -4.7e5}} {
		got := learn(view.unit, view.origin)
		if got.Status != want.Status || !(math.Abs(got.Value-want.Value) <= 1e-5) || got.Evaluations > want.Evaluations*3/2 {
			t.Errorf("unit %v, origin %v: %v nats, %s after %d evaluations; want %v, %s after %d",
				view.unit, view.origin, got.Value, got.Status, got.Evaluations, want.Value, want.Status, want.Evaluations)
		}
		for i, z := range got.Inducing {
			if at := z/view.unit + view.origin; !(math.Abs(at-want.Inducing[i]) <= 0.05) {
				t.Errorf("unit %v, origin %v: inducing input %d at %v, want %v", view.unit, view.origin, i, at, want.Inducing[i])
			}
		}
	}
}
