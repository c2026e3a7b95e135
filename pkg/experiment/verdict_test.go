package experiment

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
)

// each outcome, changed by f where it matches.
func (e *Evidence) change(match func(Trial) bool, f func(*Outcome)) {
	for _, all := range e.experiments() {
		for i := range *all {
			if o := &(*all)[i]; match(o.Trial) {
				f(o)
			}
		}
	}
}

// mutations are changes of the evidence, each of which makes some false claims true, or some true ones false.
func mutations() map[string]func(*Evidence) {
	all := func(Trial) bool { return true }
	of := func(loss string) func(Trial) bool { return func(t Trial) bool { return t.Loss == loss } }
	m := map[string]func(*Evidence){
		"no factorisation fails":       func(e *Evidence) { e.change(all, func(o *Outcome) { o.Retries = 0 }) },
		"all NLL are equal":            func(e *Evidence) { e.change(all, func(o *Outcome) { o.NLL = 500 }) },
		"all starts are equal":         func(e *Evidence) { e.change(all, func(o *Outcome) { o.StartNLL, o.Start = 500, 500 }) },
		"all parameters are tiny":      func(e *Evidence) { e.change(all, func(o *Outcome) { scale(o.Theta, 1e-4) }) },
		"standard errors are tiny":     func(e *Evidence) { e.change(all, func(o *Outcome) { scale(o.StdErr, 1e-4) }) },
		"the figure shows no slip":     func(e *Evidence) { e.change(all, func(o *Outcome) { o.Figure2 = o.Exact }) },
		"variances are huge":           func(e *Evidence) { e.change(of(VFE), func(o *Outcome) { o.Variance *= 100 }) },
		"the recording is the paper's": func(e *Evidence) { e.change(all, func(o *Outcome) { o.PaperRecording = true }) },
		"nothing converged":            func(e *Evidence) { e.change(all, func(o *Outcome) { o.Status = "stalled" }) },
		"no point was seen before":     func(e *Evidence) { e.change(all, func(o *Outcome) { o.MSE = nil }) },
		"no held-out point was trained on": func(e *Evidence) {
			e.change(all, func(o *Outcome) {
				if o.MSE != nil {
					o.MSE = &Validation{RMSE: o.MSE.RMSE, NMSE: o.MSE.NMSE}
				}
			})
		},
		"VFE of the authors' code ends lower on the sunspots": func(e *Evidence) {
			e.change(NotebookVFE("LocPer"), func(o *Outcome) { o.NLL -= 27 })
		},
		"root mean square errors are printed": func(e *Evidence) {
			for kernel, by := range e.Published.Logs.EEGNorms {
				for loss := range by {
					by[loss] = math.Sqrt(2000) * e.Published.EEG[kernel][loss].NMSE
				}
			}
		},
		"nothing is stored": func(e *Evidence) { *e = Evidence{Published: e.Published, Theory: theory.Results{}} },
		"the theory finds nothing": func(e *Evidence) {
			for k := range e.Theory {
				e.Theory[k] = 0
			}
		},
		"the theory finds ones": func(e *Evidence) {
			for k := range e.Theory {
				e.Theory[k] = 1
			}
		},
		"the table has the time of the log": func(e *Evidence) { e.Published.E1["BFGS"][PL] = e.Published.Logs.E1Seconds[PL] },
		"set-up takes no time":              func(e *Evidence) { clear(e.Published.Logs.E2Setup) },
		"noise in K_uu does nothing": func(e *Evidence) {
			e.change(of(VFE), func(o *Outcome) {
				if o.Trial.Source.Name == "sunspots" {
					o.NLL = 1690
				}
			})
		},
		"repulsive is worse": func(e *Evidence) {
			e.change(func(t Trial) bool { return t.Design == PoolDesign }, func(o *Outcome) { o.NLL += 1e6 })
		},
		"the draw matters, not Ω": func(e *Evidence) {
			e.change(of(PL), func(o *Outcome) { o.NLL = 1000 * float64(o.Trial.Source.Seed) })
		},
		"stopped runs fail": func(e *Evidence) {
			e.change(func(t Trial) bool { return t.Loss == PL && t.Protocol == Paper }, func(o *Outcome) { o.Error = "failed" })
		},
		"the rule does not matter": func(e *Evidence) {
			e.change(func(t Trial) bool { return t.Optimiser.Tolerance < 1e-3 }, func(o *Outcome) { o.Evaluations = 1 })
		},
		"options matter": func(e *Evidence) {
			e.change(func(t Trial) bool { return t.Authors != Authors{} }, func(o *Outcome) { o.NLL += 30 })
		},
		"the theory is upside down": func(e *Evidence) {
			e.theory(func(string, float64) bool { return true }, func(v float64) float64 { return 1 / v })
		},
		"the theory is negative": func(e *Evidence) {
			e.theory(func(string, float64) bool { return true }, func(v float64) float64 { return -v })
		},
		"spectra are three times as large": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool {
				return strings.HasPrefix(k, "figure1.") && strings.HasSuffix(k, ".mean")
			}, func(v float64) float64 { return 9 * v })
		},
		"Sphere is best": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool { return strings.Contains(k, ".sphere.") }, func(v float64) float64 { return v / 1e6 })
		},
		"eigenvectors are best": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool { return strings.Contains(k, ".eigen.") && strings.Contains(k, "stderr") },
				func(v float64) float64 { return v / 1e6 })
		},
		"no trace falls": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool { return strings.Contains(k, "median") }, func(float64) float64 { return 1e5 })
		},
		"repelled vectors span something else": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool { return strings.HasSuffix(k, ".span") }, func(float64) float64 { return 0.5 })
		},
		"scores deviate": func(e *Evidence) {
			e.theory(func(k string, _ float64) bool { return strings.Contains(k, "worst") }, func(float64) float64 { return 100 })
		},
		"published PL and VFE end at ML": func(e *Evidence) {
			for _, table := range []map[string]map[string]Figure{e.Published.E1, e.Published.Sunspots} {
				for _, methods := range table {
					for _, name := range []string{VFE, PL} {
						f := methods[name]
						f.NLL = methods[ML].NLL
						methods[name] = f
					}
				}
			}
		},
		"set-up is quick": func(e *Evidence) {
			for _, by := range e.Published.Logs.E2Setup {
				for name := range by {
					by[name] = 1e-3
				}
			}
		},
		"VFE learns less noise": func(e *Evidence) { e.change(of(VFE), func(o *Outcome) { scale(o.Theta, 0.5) }) },
		"draws hardly differ": func(e *Evidence) {
			e.change(all, func(o *Outcome) {
				o.Figure2 = 5 + 1e-3*float64(o.Trial.Source.Seed)
				if o.Trial.Loss == ML {
					o.Figure2 = 1
				}
				for i := range o.Theta {
					o.Theta[i] = 1 + 1e-3*float64(o.Trial.Source.Seed)
				}
			})
		},
		"single precision alone ends higher": func(e *Evidence) {
			e.change(func(t Trial) bool { return t.Authors.Float32 && t.Loss == VFE },
				func(o *Outcome) { o.NLL, o.Retries = o.NLL+800, manyFailures })
		},
		"published numbers are ten times as large": func(e *Evidence) { e.Published.scale(10) },
		"published times are a hundredth":          func(e *Evidence) { e.Published.times(0.01) },
	}
	for _, loss := range []string{ML, VFE, PL, Auto, AutoProjected} {
		m[loss+" ends 1000 nats higher"] = func(e *Evidence) { e.change(of(loss), func(o *Outcome) { o.NLL += 1000 }) }
		m[loss+" ends 100 nats lower"] = func(e *Evidence) { e.change(of(loss), func(o *Outcome) { o.NLL -= 100 }) }
		m[loss+" takes a thousand times as long"] = func(e *Evidence) {
			e.change(of(loss), func(o *Outcome) { o.Fit *= 1000; o.Setup *= 1000; o.Evaluations *= 1000 })
		}
		m[loss+" takes no time"] = func(e *Evidence) {
			e.change(of(loss), func(o *Outcome) { o.Fit /= 1e4; o.Setup /= 1e4; o.Evaluations = 1 })
		}
		m[loss+" slows down with n"] = func(e *Evidence) {
			e.change(of(loss), func(o *Outcome) { o.Fit *= float64(o.Trial.Source.N * o.Trial.Source.N) })
		}
		m[loss+" does not slow down with n"] = func(e *Evidence) { e.change(of(loss), func(o *Outcome) { o.Fit = 1 }) }
	}
	return m
}

