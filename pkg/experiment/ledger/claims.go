package ledger

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// statement is an entry of claims.json: the claim in the paper's words, its rule, and the reason for each verdict that it may
// get.
type statement struct {
	ID, Claim, Where, Rule, Overturn, Notebook string
	Why                                        map[Status]string
}

var statements = entries[statement]("claims.json")

//go:embed *.json
var entryFiles embed.FS

// entries reads the list in an embedded file.
func entries[T any](name string) (all []T) {
	text, err := entryFiles.ReadFile(name)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&all)
	}
	if err != nil {
		panic(fmt.Sprintf("ledger: %s: %v", name, err))
	}
	return all
}

// claimRows judges all claims, in their order. Their tests are corrected for their number.
func claimRows(e *experiment.Evidence) (rows []Row) {
	for _, s := range statements {
		r := Row{ID: s.ID, Group: Claims, Claim: s.Claim, Published: s.Where, Rule: s.Rule, Overturn: s.Overturn, Notebook: s.Notebook}
		if judges[s.ID](e, &r); unknown(r.Ours) || r.Status == "" && r.Test == nil {
			r = r.notRun()
		}
		rows = append(rows, r)
	}
	settle(rows)
	for i, s := range statements {
		if why := s.Why[rows[i].Status]; why != "" {
			rows[i].Why = why
		}
	}
	return rows
}

// pick returns yes if ok, else no.
func pick(ok bool, yes, no Status) Status {
	if ok {
		return yes
	}
	return no
}

// found sets the text of the finding.
func (r *Row) found(format string, args ...any) {
	r.Ours = strings.TrimRight(fmt.Sprintf(format, args...), ". ")
}

// unknown reports whether a number is missing in what was found.
func unknown(found string) bool { return strings.Contains(found, "NaN") }

// numbers are stored results of the theory.
type numbers map[string]float64

// at returns a number, NaN if it is not stored.
func (v numbers) at(name string) float64 {
	if x, ok := v[name]; ok {
		return x
	}
	return math.NaN()
}

var parameters = []string{"variance", "lengthscale", "noise"}

// of returns the numbers of all parameters.
func (v numbers) of(format string) (all []float64) {
	for _, p := range parameters {
		all = append(all, v.at(fmt.Sprintf(format, p)))
	}
	return all
}

