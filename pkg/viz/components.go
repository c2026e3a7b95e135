package viz

import "fmt"

// ComponentsOptions describe the terms of a sum, each a posterior along the same axis.
type ComponentsOptions struct {
	Frame
	Terms []Prediction
	Spans []Span
}

// Components draws the posterior of each term of a sum in its own panel, one above the other. Each has its own range, so that a
// large trend does not flatten a small season. The default height gives each panel 150 pixels.
//
// It returns an error if an axis label is missing, there is no term, lengths differ, or X does not ascend.
func Components(o ComponentsOptions) (*Figure, error) {
	if len(o.Terms) == 0 {
		return nil, fmt.Errorf("%w: there are no components", errNoData)
	}
	figs := make([]*Figure, len(o.Terms))
	for i, t := range o.Terms {
		var err error
		if figs[i], err = (SeriesOptions{Frame: o.Frame, Predictions: o.Terms, Spans: o.Spans}).panel(i, maxDots); err != nil {
			return nil, fmt.Errorf("component %q: %w", t.Name, err)
		}
		for j, e := range figs[i].panels[0].legend {
			figs[i].panels[0].legend[j].name = map[swatch]string{swatchLine: "expected", swatchBand: "95 % band"}[e.kind]
		}
	}
	if o.Height == 0 {
		o.Height = 90 + 150*float64(len(figs))
	}
	return Grid(len(figs), 1, GridOptions{Frame: o.Frame, ShareX: true}, figs...)
}
