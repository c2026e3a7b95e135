package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// mostSumsProjections is the default of Settings.MaxProjections: an evaluation then takes some seconds.
const mostSumsProjections = 1000

// FitSums learns the parameters of m from the observations in s minus the constant centre, starting at the values of m. It uses
// the exact likelihood if an engine takes it (gppl.SumsData). If none does, or if training ends at the shortest lengthscales that
// the exact likelihood takes, it uses projections with the residual energy (gppl.NewResidual). It begins with as many projections
// as the spectrum of the model needs (see gppl.Model.SpectralColumns) and adds more, continuing from where it stopped, until the
// signal beyond them is below a tenth of the noise and the last addition improved the loss by less than Gain.
//
// Of the settings it uses Fit, Projected (to leave out the exact likelihood), Gain, MaxProjections, whose default is n/2 and
// at most 1000, Memory, and Progress. There is no search for starts. As with Fit, the result is Doubtful if the data do not
// determine it.
//
// FitSums returns an error if all observations are equal, since the likelihood is then unbounded; if the loss cannot be
// evaluated at the start (a gppl.Refusal, which names what s resolves); or if ctx ends, together with the best result so far.
func FitSums(ctx context.Context, m gppl.Model, s *sums.Sums, centre float64, settings Settings) (*Result, error) {
	if s.Len() > 0 && s.Variance() == 0 {
		return nil, fmt.Errorf("gppl: fit: all %d observations in the sums equal %.10g: the likelihood has no maximum",
			s.Len(), s.Mean())
	}
	f := sumsFit{ctx: ctx, sums: s, data: gppl.SumsData(s, centre), centre: centre, settings: settings, at: m, result: &Result{}}
	f.settings.Gain = cmp.Or(settings.Gain, 0.5)
	f.settings.MaxProjections = min(cmp.Or(settings.MaxProjections, mostSumsProjections), max(1, s.Len()/2), sums.MaxProjections)
	why := "projections were asked for"
	if !settings.Projected {
		f.result.Exact, f.result.Why = true, "an engine takes the exact likelihood of these sums"
		exact, err := gppl.NewExact(ctx, m, f.data, f.options()...)
		if err != nil {
			return nil, err
		}
		_, err = exact.ValueGrad(f.ctx, nil, m.Values())
		var refusal *gppl.Refusal
		switch {
		case err == nil:
			if _, err = f.train(exact, 0); err != nil || f.result.Status == gppl.Converged {
				return f.finish(err)
			}
			if _, err := exact.ValueGrad(f.ctx, nil, shorten(f.at, wall).Values()); !errors.As(err, &refusal) {
				return f.finish(nil)
			}
			why = "training the exact likelihood ended where it is refused for shorter lengthscales: " + refusal.Reason
		case errors.As(err, &refusal):
			why = "the exact likelihood was refused: " + refusal.Reason
		default:
			return nil, err
		}
	}
	trained := len(f.result.Steps)
	why, err := f.project(why)
	var refusal *gppl.Refusal
	if errors.As(err, &refusal) && trained > 0 && len(f.result.Steps) == trained {
		f.result.Why = why + "; so are projections: " + refusal.Reason
		return f.finish(nil)
	}
	f.result.Exact, f.result.Why = false, why
	return f.finish(err)
}

// wall is a factor: training ended at the limit of the exact likelihood if lengthscales shorter by this factor are refused.
const wall = 1.1

// sumsFit is the working state of FitSums.
type sumsFit struct {
	ctx      context.Context
	sums     *sums.Sums
	data     gppl.Data // the sums' data, less centre
	centre   float64
	settings Settings
	at       gppl.Model
	result   *Result

	// Totals over all steps.
	evaluations   int
	setUp, fitted time.Duration
}

func (f *sumsFit) options() (o []gppl.Option) {
	if f.settings.Memory > 0 {
		o = append(o, gppl.WithMemory(f.settings.Memory))
	}
	return o
}

