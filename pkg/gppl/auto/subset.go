package auto

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// blocks is a composite likelihood: the sum of the exact likelihoods of parts of the data, as if they were independent
// (Varin, Reid and Firth 2011).
type blocks struct {
	model gppl.Model
	data  []gppl.Data // one per part
	parts []*gppl.Exact
	n     int
}

// anew returns the same likelihood with nothing computed yet. Engines keep sums over the data between evaluations, and these
// decide in which order later ones are rounded: trainings that run side by side, in any order, each need their own.
func (b *blocks) anew(ctx context.Context) (*blocks, error) {
	other := &blocks{model: b.model}
	for _, d := range b.data {
		if err := other.take(ctx, d); err != nil {
			return nil, err
		}
	}
	return other, nil
}

// take adds the likelihood of a part.
func (b *blocks) take(ctx context.Context, d gppl.Data) error {
	part, err := gppl.NewExact(ctx, b.model, d)
	b.data, b.parts, b.n = append(b.data, d), append(b.parts, part), b.n+d.Len()
	return err
}

// newBlocks returns the exact likelihood of all data if they are few enough. From a longer series it takes three parts
// of equal size, for short, middle and long lags: neighbours in the middle, every few observations over a longer
// stretch, and evenly spaced ones over the whole range.
func newBlocks(ctx context.Context, m gppl.Model, d gppl.Data, whole, size int) (*blocks, error) {
	n := d.Len()
	b := &blocks{model: m}
	if n <= whole {
		return b, b.take(ctx, d)
	}
	var order []int // nil keeps the order of the data
	if d.X.Dim() == 1 {
		order = timeline.Order(d.X.Coordinate(0))
	}
	all := float64(n) / float64(size)
	for _, stride := range []float64{1, math.Sqrt(all), all} {
		at := make([]int, size)
		first := 0.5 * (float64(n) - stride*float64(size))
		for i := range at {
			if at[i] = int(first + stride*(float64(i)+0.5)); order != nil {
				at[i] = order[at[i]]
			}
		}
		if err := b.take(ctx, d.Pick(at)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// whole reports whether the parts are one, all data.
func (b *blocks) whole() bool { return len(b.parts) == 1 }

func (b *blocks) Params() []gppl.Param             { return b.parts[0].Params() }
func (b *blocks) Model(theta []float64) gppl.Model { return b.parts[0].Model(theta) }
func (b *blocks) Report() gppl.LossReport          { return b.parts[0].Report() }
func (b *blocks) String() string {
	return fmt.Sprintf("sum of %d exact NLLs (n=%d)", len(b.parts), b.n)
}

func (b *blocks) ValueGrad(ctx context.Context, grad, theta []float64) (sum float64, err error) {
	values, errs := make([]float64, len(b.parts)), make([]error, len(b.parts))
	grads := make([]float64, len(b.parts)*len(grad)) // one gradient after another, by part
	part := func(i int) []float64 {
		if grad == nil {
			return nil
		}
		return grads[i*len(grad):][:len(grad)]
	}
	parallel.For(len(b.parts), func(i int) { values[i], errs[i] = b.parts[i].ValueGrad(ctx, part(i), theta) })
	clear(grad)
	for i, v := range values {
		if errs[i] != nil {
			return 0, errs[i]
		}
		sum += v
		floats.Add(grad, part(i))
	}
	return sum, nil
}
