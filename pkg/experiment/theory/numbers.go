package theory

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/pkg/viz/live"
)

// key joins the parts of a name of results by dots, in lower case and without spaces.
func key(parts ...string) string {
	for i, p := range parts {
		p = strings.ToLower(strings.TrimSuffix(p, " variance"))
		parts[i] = strings.NewReplacer(", ", "_", " ", "_").Replace(p)
	}
	return strings.Join(parts, ".")
}

func (s Slopes) into(r Results, name string) {
	r[name+".total"], r[name+".quadratic"], r[name+".cross"] = s.Total, s.Quadratic, s.Cross
}

// Numbers returns the numbers that Verdicts needs and further results for the record, under names that begin with "theorem".
func (t *TheoremResults) Numbers() Results {
	r := Results{"theorem.n": float64(t.N), "theorem.k": float64(t.K)}

	r["theorem.routes.cases"] = float64(len(t.Routes))
	for _, c := range t.Routes {
		r["theorem.routes.worst"] = max(r["theorem.routes.worst"], c.Worst)
	}
	r["theorem.score.draws"] = float64(t.Steps.Draws)
	r["theorem.score.worst_deviation"] = t.Steps.WorstDeviation
	r["theorem.loss.least_eigenvalue"] = t.Steps.LeastEigenvalue
	for _, c := range t.Identical {
		r["theorem.k_equals_n.lost"] = max(r["theorem.k_equals_n.lost"], c.Lost)
		r["theorem.k_equals_n.off"] = max(r["theorem.k_equals_n.off"], c.Off)
	}
	for a, p := range t.Params {
		t.ToN.Slopes[a].into(r, key("theorem.slope.to_n", p))
		t.Noisy.Slopes[a].into(r, key("theorem.slope.noisy", p))
	}
	r["theorem.slope.off"] = max(t.ToN.Off, t.Noisy.Off)

	w := t.White
	for name, v := range map[string]float64{
		"n": float64(w.N), "draws": float64(w.Draws), "mean": w.Mean, "sd": w.SD, "expected_sd": w.ExpectedSD, "kept": w.Kept,
		"off":        w.Off,
		"sd_log_nll": w.SDLogNLL, "sd_log_pl": w.SDLogPL, "bound_log_nll": w.BoundNLL, "bound_log_pl": w.BoundPL,
	} {
		r["theorem.corollary2."+name] = v
	}

	r["theorem.bounds.cases"] = float64(len(t.Bounds))
	r["theorem.bounds.printed_violations"], r["theorem.bounds.corrected_violations"] = 0, 0
	for _, b := range t.Bounds {
		if !b.Printed() {
			r["theorem.bounds.printed_violations"]++
		}
		if !b.Corrected() {
			r["theorem.bounds.corrected_violations"]++
		}
	}

	least := func(name string, v float64) {
		if old, ok := r[name]; !ok || v < old {
			r[name] = v
		}
	}
	for _, d := range t.Definite {
		for term := range 2 {
			least("theorem.definite.least_trace", d.Trace[term])
			least("theorem.definite.least_matrix", d.Matrix[term])
			least("theorem.definite.least_asymmetry", d.Asymmetry[term])
			least("theorem.definite.eigenvalue", d.LeastOverLargest[term])
		}
	}
	for _, c := range t.Choices {
		name := key("theorem.choice", c.Design)
		r[name+".trace"], r[name+".commutator"] = c.Trace, c.Commutator
		for a, p := range t.Params {
			r[key(name, "lost", p)], r[key(name, "stderr", p)] = c.Lost[a], c.StdErrLog[a]
		}
	}
	return r
}

// Numbers returns the medians and ranges over seeds, under names that begin with "spectrum".
func (s *SpectrumResults) Numbers() Results {
	r := Results{}
	for _, v := range s.Gram {
		r["spectrum.trace"] += v
	}
	for i, same := range s.Repulsive {
		r[fmt.Sprintf("spectrum.k.%d", i)] = float64(same.K)
		name := fmt.Sprintf("spectrum.repulsive.k%d", same.K)
		r[name+".drawn"], r[name+".span"], r[name+".information"] = same.Raw, same.Span, same.Info
	}
	for _, c := range s.Cases {
		r[key("spectrum", c.Name, "n")], r[key("spectrum", c.Name, "seeds")] = float64(c.N), float64(c.Seeds)
		for a, p := range c.Params {
			r.add(key("spectrum", c.Name, "all", "stderr", p), c.All.StdErrLog[a])
		}
		for _, m := range c.Designs {
			name := key("spectrum", c.Name, m.Design, fmt.Sprintf("k%d", m.K))
			r.add(name+".figure", m.Figure)
			r.add(name+".latent", m.Latent)
			r.add(name+".observed", m.Observed)
			r[name+".unidentified"] = float64(m.Unidentified)
			for a, p := range c.Params {
				if len(m.StdErrLog[a]) > 0 {
					r.add(key(name, "stderr", p), m.StdErrLog[a])
				}
			}
		}
		for _, ratio := range c.SphereOverOneHot() {
			name := key("spectrum", c.Name, "sphere_over_onehot", fmt.Sprintf("k%d", ratio.K))
			for a, p := range c.Params {
				r[key(name, "information", p)], r[key(name, "stderr", p)] = ratio.Information[a], ratio.StdErrLog[a]
			}
		}
	}
	return r
}

// Ratio compares two designs at one k by ratios of geometric means over the seeds.
type Ratio struct {
	K                      int
	Information, StdErrLog []float64 // one ratio per parameter
}

// SphereOverOneHot compares, for each k, the information in Sphere and in One-hot, which is a random subset of the data.
func (c *Case) SphereOverOneHot() (all []Ratio) {
	mean := func(v []float64) float64 { return stat.GeometricMean(v, nil) }
	for _, m := range c.Designs {
		if m.Design != "Sphere" {
			continue
		}
		other := c.find("OneHot", m.K)
		r := Ratio{K: m.K}
		for a := range c.Params {
			r.Information = append(r.Information, mean(m.Information[a])/mean(other.Information[a]))
			r.StdErrLog = append(r.StdErrLog, mean(m.StdErrLog[a])/mean(other.StdErrLog[a]))
		}
		all = append(all, r)
	}
	return all
}

// DesignName is the name of a design in tables and figures.
func DesignName(stored string) string { return live.DesignName(stored) }
