package judge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func checkSeason(season int) {
	if season < 1 {
		panic(fmt.Sprintf("judge: season = %d, want at least 1", season))
	}
}

// SeasonalNaive forecasts that the last season repeats. With T values and season m, the forecast of value T + h is
// y_{T+h−m(k+1)}, where k = ⌊(h − 1)/m⌋, with the variance (k + 1)·σ², σ² the mean square of y_t − y_{t−m} in train (Hyndman and
// Athanasopoulos 2021, sections 5.2 and 5.5). Season 1 is the naive forecast, a random walk. It panics if season < 1 or horizon <
// 0. It is an error if train has no more than season values.
func SeasonalNaive(train []float64, season, horizon int) (Gaussian, error) {
	checkSeason(season)
	if horizon < 0 {
		panic(fmt.Sprintf("judge: SeasonalNaive: horizon = %d", horizon))
	}
	n := len(train)
	if n <= season {
		return Gaussian{}, fmt.Errorf("%d values for a season of %d: the seasonal naive forecast needs more than one season",
			n, season)
	}
	x := timeline.Steps(n + horizon)
	past := &series.Series{X: x[:n], Y: train, Step: 1}
	square := mean(n-season, func(i int) float64 { d := train[i+season] - train[i]; return d * d })
	return repeated(past, x[n:], float64(season), square), nil
}

// seasonalYardstick returns SeasonalNaive as a yardstick.
func seasonalYardstick(y []float64, season int) Yardstick {
	forecast := func(_ context.Context, train, test Window) (Predictive, error) {
		return SeasonalNaive(y[train.From:train.To], season, test.Len())
	}
	return Yardstick{Name: "seasonal naive", Season: season, Forecast: forecast}
}

// yardsticksOf returns the naive forecasts of the series: the last value, the last value with drift, the mean and, for each of
// the periods that n observations span more than once, its repetition. They use the data and the calendar, but no model.
func yardsticksOf(s *series.Series, n int, periods []float64) []Yardstick {
	of := func(name string, season int, forecast func(past *series.Series, x []float64) Gaussian) Yardstick {
		return Yardstick{Name: name, Season: season, Forecast: func(_ context.Context, train, test Window) (Predictive, error) {
			return forecast(s.Part(train.From, train.To), s.X[test.From:test.To]), nil
		}}
	}
	all := []Yardstick{
		of("repeating the last value", 0, func(past *series.Series, x []float64) Gaussian {
			return repeated(past, x, 0, squareApart(past, 0))
		}),
		of("extending the line from the first value to the last", 0, drifting),
		of("the mean of the past", 0, meanOfPast),
	}
	for _, p := range periods {
		if steps := int(math.Round(p / s.Step)); steps > 1 && steps < n {
			all = append(all, of("repeating the last "+lastSeason(s, p, steps), steps, func(past *series.Series, x []float64) Gaussian {
				return repeated(past, x, p, squareApart(past, p))
			}))
		}
	}
	return all
}

// lastSeason names a period for use after "the last": year, 10 days, 19 years or, if x is a number without a unit, 12 steps.
func lastSeason(s *series.Series, period float64, steps int) string {
	name, unnamed := strings.CutPrefix(s.Axis.Season(period), series.UnnamedSeason)
	if unnamed && !s.Axis.IsTime() {
		return text.Count(steps, "step")
	}
	return name
}

// naiveSeasons returns the periods of the yardsticks: the user's and the calendar's or, if there are neither, the strongest
// seasons of the first n observations. No model learns them.
func naiveSeasons(a *forecast.Analysis, n int) (periods []float64) {
	const same = 0.01
	s := a.Series
	for _, p := range append(slices.Clone(a.Periods), s.CalendarPeriods()...) {
		if !slices.ContainsFunc(periods, func(q float64) bool { return math.Abs(q/p-1) < same }) {
			periods = append(periods, p)
		}
	}
	if len(periods) == 0 && s.Even {
		const most = 2
		lags := series.SeasonPeaks(s.Y[max(0, n-series.MostRemembered):n])
		for _, lag := range lags[:min(most, len(lags))] {
			periods = append(periods, float64(lag)*s.Step)
		}
	}
	return periods
}

