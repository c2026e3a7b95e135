package forecast

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Forecast is a prediction in the unit of the file. The prediction of a single model of y is Gaussian, with the two variances.
// The prediction of a model of log y, or of an average of models, is not: each variance is then the square of half the distance
// between the quantiles at 15.9 and 84.1 %, and the 95 % band from Lower to Upper is not symmetric.
type Forecast struct {
	X         []float64
	When      []string  // X as text: dates in ISO form, or numbers
	Median    []float64 // median of a new observation
	LatentVar []float64 // variance of f
	NoisyVar  []float64 // variance of a new observation
	Lower     []float64 // ends of the 95 % band of a new observation
	Upper     []float64
	Parts     []Part // the forecasts that are averaged
	// Counts are the distributions of counts; nil for other observations. LatentVar is then the variance of the expectation given f,
	// and the ends of the band are whole numbers.
	Counts *observe.Counts
	// Expected are the means of counts and of censored values; nil for others.
	Expected []float64
}

// Point returns each forecast as one number, which files call the mean: the expected value of counts and of censored values,
// otherwise the median.
func (f *Forecast) Point() []float64 {
	if f.Expected != nil {
		return f.Expected
	}
	return f.Median
}

// Predict returns the posterior at each x, ascending, on the axis of the series. A prediction that is not finite is an error.
func (a *Analysis) Predict(ctx context.Context, x []float64) (*Forecast, error) {
	if err := a.Condition(ctx); err != nil {
		return nil, err
	}
	if i := numeric.FirstNotFinite(x); i >= 0 {
		return nil, fmt.Errorf("x[%d] = %v is not finite", i, x[i])
	}
	const many = 1000 // for more x, the ends come first: predictions leave the range there first
	if n := len(x); n > many {
		if _, err := a.Predict(ctx, []float64{x[0], x[n-1]}); err != nil {
			return nil, err
		}
	}
	parts, err := a.parts(ctx, x)
	if err != nil {
		return nil, err
	}
	f, err := forecastOf(ctx, x, a.Series.Axis.Texts(x), parts)
	if err != nil {
		return nil, err
	}
	for i := range x {
		if !(math.Abs(f.Point()[i]) <= series.Largest && math.Sqrt(f.NoisyVar[i]) <= series.Largest) {
			if math.Abs(x[i]) > series.Largest {
				return nil, fmt.Errorf("a prediction at %s is too far away: x is up to %g in size", f.When[i], series.Largest)
			}
			if a.ofLog() {
				return nil, dataset.Message{Of: "Options", Format: "the prediction at %s is out of range: " +
					"the model is one of the logarithm of %s, whose trend or uncertainty keeps growing: " +
					"predict less far ahead, or fit with %v",
					Args: []any{f.When[i], a.Series.YName, dataset.Setting{Field: "Log", Value: "never"}}}
			}
			return nil, fmt.Errorf("the prediction at %s is %g with a variance of %g: "+
				"the parameters of the model, %v, are out of the range of float64", f.When[i], f.Point()[i], f.NoisyVar[i], a.Result.Model)
		}
	}
	return f, nil
}

// ofLog reports whether a model of log y is among the averaged ones.
func (a *Analysis) ofLog() bool {
	return slices.ContainsFunc(a.members, func(m *member) bool { return m.Log })
}

// MostSteps is the largest number of steps of a forecast.
const MostSteps = 1_000_000

// Forecast predicts the given number of steps beyond the last observation. A step is a calendar month in a monthly series
// (likewise for quarters and years), otherwise the median distance between observations, skipping the times of the week or day at
// which the series never has one.
func (a *Analysis) Forecast(ctx context.Context, steps int) (*Forecast, error) {
	if steps < 1 {
		return nil, fmt.Errorf("a forecast of %d steps: at least one is needed", steps)
	}
	if steps > MostSteps {
		return nil, fmt.Errorf("a forecast of %d steps: at most %d", steps, MostSteps)
	}
	x, err := a.Series.Next(steps)
	if err != nil {
		return nil, err
	}
	return a.Predict(ctx, x)
}

// Quantile95 is the half width of a 95 % band in standard deviations.
const Quantile95 = 1.959963984540054

// Quantile returns the quantile of a new observation at each x, at level p, 0 < p < 1.
func (f *Forecast) Quantile(ctx context.Context, p float64) (quantiles []float64, err error) {
	defer parallel.Stopped(&err)
	if f.Counts != nil {
		return f.Counts.Quantile(ctx, p)
	}
	return f.Mixture().Quantile(ctx, p)
}

