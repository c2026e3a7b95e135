package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// Slice is the likelihood along one parameter, with the others fixed at their optimum.
type Slice struct {
	Name    string
	Unit    string    // of the parameter: that of x, "standardised" for variances, or none
	Value   []float64 // of the parameter
	Excess  []float64 // NLL above that of the optimum, in nats; +Inf where it cannot be computed
	Optimum float64
	StdErr  float64 // of the log; NaN if it is unknown, +Inf if the data do not determine it
}

// highest bounds the NLL at the ends of a slice, in nats above the optimum.
const highest = 12

// Slices evaluates the likelihood along each parameter at the given number of points. A slice covers four standard errors of the
// log of the parameter (a factor of three if that is unknown, and at most ten), or less if the NLL rises by 12 nats before.
func (a *Analysis) Slices(ctx context.Context, points int) ([]Slice, error) {
	v, err := a.valley()
	if err != nil {
		return nil, err
	}
	theta := v.theta
	var out []Slice
	for i, p := range a.Result.Params {
		if p.Param.IsFixed() {
			continue
		}
		s := Slice{Name: p.Name, Unit: a.unit(p), Optimum: p.Value, StdErr: p.StdErrLog}
		half := math.Log(3)
		if p.StdErrLog > 0 {
			half = min(4*p.StdErrLog, math.Log(10))
		}
		excess := func(u float64) float64 {
			theta[i] = p.Value * math.Exp(u)
			return v.excess()
		}
		for range 40 {
			if min(excess(-half), excess(half)) <= highest {
				break
			}
			half *= 0.7
		}
		for j := range points {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			above := excess(half * (2*float64(j)/float64(points-1) - 1))
			s.Value, s.Excess = append(s.Value, theta[i]), append(s.Excess, above)
		}
		theta[i] = p.Value
		out = append(out, s)
	}
	return out, nil
}

// unit returns the unit of a parameter as trained, on the standardised series.
func (a *Analysis) unit(p gppl.FittedParam) string {
	switch p.Unit {
	case gppl.UnitX:
		return a.Series.Axis.Unit
	case gppl.UnitY2:
		return "standardised"
	}
	return ""
}

// valley is the loss of training, with any priors, around its optimum.
type valley struct {
	loss   gppl.Loss
	theta  []float64 // where it is evaluated; at first the optimum
	lowest float64
}

// minimised returns the observations that the best model was trained on.
func (a *Analysis) minimised() (gppl.Data, error) {
	data, err := a.standardised()
	return latest(data, a.TrainedOn()), err
}

func (a *Analysis) valley() (*valley, error) {
	v := &valley{theta: a.Result.Model.Values()}
	var err error
	if v.loss, err = a.minimisedLoss(); err == nil {
		v.lowest, err = v.loss.ValueGrad(nil, v.theta)
	}
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	return v, nil
}

// minimisedLoss returns the loss of training, with any priors.
func (a *Analysis) minimisedLoss() (gppl.Loss, error) {
	data, err := a.minimised()
	if err != nil {
		return nil, err
	}
	if a.Chosen == ByEvidence {
		s := a.Series
		p := &policy{series: s, extent: extent{s.Step, s.X[len(s.X)-1] - s.X[0]}, options: Options{Priors: a.given}}
		priors := p.beliefs(a.Candidates[0].kind, a.Result.Model, yScale{log: a.Log, scaling: a.Scaling})
		exact, err := auto.Likelihood(a.Result.Model, data, slowest, a.engineMemory(), gppl.WithTolerance(trainTolerance))
		if err != nil {
			return nil, err
		}
		return withBeliefs(exact, priors)
	}
	t := trainer{data: data, mean: a.Result.Model.Mean, memory: a.engineMemory()}
	if a.Projections > 0 {
		if t.omega, err = gppl.SpectralProjection(data.X, a.Projections); err != nil {
			return nil, err
		}
	}
	loss, err := t.loss(a.Result.Model, data)
	if err != nil || len(a.Result.Priors) == 0 {
		return loss, err
	}
	return gppl.NewMAP(loss, a.Result.Priors...)
}

// excess returns the NLL at theta minus that of the optimum; +Inf if it cannot be computed.
func (v *valley) excess() float64 {
	value, err := v.loss.ValueGrad(nil, v.theta)
	if err != nil {
		return math.Inf(1)
	}
	return value - v.lowest
}

// Quick reports whether one evaluation of the likelihood is predicted to take less than the given time (gppl.Exact.Cost).
func (a *Analysis) Quick(limit time.Duration) bool {
	if a.Projections > 0 {
		return false
	}
	data, err := a.minimised()
	if err != nil {
		return false
	}
	loss, err := gppl.NewExact(a.Result.Model, data, a.engineMemory())
	if err != nil {
		return false
	}
	_, seconds := loss.Cost(a.Result.Model)
	return seconds < limit.Seconds()
}

