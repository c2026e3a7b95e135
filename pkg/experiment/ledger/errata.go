package ledger

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// erratum is an entry of errata.json: a misprint, or a setting that differs from the text. In its effect, {found} stands for the
// measured value; namedNumbers fills in the other names in braces.
type erratum struct {
	ID, Section, Where, Printed, Correction, Effect, Notebook string
	Rows                                                      []string // numbers of tables that measure it
}

var errata = entries[erratum]("errata.json")

// errataRows has a row for each erratum. Where its effect was measured, it is undecided if the measurement does not show it: if
// most of the rows that measure it are not corrected.
func errataRows(e *experiment.Evidence, measured []Row) (rows []Row) {
	numbers := namedNumbers(e)
	for _, x := range errata {
		r := Row{ID: x.ID, Group: Errata, Claim: x.Printed, Published: x.Where, Ours: x.Effect, Why: x.Correction, Status: Corrected,
			Rule: "read in their text and code", Overturn: "another reading of them", Notebook: x.Notebook}
		if measure := effects[x.ID]; measure != nil || x.Rows != nil {
			found, confirmed := byRows(measured, x.Rows)
			if measure != nil {
				found, confirmed = measure(e)
			}
			r.Ours = strings.Replace(x.Effect, "{found}", found, 1)
			r.Rule, r.Overturn = "read in their code, and its effect measured", "a measurement without this effect"
			switch {
			case found == "", unknown(found):
				r = r.notRun()
			case !confirmed:
				r.Status = Undecided
			}
		}
		r.Claim, r.Why, r.Ours = numbers.Replace(r.Claim), numbers.Replace(r.Why), numbers.Replace(r.Ours)
		rows = append(rows, r)
	}
	return rows
}

// byRows joins what rows found, and says whether most of them are corrected.
func byRows(rows []Row, ids []string) (found string, confirmed bool) {
	corrected := 0
	for _, id := range ids {
		r := rows[slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })]
		if r.Status == NotRun {
			return "", false
		}
		if r.Status == Corrected {
			corrected++
		}
		found += fmt.Sprintf(". %s: printed %s, ours %s", r.Claim, r.Published, r.Ours)
	}
	return trimmed(found), 2*corrected > len(ids)
}

// namedNumbers fills in the numbers of the paper, of the outputs of its notebooks, and of the evidence that texts name in braces.
func namedNumbers(e *experiment.Evidence) *strings.Replacer {
	p, failed, longest := e.Published, 0, 0.0
	for _, n := range p.Logs.E2Failed {
		failed += n
	}
	single := experiment.Where(e.E1, experiment.NotebookE1Text(vfe, true))
	_, broken := converged(single)
	for _, kernel := range kernels {
		for _, o := range experiment.EEGRuns(e.EEG, experiment.GPPL, kernel, ml) {
			longest = max(longest, o.Seconds())
		}
	}
	bfgs, log, eeg, variance := p.E1["BFGS"], p.Logs.E1Seconds, p.EEG["SE"], experiment.Figure2Published()
	return strings.NewReplacer(
		"{broken}", fmt.Sprintf("%d of %d", broken, len(single)),
		"{directions}", fmt.Sprintf("from %d at n = 500 to %d at n = 4000", experiment.SignalDirections(5, 500),
			experiment.SignalDirections(5, 4000)),
		"{longest}", fmt.Sprintf("%.0f minutes", longest/60),
		"{failed}", fmt.Sprintf("%d %03d", failed/1000, failed%1000),
		"{vfe-e1}", fmt.Sprintf("%.0f", bfgs[vfe].NLL-bfgs[ml].NLL),
		"{vfe-2000}", fmt.Sprintf("%.0f", p.Above(2000, vfe, 150)),
		"{variance}", fmt.Sprintf("%.1f to %.1f", variance["AdamVFE"], variance["BFGSVFE"]),
		"{locper}", fmt.Sprintf("%.3f", p.Sunspots["LocPer"][ml].NLL),
		"{rq}", fmt.Sprintf("%.3f", p.Sunspots["RQ"][ml].NLL),
		"{nmse}", fmt.Sprintf("%.3f and %.3f", eeg[pl].NMSE, eeg[vfe].NMSE),
		"{roots}", fmt.Sprintf("%.2f and %.2f", math.Sqrt(eeg[pl].NMSE), math.Sqrt(eeg[vfe].NMSE)),
		"{pl-e1}", fmt.Sprintf("%.2f", bfgs[pl].Seconds),
		"{pl-log}", fmt.Sprintf("%.1f", log[pl].Seconds),
		"{vfe-log}", fmt.Sprintf("%.1f", log[vfe].Seconds))
}

