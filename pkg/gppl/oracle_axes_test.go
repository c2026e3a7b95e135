package gppl_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// oracleAxes is a model of several axes as another library computes it: see scripts/oracle_axes.py.
type oracleAxes struct {
	X, At           [][]float64
	Y               []float64
	Variance, Noise float64
	Factors         []struct {
		Kernel       string
		Axes         []int
		Lengthscales []float64
	}
	Source         string
	NLL            float64
	Grad           []float64
	Mean           []float64
	LatentVariance []float64 `json:"latent_variance"`
}

func pointsOf(x [][]float64) gppl.Inputs {
	var at []float64
	for _, row := range x {
		at = append(at, row...)
	}
	return gppl.Vectors(at, len(x[0]))
}

// kernel is the product of the factors; the first one has the variance.
func (o oracleAxes) kernel() gppl.Kernel {
	var factors []gppl.Kernel
	variance := o.Variance
	for _, f := range o.Factors {
		shape := map[string]gppl.Kernel{"SE": gppl.SE{Variance: variance}, "Laplace": gppl.Laplace{Variance: variance},
			"Matern32": gppl.Matern32{Variance: variance}, "Matern52": gppl.Matern52{Variance: variance}}[f.Kernel]
		factors = append(factors, gppl.On(gppl.ARD(shape, f.Lengthscales...), f.Axes...))
		variance = 1
	}
	return gppl.Mul(factors...)
}

// TestOracleAxes: kernels with a lengthscale for each axis, and a product over axes, as scikit-learn and GPyTorch compute them:
// value, gradient, posterior mean and variance to 1e-8.
func TestOracleAxes(t *testing.T) {
	const limit = 1e-8
	var all []oracleAxes
	if err := json.Unmarshal(testkit.Must(os.ReadFile("testdata/oracle-axes.json"))(t), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 13 {
		t.Fatalf("%d cases", len(all))
	}
	worst := map[string]float64{}
	for i, o := range all {
		m := gppl.Model{Kernel: o.kernel(), Noise: o.Noise}
		d := gppl.Data{X: pointsOf(o.X), Y: o.Y}
		off := func(what string, got, want float64) {
			e := math.Abs(got-want) / (1 + math.Abs(want))
			source := strings.Fields(o.Source)[0] + " " + what
			worst[source] = max(worst[source], e)
			if !(e <= limit) {
				t.Errorf("case %d, %s, %v: %s is %.12g, theirs %.12g (%.2g)", i, o.Source, m.Kernel, what, got, want, e)
			}
		}
		value, grad := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, d))(t))
		off("value", value, o.NLL)
		params, next := m.FixRedundant().Params(), 0
		for p, param := range params {
			if param.IsFixed() {
				continue // the variance of a further factor
			}
			off("derivative", grad[p]*param.Value, o.Grad[next])
			next++
		}
		if next != len(o.Grad) {
			t.Errorf("case %d: %d derivatives, they have %d", i, next, len(o.Grad))
		}
		post := testkit.Must(gppl.NewPosterior(t.Context(), m, d))(t)
		mean, variances := testkit.Must2(post.Latent(t.Context(), pointsOf(o.At)))(t)
		for j := range mean {
			off("mean", mean[j], o.Mean[j])
			off("variance", variances[j], o.LatentVariance[j])
		}
	}
	t.Log(worst)
}
