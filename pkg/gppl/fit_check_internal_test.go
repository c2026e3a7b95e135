package gppl

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// spoilt is an engine whose gradient has a derivative of the wrong sign.
type spoilt struct{ exactEngine }

func (e spoilt) factor(m *compiled) (exactFactor, error) {
	f, err := e.exactEngine.factor(m)
	if err != nil {
		return nil, err
	}
	return spoiltFactor{f}, nil
}

func (e spoilt) estimate(*compiled) choice.Estimate { return choice.Estimate{} } // always the cheapest

type spoiltFactor struct{ exactFactor }

func (f spoiltFactor) gradient(grad []float64, r blas64.General) error {
	err := f.exactFactor.gradient(grad, r)
	grad[1] = -grad[1] // the lengthscale's: every evaluation checks the variance's
	return err
}

// TestFitLeavesOutEngine trains where the engine that is chosen has a wrong
// gradient: training goes on with another, reaches the optimum, and says so.
func TestFitLeavesOutEngine(t *testing.T) {
	d := benchData(t, 300)
	want, err := newExactFor(t, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := newExactFor(t, d, func(l *Exact) {
		i := slices.Index(l.chooser.Names, EngineBanded)
		l.engines[i] = spoilt{l.engines[i]}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != Converged || got.Value > want.Value+1e-6 {
		t.Errorf("%v\nwant %v", got, want)
	}
	if all := strings.Join(got.Warnings, " "); !strings.Contains(all, "banded engine is wrong") {
		t.Errorf("warnings: %s", all)
	}
}

func newExactFor(t *testing.T, d Data, change func(*Exact)) (*Result, error) {
	l, err := NewExact(t.Context(), benchModel, d)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(l)
	}
	return Fit(context.Background(), l, nil, Settings{})
}
