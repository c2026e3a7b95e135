package experiment

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestRandomStart: starts differ between seeds, are the same again, and cover each side of the box.
func TestRandomStart(t *testing.T) {
	x, y := make([]float64, 100), make([]float64, 100)
	for i := range x {
		x[i], y[i] = float64(i), 2*float64(1-2*(i%2))
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	want := map[string][2]float64{"variance": {0.04, 400}, "lengthscale": {0.495, 198}, "period": {1.98, 99}, "alpha": {1e-3, 1e2},
		"periodic lengthscale": {1e-3, 1e2}, gppl.NoiseName: {4e-4, 4}}
	for _, kernel := range KernelNames {
		m := gppl.PaperModel(Kernels[kernel])
		seen := map[string][]float64{}
		for seed := uint64(1); seed <= 200; seed++ {
			start, again := randomStart(m, d, seed), randomStart(m, d, seed).Values()
			for i, p := range start.Params() {
				box, ok := want[p.Name]
				if !ok || p.Value < box[0] || p.Value > box[1] || again[i] != p.Value {
					t.Fatalf("%s: %v, want it in %v, and %v again", kernel, p, box, again[i])
				}
				seen[p.Name] = append(seen[p.Name], math.Log(p.Value/box[0])/math.Log(box[1]/box[0]))
			}
		}
		for name, v := range seen {
			var low, high int
			for _, u := range v {
				if u < 0.25 {
					low++
				} else if u > 0.75 {
					high++
				}
			}
			if low < 20 || high < 20 {
				t.Errorf("%s: of 200 starts %d have a %s in the lowest quarter of its box and %d in the highest", kernel, low, name, high)
			}
		}
	}
}

// TestSunspotsByWhittle: within 5 nats of the exact optimum from the paper's start by L-BFGS, except RQ without a taper.
func TestSunspotsByWhittle(t *testing.T) {
	e := evidence(t)
	for _, kernel := range KernelNames {
		for _, taper := range []bool{false, true} {
			one := Where(e.Sunspots, SunspotsByWhittle(GPPL, kernel, taper, false))
			random := Where(e.Sunspots, SunspotsByWhittle(GPPL, kernel, taper, true))
			if len(one) != 1 || len(random) != int(randomStarts(scales.Full)) || len(Where(e.Sunspots, SunspotsByWhittle(Paper, kernel, taper, false))) != 1 {
				t.Fatalf("%s: %d and %d outcomes", kernel, len(one), len(random))
			}
			if nats := Excess(e.Sunspots, one)[0]; !taper && kernel != "RQ" && !(nats < 5) {
				t.Errorf("%s from the paper's start ends %v nats above the optimum", kernel, nats)
			}
		}
	}
}
