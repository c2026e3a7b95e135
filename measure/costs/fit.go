package main

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/files"
)

// row is one timing as the estimate sees it: rest and the sum of the seconds of each operation, times their counts.
type row struct {
	timing
	rest   float64
	counts [costs.Operations]float64
}

// rows returns how the estimates of the timed engines depend on the seconds of operations, in which they are linear.
func rows(ctx context.Context, times []timing) (rows []row, err error) {
	const step = 1e-4
	for _, t := range times {
		data, err := t.Cell.data()
		if err != nil {
			return nil, err
		}
		loss, theta, err := t.Cell.loss(ctx, data, t.Engine)
		if err != nil {
			return nil, err
		}
		_, at := loss.Cost(theta)
		r := row{timing: t, rest: at}
		for o := range r.counts {
			was := costs.Seconds[o]
			by := max(step*was, 1e-16)
			costs.Seconds[o] += by
			_, moved := loss.Cost(theta)
			costs.Seconds[o] = was
			r.counts[o] = (moved - at) / by
			r.rest -= r.counts[o] * was
		}
		if !math.IsInf(at, 1) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func (r *row) predicted() float64 {
	s := r.rest
	for o, c := range r.counts {
		s += c * costs.Seconds[o]
	}
	return s
}

// fastest is more flops a second than a thread of today has: no fit may promise more for what the timings hardly show.
const fastest = 60e9

// fit sets the seconds of operations, none negative, by least squares of (predicted − measured)/√(predicted·measured), which is
// close to the log of their ratio. The fastest engines of a cell count most, since the choice is among them.
func fit(rows []row) {
	best := map[cell]float64{}
	for i := range rows {
		if s, ok := best[rows[i].Cell]; !ok || rows[i].Seconds < s {
			best[rows[i].Cell] = rows[i].Seconds
		}
	}
	for range 30 {
		weights := make([]float64, len(rows))
		left := make([]float64, len(rows))
		for i := range rows {
			p := rows[i].predicted()
			weights[i] = best[rows[i].Cell] / (p * rows[i].Seconds * rows[i].Seconds)
			left[i] = rows[i].Seconds - p
		}
		for range 200 {
			for o := range costs.Seconds {
				var up, down float64
				for i := range rows {
					c := rows[i].counts[o]
					up += weights[i] * c * left[i]
					down += weights[i] * c * c
				}
				if down == 0 {
					continue
				}
				s := max(costs.Operation(o).Flops()/fastest, costs.Seconds[o]+up/down)
				for i := range rows {
					left[i] -= rows[i].counts[o] * (s - costs.Seconds[o])
				}
				costs.Seconds[o] = s
			}
		}
	}
	for o := range costs.Seconds {
		var short float64
		fmt.Sscanf(fmt.Sprintf("%.2g", costs.Seconds[o]), "%g", &short)
		costs.Seconds[o] = short
	}
}

// residuals prints how far predictions are from measurements, for each engine.
func residuals(rows []row) {
	for _, engine := range engines {
		var ratios []float64
		for i := range rows {
			if rows[i].Engine == engine {
				ratios = append(ratios, rows[i].predicted()/rows[i].Seconds)
			}
		}
		if len(ratios) == 0 {
			continue
		}
		slices.Sort(ratios)
		at := func(q float64) float64 { return ratios[int(q*float64(len(ratios)-1))] }
		fmt.Printf("%-11s %4d timings, predicted/measured: least %.2f, 10 %% %.2f, median %.2f, 90 %% %.2f, most %.2f\n",
			engine, len(ratios), ratios[0], at(0.1), at(0.5), at(0.9), ratios[len(ratios)-1])
	}
}

// write replaces the constants in the source.
func write(ctx context.Context, file string) error {
	var b bytes.Buffer
	b.WriteString("package costs\n\n" +
		"// Seconds is the time of each operation. go run ./measure/costs -fit writes it; that command alone also changes it while it" +
		" runs,\n// to see how estimates depend on it.\nvar Seconds = [Operations]float64{\n")
	for o, s := range costs.Seconds {
		fmt.Fprintf(&b, "%v: %g,\n", costs.Operation(o), s)
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return files.WriteBytes(ctx, file, text)
}