// copy returns evidence that can be changed without changing this one.
func (e *Evidence) copy(t *testing.T) *Evidence {
	t.Helper()
	p, err := LoadPublished()
	if err != nil {
		t.Fatal(err)
	}
	c := &Evidence{Published: p, Theory: maps.Clone(e.Theory)}
	for i, to := range c.experiments() {
		*to = slices.Clone(*e.experiments()[i])
		for i := range *to {
			o := &(*to)[i]
			o.Theta, o.StdErr = slices.Clone(o.Theta), slices.Clone(o.StdErr)
		}
	}
	return c
}

// theory changes the numbers of the theory that match.
func (e *Evidence) theory(match func(name string, value float64) bool, f func(float64) float64) {
	for k, v := range e.Theory {
		if match(k, v) {
			e.Theory[k] = f(v)
		}
	}
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

func (p *Published) scale(by float64) {
	for _, table := range []map[string]map[string]Figure{p.E1, p.Sunspots, p.Notebook, p.EEG} {
		for _, methods := range table {
			for name, f := range methods {
				methods[name] = Figure{by * f.NLL, by * f.NMSE, f.Seconds}
			}
		}
	}
	for i := range p.E2 {
		p.E2[i].NLL *= by
	}
	for _, v := range []map[string]float64{p.Initial.NLL, p.NotebookDigits, p.Logs.E2Start} {
		for k := range v {
			v[k] *= by
		}
	}
	for name, l := range p.Logs.E1 {
		l.Start *= by
		scale(l.Theta, by)
		p.Logs.E1[name] = l
	}
	for _, stops := range p.Logs.Stops {
		for loss := range stops {
			stops[loss] = 7
		}
	}
}

func (p *Published) times(by float64) {
	for _, table := range []map[string]map[string]Figure{p.E1, p.Sunspots, p.Notebook} {
		for _, methods := range table {
			for name, f := range methods {
				if name == ML || table["SE"][VFE] == f {
					continue
				}
				f.Seconds /= by
				methods[name] = f
			}
		}
	}
	for i := range p.E2 {
		if p.E2[i].Method == ML {
			p.E2[i].Seconds *= by
		}
	}
}

// computed are rows of identities, which depend on no evidence; TestIdentities moves them.
var computed = map[string]bool{"text-pl-nll": true, "text-transpose": true, "text-variable": true, "text-remark-1": true}

// TestNoVerdictIsFixed checks that for every row some change of the evidence, other than removing it, gives another status: a
// verdict that nothing can change says nothing.
func TestNoVerdictIsFixed(t *testing.T) {
	moved := map[string]string{}
	stored := evidence(t)
	before := Ledger(stored)
	for name, change := range mutations() {
		e := stored.copy(t)
		change(e)
		for i, r := range Ledger(e) {
			if r.Status != before[i].Status && (r.Status != NotRun || before[i].Status == NotComparable) {
				moved[r.ID] = name
			}
		}
	}
	for _, r := range before {
		if moved[r.ID] == "" && !computed[r.ID] && r.Status != NotRun {
			t.Errorf("%s (%s) has the same verdict whatever is stored", r.ID, r.Status)
		}
	}
}

// TestIdentities computes the slips of the text where they are, and where they are not.
func TestIdentities(t *testing.T) {
	printed, meant := printedNoise()
	if math.Abs(printed*meant-1) > 0.01 || math.Abs(meant-0.1) > 0.03 {
		t.Errorf("the printed loss learns %v, that which is meant %v, want reciprocals", printed, meant)
	}
	if got := least(func(noise float64) float64 { return 3*noise - 2*math.Log(noise) }); math.Abs(got-2.0/3) > 1e-3 {
		t.Errorf("the minimum of 3x − 2 log x is at %v, want 2/3", got)
	}
	if independent, dependent := leastShare(false), leastShare(true); independent < 0.01 || dependent > 1e-14 {
		t.Errorf("least over largest eigenvalue %v with independent directions, %v with dependent ones", independent, dependent)
	}
	if printed, meant := transposeSlip(); printed < 0.1 || meant > 1e-12 {
		t.Errorf("without the transpose off by %v, with it by %v", printed, meant)
	}
	if printed, meant := integralSlip(); printed > 0.01 || math.Abs(meant-1) > 1e-6 {
		t.Errorf("the printed integral gives %v of the density, that which is meant %v", printed, meant)
	}
}

// TestSettle gives numbers and claims that a test accepts, cannot tell, doubts and rejects.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		test Test
		want Status
	}{
		{Test{P: 0.5, Holm: 1, Lo: 1, Hi: 9}, Within},
		{Test{P: 0.5, Holm: 1, Lo: 1, Hi: 11}, Variable},
		{Test{P: 0.5, Holm: 1, Lo: -1, Hi: 3}, Variable},
		{Test{P: 0.04, Holm: 1, Lo: 1, Hi: 2}, RejectedAlone},
		{Test{P: 1e-6, Holm: 0.04, Lo: 1, Hi: 2}, Contradicted},
		{Test{P: 0.9, Holm: 1, Claim: true, Support: 0.2}, Variable},
		{Test{P: 1, Holm: 1, Claim: true}, Reproduced},
		{Test{P: 0.01, Holm: 0.2, Claim: true, Support: 1}, RejectedAlone},
	} {
		d := draft{Row: Row{Test: &c.test}}
		if d.settle(); d.Status != c.want {
			t.Errorf("%+v is %s, want %s", c.test, d.Status, c.want)
		}
		d = draft{Row: Row{Test: &c.test, Status: Corrected}}
		if d.settle(); d.Status != Corrected {
			t.Errorf("a rule's status becomes %s", d.Status)
		}
	}
}

// TestArticle compares docs/reproduction.md, and what the README says about the ledger, with the stored results.
func TestArticle(t *testing.T) {
	rows := Ledger(evidence(t))
	want, err := Article(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/reproduction.md is not what follows from the stored results: go run ./measure/ledger -article docs\n%s", diff)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(readme)), " ")
	claims := distinctClaims(rows)
	for _, want := range []string{shareOf(rows), fmt.Sprintf("%d distinct claims in words: %s.", len(claims), countsOf(claims))} {
		if !strings.Contains(flat, want) {
			t.Errorf("the README should say %q", want)
		}
	}
}
