package gppl

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestPosteriorEngines compares each engine's posterior with the dense one, at
// inputs within, between and beyond the data.
func TestPosteriorEngines(t *testing.T) {
	t.Parallel()
	d := benchData(t, testkit.Size(100, 200, 200))
	var grid []float64
	points := testkit.Size(65, 120, 120)
	for i := range points {
		grid = append(grid, -300+1560*float64(i)/float64(points))
	}
	grid = append(grid, d.X.at[:5]...)
	x := Scalars(grid)
	for _, k := range []Kernel{
		SE{1.2, 8}, SE{0.9, 300}, RQ{1, 20, 0.8}, Matern52{1.1, 40}, Laplace{0.8, 15}, Matern32{1, 5},
		Periodic{0.7, 1, 90}, LocPer{1, 100, 30, 1}, Add(SE{1, 30}, White{0.3}), Add(Laplace{1, 60}, Matern52{0.5, 9}, White{0.2}),
		Mul(SE{1, 50}, Matern52{1, 40}), Add(Laplace{0.8, 15}, SpectralMixture{0.7, 2000, 40}), Add(SE{0.5, 4}, Periodic{0.7, 1, 9}),
	} {
		m := Model{Kernel: k, Noise: 0.1}
		want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		mean, latent := testkit.Must2(want.Latent(t.Context(), x))(t)
		_, noisy := testkit.Must2(want.Noisy(t.Context(), x))(t)
		wantMean, wantCov := make([]float64, len(grid)), dense.NewLower(len(grid))
		if err := want.predictor.joint(context.Background(), dense.AsColumn(wantMean), wantCov, x); err != nil {
			t.Fatal(err)
		}
		for _, engine := range append(Engines(), "") {
			slow := slices.ContainsFunc([]string{"Mat", "Laplace", "RQ", "period=9"},
				func(of string) bool { return strings.Contains(k.String(), of) })
			if engine == EngineSpectral && testkit.Quick() && slow {
				continue // a slow spectrum
			}
			got, err := NewPosterior(t.Context(), m, d, WithEngine(engine))
			if err != nil {
				if engine == "" {
					t.Fatal(err)
				}
				t.Logf("%v: %v", k, err)
				continue
			}
			name := k.String() + ", " + got.Engine()
			gm, gv := testkit.Must2(got.Latent(t.Context(), x))(t)
			_, gn := testkit.Must2(got.Noisy(t.Context(), x))(t)
			jointMean, jointCov := make([]float64, len(grid)), dense.NewLower(len(grid))
			if err := got.predictor.joint(context.Background(), dense.AsColumn(jointMean), jointCov, x); err != nil {
				t.Fatal(err)
			}
			for i := range grid {
				if math.Abs(gm[i]-mean[i]) > 1e-7 || math.Abs(gv[i]-latent[i]) > 1e-8 || math.Abs(gn[i]-noisy[i]) > 1e-8 ||
					math.Abs(jointMean[i]-mean[i]) > 1e-7 {
					t.Fatalf("%s at x = %v: mean %v (jointly %v), variances %v, %v; dense %v, %v, %v",
						name, grid[i], gm[i], jointMean[i], gv[i], gn[i], mean[i], latent[i], noisy[i])
				}
			}
			for i := range dense.Blocks(len(grid)) {
				for j := range i + 1 {
					a, b := jointCov.At(i, j), wantCov.At(i, j)
					for e := range a.Data {
						if math.Abs(a.Data[e]-b.Data[e]) > 1e-8 {
							t.Fatalf("%s: covariance of tile (%d, %d) entry %d: %v, dense %v", name, i, j, e, a.Data[e], b.Data[e])
						}
					}
				}
			}
		}
	}
}
