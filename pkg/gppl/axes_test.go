package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
	"gonum.org/v1/gonum/mat"
)

// scattered are n points of d axes, axis a uniform on [0, sizes[a]], with y drawn from the model.
func scattered(t *testing.T, m gppl.Model, n int, seed uint64, sizes ...float64) gppl.Data {
	rnd := rand.New(rand.NewPCG(seed, 17))
	x := make([]float64, n*len(sizes))
	for i := range x {
		x[i] = sizes[i%len(sizes)] * rnd.Float64()
	}
	points := gppl.Vectors(x, len(sizes))
	draw, err := m.Sample(t.Context(), points, seed)
	if err != nil {
		t.Fatal(err)
	}
	return gppl.Data{X: points, Y: draw.Y}
}

// TestAxesAlike: what can be written in two ways has one likelihood and one gradient: a kernel on one axis is the kernel of a
// series, ARD with one lengthscale the kernel itself, SE with a lengthscale for each axis a product of SE on axes.
func TestAxesAlike(t *testing.T) {
	m := gppl.Model{Kernel: gppl.ARD(gppl.Matern52{Variance: 1}, 2, 30), Noise: 0.1}
	d := scattered(t, m, 60, 1, 10, 100)
	value := func(k gppl.Kernel, d gppl.Data) (float64, []float64) {
		l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: k, Noise: 0.1}, d))(t)
		return valueAt(t, l)
	}
	second := gppl.Data{X: gppl.Scalars(d.X.Coordinate(1)), Y: d.Y}
	for name, c := range map[string]struct {
		left, right gppl.Kernel
		data        gppl.Data
	}{
		"one axis":        {gppl.On(gppl.Matern32{Variance: 2, Lengthscale: 9}, 1), gppl.Matern32{Variance: 2, Lengthscale: 9}, second},
		"one lengthscale": {gppl.ARD(gppl.RQ{Variance: 2, Alpha: 2}, 9, 9), gppl.RQ{Variance: 2, Lengthscale: 9, Alpha: 2}, d},
		"product": {gppl.ARD(gppl.SE{Variance: 2}, 3, 40), gppl.Mul(gppl.On(gppl.SE{Variance: 2, Lengthscale: 3}, 0),
			gppl.On(gppl.SE{Variance: 1, Lengthscale: 40}, 1)), d},
		"order": {gppl.On(gppl.ARD(gppl.Laplace{Variance: 2}, 40, 3), 1, 0), gppl.ARD(gppl.Laplace{Variance: 2}, 3, 40), d},
	} {
		got, g := value(c.left, d)
		want, w := value(c.right, c.data)
		if !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
			t.Errorf("%s: %.14g and %.14g", name, got, want)
		}
		var left, right float64 // in the scale of all lengthscales
		for i, p := range (gppl.Model{Kernel: c.left, Noise: 1}).Params() {
			if p.Unit == gppl.UnitX {
				left += g[i] * p.Value
			}
		}
		for i, p := range (gppl.Model{Kernel: c.right, Noise: 1}).Params() {
			if p.Unit == gppl.UnitX {
				right += w[i] * p.Value
			}
		}
		if !(math.Abs(left-right) <= 1e-9*(1+math.Abs(right))) {
			t.Errorf("%s: derivatives in the lengthscales %.12g and %.12g", name, left, right)
		}
	}
}

// TestAxesNames: parameters have the names of the kernels, and all but one variance of a product is redundant.
func TestAxesNames(t *testing.T) {
	k := gppl.Mul(gppl.On(gppl.ARD(gppl.SE{Variance: 1}, 1, 2), 0, 1), gppl.On(gppl.SE{Variance: 1, Lengthscale: 3}, 2))
	m := gppl.Model{Kernel: k, Noise: 0.1}.FixRedundant()
	var names []string
	for _, p := range m.Params() {
		if !p.IsFixed() {
			names = append(names, p.Name)
		}
	}
	want := []string{"SE1.variance", "SE1.lengthscale 0", "SE1.lengthscale 1", "SE2.lengthscale", "noise variance"}
	if !slices.Equal(names, want) {
		t.Errorf("trained are %q, want %q", names, want)
	}
	if got := fmt.Sprint(m.AxesOf(3)); got != "[[0 1] [0] [1] [2] [2]]" {
		t.Errorf("the axes of the parameters are %s", got)
	}
}

