package viz

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
)

// Values beyond hugest or below smallest are useless on an axis: differences overflow, and logarithms lose their meaning.
const (
	hugest   = 1e300
	smallest = 1e-300
)

// drawable reports whether v has a place on an axis.
func drawable(v float64, log bool) bool {
	return math.Abs(v) <= hugest && (!log || v >= smallest) // NaN gives false
}

// widen returns the range of an axis for data in [lo, hi]: a share of its length wider on both sides, and never empty.
func widen(lo, hi float64, log bool, share float64) (float64, float64) {
	if log {
		l, h := math.Log10(lo), math.Log10(hi)
		if h-l < 1e-9 {
			l, h = l-0.5, h+0.5
		}
		pad := share * (h - l)
		return math.Pow(10, math.Max(l-pad, -305)), math.Pow(10, math.Min(h+pad, 305))
	}
	size := math.Max(math.Abs(lo), math.Abs(hi))
	if hi-lo <= 1e-12*size || hi == lo {
		pad := 0.1 * size
		if pad == 0 {
			pad = 1
		}
		return lo - pad, hi + pad
	}
	pad := share * (hi - lo)
	return lo - pad, hi + pad
}

// ticks are the ticks of an axis, with versions for less space.
type ticks interface {
	plot.Ticker
	fewer(n, least int) ticks // returns the ticks for an axis that shares its space with n − 1 others
	narrow() ticks            // returns the ticks for an axis that is a third of a page wide
}

func (t linearTicks) fewer(n, least int) ticks { return linearTicks{oneOf(n, t.n, least), t.most} }
func (t logTicks) fewer(n, least int) ticks    { return logTicks{oneOf(n, t.n, least)} }
func (t dateTicks) fewer(n, least int) ticks   { return dateTicks{t.Calendar, oneOf(n, t.n, least)} }

// oneOf returns the number of labels of an axis that shares its space with n − 1 others.
func oneOf(n, labels, least int) int { return max(least, labels-2*(n-1)) }

func (t linearTicks) narrow() ticks { return linearTicks{min(t.n, 4), t.most} }
func (t logTicks) narrow() ticks    { return logTicks{min(t.n, 2)} }
func (t dateTicks) narrow() ticks   { return dateTicks{t.Calendar, min(t.n, 3)} }

// linearTicks places about n labelled ticks at steps of 1, 2 or 5 times a power of ten. There are fewer if their labels, with a
// gap each, have more than most characters (0: no limit).
type linearTicks struct{ n, most int }

func (t linearTicks) Ticks(lo, hi float64) []plot.Tick {
	const gap = 1
	ticks := t.all(lo, hi)
	characters := 0
	for _, tick := range ticks {
		characters += utf8.RuneCountInString(tick.Label) + gap
	}
	if t.most > 0 && characters > t.most && t.n > 1 {
		return linearTicks{t.n - 1, t.most}.Ticks(lo, hi)
	}
	return ticks
}

func (t linearTicks) all(lo, hi float64) []plot.Tick {
	step := niceStep((hi - lo) / float64(t.n))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	big := math.Max(math.Abs(lo), math.Abs(hi))
	var ticks []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step && len(ticks) <= 4*t.n; k++ {
		v := k * step
		label := strconv.FormatFloat(v, 'f', decimals, 64)
		if big >= 1e7 || decimals > 5 {
			label = strconv.FormatFloat(v, 'g', max(1, int(math.Log10(big/step)+1.5)), 64)
			label = powerOfTen(label)
		}
		if v == 0 {
			label = "0"
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: strings.Replace(label, "-", minus, 1)})
	}
	return ticks
}

// niceStep returns 1, 2 or 5 times a power of ten, whichever is nearest in ratio.
func niceStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw < p*m*1.5 { // this is about the geometric mean with the next
			return m * p
		}
	}
	return 10 * p
}

// powerOfTen turns 1.5e-07 into 1.5×10^{−7}, which [superscript] draws.
func powerOfTen(s string) string {
	mantissa, exp, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	e, _ := strconv.Atoi(exp)
	power := "10^{" + strings.Replace(strconv.Itoa(e), "-", minus, 1) + "}"
	if mantissa == "1" {
		return power
	}
	return mantissa + "×" + power
}

// linear places ticks at equal steps, and fewer of them if their labels come too close to each other near the upper end.
func (t logTicks) linear(lo, hi float64) []plot.Tick {
	// An axis fits n labels, and at least 4, each of 7.5 characters with the gap beside it.
	const usual, least = 7.5, 4
	ticks := linearTicks{n: t.n}.Ticks(lo, hi)
	for n := t.n - 1; n > 1 && hi > 1.5*lo; n-- { // for a smaller hi/lo the ticks are spaced as on a linear axis
		apart := true
		for i := 1; i < len(ticks); i++ {
			gap := math.Log(ticks[i].Value/ticks[i-1].Value) / math.Log(hi/lo)
			needed := float64(utf8.RuneCountInString(ticks[i].Label)+1) / usual / float64(max(t.n, least))
			apart = apart && gap > needed
		}
		fewer := linearTicks{n: n}.Ticks(lo, hi)
		if apart || len(fewer) < 2 {
			break
		}
		ticks = fewer
	}
	return ticks
}

// logTicks labels decades, or every second, third, … of them if there are many, and also 2 and 5 if there are hardly any.
type logTicks struct{ n int }

func (t logTicks) Ticks(lo, hi float64) []plot.Tick {
	first, last := math.Log10(lo), math.Log10(hi)
	if last-first < 0.8 { // less than a decade: a log axis is nearly linear
		return t.linear(lo, hi)
	}
	stride := max(1, int(math.Ceil((last-first)/float64(t.n+1))))
	plain := lo >= 1e-3/2 && hi <= 2e4
	labelled := func(stride int) (count int) { // counts the labelled decades
		for e := int(math.Ceil(first - 1e-9)); e <= int(math.Floor(last+1e-9)); e++ {
			if e%stride == 0 {
				count++
			}
		}
		return count
	}
	for stride > 1 && labelled(stride) < 2 { // one label does not define a scale
		stride--
	}
	const wordy = 6 // number of ticks from which an axis fits labels as long as 2×10⁻⁴
	between := 2.2  // number of decades up to which 2 and 5 are labelled
	if (t.n < 3 || t.n < wordy && !plain) && labelled(1) > 1 {
		between = 1.3
	}
	label := func(v float64) string {
		if plain {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return powerOfTen(strconv.FormatFloat(v, 'e', -1, 64))
	}
	var ticks []plot.Tick
	for e := int(math.Floor(first)); e <= int(math.Ceil(last)); e++ {
		for m := 1; m < 10; m++ {
			v, err := strconv.ParseFloat(strconv.Itoa(m)+"e"+strconv.Itoa(e), 64) // this is exact, unlike m·10^e
			if err != nil || v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			switch {
			case m == 1 && ((e%stride)+stride)%stride == 0, last-first < between && (m == 2 || m == 5):
				ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
			case stride == 1 || m == 1:
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// unlabelled keeps the places of a ticker's ticks, for grid lines and marks, and drops the labels, for panels that share an axis.
// Its labels are a space, since gonum/plot takes an empty one for a minor tick and draws no grid line there.
type unlabelled struct{ plot.Ticker }

func (u unlabelled) Ticks(lo, hi float64) []plot.Tick {
	ticks := u.Ticker.Ticks(lo, hi)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = " "
		}
	}
	return ticks
}