// LatentBand returns the ends of the 95 % band of f at each x, until ctx ends. It panics for counts, whose f is on another scale.
func (f *Forecast) LatentBand(ctx context.Context) (lo, hi []float64, err error) {
	if f.Counts != nil {
		panic("forecast: LatentBand of counts")
	}
	m := mixtureOf(f.Parts, true)
	if lo, err = m.Quantile(ctx, 0.025); err != nil {
		return nil, nil, err
	}
	hi, err = m.Quantile(ctx, 0.975)
	return lo, hi, err
}

// WriteCSV writes the forecast with a header: the axis, mean (Point), the standard deviations of the latent function and of a new
// observation, and the 95 % band of the latter. Two more columns for each further level, in (0, 1), are the ends of that band:
// the quantiles at (1 − level)/2 and (1 + level)/2. A forecast of counts also has the median and the probability of 0,
// one of censored values the median and the probabilities of the bounds.
func (f *Forecast) WriteCSV(w io.Writer, a series.Axis, levels ...float64) error {
	rows := [][]string{{cmp.Or(a.Name, "x"), "mean", "sd_latent", "sd_observation", "lower_95", "upper_95"}}
	if f.Expected != nil {
		rows[0] = append(rows[0], "median")
	}
	bounds := f.AtBounds()
	for _, b := range bounds {
		rows[0] = append(rows[0], b.Name)
	}
	var ends [][]float64
	rows[0], levels = withBands(rows[0], levels)
	for _, level := range levels {
		for _, p := range []float64{0.5 * (1 - level), 0.5 * (1 + level)} {
			end, err := f.Quantile(context.Background(), p)
			if err != nil {
				return err
			}
			ends = append(ends, end)
		}
	}
	for i, when := range f.When {
		row := []string{when, cell(f.Point()[i]), cell(math.Sqrt(f.LatentVar[i])), cell(math.Sqrt(f.NoisyVar[i])),
			cell(f.Lower[i]), cell(f.Upper[i])}
		if f.Expected != nil {
			row = append(row, cell(f.Median[i]))
		}
		for _, b := range bounds {
			row = append(row, cell(b.P[i]))
		}
		for _, end := range ends {
			row = append(row, cell(end[i]))
		}
		rows = append(rows, row)
	}
	return series.WriteCSV(w, rows)
}

// withBands adds the columns of bands to a header, and returns the levels that it did not have yet.
func withBands(head []string, levels []float64) (all []string, added []float64) {
	for _, level := range levels {
		if name := cell(100 * level); !slices.Contains(head, "lower_"+name) {
			head, added = append(head, "lower_"+name, "upper_"+name), append(added, level)
		}
	}
	return head, added
}

// SaveCSV writes the forecast to a file as WriteCSV does, whole or not at all.
func (f *Forecast) SaveCSV(path string, a series.Axis) error {
	return files.Write(context.Background(), path, func(w io.Writer) error { return f.WriteCSV(w, a) })
}

// cell formats a number for a table.
func cell(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }

// WithNoise returns the analysis with another noise variance of the standardised series, and the rise of the exact NLL in nats.
func (a *Analysis) WithNoise(ctx context.Context, noise float64) (other *Analysis, excess float64, err error) {
	m := a.Result.Model
	m.Noise = noise
	data, err := a.standardised(ctx)
	if err != nil {
		return nil, 0, err
	}
	loss, err := gppl.NewExact(ctx, m, data)
	if err != nil {
		return nil, 0, err
	}
	there, wrong := loss.ValueGrad(ctx, nil, m.Values())
	here, err := loss.ValueGrad(ctx, nil, a.Result.Model.Values())
	if err := cmp.Or(wrong, err); err != nil {
		return nil, 0, err
	}
	r := *a.Result
	r.Model = m
	other = &Analysis{
		Series: a.Series, Scaling: a.Scaling, Log: a.Log, Effort: a.Effort, Candidates: a.Candidates,
		Result: &r, given: a.given, trained: a.trained, whole: a.whole, computed: new(computed),
	}
	other.members = other.alone()
	return other, there - here, nil
}

// ErrorScale returns the learnt factor from the errors in the column Series.ErrorName to the noise; 1 if they are not relative.
func (a *Analysis) ErrorScale() float64 {
	if !a.Series.Relative {
		return 1
	}
	m := a.Result.Model
	return math.Sqrt(a.Scaling.Variance(m.Noise+capability.Nugget(m.Kernel))) / a.Series.TypicalError(a.Log)
}
