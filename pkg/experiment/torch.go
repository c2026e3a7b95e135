package experiment

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The authors' training loop (train_step in gp.py), step by step: PyTorch's Adam or L-BFGS on their raw parameters, their
// stopping rule, and the parameters after the last step even if earlier ones were better. gppl.Fit trains better; this reproduces
// their results.

// The optimisers of PyTorch, as values of Optimiser.Method.
const (
	TorchAdam  = "torch Adam"   // torch.optim.Adam
	TorchLBFGS = "torch L-BFGS" // torch.optim.LBFGS without a line search: every step is rate times the direction
)

// stopAfter is how many consecutive steps must change the loss by less than the tolerance.
const stopAfter = 5

// rawLoss is a loss as a function of the authors' raw parameters: the logarithm of each kernel parameter, softplus⁻¹ of the
// noise variance less 1e-6, and the inducing inputs as they are.
type rawLoss struct {
	loss        gppl.Loss
	noise       int // index of the noise variance
	theta       []float64
	evaluations int
}

func (l *rawLoss) natural(raw []float64) {
	for i, v := range raw {
		switch {
		case i < l.noise:
			l.theta[i] = math.Exp(v)
		case i == l.noise:
			l.theta[i] = softplus(v) + 1e-6
		default:
			l.theta[i] = v
		}
	}
}

// softplus is log(1 + eᵛ), linear above 20 as PyTorch's.
func softplus(v float64) float64 {
	if v > 20 {
		return v
	}
	return math.Log1p(math.Exp(v))
}

func (l *rawLoss) valueGrad(grad, raw []float64) (float64, error) {
	l.natural(raw)
	l.evaluations++
	value, err := l.loss.ValueGrad(context.Background(), grad, l.theta)
	if err != nil {
		return 0, err
	}
	floats.Mul(grad[:l.noise], l.theta[:l.noise])
	grad[l.noise] /= 1 + math.Exp(-raw[l.noise])
	return value, nil
}

// step is one step of an optimiser: it moves raw and returns the loss where it began.
type step func(raw []float64) (float64, error)

// adamStep is torch.optim.Adam with its defaults except for the rate.
func adamStep(l *rawLoss, rate float64) step {
	n := len(l.theta)
	grad, m, v := make([]float64, n), make([]float64, n), make([]float64, n)
	const b1, b2, eps = 0.9, 0.999, 1e-8
	p1, p2 := 1.0, 1.0
	return func(raw []float64) (float64, error) {
		value, err := l.valueGrad(grad, raw)
		if err != nil {
			return value, err
		}
		p1, p2 = p1*b1, p2*b2
		for i, g := range grad {
			m[i] = b1*m[i] + (1-b1)*g
			v[i] = b2*v[i] + (1-b2)*g*g
			raw[i] -= rate / (1 - p1) * m[i] / (math.Sqrt(v[i])/math.Sqrt(1-p2) + eps)
		}
		return value, nil
	}
}

// lbfgsStep is torch.optim.LBFGS with its defaults except for the rate: at most 20 inner steps in each step, a memory of 100, no
// line search.
func lbfgsStep(l *rawLoss, rate float64) step {
	const (
		inner, memory                      = 20, 100
		gradientTolerance, changeTolerance = 1e-7, 1e-9
	)
	n := len(l.theta)
	grad, before, d := make([]float64, n), make([]float64, n), make([]float64, n)
	var ys, ss [][]float64 // changes of the gradient and of the parameters
	var rho []float64
	scale, length, steps := 1.0, 0.0, 0
	return func(raw []float64) (float64, error) {
		first, err := l.valueGrad(grad, raw)
		if err != nil || floats.Norm(grad, math.Inf(1)) <= gradientTolerance {
			return first, err
		}
		value := first
		for i := 1; i <= inner; i++ {
			steps++
			if steps > 1 {
				y, s := make([]float64, n), make([]float64, n)
				for j := range y {
					y[j], s[j] = grad[j]-before[j], length*d[j]
				}
				if c := floats.Dot(y, s); c > 1e-10 {
					if len(ys) == memory {
						ys, ss, rho = ys[1:], ss[1:], rho[1:]
					}
					ys, ss, rho = append(ys, y), append(ss, s), append(rho, 1/c)
					scale = c / floats.Dot(y, y)
				}
			}
			direction(d, grad, ys, ss, rho, scale)
			copy(before, grad)
			last := value
			if length = rate; steps == 1 {
				length *= min(1, 1/floats.Norm(grad, 1))
			}
			if floats.Dot(grad, d) > -changeTolerance {
				break
			}
			floats.AddScaled(raw, length, d)
			if i == inner {
				break
			}
			if value, err = l.valueGrad(grad, raw); err != nil {
				return first, err
			}
			inf := math.Inf(1)
			small := length*floats.Norm(d, inf) <= changeTolerance || math.Abs(value-last) < changeTolerance
			if small || floats.Norm(grad, inf) <= gradientTolerance {
				break
			}
		}
		return first, nil
	}
}

