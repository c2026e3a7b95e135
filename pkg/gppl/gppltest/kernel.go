// Package gppltest holds the conformance suites that every kernel and every
// loss must pass, gppl's as well as a user's own:
//
//	func TestMyKernel(t *testing.T) { gppltest.CheckKernel(t, MyKernel{…}) }
package gppltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// CheckKernel checks that k keeps the contract of gppl.Kernel: that Params and WithParams agree and leave the receiver alone,
// that Cov and Slope work in place and do not depend on how pairs are grouped, that Contract and Slope equal central differences,
// and that its Gram matrices are positive semi-definite on the line. What the kernel says of itself, by the roles of its
// parameters and by the interfaces Nuggeter, Reacher, Bandlimited, Scaled, Markovian, Spectrum, Waver, Steep, Amplified and
// Placed, is compared with what it computes. A kernel of points (capability.Placed, alone or as a part) is checked on the fewest
// axes that it takes: CheckKernelIn names another number.
func CheckKernel(t *testing.T, k gppl.Kernel) {
	t.Helper()
	d := 1
	for d < 100 && (gppl.Model{Kernel: k}).CheckAxes(gppl.Vectors(make([]float64, d), d)) != nil {
		d++
	}
	CheckKernelIn(t, k, d)
}

// CheckKernelIn is CheckKernel for points of d axes.
func CheckKernelIn(t *testing.T, k gppl.Kernel, d int) {
	t.Helper()
	params := k.Params()
	theta := gppl.Values(params)
	for i, p := range params {
		if p.Name == "" {
			t.Errorf("%v: parameter %d has no name", k, i)
		}
	}
	printed := k.String()

	t.Run("WithParams", func(t *testing.T) {
		moved := elsewhere(k)
		for i, p := range k.WithParams(moved).Params() {
			if p.Value != moved[i] || p.Name != params[i].Name {
				t.Errorf("parameter %d: got %q = %v, want %q = %v", i, p.Name, p.Value, params[i].Name, moved[i])
			}
		}
		if k.String() != printed {
			t.Errorf("WithParams changed its receiver from %s to %s", printed, k)
		}
		if !panics(func() { k.WithParams(append(moved, 1)) }) {
			t.Error("WithParams took one parameter too many")
		}
	})

	r := distances()
	cov := make([]float64, len(r))
	k.Cov(cov, r)

	t.Run("InPlace", func(t *testing.T) {
		inPlace := slices.Clone(r)
		k.Cov(inPlace, inPlace)
		single := make([]float64, len(r))
		for i := range r {
			k.Cov(single[i:i+1], r[i:i+1])
		}
		slope, slopeInPlace := make([]float64, len(r)), slices.Clone(r)
		k.Slope(slope, r)
		k.Slope(slopeInPlace, slopeInPlace)
		for i := range r {
			if cov[i] != inPlace[i] || cov[i] != single[i] {
				t.Fatalf("k(%v): %v in a slice, %v in place, %v alone", r[i], cov[i], inPlace[i], single[i])
			}
			if slope[i] != slopeInPlace[i] {
				t.Fatalf("dk/dr at %v: %v, in place %v", r[i], slope[i], slopeInPlace[i])
			}
		}
	})

	t.Run("Contract", func(t *testing.T) {
		w := normals(len(r), 1, 2)
		want := gradientLog(k, func(k gppl.Kernel) float64 {
			c := make([]float64, len(r))
			k.Cov(c, r)
			return floats.Dot(w, c)
		})
		before := 3.0 // Contract adds
		got := slices.Repeat([]float64{before}, len(theta))
		k.Contract(got, w, r)
		floats.AddConst(-before, got)
		closeVectors(t, "Σ w ∂k/∂log θ", got, want, 1e-7)
	})

	if (gppl.Model{Kernel: k}).IsPlaced() {
		t.Run("Points", func(t *testing.T) { checkPoints(t, k, d) })
	}

	t.Run("Slope", func(t *testing.T) {
		slope := make([]float64, len(r))
		k.Slope(slope, r)
		for i, ri := range r {
			if ri == 0 {
				if slope[i] != 0 {
					t.Errorf("dk/dr at 0 is %v, want 0", slope[i])
				}
				continue
			}
			h := 1e-6 * ri
			c := []float64{ri - h, ri + h}
			k.Cov(c, c)
			want := (c[1] - c[0]) / (2 * h)
			if math.Abs(slope[i]-want) > 1e-6*(1+math.Abs(want))+1e-9/ri {
				t.Errorf("dk/dr at %v: got %v, central difference %v", ri, slope[i], want)
			}
		}
	})

	t.Run("PositiveSemiDefinite", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 4))
		const n = 30
		x := make([]float64, n)
		for i := range x {
			x[i] = 10 * rnd.Float64()
		}
		gram := make([]float64, n*n)
		for i := range x {
			for j := range x {
				gram[i*n+j] = math.Abs(x[i] - x[j])
			}
		}
		k.Cov(gram, gram)
		for i := range n {
			gram[i*n+i] += capability.Nugget(k)
		}
		checkDefinite(t, gram, n)
	})

	checkClaims(t, k)
}

// fourthOrder is a central difference whose error falls with the fourth power
// of the step, for functions as wiggly as a periodic kernel's in its period.
var fourthOrder = fd.Formula{
	Stencil: []fd.Point{
		{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -8. / 12},
		{Loc: 1, Coeff: 8. / 12}, {Loc: 2, Coeff: -1. / 12},
	},
	Derivative: 1,
	Step:       1e-4,
}

// distances covers zero, tiny, ordinary and far distances, and more of them than kernels work through at a time.
func distances() []float64 {
	r := []float64{0, 1e-8, 1e-3, 12}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 1200 {
		r = append(r, 6*rnd.Float64())
	}
	return append(r, 0)
}

// elsewhere are other parameters of k.
func elsewhere(k gppl.Kernel) []float64 {
	theta := gppl.Values(k.Params())
	floats.Scale(1.5, theta)
	return theta
}

// normals are n draws of a normal distribution.
func normals(n int, seed1, seed2 uint64) []float64 {
	rnd := rand.New(rand.NewPCG(seed1, seed2))
	y := make([]float64, n)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	return y
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// closeVectors fails unless |got − want| ≤ tol·|want| in the maximum norm (plus tol, for vectors that are all near zero).
func closeVectors(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if msg := compare(got, want, tol); msg != "" {
		t.Errorf("%s: %s", what, msg)
	}
}

func compare(got, want []float64, tol float64) string {
	if len(got) != len(want) {
		return fmt.Sprintf("got %d values, want %d", len(got), len(want))
	}
	scale := 1.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol*scale) {
			return fmt.Sprintf("entry %d: got %v, want %v (all: got %.10g, want %.10g)", i, got[i], want[i], got, want)
		}
	}
	return ""
}