// repeated forecasts x by naiveOf from all observations. The variance is square for each period ahead, or for each step if period
// is 0.
func repeated(s *series.Series, x []float64, period, square float64) Gaussian {
	n := len(s.X)
	g := Gaussian{naiveOf(s, x, n, period), make([]float64, len(x))}
	for i := range x {
		g.Variance[i] = square * periodsAhead(s, x[i], cmp.Or(period, s.Step))
	}
	return g
}

// periodsAhead returns how many lengths x is beyond the last observation, rounded up, at least 1.
func periodsAhead(s *series.Series, x, length float64) float64 {
	const rounding = 1e-6 // in steps
	return max(1, math.Ceil((x-s.X[len(s.X)-1])/length-rounding*s.Step/length))
}

// drifting forecasts x on the line through the first and the last observation, with the variance k·σ²·(1 + k/(n − 1)) after
// k steps, σ² the mean square of single steps (Hyndman and Athanasopoulos 2021, sections 5.2 and 5.5).
func drifting(s *series.Series, x []float64) Gaussian {
	n := len(s.X)
	slope, square := (s.Y[n-1]-s.Y[0])/(s.X[n-1]-s.X[0]), squareApart(s, 0)
	g := Gaussian{make([]float64, len(x)), make([]float64, len(x))}
	for i, v := range x {
		k := periodsAhead(s, v, s.Step)
		g.Mu[i], g.Variance[i] = s.Y[n-1]+slope*(v-s.X[n-1]), k*square*(1+k/float64(n-1))
	}
	return g
}

// meanOfPast forecasts the mean of all observations, with their variance about it times 1 + 1/n. A series without memory, such as
// rain or noise, has no better forecast.
func meanOfPast(s *series.Series, x []float64) Gaussian {
	middle, square := stat.MeanVariance(s.Y, nil)
	n := len(s.Y)
	g := Gaussian{make([]float64, len(x)), make([]float64, len(x))}
	for i := range x {
		g.Mu[i], g.Variance[i] = middle, square*(1+1/float64(n))
	}
	return g
}

// squareApart returns the mean square difference of observations a period apart, or of neighbours if period is 0; 0 if there are
// none.
func squareApart(s *series.Series, period float64) float64 {
	var sum, count float64
	for i := 1; i < len(s.X); i++ {
		j, ok := i-1, true
		if period > 0 {
			j, ok = periodsBefore(s, s.X[i], i, period)
		}
		if ok {
			sum, count = sum+(s.Y[i]-s.Y[j])*(s.Y[i]-s.Y[j]), count+1
		}
	}
	return sum / max(1, count)
}

// naiveOf returns the naive forecast at each x from the first n observations: the value the smallest number of whole periods
// before or, if there is none or period is 0, the last value. It counts periods by x, not by observations, which drift from the
// day of the week in a series with gaps.
func naiveOf(s *series.Series, x []float64, n int, period float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = s.Y[n-1]
		if j, ok := periodsBefore(s, v, n, period); ok {
			y[i] = s.Y[j]
		}
	}
	return y
}

// periodsBefore returns the index, below n, of the observation that is the smallest number of whole periods before x, at most a
// step off.
func periodsBefore(s *series.Series, x float64, n int, period float64) (index int, ok bool) {
	if period <= 0 {
		return 0, false
	}
	const rounding = 1e-6 // in steps
	first := s.X[0] - s.Step
	at := x - period*max(1, math.Ceil((x-s.X[n-1])/period-rounding*s.Step/period))
	for ; at >= first; at -= period {
		j, _ := slices.BinarySearch(s.X[:n], at)
		for _, k := range []int{j - 1, j} { // the later of two equally near ones wins
			if k >= 0 && k < n && (!ok || math.Abs(s.X[k]-at) <= math.Abs(s.X[index]-at)) {
				index, ok = k, true
			}
		}
		if math.Abs(s.X[index]-at) <= (1+rounding)*s.Step {
			return index, true
		}
		ok = false
	}
	return 0, false
}
