package main

import (
	"encoding/json"
	"io"
	"math"

	"github.com/projected-likelihood/gppl/internal/wholefile"
)

// detail is what became of one series, for notebook 12.
type detail struct {
	Group   string  `json:"group"`
	ID      string  `json:"id"`
	N       int     `json:"n"`
	Error   string  `json:"error,omitempty"`
	Model   string  `json:"model,omitempty"`
	MASE    float64 `json:"mase"`
	CRPS    float64 `json:"crps"`
	Cover95 float64 `json:"coverage_95"`
	Naive   float64 `json:"naive_mase"`
	Warned  bool    `json:"warned"`
	// Of the backtest, as in analysis.Trust.
	Past     float64  `json:"past_coverage_95"`
	Relative float64  `json:"past_relative_error"`
	Spread   float64  `json:"past_spread"`
	Late     float64  `json:"past_late"`
	Reasons  []string `json:"reasons,omitempty"`
}

func detailsOf(g group, outcomes []outcome) []detail {
	var all []detail
	for _, o := range outcomes {
		d := detail{Group: g.name, ID: o.id, N: o.n}
		if o.err != nil {
			d.Error = o.err.Error()
			all = append(all, d)
			continue
		}
		d.Model, d.Warned = o.model, o.warned
		d.MASE, d.CRPS, d.Cover95, d.Naive = digits(o.own.MASE), digits(o.own.CRPS), digits(o.own.Cover95), digits(o.naive.MASE)
		if t := o.trust; t != nil {
			d.Past, d.Relative, d.Spread, d.Late = digits(t.Coverage), digits(t.Relative), digits(t.Spread), digits(t.Late)
			d.Reasons = t.Reasons
		}
		all = append(all, d)
	}
	return all
}

// digits rounds to four decimals; what is not finite, an error that cannot be scaled, is −1.
func digits(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return -1
	}
	return math.Round(1e4*v) / 1e4
}

// writeDetails writes one line each.
func writeDetails(path string, all []detail) error {
	return wholefile.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, d := range all {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	})
}
