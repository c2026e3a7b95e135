package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Synthetic is a Gaussian-process draw whose truth is known: the times, in ascending order, are uniform on [0, 1000), the
// interval of the paper's synthetic experiments; the observations are a draw of the model at them, noise included.
type Synthetic struct {
	Model gppl.Model
	N     int
	Seed  uint64
}

// Draw returns the series and the noise-free function at the same times. The same value gives the same draw. Whatever
// Model.Sample would choose, it is drawn by a dense factor, in O(N³) time and memory for N²/2 numbers, since the stored results
// of the paper's experiments use these draws. For smooth models on dense times, jitter is added to the Gram matrix. It is
// returned, is at most 1e-6 of the variance, and acts as noise of that variance in f. It panics if N < 1.
func (s Synthetic) Draw() (series Series, f []float64, jitter float64, err error) {
	if s.N < 1 {
		panic(fmt.Sprintf("dataset: Synthetic: N = %d; want N ≥ 1", s.N))
	}
	x := make([]float64, s.N)
	rnd := rand.New(rand.NewPCG(s.Seed, 4))
	for i := range x {
		x[i] = 1000 * rnd.Float64()
	}
	slices.Sort(x)
	draw, err := s.Model.Sample(context.Background(), gppl.Scalars(x), s.Seed, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return Series{}, nil, draw.Jitter, fmt.Errorf("dataset: synthetic draw: %w", err)
	}
	return Series{
		Name: fmt.Sprintf("synthetic draw %d", s.Seed),
		X:    x, Y: draw.Y, XName: "x", YName: "y",
		Source: fmt.Sprintf("drawn from %v, seed %d", s.Model, s.Seed),
	}, draw.F, draw.Jitter, nil
}
