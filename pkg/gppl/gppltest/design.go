package gppltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// CheckDesign checks that d keeps the contract of gppl.Design on irregular times (unsorted, some of them twice, far from zero)
// and on points of the plane. Directions must set every entry of omega and nothing beside it, draw from rnd alone and leave x
// unchanged. NewProjection must return orthonormal columns whose first j span the first j directions, the same for the same
// seed. With k = n the projected likelihood must equal the exact one.
//
// A design may refuse inputs or a k with an error that names it; it must accept at least one case.
func CheckDesign(t *testing.T, d gppl.Design) {
	t.Helper()
	for _, fault := range designFaults(t.Context(), d) {
		t.Error(fault)
	}
}

// designFaults returns the faults that CheckDesign reports.
func designFaults(ctx context.Context, d gppl.Design) (faults []error) {
	name := d.String()
	if name == "" {
		return []error{errors.New("the design has no name")}
	}
	taken := 0
	for _, c := range designInputs() {
		n := c.x.Len()
		for _, k := range []int{1, 2, n / 4, n} {
			err := checkDesign(ctx, d, c.x, k)
			switch {
			case errors.Is(err, errRefused):
				continue
			case err != nil:
				faults = append(faults, fmt.Errorf("%s, %s, k = %d: %w", name, c.name, k, err))
			}
			taken++
		}
	}
	if taken == 0 {
		faults = append(faults, fmt.Errorf("%s takes none of the standard inputs", name))
	}
	return faults
}

type namedInputs struct {
	name string
	x    gppl.Inputs
}

func designInputs() []namedInputs {
	rnd := rand.New(rand.NewPCG(31, 0))
	const n = 24
	times, twice, plane := make([]float64, n), make([]float64, n), make([]float64, 2*n)
	for i := range n {
		times[i] = 1e5 + 30*rnd.Float64()
		twice[i] = times[i]
		if i%6 == 5 {
			twice[i] = twice[i-1]
		}
	}
	for i := range plane {
		plane[i] = rnd.NormFloat64()
	}
	return []namedInputs{{"times", gppl.Scalars(times)}, {"times, some twice", gppl.Scalars(twice)},
		{"points of the plane", gppl.Vectors(plane, 2)}}
}

// errRefused says that a design refuses the inputs with a proper error.
var errRefused = errors.New("refused")

func checkDesign(ctx context.Context, d gppl.Design, x gppl.Inputs, k int) error {
	n, before := x.Len(), rows(x)
	const seed = 5
	// The directions stand in the middle of a larger matrix of sentinels.
	const margin, sentinel = 2, -12345.678
	draw := func() (inside *mat.Dense, around *mat.Dense, err error) {
		around = mat.NewDense(n+2*margin, k+2*margin, slices.Repeat([]float64{sentinel}, (n+2*margin)*(k+2*margin)))
		inside = around.Slice(margin, margin+n, margin, margin+k).(*mat.Dense)
		return inside, around, d.Directions(ctx, inside, x, rand.New(rand.NewPCG(seed, 0)))
	}
	w, around, err := draw()
	if err != nil {
		return refusal(d, err)
	}
	for i := range n + 2*margin {
		for j := range k + 2*margin {
			v := around.At(i, j)
			within := i >= margin && i < margin+n && j >= margin && j < margin+k
			switch {
			case within && v == sentinel:
				return fmt.Errorf("entry (%d, %d) was left unset", i-margin, j-margin)
			case within && !numeric.IsFinite(v):
				return fmt.Errorf("direction %d has entry %v at observation %d", j-margin, v, i-margin)
			case !within && v != sentinel:
				return fmt.Errorf("something was written beside the matrix, %d, %d from its first entry", i-margin, j-margin)
			}
		}
	}
	if again, _, err := draw(); err != nil || !mat.Equal(w, again) {
		return errors.New("the same generator gives other directions: something else is random")
	}
	if !slices.Equal(before, rows(x)) {
		return errors.New("the directions changed x")
	}

	p, err := gppl.NewProjection(ctx, d, x, k, seed)
	if err != nil {
		return refusal(d, err) // the directions have too low a rank
	}
	if !p.Orthonormal {
		return nil // Raw promises no more
	}
	same, err := gppl.NewProjection(ctx, d, x, k, seed)
	if err != nil {
		return fmt.Errorf("the second time: %w", err)
	}
	omega, err := p.Omega(ctx)
	if err != nil {
		return err
	}
	if other, err := same.Omega(ctx); err != nil || !mat.Equal(omega, other) {
		return fmt.Errorf("the same seed gives another Ω (error: %v)", err)
	}
	// R = ΩᵀW is upper triangular and ΩR = W: nested spans.
	var gram, r, back mat.Dense
	gram.Mul(omega.T(), omega)
	r.Mul(omega.T(), w)
	back.Mul(omega, &r)
	size := mat.Norm(w, 2)
	for j := range k {
		for i := range k {
			if want := unit(i, j); math.Abs(gram.At(i, j)-want) > 1e-12 {
				return fmt.Errorf("entry (%d, %d) of ΩᵀΩ is %v", i, j, gram.At(i, j))
			}
			if i > j && math.Abs(r.At(i, j)) > 1e-12*size {
				return fmt.Errorf("direction %d is not in the span of the first %d columns of Ω", j, j+1)
			}
		}
		for i := range n {
			if math.Abs(back.At(i, j)-w.At(i, j)) > 1e-12*size {
				return fmt.Errorf("direction %d is not in the span of Ω", j)
			}
		}
	}
	if k == n {
		return checkWhole(ctx, p, x)
	}
	return nil
}

// refusal returns errRefused if the error names the design.
func refusal(d gppl.Design, err error) error {
	// one word, or the words of the designs within it
	words := strings.FieldsFunc(d.String(), func(r rune) bool { return !unicode.IsLetter(r) })
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(err.Error(), w) }) {
		return fmt.Errorf("the error does not name the design: %q", err)
	}
	return errRefused
}

// unit is the identity matrix.
func unit(i, j int) float64 {
	if i == j {
		return 1
	}
	return 0
}

// rows copies all coordinates of x.
func rows(x gppl.Inputs) (all []float64) {
	for i := range x.Len() {
		all = append(all, x.At(i)...)
	}
	return all
}

// checkWhole compares the likelihood of n projections with the exact likelihood of the data.
func checkWhole(ctx context.Context, p *gppl.Projection, x gppl.Inputs) error {
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = math.Sin(x.At(i)[0])
	}
	data, err := gppl.NewData(x, y)
	if err != nil {
		return err
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1.1, Lengthscale: 0.8}, Noise: 0.2}
	exact, err := gppl.NewExact(ctx, m, data, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return err
	}
	projected, err := gppl.NewProjected(ctx, m, data, p, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return err
	}
	want, wantGrad, err := valueGradLog(ctx, exact)
	if err != nil {
		return err
	}
	got, grad, err := valueGradLog(ctx, projected)
	if err != nil {
		return err
	}
	if msg := compare(append(grad, got), append(wantGrad, want), 1e-9); msg != "" {
		return fmt.Errorf("the likelihood of k = n projections differs from the exact one: %s", msg)
	}
	return nil
}
