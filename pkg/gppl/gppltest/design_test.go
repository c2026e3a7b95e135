package gppltest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// broken is Sphere with a fault.
type broken struct {
	name  string
	after func(omega *mat.Dense, x gppl.Inputs) error
}

func (d broken) String() string { return d.name }

func (d broken) Directions(ctx context.Context, omega *mat.Dense, x gppl.Inputs, rnd *rand.Rand) error {
	if err := (gppl.Sphere{}).Directions(ctx, omega, x, rnd); err != nil {
		return err
	}
	return d.after(omega, x)
}

// TestCheckDesign checks that the suite finds what it looks for.
func TestCheckDesign(t *testing.T) {
	if faults := designFaults(t.Context(), broken{"Sound", func(*mat.Dense, gppl.Inputs) error { return nil }}); faults != nil {
		t.Errorf("faults found in a sound design: %v", faults)
	}
	for _, c := range []struct {
		want  string
		after func(omega *mat.Dense, x gppl.Inputs) error
	}{
		{"something else is random", func(omega *mat.Dense, _ gppl.Inputs) error {
			omega.Set(0, 0, rand.Float64())
			return nil
		}},
		{"the directions changed x", func(_ *mat.Dense, x gppl.Inputs) error {
			x.At(0)[0]++
			return nil
		}},
		{"has entry NaN", func(omega *mat.Dense, _ gppl.Inputs) error {
			omega.Set(3, 0, math.NaN())
			return nil
		}},
		{"written beside the matrix", func(omega *mat.Dense, _ gppl.Inputs) error {
			raw := omega.RawMatrix()
			raw.Data[min(raw.Cols, len(raw.Data)-1)] = 0 // the first entry beyond the first row
			return nil
		}},
		{"does not name the design", func(*mat.Dense, gppl.Inputs) error { return errors.New("no") }},
		{"takes none of the standard inputs", func(*mat.Dense, gppl.Inputs) error { return errors.New("Broken takes nothing") }},
	} {
		var found []string
		for _, fault := range designFaults(t.Context(), broken{"Broken", c.after}) {
			found = append(found, fault.Error())
		}
		if !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("want a fault that says %q, got %q", c.want, found)
		}
	}
	if len(designFaults(t.Context(), broken{"", nil})) == 0 {
		t.Error("a design without a name is no fault")
	}
}
