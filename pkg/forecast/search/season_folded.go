package search

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

const (
	// leastCycles is the number of cycles in which a season must repeat to be seen.
	leastCycles = 3
	// clearlyShown is the gain in nats, by BIC, of a season that is shown. In 200 series each of white, red, wandering and
	// heavy-tailed noise none or a few have as much (measure/search counts them).
	clearlyShown = 6
	// mostFolded is the number of latest observations whose seasonal means are scored, at periods of up to longestFolded steps or,
	// of many, of as many as take foldedAdditions: some 10 ms.
	mostFolded, longestFolded, foldedAdditions = 6000, 1100, 2e6
)

// folded is a season that seasonal means show.
type folded struct {
	period  int     // steps
	parts   int     // the period is this part of it: 12.5 steps are a half of 25
	gain    float64 // in nats, by BIC
	refined float64 // the period in steps, if it is no whole number of them; else 0
}

func (f folded) steps() float64 { return float64(f.period) / float64(f.parts) }

// whole returns the number of steps of a season that lasts for a whole number of them and repeats leastCycles times; else 0.
func (c season) whole(s *series.Series) int {
	steps := math.Round(c.period / s.Step)
	if steps < 2 || math.Abs(c.period/s.Step-steps) >= 0.02 || steps > (s.X[len(s.X)-1]-s.X[0])/s.Step/leastCycles {
		return 0
	}
	return int(steps)
}

// clearest returns the season that is the clearest on one of the scales. A season must be seen in the observations and in what an
// AR(1) leaves of them: its gain is the lower of both. Of multiples of one period, the shortest within 3 nats is meant, but
// before it a season of the calendar: opening hours from 7 to 17 h look the same in 12 hours as in a day.
func clearest(views []*view, calendar []int) (best folded) {
	const close = 3 // nats
	for _, v := range views {
		white := v.whitened()
		last := v.at[len(v.at)-1] + 1
		gains := make([]float64, max(3, min(last/leastCycles, longestFolded, int(foldedAdditions/float64(len(v.y))))+1))
		top := 0
		for p := 2; p < len(gains); p++ {
			if gains[p] = v.gain(p); gains[p] > 0 { // few do
				gains[p] = min(gains[p], white.gain(p))
			}
			if top == 0 || gains[p] > gains[top] {
				top = p
			}
		}
		if top == 0 || gains[top] <= best.gain {
			continue
		}
		if i := slices.IndexFunc(calendar, func(p int) bool { return min(v.gain(p), white.gain(p)) > gains[top]-close }); i >= 0 {
			best = folded{period: calendar[i], parts: 1, gain: gains[top]}
			continue
		}
		for p := 2; p < top; p++ {
			if top%p == 0 && gains[p] > gains[top]-close {
				top = p
				break
			}
		}
		top = v.apart(gains, top)
		best = v.inParts(white, folded{period: top, parts: 1, gain: gains[top]})
		best = v.settle(best)
	}
	return best
}

// apart returns the shorter of two seasons that a period, about a multiple of it, shows as one, if they explain more apart: 91
// steps show both a week and a wave of 90. It returns the period itself if no two do.
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
	rest.leaveOut(folded{period: short, parts: 1})
	more, n := rest.gain(period), float64(len(v.y))
	steps, _ := rest.refine(float64(period), 1)
	for _, harmonics := range []int{1, 2, 3} {
		if 2*harmonics < period {
			more = max(more, rest.gainAt(steps, harmonics)-float64(harmonics)*math.Log(n))
		}
	}
	if gains[short]+more > gains[period] {
		return short
	}
	return period
}

