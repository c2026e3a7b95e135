package viz

import (
	"strings"

	"gonum.org/v1/plot"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/projected-likelihood/gppl/internal/text"
)

// nameTicks labels places with names, on as many lines as their share of the width requires.
type nameTicks struct {
	names []string
	spans [][2]float64 // places of the first and the last strip of each name
	width vg.Length
}

func (t *nameTicks) add(name string, at float64) {
	t.names, t.spans = append(t.names, name), append(t.spans, [2]float64{at, at})
}

// widen extends the last name to a further place.
func (t *nameTicks) widen(at float64) { t.spans[len(t.spans)-1][1] = at }

func (t nameTicks) Ticks(lo, hi float64) []plot.Tick {
	sty := style.text(style.tickSize, style.ink, false)
	lines := make([][]string, len(t.names))
	most := 1
	limit := 0.88 * t.width / vg.Length(len(t.names))
	if t.upright() {
		limit = uprightLength
	}
	for i, n := range t.names {
		lines[i] = wrap(sty, n, limit)
		most = max(most, len(lines[i]))
	}
	var ticks []plot.Tick
	for i, l := range lines {
		if t.upright() {
			for j := range l {
				l[j] += upwardGap // text written upwards ends at the axis, and needs a gap there
			}
		}
		for len(l) < most { // gonum/plot aligns the first lines only if all have the same number of lines
			l = append(l, " ")
		}
		if at := (t.spans[i][0] + t.spans[i][1]) / 2; lo <= at && at <= hi {
			ticks = append(ticks, plot.Tick{Value: at, Label: strings.Join(l, "\n")})
		}
	}
	return ticks
}

func (t nameTicks) fewer(n, _ int) ticks { return nameTicks{t.names, t.spans, t.width / vg.Length(n)} }

func (t nameTicks) narrow() ticks {
	return nameTicks{t.names, t.spans, (narrowWidth - 80) * pxToPt} // the vertical axis takes 80
}

// upright reports whether a word is wider than its share of the axis, so that the names are written upwards.
func (t nameTicks) upright() bool {
	sty := style.text(style.tickSize, style.ink, false)
	share := 0.96 * t.width / vg.Length(max(1, len(t.names)))
	for _, n := range t.names {
		for _, word := range wrap(sty, n, 0) {
			if sty.Width(word) > share {
				return true
			}
		}
	}
	return false
}

const (
	uprightLength = 90             // length of a line of a name written upwards, in points
	upwardGap     = "\u00a0\u00a0" // browsers collapse ordinary spaces
)

// wrap breaks a text into lines no wider than width; a longer word has a line of its own.
func wrap(sty plottext.Style, s string, width vg.Length) []string {
	var lines []string
	for _, w := range text.UnbrokenFields(s) {
		if n := len(lines); n > 0 && sty.Width(lines[n-1]+" "+w) <= width {
			lines[n-1] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}

// narrowWidth is the width, in CSS pixels, between the margins of a page on a phone 400 pixels wide.
const narrowWidth = 360
