package experiment

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// statement is a claim in words, as statements.json has it: what is claimed and where, what counts as the same, and the reason
// for each status that its rule can give.
type statement struct {
	ID        string            `json:"id"`
	Of        string            `json:"of"`
	Group     string            `json:"group"`
	Notebook  string            `json:"notebook"`
	Published string            `json:"published"`
	Claim     string            `json:"claim"`
	Tolerance string            `json:"tolerance"`
	Overturn  string            `json:"overturn"`
	Why       map[Status]string `json:"why"`
}

//go:embed statements.json
var statementsJSON []byte

// statements are the entries of statements.json by ID, with the limits of the rules filled in.
var statements = func() map[string]statement {
	var all []statement
	decoder := json.NewDecoder(bytes.NewReader(statementsJSON))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		panic("experiment: statements.json: " + err.Error())
	}
	limits := strings.NewReplacer("{sameNLL}", strconv.Itoa(sameNLL), "{closeTo}", strconv.Itoa(closeTo),
		"{manyFailures}", strconv.Itoa(manyFailures))
	byID := map[string]statement{}
	for _, s := range all {
		s.Tolerance, s.Overturn = limits.Replace(s.Tolerance), limits.Replace(s.Overturn)
		for status, why := range s.Why {
			s.Why[status] = limits.Replace(why)
		}
		byID[s.ID] = s
	}
	if len(byID) != len(all) {
		panic("experiment: statements.json has an ID twice")
	}
	return byID
}()

// claim is how a statement is judged: by a rule or, if the rule gives no status, by a test.
type claim struct {
	id   string
	rule func(*Evidence) (ours string, status Status)
	test func(*Evidence) *Test
}

func (c claim) draft(s statement, e *Evidence) draft {
	r := Row{ID: s.ID, Of: s.Of, Group: s.Group, Claim: s.Claim, Published: s.Published, Tolerance: s.Tolerance,
		Overturn: s.Overturn, Notebook: s.Notebook}
	r.Ours, r.Status = c.rule(e)
	if c.test != nil {
		r.Test = c.test(e)
	}
	if r.Status == NotRun || c.test != nil && r.Test == nil {
		r.Ours, r.Test = "", nil
		return notRun(r, "nothing is stored to judge it by")
	}
	return draft{r, s.Why}
}

// judged returns all claims, in the order of the ledger.
func judged() []claim { return slices.Concat(experimentClaims, textClaims, codeClaims, betterClaims) }

// claims returns the rows of every claim in words.
func claims(e *Evidence) (rows []draft) {
	for _, v := range theory.Verdicts(e.Theory) {
		rows = append(rows, draft{Row: Row{ID: v.ID, Of: v.Of, Group: GroupTheory, Claim: v.Statement, Published: v.Where,
			Status: Status(v.Status), Why: v.Found, Tolerance: v.Test, Overturn: v.Overturn, Notebook: notebooks[v.Notebook]}})
	}
	for _, c := range judged() {
		rows = append(rows, c.draft(statements[c.id], e))
	}
	return rows
}

// notebooks are the names of the notebooks on the theory, by number.
var notebooks = map[string]string{"03": "03-theorem", "04": "04-spectrum"}

// verdict returns yes if ok, else no; NotRun where there was nothing to judge.
func verdict(judged int, ok bool, yes, no Status) Status {
	switch {
	case judged == 0:
		return NotRun
	case ok:
		return yes
	}
	return no
}

// each judges a claim case by case (by kernel or size). It returns the texts of the cases that were run, the number of cases in
// which the claim holds, and the number that were run.
func each[T any](cases []T, judge func(T) (text string, holds bool)) (all string, held, judged int) {
	for _, c := range cases {
		text, holds := judge(c)
		if text == "" {
			continue
		}
		all += text + ". "
		judged++
		if holds {
			held++
		}
	}
	return all, held, judged
}

// pairs matches the outcomes of two losses by source, kernel and seed. The first match counts.
func pairs(a, b []Outcome) (as, bs []Outcome) {
	return pairsBy(a, b, func(x, y Trial) bool { return x.Source == y.Source && x.Kernel == y.Kernel && x.Seed == y.Seed })
}

