package search

import (
	"context"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Logs are the values of Options.Log: whether log y is modelled. "auto", or "", compares both scales if all y are positive.
var Logs = []string{"auto", "never", "always"}

// YScale is the standardised series on a scale, y or log y, with what a model needs.
type YScale struct {
	log     bool
	Scaling dataset.Scaling // scaling of y, or of log y
	Data    gppl.Data
	// offset is added to the NLL of the standardised values to give the NLL of y: n·log s − Σ log g′(y) for z = (g(y) − μ)/s. It
	// makes likelihoods of y and of log y comparable.
	offset  float64
	Warp    series.Warp // transformation to log y, or of censored y; nil for y itself
	Typical float64     // median of the standardised known errors; 0 if there are none
	counts  *counts     // nil unless y are counts: Data is then a Gaussian approximation
	ends    *ends       // nil unless values at a bound are censored: Data is then a Gaussian approximation
}

// NewYScale returns the observations from ≤ i < to, standardised by themselves.
func NewYScale(s *series.Series, from, to int, log bool) (YScale, error) {
	if c := s.Counting; c != nil {
		return YScale{Scaling: dataset.Scaling{Mean: c.Part(from, to).CentreOf(s.Y[from:to]), Scale: 1}}.overCounts(s, from, to)
	}
	v := YScale{log: log, Warp: s.Cut()}
	if log {
		v.Warp = s.Warp()
	}
	g, err := v.transformed(s.Y[from:to])
	if err != nil {
		return v, err
	}
	v.Scaling = dataset.Series{X: s.X[from:to], Y: g}.Scaling()
	return v.Over(s, from, to)
}

// transformed returns y or log y.
func (v YScale) transformed(y []float64) ([]float64, error) {
	if !v.log {
		return y, nil
	}
	g := make([]float64, len(y))
	for i, value := range y {
		if g[i] = v.Warp.Forward(value); !numeric.IsFinite(g[i]) {
			return nil, dataset.Message{Of: "Options", Args: []any{i, value, dataset.Setting{Field: "Log", Value: "never"}},
				Format: "observation %d is %v: only positive values have a logarithm; choose %v"}
		}
	}
	return g, nil
}

// Over returns the observations from ≤ i < to on this scale, with its standardisation.
func (v YScale) Over(s *series.Series, from, to int) (YScale, error) {
	if s.Counting != nil {
		return v.overCounts(s, from, to)
	}
	x, y := s.X[from:to], s.Y[from:to]
	g, err := v.transformed(y)
	if err != nil {
		return v, err
	}
	z := make([]float64, len(g))
	for i := range z {
		z[i] = v.Scaling.Standard(g[i])
	}
	v.offset = v.offsetOf(y)
	in, err := s.Inputs(x)
	if err != nil {
		return v, err
	}
	if v.Data, err = gppl.NewData(in, z); err != nil {
		return v, err
	}
	if s.Censored() {
		v.offset = v.offsetOf(slices.DeleteFunc(slices.Clone(y), s.Bounds.At))
		v.ends = v.endsOf(s.Bounds)
	}
	switch {
	case s.Relative:
		v.Data, err = v.Data.WithRelativeErrors(v.errorsOf(s.Errors[from:to], y, s.TypicalError(v.log)))
	case s.Errors != nil:
		errs := v.errorsOf(s.Errors[from:to], y, v.Scaling.Scale)
		v.Typical = numeric.UpperMedian(errs)
		v.Data, err = v.Data.WithErrors(errs)
	}
	if err != nil {
		return v, err
	}
	return v, nil
}

// ofSpread returns the scale with n of the latest rows of a series, with its standardisation; if rows ≤ n, the scale itself.
func (v YScale) ofSpread(s *series.Series, rows, n int) (YScale, error) {
	if rows <= n {
		return v, nil
	}
	spread := s.Spread(len(s.X)-rows, n)
	return v.Over(spread, 0, len(spread.X))
}

// offsetOf returns the offset for some of the observations.
func (v YScale) offsetOf(y []float64) float64 {
	offset := float64(len(y)) * math.Log(v.Scaling.Scale)
	if v.log {
		var slopes float64
		for _, value := range y {
			slopes += v.Warp.LogSlope(value)
		}
		offset -= slopes
	}
	return offset
}

// Latest returns the latest observations of d, at most most of them.
func Latest(d gppl.Data, most int) gppl.Data {
	n := d.Len()
	if n <= most {
		return d
	}
	return d.Pick(timeline.Range(n-most, n))
}

// errorsOf returns the known errors of the observations on this scale, divided by unit. The error of log y is e/y to first order.
func (v YScale) errorsOf(errors, y []float64, unit float64) []float64 {
	out := make([]float64, len(errors))
	for i, e := range errors {
		if v.log {
			e *= math.Exp(v.Warp.LogSlope(y[i]))
		}
		out[i] = e / unit
	}
	return out
}

// trained returns the likelihood by which a model is trained.
func (v YScale) trained(ctx context.Context, m gppl.Model) (gppl.Loss, error) {
	if v.counts != nil && v.counts.trained {
		loss, err := v.counts.loss(ctx, m, v.counts.likelihood)
		if err != nil {
			return nil, err
		}
		theta := m.Values()
		if shape := shapeOf(v.counts.likelihood); shape > 0 {
			theta = append(theta, shape)
		}
		return loss.StartAt(ctx, theta)
	}
	return auto.Likelihood(ctx, m, v.Data, slowest, gppl.WithTolerance(trainTolerance))
}

// loss returns the negative log likelihood by which a model is compared.
func (v YScale) loss(ctx context.Context, m gppl.Model, shape float64, opts ...gppl.Option) (gppl.Loss, error) {
	if v.counts != nil && v.counts.compared {
		return v.comparedCounts(ctx, m, shape, opts...)
	}
	return gppl.NewExact(ctx, m, v.Data, opts...)
}

// trainTolerance is the error of an engine while training, in nats per observation; compared values have the default.
const trainTolerance = 1e-4

// slowest is the number of seconds that an evaluation may always take, however fast the first one was.
const slowest = 1

// ends holds the bounds of censored values, standardised, and the observations themselves.
type ends struct {
	limits observe.Limits
	raw    gppl.Data
	offset float64 // offset of the likelihood of values between the bounds (YScale.offset)
}

// endsOf returns the bounds on this scale.
func (v YScale) endsOf(b *series.Bounds) *ends {
	at := func(bound float64) float64 { return v.Scaling.Standard(v.Warp.Forward(bound)) }
	return &ends{limits: observe.Limits{Lo: at(b.Lo), Hi: at(b.Hi)}, raw: v.Data, offset: v.offset}
}

// propagated returns the observations as Gaussian ones, by expectation propagation at a model.
func (v YScale) propagated(ctx context.Context, m gppl.Model) (YScale, error) {
	var from *gppl.Data
	if v.Data.Errors != nil && v.Data.Len() == v.ends.raw.Len() { // already propagated at another model
		from = &v.Data
	}
	data, nats, err := observe.Censored(ctx, m, v.ends.raw, v.ends.limits, from, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return v, err
	}
	v.Data, v.offset = data, v.ends.offset+nats
	return v, nil
}
