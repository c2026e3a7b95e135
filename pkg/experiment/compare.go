package experiment

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// Pairs matches the outcomes of two losses by source, kernel and seed. The first match counts.
func Pairs(a, b []Outcome) (as, bs []Outcome) {
	return PairsBy(a, b, func(x, y Trial) bool { return x.Source == y.Source && x.Kernel == y.Kernel && x.Seed == y.Seed })
}

// PairsBy pairs each outcome of a with the first of b that same accepts.
func PairsBy(a, b []Outcome, same func(x, y Trial) bool) (as, bs []Outcome) {
	for _, x := range a {
		if i := slices.IndexFunc(b, func(y Outcome) bool { return same(x.Trial, y.Trial) }); i >= 0 {
			as, bs = append(as, x), append(bs, b[i])
		}
	}
	return as, bs
}

// timedOrder is the order of E2 whose measured dense evaluations are used for the authors' E1, at the same n and order 40.
const timedOrder = 50

// NotebookSeconds returns the dense time of a training of E1 with the settings of the authors' notebook: the number of
// evaluations times the measured cost of one at n = 1000, for VFE and PL at order 50 of E2 instead of 40. The authors do not time
// the set-up, so it is left out.
func NotebookSeconds(e *Evidence, o Outcome) float64 {
	order := timedOrder
	if o.Trial.Loss == ML {
		order = 0
	}
	one := math.NaN()
	for _, m := range e.E2 {
		if t := m.Trial; t.Optimiser.Method == Evaluate && t.Loss == o.Trial.Loss && t.Order == order && t.Source.N == 1000 {
			one = m.Fit
		}
	}
	return float64(o.Evaluations) * one
}

// DenseCosts returns, for each n of E2, PL's seconds for a dense evaluation divided by VFE's, with k = m =
// 150.
func DenseCosts(e *Evidence) (n, ratio []float64) {
	seconds := func(loss string, size int) float64 {
		for _, o := range e.E2 {
			if t := o.Trial; t.Optimiser.Method == Evaluate && t.Loss == loss && t.Source.N == size && t.Order == 150 {
				return o.Fit
			}
		}
		return math.NaN()
	}
	for _, size := range E2Sizes(scales.Full) {
		if x := seconds(PL, size) / seconds(VFE, size); x > 0 {
			n, ratio = append(n, float64(size)), append(ratio, x)
		}
	}
	return n, ratio
}

// PrecisionPair compares VFE of E2 in single and in double precision, on one draw and with the same settings: how far above the
// optimum each ends, and how many factorisations failed in single precision.
type PrecisionPair struct {
	Single, Double float64
	Failed         int
}

// PrecisionPairs returns the pairs at n among the outcomes of E2.
func PrecisionPairs(all []Outcome, n, order int) (pairs []PrecisionPair) {
	for _, s := range Where(all, E2Single(n, order)) {
		for _, d := range Where(all, E2Double(n, order)) {
			if d.Trial.Source == s.Trial.Source && d.Trial.Seed == s.Trial.Seed && s.Error == "" && d.Error == "" {
				x := Excess(all, []Outcome{s, d})
				pairs = append(pairs, PrecisionPair{x[0], x[1], s.Retries})
			}
		}
	}
	return pairs
}

// EEGRuns returns the outcomes on the EEG by protocol, kernel and loss, one for each sample. It returns those with errors of
// prediction or, if there are none, the first outcome, whose error says why.
func EEGRuns(all []Outcome, protocol, kernel, loss string) []Outcome {
	runs := Where(all, func(t Trial) bool {
		return plain(t) && t.Protocol == protocol && t.Kernel == kernel && t.Loss == loss
	})
	if some := slices.DeleteFunc(slices.Clone(runs), func(o Outcome) bool { return o.MSE == nil }); len(some) > 0 {
		return some
	}
	return runs[:min(1, len(runs))]
}

// RepulsionEffect returns, for each run, how much the repulsion between inducing inputs adds to VFE's NLL on the sunspots, in
// nats, in both variants: noise inside K_uu and outside.
func RepulsionEffect(e *Evidence, kernel string) (change []float64) {
	for _, noisy := range []bool{false, true} {
		with, without := Pairs(Where(e.Sunspots, SunspotsBy(Paper, kernel, VFE, Authors{NoiseInGram: noisy, Repel: true})),
			Where(e.Sunspots, SunspotsBy(Paper, kernel, VFE, Authors{NoiseInGram: noisy})))
		change = append(change, floats.SubTo(make([]float64, len(with)), NLLs(with), NLLs(without))...)
	}
	return change
}

// Orders returns the numbers of projections of automatic fits; exact counts the fits that chose the exact likelihood.
func Orders(all []Outcome) (k []float64, exact int) {
	for _, o := range all {
		if o.K == 0 {
			exact++
		} else {
			k = append(k, float64(o.K))
		}
	}
	return k, exact
}
