package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/toeplitz"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// drawnLine holds the distinct inputs of draws on the line, ascending.
type drawnLine struct {
	t     []float64
	of    []int // index in t of each input
	span  float64
	grid  timeline.Regular
	onAll bool // all inputs are on the grid
}

const (
	// sparseGrid is the largest number of missing places on a grid per place drawn: all places cost n log n.
	sparseGrid = 3
	// offGrid is the largest distance of an input from its place, relative to the step; the bound of a draw includes it.
	offGrid = 0.02
)

// newDrawnLine returns the line of one-dimensional inputs. It is nil for others, and for a kernel that depends on position.
func newDrawnLine(k Kernel, inputs Inputs) *drawnLine {
	if inputs.Dim() != 1 || isPlaced(k) {
		return nil
	}
	x := inputs.at
	sorted := observed.Sorted(x)
	l := &drawnLine{of: make([]int, len(x)), span: sorted.Span}
	for i, v := range sorted.T {
		if i == 0 || v != l.t[len(l.t)-1] {
			l.t = append(l.t, v)
		}
		l.of[sorted.Input(i)] = len(l.t) - 1
	}
	l.grid, l.onAll = timeline.RegularWithin(l.t, sparseGrid, offGrid)
	return l
}

// addTo adds values at the line to those at the inputs.
func (l *drawnLine) addTo(dst, values []float64) {
	for i, at := range l.of {
		dst[i] += values[at]
	}
}

// drawers are the ways to draw a term on the line, besides a dense factor. prepare returns a function that adds a draw to dst,
// and the error of the covariances relative to k(0). It returns an error if this way cannot draw the term after all.
var drawers = []struct {
	name     string
	estimate func(k Kernel, l *drawnLine) choice.Estimate
	prepare  func(ctx context.Context, k Kernel, l *drawnLine) (add func(dst []float64, rnd *rand.Rand), bound float64, err error)
}{
	{EngineStateSpace, func(k Kernel, l *drawnLine) choice.Estimate { return estimateStates(k, len(l.t)) }, drawStates},
	{EngineToeplitz, estimateCirculant, drawCirculant},
	{EngineSpectral, func(k Kernel, l *drawnLine) choice.Estimate { return estimateWaveDraws(k, len(l.t), l.span) }, drawWaves},
}

const (
	// drawTolerance is the largest error of a draw's covariances relative to k(0): a test would need 1e20 draws to detect it.
	drawTolerance = 1e-10
	// drawRounding is the rounding of a draw.
	drawRounding = 1e-14
	// drawnEps is the largest share of the variance in waves that are left out.
	drawnEps = 1e-13
	// drawnTolerance is the tolerance of a sum of waves, relative to the sum of their amplitudes.
	drawnTolerance = 1e-14
)

// estimateStates returns the estimate for a walk of the state: nanoseconds per number of the state, measured by BenchmarkDraws.
func estimateStates(k Kernel, n int) choice.Estimate {
	var s stateSpace
	if !s.expand(k, drawnEps) {
		return choice.Cannot(notMarkov)
	}
	var each float64
	for i := range s.blocks {
		b := &s.blocks[i]
		d, processes := float64(b.Process.Dim()), 1+2*float64(len(b.Weights))
		if _, is := b.Process.(*statespace.Matern); is && b.Weights == nil {
			each += 30e-9 * d
			continue
		}
		each += 200e-9 + 20e-9*d*d*d + processes*(30e-9+d*(10e-9+2e-9*d))
	}
	return choice.Estimate{Seconds: 2e-6 + float64(n)*each, Bytes: 32 * float64(n), Err: drawRounding}
}

// drawStates draws by the state space of a term.
func drawStates(ctx context.Context, k Kernel, l *drawnLine) (func([]float64, *rand.Rand), float64, error) {
	s := new(stateSpace)
	if !s.expand(k, drawnEps) {
		return nil, 0, errors.New(notMarkov)
	}
	if err := statespace.Draw(ctx, nil, nil, s.blocks, nil); err != nil {
		return nil, 0, err
	}
	return func(dst []float64, rnd *rand.Rand) {
		_ = statespace.Draw(ctx, dst, l.t, s.blocks, rnd) // the blocks, the only source of an error, are checked
	}, drawRounding + s.lost/variance(k), nil
}

// estimateCirculant returns the estimate for a circulant matrix on the grid of the inputs.
func estimateCirculant(k Kernel, l *drawnLine) choice.Estimate {
	if !l.onAll {
		return choice.Cannot("the inputs have no constant step")
	}
	size := 2 * float64(l.grid.N)
	const covariance, level = 15e-9, 2.5e-9
	return choice.Estimate{Seconds: 5e-6 + size*(0.5*covariance+2*level*math.Log2(size)), Bytes: 40 * size, Err: drawRounding}
}

