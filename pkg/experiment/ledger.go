package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Status is the verdict on a published number or claim. Each is defined here, once;
// scripts/report/ledger.py and docs/reproducing.md repeat the definitions for readers.
type Status string

const (
	Exactly       Status = "reproduced exactly" // the same number, to a millionth, from the same random numbers
	Reproduced    Status = "reproduced"         // within the tolerance that the row states, for what is not random
	Within        Status = "within the spread"  // random, and no test distinguishes the published number from another draw of ours
	Order         Status = "order reproduced"   // the same one of two times is shorter; the factor depends on machine and library
	Corrected     Status = "corrected"          // it holds once an error is corrected, or with a setting that the paper does not state
	Contradicted  Status = "contradicted"       // measurement says otherwise, by the test that the row states
	NotComparable Status = "not comparable"     // other data or another machine
	Better        Status = "better"             // what this project adds
	NotRun        Status = "not run"            // nothing is stored to judge it by
)

// Statuses are all of them, in the order of a summary.
var Statuses = []Status{Exactly, Reproduced, Within, Order, Corrected, Contradicted, NotComparable, Better, NotRun}

// Row is one published number or claim, beside what was found.
type Row struct {
	ID        string `json:"id"`
	Group     string `json:"group"`
	Claim     string `json:"claim"`
	Published string `json:"published"`
	Ours      string `json:"ours"`
	Tolerance string `json:"tolerance"` // what counts as the same, or the test that tells it from chance
	Status    Status `json:"status"`
	Why       string `json:"why"`
	Notebook  string `json:"notebook"`

	Test *Test `json:"test,omitempty"` // of what is random
}

// The groups of the ledger, in their order.
const (
	GroupTheory      = "The theorem and the choice of projections"
	GroupExperiments = "The conclusions from the experiments"
	GroupText        = "Statements of the text"
	GroupCode        = "Details of the authors' code that the paper does not mention"
	GroupBetter      = "Beyond the paper"
	GroupTable1      = "Table 1 (E1), number by number"
	GroupFigures     = "Figures 1 and 2, number by number"
	GroupFigure3     = "Figure 3 (E2), number by number"
	GroupTable2      = "Table 2 (sunspots), number by number"
	GroupNotebook    = "The authors' notebooks on the sunspots, number by number"
	GroupTable3      = "Table 3 (EEG), number by number"
	GroupLog         = "Other output of the authors' notebooks, number by number"
)

// draft is a row whose verdict may still depend on how many rows are tested: Status is what a rejection makes of it, and why has the
// text for each status.
type draft struct {
	Row
	why map[Status]string
}

// Ledger returns every published number and every claim in words, with the status that follows from the evidence. The tests of all
// rows are corrected for their number by Holm's method: what they do not reject at Level is within the spread.
func Ledger(e *Evidence) []Row {
	drafts := slices.Concat(claims(e), table1(e), figures(e), figure3(e), table2(e), authorsNotebook(e), table3(e), logs(e))
	var p []float64
	for _, d := range drafts {
		if d.Test != nil {
			p = append(p, d.Test.P)
		}
	}
	corrected := holm(p)
	rows := make([]Row, len(drafts))
	for i, d := range drafts {
		if d.Test != nil {
			d.Test.Holm, corrected = corrected[0], corrected[1:]
			if d.Status != NotRun && d.Test.Holm >= Level && (d.Status == Contradicted || d.Status == Corrected && d.why[Within] != "") {
				d.Status, d.Why = Within, ""
			}
			verdict := fmt.Sprintf("%s, n = %d: p = %.2g, corrected for all rows %.2g, level %g %%", d.Test.Name, d.Test.N, d.Test.P, d.Test.Holm, 100*Level)
			d.Tolerance = strings.TrimPrefix(d.Tolerance+"; "+verdict, "; ")
		}
		if w, ok := d.why[d.Status]; ok {
			d.Why = w
		}
		rows[i] = d.Row
	}
	return rows
}

