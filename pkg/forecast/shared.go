package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/population"
)

// Shared is what the series of a panel have in common, as Share learns it: how often each structure of the automatic search
// describes them, and how its parameters vary among them. Options.Shared makes it the prior of a series.
type Shared struct {
	Series     int               `json:"series"` // from which it was learnt
	Structures []SharedStructure `json:"structures"`
	// Unseen is the log odds of a structure that none of the series has, against one of mean frequency.
	Unseen float64 `json:"unseen"`
}

// SharedStructure is a sum of kernels with a trend, for y or log y.
type SharedStructure struct {
	Name   string   `json:"name"`
	Series float64  `json:"series"`          // how many series have it: the sum of its posterior probabilities
	Odds   float64  `json:"odds"`            // log odds against a structure of mean frequency
	Fixed  bool     `json:"fixed,omitempty"` // its share of a forecast is fixed: it has no odds
	Params []string `json:"params"`
	// Priors are those of the parameters of the standardised series: lengthscales in steps, the variance of a walk that of a step.
	Priors []gppl.LogNormal `json:"priors"`
}

// Learning is a series with the options by which Fit would learn it.
type Learning struct {
	Series  *Series
	Options Options
}

const (
	// shareRounds is how often Share searches all series: with the weak priors, and with those learnt from the first search.
	shareRounds = 2
	// leastShared is the least posterior probability of a structure in a series for that series to inform its priors.
	leastShared = 1e-3
)

