package viz

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Event is a place on the horizontal axis, drawn as a line across the figure. Events of one name are one entry of the legend.
type Event struct {
	X    float64
	Name string
}

// SeriesOptions describe a figure of observations and predictions. Only the axis labels and some data are required.
type SeriesOptions struct {
	Frame
	Observed, HeldOut Points
	Predictions       []Prediction
	Spans             []Span
	Events            []Event

	YRange [2]float64 // fixes the vertical axis as in CurvesOptions, for figures without Panels

	// Panels draws each prediction in its own panel, in Cols columns (zero means one), on shared axes. Without it they are overlaid,
	// which is readable for two or three.
	Panels bool
	Cols   int

	// Ends replaces the legend of a figure with a single prediction. The prediction and its bands are named where they end, at
	// the right of the axes, and the observations above these names.
	Ends bool
}

// forY and forF are the names of the bands, in legends and where the bands end.
const (
	forY = "95 % of values"
	forF = "the curve itself, 95 %"
)

const (
	// maxDots bounds the number of observations drawn in all panels together, so that the file stays small.
	maxDots = 12000
	// singleDots is the number up to which each dot can be seen by itself.
	singleDots = 400
)

// Series draws observations as dots and each prediction as a mean with a 95 % band for f inside one for y, which are named "the
// curve itself, 95 %" and "95 % of values". If there are more than 12000 observations, it draws an evenly spread subset and the
// legend says so.
//
// It returns an error if an axis label is missing, lengths differ, a prediction's X does not ascend, or nothing is drawable.
func Series(o SeriesOptions) (*Figure, error) {
	if !o.Panels || len(o.Predictions) < 2 {
		return series(o, maxDots)
	}
	cols := max(1, o.Cols)
	rows := (len(o.Predictions) + cols - 1) / cols
	figs := make([]*Figure, len(o.Predictions))
	for i, p := range o.Predictions {
		var err error
		if figs[i], err = o.panel(i, max(1, maxDots/len(o.Predictions))); err != nil {
			return nil, fmt.Errorf("panel %q: %w", p.Name, err)
		}
	}
	return Grid(rows, cols, GridOptions{Frame: o.Frame, ShareX: true, ShareY: true}, figs...)
}

// panel draws one of the predictions alone, for a grid. The panel's title names the method. The legend names the marks, in grey,
// since it applies to all panels.
func (o SeriesOptions) panel(i, limit int) (*Figure, error) {
	p := o.Predictions[i]
	p.Slot = slotOf(p.Slot, i) + 1
	o.Frame = Frame{Title: p.Name, XLabel: o.XLabel, YLabel: o.YLabel, Dates: o.Dates}
	o.Predictions = []Prediction{p}
	f, err := series(o, limit)
	if err != nil {
		return nil, err
	}
	l := f.panels[0].legend
	for j := range l {
		if l[j].name == p.Name {
			l[j].name = "mean"
		}
		if l[j].kind != swatchDots {
			l[j].look = greyed(l[j].look)
		}
	}
	return f, nil
}

// dotRadius returns the radius of n observations, which is larger if n is smaller.
func dotRadius(n int) vg.Length {
	switch {
	case n <= singleDots/2:
		return 1.9 * style.dotR
	case n <= 2*singleDots:
		return 1.4 * style.dotR
	}
	return style.dotR
}

func greyed(l draw.LineStyle) draw.LineStyle {
	_, _, _, a := l.Color.RGBA()
	l.Color = withAlpha(style.muted, uint8(a>>8))
	l.Dashes = nil
	return l
}