// Summary says in a few sentences how many of the rows have which status, and what chance may have to do with it.
func Summary(rows []Row) string {
	count := map[Status]int{}
	tested, small, rejected := 0, 0, 0
	for _, r := range rows {
		count[r.Status]++
		if r.Test == nil {
			continue
		}
		tested++
		if r.Test.P < Level {
			small++
		}
		if r.Test.Holm < Level {
			rejected++
		}
	}
	var parts []string
	for _, s := range Statuses {
		if count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	text := fmt.Sprintf("%d rows: %s.", len(rows), strings.Join(parts, ", "))
	if tested > 0 {
		text += fmt.Sprintf(" %d rows are random and tested. One by one at %.0f %%, %.1f would be rejected by chance if all were true, and %d are; corrected for their number (Holm), %d are, of which at most %.2f are expected by chance.",
			tested, 100*Level, Level*float64(tested), small, rejected, Level)
	}
	return text
}

// interval is the range of some values.
type interval struct{ lo, hi float64 }

func rangeOf(v []float64) interval {
	in := interval{math.Inf(1), math.Inf(-1)}
	for _, x := range v {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			in = interval{min(in.lo, x), max(in.hi, x)}
		}
	}
	return in
}

func (i interval) empty() bool { return !(i.lo <= i.hi) }

// among judges a published number that is one draw against ours over draws. Numbers that vary by factors are compared by their
// logarithms.
func among(r Row, published float64, ours []float64, unit string) draft {
	in, test := rangeOf(ours), prediction(published, ours, true)
	if in.empty() || test == nil {
		r.Status, r.Why = NotRun, "nothing is stored, or one draw"
		return draft{r, map[Status]string{}}
	}
	r.Ours = fmt.Sprintf("%s [%s, %s] %s over %d draws", number(median(ours)), number(in.lo), number(in.hi), unit, len(ours))
	r.Test, r.Status = test, Contradicted
	side := "above"
	if published < median(ours) {
		side = "below"
	}
	return draft{r, map[Status]string{Contradicted: fmt.Sprintf("the published figure lies %s what ours give", side)}}
}

// drawn judges a published NLL of a draw that is not ours.
func drawn(r Row, published float64, ours []float64) draft {
	test := prediction(published, ours, false)
	if test == nil {
		r.Status, r.Why = NotRun, "nothing is stored, or one draw"
		return draft{Row: r}
	}
	mean, sd := stat.MeanStdDev(finite(ours), nil)
	r.Ours = fmt.Sprintf("%s ± %s nats over %d draws, z = %.1f", number(mean), number(sd), len(ours), zScore(published, ours))
	r.Test, r.Status, r.Why = test, Contradicted, "draws of the stated model do not give it"
	return draft{Row: r}
}

// ratio judges a published ratio of times against the median of ours. Its order may be reproduced; the factor is of a machine and of
// a library, theirs PyTorch on a MacBook Pro M3, ours Go.
func ratio(r Row, published float64, ours []float64) draft {
	m := median(ours)
	if math.IsNaN(m) {
		r.Status, r.Why = NotRun, "no times are stored"
		return draft{Row: r}
	}
	r.Published, r.Ours, r.Tolerance = fmt.Sprintf("%.2g", published), fmt.Sprintf("%.2g", m), "the same one of the two is faster"
	if (published < 1) == (m < 1) {
		r.Status, r.Why = Order, "factor not comparable: another machine and library"
	} else {
		r.Status, r.Why = NotComparable, "the order depends on machine and library: with our dense arithmetic it is reversed"
	}
	return draft{Row: r}
}

// seconds is the row of a time that has no other to be compared with.
func seconds(r Row, published float64, ours []float64) draft {
	r.Published = fmt.Sprintf("%.3g s", published)
	r.Status, r.Why = NotComparable, "another machine (a MacBook Pro M3) and library; times are compared as ratios"
	if m := median(ours); !math.IsNaN(m) {
		r.Ours = fmt.Sprintf("%.2g s", m)
	} else {
		r.Status, r.Why = NotRun, "no times are stored"
	}
	return draft{Row: r}
}