// pairsBy pairs each outcome of a with the first of b that same accepts.
func pairsBy(a, b []Outcome, same func(x, y Trial) bool) (as, bs []Outcome) {
	for _, x := range a {
		if i := slices.IndexFunc(b, func(y Outcome) bool { return same(x.Trial, y.Trial) }); i >= 0 {
			as, bs = append(as, x), append(bs, b[i])
		}
	}
	return as, bs
}

// wins counts the pairs in which a's number is below b's.
func wins(a, b []float64) (won int) {
	for i := range a {
		if a[i] < b[i] {
			won++
		}
	}
	return won
}

// sameNLL is the largest difference in nats between two NLL that count as the same: a likelihood ratio of seven.
const sameNLL = 2

var experimentClaims = []claim{
	accuracy("e1-accuracy", map[string]compared{"BFGS": byNotebook("BFGS"), "Adam": byNotebook("Adam")}),
	accuracy("e1-accuracy-100", map[string]compared{"BFGS": byText("BFGS"), "Adam": byText("Adam")}),
	accuracy("e1-accuracy-100-single", map[string]compared{
		"Adam": func(loss string) func(Trial) bool { return NotebookE1Text(loss, true) }}),
	accuracy("e1-accuracy-converged", map[string]compared{"L-BFGS": byText("L-BFGS")}),
	{id: "e1-time", rule: func(e *Evidence) (string, Status) {
		faster, n := true, 0
		s := ""
		for _, o := range []string{"BFGS", "Adam"} {
			t := map[string]float64{}
			for _, m := range methodNames {
				v := numeric.OnlyFinite(notebookSeconds(e, o, m))
				t[m] = median(v)
				n += len(v)
			}
			faster = faster && t[PL] < t[VFE] && t[PL] < t[ML]
			s += fmt.Sprintf("%s: PL %s, VFE %s, ML %s. ", o, inSeconds(t[PL]), inSeconds(t[VFE]), inSeconds(t[ML]))
		}
		return s, verdict(n, faster, Order, Reversed)
	}},
	{id: "e1-steps", rule: func(e *Evidence) (string, Status) {
		evals := func(m string) float64 { return median(Evaluations(Where(e.E1, NotebookE1("Adam", m)))) }
		pl, vfe, ml := evals(PL), evals(VFE), evals(ML)
		return fmt.Sprintf("PL %.0f, VFE %.0f, ML %.0f", pl, vfe, ml),
			verdict(len(Where(e.E1, NotebookE1("Adam", PL))), pl < vfe && pl < 1.5*ml, Reproduced, Contradicted)
	}},
	{id: "e1-variance", rule: func(e *Evidence) (string, Status) {
		v := Figure2Ratios(e.E1, VFE, "", true)
		if len(v.Theirs) < 2 {
			return "", NotRun
		}
		pl := Figure2Ratios(e.E1, PL, "", false).Theirs
		ours := fmt.Sprintf("VFE over ML on the further draws: %s; the slips alone make it ×%s. PL ×%s", v,
			number(median(quotients(v.Theirs, v.Sparse))), medianSpan(pl))
		switch {
		case v.slip():
			return ours, Corrected
		case medianSpan(v.Sparse).lo > excess:
			return ours, Reproduced
		}
		return ours, Contradicted
	}},
	{id: "e2-same", rule: func(e *Evidence) (string, Status) {
		worst := map[string]float64{}
		near, of := map[string]int{}, map[string]int{}
		for _, loss := range []string{VFE, PL} {
			for _, n := range E2Sizes(scales.Full) {
				for _, protocol := range []string{Paper, GPPL} {
					match := E2By
					if loss == VFE && protocol == GPPL {
						match = E2Stated
					}
					for _, x := range Excess(e.E2, Where(e.E2, match(protocol, loss, n, 150))) {
						of[loss]++
						if x <= sameNLL {
							near[loss]++
						}
						worst[loss] = max(worst[loss], x)
					}
				}
			}
		}
		typical := func(logs []float64) string { return number(math.Exp(stat.Mean(logs, nil))) }
		return fmt.Sprintf("within 2 nats of ML: PL %d of %d runs, VFE %d of %d; worst PL +%s, VFE +%s nats; geometric mean of PL "+
				"%s nats (on the draws on which the rule was chosen %s)",
				near[PL], of[PL], near[VFE], of[VFE], number(worst[PL]), number(worst[VFE]), typical(excessByDraw(e, E2By)),
				typical(excessByDraw(e, E2Stated))),
			verdict(of[PL], true, "", "")
	}, test: func(e *Evidence) *Test { return above(excessByDraw(e, E2By), math.Log(sameNLL)) }},
	{id: "e2-time", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each(E2Sizes(scales.Full), func(n int) (string, bool) {
			dense := func(loss string) float64 { return median(denseTimes(e.E2, E2By(Paper, loss, n, 150))) }
			r := dense(PL) / dense(VFE)
			if math.IsNaN(r) {
				return "", false
			}
			return fmt.Sprintf("n=%d ×%.2g", n, r), r < 1 || n >= 3000 && r < 1.5
		})
		return "time of PL over VFE: " + s, verdict(judged, held == judged, Order, Reversed)
	}},
	{id: "e3-sunspots", rule: func(e *Evidence) (string, Status) {
		s, _, judged := each(KernelNames, func(kernel string) (string, bool) {
			pl, vfe := sunspotPair(e, kernel)
			if len(pl) == 0 || math.IsNaN(vfe) {
				return "", false
			}
			text := fmt.Sprintf("%s: PL %s, better than VFE (%s) on %d of %d Ω", kernel, medianSpan(pl),
				number(vfe), below(pl, vfe), len(pl))
			if _, theirs := vfeVariants(e, kernel); len(theirs) > 0 {
				text += fmt.Sprintf(", than VFE as their code has it (%s) on %d", number(median(theirs)), below(pl, median(theirs)))
			}
			return text, true
		})
		won, of := allKernels(e)
		return fmt.Sprintf("PL is better for all kernels on %d of %d Ω. %s", won, of, s), verdict(judged, true, "", "")
	}, test: func(e *Evidence) *Test { return signs(allKernels(e)) }},
	{id: "e3-sunspots-best", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each(KernelNames, func(kernel string) (string, bool) {
			v := NLLs(Where(e.Sunspots, SunspotsBy(Paper, kernel, PL, Authors{})))
			if len(v) == 0 {
				return "", false
			}
			p := e.Published.Sunspots[kernel][PL].NLL
			return fmt.Sprintf("%s: %d of %d draws are better", kernel, below(v, p), len(v)), p < median(v)
		})
		return s, verdict(judged, held == judged, Found, NotFound)
	}},
	{id: "e3-eeg", rule: func(e *Evidence) (string, Status) {
		paper := true
		s, held, judged := each(KernelNames, func(kernel string) (string, bool) {
			pl, vfe := pairs(predicted(e.EEG, Paper, kernel, PL), predicted(e.EEG, Paper, kernel, VFE))
			if len(pl) == 0 {
				return "", false
			}
			better := 0
			for i := range pl {
				paper = paper && pl[i].PaperRecording
				if nmse(pl[i]) < nmse(vfe[i]) && fresh(pl[i]) < fresh(vfe[i]) {
					better++
				}
			}
			own := func(o Outcome) float64 { return o.VMSE.NMSE }
			return fmt.Sprintf("%s %s / %s (%s); without the overlap %s / %s; better on %d of %d samples, VFE %s", kernel,
				ofSamples(pl, nmse), ofSamples(vfe, nmse), ofSamples(vfe, own), ofSamples(pl, fresh), ofSamples(vfe, fresh), better, len(pl),
				eegSteps(vfe)), better == len(pl)
		})
		if judged > 0 && !paper {
			return fmt.Sprintf("PL is better for %d of %d kernels. PL / VFE by the exact posterior, as the authors predict (by its "+
				"own), another recording: %s", held, judged, s), NotComparable
		}
		return "PL / VFE: " + s, verdict(judged, held == judged, Reproduced, Contradicted)
	}},
	{id: "e3-eeg-infeasible", rule: func(e *Evidence) (string, Status) {
		s, feasible, judged := each(KernelNames, func(kernel string) (string, bool) {
			runs := predicted(e.EEG, GPPL, kernel, ML)
			if len(runs) == 0 {
				return "", false
			}
			return fmt.Sprintf("%s %s (%s, %s)", kernel, inSeconds(runs[0].Seconds()), runs[0].Engine, runs[0].Status),
				runs[0].Seconds() < 600 && runs[0].Status == "converged"
		})
		return fmt.Sprintf("ML trained at n = 8000, to the optimum for %d of %d kernels: %s", feasible, judged, s),
			verdict(judged, feasible == 0, Reproduced, Corrected)
	}},
}

