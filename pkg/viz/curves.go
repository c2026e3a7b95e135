package viz

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is a line, with or without dots, or a cloud of dots. A nil X means 1, 2, …, len(Y).
type Curve struct {
	Name         string // shown in the legend, unless it is empty
	X, Y         []float64
	Dots, NoLine bool
	Slot         int // colour and dash to use: 1, 2, …; zero means the position among the curves
}

// Rule is a horizontal reference line, such as the loss at the true parameters.
type Rule struct {
	Y    float64
	Name string // shown in the legend, unless it is empty
	Slot int    // colour of a method to use: 1, 2, …; zero means grey
}

// CurvesOptions describe a figure of curves. Only the axis labels and one drawable curve are required.
type CurvesOptions struct {
	Frame
	LogX, LogY bool
	Curves     []Curve
	Rules      []Rule
	Spans      []Span

	// XRange and YRange fix an axis from the first to the second value; the zero value fits it to the data. Anything outside is cut
	// off.
	XRange, YRange [2]float64
}

// Curves draws lines and dots on linear or logarithmic axes. A curve with nil X is numbered from one. Values that are not
// positive, such as the smallest eigenvalues after rounding, are gaps on a logarithmic axis.
//
// It returns an error if an axis label is missing, lengths differ, a range is empty or not positive on a log axis, or
// nothing is drawable.
func Curves(o CurvesOptions) (*Figure, error) {
	b, err := newBuilder(o.Frame, o.LogX, o.LogY, o.Spans...)
	if err != nil {
		return nil, err
	}
	b.rules(o.Rules)
	for i, cv := range o.Curves {
		x := cv.X
		if x == nil {
			x = count(len(cv.Y))
		}
		if len(x) != len(cv.Y) {
			return nil, fmt.Errorf("viz: curve %d (%q): %d X and %d Y", i, cv.Name, len(x), len(cv.Y))
		}
		slot := slotOf(cv.Slot, i)
		look := style.line(slot)
		if len(o.Curves) == 1 { // a single curve needs no dash to distinguish it
			look.Dashes = nil
		}
		p := path{x: x, y: cv.Y, logX: o.LogX, logY: o.LogY}
		name := clean(cv.Name)
		if !cv.NoLine {
			b.line(name, p, look)
			name = "" // the legend has it already
		}
		if cv.Dots {
			b.dots(name, p, style.colour(slot), style.markerR)
		}
	}
	b.xRange, b.yRange = o.XRange, o.YRange
	return b.figure(0.015)
}

func count(n int) []float64 {
	counts := make([]float64, n)
	for i := range counts {
		counts[i] = float64(i + 1)
	}
	return counts
}

// builder collects plotters, the range that they need, and the legend.
type builder struct {
	frame          Frame
	logX, logY     bool
	plot           *plot.Plot
	legend, last   []entry // last holds entries that follow the others
	ends           []ending
	above          entry
	layers         []layer
	xTicks, yTicks ticks
	x0, x1, y0, y1 float64
	xRange, yRange [2]float64 // fixed ranges; zero if an axis fits its data
	drawn          bool       // something is drawable
}

// newBuilder checks the frame and begins with spans and grid lines, below all else.
func newBuilder(fr Frame, logX, logY bool, spans ...Span) (*builder, error) {
	if err := fr.check(); err != nil {
		return nil, err
	}
	b := &builder{
		frame: fr, logX: logX, logY: logY, plot: plot.New(),
		x0: math.Inf(1), x1: math.Inf(-1), y0: math.Inf(1), y1: math.Inf(-1),
	}
	usual := func(log bool, n int) ticks {
		if log {
			return logTicks{n}
		}
		return linearTicks{n: n}
	}
	b.xTicks, b.yTicks = usual(logX, max(3, int(fr.Width/100))), usual(logY, max(3, int(fr.Height/65)))
	if t, ok := b.xTicks.(linearTicks); ok && fr.Dates != nil {
		b.xTicks = dateTicks{fr.Dates, t.n}
	}
	style.dress(b.plot)
	if logX {
		b.plot.X.Scale = plot.LogScale{}
	}
	if logY {
		b.plot.Y.Scale = plot.LogScale{}
	}
	for _, s := range spans {
		b.span(s)
	}
	b.plot.Add(part{gridPlot{draw.LineStyle{Color: style.grid, Width: style.gridWidth}}, "grid"})
	return b, nil
}

