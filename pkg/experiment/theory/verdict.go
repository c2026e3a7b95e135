package theory

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Verdict is a statement of the paper, or about its code, with what was found. Its status follows from stored numbers; it is "not
// run" if they are missing.
type Verdict struct {
	ID, Notebook string
	Where        string // section or equation
	Statement    string
	Found        string
	Status       string // one of the statuses below
	Test         string // the criterion, and on how many cases it was tested
	Overturn     string // what would change it
	Of           string // the statement of which this is a further case, if any
}

// The statuses, as in packages experiment and viz.
const (
	reproduced   = "reproduced"
	corrected    = "corrected"
	contradicted = "contradicted"
	notRun       = "not run"
	found        = "found" // a statement of this project, confirmed by measurement
	notFound     = "not found"
)

//go:embed statements.json
var statementsJSON []byte

// texts are the entries of statements.json by ID: verdicts without what was found.
var texts = func() map[string]Verdict {
	var all []Verdict
	if err := json.Unmarshal(statementsJSON, &all); err != nil {
		panic("theory: statements.json: " + err.Error())
	}
	byID := map[string]Verdict{}
	for _, v := range all {
		byID[v.ID] = v
	}
	return byID
}()

// statement is how a statement of statements.json is judged: the numbers that it needs, and the rule.
type statement struct {
	id    string
	needs []string
	judge func(r Results) (found, status string)
}

// Verdicts judges every statement by the results.
func Verdicts(r Results) (all []Verdict) {
	for _, s := range append(theoremStatements(), spectrumStatements(r)...) {
		v := texts[s.id]
		v.Found, v.Status = "nothing is stored", notRun
		if r.has(s.needs...) {
			v.Found, v.Status = s.judge(r)
		}
		all = append(all, v)
	}
	return all
}

// status returns yes if ok, else no.
func status(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

var parameters = []string{"variance", "lengthscale", "noise"}

// forParameters returns a name for each parameter.
func forParameters(format string) (all []string) {
	for _, p := range parameters {
		all = append(all, fmt.Sprintf(format, p))
	}
	return all
}

// values prints the numbers of all parameters.
func (r Results) values(format, number string) string {
	var all []string
	for i, name := range forParameters(format) {
		all = append(all, fmt.Sprintf(number+" (%s)", r[name], parameters[i]))
	}
	return strings.Join(all, ", ")
}

func (r Results) extremes(names []string) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, n := range names {
		least, most = min(least, r[n]), max(most, r[n])
	}
	return least, most
}

// deviations is how many standard errors a simulated entry may differ from its formula.
const deviations = 4.5