func series(o SeriesOptions, limit int) (*Figure, error) {
	b, err := newBuilder(o.Frame, false, false, o.Spans...)
	if err != nil {
		return nil, err
	}
	b.yRange = o.YRange
	// Bands come first, then many dots, then means: the model's f remains visible through thousands of observations.
	var latent, noisy bool
	single := len(o.Predictions) == 1
	latentAlpha, noisyAlpha := style.latentAlpha, style.noisyAlpha
	if !single {
		latentAlpha, noisyAlpha = style.overlaid, style.overlaid/2
	}
	for i, p := range o.Predictions {
		if err := p.check(i); err != nil {
			return nil, err
		}
		of := ""
		if !single {
			of = " of " + clean(p.Name)
		}
		latent = latent || p.LatentVar != nil || p.LatentLower != nil
		noisy = noisy || p.NoisyVar != nil || p.Lower != nil
		col := style.colour(slotOf(p.Slot, i))
		b.band(forY+of, p, true, withAlpha(col, noisyAlpha))
		b.band(forF+of, p, false, withAlpha(col, latentAlpha))
	}
	o.Observed.Name, o.HeldOut.Name = cmp.Or(o.Observed.Name, "observations"), cmp.Or(o.HeldOut.Name, "held out")
	radius := dotRadius(len(o.Observed.X) + len(o.HeldOut.X))
	// Up to singleDots dots hide no line, and no line should hide them: they are drawn above it, in full strength.
	above := func(p Points) bool { return len(p.X) <= singleDots || len(o.Predictions) == 0 }
	dots := func(whether bool) error {
		alpha := style.dotAlpha
		if whether {
			alpha = 255
		}
		if above(o.Observed) == whether {
			if err := b.observations(o.Observed, withAlpha(style.observed, alpha), radius, limit); err != nil {
				return err
			}
		}
		if above(o.HeldOut) == whether {
			return b.observations(o.HeldOut, withAlpha(style.heldOut, style.heldAlpha), radius, limit)
		}
		return nil
	}
	if err := dots(false); err != nil {
		return nil, err
	}
	for i, p := range o.Predictions {
		slot := slotOf(p.Slot, i)
		look := style.line(slot)
		if single { // a single prediction needs no dash to distinguish it
			look.Dashes = nil
		}
		b.line(clean(cmp.Or(p.Name, "mean")), path{x: p.X, y: p.Mean}, look)
	}
	if err := dots(true); err != nil {
		return nil, err
	}

	b.events(o.Events)
	col := style.muted
	if single {
		col = style.colour(slotOf(o.Predictions[0].Slot, 0))
	}
	if latent {
		b.legend = append(b.legend, entry{name: forF, look: draw.LineStyle{Color: withAlpha(col, latentAlpha+noisyAlpha)},
			kind: swatchBand})
	}
	if noisy {
		b.legend = append(b.legend, entry{name: forY, look: draw.LineStyle{Color: withAlpha(col, noisyAlpha)}, kind: swatchBand})
	}
	if o.Ends && single {
		b.nameEnds(b.endings())
	}
	return b.figure(0.012)
}

// events draws lines across the range of what is drawn.
func (b *builder) events(all []Event) {
	var names []string
	lines := map[string]path{}
	for _, m := range all {
		name := clean(m.Name)
		p, known := lines[name]
		if !known {
			names = append(names, name)
		} else {
			p.x, p.y = append(p.x, math.NaN()), append(p.y, math.NaN())
		}
		p.x, p.y = append(p.x, m.X, m.X), append(p.y, b.y0, b.y1)
		lines[name] = p
	}
	for i, name := range names {
		look := style.line(i)
		look.Color, look.Dashes = style.heldOut, []vg.Length{vg.Length(5 - 3*(i%2)), 3}
		b.line(name, lines[name], look)
	}
}

// endings returns the entries of the legend of lines and bands that reach the right end, with where they end: the band for y at
// its upper end, the band for f at its lower one.
func (b *builder) endings() (ends []ending) {
	for _, e := range b.legend {
		for _, l := range b.layers {
			values, is := l.y, l.kind == layerLine && e.kind == swatchLine
			if l.kind == layerBand && e.kind == swatchBand {
				values, is = l.hi, true
				if l.name == forF {
					values = l.lo
				}
			}
			if v, ok := lastValue(l.x, values); is && ok && l.name == e.name && l.x[len(l.x)-1] == b.x1 {
				ends = append(ends, ending{e, v})
			}
		}
	}
	return ends
}
