package forecast

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Arrivals are observations that came after a model was learnt, each with its prediction from all observations before it.
type Arrivals struct {
	Y []float64
	// Forecast predicts each at the parameters of the model. Its bands are not widened: Analysis.Widen is for longer horizons.
	Forecast *Forecast
	// Z is the normal quantile of each in its prediction, (y − mean)/sd if that is Gaussian. They are independent and N(0, 1) if
	// the model still holds: counts, and values at a bound, are at a random place of their probability (Forecast.Standardised).
	Z []float64
	// P is the probability, if the model holds, of an observation as far out in either tail of its prediction: a share p of all
	// observations has a P below p, of counts and of values at a bound at most p.
	P []float64
	// Already is the number of rows of the file that the model already had.
	Already int
	Drift   Drift
}

// Update returns the analysis with the rows of a csv file as further observations, at the same parameters, and how they compare
// with its predictions. The rows have the columns, by name, from which the series was read; o says how the file is written, and
// o.X and o.Y may name other columns; the rest of o is ignored. Rows that are already in the series are left out, so the file may
// be the whole series as it is now. Any other row that is not after the last observation is an error: fit such a series again.
//
// The models stay as they were learnt, with the standardisation of their observations. Predictions are conditioned on the new
// observations as well as the old ones. By a state space, one pass takes O(1) for each new row; other engines condition anew
// after every 500 rows, and models of counts after each row, at most 200 times.
func (a *Analysis) Update(ctx context.Context, path string, o series.ReadOptions) (*Analysis, *Arrivals, error) {
	rows, err := a.Series.ReadFurther(path, o, a.Log || a.ofLog())
	if err != nil {
		return nil, nil, err
	}
	return a.extend(ctx, rows)
}

// Extend does as Update with observations y at ascending x that come from no file. errs are their known errors; nil for none. It
// panics if the lengths differ.
func (a *Analysis) Extend(ctx context.Context, x, y, errs []float64) (*Analysis, *Arrivals, error) {
	if len(x) != len(y) || errs != nil && len(errs) != len(x) {
		panic(fmt.Sprintf("forecast: Extend: %d x, %d y and %d errors", len(x), len(y), len(errs)))
	}
	rows, err := a.Series.NewFurther(x, y, errs, a.Log || a.ofLog())
	if err != nil {
		return nil, nil, err
	}
	return a.extend(ctx, rows)
}

// with returns the analysis with the first count of some further observations.
func (a *Analysis) with(r *series.Further, count int) *Analysis {
	b := *a
	b.Series, b.members, b.Options, b.ahead, b.sizes, b.computed = a.Series.With(r, count), nil, nil, nil, nil, new(computed)
	for _, m := range a.members {
		b.members = append(b.members, &member{Averaged: m.Averaged})
	}
	return &b
}

// updateRows is how many rows engines that condition anew take at a time. Models of counts take so many that they condition anew
// mostAnew times.
const updateRows, mostAnew = 500, 200

// extend returns the analysis with further observations, and its predictions of them.
func (a *Analysis) extend(ctx context.Context, r *series.Further) (*Analysis, *Arrivals, error) {
	after := a.with(r, len(r.X))
	out := &Arrivals{Y: r.Y, Already: r.Already}
	what := fmt.Sprintf("adding %d observations to %d", len(r.X), len(a.Series.X))
	if err := series.WithinMemory(what, a.Series.MemoryBytes()+after.Series.Bytes(), a.memory); err != nil {
		return nil, nil, err
	}
	if len(r.X) == 0 {
		return after, out, nil
	}
	var parts []Part
	for from := 0; from < len(r.X); {
		now := a.with(r, from)
		now.Widen = 0
		if err := now.Condition(ctx); err != nil {
			return nil, nil, err
		}
		to := min(len(r.X), from+now.rowsTogether(len(r.X)))
		more, err := now.oneStep(ctx, after.Series, len(a.Series.X)+to)
		if err != nil {
			return nil, nil, err
		}
		if parts == nil {
			parts = more
		} else {
			for j := range parts {
				parts[j].join(more[j])
			}
		}
		from = to
	}
	var err error
	if out.Forecast, err = forecastOf(ctx, r.X, a.Series.Axis.Texts(r.X), parts); err != nil {
		return nil, nil, err
	}
	out.standardise()
	out.Drift = driftOf(out.Z)
	return after, out, nil
}

// rowsTogether returns how many of n rows are taken before the members are conditioned anew.
func (a *Analysis) rowsTogether(n int) int {
	if a.Series.Approximated() {
		return (n + mostAnew - 1) / mostAnew
	}
	for _, m := range a.members {
		if m.posterior.Engine() != gppl.EngineStateSpace {
			return updateRows
		}
	}
	return n
}

// join appends the values of another part of the same model.
func (p *Part) join(q Part) {
	p.Mean, p.LatentVar = append(p.Mean, q.Mean...), append(p.LatentVar, q.LatentVar...)
	p.NoisyVar = append(p.NoisyVar, q.NoisyVar...)
	if p.Sizes != nil {
		p.Sizes = append(p.Sizes, q.Sizes...)
	}
}

// oneStep predicts the observations of s after the last of a, before the index to: each from all before it, except for counts
// and censored values.
func (a *Analysis) oneStep(ctx context.Context, s *series.Series, to int) (parts []Part, err error) {
	from := len(a.Series.X)
	if a.Series.Approximated() {
		if s.Counting != nil && s.Counting.Sizes != nil {
			a.sizes = s.Counting.Sizes[from:to]
		}
		return a.parts(ctx, s.X[from:to])
	}
	for _, m := range a.members {
		v, err := m.scale.Over(s, from, to)
		if err != nil {
			return nil, err
		}
		posteriors := m.given()
		for _, posterior := range posteriors {
			mean, noisy, err := posterior.OneStep(ctx, v.Data)
			if err != nil {
				return nil, err
			}
			p := Part{Weight: m.Weight / float64(len(posteriors)), warp: m.scale.Warp,
				Mean: m.scale.Scaling.Values(nil, mean), NoisyVar: m.scale.Scaling.Variances(nil, noisy)}
			p.LatentVar = slices.Clone(p.NoisyVar)
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// standardise sets Z and P.
func (r *Arrivals) standardise() {
	rnd, u := rand.New(rand.NewPCG(uint64(len(r.Y)), 15)), make([]float64, len(r.Y))
	for i := range u {
		u[i] = rnd.Float64()
	}
	r.Z, r.P = r.Forecast.standardised(r.Y, u)
}

// WriteCSV writes a row for each new observation: the axis, y, its prediction one step ahead with the standard deviation and the
// 95 % band of an observation, the normal quantile z, and the probability of an observation as far out.
func (r *Arrivals) WriteCSV(w io.Writer, s *series.Series) error {
	rows := [][]string{{cmp.Or(s.Axis.Name, "x"), s.YName, "mean", "sd_observation", "lower_95", "upper_95", "z", "probability"}}
	for i, y := range r.Y {
		f := r.Forecast
		row := []string{f.When[i]}
		for _, v := range []float64{y, f.Point()[i], math.Sqrt(f.NoisyVar[i]), f.Lower[i], f.Upper[i], r.Z[i], r.P[i]} {
			row = append(row, cell(v))
		}
		rows = append(rows, row)
	}
	return series.WriteCSV(w, rows)
}