var codeClaims = []claim{
	{id: "code-noise", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each([]string{"RQ", "LocPer"}, func(kernel string) (string, bool) {
			proper, theirs := vfeVariants(e, kernel)
			if len(proper) == 0 || len(theirs) == 0 {
				return "", false
			}
			p := e.Published.Sunspots[kernel][VFE].NLL
			return fmt.Sprintf("%s: published %s, proper %s, as their code trains it %s", kernel, number(p), number(median(proper)),
				number(median(theirs))), 2*math.Abs(median(theirs)-p) < math.Abs(median(proper)-p)
		})
		return s, verdict(judged, held == judged, Found, NotFound)
	}},
	{id: "code-repulsion", rule: func(e *Evidence) (string, Status) {
		s, small, judged := each(KernelNames, func(kernel string) (string, bool) {
			change := repulsionEffect(e, kernel)
			if len(change) == 0 {
				return "", false
			}
			in := rangeOf(change)
			return fmt.Sprintf("%s %+.2f [%+.2f, %+.2f] over %d", kernel, median(change), in.lo, in.hi, len(change)),
				math.Abs(median(change)) <= 5
		})
		return "change of VFE's NLL (nats, with and without the noise in K_uu, up to three starts): " + s,
			verdict(judged, small == judged, Found, NotFound)
	}},
	{id: "code-diagonal", rule: func(e *Evidence) (string, Status) {
		with, without := pairs(Where(e.E1, func(t Trial) bool { return t.Authors == Authors{Diagonal: 1e-4} }),
			Where(e.E1, E1By("Adam", PL)))
		change := make([]float64, len(with))
		for i := range change {
			change[i] = math.Abs(with[i].NLL - without[i].NLL)
		}
		return fmt.Sprintf("it moves the NLL by %s nats in the median over %d draws, %s at most", number(median(change)), len(change),
			number(rangeOf(change).hi)), verdict(len(change), median(change) <= 1, Found, NotFound)
	}},
	{id: "code-float32", rule: func(e *Evidence) (string, Status) {
		change := func(with, without []Outcome) (d []float64, failed int) {
			with, without = pairs(with, without)
			for i := range with {
				failed += with[i].Retries
				d = append(d, math.Abs(with[i].NLL-without[i].NLL))
			}
			return d, failed
		}
		pl, _ := change(Where(e.E1, NotebookE1With(PL, Authors{Diagonal: PLDiagonal, Float32: true})),
			Where(e.E1, NotebookE1With(PL, Authors{Diagonal: PLDiagonal})))
		vfe, failed := change(Where(e.E1, NotebookE1With(VFE, Authors{Float32: true})), Where(e.E1, NotebookE1With(VFE, Authors{})))
		runs := 0
		var retries, higher []float64 // by pair of E2: failed factorisations in single precision; by how much it ends higher
		for _, n := range E2Sizes(scales.Full) {
			for _, x := range precisionPairs(e, n, 150) {
				if runs++; x.failed >= manyFailures {
					retries, higher = append(retries, float64(x.failed)), append(higher, x.single-x.double)
				}
			}
		}
		if len(pl) == 0 || runs == 0 {
			return "", NotRun
		}
		s := fmt.Sprintf("it moves the NLL of PL by %s nats in the median over %d draws, of VFE with m = 40 (E1) by %s with %d "+
			"failed factorisations in all", number(median(pl)), len(pl), number(median(vfe)), failed)
		if len(retries) > 0 {
			s += fmt.Sprintf("; of %d pairs of VFE with m = 150 (E2) %d have %.0f or more failed factorisations in single precision, "+
				"and end from %+.1f to %+.1f nats from the same draw in double", runs, len(retries), rangeOf(retries).lo,
				rangeOf(higher).lo, rangeOf(higher).hi)
		}
		return s, verdict(len(pl), len(retries) > 0 && median(pl) <= 1, Found, NotFound)
	}},
	{id: "code-early-stop", rule: func(e *Evidence) (string, Status) {
		count := func(protocol string, match func(protocol, loss string, n, order int) func(Trial) bool) (failed, of int) {
			for _, n := range E2Sizes(scales.Full) {
				for _, k := range E2Orders(scales.Full) {
					runs := Where(e.E2, match(protocol, PL, n, k))
					failed += Failures(runs)
					of += len(runs)
				}
			}
			return failed, of
		}
		stopped, n := count(Paper, E2By)
		converged, m := count(GPPL, E2By)
		before, of := count(Paper, E2Stated)
		after, all := count(GPPL, E2Stated)
		return fmt.Sprintf("%d of %d stopped as in the paper, %d of %d converged; with noise variance 0.1, on draws 1 to 10, %d of "+
			"%d and %d of %d", stopped, n, converged, m, before, of, after, all), verdict(m, converged > stopped, Found, NotFound)
	}},
	{id: "code-locper", rule: func(e *Evidence) (string, Status) {
		adam, lbfgs := NLLs(Where(e.Sunspots, SunspotsBy(Paper, "LocPer", ML, Authors{}))),
			NLLs(Where(e.Sunspots, SunspotsBy(GPPL, "LocPer", ML, Authors{})))
		if len(adam) == 0 || len(lbfgs) == 0 {
			return "", NotRun
		}
		ours := fmt.Sprintf("Adam %.3f, L-BFGS %.3f", adam[0], lbfgs[0])
		for _, v := range NLLs(Where(e.Accurate, func(t Trial) bool {
			return t.Source.Name == "sunspots" && t.Kernel == "LocPer" && t.Loss == AutoProjected
		})) {
			ours += fmt.Sprintf("; started from the data and kept to projections %.3f", v)
		}
		return ours, verdict(1, lbfgs[0] <= 1468.565+0.01 && adam[0] > 1500, Found, NotFound)
	}},
	{id: "code-rule", rule: func(e *Evidence) (string, Status) {
		s, more, judged := each(KernelNames, func(kernel string) (string, bool) {
			evals := func(match func(Trial) bool) float64 { return median(Evaluations(Where(e.Sunspots, match))) }
			stopped, like, ml := evals(SunspotsBy(Paper, kernel, PL, Authors{})), evals(LooserStop(kernel)),
				evals(SunspotsBy(Paper, kernel, ML, Authors{}))
			if math.IsNaN(stopped) || math.IsNaN(like) {
				return "", false
			}
			return fmt.Sprintf("%s: %.0f, with the rule per number %.0f; ML %.0f", kernel, stopped, like, ml), like > stopped
		})
		return s, verdict(judged, more == judged, Found, NotFound)
	}},
	{id: "code-nmse", rule: func(e *Evidence) (string, Status) {
		const held = 2000
		var energy, asNMSE, asRMSE []float64 // by row: the implied ‖y‖²; relative errors as NMSE, as RMSE
		for _, kernel := range KernelNames {
			for _, loss := range []string{VFE, PL} {
				norm, printed := e.Published.Logs.EEGNorms[kernel][loss], e.Published.EEG[kernel][loss].NMSE
				if norm > 0 && printed > 0 {
					energy = append(energy, norm*norm/printed)
					asRMSE = append(asRMSE, math.Abs(norm/math.Sqrt(held)/printed-1))
				}
			}
		}
		for _, y2 := range energy {
			asNMSE = append(asNMSE, math.Abs(y2/median(energy)-1))
		}
		worst, least := rangeOf(asNMSE).hi, rangeOf(asRMSE).lo
		return fmt.Sprintf("from ‖μ − y‖ as the notebook prints it (Experiment 3, cell 18): with one ‖y‖² = %s for all, "+
				"‖μ − y‖²/‖y‖² is the printed number within %.1g in %d of %d rows; the root mean square error is off by %.0f "+
				"%% or more",
				number(median(energy)), worst, below(asNMSE, 0.01), len(asNMSE), 100*least),
			verdict(len(energy), worst < 0.01 && least > 0.1, Corrected, Reproduced)
	}},
}