// number prints five significant digits or so.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e5:
		return fmt.Sprintf("%.2g", v)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

var methodNames = []string{ML, VFE, PL}

func table1(e *Evidence) (rows []draft) {
	for _, optimiser := range []string{"BFGS", "Adam"} {
		dense := func(loss string) []float64 { return Values(Where(e.E1, E1By(optimiser, loss)), Outcome.Seconds) }
		for _, loss := range methodNames {
			p, ml := e.Published.E1[optimiser][loss], e.Published.E1[optimiser][ML]
			ours := Where(e.E1, NotebookE1(optimiser, loss))
			r := Row{ID: fmt.Sprintf("table1-%s-%s-nll", optimiser, loss), Group: GroupTable1, Notebook: "05-E1"}
			if loss == ML {
				r.Claim, r.Published = fmt.Sprintf("NLL of ML, %s", optimiser), fmt.Sprintf("%.1f nats", p.NLL)
				rows = append(rows, drawn(r, p.NLL, NLLs(ours)))
			} else {
				r.Claim = fmt.Sprintf("NLL of %s above ML's, %s (%.1f − %.1f)", loss, optimiser, p.NLL, ml.NLL)
				r.Published = fmt.Sprintf("%.1f nats", p.NLL-ml.NLL)
				d := among(r, p.NLL-ml.NLL, Excess(e.E1, ours), "nats")
				switch loss {
				case VFE:
					d = orderForty(e, d, optimiser, p.NLL-ml.NLL)
				case PL:
					d.why[Within] = fmt.Sprintf("k = 40 Repulsive directions of their notebook; %d of %d draws end nearer to ML than the published one", below(Excess(e.E1, ours), p.NLL-ml.NLL), len(ours))
				}
				rows = append(rows, d)
			}
			t := Row{ID: fmt.Sprintf("table1-%s-%s-time", optimiser, loss), Group: GroupTable1, Notebook: "05-E1"}
			if loss == ML {
				t.Claim = fmt.Sprintf("time of ML, %s", optimiser)
				rows = append(rows, seconds(t, p.Seconds, dense(ML)))
				continue
			}
			t.Claim = fmt.Sprintf("time of %s over ML's, %s (%.3g s / %.3g s)", loss, optimiser, p.Seconds, ml.Seconds)
			rows = append(rows, ratio(t, p.Seconds/ml.Seconds, quotients(dense(loss), dense(ML))))
		}
	}
	return rows
}

// orderForty makes of VFE's row in Table 1 a correction, if the published figure is one of m = 40 and not of the m = 100 of the text.
func orderForty(e *Evidence, d draft, optimiser string, published float64) draft {
	if d.Status == NotRun {
		return d
	}
	hundred := Excess(e.E1, Where(e.E1, E1By(optimiser, VFE)))
	d.Ours = fmt.Sprintf("m = 40: %s; m = 100: %s", d.Ours, number(median(hundred)))
	if d.Test.P >= Level && published > rangeOf(hundred).hi {
		d.Status = Corrected
		d.why[Corrected] = "the figure was made with m = 40, which the notebook sets (Experiment 1, cell 3), not with the m = 100 of the text; with 100 inducing inputs, half a lengthscale apart, VFE reaches ML's optimum"
	}
	return d
}

// below counts the numbers below x.
func below(v []float64, x float64) (count int) {
	for _, y := range v {
		if y < x {
			count++
		}
	}
	return count
}

// quotients divides a by b, seed by seed; if there is one of b it is that of all.
func quotients(a, b []float64) []float64 {
	q := make([]float64, 0, len(a))
	for i := range a {
		switch {
		case i < len(b):
			q = append(q, a[i]/b[i])
		case len(b) == 1:
			q = append(q, a[i]/b[0])
		}
	}
	return q
}