func theoremStatements() []statement {
	slopes := slices.Concat(forParameters("theorem.slope.noisy.%s.total"), forParameters("theorem.slope.noisy.%s.quadratic"),
		forParameters("theorem.slope.to_n.%s.total"))
	return []statement{
		{"score", []string{"theorem.score.worst_deviation", "theorem.score.draws", "theorem.loss.least_eigenvalue"},
			func(r Results) (string, string) {
				worst, least := r["theorem.score.worst_deviation"], r["theorem.loss.least_eigenvalue"]
				return fmt.Sprintf("over %.0f draws the variances of both scores and their covariance are I_Y, I_Z and I_Z, within "+
					"%.1f standard errors; ΔI as a matrix is positive (least eigenvalue %.2g of I_Y's scale)",
					r["theorem.score.draws"], worst, least), status(worst < deviations && least > -1e-12, reproduced, contradicted)
			}},
		{"loss-formula", []string{"theorem.routes.worst", "theorem.routes.cases"}, func(r Results) (string, string) {
			worst := r["theorem.routes.worst"]
			return fmt.Sprintf("agrees with I_Y − I_Z within %.1g of I_Y in %.0f cases", worst, r["theorem.routes.cases"]),
				status(worst < 1e-9, reproduced, contradicted)
		}},
		{"quadratic", slopes, func(r Results) (string, string) {
			lo, hi := r.extremes(forParameters("theorem.slope.noisy.%s.total"))
			qlo, qhi := r.extremes(forParameters("theorem.slope.noisy.%s.quadratic"))
			nlo, nhi := r.extremes(forParameters("theorem.slope.to_n.%s.total"))
			found := fmt.Sprintf("as Σ shrinks in norm, ΔI falls with its power %.3f to %.3f (1 is linear) and the first term "+
				"alone with %.3f to %.3f; as k → n, ΔI falls with %.2f to %.2f",
				lo, hi, qlo, qhi, nlo, nhi)
			if lo > 1.5 {
				return found, reproduced
			}
			return "ΔI = tr(K̄ΣK̄A) − ½tr((K̄Σ)²) is a quadratic polynomial in Σ. A remark: its leading term is linear, so " +
					"that the loss falls in proportion to Σ and not with its square: " + found,
				status(lo > 0.95 && hi < 1.05, reproduced, contradicted)
		}},
		{"corollary-1", []string{"theorem.k_equals_n.lost", "theorem.k_equals_n.off"}, func(r Results) (string, string) {
			lost, off := r["theorem.k_equals_n.lost"], r["theorem.k_equals_n.off"]
			return fmt.Sprintf("ΔI/I_Y is %.1g by the theorem's route, |I_Y − I_Z|/I_Y %.1g", lost, off),
				status(lost < 1e-20 && off < 1e-6, reproduced, contradicted)
		}},
		{"corollary-2", []string{"theorem.corollary2.mean", "theorem.corollary2.sd", "theorem.corollary2.kept",
			"theorem.corollary2.n", "theorem.corollary2.draws", "theorem.corollary2.sd_log_nll", "theorem.corollary2.sd_log_pl"},
			func(r Results) (string, string) {
				c := func(name string) float64 { return r["theorem.corollary2."+name] }
				found := fmt.Sprintf("over %.0f draws of n = %.0f, NLL − n·PL is %.2g ± %.3g (expected √(n(n−1)/2) = %.3g); the "+
					"projection keeps %.3g of the information, and log σ̂² spreads by %.2g where NLL has %.2g",
					c("draws"), c("n"), c("mean"), c("sd"), c("expected_sd"), c("kept"), c("sd_log_pl"), c("sd_log_nll"))
				switch inMean := math.Abs(c("mean")) < deviations*c("sd")/math.Sqrt(c("draws")); {
				case c("sd") < 1e-6:
					return found, reproduced
				case inMean:
					return found, corrected
				}
				return found, contradicted
			}},
		{"optimal-directions", slices.Concat([]string{"theorem.choice.eigen.trace", "theorem.choice.onehot.trace",
			"theorem.choice.all_data.stderr.noise"}, forParameters("theorem.choice.eigen.stderr.%s"),
			forParameters("theorem.choice.onehot.stderr.%s")), func(r Results) (string, string) {
			of := func(design, what string) float64 { return r["theorem.choice."+design+"."+what] }
			least, most := "eigen", "eigen"
			for _, d := range []string{"spectral", "localised", "sphere", "onehot"} {
				if of(d, "trace") < of(least, "trace") {
					least = d
				}
				if of(d, "stderr.noise") > of(most, "stderr.noise") {
					most = d
				}
			}
			found := fmt.Sprintf("the least trace is that of %s (%.4g; One-hot %.4g), with a standard error of the log noise of "+
				"%.3g, against %.3g with One-hot and %.3g from all data",
				designNames[least], of(least, "trace"), of("onehot", "trace"), of(least, "stderr.noise"),
				of("onehot", "stderr.noise"), of("all_data", "stderr.noise"))
			return found, status(least == "eigen" && most != "eigen", reproduced, contradicted)
		}},
		{"without-loss-of-generality", []string{"theorem.choice.sphere.commutator", "theorem.choice.eigen.commutator"},
			func(r Results) (string, string) {
				sphere, eigen := r["theorem.choice.sphere.commutator"], r["theorem.choice.eigen.commutator"]
				return fmt.Sprintf("Σ and A would commute; ‖ΣA − AΣ‖/‖ΣA‖ is %.2g for Sphere, %.1g for eigenvectors", sphere, eigen),
					status(sphere > 0.01 && eigen < 1e-6, contradicted, reproduced)
			}},
		{"trace-bounds", []string{"theorem.bounds.cases", "theorem.bounds.printed_violations", "theorem.bounds.corrected_violations"},
			func(r Results) (string, string) {
				cases, printed, ours := r["theorem.bounds.cases"], r["theorem.bounds.printed_violations"],
					r["theorem.bounds.corrected_violations"]
				found := fmt.Sprintf("violated as printed in %.0f of %.0f projections, with n − k eigenvalues in %.0f", printed, cases, ours)
				return found, status(printed == 0, reproduced, status(ours == 0, corrected, contradicted))
			}},
		{"positive-definite", []string{"theorem.definite.least_trace", "theorem.definite.least_matrix",
			"theorem.definite.least_asymmetry", "theorem.definite.eigenvalue"}, func(r Results) (string, string) {
			trace, matrix := r["theorem.definite.least_trace"], r["theorem.definite.least_matrix"]
			skew, e := r["theorem.definite.least_asymmetry"], r["theorem.definite.eigenvalue"]
			found := fmt.Sprintf("of the n×n matrices under the traces ‖T − Tᵀ‖/‖T‖ is %.2g or more, and the symmetric "+
				"parts have eigenvalues down to %.2g of the largest; the least trace is %.2g, and as matrices over the parameters the "+
				"terms have no eigenvalue below %.1g",
				skew, e, trace, matrix)
			return found, status(skew < 1e-6 && e > -1e-9, reproduced, status(trace >= 0 && matrix > -1e-12, corrected, contradicted))
		}},
	}
}