var betterClaims = []claim{
	{id: "dense-times", rule: func(e *Evidence) (string, Status) {
		factors := wholeDense(e)
		var medians []float64
		s, _, judged := each(methodNames, func(loss string) (string, bool) {
			v := factors[loss]
			if len(v) == 0 {
				return "", false
			}
			medians = append(medians, median(v))
			return fmt.Sprintf("%s ×%.2g [%.2g, %.2g] over %d", loss, median(v), rangeOf(v).lo, rangeOf(v).hi, len(v)), true
		})
		begun, of := costsAtStart(e)
		return fmt.Sprintf("%sThe cost of one was measured at the start of training, where subnormal numbers slow it, for %d of %d "+
			"sizes of E2", s, begun, of), verdict(judged, rangeOf(medians).hi <= 2*rangeOf(medians).lo, Found, NotFound)
	}},
	{id: "better-exact", rule: func(e *Evidence) (string, Status) {
		s, quick, judged := each(KernelNames, func(kernel string) (string, bool) {
			runs := Where(e.Sunspots, SunspotsBy(GPPL, kernel, ML, Authors{}))
			if len(runs) == 0 {
				return "", false
			}
			return fmt.Sprintf("%s %s", kernel, inSeconds(runs[0].Seconds())), runs[0].Seconds() < 60
		})
		return s, verdict(judged, quick == judged, Better, NotFound)
	}},
	{id: "better-pl-cost", rule: func(e *Evidence) (string, Status) {
		s, quick, judged := each(KernelNames, func(kernel string) (string, bool) {
			runs := Where(e.Sunspots, func(t Trial) bool {
				return t.Seed <= 10 && SunspotsBy(Paper, kernel, PL, Authors{})(t) // the other options have ten draws, too
			})
			if len(runs) == 0 {
				return "", false
			}
			ours, dense := median(Values(runs, Outcome.Seconds)),
				median(Values(runs, func(o Outcome) float64 { return DenseSeconds(e.Sunspots, o) }))
			return fmt.Sprintf("%s %s, dense %s", kernel, inSeconds(ours), inSeconds(dense)), ours < dense/10
		})
		grows, flat := plGrowth(e)
		return fmt.Sprintf("an evaluation at k = 150 grows with n from 500 to 4000 as %s. Sunspots: %s", grows, s),
			verdict(judged, quick == judged && flat, Better, NotFound)
	}},
	{id: "better-accurate", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each(AccurateSources(scales.Full), func(source Source) (string, bool) {
			ours := AccurateBy(e.Accurate, source, AutoProjected, AccurateSeeds(scales.Full))
			if len(ours) == 0 {
				return "", false
			}
			excess, failed := Excess(e.Accurate, ours), Unsuccessful(ours)
			k, exact := Orders(ours)
			paper := AccurateBy(e.Accurate, source, PL, AccurateSeeds(scales.Full))
			return fmt.Sprintf("n=%d l=%g: k = %.0f in the median, exact in %d of %d; median %s nats above ML, worst %s, %d failed "+
					"(the paper's PL, k = 100, converged: median %s, %d failed)", source.N, source.Lengthscale, median(k), exact, len(ours),
					number(median(excess)), number(rangeOf(excess).hi), failed, number(median(Excess(e.Accurate, paper))), Unsuccessful(paper)),
				len(ours) == AccurateSeeds(scales.Full) && median(excess) <= 0.5 && rangeOf(excess).hi <= 2 && failed == 0
		})
		return s, verdict(judged, held == len(AccurateSources(scales.Full)), Better, NotFound)
	}},
	{id: "better-calibrated", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each(Coverages(e.Accurate), func(c Coverage) (string, bool) {
			share := float64(c.Covered) / float64(c.Of)
			return fmt.Sprintf("%s %.1f %%", c.Name, 100*share), share >= 0.9 && share <= 0.98 && c.Of == calibrationSeeds(scales.Full)
		})
		return s, verdict(judged, held == judged, Better, NotFound)
	}},
	{id: "better-sunspots", rule: func(e *Evidence) (string, Status) {
		runs := Where(e.Accurate, func(t Trial) bool { return t.Source.Name == "sunspots" && t.Loss == Auto })
		s, held, judged := each(runs, func(o Outcome) (string, bool) {
			x := o.NLL - Optimum(e.Accurate, o.Trial)
			return fmt.Sprintf("%s +%s in %s", o.Trial.Kernel, number(max(0, x)), inSeconds(o.Seconds())), o.Error == "" && x <= 1
		})
		p, _, _ := each(Where(e.Accurate, func(t Trial) bool { return t.Source.Name == "sunspots" && t.Loss == AutoProjected }),
			func(o Outcome) (string, bool) {
				x := o.NLL - Optimum(e.Accurate, o.Trial)
				if o.K == 0 {
					return fmt.Sprintf("%s %+.2f, exact after all", o.Trial.Kernel, x), true
				}
				return fmt.Sprintf("%s %+.2f with k = %d", o.Trial.Kernel, x, o.K), true
			})
		return s + "Restricted to projections: " + p, verdict(judged, held == judged, Better, NotFound)
	}},
	{id: "better-speed", rule: func(e *Evidence) (string, Status) {
		s, held, judged := each(Speeds(e.Accurate), func(v Speed) (string, bool) {
			return fmt.Sprintf("n=%d: ×%.0f (restricted to projections ×%.0f, exact ML with the same engines from the paper's "+
					"start ×%.0f)", v.Source.N, v.Dense/v.Automatic, v.Dense/v.Projected, v.Dense/v.Engines),
				v.Dense/v.Automatic >= map[int]float64{2000: 20, 4000: 100}[v.Source.N]
		})
		return s, verdict(judged, held == judged, Better, NotFound)
	}},
}