// reach extends the range to a point; a coordinate that is not drawable is ignored.
func (b *builder) reach(x, y float64) {
	if drawable(x, b.logX) {
		b.x0, b.x1 = math.Min(b.x0, x), math.Max(b.x1, x)
	}
	if drawable(y, b.logY) {
		b.y0, b.y1 = math.Min(b.y0, y), math.Max(b.y1, y)
	}
}

func (b *builder) reachAll(p path) {
	for i := range p.x {
		if p.ok(i) {
			b.reach(p.x[i], p.y[i])
			b.drawn = true
		}
	}
}

// layer records what is drawn.
func (b *builder) layer(l layer) {
	l.logX, l.logY, l.dates = b.logX, b.logY, b.frame.Dates
	b.layers = append(b.layers, l)
}

// add draws a plotter and records its layer.
func (b *builder) add(p plot.Plotter, l layer) {
	b.plot.Add(part{p, strconv.Itoa(len(b.layers))})
	b.layer(l)
}

func (b *builder) line(name string, p path, look draw.LineStyle) {
	b.reachAll(p)
	b.add(linePlot{p, look}, layer{kind: layerLine, name: name, colour: look.Color, x: p.x, y: p.y})
	b.legend = append(b.legend, entry{name: name, look: look, kind: swatchLine})
}

func (b *builder) dots(name string, p path, col color.NRGBA, radius vg.Length) {
	b.reachAll(p)
	b.add(dotsPlot{p, radius, draw.LineStyle{Color: col}}, layer{kind: layerDots, name: name, colour: col, x: p.x, y: p.y})
	b.legend = append(b.legend, entry{name: name, look: draw.LineStyle{Color: col, Width: radius}, kind: swatchDots})
}

// observations draws dots, at most about limit of them.
func (b *builder) observations(p Points, col color.NRGBA, radius vg.Length, limit int) error {
	if len(p.X) != len(p.Y) {
		return fmt.Errorf("viz: %s: %d X and %d Y", p.Name, len(p.X), len(p.Y))
	}
	all := path{x: p.X, y: p.Y}
	b.reachAll(all) // the axes show the whole range, even if not every dot is drawn
	n := len(p.X)
	if n == 0 {
		return nil
	}
	if p.Errors != nil && len(p.Errors) != n {
		return fmt.Errorf("viz: %s: %d X and %d errors", p.Name, n, len(p.Errors))
	}
	name, errors := clean(p.Name), p.Errors
	if n > limit {
		all.x, all.y, errors = make([]float64, 0, limit+1), make([]float64, 0, limit+1), nil
		// Multiples of the golden ratio modulo one are evenly spread at every scale. Unlike every m-th observation, the subset that
		// they select cannot be in step with a period of the data.
		for i := range n {
			if _, u := math.Modf(float64(i) * math.Phi); u < float64(limit)/float64(n) {
				all.x, all.y = append(all.x, p.X[i]), append(all.y, p.Y[i])
				if p.Errors != nil {
					errors = append(errors, p.Errors[i])
				}
			}
		}
		name = fmt.Sprintf("%s (%d of %d drawn)", name, len(all.x), n)
	}
	b.errorBars(all, errors, col)
	b.dots(name, all, col, radius)
	if last := &b.layers[len(b.layers)-1]; n > limit { // a page carries more observations, for zooming
		last.name, last.x, last.y = clean(p.Name), p.X, p.Y
	}
	return nil
}

// errorsName names error bars in a legend.
const errorsName = "known errors, one standard deviation"

// errorBars draws bars of one standard deviation on each side of observations; nil draws nothing.
func (b *builder) errorBars(p path, errors []float64, col color.NRGBA) {
	var l layer
	for i, e := range errors {
		if p.ok(i) && e > 0 && drawable(p.y[i]-e, false) && drawable(p.y[i]+e, false) {
			l.x, l.lo, l.hi = append(l.x, p.x[i]), append(l.lo, p.y[i]-e), append(l.hi, p.y[i]+e)
			b.reach(p.x[i], p.y[i]-e)
			b.reach(p.x[i], p.y[i]+e)
		}
	}
	if len(l.x) == 0 {
		return
	}
	const alpha = 150 // bars are paler than dots
	look := draw.LineStyle{Color: withAlpha(col, alpha), Width: 0.9}
	l.kind, l.name, l.colour = layerErrors, errorsName, look.Color
	b.add(errorsPlot{l.x, l.lo, l.hi, look}, l)
	b.last = append(b.last, entry{name: errorsName, look: look, kind: swatchLine})
}

