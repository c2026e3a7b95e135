package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// maxSentences bounds the description of a figure: a reader who cannot see it needs its message, not all of its numbers.
const maxSentences = 8

// words describes what the figure shows, from its numbers, in one sentence per curve.
func (f *Figure) words() string {
	var sentences []string
	more := 0
	for _, p := range f.drawn() {
		head := ""
		if len(f.panels) > 1 && p.title != "" {
			head = p.title + ": "
		}
		for j := range p.layers {
			s := p.layers[j].words(p.layers[:j])
			if s == "" {
				continue
			}
			if len(sentences) == maxSentences {
				more++
				continue
			}
			sentences = append(sentences, head+s+".")
			head = ""
		}
	}
	if x, y := f.axes(); x != "" && len(sentences) > 0 {
		sentences = append([]string{fmt.Sprintf("%s against %s.", y, x)}, sentences...)
	}
	if more > 0 {
		sentences = append(sentences, fmt.Sprintf("%d more are not described.", more))
	}
	return strings.Join(sentences, " ")
}

// axes returns the labels of the axes, empty if they differ between panels.
func (f *Figure) axes() (x, y string) {
	if f.shared {
		return f.XLabel, f.YLabel
	}
	for _, p := range f.drawn() {
		switch {
		case x == "":
			x, y = p.xLabel, p.yLabel
		case p.xLabel != x || p.yLabel != y:
			return "", ""
		}
	}
	return x, y
}

func threeDigits(v float64) string { return formatDigits(v, 3) }

// sayX writes an abscissa: a date as in tables, or a number with enough digits to tell the month of a year.
func (l *layer) sayX(v float64) string {
	switch c := l.dates.(type) {
	case nil:
	case interface{ Text(x float64) string }:
		return strings.TrimSuffix(strings.Replace(c.Text(v), "T", " ", 1), "Z")
	default:
		return c.Time(v).Format(time.DateOnly)
	}
	digits := 3
	if math.Abs(v) >= 1000 {
		digits = 5
	}
	return trimmed(formatDigits(v, digits))
}

// again reports whether a layer repeats the numbers of one below it, as dots on a line or a line through points do.
func (l *layer) again(before []layer) bool {
	return slices.ContainsFunc(before, func(o layer) bool { return sameSlice(o.y, l.y) })
}