// wholeDense returns, for each loss, the time of complete dense trainings of E1 divided by the estimate behind all dense times of
// the ledger: evaluations times the cost of one at n = 1000.
func wholeDense(e *Evidence) (factors map[string][]float64) {
	factors = map[string][]float64{}
	for _, o := range e.E1 {
		if o.Trial.Engine != gppl.EngineDense || o.Error != "" {
			continue
		}
		o.Trial.Engine = "" // for a trial that ran densely, DenseSeconds would return the measured time
		if one := DenseSeconds(e.E2, o) - o.Setup; one > 0 {
			factors[o.Trial.Loss] = append(factors[o.Trial.Loss], o.Fit/one)
		}
	}
	return factors
}

// costsAtStart counts the dense evaluations of ML in E2 that were measured at the start of training, not at the true parameters.
func costsAtStart(e *Evidence) (begun, of int) {
	for _, o := range Where(e.E2, func(t Trial) bool { return t.Optimiser.Method == Evaluate && t.Loss == ML }) {
		of++
		for _, ml := range Where(e.E2, E2Stated(GPPL, ML, o.Trial.Source.N, 0)) {
			if ml.Trial.Source == o.Trial.Source && math.Abs(ml.StartNLL-o.Value) < 1e-3 {
				begun++
			}
		}
	}
	return begun, of
}