// judges has a rule for each statement. A rule sets the finding, and the verdict or the test that decides it: neither, if no
// stored result bears on the statement.
var judges = map[string]func(e *experiment.Evidence, r *Row){
	"theorem": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		slopes := v.of("theorem.slope.noisy.%s.total")
		r.found("over %.0f draws the variances of both scores agree with the formulas within %.1f standard errors; ΔI has no "+
			"eigenvalue below %.2g of I_Y, equals I_Y − I_Z within %.1g of it in %.0f cases, and is %.1g of it for k = n; as "+
			"Σ shrinks it falls with the power %.3f to %.3f: its leading term is linear in Σ", v.at("theorem.score.draws"),
			v.at("theorem.score.worst_deviation"),
			v.at("theorem.loss.least_eigenvalue"), v.at("theorem.routes.worst"), v.at("theorem.routes.cases"),
			v.at("theorem.k_equals_n.lost"),
			slices.Min(slopes), slices.Max(slopes))
		r.Status = pick(v["theorem.score.worst_deviation"] < deviation && v["theorem.loss.least_eigenvalue"] > -1e-12 &&
			v["theorem.routes.worst"] < 1e-9 && v["theorem.k_equals_n.lost"] < 1e-20 && math.Abs(slices.Max(slopes)-1) < 0.05,
			Reproduced, NotReproduced)
	},
	"corollary-2": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		c := func(name string) float64 { return v.at("theorem.corollary2." + name) }
		r.found("over %.0f draws of n = %.0f, NLL − n·PL is %.2g ± %.3g; the projection keeps %.3g of the information", c("draws"),
			c("n"),
			c("mean"), c("sd"), c("kept"))
		r.Status = pick(c("sd") < 1e-6, Reproduced,
			pick(math.Abs(c("mean")) < deviation*c("sd")/math.Sqrt(c("draws")), Corrected, NotReproduced))
	},
	"optimal-directions": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		eigen := v.of("theorem.choice.eigen.stderr.%s")
		best := []float64{math.Inf(1), math.Inf(1), math.Inf(1)}
		for _, design := range []string{"spectral", "localised", "sphere", "onehot"} {
			for i, x := range v.of("theorem.choice." + design + ".stderr.%s") {
				best[i] = min(best[i], x)
			}
		}
		optimal := true
		for i, p := range parameters {
			r.Ours += fmt.Sprintf(", log %s %.3g and %.3g", p, eigen[i], best[i])
			optimal = optimal && eigen[i] <= best[i]
		}
		r.found("standard errors with the top eigenvectors, and with the best of four other designs: %s; for SE(1, 5), k = "+
			"n/20, of the log noise %.3g and %.3g with a random subset of the data", trimmed(r.Ours),
			v["spectrum.short.eigen.k100.stderr.noise.median"],
			v["spectrum.short.onehot.k100.stderr.noise.median"])
		r.Status = pick(optimal, Reproduced, NotReproduced)
	},
	"any-projection": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		sphere, eigen := v.at("theorem.choice.sphere.commutator"), v.at("theorem.choice.eigen.commutator")
		r.found("Σ and A would commute; ‖ΣA − AΣ‖/‖ΣA‖ is %.2g for Sphere and %.1g for eigenvectors", sphere, eigen)
		r.Status = pick(sphere > 0.01 && eigen < 1e-6, NotReproduced, Reproduced)
	},
	"traces-fall": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		worst := map[int]float64{}
		for _, k := range []int{50, 100, 200} {
			for _, d := range figureDesigns {
				share := traceLeft(v, d, k) / v["spectrum.trace"]
				r.Ours += fmt.Sprintf(", %s %.1f %%", designNames[d], 100*share)
				worst[k] = max(worst[k], share)
			}
			r.Ours += fmt.Sprintf(" with k = %d", k)
		}
		r.found("at most %.0f %% of tr K are left with k = 50, and %.1f %% with k = 200; %s", 100*worst[50], 100*worst[200],
			trimmed(r.Ours))
		r.Status = pick(worst[50] < 0.5 && worst[200] < 0.05, Reproduced, NotReproduced)
	},
	"sphere-best": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		best := true
		for _, k := range []int{50, 100, 200} {
			sphere, localised, onehot := traceLeft(v, "sphere", k), traceLeft(v, "localised", k), traceLeft(v, "onehot", k)
			best = best && sphere <= min(localised, onehot) && onehot >= max(localised, sphere)
			r.Ours += fmt.Sprintf("; k = %d: Sphere %.4g, Localised %.4g (as they drew it %.4g), One-hot %.4g", k, sphere, localised,
				traceLeft(v, "localised_unsorted", k), onehot)
		}
		r.found("tr Σ, %s", trimmed(r.Ours))
		r.Status = pick(best, Reproduced, NotReproduced)
	},
	"information": func(e *experiment.Evidence, r *Row) {
		v := numbers(e.Theory)
		more, judged := 0, 0
		for _, k := range []int{50, 100, 200} {
			ratios := v.of(fmt.Sprintf("spectrum.figure_1.sphere_over_onehot.k%d.information.%%s", k))
			r.Ours += fmt.Sprintf(", k = %d: ×%.2f, ×%.2f, ×%.2f", k, ratios[0], ratios[1], ratios[2])
			judged += len(ratios)
			more += len(ratios) - under(ratios, 1)
		}
		r.found("information about variance, lengthscale and noise with Sphere, over that with a random subset of the data, %s",
			trimmed(r.Ours))
		r.Status = pick(more == judged, Reproduced, pick(more == 0, NotReproduced, Corrected))
	},
	"superior": func(e *experiment.Evidence, r *Row) {
		worse, of := 0, 0
		for _, table := range []map[string]map[string]experiment.Figure{e.Published.E1, e.Published.Sunspots} {
			for _, methods := range table {
				if of++; methods[pl].NLL > methods[ml].NLL {
					worse++
				}
			}
		}
		r.found("in their Tables 1 and 2 exact training has the lower NLL in %d of %d pairs", worse, of)
		r.Status = pick(worse == 0, Reproduced, Corrected)
	},
	"e1-accuracy": func(e *experiment.Evidence, r *Row) {
		nearer := func(name string, with []string, by func(optimiser, loss string) func(experiment.Trial) bool) *Test {
			var differences []sample
			for _, optimiser := range with {
				differences = append(differences,
					ends(experiment.Where(e.E1, by(optimiser, pl))).minus(ends(experiment.Where(e.E1, by(optimiser, vfe)))))
			}
			return r.most(name, differences...)
		}
		r.Test = nearer("k = m = 40:", optimisers, experiment.NotebookE1)
		nearer("100 as in the text:", optimisers, experiment.E1By)
		nearer("100 to the optimum:", []string{"L-BFGS"}, experiment.E1By)
		nearer("100 in single precision:", []string{"Adam"}, func(_, loss string) func(experiment.Trial) bool {
			return experiment.NotebookE1Text(loss, true)
		})
		r.found("draws on which PL ends nearer to ML than VFE by every optimiser: %s", trimmed(r.Ours))
	},
	"e1-faster": func(e *experiment.Evidence, r *Row) {
		faster := true
		for _, optimiser := range []string{"BFGS", "Adam"} {
			s := map[string]float64{}
			for _, loss := range losses {
				s[loss] = median(numeric.OnlyFinite(experiment.NotebookSeconds(e, optimiser, loss)))
			}
			faster = faster && s[pl] < s[vfe] && s[pl] < s[ml]
			r.Ours += fmt.Sprintf("; %s: PL %.2g s, VFE %.2g s, ML %.2g s", optimiser, s[pl], s[vfe], s[ml])
		}
		r.found("%s", trimmed(r.Ours))
		r.Status = pick(faster, Reproduced, NotReproduced)
	},
	"steps": func(e *experiment.Evidence, r *Row) {
		steps := func(all []experiment.Outcome, match func(experiment.Trial) bool) float64 {
			return median(experiment.Evaluations(experiment.Where(all, match)))
		}
		fewer, similar, of := 0, 0, 0
		add := func(name string, p, v, m float64) {
			if math.IsNaN(p + v + m) {
				return
			}
			r.Ours += fmt.Sprintf(", %s %.0f, %.0f, %.0f", name, p, v, m)
			if of++; p < v {
				fewer++
			}
			if p <= larger*m {
				similar++
			}
		}
		of1 := func(loss string) float64 { return steps(e.E1, experiment.NotebookE1("Adam", loss)) }
		add("E1", of1(pl), of1(vfe), of1(ml))
		for _, n := range experiment.E2Sizes(scales.Full) {
			of2 := func(loss string, k int) float64 { return steps(e.E2, experiment.E2By(experiment.Paper, loss, n, k)) }
			add(fmt.Sprintf("E2 n = %d", n), of2(pl, 150), of2(vfe, 150), of2(ml, 0))
		}
		for _, kernel := range kernels {
			of3 := func(loss string) float64 {
				return steps(e.Sunspots, experiment.SunspotsBy(experiment.Paper, kernel, loss, plain))
			}
			add("sunspots "+kernel, of3(pl), of3(vfe), of3(ml))
		}
		r.found("PL takes fewer evaluations by Adam than VFE in %d of %d settings, and at most %g times ML's in %d; medians "+
			"of PL, VFE and ML: %s", fewer, of, larger, similar, trimmed(r.Ours))
		if of > 0 {
			r.Status = pick(fewer == of && similar == of, Reproduced, pick(2*fewer > of, Corrected, NotReproduced))
		}
	},
	"adam": func(e *experiment.Evidence, r *Row) {
		const same = 0.5 // nats
		fewer, differences := true, ""
		var tests []*Test
		for _, loss := range losses {
			a := experiment.Where(e.E1, experiment.NotebookE1("Adam", loss))
			b := experiment.Where(e.E1, experiment.NotebookE1("BFGS", loss))
			more := ends(a).minus(ends(b))
			tests = append(tests, r.most(loss, more.apply(func(x float64) float64 { return x - same })))
			adam, bfgs := median(experiment.Evaluations(a)), median(experiment.Evaluations(b))
			fewer = fewer && adam < bfgs
			r.Ours += fmt.Sprintf(" in %.0f evaluations for %.0f", adam, bfgs)
			differences += fmt.Sprintf(", %+.2f", median(more.values()))
		}
		r.found("draws on which Adam ends less than %g nats above their BFGS: %s; medians of the difference %s nats", same,
			trimmed(r.Ours), trimmed(differences))
		if r.Test = all(tests...); !fewer {
			r.Status = NotReproduced
		}
	},
	"variance-vfe": func(e *experiment.Evidence, r *Row) {
		var smaller []sample
		medians := ""
		for _, optimiser := range optimisers {
			v := experiment.Figure2Ratios(e.E1, vfe, optimiser)
			medians += fmt.Sprintf("; %s: of the function ×%.2f, of observations ×%.2f, as their code predicts these ×%.2f", optimiser,
				median(v.Latent), median(v.Sparse), median(v.Theirs))
			smaller = append(smaller, logs(v.Seeds, v.Latent).apply(func(x float64) float64 { return -x }))
		}
		r.Test = r.most("of the function it is larger on", smaller...)
		r.found("the sparse posterior's variance over ML's, medians: %s; the figure has ×2.4 and ×2.6; with both optimisers "+
			"%s draws", trimmed(medians), trimmed(r.Ours))
	},
	"variance-pl": func(e *experiment.Evidence, r *Row) {
		var farther []sample
		for _, optimiser := range optimisers {
			p, v := experiment.Figure2Ratios(e.E1, pl, optimiser), experiment.Figure2Ratios(e.E1, vfe, optimiser)
			if len(p.Sparse) == 0 {
				return
			}
			off := logs(p.Seeds, p.Sparse).apply(math.Abs).minus(logs(v.Seeds, v.Sparse).apply(math.Abs))
			farther = append(farther, off)
			r.most(fmt.Sprintf("%s: ×%.2f to ×%.2f of ML's, nearer than VFE's on", optimiser, slices.Min(p.Sparse),
				slices.Max(p.Sparse)), off)
			r.Ours += " draws"
		}
		r.Test = r.most("with both on", farther...)
		r.found("PL's variance of observations by |log ratio|, VFE's by the sparse posterior, %s", trimmed(r.Ours))
	},
	"vfe-noise": func(e *experiment.Evidence, r *Row) {
		logNoise := func(loss string) sample {
			runs := experiment.Where(e.E1, experiment.NotebookE1("Adam", loss))
			return draws(runs, experiment.Values(runs, func(o experiment.Outcome) float64 { return math.Log(o.Theta[2]) }))
		}
		less := logNoise(ml).minus(logNoise(vfe))
		r.Test = r.most("larger on", less)
		r.found("×%.2f of ML's in the median; %s draws", math.Exp(-median(less.values())), trimmed(r.Ours))
	},
	"e2-same": func(e *experiment.Evidence, r *Row) {
		var tests []*Test
		for _, loss := range []string{vfe, pl} {
			near, runs, worst := 0, 0, 0.0
			var above []sample
			for _, n := range experiment.E2Sizes(scales.Full) {
				some := experiment.Where(e.E2, experiment.E2By(experiment.Paper, loss, n, 150))
				excess := experiment.Excess(e.E2, some)
				runs, near = runs+len(some), near+under(excess, sameNLL)
				worst = slices.Max(append(excess, worst))
				above = append(above, draws(some, excess).apply(logNats))
			}
			means := mean(above...).values()
			tests = append(tests, below(means, math.Log(sameNLL)))
			r.Ours += fmt.Sprintf(", %s in %d of %d runs, geometric mean %s, worst %s", loss, near, runs,
				number(math.Exp(stat.Mean(means, nil))), number(worst))
		}
		r.found("within %g nats of ML: %s nats above", sameNLL, trimmed(r.Ours))
		r.Test = all(tests...)
	},
	"e2-par": func(e *experiment.Evidence, r *Row) {
		var apart []sample
		for _, n := range []int{3000, 4000} {
			of := func(loss string) sample {
				return ends(experiment.Where(e.E2, experiment.E2By(experiment.Paper, loss, n, 150)))
			}
			nats := of(pl).minus(of(vfe)).apply(math.Abs)
			if len(nats) == 0 {
				return
			}
			r.Ours += fmt.Sprintf(", n = %d: %s to %s (theirs %s)", n, number(slices.Min(nats.values())), number(slices.Max(nats.values())),
				number(math.Abs(e.Published.Above(n, pl, 150)-e.Published.Above(n, vfe, 150))))
			apart = append(apart, nats.apply(logNats))
		}
		r.found("nats between PL and VFE on the same draw at k = m = 150, %s", trimmed(r.Ours))
		r.Test = below(mean(apart...).values(), math.Log(sameNLL))
	},
	"e2-faster": func(e *experiment.Evidence, r *Row) {
		sizes, ratio := timeRatios(e)
		faster := len(sizes) > 0
		for i, n := range sizes {
			r.Ours += fmt.Sprintf(", n = %.0f ×%.2g", n, ratio[i])
			faster = faster && (n < 3000 && ratio[i] < 1 || n >= 3000 && ratio[i] < larger && ratio[i] > 1/larger)
		}
		r.found("dense time of PL over VFE's at k = m = 150, medians: %s", trimmed(r.Ours))
		if len(sizes) > 0 {
			r.Status = pick(faster, Reproduced, NotReproduced)
		}
	},
	"coincide": func(e *experiment.Evidence, r *Row) {
		sizes, ratio := timeRatios(e)
		if len(sizes) < 3 {
			return
		}
		n, cost := experiment.DenseCosts(e)
		rises := slices.IsSorted(cost)
		r.found("one dense evaluation of PL takes %.1f times as long as one of VFE at n = %.0f and %.1f times at n = %.0f; "+
			"whole trainings ×%.2g and ×%.2g",
			cost[0], n[0], cost[len(cost)-1], n[len(n)-1], ratio[0], ratio[len(ratio)-1])
		r.Status = pick(!rises, Reproduced, pick(ratio[0] < 1 && ratio[len(ratio)-1] > ratio[0], Corrected, NotReproduced))
	},
	"e3-sunspots": func(e *experiment.Evidence, r *Row) {
		var worse []sample
		published := sample{} // negative if PL ends as low as in Table 2 for a kernel
		for _, kernel := range kernels {
			v := median(experiment.NLLs(sunspots(e, kernel, vfe)))
			nll, table2 := ends(sunspots(e, kernel, pl)), e.Published.Sunspots[kernel][pl].NLL
			for seed, x := range nll {
				published[seed] = min(published[seed], x-table2)
			}
			above := nll.apply(func(x float64) float64 { return x - v })
			r.most(kernel, above)
			worse = append(worse, above)
		}
		r.Test = r.most("all four", worse...)
		r.most("as low as Table 2's for at least one", published)
		r.found("Ω with which PL ends below proper VFE: %s", trimmed(r.Ours))
	},
	"e3-eeg": func(e *experiment.Evidence, r *Row) {
		better, of, paper := 0, 0, true
		for _, kernel := range kernels {
			a, b := experiment.Pairs(eeg(e, kernel, pl), eeg(e, kernel, vfe))
			for i := range a {
				paper = paper && a[i].PaperRecording
				if of++; nmse(a[i]) < nmse(b[i]) && a[i].MSE.Fresh < b[i].MSE.Fresh {
					better++
				}
			}
			if len(a) > 0 {
				r.Ours += fmt.Sprintf(", %s %.3f and %.3f", kernel, median(experiment.Values(a, nmse)), median(experiment.Values(b, nmse)))
			}
		}
		r.found("PL is better in %d of %d pairs of kernel and sample; NMSE of PL and VFE by the exact posterior, medians: %s", better,
			of, trimmed(r.Ours))
		if r.Status = pick(better == of, Reproduced, NotReproduced); !paper {
			r.found("of another recording, %s", r.Ours)
		}
		if of == 0 {
			r.Status = ""
		}
	},
	"e3-cost": func(e *experiment.Evidence, r *Row) {
		const similar = 3 // times, either way
		near := true
		for _, kernel := range kernels {
			x := median(sunspotTimes(e, kernel))
			near = near && x < similar && x > 1.0/similar
			r.Ours += fmt.Sprintf(", %s ×%.2g", kernel, x)
		}
		r.found("dense time of PL over VFE's on the sunspots, medians: %s", trimmed(r.Ours))
		r.Status = pick(near, Reproduced, NotReproduced)
	},
	"infeasible": func(e *experiment.Evidence, r *Row) {
		const feasible = 600 // seconds
		trained, judged := 0, 0
		for _, kernel := range kernels {
			runs := slices.DeleteFunc(experiment.EEGRuns(e.EEG, experiment.GPPL, kernel, ml),
				func(o experiment.Outcome) bool { return o.MSE == nil })
			if len(runs) == 0 {
				continue
			}
			if judged++; runs[0].Seconds() < feasible && runs[0].Status == "converged" {
				trained++
			}
			r.Ours += fmt.Sprintf(", %s %s s (%s)", kernel, number(runs[0].Seconds()), runs[0].Status)
		}
		r.found("ML trained at n = 8000 to its optimum within %d minutes for %d of %d kernels: %s", feasible/60, trained, judged,
			trimmed(r.Ours))
		if judged > 0 {
			r.Status = pick(trained == 0, Reproduced, Corrected)
		}
	},
	"notebook": func(e *experiment.Evidence, r *Row) {
		same, worst := true, 0.0
		for _, kernel := range kernels {
			runs, want := experiment.Where(e.Sunspots, experiment.NotebookPL(kernel)), e.Published.Seed55.Of[kernel]
			if len(runs) == 0 || runs[0].Error != "" {
				return
			}
			o := runs[0]
			off := math.Abs(o.NLL/e.Published.NotebookDigits[kernel] - 1)
			worst = max(worst, off)
			same = same && off <= exactly && o.Evaluations-1 == want.Stop && math.Abs(o.Start-want.Start) <= 5e-5 &&
				math.Abs(o.StartNLL-e.Published.Initial.NLL[kernel]) <= 1e-4
			for i, v := range want.Theta { // known to six digits
				same = same && math.Abs(o.Theta[i]/v-1) <= 1e-4
			}
			steps := experiment.Evaluations(sunspots(e, kernel, ml))
			same = same && len(steps) > 0 && int(steps[0])-1 == e.Published.Logs.Stops[kernel][ml]
		}
		r.found("PL for four kernels within %.0e of what their notebook prints, with the same start, stop and learnt "+
			"parameters; ML starts and stops as theirs",
			worst)
		r.Status = pick(same, Reproduced, NotReproduced)
	},
}

