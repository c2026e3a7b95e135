package gppl_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

func designs() []gppl.Design {
	return []gppl.Design{
		gppl.Sphere{}, gppl.Repulsive{}, gppl.Localised{}, gppl.OneHot{}, gppl.Mixed{}, gppl.Spectral{},
		gppl.Eigen{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}},
		gppl.Mixed{Designs: []gppl.Design{gppl.Spectral{}, gppl.OneHot{}}},
	}
}

// uniform is n times on [0, side], unsorted.
func uniform(n int, side float64, seed uint64) gppl.Inputs {
	rnd := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, n)
	for i := range x {
		x[i] = side * rnd.Float64()
	}
	return gppl.Scalars(x)
}

func TestDesigns(t *testing.T) {
	x := uniform(300, 30, 1)
	for _, design := range append(designs(), gppl.Identity{}, gppl.Raw{Design: gppl.Sphere{}}) {
		t.Run(design.String(), func(t *testing.T) { gppltest.CheckDesign(t, design) })
	}
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Repulsive{}, gppl.OneHot{}} {
		one := testkit.Must(gppl.NewProjection(t.Context(), design, x, 20, 4))(t)
		other := testkit.Must(gppl.NewProjection(t.Context(), design, x, 20, 5))(t)
		if mat.Equal(testkit.Must(one.Omega(t.Context()))(t), testkit.Must(other.Omega(t.Context()))(t)) {
			t.Errorf("%v: another seed gives the same Ω", design)
		}
	}
}

// TestDesignDirections checks what each design promises of its directions.
func TestDesignDirections(t *testing.T) {
	const n, k = 200, 9
	x := uniform(n, 50, 2)
	raw := func(d gppl.Design) *mat.Dense {
		return testkit.Must(testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: d}, x, k, 3))(t).Omega(t.Context()))(t)
	}

	oneHot := raw(gppl.OneHot{})
	for j := range k {
		if c := oneHot.ColView(j); mat.Sum(c) != 1 || mat.Max(c) != 1 || mat.Norm(c, 2) != 1 {
			t.Errorf("OneHot direction %d is not a coordinate", j)
		}
	}

	bumps := raw(gppl.Localised{})
	lo, hi := x.Range(0)
	for j := range k {
		centre := lo + (hi-lo)*(float64(j)+0.5)/k
		for i := range n {
			d := (x.At(i)[0] - centre) / ((hi - lo) / (3 * k))
			if want := math.Exp(-d * d / 2); math.Abs(bumps.At(i, j)-want) > 1e-12 {
				t.Fatalf("Localised[%d][%d] = %v, want %v", i, j, bumps.At(i, j), want)
			}
		}
	}

	waves := raw(gppl.Spectral{Stretch: 1.08})
	for i := range n {
		a := 2 * math.Pi * (x.At(i)[0] - lo) / (1.08 * (hi - lo))
		for j, want := range []float64{1, math.Cos(a), math.Sin(a), math.Cos(2 * a), math.Sin(2 * a)} {
			if math.Abs(waves.At(i, j)-want) > 1e-12 {
				t.Fatalf("Spectral[%d][%d] = %v, want %v", i, j, waves.At(i, j), want)
			}
		}
	}

	// Repulsion drives the directions apart and keeps their span.
	sphere, repelled := raw(gppl.Sphere{}), raw(gppl.Repulsive{})
	if a, b := coherence(sphere), coherence(repelled); b > 1e-3*a {
		t.Errorf("largest cosine between directions: %v after repulsion, %v before", b, a)
	}
	p := testkit.Must(testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, x, k, 3))(t).Omega(t.Context()))(t)
	q := testkit.Must(testkit.Must(gppl.NewProjection(t.Context(), gppl.Repulsive{}, x, k, 3))(t).Omega(t.Context()))(t)
	var overlap mat.Dense
	overlap.Mul(p.T(), q)
	if d := math.Abs(mat.Det(&overlap)); math.Abs(d-1) > 1e-10 {
		t.Errorf("|det| of the overlap of the spans of Sphere and Repulsive is %v, want 1", d)
	}
	// One step, as the authors write it.
	var want, gram, off mat.Dense
	gram.Mul(sphere.T(), sphere)
	off.CloneFrom(&gram)
	for j := range k {
		off.Set(j, j, 0)
	}
	want.Mul(sphere, &off)
	want.Scale(-0.3, &want)
	want.Add(sphere, &want)
	for j := range k {
		c := want.ColView(j).(*mat.VecDense)
		c.ScaleVec(1/mat.Norm(c, 2), c)
	}
	if got := raw(gppl.Repulsive{Steps: 1, Rate: 0.3}); !mat.EqualApprox(got, &want, 1e-12) {
		t.Error("one step of repulsion differs from normalise(W − η·W·offdiag(WᵀW))")
	}

	// Eigen diagonalises K, largest first.
	kernel := gppl.SE{Variance: 2, Lengthscale: 3}
	e := raw(gppl.Eigen{Kernel: kernel})
	gramK := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			c := []float64{math.Abs(x.At(i)[0] - x.At(j)[0])}
			kernel.Cov(c, c)
			gramK.Set(i, j, c[0])
		}
	}
	var ke, eke mat.Dense
	ke.Mul(gramK, e)
	eke.Mul(e.T(), &ke)
	for i := range k {
		for j := range k {
			if i != j && math.Abs(eke.At(i, j)) > 1e-10*eke.At(0, 0) || i == j && i > 0 && eke.At(i, i) > eke.At(i-1, i-1) {
				t.Fatalf("UᵀKU[%d][%d] = %v", i, j, eke.At(i, j))
			}
		}
	}
}