func figure3(e *Evidence) (rows []draft) {
	dense := func(n, order int, loss string) []float64 {
		return Values(Where(e.E2, E2By(Paper, loss, n, order)), func(o Outcome) float64 { return DenseSeconds(e.E2, o) })
	}
	ml := map[int]E2Figure{}
	for _, p := range e.Published.E2 {
		if p.Method == ML {
			ml[p.N] = p
		}
	}
	for _, p := range e.Published.E2 {
		name := fmt.Sprintf("%s, n = %d", p.Method, p.N)
		if p.Order > 0 {
			name = fmt.Sprintf("%s %d, n = %d", p.Method, p.Order, p.N)
		}
		r := Row{ID: fmt.Sprintf("figure3-%d-%s-%d-nll", p.N, p.Method, p.Order), Group: GroupFigure3, Notebook: "06-E2"}
		t := Row{ID: fmt.Sprintf("figure3-%d-%s-%d-time", p.N, p.Method, p.Order), Group: GroupFigure3, Notebook: "06-E2"}
		if p.Method == ML {
			r.Claim, r.Published = "NLL of "+name, fmt.Sprintf("%.1f nats", p.NLL)
			rows = append(rows, noiseOfDraws(r, p.NLL, NLLs(Where(e.E2, E2By(GPPL, ML, p.N, 0))), NLLs(Where(e.E2, E2Stated(GPPL, ML, p.N, 0)))))
			t.Claim = "time of " + name
			rows = append(rows, seconds(t, p.Seconds, dense(p.N, 0, ML)))
			continue
		}
		excess := p.NLL - ml[p.N].NLL
		r.Claim = fmt.Sprintf("NLL of %s, above ML's", name)
		r.Published = fmt.Sprintf("%.1f nats", excess)
		d := among(r, excess, Excess(e.E2, Where(e.E2, E2By(Paper, p.Method, p.N, p.Order))), "nats")
		if p.Method == VFE && p.Order == 150 {
			d = numericalFailure(e, d, p, excess)
		}
		rows = append(rows, d)
		t.Claim = fmt.Sprintf("time of %s, over ML's", name)
		rows = append(rows, ratio(t, p.Seconds/ml[p.N].Seconds, quotients(dense(p.N, p.Order, p.Method), dense(p.N, 0, ML))))
	}
	return rows
}

// noiseOfDraws judges ML's NLL by draws with the noise variance of the authors' data, beside that of the text.
func noiseOfDraws(r Row, published float64, ours, stated []float64) draft {
	d := drawn(r, published, ours)
	if d.Status == NotRun || len(stated) < 2 {
		return d
	}
	z := zScore(published, stated)
	d.Ours = fmt.Sprintf("noise variance ln 1.1: %s; 0.1: z = %.1f", d.Ours, z)
	if prediction(published, stated, false).P < Level && d.Test.P >= Level/10 {
		d.Status = Corrected
		d.Tolerance = "corrected if 0.1 is rejected at 5 % and ln 1.1 is not at 0.5 %; this rule was chosen after the draws had been seen"
		d.Why = "the authors' data have the noise variance ln 1.1 = 0.0953, not 0.1: log 0.1 passes through softplus (gp.py, lines 338 and 348), a fact of their code that does not depend on our draws"
	}
	return d
}

// LoggedFailures are the failed factorisations that the authors' notebook of E2 logs, all of VFE with m = 150, by n.
var LoggedFailures = map[int]int{500: 10394, 1000: 4542, 1500: 968, 2000: 7021, 3000: 0, 4000: 827}

// singleDraws is how many draws in single precision were seen when the rule of numericalFailure was chosen. Higher ones confirm it.
const singleDraws = 2