// figureDesigns are the designs of Figure 1; its Localised runs over the index of unsorted times.
var figureDesigns = []string{"sphere", "localised_unsorted", "onehot"}

var designNames = map[string]string{"sphere": "Sphere", "localised_unsorted": "Localised", "onehot": "One-hot"}

// traceLeft is the median of tr Σ over draws, as Figure 1 has it; NaN if it is not stored.
func traceLeft(v numbers, design string, k int) float64 {
	return v.at(fmt.Sprintf("spectrum.figure_1.%s.k%d.figure.median", design, k))
}

// optimisers are those of E1.
var optimisers = []string{"Adam", "BFGS"}

// logNats is the logarithm of a difference in nats; far below what counts as the same NLL, all differences are alike.
func logNats(x float64) float64 { return math.Log(max(x, 0.01*sameNLL)) }

// timeRatios returns, for each n of E2, the median of PL's dense time divided by VFE's at k = m = 150.
func timeRatios(e *experiment.Evidence) (sizes, ratio []float64) {
	for _, n := range experiment.E2Sizes(scales.Full) {
		if x := median(e2Times(e, n, 150)); !math.IsNaN(x) {
			sizes, ratio = append(sizes, float64(n)), append(ratio, x)
		}
	}
	return sizes, ratio
}
