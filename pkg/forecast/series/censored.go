package series

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/text"
)

const (
	severalAt    = 3    // fewest values at a bound that may be censored
	fewestZeros  = 5    // fewest exact zeros of amounts
	zeroShare    = 0.05 // least share of exact zeros
	nearZero     = 0.5  // largest ratio of the lower decile of the positive amounts to their median, so that they reach down to 0
	fewestValues = 20   // fewest observations
)

// guessAmounts returns the bounds of values that are plainly amounts and often exactly 0: none is negative, at least five and one
// in twenty are 0, and the others reach down to 0, as in rain, or the zeros come back at the same places of each cycle, as at
// night. It returns nil for other values, such as those in which 0 stands for a missing reading near 60.
func guessAmounts(y []float64) *Bounds {
	if len(y) < fewestValues || slices.Min(y) < 0 {
		return nil
	}
	var above []float64
	for _, v := range y {
		if v > 0 {
			above = append(above, v)
		}
	}
	zeros := len(y) - len(above)
	if zeros < fewestZeros || float64(zeros) < zeroShare*float64(len(y)) || len(above) < fewestZeros {
		return nil
	}
	slices.Sort(above)
	rest := "the others reach down to it"
	if !(above[len(above)/10] <= nearZero*above[len(above)/2]) {
		if !zerosReturn(y) {
			return nil
		}
		rest = "the zeros come back in each cycle"
	}
	return &Bounds{Lo: 0, Hi: math.Inf(1), Censored: true,
		Because: fmt.Sprintf("%d of its %d values are exactly 0, none is below, and %s", zeros, len(y), rest)}
}

// zerosReturn reports whether the latest values are 0 where those one season earlier are, and only there, with few exceptions.
func zerosReturn(y []float64) bool {
	const exceptions = 0.1 // largest number of changes between 0 and other values, divided by the number expected by chance
	late := y[max(0, len(y)-MostRemembered):]
	lags := SeasonPeaks(late)
	if len(lags) == 0 {
		return false
	}
	changes, zeros := 0., 0.
	for i, v := range late {
		if v == 0 {
			zeros++
		}
		if i >= lags[0] && (v == 0) != (late[i-lags[0]] == 0) {
			changes++
		}
	}
	n := float64(len(late))
	return changes/(n-float64(lags[0])) < exceptions*2*zeros/n*(1-zeros/n)
}

// setRoot sets the root at which amounts are likeliest to be normal.
func (b *Bounds) setRoot(y []float64) {
	if !math.IsInf(b.Hi, 1) {
		return
	}
	likeliest := math.Inf(-1)
	for root := 2; root <= 4; root++ {
		if v := b.tobit(y, cut{b.Lo, b.Hi, root}); v > likeliest {
			b.Root, likeliest = root, v
		}
	}
}

// censored returns the bounds with censored values. likelier says that at least three values lie at a bound and that all, as
// independent normal values, are likelier censored than by their log odds, where a value at a bound lies anywhere up to the next.
func (b *Bounds) censored(y []float64, next float64) (c Bounds, likelier bool) {
	at := 0
	for _, v := range y {
		if b.At(v) {
			at++
		}
	}
	if at < severalAt || at > len(y)-severalAt {
		return *b, false
	}
	n := float64(len(y))
	odds := b.normal(y) - 0.5*n*(1+math.Log(2*math.Pi)) + float64(at)*math.Log(next)
	c = Bounds{Lo: b.Lo, Hi: b.Hi, Censored: true, Because: b.Because}
	return c, c.tobit(y, cut{b.Lo, b.Hi, 1}) > odds
}

// tobit returns the largest log likelihood of independent values that are normal on a scale and censored at the bounds (Tobin
// 1958), over their mean and variance, by expectation and maximisation.
func (b *Bounds) tobit(y []float64, scale cut) (nats float64) {
	var n, sum, squares, slopes float64
	var ends [2]float64 // numbers of values at the lower and at the upper bound
	for _, v := range y {
		switch {
		case v == b.Lo:
			ends[0]++
		case v == b.Hi:
			ends[1]++
		default:
			z := scale.Forward(v)
			n, sum, squares, slopes = n+1, sum+z, squares+z*z, slopes+scale.LogSlope(v)
		}
	}
	if n < 2 {
		return math.Inf(-1)
	}
	mean, all := sum/n, n+ends[0]+ends[1]
	variance := max(squares/n-mean*mean, math.SmallestNonzeroFloat64)
	const rounds = 300
	for range rounds {
		sd := math.Sqrt(variance)
		s, q := sum, squares
		nats = slopes - 0.5*n*math.Log(2*math.Pi*variance) - 0.5*(squares-2*mean*sum+n*mean*mean)/variance
		for k, bound := range []float64{b.Lo, b.Hi} {
			if ends[k] == 0 {
				continue
			}
			side := float64(1 - 2*k)
			z := side * (scale.Forward(bound) - mean) / sd
			p := max(0.5*math.Erfc(-z/math.Sqrt2), math.SmallestNonzeroFloat64)
			ratio := math.Exp(-0.5*z*z) / (p * math.Sqrt(2*math.Pi))
			own := mean - side*sd*ratio
			s += ends[k] * own
			q += ends[k] * (own*own + variance*max(0, 1-ratio*(z+ratio)))
			nats += ends[k] * math.Log(p)
		}
		mean = s / all
		variance = max(q/all-mean*mean, math.SmallestNonzeroFloat64)
	}
	return nats
}

// note says in a sentence how values between bounds are modelled.
func (b *Bounds) note(name string, y []float64) string {
	if !b.Censored {
		return fmt.Sprintf("%s is modelled by its log odds between %v and %v, which bands do not leave.", name, b.Lo, b.Hi)
	}
	at, low, high := 0, false, false
	for _, v := range y {
		if b.At(v) {
			at++
			low, high = low || v == b.Lo, high || v == b.Hi
		}
	}
	var ends string
	switch {
	case math.IsInf(b.Hi, 1) || low && !high:
		ends = fmt.Sprintf("at %v or below", b.Lo)
	case math.IsInf(b.Lo, -1) || high && !low:
		ends = fmt.Sprintf("at %v or above", b.Hi)
	default:
		ends = fmt.Sprintf("at %v and %v or beyond", b.Lo, b.Hi)
	}
	because := ""
	if b.Because != "" {
		because = ", since " + b.Because
	}
	return fmt.Sprintf("%s is modelled as censored%s: %s at a bound %s only known to be %s, "+
		"and a forecast has probabilities of its bounds.", name, because, text.Count(at, "value"), text.Are(at), ends)
}