// Periodogram compares the standardised series with what the model expects, frequency by frequency.
func (a *Analysis) Periodogram() (*gppl.Periodogram, error) {
	data, err := a.standardised()
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	p, err := gppl.NewPeriodogram(a.Result.Model, data)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	return p, nil
}

// Contour is the likelihood over two parameters, with the others fixed at their optimum.
type Contour struct {
	A, B        ContourAxis
	Excess      [][]float64 // NLL minus that of the optimum, in nats: a row for each value of B, a column for each value of A
	Correlation float64     // of the logs of A and B, by the curvature of the likelihood with all parameters free
}

// ContourAxis is a parameter and the values at which the likelihood was computed.
type ContourAxis struct {
	Name, Unit string // as in Slice
	Value      []float64
	Optimum    float64
}

// ErrNoContour says that there is no contour to draw: the data determine fewer than two parameters, or the loss does not curve
// upwards where training ended.
var ErrNoContour = errors.New("forecast: no contour")

// ridge returns how far a contour reaches in the logs of two parameters a and b, whose curvatures are given: 3.5 standard
// deviations, and at most a factor of ten. If that cuts one of two correlated parameters, the other reaches no further than it
// goes with these values.
func ridge(haa, hab, hbb float64) (a, b float64) {
	const sd = 3.5
	det := haa*hbb - hab*hab
	a, b = min(sd*math.Sqrt(hbb/det), math.Log(10)), min(sd*math.Sqrt(haa/det), math.Log(10))
	b = min(b, math.Abs(hab)/hbb*a+sd/math.Sqrt(hbb))
	return min(a, math.Abs(hab)/haa*b+sd/math.Sqrt(haa)), b
}

// Contour evaluates the likelihood on a square grid around the optimum, over the two parameters whose logs are the most
// correlated by the curvature of the likelihood there (differences of its gradient). With the other parameters fixed, the grid
// reaches 3.5 standard deviations, and at most a factor of ten, of one, and of the other what goes with these. The error is
// ErrNoContour if the region of 68 % is narrower than a step.
func (a *Analysis) Contour(ctx context.Context, points int) (*Contour, error) {
	v, err := a.valley()
	if err != nil {
		return nil, err
	}
	params := a.Result.Params
	var free []int
	for i, p := range params {
		if p.StdErrLog > 0 && !math.IsInf(p.StdErrLog, 1) { // neither fixed, nor at a bound, nor left open by the data
			free = append(free, i)
		}
	}
	if len(free) < 2 {
		return nil, fmt.Errorf("%w: the data determine fewer than two parameters of %s", ErrNoContour, a.Kernel())
	}
	slope := make([]float64, len(v.theta))
	if _, err := v.loss.ValueGrad(slope, v.theta); err != nil {
		return nil, err
	}
	curvature, err := logCurvature(v.loss, v.theta, slope, free)
	if err != nil {
		return nil, err
	}
	var factor mat.Cholesky
	if !factor.Factorize(curvature) {
		return nil, fmt.Errorf("%w: the likelihood of %s does not curve upwards where training ended", ErrNoContour, a.Kernel())
	}
	var cov mat.SymDense
	if err := factor.InverseTo(&cov); err != nil { // the covariances themselves are wanted
		return nil, fmt.Errorf("forecast: %w", err)
	}
	c := &Contour{}
	var i, j int
	for q := range free {
		for p := range q {
			if r := cov.At(p, q) / math.Sqrt(cov.At(p, p)*cov.At(q, q)); math.Abs(r) >= math.Abs(c.Correlation) {
				c.Correlation, i, j = r, p, q
			}
		}
	}
	// With the others fixed, the covariance is the inverse of the block of these two.
	hii, hjj, hij := curvature.At(i, i), curvature.At(j, j), curvature.At(i, j)
	reachA, reachB := ridge(hii, hij, hjj)
	if 3/math.Sqrt(hjj) < 2*reachB/float64(points-1) { // the width of the region of 68 %, and a step
		return nil, fmt.Errorf("%w: %s and %s make up for each other so exactly that a grid of %d values does not show it",
			ErrNoContour, params[free[i]].Name, params[free[j]].Name, points)
	}
	axis := func(at int, reach float64) ContourAxis {
		p := params[free[at]]
		s := ContourAxis{Name: p.Name, Unit: a.unit(p), Optimum: p.Value, Value: make([]float64, points)}
		floats.LogSpan(s.Value, p.Value*math.Exp(-reach), p.Value*math.Exp(reach))
		return s
	}
	c.A, c.B = axis(i, reachA), axis(j, reachB)
	for _, b := range c.B.Value {
		row := make([]float64, points)
		for k, value := range c.A.Value {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v.theta[free[i]], v.theta[free[j]] = value, b
			row[k] = v.excess()
		}
		c.Excess = append(c.Excess, row)
	}
	return c, nil
}
