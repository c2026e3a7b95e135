package gppl

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/timeline"
)

// Doubtful is the status of a FitAuto result whose training converged to
// parameters that the data do not determine; the warnings name them. Do not
// treat it as a success.
const Doubtful Status = "doubtful"

// vanished is the share of the mean of y² below which noise is hardly there: data seldom have a thousand times more signal
// than noise, and errors that are shared or rounded away look like it.
const vanished = 1e-6

// stuck says where training ran to the end of what data can tell, or "".
func (a *auto) stuck() string {
	if d := a.limits(); d != nil {
		return d[0]
	}
	return ""
}

// limits lists the parameters that were driven to where the data end.
func (a *auto) limits() (doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	params := a.at.Params()
	last := len(params) - 1
	power := blas64.Dot(dense.Vec(a.rest.Y), dense.Vec(a.rest.Y)) / float64(a.data.Len())
	if noise := params[last]; !noise.IsFixed() && noise.Value < vanished*power && a.data.Errors == nil {
		if a.straight() {
			doubt("a straight line explains all %d observations: for a smooth kernel the likelihood has no maximum", a.data.Len())
		}
		if floor, ok := noise.Transform.(Softplus); ok && floor.Floor > 0 && noise.Value < 2*floor.Floor {
			doubt("the noise variance was driven to its floor: %.2g, with %v", noise.Value, floor)
		} else {
			doubt("the noise variance nearly vanished: %.2g, less than %.0e of the mean of y², %.2g", noise.Value, vanished, power)
		}
	}
	if a.data.X.Dim() != 1 {
		return doubts
	}
	l := newLine(a.data.X, nil)
	spacing := timeline.Coverage(l.t) / float64(len(l.t))
	shortest := math.Inf(1) // of periods; needed only where one is short
	if slices.ContainsFunc(params[:last], func(p Param) bool { return isPeriod(p) && p.Value < spacing/4 }) {
		shortest = a.resolved(spacing)
	}
	return append(doubts, endsOfX(params[:last], l.span, spacing, shortest)...)
}

// endsOfX lists the lengths along x that were driven to where a series of this range and spacing ends, or a period below the
// shortest.
func endsOfX(params []Param, span, spacing, shortest float64) (doubts []string) {
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	for _, p := range params {
		switch {
		case p.Unit != UnitX || p.IsFixed() || span == 0:
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

// resolved returns the shortest period that the times resolve: their periodogram's or, if they are even, twice their spacing.
func (a *auto) resolved(spacing float64) float64 {
	if a.irregular != nil {
		return a.irregular.shortest()
	}
	if power := newLombScargle(a.rest, spacing); power != nil {
		return power.shortest()
	}
	return 2 * spacing
}

// straight reports whether a straight line explains the data (minus the mean) up to rounding. A smooth kernel then fits
// better the longer the lengthscale and the smaller the noise, until the likelihood has lost all digits.
func (a *auto) straight() bool {
	x := a.data.X
	if x.Dim() != 1 {
		return false
	}
	line := AddMeans(Intercept{}, NewTrend(1, x))
	if CheckBasis(line, x) != nil {
		return false
	}
	left := Model{Kernel: a.family.Kernel, Mean: line}.SubtractMean(a.rest)
	return blas64.Nrm2(dense.Vec(left.Y)) <= constant*blas64.Nrm2(dense.Vec(a.data.Y))
}

// doubts lists why what was found may not be what the data determine; nil if
// there is no reason.
func (a *auto) doubts() []string {
	doubts := append(a.limits(), a.unsettled...)
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	r := a.result.Result
	var parts split
	if parts.of(r.Model.Kernel) {
		noise := r.Model.Noise + Nugget(r.Model.Kernel)
		if signal := variance(r.Model.Kernel); signal < 1e-3*noise {
			doubt("no signal was found: its variance is %.2g, that of the noise %.2g", signal, noise)
		}
	}
	if gain := a.overNoise(); a.result.Exact && doubts == nil && !slices.ContainsFunc(a.family.Params(), Param.IsFixed) && gain < a.chance() {
		doubt("no signal was found that chance does not explain: the model is %.2g nats better than white noise", gain)
	}
	if !a.settings.Fit.NoStandardErrors {
		doubts = append(doubts, r.undetermined()...)
	}
	switch r.Status {
	case Stalled, Limited:
		doubt("training ended before the optimum: %s", r.Reason)
	}
	return doubts
}

// undetermined lists the parameters that the curvature of the loss does not determine.
func (r *Result) undetermined() (doubts []string) {
	for _, p := range r.Params {
		switch {
		case p.Param.IsFixed():
		case math.IsNaN(p.StdErr()):
			doubts = append(doubts, fmt.Sprintf("%s has no standard error: it is not determined, or this is no minimum", p.Name))
		case math.IsInf(p.StdErr(), 1):
			doubts = append(doubts, fmt.Sprintf("%s is not identified: the data do not determine it", p.Name))
		case p.StdErrLog > 1:
			doubts = append(doubts, fmt.Sprintf("%s is hardly determined: the standard error of its logarithm is %.2g", p.Name, p.StdErrLog))
		}
	}
	return doubts
}

// overNoise returns the nats by which the model is better than white noise of the best variance.
func (a *auto) overNoise() float64 {
	n := float64(a.data.Len()) // of contrasts that are free of flat coefficients
	if a.family.Mean != nil {
		for _, c := range a.family.Mean.Columns() {
			if math.IsInf(c.Variance, 1) {
				n--
			}
		}
	}
	power := blas64.Dot(dense.Vec(a.rest.Y), dense.Vec(a.rest.Y)) / n
	return 0.5*n*(1+log2Pi+math.Log(power)) - (a.result.Value + a.result.LogPrior)
}

// chance returns the nats by which a model fits pure white noise better than white noise does: one for each parameter
// and, with a period, log n for the highest of about n peaks of a periodogram, or as many as were searched.
func (a *auto) chance() float64 {
	params := a.family.Params()
	nats := float64(len(params) - 1)
	if slices.ContainsFunc(params, func(p Param) bool { return isPeriod(p) && !p.IsFixed() }) {
		peaks := math.Log(float64(a.data.Len()))
		if a.irregular != nil {
			peaks = max(peaks, a.irregular.chance())
		}
		nats += peaks
	}
	return nats
}
