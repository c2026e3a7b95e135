package auto

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// vanished is the share of the mean of y² below which the noise counts as vanished: data seldom have a thousand times more
// signal than noise, and errors that are shared or rounded away look the same.
const vanished = 1e-6

// stuck says which parameters training drove to the end of the range that data can show, or "".
func (a *fitting) stuck() string {
	if d := a.limits(); d != nil {
		return d[0]
	}
	return ""
}

// limits lists the parameters that were driven to the ends of the range that the data can show.
func (a *fitting) limits() (doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	params := a.at.Params()
	last := len(params) - 1
	power := blas64.Dot(dense.Vec(a.rest.Y), dense.Vec(a.rest.Y)) / float64(a.data.Len())
	noise := params[last]
	floor, _ := noise.Transform.(transform.Softplus)
	atFloor := noise.Value < 2*floor.Floor && a.result.Result != nil && a.result.Params[last].AtBound
	if !noise.IsFixed() && (atFloor || noise.Value < vanished*power) && a.data.Errors == nil {
		if a.straight() {
			doubt("a straight line explains all %d observations: for a smooth kernel the likelihood has no maximum", a.data.Len())
		}
		if atFloor {
			doubt("the noise variance was driven to its floor: %.2g, with %v", noise.Value, floor)
		} else {
			doubt("the noise variance nearly vanished: %.2g, less than %.0e of the mean of y², %.2g", noise.Value, vanished, power)
		}
	}
	if a.data.X.Dim() != 1 {
		return doubts
	}
	l := newLine(a.data.X, nil)
	spacing := l.spacing()
	shortest := math.Inf(1) // shortest period; computed only if a period is short
	if slices.ContainsFunc(params[:last], func(p gppl.Param) bool { return isPeriod(p) && p.Value < spacing/4 }) {
		shortest = a.resolved(spacing)
	}
	return append(doubts, endsOfX(params[:last], l.span(), spacing, shortest)...)
}

// endsOfX lists the lengths along x that were driven to the range or the spacing of the series, or a period below the
// shortest.
func endsOfX(params []gppl.Param, span, spacing, shortest float64) (doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	for _, p := range params {
		switch {
		case p.Unit != gppl.UnitX || p.IsFixed() || span == 0:
		case atEnd(p):
			doubt("%s was driven to the end of what x can show: %.3g, within %v", p.Name, p.Value, p.Transform)
		case p.Value > 2*span:
			doubt("%s was driven beyond the range of x: %.3g of %.3g", p.Name, p.Value, span)
		case p.Value < spacing/4 && !(isPeriod(p) && p.Value >= shortest):
			doubt("%s was driven below the spacing of x: %.3g of %.3g", p.Name, p.Value, spacing)
		}
	}
	return doubts
}

// resolved returns the shortest period that the times resolve: the periodogram's or, for even times, twice the spacing.
func (a *fitting) resolved(spacing float64) float64 {
	if a.irregular != nil {
		return a.irregular.shortest()
	}
	if power := newLombScargle(a.ctx, a.rest, spacing); power != nil {
		return power.shortest()
	}
	return 2 * spacing
}

// straight reports whether a straight line explains the data (minus the mean) up to rounding. A smooth kernel then fits
// better the longer the lengthscale and the smaller the noise, until the likelihood has lost all digits.
func (a *fitting) straight() bool {
	x := a.data.X
	if x.Dim() != 1 {
		return false
	}
	line := gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(1, x))
	m := gppl.Model{Kernel: a.family.Kernel, Mean: line}
	if m.CheckBasis(a.ctx, x) != nil {
		return false
	}
	left, _ := m.SubtractMean(a.ctx, a.rest)
	return blas64.Nrm2(dense.Vec(left.Y)) <= constant*blas64.Nrm2(dense.Vec(a.data.Y))
}

// doubts lists the reasons why the data may not determine the result; nil if there are none.
func (a *fitting) doubts() []string {
	if a.refused {
		return a.unsettled
	}
	doubts := append(a.limits(), a.unsettled...)
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	r := a.result.Result
	if k := r.Model.Kernel; !white(k) {
		if signal, noise := variance(k), r.Model.Noise+capability.Nugget(k); signal < 1e-3*noise {
			doubt("no signal was found: its variance is %.2g, the noise's %.2g", signal, noise)
		}
	}
	if gain := a.overNoise(); a.result.Exact && doubts == nil && !slices.ContainsFunc(a.family.Params(), gppl.Param.IsFixed) &&
		gain < a.chance() {
		doubt("no signal was found that chance does not explain: the model is %.2g nats better than white noise", gain)
	}
	if !a.settings.Fit.NoStandardErrors && r.Status != gppl.Limited {
		doubts = append(doubts, undetermined(r)...)
	}
	switch r.Status {
	case gppl.Stalled, gppl.Limited:
		doubt("training ended before the optimum: %s", r.Reason)
	}
	return doubts
}

// undetermined lists the parameters that the curvature of the loss does not determine.
func undetermined(r *gppl.Result) (doubts []string) {
	for _, p := range r.Params {
		switch {
		case p.Param.IsFixed(), p.Negligible:
		case math.IsNaN(p.StdErr()):
			doubts = append(doubts, fmt.Sprintf("%s has no standard error: it is not determined, or this is no minimum", p.Name))
		case math.IsInf(p.StdErr(), 1):
			doubts = append(doubts, fmt.Sprintf("%s is not identified: the data do not determine it", p.Name))
		case p.StdErrLog > 1:
			doubts = append(doubts, fmt.Sprintf("%s is hardly determined: the standard error of its logarithm is %.2g",
				p.Name, p.StdErrLog))
		}
	}
	return doubts
}

// white reports whether k is white noise alone.
func white(k gppl.Kernel) bool {
	r, ok := k.(capability.Reacher)
	return ok && r.Reach(0.5) == 0
}

// overNoise returns the nats by which the model is better than white noise of the best variance.
func (a *fitting) overNoise() float64 {
	n := float64(a.data.Len()) // number of contrasts without flat coefficients
	if a.family.Mean != nil {
		for _, c := range a.family.Mean.Columns() {
			if math.IsInf(c.Variance, 1) {
				n--
			}
		}
	}
	power := blas64.Dot(dense.Vec(a.rest.Y), dense.Vec(a.rest.Y)) / n
	return whiteNoise(n, power) - (a.result.Value + a.result.LogPrior)
}

// whiteNoise returns the negative log likelihood of n observations with the mean square power as white noise of that variance.
func whiteNoise(n, power float64) float64 {
	return 0.5 * n * (1 + math.Log(2*math.Pi) + math.Log(power))
}

// chance returns the nats by which a model fits pure white noise better than white noise does: one for each parameter
// and, with a period, log n for the highest of about n peaks of a periodogram, or as many as were searched.
func (a *fitting) chance() float64 {
	params := a.family.Params()
	nats := float64(len(params) - 1)
	if slices.ContainsFunc(params, isTrainedPeriod) {
		peaks := math.Log(float64(a.data.Len()))
		if a.irregular != nil {
			peaks = max(peaks, a.irregular.chance())
		}
		nats += peaks
	}
	return nats
}
