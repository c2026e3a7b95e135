package gppl_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// TestVFEAuthorsOptions checks the gradients of what the authors' code adds to
// VFE, by both engines and in two dimensions, and that noise in K_uu loosens the
// bound.
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
		z := must[gppl.Inputs](t)(gppl.KMeans(data.X, 7, 1))
		m := gppl.Model{Kernel: c.kernel, Noise: 0.3}
		loss := func(opt gppl.VFEOptions) *gppl.VFE {
			return must[*gppl.VFE](t)(gppl.NewVFE(m, data, z, opt, gppl.WithEngine(c.engine)))
		}
		t.Run(fmt.Sprint(c.kernel, c.engine, c.d), func(t *testing.T) {
			gppltest.CheckLoss(t, loss(gppl.VFEOptions{NoiseInGram: true}))
			gppltest.CheckLoss(t, loss(gppl.VFEOptions{Repulsion: 20, RepulsionRange: 3}))
			gppltest.CheckLoss(t, loss(gppl.VFEOptions{NoiseInGram: true, Repulsion: 20}))
			proper, _ := valueAt(t, loss(gppl.VFEOptions{}))
			noisy, _ := valueAt(t, loss(gppl.VFEOptions{NoiseInGram: true}))
			if !(noisy > proper) {
				t.Errorf("with the noise in K_uu %v, without %v: want a looser bound", noisy, proper)
			}
			apart, _ := valueAt(t, loss(gppl.VFEOptions{Repulsion: 20, RepulsionRange: 3}))
			want := proper
			for i := range z.Len() {
				for j := range i {
					var r2 float64
					for k := range c.d {
						r2 += math.Pow(z.At(i)[k]-z.At(j)[k], 2)
					}
					want += 20 * math.Exp(-r2/9)
				}
			}
			if math.Abs(apart-want) > 1e-9*math.Abs(want) {
				t.Errorf("with repulsion %v, want %v", apart, want)
			}
		})
	}
}
