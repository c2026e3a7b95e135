package forecast

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Crossing is the distribution of the first step of a forecast at which the curve, without the noise of single observations,
// reaches a level. For counts the curve is their expected number; for a model of log y it is the exponential of the model's
// curve.
type Crossing struct {
	Level  float64 `json:"level"`
	Rising bool    `json:"rising"` // the level is above the curve at the last observation
	// X are the steps, and When their text. By is the share of the draws that had reached the level by each step.
	X    []float64 `json:"-"`
	When []string  `json:"x"`
	By   []float64 `json:"p_by"`
	// Draws is the number of joint draws of the curve, from the given seed: a share p has the standard error √(p(1 − p)/Draws).
	Draws int    `json:"draws"`
	Seed  uint64 `json:"seed"`
}

// CrossingSteps is the largest number of steps that Until takes: it factorises their joint covariance.
const CrossingSteps = 3000

const (
	mostDraws, leastDraws = 10_000, 1000
	drawnNumbers          = 1e7 // draws × steps (80 MB) up to which there are more than leastDraws
)

// Until returns when the curve first reaches a level, by joint draws at x, which is ascending and after the last observation, on
// the axis of the series. The draws have the whole uncertainty of the forecast, with its correlation between steps. It takes
// O(m³) for m steps, and 10⁴ draws, or 10⁷/m if that is fewer, at least 1000. Analysis.Widen widens the draws about their mean as
// it does bands.
func (a *Analysis) Until(ctx context.Context, level float64, x []float64, seed uint64) (*Crossing, error) {
	switch {
	case !numeric.IsFinite(level):
		return nil, fmt.Errorf("the level %v is not finite", level)
	case len(x) == 0:
		return nil, fmt.Errorf("when %v is reached can be asked of one step or more", level)
	case len(x) > CrossingSteps:
		return nil, fmt.Errorf("when %v is reached, at %d steps: at most %d", level, len(x), CrossingSteps)
	}
	last := a.Series.X[len(a.Series.X)-1]
	for i, v := range x {
		if !(v > last) {
			return nil, fmt.Errorf("x[%d] = %v is not after %v", i, v, last)
		}
		last = v
	}
	// This checks the range too.
	now, err := a.Predict(ctx, append([]float64{a.Series.X[len(a.Series.X)-1]}, x[len(x)-1]))
	if err != nil {
		return nil, err
	}
	curve := now.Point()[0] // the expected count
	if now.Counts == nil {
		median, err := mixtureOf(now.Parts, true).Quantile(ctx, 0.5)
		if err != nil {
			return nil, err
		}
		curve = median[0]
	}
	c := &Crossing{Level: level, Rising: curve < level, X: x, When: a.Series.Axis.Texts(x), By: make([]float64, len(x)),
		Seed: seed, Draws: max(leastDraws, min(mostDraws, int(drawnNumbers)/len(x)))}
	in, err := a.Series.Inputs(x)
	if err != nil {
		return nil, err
	}
	drawn, share := 0, 0.0
	first := make([]int, len(x)) // how many draws first reach the level at each step
	for _, m := range a.members {
		posteriors := m.given()
		reached := a.reaches(m, c, x)
		for _, p := range posteriors {
			share += m.Weight / float64(len(posteriors))
			count := int(math.Round(share*float64(c.Draws))) - drawn
			if drawn += count; count == 0 {
				continue
			}
			curves, err := a.drawnOf(ctx, p, in, count, seed+uint64(drawn))
			if err != nil {
				return nil, err
			}
			for _, f := range curves {
				for i, v := range f {
					if reached(i, v) {
						first[i]++
						break
					}
				}
			}
		}
	}
	c.Draws = drawn
	total := 0
	for i, k := range first {
		total += k
		c.By[i] = float64(total) / float64(drawn)
	}
	return c, nil
}

// reaches returns a function that reports whether a curve of the member, in its standardised values, has reached the level at
// step i.
func (a *Analysis) reaches(m *member, c *Crossing, x []float64) func(i int, f float64) bool {
	level := c.Level
	value := func(_ int, g float64) float64 { return g }
	if counts := a.Series.Counting; counts != nil {
		sizes, l := a.sizesAt(x), counts.Distribution(m.Shape)
		value = func(i int, g float64) float64 { return l.Mean(series.SizeAt(sizes, i), g) }
	} else if m.Log {
		level = a.Series.Warp().Forward(c.Level) // NaN if the model cannot reach the level
		if math.IsNaN(level) && c.Rising {
			level = math.Inf(1)
		} else if math.IsNaN(level) {
			level = math.Inf(-1)
		}
	}
	return func(i int, f float64) bool {
		v := value(i, m.scale.Scaling.Mean+m.scale.Scaling.Scale*f)
		if c.Rising {
			return v >= level
		}
		return v <= level
	}
}

// drawnOf returns joint draws of a posterior, widened about its mean.
func (a *Analysis) drawnOf(ctx context.Context, p conditioned, in gppl.Inputs, count int, seed uint64) ([][]float64, error) {
	mean, _, err := p.Latent(ctx, in)
	if err != nil {
		return nil, err
	}
	draws, err := p.Sample(ctx, in, count, seed)
	if err != nil {
		return nil, err
	}
	wider := max(1, a.Widen)
	functions := make([][]float64, len(draws))
	for j, d := range draws {
		functions[j] = d.F
		for i, v := range d.F {
			d.F[i] = mean[i] + wider*(v-mean[i])
		}
	}
	return functions, ctx.Err()
}

// Quantile returns the index of the first step by which the level is reached with probability p; −1 for none.
func (c *Crossing) Quantile(p float64) int {
	for i, by := range c.By {
		if by >= p {
			return i
		}
	}
	return -1
}

// Never is the probability that the level is not reached within the steps.
func (c *Crossing) Never() float64 { return 1 - c.By[len(c.By)-1] }

// WriteCSV writes for each step the probability that the level is first reached there, and by then.
func (c *Crossing) WriteCSV(w io.Writer, a series.Axis) error {
	rows, before := [][]string{{cmp.Or(a.Name, "x"), "p_first", "p_by"}}, 0.0
	for i, by := range c.By {
		rows = append(rows, []string{c.When[i], cell(by - before), cell(by)})
		before = by
	}
	return series.WriteCSV(w, rows)
}