// band draws the ends that a prediction gives, or mean ± 1.96·√variance; without either it draws nothing.
func (b *builder) band(name string, p Prediction, noisy bool, col color.NRGBA) {
	variance, lower, upper := p.LatentVar, p.LatentLower, p.LatentUpper
	if noisy {
		variance, lower, upper = p.NoisyVar, p.Lower, p.Upper
	}
	if variance == nil && lower == nil {
		return
	}
	lo, hi := make([]float64, len(p.X)), make([]float64, len(p.X))
	for i, m := range p.Mean {
		if lower != nil {
			lo[i], hi[i] = lower[i], upper[i]
		} else {
			w := normal95 * math.Sqrt(math.Max(variance[i], 0)) // Max keeps NaN
			lo[i], hi[i] = m-w, m+w
			if p.Lower != nil { // the band for f stays within the band for y
				lo[i], hi[i] = math.Max(lo[i], p.Lower[i]), math.Min(hi[i], p.Upper[i])
			}
		}
		if drawable(p.X[i], false) && drawable(lo[i], false) && drawable(hi[i], false) {
			b.reach(p.X[i], lo[i])
			b.reach(p.X[i], hi[i])
		}
	}
	b.add(bandPlot{p.X, lo, hi, draw.LineStyle{Color: col}}, layer{kind: layerBand, name: name, colour: col, x: p.X, lo: lo, hi: hi})
}

// span shades a stretch of the horizontal axis.
func (b *builder) span(s Span) {
	s.Label = clean(s.Label)
	b.reach(s.From, math.NaN())
	b.reach(s.To, math.NaN())
	// JSON has no infinity; hugest is beyond every axis.
	ends := [2]float64{math.Max(s.From, -hugest), math.Min(s.To, hugest)}
	b.add(spanPlot{s}, layer{kind: layerSpan, name: s.Label, colour: style.span, lo: ends[:1], hi: ends[1:]})
}

// rules draws reference lines.
func (b *builder) rules(rules []Rule) {
	for _, r := range rules {
		b.last = append(b.last, entry{name: clean(r.Name), look: r.look(), kind: swatchLine})
		if drawable(r.Y, b.logY) {
			b.add(rulePlot{r}, layer{kind: layerRule, name: clean(r.Name), colour: r.look().Color, y: []float64{r.Y}})
		}
		b.reach(math.NaN(), r.Y)
	}
}

// setRange sets the range of an axis: the fixed one or, if that is zero, the range of the data, widened by a share of its length
// on both sides.
func setRange(a *plot.Axis, fixed [2]float64, lo, hi float64, log bool, share float64) error {
	a.Min, a.Max = widen(lo, hi, log, share)
	if fixed == ([2]float64{}) {
		return nil
	}
	a.Min, a.Max = fixed[0], fixed[1]
	if !drawable(a.Min, log) || !drawable(a.Max, log) || !(a.Min < a.Max) {
		return fmt.Errorf("viz: an axis from %g to %g", a.Min, a.Max)
	}
	return nil
}

// figure finishes the figure; the horizontal axis is widened by a share of its length on both sides.
func (b *builder) figure(xShare float64) (*Figure, error) {
	if !b.drawn {
		if b.logX || b.logY {
			return nil, fmt.Errorf("%w: no value is finite, and positive as a log axis needs", errNoData)
		}
		return nil, fmt.Errorf("%w: no value is finite", errNoData)
	}
	if math.IsInf(b.x1-b.x0, 0) || math.IsInf(b.y1-b.y0, 0) {
		return nil, errors.New("viz: the data span more than a float64 can hold")
	}
	if err := cmp.Or(setRange(&b.plot.X, b.xRange, b.x0, b.x1, b.logX, xShare),
		setRange(&b.plot.Y, b.yRange, b.y0, b.y1, b.logY, 0.05)); err != nil {
		return nil, err
	}
	return &Figure{Frame: b.frame, rows: 1, cols: 1, panels: []*panel{{
		plot: b.plot, xLabel: b.frame.XLabel, yLabel: b.frame.YLabel, legend: append(b.legend, b.last...), layers: b.layers,
		ends: b.ends, above: b.above,
		logX: b.logX, logY: b.logY, xTicks: b.xTicks, yTicks: b.yTicks,
	}}}, nil
}
