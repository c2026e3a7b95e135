package search

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

const (
	// leastCycles is the smallest number of cycles in which a season can be seen.
	leastCycles = 3
	// clearlyShown is the gain in nats, by BIC, above which a season is clear. Of 200 series each of white, red, wandering and
	// heavy-tailed noise, none or a few have as much (measure/search counts them).
	clearlyShown = 6
	// mostFolded is the largest number of latest observations whose seasonal means are scored. Periods reach longestFolded steps
	// or, for many observations, as far as foldedAdditions allow, which take some 10 ms.
	mostFolded, longestFolded, foldedAdditions = 6000, 1100, 2e6
)

// folded is a season found by seasonal means.
type folded struct {
	period int     // steps
	gain   float64 // in nats, by BIC
}

// whole returns the length of a season in steps if that is a whole number and the series has leastCycles of it; otherwise 0.
func (c season) whole(s *series.Series) int {
	steps := math.Round(c.period / s.Step)
	if steps < 2 || math.Abs(c.period/s.Step-steps) >= 0.02 || steps > (s.X[len(s.X)-1]-s.X[0])/s.Step/leastCycles {
		return 0
	}
	return int(steps)
}

// clearest returns the clearest season on any of the scales. A season must be seen in the observations, as they are or beside a
// level that wanders (levelled), and in their AR(1) residuals: its gain is the lower of the two. Of several multiples of a
// period, the shortest within 3 nats is returned, but a season of the calendar comes first: opening hours from 7 to 17 h look the
// same with a period of 12 hours as with a day.
func clearest(views []*view, calendar []int) (best folded) {
	const close = 3 // nats
	for _, v := range views {
		white := v.whitened()
		last := v.at[len(v.at)-1] + 1
		gains := make([]float64, max(3, min(last/leastCycles, longestFolded, int(foldedAdditions/float64(len(v.y))))+1))
		top := 0
		for p := 2; p < len(gains); p++ {
			if gains[p] = white.gain(p); gains[p] > 0 { // few periods have a gain
				gains[p] = min(gains[p], v.levelled(p).gain(p))
			}
			if top == 0 || gains[p] > gains[top] {
				top = p
			}
		}
		if top == 0 || gains[top] <= best.gain {
			continue
		}
		gain := func(p int) float64 { return min(v.levelled(p).gain(p), white.gain(p)) }
		if i := slices.IndexFunc(calendar, func(p int) bool { return gain(p) > gains[top]-close }); i >= 0 {
			best = folded{calendar[i], gains[top]}
			continue
		}
		for p := 2; p < top; p++ {
			if top%p == 0 && gains[p] > gains[top]-close {
				top = p
				break
			}
		}
		top = v.apart(gains, top)
		best = folded{top, gains[top]}
	}
	return best
}

// apart returns the shorter of two seasons that together look like one of this period, if they explain more as two: a week and a
// wave of 90 steps look like 91 steps, a multiple of 7; a week and a rota of 9 days look like 63 days. Otherwise it returns the
// period.
func (v *view) apart(gains []float64, period int) int {
	short := 0
	for p := 2; p <= period/4; p++ {
		if off := period - p*((period+p/2)/p); off >= -1 && off <= 1 && gains[p] > clearlyShown &&
			(short == 0 || gains[p] > gains[short]) {
			short = p
		}
	}
	if short == 0 {
		return period
	}
	rest := &view{v.at, slices.Clone(v.y), v.weight}
	rest.leaveOut(folded{period: short})
	more, n := rest.gain(period), float64(len(v.y))
	steps, _ := rest.refine(float64(period), 1)
	for _, harmonics := range []int{1, 2, 3} {
		if 2*harmonics < period {
			more = max(more, rest.gainAt(steps, harmonics)-float64(harmonics)*math.Log(n))
		}
	}
	for p := 2; p < period; p++ {
		if period%p == 0 && p != short {
			more = max(more, rest.gain(p))
		}
	}
	if gains[short]+more > gains[period] {
		return short
	}
	return period
}

// levelled returns the view in which seasonal means show best: itself, or its values less the means of the cycles around them if
// these show the season more than twice as clearly, since a level that wanders far hides it.
func (v *view) levelled(period int) *view {
	if rest := v.aboutCycles(period); rest.gain(period) > 2*max(0, v.gain(period)) {
		return rest
	}
	return v
}

