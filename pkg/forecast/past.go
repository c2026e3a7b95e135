package forecast

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// AsOf returns the analysis as of the observations from ≤ i < to, with the structure and the parameters of the whole series.
func (a *Analysis) AsOf(ctx context.Context, from, to int) (past *Analysis, err error) {
	if err := a.Condition(ctx); err != nil {
		return nil, err
	}
	from = max(from, to-a.remembers())
	past = &Analysis{Series: a.Series.Part(from, to), Result: a.Result, computed: new(computed)}
	for _, m := range a.members {
		v, err := search.NewYScale(past.Series, 0, to-from, m.Log)
		if err != nil {
			return nil, err
		}
		// The model was trained on values with another standardisation.
		model := rescaled(m.Model, math.Pow(m.scale.Scaling.Scale/v.Scaling.Scale, 2))
		if v, err = v.Linearised(ctx, model, m.Shape); err != nil {
			return nil, err
		}
		p, _, err := conditionOn(ctx, model, v.Data, search.WindowLength, a.share(), &past.windows)
		if err != nil {
			return nil, err
		}
		as := m.Averaged
		as.Model, as.Draws = model, nil
		past.members = append(past.members, &member{Averaged: as, scale: &v, posterior: p})
	}
	return past, nil
}

// remembers returns the number of observations before an origin that a model of the whole series is conditioned on.
func (a *Analysis) remembers() int {
	if a.Series.NeedsDense() {
		return series.FewUneven
	}
	return min(series.MostRemembered, a.conditionsOn())
}

// Following forecasts the observations from ≤ i < to of the whole series by an analysis as of an earlier origin. It changes the
// analysis, which must not be used for anything else.
func (a *Analysis) Following(ctx context.Context, whole *series.Series, from, to int) (*Forecast, error) {
	x := whole.X[from:to]
	if whole.Errors != nil && whole.Student == nil { // the errors of Student-t noise are weights, unknown in advance
		a.ahead = whole.Errors[from:to]
	}
	if c := whole.Counting; c != nil && c.Sizes != nil {
		a.sizes = c.Sizes[from:to]
	}
	parts, err := a.parts(ctx, x)
	if err != nil {
		return nil, err
	}
	return forecastOf(ctx, x, make([]string, len(x)), parts)
}

// rescaled multiplies the variances of a model by c, except fixed ones, which further factors of a product have.
func rescaled(m gppl.Model, c float64) gppl.Model {
	theta := m.Values()
	for i, p := range m.Params() {
		if (p.Role == gppl.RoleVariance || p.Role == gppl.RoleNoise) && !p.IsFixed() {
			theta[i] *= c
		}
	}
	return m.WithParams(theta)
}

// Innovations returns the standardised innovations e = L⁻¹z of the latest observations, at most most, and their x.
func (a *Analysis) Innovations(ctx context.Context, most int) (x, e []float64, err error) {
	if _, err := a.share().windows(min(most, len(a.Series.X))); err != nil {
		return nil, nil, err
	}
	f, err := a.factorise(ctx, most)
	if err != nil {
		return nil, nil, err
	}
	return f.x, f.innovations(), nil
}
