package auto

import (
	"context"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Starts is where a training of a model should begin, and what was searched to know that.
type Starts struct {
	// Models are the optima that the search found, distinct, the best first, and start values that it did not come from. They have the
	// transforms of the model that was given. There is at least one.
	Models []gppl.Model
	// Search is what was searched; its Screened is 0 if nothing was.
	Search Search
	// Part are 500 of the observations, spread over all, for a training that costs too much on all; all if they are no more.
	Part gppl.Data
	// Doubts say why the best that training finds from here may not be what the data determine: what the search left open, or
	// that there was none. Judge adds those that the trained model shows.
	Doubts []string

	auto *fitting // nil if nothing was searched
}

// FindStarts is the search of Fit without its training: it returns where a training of m on the data should begin, by whatever
// loss; Compare and Judge then do what Fit does after its own. Settings are those of Fit; of them the search reads Fit.Seed, Priors and KeepStart.
//
// Up to 400 observations the first of the Models is the optimum of the exact likelihood that the search found, and
// training only polishes it. Beyond, the search saw parts of the data and their periodogram: the Models are to be compared by the loss of
// all data. If m has a mean, the search took the residuals of its least-squares fit.
//
// A kernel that depends on position (gppl.ChangePoint), and data of which a mean explains all, are not searched: Models are then start
// values from the data (StartFrom), and Doubts says so. Errors are those of Fit for a model or data that no search could take,
// and ctx's.
//
// The time hardly depends on the number of observations n beyond 400: some thousand likelihoods of 128 observations, and O(n log n).
func FindStarts(ctx context.Context, m gppl.Model, d gppl.Data, s Settings) (*Starts, error) {
	a, err := newFitting(ctx, m, d, s)
	if err != nil {
		return notSearched(m, d, err)
	}
	if err := a.findStarts(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := &Starts{Search: a.result.Search, Part: partOf(d), Doubts: slices.Clone(a.unsettled), auto: a}
	for _, start := range append(slices.Clone(a.starts), a.given...) {
		found.Models = append(found.Models, a.own(start))
	}
	if found.Search.Screened == 0 {
		found.Doubts = append(found.Doubts, fromDataAlone)
	}
	return found, nil
}

// fromDataAlone is the doubt of a training without a search.
const fromDataAlone = "not searched: training began at start values from the data alone"

// notSearched returns start values where Fit refuses for the given reason, or its error where there is nothing to train.
func notSearched(m gppl.Model, d gppl.Data, why error) (*Starts, error) {
	if m.Kernel == nil || d.Check() != nil || d.CheckUnits() != nil || m.Mean != nil && gppl.CheckBasis(m.Mean, d.X) != nil {
		return nil, why
	}
	models := startsFrom(m, d)
	rest := gppl.Detrend(d)
	rest.Errors, rest.Relative = d.Errors, d.Relative
	if plain := StartFrom(m, rest); !slices.Equal(plain.Values(), models[0].Values()) {
		models = append(models, plain) // one maximum explains the trend alone, another more
	}
	for _, start := range models {
		if err := start.Check(); err != nil {
			return nil, err
		}
	}
	doubt := fromDataAlone
	if !gppl.IsPlaced(m.Kernel) {
		doubt = "not searched: " + strings.TrimPrefix(why.Error(), "gppl: ")
	}
	return &Starts{Models: models, Part: partOf(d), Doubts: []string{doubt}}, nil
}

// own returns a model of the family at the values of m, with the family's transforms.
func (a *fitting) own(m gppl.Model) gppl.Model { return a.family.WithParams(m.Values()) }

// Compare compares the period that a training from the Models found with its aliases, those that irregular x nearly map to it, as
// Fit does. It evaluates the loss at each of at most twelve and trains from those that are within 60 nats: of more than 500
// observations on a part of them. It returns the better result, and a doubt for an alias that fits within 7 nats. likelihood is what was
// trained, without the priors of the settings, which Compare adds. If ctx ends, it returns the best so far.
func (s *Starts) Compare(ctx context.Context, likelihood gppl.Loss, r *gppl.Result) (better *gppl.Result, doubts []string) {
	if s.auto == nil {
		return r, nil
	}
	a := s.trained(ctx, likelihood, r)
	a.settings.Fit.NoStandardErrors = true
	doubts = a.aliasDoubts()
	return a.result.Result, doubts
}

// Judge says of a training from the Models what Fit would: it adds a warning to r for each doubt and, if there is any, makes a status
// of success Doubtful. Doubts are those of the search, further ones that are given (of Compare), and those that r shows: parameters
// that were driven to the end of what the data tell, a signal that chance explains, and parameters that the curvature of the loss does
// not determine, if r has standard errors. likelihood is what was trained, without priors.
func (s *Starts) Judge(likelihood gppl.Loss, r *gppl.Result, further ...string) {
	doubts := append(slices.Clone(s.Doubts), further...)
	if s.auto == nil {
		doubted(r, doubts, false)
		return
	}
	a := s.trained(context.Background(), likelihood, r)
	a.unsettled = doubts
	a.settings.Fit.NoStandardErrors = !slices.ContainsFunc(r.Params, func(p gppl.FittedParam) bool { return p.StdErrLog > 0 })
	doubted(r, a.doubts(), a.straight())
}

// trained returns the work of Fit after a training.
func (s *Starts) trained(ctx context.Context, likelihood gppl.Loss, r *gppl.Result) *fitting {
	a := *s.auto
	_, exact := likelihood.(*gppl.Exact)
	a.ctx, a.loss, a.result = ctx, likelihood, &Result{Result: r, Exact: exact, Search: s.Search}
	a.at = a.starts[0].WithParams(r.Model.Values())
	return &a
}

// doubted adds the doubts to the warnings of a result, and makes a success one that is Doubtful. A straight line explains the data whose
// optimum cannot be confirmed if straight is set.
func doubted(r *gppl.Result, doubts []string, straight bool) {
	if doubts == nil {
		return
	}
	switch r.Status {
	case gppl.Converged, gppl.Stopped, gppl.Stalled:
		r.Status, r.Reason = gppl.Doubtful, doubts[0]
	case gppl.Unconfirmed:
		if straight {
			r.Status, r.Reason = gppl.Doubtful, doubts[0]
		}
	}
	for _, d := range doubts {
		if !slices.Contains(r.Warnings, d) { // the training may have said it
			r.Warnings = append(r.Warnings, d)
		}
	}
}

// partOf returns d, or spreadSize observations of it if they are more.
func partOf(d gppl.Data) gppl.Data {
	if d.Len() <= spreadSize {
		return d
	}
	return spreadOver(d)
}
