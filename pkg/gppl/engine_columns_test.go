package gppl

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// trendColumns returns y beside the basis of a mean: a constant, a slope, a wave.
func trendColumns(d Data) blas64.General {
	c := newGeneral(d.Len(), 4)
	lo, hi := d.X.Range(0)
	for i, x := range d.X.at {
		u := (x - lo) / (hi - lo)
		copy(c.Data[4*i:], []float64{d.Y[i], 1, u - 0.5, math.Sin(5 * u)})
	}
	return c
}

// checkColumns compares an engine for several columns with the dense one: CᵀA⁻¹C,
// log|A|, the gradient for a random R and the means, to what both promise. It reports
// false if the engine does not take the model.
func checkColumns(t *testing.T, e exactEngine, d Data, c blas64.General, k Kernel, noise float64, rnd *rand.Rand) bool {
	t.Helper()
	m := compiledAt(k, noise)
	forecast := e.forecast(m)
	if forecast.reason != (reason{}) {
		return false
	}
	reference := newDenseExact(d.X, c)
	err := forecast.err + reference.forecast(m).err + float64(d.Len())*phases(k, extent(d.X), noise, 1)
	got, e1 := e.factor(m)
	want, e2 := reference.factor(m)
	if e1 != nil || e2 != nil {
		t.Fatal(k, e1, e2)
	}
	n, cols := float64(d.Len()), c.Cols
	g, h := newGeneral(cols, cols), newGeneral(cols, cols)
	got.gram(g)
	want.gram(h)
	off := 0.0 // of what is allowed
	check := func(what string, a, b, limit float64) {
		t.Helper()
		off = max(off, math.Abs(a-b)/limit)
		if !(math.Abs(a-b) <= limit) {
			t.Errorf("%s of %v, noise %v: %s is %v, dense %v: off by %.2g, allowed %.2g", e.name(), k, noise, what, a, b, math.Abs(a-b), limit)
		}
	}
	extra := got.uncertainty()
	check("log|A|", got.logDet(), want.logDet(), err)
	for i := range cols {
		for j := range cols {
			// The uncertainty of basis columns is relative to their forms.
			scale := math.Sqrt(h.Data[i*(cols+1)] * h.Data[j*(cols+1)])
			check("CᵀA⁻¹C", g.Data[i*cols+j], h.Data[i*cols+j], err*scale/n+2*extra*(1+scale))
		}
	}
	r := newGeneral(cols, 2)
	for i := range r.Data {
		r.Data[i] = rnd.NormFloat64()
	}
	form := weightedForm(h, r)
	slope, wantSlope := make([]float64, len(m.theta)+1), make([]float64, len(m.theta)+1)
	for range 2 { // a factor is a value
		if err := got.gradient(slope, r); err != nil {
			t.Fatal(k, noise, err)
		}
	}
	if err := want.gradient(wantSlope, r); err != nil {
		t.Fatal(err)
	}
	for p := range slope {
		check("the gradient", slope[p], wantSlope[p], 20*(err*(1+form/n)+extra*(1+form)))
	}
	lo, hi := d.X.Range(0)
	at := []float64{lo, 0.3*lo + 0.7*hi, hi, hi + 0.001*(hi-lo), hi + 0.3*(hi-lo)}
	means, wantMeans := newGeneral(len(at), cols), newGeneral(len(at), cols)
	v, wantV := make([]float64, len(at)), make([]float64, len(at))
	fresh, e3 := reference.factor(m)
	if e3 != nil {
		t.Fatal(e3)
	}
	fresh.gram(h)
	p, q := got.posterior(), fresh.posterior()
	if err := p.latent(context.Background(), means, v, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	if err := q.latent(context.Background(), wantMeans, wantV, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	sd := math.Sqrt(variance(k))
	for i := range at {
		check("a variance", v[i], wantV[i], 1e-9*sd*sd)
		for j := range cols {
			check("a mean", means.Data[i*cols+j], wantMeans.Data[i*cols+j], 1e-9*sd*math.Sqrt(h.Data[j*(cols+1)]))
		}
	}
	joint, cov := newGeneral(len(at), cols), dense.NewLower(len(at))
	if err := p.joint(context.Background(), joint, cov, Scalars(at)); err != nil {
		t.Fatal(err)
	}
	for i := range joint.Data {
		check("a mean of joint", joint.Data[i], wantMeans.Data[i], 1e-9*sd*math.Sqrt(h.Data[i%cols*(cols+1)]))
	}
	t.Logf("%s of %v, noise %v: at most %.2g of what is allowed", e.name(), k, noise, off)
	return true
}

// TestSpectralManyColumns: several columns at once, by images and by windows.
func TestSpectralManyColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	d := benchData(t, 150)
	c := trendColumns(d)
	series := sortLine(d.X)
	series.setColumns(c)
	e := newSpectralExact(series, options{tolerance: defaultTolerance})
	for _, k := range []Kernel{SE{1, 40}, RQ{2, 60, 1}, LocPer{1, 300, 130, 1}, Periodic{1, 1, 300}, Add(SE{1, 900}, White{0.1}), SE{1, 50}, Matern52{1, 100}} {
		for _, noise := range []float64{0.01, 1} {
			if !checkColumns(t, e, d, c, k, noise, rnd) {
				t.Errorf("%v is not taken", k)
			}
		}
	}
}

// TestGriddedManyColumns: several columns at once.
func TestGriddedManyColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 2))
	d := benchData(t, 150)
	c := trendColumns(d)
	series := sortLine(d.X)
	series.setColumns(c)
	e := newGriddedExact(series)
	for _, k := range []Kernel{SE{1, 40}, SE{2, 5}, Add(SE{1, 900}, White{0.1}), SE{1, 50}} {
		for _, noise := range []float64{0.01, 1} {
			if !checkColumns(t, e, d, c, k, noise, rnd) {
				t.Errorf("%v is not taken", k)
			}
		}
	}
}