// numericalFailure makes of VFE's row a correction, if double precision does not give the published figure, the authors' log has
// failed factorisations by the thousand there, and single precision makes factorisations of ours fail, too, on draws that were made
// after this rule had been chosen.
func numericalFailure(e *Evidence, d draft, p E2Figure, published float64) draft {
	if d.Status == NotRun {
		return d
	}
	failing, of, confirming, later := 0, 0, 0, 0
	for _, n := range E2Sizes(Full) {
		for _, o := range Where(e.E2, E2Single(n, p.Order)) {
			of++
			if o.Trial.Source.Seed > singleDraws {
				later++
			}
			if o.Retries > 100 {
				failing++
				if o.Trial.Source.Seed > singleDraws {
					confirming++
				}
			}
		}
	}
	reached := false // in single precision
	if single := Where(e.E2, E2Single(p.N, p.Order)); len(single) > 0 {
		x := Excess(e.E2, single)
		reached = rangeOf(x).hi >= published
		in := rangeOf(x)
		failed := Values(single, func(o Outcome) float64 { return float64(o.Retries) })
		d.Ours += fmt.Sprintf("; in single precision %s [%s, %s] over %d draws, with %.0f to %.0f failed factorisations", number(median(x)), number(in.lo), number(in.hi), len(x), rangeOf(failed).lo, rangeOf(failed).hi)
	}
	if LoggedFailures[p.N] > 1000 {
		d.Tolerance = fmt.Sprintf("corrected if double precision is rejected at 5 %% in this row alone, the authors' log has more than 1000 failed factorisations here, and runs of ours in single precision fail. "+
			"This rule was chosen after draws 1 to 3 in double and %d draws in single precision had been seen; it is judged on draws 11 to 13, and on later runs in single precision (%d of %d fail by the thousand)", singleDraws, confirming, later)
	}
	if d.Test.P < Level && published > 0 && confirming > 0 && LoggedFailures[p.N] > 1000 {
		d.Status = Corrected
		d.Why = fmt.Sprintf("a numerical failure, not a property of VFE: squared distances of x near 1000 cancel in single precision. The authors' log has %d failed factorisations here, and the loss rises where they begin. Computed the same way, %d of our %d runs at m = 150 fail by the thousand", LoggedFailures[p.N], failing, of)
		if !reached {
			d.Why += ", but those at this n do not reach the published figure"
		}
	} else if LoggedFailures[p.N] > 1000 {
		d.why[Within] = fmt.Sprintf("the authors' log has %d failed factorisations here, but on new draws double precision does not exclude the published figure", LoggedFailures[p.N])
	}
	return d
}

// optimumTolerance is how far from the minimum a published ML may be: the paper prints three decimals and stops early.
const optimumTolerance = 0.02

// closeTo is how near one of our VFE runs must come to a published one, in nats: k-means starts elsewhere, and both stop early.
const closeTo = 15

func table2(e *Evidence) (rows []draft) {
	for _, kernel := range KernelNames {
		published := e.Published.Sunspots[kernel]
		rows = append(rows, draft{Row: sunspotML(e, kernel, published[ML])}, draft{Row: sunspotVFE(e, GroupTable2, "table2", kernel, published[VFE].NLL)}, sunspotPL(e, kernel, published[PL].NLL))
		dense := func(loss string) []float64 {
			return Values(Where(e.Sunspots, SunspotsBy(Paper, kernel, loss, Authors{})), func(o Outcome) float64 { return DenseSeconds(e.Sunspots, o) })
		}
		for _, loss := range methodNames {
			t := Row{ID: fmt.Sprintf("table2-%s-%s-time", kernel, loss), Group: GroupTable2, Notebook: "07-E3-sunspots"}
			if loss == ML {
				t.Claim = fmt.Sprintf("time of ML, %s", kernel)
				rows = append(rows, seconds(t, published[ML].Seconds, dense(ML)))
				continue
			}
			t.Claim = fmt.Sprintf("time of %s over ML's, %s", loss, kernel)
			rows = append(rows, ratio(t, published[loss].Seconds/published[ML].Seconds, quotients(dense(loss), dense(ML))))
		}
	}
	return rows
}