// aboutCycles returns the values less the mean of the values within a period around each.
func (v *view) aboutCycles(period int) *view {
	rest := &view{v.at, make([]float64, len(v.y)), v.weight}
	var sum float64
	first, next := 0, 0 // the values in the sum
	for i, at := range v.at {
		for ; next < len(v.y) && v.at[next] < at-period/2+period; next++ {
			sum += v.y[next]
		}
		for ; v.at[first] < at-period/2; first++ {
			sum -= v.y[first]
		}
		rest.y[i] = v.y[i] - sum/float64(next-first)
	}
	return rest
}

// gain returns the gain of seasonal means over one mean, ½n·log of the ratio of the sums of squares less ½log n for each mean.
func (v *view) gain(period int) float64 {
	sum, count := make([]float64, period), make([]float64, period)
	var total, mean float64
	k := 0
	for i, y := range v.y {
		if i > 0 {
			k += v.at[i] - v.at[i-1]
		}
		if k >= period { // cheaper than a division
			if k -= period; k >= period {
				k %= period
			}
		}
		w := v.weight[i]
		sum[k] += w * y
		count[k] += w
	}
	for i, y := range v.y {
		w := v.weight[i]
		total, mean = total+w*y*y, mean+w*y
	}
	n := float64(len(v.y))
	mean /= n
	explained, free := -n*mean*mean, -1.0
	total -= n * mean * mean
	for k, c := range count {
		if c > 0 {
			explained += sum[k] * sum[k] / c
			free++
		}
	}
	return gainOf(n, total, explained, free)
}

// gainOf returns the gain by BIC of free coefficients that explain a part of a total sum of squares.
func gainOf(n, total, explained, free float64) float64 {
	const least = 1e-12 // share of the total, to stay above rounding errors
	if !(total > 0) {
		return math.Inf(-1)
	}
	return 0.5*n*math.Log(total/max(total-explained, least*total)) - 0.5*free*math.Log(n)
}

// means returns the mean of the values at each place of a period, and their weight there; where that is 0, the mean is NaN. Of a
// series with changes of level, deseasonalised in package forecast takes medians instead.
func (v *view) means(period int) (mean, weight []float64) {
	mean, weight = make([]float64, period), make([]float64, period)
	for i, y := range v.y {
		k := v.at[i] % period
		mean[k] += v.weight[i] * y
		weight[k] += v.weight[i]
	}
	floats.Div(mean, weight)
	return mean, weight
}

// smoothness returns the lengthscale ℓ of a periodic kernel with the correlation of neighbouring seasonal means, without their
// noise: exp(−2 sin²(π/P)/ℓ²) at a period of P steps. Training that starts smoother than a rough season can end with the season
// in the noise. A season that is not rough starts at smoothSeason, from where training finds it.
func (v *view) smoothness(f folded) float64 {
	const least, rough = 0.05, 0.5 * smoothSeason // correlation, ℓ
	means, weights := v.means(f.period)
	if slices.Contains(weights, 0) {
		return smoothSeason
	}
	var mean, noise, square, product float64
	for _, m := range means {
		mean += m / float64(f.period)
	}
	for i, y := range v.y {
		noise += v.weight[i] * sq(y-means[v.at[i]%f.period])
	}
	noise /= max(1, float64(len(v.y)-f.period))
	for k, m := range means {
		square += sq(m-mean) - noise/weights[k]
		product += (m - mean) * (means[(k+1)%f.period] - mean)
	}
	correlation := min(max(product/square, least), 1)
	if !(square > 0) || correlation == 1 {
		return smoothSeason
	}
	l := math.Sin(math.Pi/float64(f.period)) * math.Sqrt(2/-math.Log(correlation))
	if l > rough {
		return smoothSeason
	}
	return l
}

// leaveOut subtracts the seasonal means.
func (v *view) leaveOut(f folded) {
	means, _ := v.means(f.period)
	for i := range v.y {
		v.y[i] -= means[v.at[i]%f.period]
	}
}

func sq(v float64) float64 { return v * v }