// drawCirculant draws the whole grid, and keeps the places that are inputs.
func drawCirculant(ctx context.Context, k Kernel, l *drawnLine) (func([]float64, *rand.Rand), float64, error) {
	lags := func(dst []float64, from int) {
		for i := range dst {
			dst[i] = float64(from+i) * l.grid.Step
		}
	}
	e, err := toeplitz.Embed(ctx, l.grid.N, func(dst []float64, from int) {
		lags(dst, from)
		k.Cov(dst, dst)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("gppl: drawing %v: %w", k, err)
	}
	bound := drawRounding + e.Clipped
	if l.grid.Off > 0 { // both inputs of a pair are off their places by up to that much
		slopes := make([]float64, l.grid.N)
		lags(slopes, 0)
		k.Slope(slopes, slopes)
		near := []float64{l.grid.Off, 2 * l.grid.Off}
		k.Slope(near, near)
		var most float64
		for _, s := range append(slopes, near...) {
			most = max(most, math.Abs(s))
		}
		bound += 2 * l.grid.Off * most / variance(k)
	}
	return func(dst []float64, rnd *rand.Rand) {
		all := make([]float64, l.grid.N)
		e.Draw(all, rnd)
		for i, at := range l.grid.Place {
			dst[i] += all[at]
		}
	}, bound, nil
}

// mostDrawnWaves bounds the frequencies of a draw: its transform takes 0.1 GB.
const mostDrawnWaves = 1 << 21

// waveSet holds waves of one period, with the coefficients from m = 0.
type waveSet struct {
	period float64
	coef   []float64
}

// estimateWaveDraws returns the estimate for a sum of waves.
func estimateWaveDraws(k Kernel, n int, span float64) choice.Estimate {
	count, ok := countWaves(k, span)
	if !ok || count > mostDrawnWaves {
		return choice.Cannot("it is not a sum of a few waves")
	}
	return choice.Estimate{Seconds: 5e-6 + 50e-9*count + fourier.SynthesisSeconds(n, count, drawnTolerance),
		Bytes: 16*8*count + 16*float64(n), Err: drawnEps}
}

// countWaves returns the highest frequency of the waves of a term.
func countWaves(k Kernel, span float64) (count float64, ok bool) {
	if span == 0 {
		return 0, false
	}
	if q, is := k.(RQ); is {
		all, ok := q.mixture()
		if !ok {
			return 0, false
		}
		for _, part := range octaves(all, span) {
			_, bands := part.Bands(nil, span, drawnEps)
			if bands == nil {
				return 0, false
			}
			count = max(count, float64(bands[len(bands)-1].To)+1)
		}
		return count, true
	}
	if w, is := waverOf(k); is {
		_, bands := w.Bands(nil, span, drawnEps)
		if bands == nil {
			return 0, false
		}
		return float64(bands[len(bands)-1].To) + 1, true
	}
	reach, band := reach(k, drawnEps), bandwidth(k, drawnEps)
	if math.IsInf(reach, 1) || math.IsInf(band, 1) {
		return 0, false
	}
	count = fourier.Frequencies(span, span+1.4*reach, band, false)
	return count, count < 1<<17 // the number of samples for a series
}

// octaves divides the scales of an RQ so that each part has a small number of waves on the period that its longest lengthscale
// requires. Scales that are constant up to the span form one part.
func octaves(all layer, span float64) (parts []layer) {
	const ratio = 16
	terms := all.scales.Terms
	if len(terms) == 0 {
		return nil
	}
	from := all.scales.ConstantFrom(span, drawnEps)
	if far := all.between(from, math.Inf(1), true); terms[0].Lengthscale >= from {
		parts = append(parts, far)
	}
	shortest := terms[len(terms)-1].Lengthscale
	for to := from; to > shortest; to /= ratio {
		if part := all.between(to/ratio, to, false); len(part.scales.Terms) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// waveSets returns the waves of a term up to a distance, and the error of the covariances without the others, relative to
// k(0).
func waveSets(k Kernel, span float64) (sets []waveSet, bound float64, err error) {
	add := func(w waver) {
		period, bands := w.Bands(nil, span, drawnEps)
		set := waveSet{period: period, coef: make([]float64, bands[len(bands)-1].To+1)}
		c := make([]float64, waves.Count(bands))
		w.Coefficients(c, period, bands)
		for _, b := range bands {
			copy(set.coef[b.From:b.To+1], c)
			c = c[b.To-b.From+1:]
		}
		sets = append(sets, set)
	}
	if q, is := k.(RQ); is {
		all, _ := q.mixture()
		for _, part := range octaves(all, span) {
			add(part)
		}
		return sets, 3 * drawnEps, nil
	}
	if w, is := waverOf(k); is {
		add(w)
		return sets, drawnEps, nil
	}
	period := span + 1.4*reach(k, drawnEps)
	band := bandwidth(k, drawnEps)
	s := fourier.NewSeries(span, period, false)
	m, err := s.Expand(decay{k}, band, drawnEps)
	if err != nil {
		return nil, 0, err
	}
	var lost float64
	for j, c := range s.C {
		if j >= m || c < 0 {
			lost += math.Abs(c)
		}
		s.C[j] = max(c, 0)
	}
	return []waveSet{{period, s.C[:m]}}, drawnEps + lost/variance(k), nil
}

// drawWaves draws Σ √c_m·(ξ_m·cos + ξ′_m·sin), whose covariance is Σ c_m·cos: stationary, and equal to k except for the waves
// left out.
func drawWaves(ctx context.Context, k Kernel, l *drawnLine) (func([]float64, *rand.Rand), float64, error) {
	sets, bound, err := waveSets(k, l.span)
	if err != nil {
		return nil, 0, err
	}
	var points []*fourier.Points
	for _, s := range sets {
		p := fourier.NewPoints(l.t, l.t[0], s.period)
		p.Ctx = ctx
		points = append(points, p)
		// The error of a value is the tolerance times the sum of the amplitudes.
		var amplitudes float64
		for _, c := range s.coef {
			amplitudes += math.Sqrt(c)
		}
		bound += 4 * drawnTolerance * amplitudes / math.Sqrt(variance(k))
	}
	return func(dst []float64, rnd *rand.Rand) {
		for i, s := range sets {
			cos, sin := make([]float64, len(s.coef)), make([]float64, len(s.coef))
			for m, c := range s.coef {
				if c == 0 {
					continue
				}
				root := math.Sqrt(c)
				if cos[m] = root * rnd.NormFloat64(); m > 0 {
					sin[m] = root * rnd.NormFloat64()
				}
			}
			points[i].Synthesise(dst, cos, sin, drawnTolerance)
		}
	}, bound, nil
}