// excessByDraw returns, for each draw of E2, by how much PL with k = 150 ends above ML: the mean of its logarithm over n and both
// protocols.
func excessByDraw(e *Evidence, match func(protocol, loss string, n, order int) func(Trial) bool) (means []float64) {
	logs := map[uint64][]float64{}
	for _, n := range E2Sizes(scales.Full) {
		for _, protocol := range []string{Paper, GPPL} {
			runs := Where(e.E2, match(protocol, PL, n, 150))
			for i, x := range Excess(e.E2, runs) {
				seed := runs[i].Trial.Source.Seed
				logs[seed] = append(logs[seed], math.Log(max(x, sameNLL/100.0)))
			}
		}
	}
	for _, seed := range slices.Sorted(maps.Keys(logs)) {
		means = append(means, stat.Mean(logs[seed], nil))
	}
	return means
}

// compared selects the trials of a loss, for comparing PL with VFE.
type compared func(loss string) func(Trial) bool

func byNotebook(optimiser string) compared {
	return func(loss string) func(Trial) bool { return NotebookE1(optimiser, loss) }
}

func byText(optimiser string) compared {
	return func(loss string) func(Trial) bool { return E1By(optimiser, loss) }
}

// accuracy judges, for each optimiser, whether PL ends nearer to ML than VFE on most draws.
func accuracy(id string, by map[string]compared) claim {
	names := slices.Sorted(maps.Keys(by))
	pairsOf := func(e *Evidence, name string) (pl, vfe []Outcome) {
		return pairs(Where(e.E1, by[name](PL)), Where(e.E1, by[name](VFE)))
	}
	near := func(x []float64) int { return below(x, sameNLL) }
	return claim{
		id: id,
		rule: func(e *Evidence) (string, Status) {
			s, of := "", 0
			for _, name := range names {
				pl, vfe := pairsOf(e, name)
				a, b := Excess(e.E1, pl), Excess(e.E1, vfe)
				of += len(pl)
				s += fmt.Sprintf("%s: PL closer in %d of %d draws, PL − VFE %s nats; within %d nats of ML VFE %d times, PL %d; VFE ends "+
					"from %s to %s above, PL from %s to %s. ",
					name, wins(a, b), len(a), medianSpan(pairedDifferences(a, b)), sameNLL, near(b), near(a), number(rangeOf(b).lo),
					number(rangeOf(b).hi), number(rangeOf(a).lo), number(rangeOf(a).hi))
			}
			return s, verdict(of, true, "", "")
		},
		test: func(e *Evidence) *Test {
			var tests []*Test
			for _, name := range names {
				pl, vfe := pairsOf(e, name)
				tests = append(tests, signs(wins(NLLs(pl), NLLs(vfe)), len(pl)))
			}
			return worst(tests)
		},
	}
}

