package experiment

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext/prng"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// legacyNormal draws the same numbers as numpy.random.randn after numpy.random.seed. Two words of MT19937 make each uniform
// number of 53 bits; Marsaglia's polar method turns pairs of these into normal numbers and yields the second of a pair first.
// The uniform numbers equal NumPy's to the bit; the normal ones may differ in the last digit, by the C library's logarithm.
type legacyNormal struct {
	source *prng.MT19937
	saved  float64
	has    bool
}

func newLegacyNormal(seed uint32) *legacyNormal {
	source := prng.NewMT19937()
	source.Seed(uint64(seed)) // init_genrand, which numpy.random.seed uses for a whole number
	return &legacyNormal{source: source}
}

// NumPyNormal returns numpy.random.randn after numpy.random.seed. Its numbers may differ from NumPy's in the last digit, by
// the C library's logarithm.
func NumPyNormal(seed uint32) (randn func() float64) { return newLegacyNormal(seed).next }

// uniform is numpy's random_sample, in [0, 1).
func (g *legacyNormal) uniform() float64 {
	a, b := g.source.Uint32()>>5, g.source.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

func (g *legacyNormal) next() float64 {
	if g.has {
		g.has = false
		return g.saved
	}
	for {
		x, y := 2*g.uniform()-1, 2*g.uniform()-1
		r2 := float64(x*x) + float64(y*y) // rounded separately: a fused multiply-add would differ from NumPy's in the last digit
		if r2 >= 1 || r2 == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r2) / r2)
		g.saved, g.has = f*x, true
		return f * y
	}
}

// notebookSeed is the seed that the authors' code sets at every evaluation of PL (gp.py, line 478). Afterwards their notebooks
// draw the same Ω for the same shape.
const notebookSeed = 55

// NotebookDesign names the Ω of the authors' sunspot notebook in Designs.
const NotebookDesign = "NumPy seed 55"

// legacySphere is the Sphere design as the authors draw it: randn(n, k) of NumPy's legacy generator, row by row, with normalised
// columns. gppl.NewProjection then does the same as numpy.linalg.qr: Householder reflections by LAPACK, with their signs.
type legacySphere struct{ seed uint32 }

func (d legacySphere) String() string { return NotebookDesign }

// Directions implements gppl.Design. It ignores the generator: the seed is part of the design.
func (d legacySphere) Directions(_ context.Context, omega *mat.Dense, _ gppl.Inputs, _ *rand.Rand) error {
	n, k := omega.Dims()
	g := newLegacyNormal(d.seed)
	norms := make([]float64, k)
	for i := range n {
		for j := range k {
			v := g.next()
			omega.Set(i, j, v)
			norms[j] += v * v
		}
	}
	omega.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(norms[j]) }, omega)
	return nil
}
