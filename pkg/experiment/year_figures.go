package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// denseReadings is the number of readings for which CostFigure times the dense engine, in some tenths of a second.
const denseReadings = 1000

// CostFigure draws the times of YearCosts beside the times of the dense likelihood, timed once and extrapolated by n³.
func CostFigure(t *viz.Table, seed uint64) (*viz.Figure, error) {
	var n, adding, sums, readings []float64
	for _, row := range t.Rows {
		n = append(n, float64(row[0].(int)))
		adding = append(adding, row[1].(time.Duration).Seconds())
		sums = append(sums, row[2].(time.Duration).Seconds())
		readings = append(readings, row[3].(time.Duration).Seconds())
	}
	y := NewYear(denseReadings, seed)
	x, v := y.readings()
	data, err := gppl.NewData(gppl.Scalars(x), v)
	if err != nil {
		return nil, err
	}
	dense, err := gppl.NewExact(context.Background(), y.Truth, data, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if _, err := gradientAt(dense); err != nil {
		return nil, err
	}
	once := time.Since(began).Seconds()
	// The line ends just above the slowest of the others; a longer one would flatten them.
	last := n[len(n)-1]
	slowest := max(slices.Max(adding), slices.Max(readings), slices.Max(sums))
	end := min(last, denseReadings*math.Cbrt(max(10*slowest/once, 10)))
	cubic := func(n float64) float64 { return once * math.Pow(n/denseReadings, 3) }
	return viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{
			Title:  "A likelihood from sums takes the same time for any number of readings",
			XLabel: "readings n", YLabel: "time (s)",
			Caption: fmt.Sprintf("One likelihood with its gradient. The dense engine is timed at n = %d and continued by n³, as far as "+
				"there is room.", denseReadings),
		},
		LogX: true, LogY: true,
		Curves: []viz.Curve{
			{Name: "from sums", X: n, Y: sums, Dots: true},
			{Name: "gridded engine, from readings", X: n, Y: readings, Dots: true},
			{Name: "dense engine", X: []float64{denseReadings, end}, Y: []float64{once, cubic(end)}, Dots: true},
			{Name: "simulating and adding up, once", X: n, Y: adding, Dots: true, Slot: viz.Grey},
		},
	})
}

// GapFigure draws the signal and two predictions around the start of a month: from all sums, and from the sums without that
// month.
func (y *Year) GapFigure(m gppl.Model, all, rest *sums.Sums, month int) (*viz.Figure, error) {
	start := yearDays / months * float64(month)
	const before, after, points = 2.0, 3.0, 300
	days, signal := Grid(start-before, start+after, points), make([]float64, points)
	for i, day := range days {
		signal[i] = y.noiseless(day)
	}
	o := viz.SeriesOptions{
		Frame: viz.Frame{
			Title:   "Once a month is subtracted, the forecast knows nothing of it",
			Caption: "Forecasts from sums alone, with 95 % bands. The signal is known from the simulation.",
			XLabel:  "time (days)", YLabel: "signal",
		},
		Observed: viz.Points{Name: "signal", X: days, Y: signal},
		Spans:    []viz.Span{{From: start, To: math.Inf(1), Label: "subtracted"}},
	}
	for _, c := range []struct {
		name string
		sums *sums.Sums
	}{{"all readings", all}, {"without the month", rest}} {
		post, err := gppl.NewPosterior(context.Background(), m, gppl.SumsData(c.sums, 0))
		if err != nil {
			return nil, err
		}
		mean, variance, _ := post.Latent(context.Background(), gppl.Scalars(days))
		o.Predictions = append(o.Predictions, viz.Prediction{Name: c.name, X: days, Mean: mean, LatentVar: variance})
	}
	return viz.Series(o)
}

