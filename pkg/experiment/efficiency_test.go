package experiment

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestGodambe checks the covariance of the minimiser: for PL alone it is the inverse information of the projections, no loss
// keeps more than all of the information, and the residual energy gains where it is valid.
func TestGodambe(t *testing.T) {
	sample, err := draw(5, 240, 120, 1).Load()
	if err != nil {
		t.Fatal(err)
	}
	model := draw(5, 240, 120, 1).Truth()
	info, err := fisher.New(t.Context(), model, sample.Train.X)
	if err != nil {
		t.Fatal(err)
	}
	omega, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, sample.Train.X, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := godambe(info, omega, false)
	if err != nil {
		t.Fatal(err)
	}
	z, err := info.Projected(t.Context(), omega)
	if err != nil {
		t.Fatal(err)
	}
	var product mat.Dense
	product.Mul(z, cov)
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(product.At(i, j)-want) > 1e-6 {
				t.Errorf("I_Z·cov is %v at %d, %d", product.At(i, j), i, j)
			}
		}
	}
	es, params, err := Efficiencies(scales.Smoke)
	if err != nil {
		t.Fatal(err)
	}
	finite := 0
	for _, e := range es {
		for i, kept := range e.Kept {
			if math.IsNaN(kept) {
				continue
			}
			finite++
			if kept < 0 || kept > 1+1e-6 {
				t.Errorf("%s, residual %v, k = %d keeps %v of the information about %s", e.Design, e.Residual, e.K, kept, params[i].Name)
			}
		}
	}
	if finite < len(es) {
		t.Errorf("%d efficiencies of %d losses", finite, len(es))
	}
}

// TestGodambeSimulated compares it with minimisers over draws, for PL with the residual energy and few Sphere projections, where
// the inverse information would be far too optimistic.
func TestGodambeSimulated(t *testing.T) {
	if testkit.Quick() {
		t.Skip("trains")
	}
	source := draw(20, 240, 240, 1)
	sample, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	x := sample.Train.X
	model := source.Truth().Fix("variance", "lengthscale")
	info, err := fisher.New(t.Context(), model, x)
	if err != nil {
		t.Fatal(err)
	}
	omega, err := gppl.NewProjection(t.Context(), gppl.OneHot{}, x, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	cov, err := godambe(info, omega, true)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 300
	var sum, squares float64
	for seed := range draws {
		draw, err := model.Sample(t.Context(), x, uint64(seed), gppl.WithEngine(gppl.EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		y := draw.Y
		d, err := gppl.NewData(x, y)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := gppl.NewResidual(t.Context(), model, d, omega)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{NoStandardErrors: true})
		if err != nil {
			t.Fatal(err)
		}
		off := math.Log(r.Model.Noise / model.Noise)
		sum += off
		squares += off * off
	}
	got := squares/draws - sum*sum/draws/draws
	if ratio := got / cov.At(0, 0); ratio < 0.7 || ratio > 1.4 {
		t.Errorf("log noise has the variance %.3g over %d draws, %.3g by Godambe", got, draws, cov.At(0, 0))
	}
}