// coherence is the largest |cosine| between two columns.
func coherence(w *mat.Dense) float64 {
	var gram mat.Dense
	gram.Mul(w.T(), w)
	worst := 0.0
	_, k := w.Dims()
	for i := range k {
		for j := range i {
			worst = max(worst, math.Abs(gram.At(i, j)))
		}
	}
	return worst
}

func TestProjectionErrors(t *testing.T) {
	x := uniform(50, 10, 3)
	var gap []float64 // nothing in the middle
	for i := range 100 {
		gap = append(gap, 0.01*float64(i), 100-0.01*float64(i))
	}
	for _, c := range []struct {
		name   string
		design gppl.Design
		x      gppl.Inputs
		k      int
		want   string
	}{
		{"k = 0", gppl.Sphere{}, x, 0, "k = 0"},
		{"k > n", gppl.Sphere{}, x, 51, "k = 51 projections of n = 50"},
		{"identity", gppl.Identity{}, x, 49, "k = n = 50"},
		{"no inputs", gppl.Sphere{}, gppl.Scalars(nil), 1, "x is empty"},
		{"NaN", gppl.Spectral{}, gppl.Scalars([]float64{1, math.NaN()}), 1, "x[1] = NaN"},
		{"d = 2", gppl.Spectral{}, gppl.Vectors([]float64{1, 2, 3, 4}, 2), 1, "dimension 1, not 2"},
		{"all equal", gppl.Localised{}, gppl.Scalars([]float64{3, 3, 3}), 2, "all x equal 3"},
		{"eigen without kernel", gppl.Eigen{}, x, 3, "needs a kernel"},
		{"gap", gppl.Localised{}, gppl.Scalars(gap), 90, "columns ["},
		{"duplicated design", gppl.Mixed{Designs: []gppl.Design{gppl.Spectral{}, gppl.Spectral{}}}, x, 6,
			"rank 3 of k = 6: columns [3 4 5]"},
		{"duplicated inputs", gppl.Spectral{}, gppl.Scalars([]float64{1, 1, 1, 2, 2, 2, 3}), 5, "rank 3 of k = 5: columns [3 4]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := gppl.NewProjection(t.Context(), c.design, c.x, c.k, 1)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an error that says %q", p, err, c.want)
			}
		})
	}
}

func TestKMeans(t *testing.T) {
	// Three tight clusters, on the line and in the plane.
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{1, 2} {
		var x []float64
		for i := range 300 {
			for range d {
				x = append(x, 10*float64(i%3)+0.1*rnd.NormFloat64())
			}
		}
		c := testkit.Must(gppl.Vectors(x, d).KMeans(t.Context(), 3, 2))(t)
		found := map[float64]bool{}
		for i := range 3 {
			for _, v := range c.At(i) {
				if math.Abs(v-10*math.Round(v/10)) > 0.05 {
					t.Errorf("d=%d: centre %v is not that of a cluster", d, c.At(i))
				}
			}
			found[math.Round(c.At(i)[0]/10)] = true
		}
		if len(found) != 3 {
			t.Errorf("d=%d: %d clusters found, want 3", d, len(found))
		}
	}
	for _, m := range []int{0, 5} {
		if _, err := gppl.Scalars([]float64{1, 2, 3, 4}).KMeans(t.Context(), m, 1); err == nil {
			t.Errorf("no error for m = %d of 4", m)
		}
	}
	if _, err := gppl.Scalars([]float64{1, 1, 2, 2}).KMeans(t.Context(), 3, 1); err == nil || !strings.Contains(err.Error(), "2 distinct") {
		t.Errorf("got %v, want an error that counts 2 distinct points", err)
	}
}