// bands averages values of ascending frequencies over bands of equal width in log frequency.
func bands(frequency, value []float64) (x, y []float64) {
	const count = 100
	first, last := frequency[0], frequency[len(frequency)-1]
	var sum, at, n [count]float64
	for i, f := range frequency {
		b := min(count-1, int(count*math.Log(f/first)/math.Log(last/first)))
		sum[b], at[b], n[b] = sum[b]+value[i], at[b]+f, n[b]+1
	}
	for b, n := range n {
		if n > 0 {
			x, y = append(x, at[b]/n), append(y, sum[b]/n)
		}
	}
	return x, y
}

// SumsSpectrum draws the periodogram of the readings in s and what m expects of it.
func SumsSpectrum(m gppl.Model, s *sums.Sums) (*viz.Figure, error) {
	p, err := m.Periodogram(context.Background(), gppl.SumsData(s, 0))
	if err != nil {
		return nil, err
	}
	x, data := bands(p.Frequency, p.Data)
	_, expected := bands(p.Frequency, p.Expected)
	return viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{
			Title:  "The model explains the readings at every frequency",
			XLabel: "frequency (1/day)", YLabel: "power",
			Caption: "Periodogram from the sums, averaged over narrow bands, and its expectation under the model that was learnt.",
		},
		LogX: true, LogY: true,
		Curves: []viz.Curve{
			{Name: "readings", X: x, Y: data, Dots: true, NoLine: true, Slot: viz.Grey},
			{Name: "expected by the model", X: x, Y: expected, Slot: viz.Blue},
		},
		Rules: []viz.Rule{{Y: p.Noise, Name: "noise variance"}},
	})
}

// Unresolved lists why each kernel, with the noise of y, cannot be computed from s. It returns an error if one of them can.
func (y *Year) Unresolved(s *sums.Sums, kernels ...gppl.Kernel) (*viz.Table, error) {
	t := &viz.Table{Caption: "Kernels that these sums cannot represent", Columns: []viz.Column{{Name: "kernel"}, {Name: "why not"}}}
	for _, k := range kernels {
		_, err := gppl.NewPosterior(context.Background(), gppl.Model{Kernel: k, Noise: y.Truth.Noise}, gppl.SumsData(s, 0))
		var refusal *gppl.Refusal
		if !errors.As(err, &refusal) {
			return nil, fmt.Errorf("experiment: %v is not refused: %v", k, err)
		}
		t.Rows = append(t.Rows, []any{fmt.Sprint(k), refusal.Reason})
	}
	return t, nil
}

// ResolutionFigure draws spectral densities relative to their value at 0, and how far sums with the header h resolve them.
func ResolutionFigure(h sums.Header) (*viz.Figure, error) {
	limit := float64(h.Highest) / h.Period
	o := viz.CurvesOptions{
		Frame: viz.Frame{
			Title:  "Rough kernels and short lengthscales have signal beyond what the sums hold",
			XLabel: "frequency (1/day)", YLabel: "spectral density, relative",
			Caption: "Sums represent a kernel whose density falls to rounding before the shaded frequencies.",
		},
		LogX: true, LogY: true, YRange: [2]float64{1e-20, 3},
		Spans: []viz.Span{{From: limit, To: math.Inf(1), Label: "not in the sums"}},
	}
	se := func(lengthscale float64) func(float64) float64 {
		return func(omega float64) float64 { return math.Exp(-0.5 * omega * omega * lengthscale * lengthscale) }
	}
	for _, c := range []struct {
		name    string
		density func(omega float64) float64
	}{
		{fmt.Sprintf("SE, lengthscale %v", yearScale), se(yearScale)},
		{fmt.Sprintf("SE, lengthscale %v", yearScale/20), se(yearScale / 20)},
		{fmt.Sprintf("Matern32, lengthscale %v", yearScale), func(omega float64) float64 {
			return math.Pow(1+omega*omega*yearScale*yearScale/3, -2)
		}},
	} {
		curve := viz.Curve{Name: c.name}
		for f := 0.1; f < 10*limit; f *= 1.03 {
			curve.X, curve.Y = append(curve.X, f), append(curve.Y, max(1e-30, c.density(2*math.Pi*f)))
		}
		o.Curves = append(o.Curves, curve)
	}
	return viz.Curves(o)
}