func sunspotML(e *Evidence, kernel string, p Figure) Row {
	r := Row{
		ID: "table2-" + kernel + "-ML-nll", Group: GroupTable2, Claim: "NLL of ML, " + kernel, Notebook: "07-E3-sunspots",
		Published: fmt.Sprintf("%.3f nats", p.NLL), Tolerance: fmt.Sprintf("%.2f nats", optimumTolerance),
	}
	ours := NLLs(Where(e.Sunspots, SunspotsBy(GPPL, kernel, ML, Authors{})))
	if len(ours) == 0 {
		r.Status, r.Why = NotRun, "nothing is stored"
		return r
	}
	r.Ours = fmt.Sprintf("%.3f nats", ours[0])
	switch {
	case math.Abs(ours[0]-p.NLL) <= optimumTolerance:
		r.Status = Reproduced
	case ours[0] < p.NLL:
		r.Status, r.Why = Corrected, "the published figure is not the optimum, at best a local one: L-BFGS from the same start ends lower"
	default:
		r.Status, r.Why = Contradicted, "the published figure is lower than any that we reach"
	}
	return r
}

// sunspotVFE asks which of the two VFE the published figure is of: the proper one, or that with the noise in K_uu.
func sunspotVFE(e *Evidence, group, prefix, kernel string, published float64) Row {
	r := Row{
		ID: fmt.Sprintf("%s-%s-VFE-nll", prefix, kernel), Group: group, Claim: "NLL of VFE, " + kernel, Notebook: "07-E3-sunspots",
		Published: fmt.Sprintf("%.3f nats", published), Tolerance: fmt.Sprintf("within %d nats of one of our runs", closeTo),
	}
	near := func(a ...Authors) (nearest float64) {
		nearest = math.Inf(1)
		for _, a := range a {
			for _, protocol := range []string{Paper, GPPL} {
				for _, v := range NLLs(Where(e.Sunspots, SunspotsBy(protocol, kernel, VFE, a))) {
					if math.Abs(v-published) < math.Abs(nearest-published) {
						nearest = v
					}
				}
			}
		}
		return nearest
	}
	proper := near(Authors{}, Authors{Repel: true})
	noisy := near(Authors{NoiseInGram: true}, Authors{NoiseInGram: true, Repel: true})
	if math.IsInf(proper, 1) || math.IsInf(noisy, 1) {
		r.Status, r.Why = NotRun, "nothing is stored"
		return r
	}
	r.Ours = fmt.Sprintf("proper %.1f, noise in K_uu %.1f nats", proper, noisy)
	isProper, isNoisy := math.Abs(proper-published) <= closeTo, math.Abs(noisy-published) <= closeTo
	switch {
	case isProper && (kernel == "SE" || !isNoisy):
		r.Status, r.Why = Reproduced, "with the method as published by Titsias"
	case isNoisy && !isProper:
		r.Status, r.Why = Corrected, "explained by the noise variance that the authors' code adds to K_uu, not by VFE itself"
	case isProper && isNoisy:
		r.Status, r.Why = Reproduced, "by both"
	default:
		r.Status, r.Why = Contradicted, "neither comes near"
	}
	return r
}

// sunspotPL judges Table 2's PL, of an Ω that is not known, by draws of Ω.
func sunspotPL(e *Evidence, kernel string, published float64) draft {
	ours := NLLs(Where(e.Sunspots, SunspotsBy(Paper, kernel, PL, Authors{})))
	d := among(Row{
		ID: fmt.Sprintf("table2-%s-PL-nll", kernel), Group: GroupTable2, Claim: "NLL of PL, " + kernel, Notebook: "07-E3-sunspots",
		Published: fmt.Sprintf("%.3f nats", published),
	}, published, excessOver(ours, optimumOf(e, kernel)), "nats")
	if d.Status != NotRun {
		in := rangeOf(ours)
		d.Ours = fmt.Sprintf("%s [%s, %s] nats over %d draws of Ω", number(median(ours)), number(in.lo), number(in.hi), len(ours))
		d.Test = prediction(published-optimumOf(e, kernel), excessOver(ours, optimumOf(e, kernel)), true)
		d.why[Within] = fmt.Sprintf("%d of %d draws of Ω end lower", below(ours, published), len(ours))
	}
	return d
}

