package experiment

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestInformation: nothing keeps more than the data have, the exact likelihood keeps all of it, and VFE has a bias that falls with m.
func TestInformation(t *testing.T) {
	all, params, err := Information(t.Context(), scales.Smoke)
	if err != nil {
		t.Fatal(err)
	}
	bias := map[int]float64{}
	for _, k := range all {
		if len(k.Kept) != len(params) || !(k.Seconds > 0) {
			t.Errorf("%+v", k)
		}
		for a, kept := range k.Kept {
			if kept > 1+1e-6 && k.Loss != VFE || k.Loss == ML && math.Abs(kept-1) > 1e-9 {
				t.Errorf("%s %s %d keeps %v of the information about %s", k.Loss, k.Design, k.Order, kept, params[a].Name)
			}
		}
		if k.Loss == VFE {
			bias[k.Order] = k.Bias[len(k.Bias)-1]
		}
	}
	if !(bias[10] > 0.1) || !(math.Abs(bias[40]) < 0.1*bias[10]) {
		t.Errorf("the bias of the log of VFE's noise variance, by m: %v, want a positive one that vanishes", bias)
	}
}

// TestVFEOptimum: with an inducing input at every observation VFE is the exact likelihood. With few, its minimum over draws is where
// first order says, and scatters as it says.
func TestVFEOptimum(t *testing.T) {
	x := make([]float64, 60)
	for i := range x {
		x[i] = 3 * float64(i)
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 8}, Noise: 0.2}
	info := testkit.Must(fisher.New(t.Context(), m, gppl.Scalars(x)))(t)
	cov, bias, err := vfeOptimum(t.Context(), m, gppl.Scalars(x), len(x), info)
	if err != nil {
		t.Fatal(err)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(info.Data()); err != nil {
		t.Fatal(err)
	}
	for a := range bias {
		if math.Abs(bias[a]) > 2e-3 || math.Abs(cov.At(a, a)/inverse.At(a, a)-1) > 0.01 {
			t.Errorf("parameter %d: bias %v, variance %v, want 0 and %v", a, bias[a], cov.At(a, a), inverse.At(a, a))
		}
	}

	b := &bound{m, x, []float64{0, 45, 90, 135, 177}, info.Covariance()}
	theta, z := m.Values(), gppl.Scalars(b.z)
	j := testkit.Must(b.scores(theta))(t)
	const draws = 400
	var value, spread float64
	last := len(theta) - 1
	for seed := range uint64(draws) {
		y := testkit.Must(m.Sample(t.Context(), gppl.Scalars(x), seed))(t).Y
		vfe := testkit.Must(gppl.NewVFE(t.Context(), m, gppl.Data{X: gppl.Scalars(x), Y: y}, z, gppl.VFEOptions{}))(t)
		grad := make([]float64, len(vfe.Params()))
		v := testkit.Must(vfe.ValueGrad(t.Context(), grad, gppl.Values(vfe.Params())))(t)
		value += v / draws
		slope := grad[last] * theta[last]
		spread += slope * slope / draws
	}
	const log2Pi = 1.8378770664093453
	if want := b.value(theta) + 0.5*float64(len(x))*log2Pi; math.Abs(value-want) > 4*math.Sqrt(float64(len(x)))/math.Sqrt(draws) {
		t.Errorf("VFE is %v in the mean over draws, want %v", value, want)
	}
	up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
	up[last] *= math.Exp(1e-4)
	down[last] *= math.Exp(-1e-4)
	mean := (b.value(up) - b.value(down)) / 2e-4
	if want := j.At(last, last) + mean*mean; math.Abs(spread/want-1) > 0.2 {
		t.Errorf("the mean square of the derivative in the log of the noise variance is %v over draws, want %v", spread, want)
	}
}
