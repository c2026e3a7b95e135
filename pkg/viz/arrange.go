package viz

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// arrangement is the placement of a figure's panels: the figure's own or, on a narrow screen, one below the other.
type arrangement struct {
	rows, cols    int
	places        []*panel // row by row; nil is an empty place
	width, height float64  // CSS pixels
	narrow        bool
}

func (f *Figure) wide() arrangement {
	return arrangement{rows: f.rows, cols: f.cols, places: f.panels, width: f.Width, height: f.Height}
}

const (
	// legible is the share of its size to which a figure may shrink: tick labels of 14 pixels then have 11.
	legible = 0.8
	// narrowHeight is the height of the only panel of a narrow figure, and narrowPanel the height of one of several, with their
	// axes, in CSS pixels.
	narrowHeight = 270
	narrowPanel  = 225
	narrowNames  = 60 // CSS pixels that names written upwards add
	narrowLabels = 34 // characters of tick labels that fit along the horizontal axis
)

// narrow returns the arrangement for a phone; ok is false if the figure can simply shrink to that width.
func (f *Figure) narrow() (a arrangement, ok bool) {
	if f.Width*legible <= narrowWidth {
		return a, false
	}
	a = arrangement{cols: 1, places: f.drawn(), width: narrowWidth, narrow: true}
	a.rows = len(a.places)
	c := draw.New(vgsvg.New(narrowWidth*pxToPt, 2*narrowHeight)) // the canvas only measures the height of the head
	c = draw.Crop(c, style.margin, -style.margin, 0, 0)
	a.height = 24 + float64(f.drawHead(c))/pxToPt
	for _, p := range a.places {
		switch t, named := p.xTicks.(nameTicks); {
		case named && t.narrow().(nameTicks).upright():
			a.height += narrowHeight + narrowNames
		case a.rows == 1:
			a.height += narrowHeight
		default:
			a.height += narrowPanel
		}
	}
	return a, true
}

// breakpoint returns the page width, in CSS pixels rounded up to hundreds, below which the narrow figure replaces the wide one.
func (f *Figure) breakpoint() int { return int(math.Ceil(f.Width*legible/100)) * 100 }

// setTicks gives the axes of all panels as many ticks as they have space for.
func (a arrangement) setTicks() {
	for _, p := range a.places {
		if p == nil {
			continue
		}
		x, y := p.xTicks, p.yTicks
		if a.narrow {
			x, y = x.narrow(), y.narrow()
			if t, ok := x.(linearTicks); ok {
				t.most = narrowLabels
				x = t
			}
		}
		setTicks(&p.plot.X, x, p.xUnnamed && !a.narrow)
		setTicks(&p.plot.Y, y, p.yUnnamed && !a.narrow)
		if t, ok := x.(nameTicks); ok {
			sty := &p.plot.X.Tick.Label
			sty.Rotation, sty.XAlign, sty.YAlign = 0, draw.XCenter, draw.YTop
			if t.upright() {
				sty.Rotation, sty.XAlign, sty.YAlign = math.Pi/2, draw.XRight, draw.YCenter
			}
		}
	}
}

// setTicks gives an axis its ticks, with labels or without.
func setTicks(a *plot.Axis, t plot.Ticker, unnamed bool) {
	a.Tick.Marker, a.Tick.Label.Font.Size = t, style.tickSize
	if unnamed {
		a.Tick.Marker = unlabelled{t}
		a.Tick.Label.Font.Size = 1 // takes up no space
	}
	a.Label.TextStyle = a.Tick.Label // gonum/plot derives the space beside tick labels from it
}
