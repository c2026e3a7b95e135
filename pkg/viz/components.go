package viz

import "fmt"

// ComponentsOptions describe the terms of a sum, each a posterior along the same axis.
type ComponentsOptions struct {
	Frame
	Terms []Prediction
	Spans []Span
}

// Components draws the posterior of each term of a sum in a panel of its own, one above the other, each with its own range:
// a large trend does not flatten a small season. The default height gives each panel 200 pixels.
//
// It returns an error if an axis label is missing, there is no term, lengths differ, or X does not ascend.
func Components(o ComponentsOptions) (*Figure, error) {
	if len(o.Terms) == 0 {
		return nil, fmt.Errorf("%w: there are no components", ErrNoData)
	}
	figs := make([]*Figure, len(o.Terms))
	for i, t := range o.Terms {
		t.Slot = slotOf(t.Slot, i) + 1
		f, err := Series(SeriesOptions{
			Frame:       Frame{Title: t.Name, XLabel: o.XLabel, YLabel: o.YLabel, Dates: o.Dates},
			Predictions: []Prediction{t}, Spans: o.Spans,
		})
		if err != nil {
			return nil, fmt.Errorf("component %q: %w", t.Name, err)
		}
		l := f.panels[0].legend
		for j := range l { // the panel's title names the term
			if l[j].kind == swatchLine {
				l[j].name = "mean"
			}
			l[j].look = greyed(l[j].look)
		}
		figs[i] = f
	}
	if o.Height == 0 {
		o.Height = 90 + 200*float64(len(figs))
	}
	return Grid(len(figs), 1, GridOptions{Frame: o.Frame, ShareX: true}, figs...)
}
