package exhibit

import (
	"context"
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Efficiency tabulates what share of the information each design keeps.
func Efficiency(s scales.Scale) (*viz.Table, error) {
	es, params, err := experiment.Efficiencies(s)
	if err != nil {
		return nil, err
	}
	source := experiment.CurveSources(s)[0]
	t := &viz.Table{
		Caption: fmt.Sprintf("Share of the information kept, at the truth (SE, l = %g, n = %d)", source.Lengthscale, source.N),
		Columns: []viz.Column{{Name: "design"}, {Name: "residual energy"}, {Name: "k"}},
		Notes: smokeNote([]string{"With the residual energy by the sandwich of Godambe, which does not assume that the remainder " +
			"is white. A dash: the parameters are not identified, to rounding."}),
	}
	for _, p := range params {
		t.Columns = append(t.Columns, viz.Column{Name: p.Name, Format: viz.Percent(1)})
	}
	for _, e := range es {
		row := []any{e.Design, map[bool]string{false: "no", true: "yes"}[e.Residual], e.K}
		for _, v := range e.Kept {
			row = append(row, v)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// Misfits tabulates the results and warnings of fits to data that the model does not fit.
func Misfits(s scales.Scale) (*viz.Table, error) {
	t := &viz.Table{
		Caption: "SE plus noise, fitted automatically to data of other kinds",
		Columns: []viz.Column{{Name: "data"}, {Name: "n"}, {Name: "status"}, {Name: "variance", Format: viz.Digits(3)},
			{Name: "lengthscale", Format: viz.Digits(3)}, {Name: "noise variance", Format: viz.Digits(3)}, {Name: "what is said"}},
		Notes: smokeNote(nil),
	}
	for _, m := range experiment.Misfits(context.Background(), s) {
		if m.Err != nil {
			t.Rows = append(t.Rows, []any{m.Data, m.N, "error", nil, nil, nil, m.Err.Error()})
			continue
		}
		r := m.Result
		said := strings.Join(r.Warnings, "; ")
		if said == "" {
			said = "no warning"
		}
		t.Rows = append(t.Rows, []any{m.Data, m.N, string(r.Status), r.Params[0].Value, r.Params[1].Value, r.Params[2].Value, said})
	}
	return t, nil
}