// gain is that of seasonal means at a period over one mean, ½n·log of the ratio of the sums of squares less ½log n for each mean.
func (v *view) gain(period int) float64 {
	sum, count := make([]float64, period), make([]float64, period)
	var total, mean float64
	k := 0
	for i, y := range v.y {
		if i > 0 {
			k += v.at[i] - v.at[i-1]
		}
		if k >= period { // a division takes longer
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

// gainOf is the gain by BIC of free coefficients that explain a part of a sum of squares.
func gainOf(n, total, explained, free float64) float64 {
	const least = 1e-12 // of the total: what rounding leaves
	if !(total > 0) {
		return math.Inf(-1)
	}
	return 0.5*n*math.Log(total/max(total-explained, least*total)) - 0.5*free*math.Log(n)
}

// inParts returns the part of the period that says as much with fewer coefficients: of a rhythm of 12.5 steps, which repeats
// after 25, only every second harmonic of 25 is there.
func (v *view) inParts(white *view, f folded) folded {
	best := f
	for _, parts := range divisors(f.period) {
		gain := min(v.gainOfParts(f.period, parts), white.gainOfParts(f.period, parts))
		if gain > best.gain {
			best.parts, best.gain = parts, gain
		}
	}
	return best
}

// divisors returns the numbers of parts, from 2 on, that leave at least two steps to a part.
func divisors(period int) (all []int) {
	for parts := 2; 2*parts <= period; parts++ {
		all = append(all, parts)
	}
	return all
}

// gainOfParts is the gain of those harmonics of seasonal means that repeat within a part of the period.
func (v *view) gainOfParts(period, parts int) float64 {
	sum, count := make([]float64, period), make([]float64, period)
	var total, mean float64
	n := float64(len(v.y))
	for i, y := range v.y {
		mean += v.weight[i] * y / n
	}
	for i, y := range v.y {
		k, w := v.at[i]%period, v.weight[i]
		sum[k] += w * (y - mean)
		count[k] += w
		total += w * (y - mean) * (y - mean)
	}
	for k, c := range count {
		if c == 0 { // a time without observations: no whole season to analyse
			return math.Inf(-1)
		}
		sum[k] /= c
	}
	harmonics := fourier.NewFFT(period).Coefficients(nil, sum)
	var explained, free float64
	for h := parts; h < len(harmonics); h += parts {
		power := sq(cmplx.Abs(harmonics[h])) / sq(float64(period))
		if 2*h == period {
			explained, free = explained+n*power, free+1
			continue
		}
		explained, free = explained+2*n*power, free+2
	}
	return gainOf(n, total, explained, free)
}

// smoothness returns the lengthscale ℓ of a periodic kernel whose correlation exp(−2 sin²(π/P)/ℓ²) of neighbours is the one of
// the seasonal means at a period of P steps, without their noise. Training that starts smoother than a rough season can end with
// the season in the noise. Seasons that are not rough start at smoothSeason, from where training finds any.
func (v *view) smoothness(f folded) float64 {
	const least, rough = 0.05, 0.5 * smoothSeason // correlation, ℓ
	sum, count := make([]float64, f.period), make([]float64, f.period)
	for i, y := range v.y {
		sum[v.at[i]%f.period] += v.weight[i] * y
		count[v.at[i]%f.period] += v.weight[i]
	}
	var mean float64
	for k := range sum {
		if count[k] == 0 {
			return smoothSeason
		}
		sum[k] /= count[k]
		mean += sum[k] / float64(f.period)
	}
	var noise, square, product float64
	for i, y := range v.y {
		noise += v.weight[i] * sq(y-sum[v.at[i]%f.period])
	}
	noise /= max(1, float64(len(v.y)-f.period))
	for k, m := range sum {
		square += sq(m-mean) - noise/count[k]
		product += (m - mean) * (sum[(k+1)%f.period] - mean)
	}
	correlation := min(max(product/square, least), 1)
	if !(square > 0) || correlation == 1 {
		return smoothSeason
	}
	l := math.Sin(math.Pi/f.steps()) * math.Sqrt(2/-math.Log(correlation))
	if l > rough {
		return smoothSeason
	}
	return l
}

// leaveOut subtracts the seasonal means of a season.
func (v *view) leaveOut(f folded) {
	sum, count := make([]float64, f.period), make([]float64, f.period)
	for i, y := range v.y {
		sum[v.at[i]%f.period] += v.weight[i] * y
		count[v.at[i]%f.period] += v.weight[i]
	}
	for i := range v.y {
		k := v.at[i] % f.period
		v.y[i] -= sum[k] / count[k]
	}
}

func sq(v float64) float64 { return v * v }