// Share learns the priors of a panel from its series (empirical Bayes). Each is searched as by Fit, without standard errors and
// forecasts. The likelihoods of the parameters in each search, weighted by the posterior probabilities of their structures,
// become a prior for each structure (population.LearnLogNormals), and all series are searched once more with it. A structure that
// few series have keeps approximately the weak priors. Periods keep theirs, and priors in Options.Priors take precedence. Several
// series are searched at a time; the result does not depend on how many. Series that cannot be searched are ignored. done, unless
// nil, is called after each search. The error is that of ctx, or says that fewer than two series are informative.
func Share(ctx context.Context, panel []Learning, done func(searches, of int)) (*Shared, error) {
	var shared *Shared
	for round := range shareRounds {
		all, errs := make([][]told, len(panel)), make([]error, len(panel))
		searches := round * len(panel)
		var mu sync.Mutex
		workers.Each(runtime.GOMAXPROCS(0), len(panel), func(i int) {
			all[i], errs[i] = tellShared(ctx, panel[i], shared)
			mu.Lock()
			defer mu.Unlock()
			if searches++; done != nil && ctx.Err() == nil {
				done(searches, shareRounds*len(panel))
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if shared = learnShared(all); shared.Series < 2 {
			err := fmt.Errorf("forecast: %d of %d series tell what they share, and two are needed", shared.Series, len(panel))
			if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
				err = fmt.Errorf("%w: %w", err, errs[i])
			}
			return nil, err
		}
	}
	return shared, nil
}

// told is the information of one series on a structure.
type told struct {
	name      string
	weight    float64 // its posterior probability in the series
	fixed     bool    // it has a fixed share in a forecast
	params    []string
	weak      []gppl.LogNormal // as in Shared
	quadratic population.LogQuadratic
}

// tellShared searches a series.
func tellShared(ctx context.Context, l Learning, shared *Shared) (all []told, err error) {
	l.Options.Shared, l.Options.Progress = shared, nil
	if len(l.Options.Kernels) > 0 && l.Series.Counting == nil {
		return nil, errors.New("forecast: named kernels share no priors: they are compared by their likelihoods")
	}
	s, err := l.Options.weigh(ctx, l.Series)
	if err != nil {
		return nil, err
	}
	p, err := searchPolicy(ctx, s, l.Options)
	if err != nil {
		return nil, err
	}
	add := func(t *trial, weight float64, fixed bool) {
		if t.Error != "" || t.told == nil || weight < leastShared {
			return
		}
		own := p.shareable(t)
		q := own.told(*t.told)
		q.weight, q.fixed, q.quadratic.Weight = weight, fixed, weight
		all = append(all, q)
	}
	if best := p.trials[0]; best.Error != "" {
		return nil, errors.New(best.Error)
	}
	var total float64
	for _, t := range p.trials {
		total += math.Exp(p.trials[0].score - t.score) // 0 of one that failed
	}
	for _, t := range p.trials {
		add(t, math.Exp(p.trials[0].score-t.score)/total, false)
	}
	err = p.tryFixed(func(t *trial) { add(t, 1, true) })
	return all, err
}

// shareable is a model of a candidate, with its parameters in the order of its name.
type shareable struct {
	name  string
	index []int // of the shared parameters, in the order of those of the loss
	own   []int // their places among the parameters with priors
	names []string
	unit  []float64 // log of the unit of each
	weak  []gppl.LogNormal
}

// shareable returns how the model of a trial shares its parameters: all trained ones except periods and those with a given prior.
func (p *policy) shareable(t *trial) shareable {
	return p.shareableOf(t.kind, t.Trend, t.Log, t.model, p.weakBeliefs(t.kind, t.model, p.scales[t.scale]))
}

func (p *policy) shareableOf(of candidate, trend string, log bool, m gppl.Model, b beliefs) (s shareable) {
	terms, params := sumTerms(m.Kernel), m.Params()
	var each [][]int // indices of the parameters of each term
	at := 0
	for _, t := range terms {
		each = append(each, timeline.Range(at, at+len(t.Params())))
		at += len(t.Params())
	}
	order := timeline.Range(0, len(terms))
	sorted := order
	walks, ok := of.(walker)
	if ok { // the first term keeps its place
		sorted = order[1:]
	}
	slices.SortStableFunc(sorted, func(i, j int) int {
		return strings.Compare(kernelName(terms[i]), kernelName(terms[j]))
	})
	// With the noise; the shape of a likelihood keeps its weak prior.
	indices := append(slices.Concat(timeline.Pick(each, order)...), at)
	s.name = Candidate{Kernel: of.name(timeline.Pick(terms, order)), Trend: trend, Log: log, Scale: p.series.logName()}.Name()
	places := b.places()
	for _, i := range indices {
		q, counted := params[i], 0.0
		if q.Role == gppl.RolePeriod || b.weak[i].Sigma == 0 || b.given[i] != nil {
			continue
		}
		switch {
		case q.Unit == gppl.UnitX:
			counted = math.Log(p.extent.step)
		case ok && i < len(each[0]):
			counted = math.Log(walks.unit(i, walks.reach(terms[0]), p.extent.step))
		}
		s.index, s.own, s.names = append(s.index, i), append(s.own, slices.Index(places, i)), append(s.names, q.Name)
		s.unit, s.weak = append(s.unit, counted), append(s.weak, b.weak[i])
	}
	return s
}

// told reduces a quadratic in the logs of all parameters with priors to the shared ones, with the others held.
func (s shareable) told(q population.LogQuadratic) told {
	n := len(s.own)
	out := told{name: s.name, params: s.names, weak: slices.Clone(s.weak)}
	out.quadratic = population.LogQuadratic{At: make([]float64, n), Gradient: make([]float64, n), Curvature: &mat.SymDense{}}
	if n > 0 {
		out.quadratic.Curvature = mat.NewSymDense(n, nil)
	}
	for a, i := range s.own {
		out.weak[a].Mu -= s.unit[a]
		out.quadratic.At[a], out.quadratic.Gradient[a] = q.At[i]-s.unit[a], q.Gradient[i]
		for b := a; b < n; b++ {
			out.quadratic.Curvature.SetSym(a, b, q.Curvature.At(i, s.own[b]))
		}
	}
	return out
}

// learnShared learns from the information of all series, in their order.
func learnShared(all [][]told) *Shared {
	s := &Shared{}
	groups := map[string][]told{}
	var names []string
	for _, series := range all {
		if len(series) > 0 {
			s.Series++
		}
		for _, t := range series {
			if groups[t.name] == nil {
				names = append(names, t.name)
			}
			groups[t.name] = append(groups[t.name], t)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		s.Structures = append(s.Structures, structureOf(name, groups[name]))
	}
	s.setOdds()
	return s
}

// structureOf learns the priors of a structure, from the mean of the weak priors, which for lengthscales differ between series.
func structureOf(name string, of []told) SharedStructure {
	out := SharedStructure{Name: name, Params: of[0].params, Fixed: of[0].fixed}
	weak := make([]gppl.LogNormal, len(out.Params))
	var quadratics []population.LogQuadratic
	for _, t := range of {
		if !slices.Equal(t.params, out.Params) { // a period that is fixed in some
			continue
		}
		out.Series += t.weight
		for j, w := range t.weak {
			weak[j].Mu, weak[j].Sigma = weak[j].Mu+t.weight*w.Mu, weak[j].Sigma+t.weight*w.Sigma
		}
		quadratics = append(quadratics, t.quadratic)
	}
	for j := range weak {
		weak[j].Mu, weak[j].Sigma = weak[j].Mu/out.Series, weak[j].Sigma/out.Series
	}
	if len(weak) > 0 {
		out.Priors = population.LearnLogNormals(quadratics, weak)
	}
	return out
}

// setOdds sets the odds of the structures that the evidence weighs: their frequency over the mean, as if each and an unseen one
// had been seen once more.
func (s *Shared) setOdds() {
	var total, count float64
	for _, g := range s.Structures {
		if !g.Fixed {
			total, count = total+g.Series, count+1
		}
	}
	mean := total/max(count, 1) + 1
	s.Unseen = -math.Log(mean)
	for i, g := range s.Structures {
		if !g.Fixed {
			s.Structures[i].Odds = math.Log((g.Series + 1) / mean)
		}
	}
}

// of returns the structure of a name; nil if there is none.
func (s *Shared) of(name string) *SharedStructure {
	i, ok := slices.BinarySearchFunc(s.Structures, name, func(g SharedStructure, name string) int {
		return strings.Compare(g.Name, name)
	})
	if !ok {
		return nil
	}
	return &s.Structures[i]
}

// share replaces weak priors of a model by those that the series of the panel share, and sets the odds of its structure.
func (p *policy) share(of candidate, trend string, log bool, m gppl.Model, b *beliefs) {
	if p.options.Shared == nil {
		return
	}
	own := p.shareableOf(of, trend, log, m, *b)
	g := p.options.Shared.of(own.name)
	if _, fixed := of.share(len(p.series.X)); !fixed {
		b.odds = p.options.Shared.Unseen
		if g != nil {
			b.odds = g.Odds
		}
	}
	if g == nil || !slices.Equal(g.Params, own.names) {
		return
	}
	for a, i := range own.index {
		b.weak[i] = gppl.LogNormal{Mu: g.Priors[a].Mu + own.unit[a], Sigma: g.Priors[a].Sigma}
	}
}

// SharedBy returns the number of series from which the priors of the analysis were learnt; 0 if this series alone has them.
func (a *Analysis) SharedBy() int {
	if a.shared == nil {
		return 0
	}
	return a.shared.Series
}

// check returns an error for contents that Share does not return; nil is valid.
func (s *Shared) check() error {
	if s == nil {
		return nil
	}
	if !slices.IsSortedFunc(s.Structures, func(a, b SharedStructure) int { return strings.Compare(a.Name, b.Name) }) {
		return errors.New("shared structures are not sorted")
	}
	for _, g := range s.Structures {
		if len(g.Params) != len(g.Priors) {
			return fmt.Errorf("%d shared priors of %d parameters of %s", len(g.Priors), len(g.Params), g.Name)
		}
		for _, p := range g.Priors {
			if err := p.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Often returns the structures that most series have, at most count of them, without those with a fixed share of a forecast.
func (s *Shared) Often(count int) []SharedStructure {
	often := slices.DeleteFunc(slices.Clone(s.Structures), func(g SharedStructure) bool { return g.Fixed })
	slices.SortStableFunc(often, func(a, b SharedStructure) int { return cmp.Compare(b.Series, a.Series) })
	return often[:min(count, len(often))]
}

// String says what is shared, and names the most frequent structures.
func (s *Shared) String() string {
	const named = 3
	structures := s.Often(len(s.Structures))
	text := fmt.Sprintf("%d series share the priors of %d structures and of their parameters", s.Series, len(structures))
	for i, g := range structures[:min(named, len(structures))] {
		text += fmt.Sprintf("%s %s (%.0f %%)", []string{". The most frequent:", ","}[min(i, 1)], g.Name, 100*g.Series/float64(s.Series))
	}
	return text + "."
}
