package experiment

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestPublishedFigures compares what was read from the figures with what is known about them: Figure 3's markers are the numbers
// in the outputs of the authors' notebook, and the curves of the others are complete.
func TestPublishedFigures(t *testing.T) {
	p, err := LoadPublished()
	if err != nil {
		t.Fatal(err)
	}
	three, err := PublishedFigure(3)
	if err != nil {
		t.Fatal(err)
	}
	markers := 0
	for _, c := range three {
		for i := range c.X {
			markers++
			found := false
			for _, f := range p.E2 {
				found = found || f.Method == c.Name && math.Abs(f.NLL-c.Y[i]) < 0.0051 && math.Abs(f.Seconds-c.X[i]) < 0.051
			}
			if !found {
				t.Errorf("figure 3: %s at %v s, %v nats is in no output", c.Name, c.X[i], c.Y[i])
			}
		}
	}
	if markers != len(p.E2) {
		t.Errorf("figure 3 has %d markers, want %d", markers, len(p.E2))
	}
	one, err := PublishedFigure(1)
	if err != nil {
		t.Fatal(err)
	}
	if len(one) != 16 {
		t.Errorf("figure 1 has %d curves, want four of each design", len(one))
	}
	for _, c := range one {
		if c.X[0] != 1 || c.Name == "K" && math.Abs(c.Y[0]-287.2) > 0.1 {
			t.Errorf("figure 1: %s %s begins at %v with %v", c.Panel, c.Name, c.X[0], c.Y[0])
		}
	}
	two := Figure2Published()
	if math.Abs(two["AdamVFE"]-2.40) > 0.01 || math.Abs(two["BFGSVFE"]-2.58) > 0.01 || len(two) != 6 {
		t.Errorf("figure 2: %v", two)
	}
	if _, err := PublishedFigure(4); err == nil {
		t.Error("the paper has a figure 4")
	}
}

// TestForwardVFE compares the prediction of the authors' code with its formula by explicit inverses, and checks that it exceeds
// the prior's remainder where the sparse posterior does not.
func TestForwardVFE(t *testing.T) {
	sample, err := draw(20, 120, 60, 1).Load()
	if err != nil {
		t.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.SE{Variance: 1.3, Lengthscale: 40}, Noise: 0.2}
	z, x := Grid(0, 1000, 7), []float64{0, 31, 500}
	got, err := ForwardVFE(model, z, sample, x)
	if err != nil {
		t.Fatal(err)
	}
	cov := func(a, b []float64) *mat.Dense {
		m := mat.NewDense(len(a), len(b), nil)
		m.Apply(func(i, j int, _ float64) float64 { return 1.3 * math.Exp(-(a[i]-b[j])*(a[i]-b[j])/3200) }, m)
		return m
	}
	train := sample.Train.X.Coordinate(0)
	u, uf, ux := cov(z, z), cov(z, train), cov(z, x)
	for i := range z {
		u.Set(i, i, u.At(i, i)+0.2)
	}
	var a, iu, ia, w, v mat.Dense
	a.Mul(uf, uf.T())
	a.Scale(1/0.2, &a)
	a.Add(&a, u)
	if err := iu.Inverse(u); err != nil {
		t.Fatal(err)
	}
	if err := ia.Inverse(&a); err != nil {
		t.Fatal(err)
	}
	v.Mul(&iu, ux)
	w.Mul(&ia, &v)
	v.Sub(&v, &w)
	sparse, err := Posterior(model, z, sample)
	if err != nil {
		t.Fatal(err)
	}
	_, proper := testkit.Must2(sparse.Noisy(t.Context(), gppl.Scalars(x)))(t)
	for j := range x {
		want := 1.5 - mat.Dot(ux.ColView(j), v.ColView(j))
		if math.Abs(got[j]-want) > 1e-9 {
			t.Errorf("at %v: %v, want %v", x[j], got[j], want)
		}
		if got[j] <= proper[j] {
			t.Errorf("at %v the authors' code has %v, the sparse posterior %v", x[j], got[j], proper[j])
		}
	}
}
