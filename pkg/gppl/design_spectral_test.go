package gppl_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// omegaOf returns Ω, which no context ends.
func omegaOf(p *gppl.Projection) *mat.Dense {
	omega, err := p.Omega(context.Background())
	if err != nil {
		panic(err)
	}
	return omega
}

func orthonormality(p *gppl.Projection) float64 {
	var gram mat.Dense
	omega := omegaOf(p)
	gram.Mul(omega.T(), omega)
	_, k := p.Dims()
	worst := 0.0
	for i := range k {
		gram.Set(i, i, gram.At(i, i)-1)
		for j := range k {
			worst = max(worst, math.Abs(gram.At(i, j)))
		}
	}
	return worst
}

// condition returns the condition of k directions of length one.
func condition(t *testing.T, d gppl.Design, x gppl.Inputs, k int) float64 {
	w := testkit.Must(testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: d}, x, k, 0))(t).Omega(t.Context()))(t)
	for j := range k {
		c := w.ColView(j).(*mat.VecDense)
		c.ScaleVec(1/mat.Norm(c, 2), c)
	}
	return mat.Cond(w, 2)
}

// TestSpectralProjection checks that the columns stay orthonormal and
// independent where a Fourier basis of one period no longer is, that they are
// nested, and that their span equals the directions'.
func TestSpectralProjection(t *testing.T) {
	t.Parallel()
	grid := make([]float64, 900)
	for i := range grid {
		grid[i] = 0.1 * float64(i)
	}
	for name, x := range map[string]gppl.Inputs{"uniform": uniform(1200, 50, 1), "grid": gppl.Scalars(grid)} {
		if testkit.Quick() && name != "grid" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			const k = 421
			if a, b := condition(t, gppl.Spectral{}, x, 301), condition(t, gppl.Spectral{Stretch: 1.08}, x, 301); a > 1e8 || b < 1e12 {
				t.Errorf("condition %.2g, that of a Fourier basis of period 1.08·range %.2g: want under 1e8, over 1e12", a, b)
			}
			all := testkit.Must(gppl.SpectralProjection(t.Context(), x, k))(t)
			if n, got := all.Dims(); n != x.Len() || got != k || !all.Orthonormal {
				t.Fatalf("n = %d, k = %d, orthonormal %v", n, got, all.Orthonormal)
			}
			if d := orthonormality(all); d > 1e-12 {
				t.Errorf("ΩᵀΩ is off I by %v", d)
			}
			part := testkit.Must(gppl.SpectralProjection(t.Context(), x, 130))(t)
			more := testkit.Must(part.Extend(t.Context(), x, k))(t)
			if d := orthonormality(more); d > 1e-12 {
				t.Errorf("extended: ΩᵀΩ is off I by %v", d)
			}
			if !mat.Equal(testkit.Must(more.Omega(t.Context()))(t).Slice(0, x.Len(), 0, 130), testkit.Must(part.Omega(t.Context()))(t)) {
				t.Error("Extend changed the columns that were there")
			}
			raw := testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: gppl.Spectral{}}, x, k, 0))(t)
			for _, p := range []*gppl.Projection{all, more} {
				var along, back mat.Dense
				along.Mul(testkit.Must(p.Omega(t.Context()))(t).T(), testkit.Must(raw.Omega(t.Context()))(t))
				back.Mul(testkit.Must(p.Omega(t.Context()))(t), &along)
				if !mat.EqualApprox(&back, testkit.Must(raw.Omega(t.Context()))(t), 1e-11) {
					t.Error("the span is not that of the directions")
				}
			}
			if same := testkit.Must(more.Extend(t.Context(), x, 100))(t); same != more {
				t.Error("Extend to fewer columns is not the same projection")
			}
		})
	}
}

// TestSpectralDependent checks that indistinguishable directions are left out.
func TestSpectralDependent(t *testing.T) {
	var twice, clusters []float64
	for i := range 40 {
		twice = append(twice, float64(i), float64(i))
	}
	for i := range 60 {
		clusters = append(clusters, 0.01*float64(i), 1000+0.01*float64(i))
	}
	for _, c := range []struct {
		name       string
		x          []float64
		count      int
		least, max int
	}{
		{"each x twice", twice, 70, 40, 40},
		{"two clusters", clusters, 700, 4, 100},
		{"two points", []float64{1, 3}, 9, 2, 2},
	} {
		p := testkit.Must(gppl.SpectralProjection(t.Context(), gppl.Scalars(c.x), c.count))(t)
		if _, k := p.Dims(); k < c.least || k > c.max {
			t.Errorf("%s: %d columns of %d, want %d to %d", c.name, k, c.count, c.least, c.max)
		}
		if d := orthonormality(p); d > 1e-11 {
			t.Errorf("%s: ΩᵀΩ is off I by %v", c.name, d)
		}
	}
	for _, c := range []struct {
		x     []float64
		count int
		want  string
	}{
		{[]float64{2, 2, 2}, 3, "all x equal 2"},
		{nil, 3, "x is empty"},
		{[]float64{1, 2}, 0, "0 columns"},
	} {
		if _, err := gppl.SpectralProjection(t.Context(), gppl.Scalars(c.x), c.count); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error that says %q", err, c.want)
		}
	}
}

// TestSpectralColumns solves (n/range)·v·√(2π)·l·exp(−2π²l²ξ²) = ratio·σ² for SE.
func TestSpectralColumns(t *testing.T) {
	for _, c := range []struct {
		n     int
		l, dB float64
	}{{1000, 20, 1}, {1000, 5, 0.1}, {3000, 5, 1}} {
		x := uniform(c.n, 1000, 2)
		lo, hi := x.Range(0)
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: c.l}, Noise: 0.1}
		got := testkit.Must(m.SpectralColumns(gppl.Data{X: x}, c.dB))(t)
		top := float64(c.n) / (hi - lo) * math.Sqrt(2*math.Pi) * c.l / (c.dB * 0.1)
		cutoff := math.Sqrt(math.Log(top)/2) / (math.Pi * c.l)
		want := 2 * cutoff * (hi - lo) // and the few that the list of frequencies has in excess
		if float64(got) < want || float64(got) > 1.1*want+8 {
			t.Errorf("n = %d, l = %v, ratio %v: %d columns, want about %.0f", c.n, c.l, c.dB, got, want)
		}
	}
	if _, err := (gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 1}, Noise: 0.1}).SpectralColumns(gppl.Data{X: uniform(1000, 1000, 1)}, 0.1); err == nil {
		t.Error("no error for Laplace, whose spectrum falls like ξ⁻²")
	} else if !strings.Contains(fmt.Sprint(err), "Laplace") {
		t.Error(err)
	}
	for _, ratio := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}
		if k, err := m.SpectralColumns(gppl.Data{X: uniform(100, 100, 1)}, ratio); err == nil || !strings.Contains(err.Error(), "ratio = ") {
			t.Errorf("ratio %v: %d columns, %v", ratio, k, err)
		}
	}
}