// plGrowth reports the power of n with which the cost of an evaluation of PL with k = 150 grows, by protocol, and whether it is
// below one half in each.
func plGrowth(e *Evidence) (text string, flat bool) {
	flat = true
	var parts []string
	for _, protocol := range []string{Paper, GPPL} {
		var n, cost []float64
		for _, size := range E2Sizes(scales.Full) {
			runs := slices.DeleteFunc(Where(e.E2, E2By(protocol, PL, size, 150)), func(o Outcome) bool { return o.Error != "" })
			if len(runs) > 0 {
				n, cost = append(n, math.Log(float64(size))),
					append(cost, math.Log(median(Values(runs, func(o Outcome) float64 { return o.Fit / float64(o.Evaluations) }))))
			}
		}
		if len(n) < 3 {
			return "not run", false
		}
		_, b := stat.LinearRegression(n, cost, nil, false)
		flat = flat && b < 0.5
		parts = append(parts, fmt.Sprintf("n^%.2f (%s)", b, map[string]string{Paper: "Adam", GPPL: "L-BFGS"}[protocol]))
	}
	return strings.Join(parts, ", "), flat
}

// allKernels counts the Ω with which PL ends below the median of correct VFE for every kernel, and all Ω.
func allKernels(e *Evidence) (won, of int) {
	better := map[uint64]int{}
	for _, kernel := range KernelNames {
		_, vfe := sunspotPair(e, kernel)
		for _, o := range Where(e.Sunspots, SunspotsBy(Paper, kernel, PL, Authors{})) {
			if o.Error == "" && o.NLL < vfe {
				better[o.Trial.Seed]++
			} else {
				better[o.Trial.Seed] += 0
			}
		}
	}
	for _, kernels := range better {
		if kernels == len(KernelNames) {
			won++
		}
	}
	return won, len(better)
}

// sunspotPair returns the NLL of PL over draws of Ω, and the median NLL of correct VFE.
func sunspotPair(e *Evidence, kernel string) (pl []float64, vfe float64) {
	return NLLs(Where(e.Sunspots, SunspotsBy(Paper, kernel, PL, Authors{}))),
		median(NLLs(Where(e.Sunspots, SunspotsBy(Paper, kernel, VFE, Authors{}))))
}

// repulsionEffect is what the repulsion adds to VFE's NLL, run by run, with the noise in K_uu and without.
func repulsionEffect(e *Evidence, kernel string) (change []float64) {
	for _, noisy := range []bool{false, true} {
		with, without := pairs(Where(e.Sunspots, SunspotsBy(Paper, kernel, VFE, Authors{NoiseInGram: noisy, Repel: true})),
			Where(e.Sunspots, SunspotsBy(Paper, kernel, VFE, Authors{NoiseInGram: noisy})))
		change = append(change, pairedDifferences(NLLs(with), NLLs(without))...)
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
