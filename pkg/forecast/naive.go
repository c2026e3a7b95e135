package forecast

import (
	"fmt"
	"math"
	"slices"
)

func checkSeason(season int) {
	if season < 1 {
		panic(fmt.Sprintf("forecast: season = %d, want at least 1", season))
	}
}

// SeasonalNaive forecasts that the last season repeats: with T values and season m, that of T + h is y_{T+h−m(k+1)}, k = ⌊(h − 1)/m⌋,
// with the variance (k + 1)·σ², σ² the mean square of y_t − y_{t−m} in train (Hyndman and Athanasopoulos 2021, sections 5.2 and 5.5).
// Season 1 is the naive forecast, a random walk. It panics if season < 1 or horizon < 0, and is an error if train has no more than
// season values.
func SeasonalNaive(train []float64, season, horizon int) (Gaussian, error) {
	checkSeason(season)
	if horizon < 0 {
		panic(fmt.Sprintf("forecast: SeasonalNaive: horizon = %d", horizon))
	}
	n := len(train)
	if n <= season {
		return Gaussian{}, fmt.Errorf("forecast: %d values for a season of %d: the seasonal naive forecast needs more than one season", n, season)
	}
	x := make([]float64, n+horizon)
	for i := range x {
		x[i] = float64(i)
	}
	past := &Series{X: x[:n], Y: train, Step: 1}
	square := mean(n-season, func(i int) float64 { d := train[i+season] - train[i]; return d * d })
	g := Gaussian{past.naive(x[n:], n, float64(season)), make([]float64, horizon)}
	for h := range horizon {
		g.Variance[h] = float64(h/season+1) * square
	}
	return g, nil
}

// naive returns what forecasts are compared with, at each of x, from the first n observations: the value the fewest whole periods
// before, or where there is none, or with period 0, the last value. It goes by x and not by the number of observations, which in a series
// with gaps are not those of the same day of the week.
func (s *Series) naive(x []float64, n int, period float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = s.Y[n-1]
		if j, ok := s.periodsBefore(v, n, period); ok {
			y[i] = s.Y[j]
		}
	}
	return y
}

// periodsBefore returns the index, below n, of the observation the fewest whole periods before x, at most a step off.
func (s *Series) periodsBefore(x float64, n int, period float64) (index int, ok bool) {
	if period <= 0 {
		return 0, false
	}
	const rounding = 1e-6 // of a step
	first, last := s.X[0]-s.Step, s.X[n-1]
	at := x - period*max(1, math.Ceil((x-last)/period-rounding*s.Step/period))
	for ; at >= first; at -= period {
		j, _ := slices.BinarySearch(s.X[:n], at)
		for _, k := range []int{j - 1, j} { // of two as near, the later
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

// season returns the period of the naive forecast, and how many steps it has: of the periods in models with half of the weight or more, the
// one that errs least over the first n observations, which have more than one of it. It is 0, and 1 step, where there is none: to beat a
// season that the forecast hardly has means nothing.
func (a *Analysis) season(n int) (period float64, steps int) {
	const share, same = 0.5, 0.01
	steps = 1
	if !a.Series.Even || a.Series.Step <= 0 {
		return 0, steps
	}
	least := math.Inf(1)
	var periods []float64
	for _, m := range a.members {
		periods = append(periods, periodsOf(m.model.Params())...)
	}
	for _, p := range periods {
		s := int(math.Round(p / a.Series.Step))
		var weight, total float64
		for _, m := range a.members {
			total += m.weight
			if slices.ContainsFunc(periodsOf(m.model.Params()), func(q float64) bool { return math.Abs(q/p-1) < same }) {
				weight += m.weight
			}
		}
		if s <= 1 || s >= n || weight < share*total {
			continue
		}
		if e := a.Series.naiveError(n, p); e < least {
			least, period, steps = e, p, s
		}
	}
	return period, steps
}

// naiveError is the mean absolute difference of the first n observations from those a period before; +Inf where there is none.
func (s *Series) naiveError(n int, period float64) float64 {
	var sum, count float64
	for i := 1; i < n; i++ {
		if j, ok := s.periodsBefore(s.X[i], i, period); ok {
			sum += math.Abs(s.Y[i] - s.Y[j])
			count++
		}
	}
	if count == 0 {
		return math.Inf(1)
	}
	return sum / count
}