// optimumOf is ML's NLL on the sunspots; of LocPer the best.
func optimumOf(e *Evidence, kernel string) float64 {
	ml := NLLs(Where(e.Sunspots, SunspotsBy(GPPL, kernel, ML, Authors{})))
	if len(ml) == 0 {
		return math.NaN()
	}
	return ml[0]
}

func excessOver(v []float64, optimum float64) []float64 {
	x := make([]float64, len(v))
	for i := range v {
		x[i] = v[i] - optimum
	}
	return x
}

// seed55 is what an independent run of the authors' code in Python gives to more digits than their notebook prints: PL before the
// first step, the exact NLL after the last, the step at which it stops, and what it learns.
var seed55 = map[string]struct {
	start, nll float64
	stop       int
	theta      []float64
}{
	"SE":      {141.8983, 1595.47238046, 80, []float64{1.07828, 2.19348, 0.117586}},
	"Laplace": {144.7203, 1932.05649517, 88, []float64{1.12255, 2.43238, 0.006509}},
	"RQ":      {140.6436, 1591.26842315, 86, []float64{1.07530, 2.18645, 201.43, 0.121402}},
	"LocPer":  {146.5957, 1585.76350991, 77, []float64{1.06545, 2.17590, 1.20569, 53.0894, 0.119166}},
}

// sameNumber is how near, relatively, a number of the same random numbers must come.
const sameNumber = 1e-6

// exactPL judges the notebook's PL column, whose Ω is known.
func exactPL(e *Evidence, kernel string, published float64) draft {
	r := Row{
		ID: fmt.Sprintf("notebook-%s-PL-nll", kernel), Group: GroupNotebook, Claim: "NLL of PL, " + kernel + ", with the Ω of NumPy's seed 55", Notebook: "07-E3-sunspots",
		Published: fmt.Sprintf("%.8f nats", published), Tolerance: fmt.Sprintf("%.0e of the number; the same start, stop step and learnt parameters", sameNumber),
	}
	ours := Where(e.Sunspots, NotebookPL(kernel))
	if len(ours) == 0 || ours[0].Error != "" {
		r.Status, r.Why = NotRun, "nothing is stored"
		return draft{Row: r}
	}
	o, spread := ours[0], NLLs(Where(e.Sunspots, SunspotsBy(Paper, kernel, PL, Authors{})))
	off := math.Abs(o.NLL/published - 1)
	in, want := rangeOf(spread), seed55[kernel]
	same := off <= sameNumber && math.Abs(o.NLL/want.nll-1) <= sameNumber && o.Evaluations-1 == want.stop && math.Abs(o.Start-want.start) <= 5e-5
	for i, v := range want.theta { // of which six digits are known
		same = same && math.Abs(o.Theta[i]/v-1) <= 1e-4
	}
	r.Ours = fmt.Sprintf("%.6f nats (%.0e off), from PL = %.4f at the start, stopped at step %d, learnt %.6g", o.NLL, off, o.Start, o.Evaluations-1, o.Theta)
	r.Why = fmt.Sprintf("one Ω for the whole column, because the code sets seed 55 at every evaluation (gp.py, line 478); over %d draws of Ω the NLL ranges from %s to %s", len(spread), number(in.lo), number(in.hi))
	if r.Status = Exactly; !same {
		r.Status, r.Why = Contradicted, "not with this Ω and these settings"
	}
	return draft{Row: r}
}

