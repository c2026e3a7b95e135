package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Contour is the likelihood over two parameters, with the others fixed at their optimum.
type Contour struct {
	A, B        ContourAxis
	Excess      [][]float64 // NLL minus that of the optimum, in nats: a row for each value of B, a column for each value of A
	Correlation float64     // of the logs of A and B, by the curvature of the likelihood, all parameters free
}

// ContourAxis is a parameter and the values at which the likelihood was computed.
type ContourAxis struct {
	Name, Unit string // as in Slice
	Value      []float64
	Optimum    float64
}

// ErrNoContour says that there is no contour to draw: the data determine fewer than two parameters, or the loss does not curve upwards
// where training ended.
var ErrNoContour = errors.New("forecast: no contour")

// Contour evaluates the likelihood on a square grid around the optimum, over the two parameters whose logs are the most correlated
// according to the curvature of the likelihood at the optimum (central differences of its gradient). With the other parameters fixed,
// the grid reaches 3.5 standard deviations, and at most a factor of ten.
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
	curvature, err := logCurvature(v.loss, v.theta, free)
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
	// The others kept, the covariance is the inverse of the block of these two.
	hii, hjj, hij := curvature.At(i, i), curvature.At(j, j), curvature.At(i, j)
	det := hii*hjj - hij*hij
	axis := func(at int, variance float64) ContourAxis {
		p := params[free[at]]
		s := ContourAxis{Name: p.Name, Optimum: p.Value, Value: make([]float64, points)}
		s.Unit = a.unit(p)
		reach := min(3.5*math.Sqrt(variance), math.Log(10))
		floats.LogSpan(s.Value, p.Value*math.Exp(-reach), p.Value*math.Exp(reach))
		return s
	}
	c.A, c.B = axis(i, hjj/det), axis(j, hii/det)
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