// designNames are the names of designs by their part of a key.
var designNames = map[string]string{
	"sphere": "Sphere", "localised": "Localised", "localised_unsorted": "Localised", "onehot": "One-hot", "spectral": "Spectral",
	"eigen": "Eigen",
}

// figureDesigns are the designs of the paper's figure 1; its Localised runs over the index of unsorted observations.
var figureDesigns = []string{"sphere", "localised_unsorted", "onehot"}

func spectrumStatements(r Results) (all []statement) {
	name := func(design string, k float64, what string) string {
		return fmt.Sprintf("spectrum.figure_1.%s.k%.0f.%s", design, k, what)
	}
	ks := []float64{r["spectrum.k.0"], r["spectrum.k.1"], r["spectrum.k.2"]}
	var traces []string
	for _, k := range ks {
		for _, d := range append([]string{"localised", "spectral", "eigen"}, figureDesigns...) {
			traces = append(traces, name(d, k, "figure.median"))
		}
	}
	list := func(k float64, designs []string) string {
		var parts []string
		for _, d := range designs {
			parts = append(parts, fmt.Sprintf("%s %.4g", designNames[d], r[name(d, k, "figure.median")]))
		}
		return fmt.Sprintf("k = %.0f: %s", k, strings.Join(parts, ", "))
	}
	perK := func(designs []string) string {
		var parts []string
		for _, k := range ks {
			parts = append(parts, list(k, designs))
		}
		return strings.Join(parts, "; ")
	}
	// always reports whether, for every k, Sphere's trace is the smallest of the designs or within 2 % of it, and One-hot's the
	// largest.
	always := func(designs []string) bool {
		for _, k := range ks {
			of := make([]float64, len(designs))
			for i, d := range designs {
				of[i] = r[name(d, k, "figure.median")]
			}
			if r[name("sphere", k, "figure.median")] > 1.02*slices.Min(of) || r[name("onehot", k, "figure.median")] < slices.Max(of) {
				return false
			}
		}
		return true
	}
	sorted := []string{"sphere", "localised", "onehot"}
	stderrs := func(k float64) (names []string) {
		for _, d := range []string{"sphere", "onehot", "localised", "spectral"} {
			for _, p := range parameters {
				names = append(names, name(d, k, "stderr."+p+".median"))
			}
		}
		return names
	}
	return []statement{
		{"traces-fall", append(traces, "spectrum.trace"), func(r Results) (string, string) {
			worst := 0.0
			for _, t := range traces {
				worst = max(worst, r[t]/r["spectrum.trace"])
			}
			return fmt.Sprintf("tr K = %.0f; %s", r["spectrum.trace"], perK(sorted)), status(worst < 0.5, reproduced, contradicted)
		}},
		{"sphere-best", traces, func(r Results) (string, string) {
			asDrawn, asMeant := always(figureDesigns), always(sorted)
			found := "as drawn, with Localised bumps over the index of unsorted observations: " + perK(figureDesigns) +
				". With bumps over x: " + perK([]string{"localised"})
			return found, status(asMeant, reproduced, status(asDrawn, corrected, contradicted))
		}},
		{"repulsive", []string{fmt.Sprintf("spectrum.repulsive.k%.0f.span", ks[2]),
			fmt.Sprintf("spectrum.repulsive.k%.0f.information", ks[2]), fmt.Sprintf("spectrum.repulsive.k%.0f.drawn", ks[2])},
			func(r Results) (string, string) {
				at := func(what string) float64 { return r[fmt.Sprintf("spectrum.repulsive.k%.0f.%s", ks[2], what)] }
				found := fmt.Sprintf("equal to Sphere in distribution: the repulsion multiplies Ω from the right by a matrix that depends "+
					"on ΩᵀΩ alone, so that the span of the first k of the 400 vectors of the authors' code is uniform, as Sphere's is. "+
					"Where k vectors alone repel each other the span is Sphere's draw by draw: %.1g apart (1 is at right angles), I_Z %.1g, "+
					"though the directions moved by %.2g",
					at("span"), at("information"), at("drawn"))
				return found, status(at("span") < 1e-9, corrected, reproduced)
			}},
		{"sphere-chosen", stderrs(ks[1]), func(r Results) (string, string) {
			best := true
			var parts []string
			for _, p := range parameters {
				of := func(d string) float64 { return r[name(d, ks[1], "stderr."+p+".median")] }
				best = best && of("sphere") <= 1.05*min(of("onehot"), of("localised"), of("spectral"))
				parts = append(parts, fmt.Sprintf("%s %.3g (One-hot %.3g, Localised %.3g, Spectral %.3g)",
					p, of("sphere"), of("onehot"), of("localised"), of("spectral")))
			}
			ratios := r.values(fmt.Sprintf("spectrum.figure_1.sphere_over_onehot.k%.0f.information.%%s", ks[1]), "%.2g")
			return fmt.Sprintf("standard errors of the logs with Sphere at k = %.0f: %s. The information of Sphere over that "+
					"of One-hot, a random subset of the data: %s",
					ks[1], strings.Join(parts, "; "), ratios),
				status(best, notFound, found)
		}},
		{"eigen-noise", []string{shortName("eigen", ks[1]), shortName("sphere", ks[1]), shortName("onehot", ks[1]),
			"spectrum.short.all.stderr.noise.median"}, func(r Results) (string, string) {
			eigen, sphere, onehot, exact := r[shortName("eigen",
				ks[1])], r[shortName("sphere", ks[1])], r[shortName("onehot", ks[1])], r["spectrum.short.all.stderr.noise.median"]
			return fmt.Sprintf("standard error of the log noise: %.3g with them, %.3g with Sphere, %.3g with One-hot, %.2g "+
					"from all data",
					eigen, sphere, onehot, exact),
				status(eigen <= min(sphere, onehot), reproduced, contradicted)
		}},
	}
}

func shortName(design string, k float64) string {
	return fmt.Sprintf("spectrum.short.%s.k%.0f.stderr.noise.median", design, k)
}