func authorsNotebook(e *Evidence) (rows []draft) {
	for _, kernel := range KernelNames {
		p := e.Published.Notebook[kernel]
		rows = append(rows, draft{Row: sunspotVFE(e, GroupNotebook, "notebook", kernel, p[VFE].NLL)}, exactPL(e, kernel, e.Published.NotebookDigits[kernel]))
		dense := func(loss string) []float64 {
			return Values(Where(e.Sunspots, SunspotsBy(Paper, kernel, loss, Authors{})), func(o Outcome) float64 { return DenseSeconds(e.Sunspots, o) })
		}
		t := Row{ID: "notebook-" + kernel + "-time", Group: GroupNotebook, Claim: "time of VFE over PL's, " + kernel, Notebook: "07-E3-sunspots"}
		rows = append(rows, ratio(t, p[VFE].Seconds/p[PL].Seconds, []float64{median(dense(VFE)) / median(dense(PL))}))

		r := Row{ID: "initial-" + kernel, Group: GroupNotebook, Claim: "NLL at the start (all parameters 1, noise variance ln 2), " + kernel, Notebook: "07-E3-sunspots",
			Published: fmt.Sprintf("%.4f nats", e.Published.Initial.NLL[kernel]), Tolerance: "1e-4 nats"}
		start, err := startAsAuthors(e, kernel)
		switch {
		case err != nil:
			r.Status, r.Why = NotRun, err.Error()
		case math.Abs(start-e.Published.Initial.NLL[kernel]) <= 1e-4:
			r.Ours, r.Status, r.Why = fmt.Sprintf("%.4f nats", start), Reproduced, "with the 1e-6 that their code adds to the diagonal"
		default:
			r.Ours, r.Status, r.Why = fmt.Sprintf("%.4f nats", start), Contradicted, "the model differs"
		}
		rows = append(rows, draft{Row: r})
	}
	return rows
}

// EEGBy returns the trials of the EEG by one protocol, kernel and loss.
func EEGBy(protocol, kernel, loss string) func(Trial) bool {
	return func(t Trial) bool {
		return plain(t) && t.Protocol == protocol && t.Kernel == kernel && t.Loss == loss
	}
}

func table3(e *Evidence) (rows []draft) {
	for _, kernel := range KernelNames {
		for _, loss := range []string{VFE, PL} {
			p := e.Published.EEG[kernel][loss]
			r := Row{
				ID: fmt.Sprintf("table3-%s-%s-nmse", kernel, loss), Group: GroupTable3, Notebook: "08-E3-EEG",
				Claim: fmt.Sprintf("normalised mean square error of %s, %s (printed as RMSE)", loss, kernel), Published: fmt.Sprintf("%.3f", p.NMSE),
			}
			ours := slices.DeleteFunc(Where(e.EEG, EEGBy(Paper, kernel, loss)), func(o Outcome) bool { return o.MSE == nil })
			if len(ours) == 0 {
				r.Status, r.Why = NotRun, "takes hours: GPPL_SLOW=1 runs it"
				rows = append(rows, draft{Row: r})
				continue
			}
			v := ours[0].MSE.NMSE // by the exact posterior, for VFE too, as the authors predict (Experiment 3, cell 17)
			r.Ours = fmt.Sprintf("%.3f", v)
			if !ours[0].PaperRecording {
				r.Status, r.Why = NotComparable, "ours is for another recording (eeg_burst_eg.edf): the paper's eeg27.edf was not available"
			} else if r.Tolerance = "10 %"; math.Abs(v/p.NMSE-1) <= 0.1 {
				r.Status = Reproduced
			} else {
				r.Status, r.Why = Contradicted, "on the same recording"
			}
			rows = append(rows, draft{Row: r})
		}
		v, p := e.Published.EEG[kernel][VFE], e.Published.EEG[kernel][PL]
		t := Row{ID: "table3-" + kernel + "-time", Group: GroupTable3, Claim: "time of VFE over PL's, " + kernel, Notebook: "08-E3-EEG", Published: fmt.Sprintf("%.2g", v.Seconds/p.Seconds)}
		vfe, pl := Where(e.EEG, EEGBy(Paper, kernel, VFE)), Where(e.EEG, EEGBy(Paper, kernel, PL))
		if len(vfe) > 0 && len(pl) > 0 && vfe[0].Error == "" && pl[0].Error == "" {
			t.Ours = fmt.Sprintf("%.2g", vfe[0].Seconds()/pl[0].Seconds())
			t.Status, t.Why = NotComparable, "our engines compute PL differently from the paper, and the dense path was not run at n = 8000"
		} else {
			t.Status, t.Why = NotRun, "takes hours: GPPL_SLOW=1 runs it"
		}
		rows = append(rows, draft{Row: t})
	}
	return rows
}