// project trains on more and more projections. It returns why they suffice, or why it stopped.
func (f *sumsFit) project(why string) (string, error) {
	needed, err := f.needed()
	if err != nil {
		return why, err
	}
	most := f.settings.MaxProjections
	for count, last := min(max(needed, 16), most), 0; ; {
		p, err := f.data.Projection(f.ctx, count)
		if err != nil {
			return why, err
		}
		loss, err := gppl.NewResidual(f.ctx, f.at, f.data, p, f.options()...)
		if err != nil {
			return why, err
		}
		_, k := loss.Dims()
		gain, err := f.train(loss, k)
		if refusal, ok := errors.AsType[*gppl.Refusal](err); ok && last > 0 {
			return fmt.Sprintf("%s; %d are refused: %s", why, k, refusal.Reason), nil
		}
		if err != nil {
			return why, err
		}
		step := &f.result.Steps[len(f.result.Steps)-1]
		step.Gain = gain
		if step.Needed, err = f.needed(); err != nil {
			return why, err
		}
		next := 0
		switch {
		case k == last:
			step.Decision = "the sums have no more frequencies that the observations tell apart"
		case step.Needed > count && count < most:
			next, step.Decision = max(step.Needed, count*5/4), "signal above a tenth of the noise beyond them"
		case last == 0 && count < most:
			next, step.Decision = count*5/4+1, "to see whether they gain anything"
		case last > 0 && gain > f.settings.Gain && count < most:
			next, step.Decision = count*3/2, fmt.Sprintf("the last gained %.2g nats", gain)
		case step.Needed > count:
			step.Decision = fmt.Sprintf("no more than %d are allowed, and the signal is above a tenth of the noise beyond them", most)
		default:
			step.Decision = fmt.Sprintf("the signal is below a tenth of the noise beyond them, the last gained %.2g nats", gain)
		}
		if f.settings.Progress != nil {
			f.settings.Progress(*step)
		}
		if next == 0 {
			return why + "; " + step.Decision, nil
		}
		last, count = k, min(next, most)
	}
}

// needed returns the number of projections that the spectrum of the present model needs.
func (f *sumsFit) needed() (int, error) {
	count, err := f.at.SpectralColumns(f.data, signalRatio)
	if err != nil {
		return 0, err
	}
	return count + 4, nil // more columns for the ends, as in Fit
}

// train continues from the present model with k projections (0 for the exact likelihood), and returns the nats gained.
func (f *sumsFit) train(loss gppl.Loss, k int) (gain float64, err error) {
	began := time.Now()
	stood, err := loss.ValueGrad(f.ctx, nil, f.at.Values())
	if err != nil {
		return 0, err
	}
	r, err := gppl.Fit(f.ctx, loss, f.at.Params(), f.settings.Fit)
	if r == nil {
		return 0, err
	}
	f.at, f.result.Result = r.Model, r
	f.evaluations += r.Evaluations
	f.setUp += r.SetupTime
	f.fitted += r.FitTime
	step := Step{K: k, Value: r.Value, Theta: r.Model.Values(), Evaluations: r.Evaluations, Seconds: time.Since(began).Seconds()}
	for _, p := range r.Params {
		step.StdErrLog = append(step.StdErrLog, p.StdErrLog)
	}
	f.result.Steps = append(f.result.Steps, step)
	return max(0, stood-r.Value), err
}

// doubts lists the reasons why the data may not determine the result, as in Fit.
func (f *sumsFit) doubts() []string {
	r, n := f.result.Result, f.sums.Weight()
	lo, hi := f.sums.Extent()
	params := r.Model.Params()
	offset := f.sums.Mean() - f.centre
	power := f.sums.Variance() + offset*offset
	doubts := endsOfX(params[:len(params)-1], hi-lo, (hi-lo)/n, 0)
	white := whiteNoise(n, power) // the exact likelihood of white noise of that variance
	free := !slices.ContainsFunc(params, gppl.Param.IsFixed) && r.Model.Mean == nil
	if f.sums.OneValue() {
		doubts = append(doubts, fmt.Sprintf("one value holds nearly all of the mean of y², %.3g: all frequencies have the same"+
			" power, as those of an outlier", power))
	}
	if gain := white - r.Value; f.result.Exact && free && gain < float64(len(params)-1) {
		doubts = append(doubts,
			fmt.Sprintf("no signal was found that chance does not explain: the model is %.2g nats better than white noise", gain))
	}
	return doubts
}

// finish returns the result, with the totals of all steps, or nil if there is none.
func (f *sumsFit) finish(err error) (*Result, error) {
	r := f.result.Result
	if r == nil {
		return nil, err
	}
	r.Evaluations, r.SetupTime, r.FitTime = f.evaluations, f.setUp, f.fitted
	if doubts := f.doubts(); doubts != nil && err == nil {
		if r.Status == gppl.Converged || r.Status == gppl.Stalled {
			r.Status, r.Reason = gppl.Doubtful, doubts[0]
		}
		r.Warnings = append(r.Warnings, doubts...)
	}
	return f.result, err
}
