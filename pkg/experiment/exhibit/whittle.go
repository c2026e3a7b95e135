package exhibit

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// SunspotsWhittle compares the debiased Whittle likelihood on the sunspots with ML, VFE and PL, all trained by L-BFGS to the
// optimum: from the paper's start and, for Whittle, from random ones.
func SunspotsWhittle(all []experiment.Outcome) *viz.Table {
	const close = 5 // nats
	t := &viz.Table{
		Caption: "Sunspots by the debiased Whittle likelihood: exact NLL at what was learnt, above the lowest known",
		Columns: []viz.Column{{Name: "kernel"}, {Name: "loss"}, {Name: "from the paper's start", Unit: "nats", Format: viz.Digits(3)},
			{Name: "from random starts", Unit: "nats", Format: viz.Digits(3)}, {Name: "within 5 nats"},
			{Name: "at the lowest loss", Unit: "nats", Format: viz.Digits(3)},
			{Name: "evaluations", Format: viz.Fixed(0)}, {Name: "time", Unit: "s", Format: viz.Digits(2)}},
		Notes: smokeNote([]string{"All by L-BFGS. The lowest known exact NLL is over all stored trainings with the kernel. PL: " +
			"over draws of the projections from the paper's start; its share within 5 nats is of these. Whittle: over random starts, " +
			"log-uniform in a wide box. At the lowest loss: where that one of the random starts ends which a user would keep. " +
			"Evaluations and time from the paper's start; Whittle's times are of a busy machine, and some three times the processor's.",
			machines(all)}),
	}
	for _, kernel := range experiment.KernelNames {
		lowest := math.Inf(1)
		for _, o := range all {
			if o.Trial.Kernel == kernel && o.Trial.Optimiser.Method != experiment.Evaluate && o.Error == "" {
				lowest = min(lowest, o.NLL)
			}
		}
		above := func(some []experiment.Outcome) []float64 {
			return experiment.Values(some, func(o experiment.Outcome) float64 { return o.NLL - lowest })
		}
		add := func(name string, one, random, judged []experiment.Outcome) {
			row := []any{kernel, name, spread(above(one)), spread(above(random)), nil, nil, evaluations(one),
				spread(experiment.Values(one, seconds))}
			if len(judged) > 1 {
				near := 0
				for _, nats := range above(judged) {
					if nats < close {
						near++
					}
				}
				row[4] = share(near, len(judged))
			}
			if best := leastLoss(random); best != nil {
				row[5] = best.NLL - lowest
			}
			t.Rows = append(t.Rows, row)
		}
		for _, loss := range methods {
			ours := experiment.Where(all, experiment.SunspotsBy(experiment.GPPL, kernel, loss, experiment.Authors{}))
			add(loss, ours, nil, ours)
		}
		for i, name := range []string{"Whittle", "Whittle, taper"} {
			random := experiment.Where(all, experiment.SunspotsByWhittle(experiment.GPPL, kernel, i > 0, true))
			add(name, experiment.Where(all, experiment.SunspotsByWhittle(experiment.GPPL, kernel, i > 0, false)), random, random)
		}
	}
	return t
}

// leastLoss returns the outcome with the lowest value of the trained loss; nil if there is none.
func leastLoss(some []experiment.Outcome) (least *experiment.Outcome) {
	for i, o := range some {
		if o.Error == "" && (least == nil || o.Value < least.Value) {
			least = &some[i]
		}
	}
	return least
}
