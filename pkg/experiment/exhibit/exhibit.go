// Package exhibit makes the tables and figures of the paper's experiments from stored outcomes, with the published ones beside
// ours.
package exhibit

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

var methods = []string{experiment.ML, experiment.VFE, experiment.PL}

// slots are the colours of the methods: the nearest that viz has to the paper's yellow, red and blue.
var slots = map[string]int{experiment.ML: viz.Orange, experiment.VFE: viz.Vermillion, experiment.PL: viz.Blue}

var markers = map[string]viz.Marker{experiment.ML: viz.Star, experiment.VFE: viz.Square, experiment.PL: viz.Triangle}

// spread summarises numbers whose smallest is the best.
func spread(v []float64) any {
	if len(v) == 0 {
		return nil
	}
	if len(v) == 1 {
		return v[0]
	}
	return viz.SpreadOf(v)
}

func seconds(o experiment.Outcome) float64 { return o.Seconds() }

// protocolSeconds returns the times of the outcomes of a protocol: dense times for the paper's (see [experiment.DenseSeconds]),
// measured times for ours.
func protocolSeconds(all, some []experiment.Outcome, protocol string) []float64 {
	if protocol == experiment.Paper {
		return experiment.Values(some, func(o experiment.Outcome) float64 { return experiment.DenseSeconds(all, o) })
	}
	return experiment.Values(some, seconds)
}

func evaluations(all []experiment.Outcome) any {
	return spread(experiment.Evaluations(all))
}

// machines names the machines that computed the outcomes, and how many trials ran at once.
func machines(all []experiment.Outcome) string {
	var names []string
	workers := 0
	for _, o := range all {
		if o.Machine != "" && !slices.Contains(names, o.Machine) {
			names = append(names, o.Machine)
		}
		workers = max(workers, o.Workers)
	}
	if len(names) == 0 {
		return ""
	}
	s := "Times include set-up (projections, k-means, precomputation); ours were measured on " + names[0]
	for _, n := range names[1:] {
		s += " and " + n
	}
	return s + fmt.Sprintf(", %d trials at once; the published ones on a MacBook Pro M3.", workers)
}

// directions says how many directions carry signal above the noise, by [gppl.Model.SpectralColumns] on equally spaced times.
func directions(lengthscale float64, sizes ...int) string {
	s := fmt.Sprintf("Directions whose signal is above the noise, at lengthscale %g:", lengthscale)
	for i, n := range sizes {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %d of %d", experiment.SignalDirections(lengthscale, n), n)
	}
	return s + "."
}

// smokeNote warns at smoke scale that the numbers do not come from the paper's experiments.
func smokeNote(notes []string) []string {
	if scales.FromEnvironment() == scales.Smoke {
		return append(notes, "Smoke scale: fewer and smaller trials, not comparable with the published figures.")
	}
	return notes
}

// quartiles returns the median and the quartiles of the finite values.
func quartiles(v []float64) (mid, lo, hi float64) {
	s := viz.SpreadOf(v)
	return s.Median, s.Q1, s.Q3
}

// share prints a share as "3 of 10".
func share(k, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", k, n)
}

// shownBy are the numbers of the notebooks that show the experiments with recordings.
var shownBy = map[string]string{"sunspots": "07", "eeg": "08", "accurate": "09"}

// Compute runs the trials of an experiment that are not stored yet, with a progress bar, and stores them. A notebook's stop
// button ends it; finished trials are kept. Where a recording cannot be had, a note says which results are shown as stored.
func Compute(name string, trials []experiment.Trial) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := experiment.RunNamed(ctx, name, trials, nil); err != nil || shownBy[name] == "" {
		return err
	}
	all, err := experiment.Stored(name, trials)
	if err != nil {
		return err
	}
	if line := experiment.NotRecomputed(shownBy[name], all); line != "" {
		viz.Note(line)
	}
	return nil
}