// direction sets d to −H·grad by the two-loop recursion of L-BFGS.
func direction(d, grad []float64, ys, ss [][]float64, rho []float64, scale float64) {
	for j, g := range grad {
		d[j] = -g
	}
	al := make([]float64, len(ys))
	for i := len(ys) - 1; i >= 0; i-- {
		al[i] = rho[i] * floats.Dot(ss[i], d)
		floats.AddScaled(d, -al[i], ys[i])
	}
	floats.Scale(scale, d)
	for i := range ys {
		floats.AddScaled(d, al[i]-rho[i]*floats.Dot(ys[i], d), ss[i])
	}
}

// asAuthors trains a loss of a model with p parameters as the authors' code does. start is the loss before the first step.
func (o Optimiser) asAuthors(ctx context.Context, loss gppl.Loss, p int) (result *gppl.Result, start float64, err error) {
	began := time.Now()
	params := loss.Params()
	l := &rawLoss{loss: loss, noise: p - 1, theta: make([]float64, len(params))}
	raw := make([]float64, len(params)) // 0 is where every parameter of the model starts
	for i := p; i < len(params); i++ {
		raw[i] = params[i].Value
	}
	take := map[string]func(*rawLoss, float64) step{TorchAdam: adamStep, TorchLBFGS: lbfgsStep}[o.Method](l, o.Rate)
	r := &gppl.Result{Loss: loss.String(), Status: gppl.Limited}
	last, still := math.Inf(1), 0
	for r.Iterations < o.Iterations {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		if r.Value, err = take(raw); err != nil {
			return nil, 0, fmt.Errorf("experiment: step %d: %w", r.Iterations, err)
		}
		if r.Iterations == 0 {
			start = r.Value
		}
		r.Iterations++
		if math.Abs(last-r.Value) < o.Tolerance {
			still++
		} else {
			still = 0
		}
		if still >= stopAfter {
			r.Status = gppl.Stopped
			break
		}
		last = r.Value
	}
	l.natural(raw)
	for i, v := range l.theta[:p] {
		f := gppl.FittedParam{Param: params[i], Start: params[i].Value, StdErrLog: math.NaN()}
		f.Value = v
		f.AtBound = i == l.noise && v < 2e-6 // the authors' floor is 1e-6
		r.Params = append(r.Params, f)
	}
	r.Inducing = append([]float64(nil), l.theta[p:]...)
	r.Model = loss.Model(l.theta)
	report := loss.Report()
	r.Evaluations, r.Engine, r.SetupTime, r.FitTime = l.evaluations, report.Engine, report.Setup, time.Since(began)
	return r, start, nil
}

// repelled adds to a VFE loss the repulsion that the authors' ELBO subtracts, 1000·Σ_{i≠j} exp(−2|z_i − z_j|²) /
// (m(m−1)/2) (gp.py, lines 50 to 57 and 551), with z in the unit of x. At m = 100 this is 0.4·Σ_{i<j} exp(−2|z_i −
// z_j|²).
type repelled struct {
	gppl.Loss
	hyper int // parameters of the model; the inducing inputs follow
}

func (l repelled) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	value, err := l.Loss.ValueGrad(context.Background(), grad, theta)
	if err != nil {
		return value, err
	}
	var slope []float64
	if grad != nil {
		slope = grad[l.hyper:]
	}
	return value + repulsion(slope, theta[l.hyper:]), nil
}

// repulsion returns the penalty at z and, unless slope is nil, adds its gradient to it.
func repulsion(slope, z []float64) (penalty float64) {
	m := float64(len(z))
	weight := 2 * 1000 / (m * (m - 1) / 2) // the authors count each pair i < j twice
	for i, a := range z {
		for j, b := range z[:i] {
			e := weight * math.Exp(-2*(a-b)*(a-b))
			penalty += e
			if slope != nil {
				slope[i] -= 4 * (a - b) * e
				slope[j] += 4 * (a - b) * e
			}
		}
	}
	return penalty
}
