package auto

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestRegular compares the profile with the value at the variances that it names.
func TestRegular(t *testing.T) {
	d := searchData(600)
	x := make([]float64, d.Len())
	for i := range x {
		x[i] = 0.1 * float64(i)
	}
	d.X = gppl.Scalars(x)
	m := gppl.Model{Kernel: gppl.Add(gppl.RQ{Variance: 1, Lengthscale: 2, Alpha: 0.05}, gppl.White{Variance: 0.02}), Noise: 0.3}
	r := newRegular(t.Context(), m, d)
	nll, factors := make([]float64, 2), make([]float64, 2)
	for _, free := range []bool{true, false} {
		if err := r.NLL(t.Context(), nll, factors, m, []float64{0.3, 0.1}, free); err != nil {
			t.Fatal(err)
		}
		for i, noise := range []float64{0.3, 0.1} {
			for _, off := range []float64{1, 1.01, 0.99} {
				theta := m.Values()
				theta[len(theta)-1] = noise
				for _, p := range r.scaled {
					theta[p] *= factors[i] * off
				}
				v := testkit.Must(r.ValueGrad(t.Context(), nil, theta))(t)
				if off == 1 && math.Abs(v-nll[i]) > 1e-8 || off != 1 && free && !(v > nll[i]) {
					t.Errorf("free %v, noise %v, %v times the factor: %v, profiled %v", free, noise, off, v, nll[i])
				}
			}
		}
	}
	if newRegular(t.Context(), m, searchData(600)) != nil {
		t.Error("irregular times have a likelihood of a constant step")
	}
}

// TestShapes: the exponent of RQ is searched from 1e-3 on. On the sunspots the paper's start leads to alpha = 0.9, and the optimum
// of a part of the data to 8e5; the best is near 0.004, 25 nats lower.
func TestShapes(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some ten seconds")
	}
	fit := func(s dataset.Series) *Result {
		s, _ = s.Standardize()
		d := testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
		r := testkit.Must(Fit(t.Context(), gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 1}, Noise: 1}, d, Settings{}))(t)
		start := gppl.Model{Kernel: gppl.RQ{Variance: 20, Lengthscale: 3, Alpha: 0.0045}, Noise: 0.08}
		near := testkit.Must(gppl.Fit(t.Context(), testkit.Must(gppl.NewExact(t.Context(), start, d))(t), nil,
			gppl.Settings{NoStandardErrors: true}))(t)
		if !(r.Value < near.Value+0.01) {
			t.Errorf("%s: %v, and from %v %v", s.Name, r, start, near)
		}
		return r
	}
	fit(dataset.SunspotsZurich())
	s, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true, Log: io.Discard})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := fit(s); r.Value > 1506.43 {
		t.Errorf("the paper's sunspots: %v, want at most 1506.43", r)
	}
}