// effects measure errata: they return what was found, "" if nothing is stored, and whether it confirms the erratum.
var effects = map[string]func(e *experiment.Evidence) (string, bool){
	"code-float32": func(e *experiment.Evidence) (string, bool) {
		text, higher, pairs := "", 0, 0
		for _, n := range sizes {
			for _, x := range experiment.PrecisionPairs(e.E2, n, 150) {
				if x.Failed >= failing {
					text += fmt.Sprintf(", n = %d: %s and %s", n, number(x.Double), number(x.Single))
					if pairs++; x.Single > x.Double+sameNLL {
						higher++
					}
				}
			}
		}
		if pairs == 0 {
			return "", false
		}
		return fmt.Sprintf("Where single precision fails by the thousand it ends above double precision on the same draw in %d of %d "+
			"pairs; nats above ML in double and in single precision, %s", higher, pairs, trimmed(text)), 2*higher > pairs
	},
	"code-variance": func(e *experiment.Evidence) (string, bool) {
		v := experiment.Figure2Ratios(e.E1, vfe, "Adam")
		return fmt.Sprintf("Median ratio of VFE's variance to ML's, by Adam: %.2f as their code predicts it, %.2f by the sparse "+
				"posterior, %.2f by the exact posterior at the same hyperparameters", median(v.Theirs), median(v.Sparse), median(v.Exact)),
			median(v.Theirs) > larger && median(v.Sparse) < larger
	},
	"one-omega": func(e *experiment.Evidence) (string, bool) {
		var within, means []float64
		for _, group := range experiment.NestedExcess(e.E1) {
			var logs []float64
			for _, x := range numeric.OnlyFinite(group) {
				logs = append(logs, math.Log(max(x, 1e-3)))
			}
			within, means = append(within, stat.Variance(logs, nil)), append(means, stat.Mean(logs, nil))
		}
		if len(within) < 3 {
			return "", false
		}
		w := stat.Mean(within, nil)
		share := w / (w + max(0, stat.Variance(means, nil)-w/5)) // five Ω for each draw of the data
		return fmt.Sprintf("In E1 %.0f %% of the variance of log excess is between Ω on the same data", 100*share), share > 0.5
	},
	"code-nmse": func(e *experiment.Evidence) (string, bool) {
		var energy []float64 // the implied ‖y‖² of each row
		for _, kernel := range kernels {
			for _, loss := range []string{vfe, pl} {
				if norm := e.Published.Logs.EEGNorms[kernel][loss]; norm > 0 {
					energy = append(energy, norm*norm/e.Published.EEG[kernel][loss].NMSE)
				}
			}
		}
		if len(energy) == 0 {
			return "", false
		}
		worst := max(slices.Max(energy)/median(energy)-1, 1-slices.Min(energy)/median(energy))
		return fmt.Sprintf("From ‖μ − y‖ in their log (cell 18) every row implies one ‖y‖², %s, within %.1f %%",
			number(median(energy)), 100*worst), worst < 0.01
	},
	"text-eeg-replacement": func(e *experiment.Evidence) (string, bool) {
		const from, train, held = 400_000, 8000, 2000
		distinct := from * -math.Expm1(train*math.Log1p(-1.0/from)) // expected number of distinct training points
		for _, o := range eeg(e, "SE", pl) {
			return fmt.Sprintf("Drawn with replacement, about %.0f of 8000 training points are copies of others, and about %.0f of "+
					"2000 held-out points were also trained on; in our sample of a shorter recording, %d", train-distinct,
					held*distinct/from, o.MSE.Seen),
				o.MSE.Seen > 0
		}
		return "", false
	},
	"text-noise": func(e *experiment.Evidence) (string, bool) {
		nearer, of := 0, 0
		for _, p := range e.Published.E2 {
			if p.Method != ml {
				continue
			}
			stated := experiment.NLLs(experiment.Where(e.E2, experiment.E2Stated(experiment.GPPL, ml, p.N, 0)))
			ours := experiment.NLLs(experiment.Where(e.E2, experiment.E2By(experiment.GPPL, ml, p.N, 0)))
			if len(stated) < 3 || len(ours) < 3 {
				continue
			}
			if of++; math.Abs(p.NLL-median(ours))/numeric.Qn(ours) < math.Abs(p.NLL-median(stated))/numeric.Qn(stated) {
				nearer++
			}
		}
		if of == 0 {
			return "", false
		}
		return fmt.Sprintf("The published NLL of ML is nearer to our draws with ln 1.1 for %d of %d n, which are parts of "+
			"one draw of theirs", nearer, of), nearer == of
	},
	"text-setup": func(e *experiment.Evidence) (string, bool) {
		text, most := "", 0.0
		for _, p := range e.Published.E2 {
			setup := e.Published.Logs.E2Setup[strconv.Itoa(p.N)][p.Method]
			if p.Order == 150 && setup > 0 {
				most = max(most, setup/p.Seconds)
				if p.Method == pl && (p.N == 500 || p.N == 4000) {
					text += fmt.Sprintf(", %.1f s beside %.1f s for n = %d", setup, p.Seconds, p.N)
				}
			}
		}
		return "For PL with k = 150 set-up takes " + trimmed(text), most > 0.05
	},
	"trace-bounds": func(e *experiment.Evidence) (string, bool) {
		v := numbers(e.Theory)
		wrong, right := v.at("theorem.bounds.printed_violations"), v.at("theorem.bounds.corrected_violations")
		return fmt.Sprintf("%.0f of %.0f projections violate the printed bounds, %.0f the corrected ones", wrong,
			v.at("theorem.bounds.cases"), right), wrong > 0 && right == 0
	},
	"positive-definite": func(e *experiment.Evidence) (string, bool) {
		v := numbers(e.Theory)
		asymmetry, least := v.at("theorem.definite.least_asymmetry"), v.at("theorem.definite.eigenvalue")
		return fmt.Sprintf("Of the n×n matrices under the traces ‖T − Tᵀ‖/‖T‖ is %.2g or more, and eigenvalues go down to %.2g of "+
			"the largest", asymmetry, least), asymmetry > 1e-6 && least < 0 && v.at("theorem.definite.least_trace") >= 0
	},
	"text-spherical": func(e *experiment.Evidence) (string, bool) {
		pool, sphere := experiment.PairsBy(e1(e, "Adam", pl),
			experiment.Where(e.E1, experiment.NotebookE1With(pl, experiment.Authors{Diagonal: experiment.PLDiagonal})),
			func(x, y experiment.Trial) bool { return x.Source == y.Source }) // seeds of the projections may differ
		if len(pool) == 0 {
			return "", false
		}
		more := floats.SubTo(make([]float64, len(pool)), experiment.NLLs(pool), experiment.NLLs(sphere))
		won := under(more, 0)
		return fmt.Sprintf("Repulsive ends lower on %d of %d draws of E1", won, len(more)),
			signs(min(won, len(more)-won), len(more)).P >= level/2
	},
	"text-figure1-jitter": func(e *experiment.Evidence) (string, bool) {
		v := numbers(e.Theory)
		with, without := v.at("figure1.trace.with"), v.at("figure1.trace.without")
		return fmt.Sprintf("%.0f with it, %.2g without", with, without), with > 2*without
	},
	"code-rule": func(e *experiment.Evidence) (string, bool) {
		text, more := "", true
		for _, kernel := range kernels {
			stopped := middle(sunspots(e, kernel, pl), evaluations)
			like := middle(experiment.Where(e.Sunspots, experiment.LooserStop(kernel)), evaluations)
			text += fmt.Sprintf(", %s %.0f and %.0f", kernel, stopped, like)
			more = more && like > stopped
		}
		return trimmed(text), more
	},
	"code-early-stop": func(e *experiment.Evidence) (string, bool) {
		count := func(protocol string) (failed, of int) {
			for _, n := range sizes {
				for _, k := range experiment.E2Orders(scales.Full) {
					runs := experiment.Where(e.E2, experiment.E2By(protocol, pl, n, k))
					failed, of = failed+experiment.Failures(runs), of+len(runs)
				}
			}
			return failed, of
		}
		stopped, n := count(experiment.Paper)
		converged, m := count(experiment.GPPL)
		if n == 0 || m == 0 {
			return "", false
		}
		return fmt.Sprintf("%d of %d stopped as in the paper, %d of %d converged", stopped, n, converged, m), converged > stopped
	},
	"code-repulsion": func(e *experiment.Evidence) (string, bool) {
		text, small := "", true
		for _, kernel := range kernels {
			change := experiment.RepulsionEffect(e, kernel)
			if len(change) > 0 {
				text += fmt.Sprintf(", %s %+.2f", kernel, median(change))
				small = small && math.Abs(median(change)) <= 5
			}
		}
		return trimmed(text), small
	},
	"code-diagonal": func(e *experiment.Evidence) (string, bool) {
		a := experiment.Where(e.E1, func(t experiment.Trial) bool { return t.Authors == experiment.Authors{Diagonal: 1e-4} })
		b := experiment.Where(e.E1, experiment.E1By("Adam", pl))
		change := ends(a).minus(ends(b)).apply(math.Abs).values()
		return fmt.Sprintf("it changes PL's NLL by a median of %s nats, and by at most %s", number(median(change)),
			number(slices.Max(append(change, 0)))), median(change) <= 1
	},
}