// words describes a layer; before are the layers drawn below it, which may be the same curve in another form.
func (l *layer) words(before []layer) string {
	name := l.name
	switch l.kind {
	case layerLine:
		if l.again(before) {
			return ""
		}
		if name == "" {
			name = "A line without a name"
		}
		return l.course(name)
	case layerDots, layerBars, layerStems:
		if l.again(before) {
			return ""
		}
		return l.places("Dots", "%s: one at", "%s: %d")
	case layerBand:
		first, last := -1, -1
		for i := range l.x {
			if w := l.hi[i] - l.lo[i]; numeric.IsFinite(w) {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first < 0 {
			return ""
		}
		return fmt.Sprintf("The band %q is %s wide at %s and %s at %s", name,
			threeDigits(l.hi[first]-l.lo[first]), l.sayX(l.x[first]), threeDigits(l.hi[last]-l.lo[last]), l.sayX(l.x[last]))
	case layerRule:
		if name == "" {
			return ""
		}
		return fmt.Sprintf("%s: a horizontal line at %s", name, threeDigits(l.y[0]))
	case layerPoints:
		return l.places("Points", "%s is at", "%s: %d points")
	case layerErrors:
		least, most := math.Inf(1), 0.0
		for i := range l.x {
			e := 0.5 * (l.hi[i] - l.lo[i])
			least, most = math.Min(least, e), math.Max(most, e)
		}
		return fmt.Sprintf("Bars of one standard deviation at %d of them are between %s and %s",
			len(l.x), threeDigits(least), threeDigits(most))
	case layerStrip:
		s := SpreadOf(l.y)
		if s.N == 0 {
			return ""
		}
		_, _, ys := l.extent()
		return fmt.Sprintf("%s: median %s of %d, between %s and %s", name, threeDigits(s.Median), s.N,
			threeDigits(ys[0]), threeDigits(ys[1]))
	}
	return ""
}

// places describes the range of the drawable points in a sentence that begins with one for one point, with many for several.
func (l *layer) places(unnamed, one, many string) string {
	n, xs, ys := l.extent()
	name := cmp.Or(l.name, unnamed)
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(one+" (%s, %s)", name, l.sayX(xs[0]), threeDigits(ys[0]))
	}
	return fmt.Sprintf(many+" from %s to %s, between %s and %s", name, n, l.sayX(xs[0]), l.sayX(xs[1]),
		threeDigits(ys[0]), threeDigits(ys[1]))
}

// course describes where a line begins and ends, and its highest or lowest value if that is neither.
func (l *layer) course(name string) string {
	first, last, low, high := -1, -1, -1, -1
	for i, y := range l.y {
		if !drawable(l.x[i], l.logX) || !drawable(y, l.logY) {
			continue
		}
		if first < 0 {
			first, low, high = i, i, i
		}
		last = i
		if y < l.y[low] {
			low = i
		}
		if y > l.y[high] {
			high = i
		}
	}
	at := l.uprights()
	switch {
	case first < 0:
		return ""
	case len(at) > 0:
		const listed = 4
		if n := len(at) - listed; n > 1 {
			at = append(at[:listed], fmt.Sprintf("and at %d more places", n))
		}
		return name + " at " + strings.Join(at, ", ")
	case first == last:
		return fmt.Sprintf("%s is %s at %s", name, threeDigits(l.y[first]), l.sayX(l.x[first]))
	case l.y[low] == l.y[high]:
		return fmt.Sprintf("%s stays at %s from %s to %s", name, threeDigits(l.y[low]), l.sayX(l.x[first]), l.sayX(l.x[last]))
	}
	verb := "rises"
	if l.y[last] < l.y[first] {
		verb = "falls"
	}
	// A difference that overflows is infinite, and so exceeds every share of the range.
	if math.Abs(l.y[last]-l.y[first]) < 0.05*(l.y[high]-l.y[low]) {
		verb = "goes"
	}
	s := fmt.Sprintf("%s %s from %s at %s to %s at %s", name, verb, threeDigits(l.y[first]), l.sayX(l.x[first]),
		threeDigits(l.y[last]), l.sayX(l.x[last]))
	const apart = 0.05 // share of the range by which an extreme must lie beyond both ends to be mentioned
	var extremes []string
	if v := l.y[low]; math.Min(l.y[first], l.y[last])-v > apart*(l.y[high]-v) {
		extremes = append(extremes, fmt.Sprintf("lowest %s at %s", threeDigits(v), l.sayX(l.x[low])))
	}
	if v := l.y[high]; v-math.Max(l.y[first], l.y[last]) > apart*(v-l.y[low]) {
		extremes = append(extremes, fmt.Sprintf("highest %s at %s", threeDigits(v), l.sayX(l.x[high])))
	}
	if len(extremes) > 0 {
		s += ", " + strings.Join(extremes, ", ")
	}
	return s
}

// uprights returns the abscissas, in words, of a layer that consists of vertical lines, such as events; nil for other layers.
func (l *layer) uprights() (at []string) {
	for i := 0; i+1 < len(l.x); i += 3 { // two ends, then a gap
		if !(l.x[i] == l.x[i+1]) || i+2 < len(l.x) && !math.IsNaN(l.x[i+2]) {
			return nil
		}
		at = append(at, l.sayX(l.x[i]))
	}
	return at
}

// extent counts the drawable points and returns their ranges.
func (l *layer) extent() (n int, xs, ys [2]float64) {
	xs, ys = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for i, y := range l.y {
		if !drawable(y, l.logY) || l.x != nil && !drawable(l.x[i], l.logX) {
			continue
		}
		n++
		ys = [2]float64{math.Min(ys[0], y), math.Max(ys[1], y)}
		if l.x != nil {
			xs = [2]float64{math.Min(xs[0], l.x[i]), math.Max(xs[1], l.x[i])}
		}
	}
	return n, xs, ys
}
