package gppl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// oracleSeries is a series with error bars, and what others compute of it: see
// scripts/oracle_models.py.
type oracleSeries struct {
	Name         string
	X, Y, Errors []float64
	At           []float64
	Cases        []struct {
		Source, Kernel               string
		Variance, Lengthscale, Noise float64
		InterceptVariance            *float64 `json:"intercept_variance"`
		SlopeVariance                *float64 `json:"slope_variance"`
		NLL                          float64
		Mean                         []float64
		LatentVariance               []float64 `json:"latent_variance"`
		LeftMean                     []float64 `json:"left_out_mean"`
		LeftVariance                 []float64 `json:"left_out_variance"`
	}
}

// TestOracleModels: means, error bars and leave-one-out as scikit-learn and celerite2 have
// them, to 1e-6, by every engine that takes known errors.
func TestOracleModels(t *testing.T) {
	b, err := os.ReadFile("testdata/oracle-models.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []oracleSeries
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 {
		t.Fatalf("%d series", len(all))
	}
	engines := map[string][]string{
		"SE":       {gppl.EngineDense, gppl.EngineBanded, ""},
		"Matern32": {gppl.EngineDense, gppl.EngineBanded, gppl.EngineStateSpace, ""},
		"Laplace":  {gppl.EngineDense, gppl.EngineBanded, gppl.EngineStateSpace, ""},
	}
	for _, s := range all {
		d := gppl.Data{X: gppl.Scalars(s.X), Y: s.Y, Errors: s.Errors}
		at := gppl.Scalars(s.At)
		for i, c := range s.Cases {
			m := gppl.Model{Noise: c.Noise}
			switch c.Kernel {
			case "SE":
				m.Kernel = gppl.SE{Variance: c.Variance, Lengthscale: c.Lengthscale}
			case "Matern32":
				m.Kernel = gppl.Matern32{Variance: c.Variance, Lengthscale: c.Lengthscale}
			case "Laplace":
				m.Kernel = gppl.Laplace{Variance: c.Variance, Lengthscale: c.Lengthscale}
			}
			if c.InterceptVariance != nil {
				m.Mean = gppl.GaussianBeta{Of: gppl.AddMeans(gppl.Intercept{}, gppl.Linear{}),
					Variances: []float64{*c.InterceptVariance, *c.SlopeVariance}}
			}
			for _, engine := range engines[c.Kernel] {
				t.Run(fmt.Sprintf("%s/%d %s/%s", s.Name, i, c.Kernel, engine), func(t *testing.T) {
					got := valueOf(t, meanCase{model: m, data: d}, engine)
					if !(math.Abs(got-c.NLL) <= 1e-6) {
						t.Errorf("NLL %.10g, %s has %.10g", got, c.Source, c.NLL)
					}
					p, err := gppl.NewPosterior(t.Context(), m, d, gppl.WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					mean, variances := testkit.Must2(p.Latent(t.Context(), at))(t)
					closeTo(t, c.Source+": mean", mean, c.Mean)
					closeTo(t, c.Source+": variance", variances, c.LatentVariance)
					mean, variances, err = gppl.LeaveOut(t.Context(), m, d, nil, gppl.WithEngine(engine))
					if err != nil {
						t.Fatal(err)
					}
					closeTo(t, c.Source+": mean, left out", mean, c.LeftMean)
					closeTo(t, c.Source+": variance, left out", variances, c.LeftVariance)
				})
			}
		}
	}
}

func closeTo(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-6*(1+math.Abs(want[i]))) {
			t.Errorf("%s, %d: %.10g, want %.10g", what, i, got[i], want[i])
		}
	}
}