// TestAxesRefused: axes that the inputs do not have, and what no axis can have, are errors that say so.
func TestAxesRefused(t *testing.T) {
	d := gppl.Data{X: gppl.Vectors(make([]float64, 8), 2), Y: make([]float64, 4)}
	se := gppl.SE{Variance: 1, Lengthscale: 1}
	for want, k := range map[string]gppl.Kernel{
		"on axis 2, and the inputs have dimension 2": gppl.Add(se, gppl.On(se, 2)),
		"3 lengthscales for 2 axes":                  gppl.ARD(se, 1, 2, 3),
		"1 lengthscales for 2 axes":                  gppl.On(gppl.ARD(se, 1), 0, 1),
		"put it on an axis by On":                    gppl.ChangePoint{Before: se, After: se, Width: 1},
		"Add White outside":                          gppl.On(gppl.Add(se, gppl.White{Variance: 1}), 0),
	} {
		if _, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: k, Noise: 1}, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", k, err, want)
		}
	}
	for want, f := range map[string]func(){
		"gppl: On: there are no axes":           func() { gppl.On(se) },
		"gppl: On: axes = [1 1]":                func() { gppl.On(se, 1, 1) },
		"gppl: On: axes = [-1]":                 func() { gppl.On(se, -1) },
		"gppl: ARD: there are no lengthscales":  func() { gppl.ARD(se) },
		"does not depend on the distance alone": func() { gppl.ARD(gppl.On(se, 0), 1) },
		"gppl: Covariance: gppl: On(SE(variance=": func() {
			_ = gppl.Covariance(t.Context(), make([]float64, 16), gppl.On(se, 2), d.X, d.X)
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panicked with %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// TestAxesFit: auto.Fit finds lengthscales of very different axes, whatever their units, with standard errors that agree with the
// Fisher information; the result says so, and survives being saved.
func TestAxesFit(t *testing.T) {
	t.Parallel()
	truth := gppl.Model{Kernel: gppl.Mul(gppl.On(gppl.ARD(gppl.Matern52{Variance: 2}, 2, 30), 0, 1),
		gppl.On(gppl.Matern32{Variance: 1, Lengthscale: 0.5}, 2)), Noise: 0.05}
	d := scattered(t, truth, 220, 3, 10, 100, 1)
	family := truth.FixRedundant()
	r := testkit.Must(auto.Fit(t.Context(), family, d, auto.Settings{}))(t)
	start := testkit.Must(auto.StartFrom(t.Context(), family, d))(t)
	atTruth := testkit.Must(gppl.NewExact(t.Context(), truth, d))(t)
	if v, _ := valueAt(t, atTruth); !(r.Value <= v) {
		t.Errorf("auto.Fit ended at %v, the truth has %v", r.Value, v)
	}
	if got, want := start.Values()[2]/start.Values()[1], 10.; math.Abs(got/want-1) > 0.1 {
		t.Errorf("lengthscales start at a ratio of %.3g, the axes have %v", got, want)
	}
	info := testkit.Must(fisher.New(t.Context(), r.Model, d.X))(t)
	var inverse mat.Dense
	if err := inverse.Inverse(info.Data()); err != nil {
		t.Fatal(err)
	}
	names := map[string]float64{}
	for i, p := range info.Params() {
		names[p.Name] = math.Sqrt(inverse.At(i, i))
	}
	theta := truth.Values()
	for i, p := range r.Params {
		if p.IsFixed() {
			continue
		}
		in := math.Log(p.Value / theta[i])
		relative := p.StdErrLog
		if !(math.Abs(in) < 4*relative) {
			t.Errorf("%s = %.4g ± %.2g, drawn from %.4g", p.Name, p.Value, p.StdErr(), theta[i])
		}
		if ratio := relative / names[p.Name]; !(ratio > 0.5 && ratio < 2) {
			t.Errorf("%s: standard error %.3g of itself, by the Fisher information %.3g", p.Name, relative, names[p.Name])
		}
	}
	if text := r.String(); !strings.Contains(text, "Matern52.lengthscale 1") {
		t.Errorf("the result does not name the lengthscales:\n%s", text)
	}
	path := filepath.Join(t.TempDir(), "axes.json")
	if err := store.Save(path, r.Result); err != nil {
		t.Fatal(err)
	}
	if back := testkit.Must(store.Load(path))(t); back.Model.String() != r.Model.String() {
		t.Errorf("saved %v, loaded %v", r.Model, back.Model)
	}
}

// TestAxesDraws: prior draws have the covariance of the kernel, and posterior draws, terms and joint predictions agree with
// Latent.
func TestAxesDraws(t *testing.T) {
	k := gppl.Add(gppl.On(gppl.SE{Variance: 1, Lengthscale: 2}, 0), gppl.On(gppl.Matern32{Variance: 0.5, Lengthscale: 20}, 1))
	m := gppl.Model{Kernel: k, Noise: 0.1}
	d := scattered(t, m, 40, 5, 10, 100)
	post := testkit.Must(gppl.NewPosterior(t.Context(), m, d))(t)
	at := gppl.Vectors([]float64{1, 20, 3, 90, 11, -5, 7, 7}, 2)
	mean, variances := testkit.Must2(post.Latent(t.Context(), at))(t)
	joint, cov := testkit.Must2(post.Joint(t.Context(), at))(t)
	var of [2][]float64
	for j := range of {
		of[j], _ = testkit.Must2(testkit.Must(post.Term(j))(t).Latent(t.Context(), at))(t)
	}
	const count = 4000
	draws := testkit.Must(post.Sample(t.Context(), at, count, 7))(t)
	for i := range mean {
		if math.Abs(joint[i]-mean[i]) > 1e-12 || math.Abs(cov.At(i, i)-variances[i]) > 1e-12 {
			t.Errorf("jointly %v ± √%v, alone %v ± √%v", joint[i], cov.At(i, i), mean[i], variances[i])
		}
		if math.Abs(of[0][i]+of[1][i]-mean[i]) > 1e-10 {
			t.Errorf("the terms are %v and %v, their sum %v", of[0][i], of[1][i], mean[i])
		}
		var sum float64
		for _, draw := range draws {
			sum += draw.F[i] / count
		}
		if math.Abs(sum-mean[i]) > 4.5*math.Sqrt(variances[i]/count) {
			t.Errorf("draws have the mean %v, the posterior %v", sum, mean[i])
		}
	}
	// f depends on one coordinate through each term.
	first := testkit.Must(post.Term(0))(t)
	slopes, _ := testkit.Must2(first.Gradient(t.Context(), at))(t)
	for i := range at.Len() {
		if slopes[2*i] == 0 || slopes[2*i+1] != 0 {
			t.Errorf("the gradient of the term on axis 0 is %v", slopes[2*i:2*i+2])
		}
	}
}

// TestARDFarFromZero: a kernel with a lengthscale for each axis depends on differences alone, to the last digits, also where inputs
// are years or seconds since 1970.
func TestARDFarFromZero(t *testing.T) {
	for _, k := range []gppl.Anisotropic{gppl.ARD(gppl.SE{Variance: 2}, 0.3), gppl.ARD(gppl.Matern52{Variance: 2}, 0.3, 0.7),
		gppl.ARD(gppl.RQ{Variance: 2, Alpha: 0.6}, 0.3, 0.7, 3)} {
		d := len(k.Lengthscales())
		x, y := make([]float64, d), make([]float64, d)
		farX, farY := make([]float64, d), make([]float64, d)
		for a := range d {
			x[a], y[a] = 0.125*float64(a), 0.25+0.375*float64(a) // exact at either place
			farX[a], farY[a] = 1<<31+x[a], 1<<31+y[a]
		}
		near, far := make([]float64, len(k.Params())), make([]float64, len(k.Params()))
		k.ContractAt(near, 1, x, y)
		k.ContractAt(far, 1, farX, farY)
		slope, farSlope := make([]float64, d), make([]float64, d)
		k.SlopeAt(slope, x, y)
		k.SlopeAt(farSlope, farX, farY)
		want, got := append(append(near, slope...), k.At(x, y)), append(append(far, farSlope...), k.At(farX, farY))
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-15*math.Abs(want[i]) {
				t.Errorf("%v: number %d is %v, and %v far from 0", k, i, want[i], got[i])
			}
		}
	}
}
