package experiment

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// Keeps has the share of the information about each parameter that an estimator keeps, and the cost of one evaluation of its
// loss.
type Keeps struct {
	Trial             // its loss, design, order, taper and engine
	Seconds float64   // processor time of value and gradient, the shortest of three
	Kept    []float64 // variance of the best unbiased estimate over the mean square error, of each log
	Bias    []float64 // bias of each log, to first order; nil if there is none
}

// KeepsModel is the model of Information, at n times with a step of 1.
func KeepsModel(s scales.Scale) (m gppl.Model, n int) {
	return gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}, scales.Pick(s, 400, 120)
}

// Information computes, at the true parameters and on regular times, what each of these keeps of the Fisher information of the
// data, to first order (Godambe 1960): the exact likelihood, the exact likelihood of a random subset, PL by each design, PL with
// the residual energy, the Whittle likelihood, and VFE, whose minimum is biased. It takes O(n³) for each VFE.
func Information(ctx context.Context, s scales.Scale) (all []Keeps, params []gppl.Param, err error) {
	m, n := KeepsModel(s)
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	draw, err := m.Sample(ctx, gppl.Scalars(x), 1)
	if err != nil {
		return nil, nil, err
	}
	data, err := gppl.NewData(gppl.Scalars(x), draw.Y)
	if err != nil {
		return nil, nil, err
	}
	info, err := fisher.New(ctx, m, data.X)
	if err != nil {
		return nil, nil, err
	}
	best, err := fisher.StdErrLog(info.Data(), info.Params())
	if err != nil {
		return nil, nil, err
	}
	trials := []Trial{{Loss: ML, Engine: gppl.EngineDense}, {Loss: ML}, {Loss: Whittle}, {Loss: Whittle, Taper: whittleTaper}}
	for _, k := range scales.Pick(s, []int{25, 50, 100}, []int{10, 40}) {
		trials = append(trials, Trial{Loss: Subset, Design: "One-hot", Order: k, Seed: 1})
		for _, design := range []string{"Sphere", "Localised", "Spectral"} {
			trials = append(trials, Trial{Loss: PL, Design: design, Order: k, Seed: 1})
		}
		trials = append(trials, Trial{Loss: Residual, Design: "Spectral", Order: k}, Trial{Loss: VFE, Order: k})
	}
	for _, t := range trials {
		cov, bias, loss, err := t.firstOrder(ctx, m, data, info)
		if err != nil {
			return nil, nil, fmt.Errorf("experiment: %s %s %d: %w", t.Loss, t.Design, t.Order, err)
		}
		k := Keeps{Trial: t, Bias: bias, Kept: make([]float64, len(best))}
		for a := range best {
			if cov == nil {
				k.Kept[a] = math.NaN() // the parameter is not identified, up to rounding
				continue
			}
			square := cov.At(a, a)
			if bias != nil {
				square += bias[a] * bias[a]
			}
			k.Kept[a] = best[a] * best[a] / square
		}
		if k.Seconds, err = evaluationSeconds(ctx, loss); err != nil {
			return nil, nil, err
		}
		k.Engine = loss.Report().Engine
		all = append(all, k)
	}
	return all, info.Params(), nil
}

// evaluationSeconds is the shortest processor time of three evaluations of value and gradient.
func evaluationSeconds(ctx context.Context, loss gppl.Loss) (least float64, err error) {
	theta := gppl.Values(loss.Params())
	grad := make([]float64, len(theta))
	least = math.Inf(1)
	for range 3 {
		const shortest = 0.002 // processor time is told in steps
		began, count := machine.ProcessorSeconds(), 0.
		for machine.ProcessorSeconds()-began < shortest {
			if _, err := loss.ValueGrad(ctx, grad, theta); err != nil {
				return 0, err
			}
			count++
		}
		least = min(least, (machine.ProcessorSeconds()-began)/count)
	}
	return least, nil
}

// firstOrder returns the covariance of the minimiser of the loss in the logs of the parameters, to first order, and its bias; no
// covariance if the parameters are not identified.
func (t Trial) firstOrder(ctx context.Context, m gppl.Model, d gppl.Data, info *fisher.Information) (cov mat.Matrix,
	bias []float64, loss gppl.Loss, err error) {
	var omega *gppl.Projection
	if t.Design != "" {
		if omega, err = gppl.NewProjection(ctx, Designs[t.Design], d.X, t.Order, t.Seed); err != nil {
			return nil, nil, nil, err
		}
	}
	if t.Loss == Subset {
		loss, err = Race{Estimator: Subset, Order: t.Order, Seed: t.Seed}.loss(ctx, m, d)
	} else {
		loss, err = t.loss(ctx, m, d)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	switch l := loss.(type) {
	case *gppl.Whittle:
		cov, err = sandwich(ctx, l, m.Values())
	case *gppl.VFE:
		cov, bias, err = vfeOptimum(ctx, m, d.X, t.Order, info)
	default:
		if omega == nil {
			var inverse mat.Dense
			err = inverse.Inverse(info.Data())
			cov = &inverse
			break
		}
		dense, wrong := godambe(info, omega, t.Loss == Residual)
		if wrong == nil { // a typed nil is no nil
			cov = dense
		}
	}
	return cov, bias, loss, err
}

// sandwich returns H⁻¹JH⁻¹ of the Whittle likelihood.
func sandwich(ctx context.Context, l *gppl.Whittle, theta []float64) (mat.Matrix, error) {
	h, err := l.Information(ctx, theta)
	if err != nil {
		return nil, err
	}
	j, err := l.ScoreCovariance(ctx, theta)
	if err != nil {
		return nil, err
	}
	return solvedTwice(h, j)
}

// solvedTwice returns H⁻¹JH⁻¹.
func solvedTwice(h, j *mat.SymDense) (mat.Matrix, error) {
	var left, cov mat.Dense
	if err := left.Solve(h, j); err != nil {
		return nil, err
	}
	err := cov.Solve(h, left.T())
	return &cov, err
}

// bound is VFE in expectation over the data of a model, with inducing inputs that stay where they are.
type bound struct {
	model gppl.Model
	x, z  []float64
	a     *mat.SymDense // covariance of the data
}

// low returns the covariance Q + σ²I with which the bound replaces the data's, and tr(K − Q)/σ².
func (b *bound) low(theta []float64) (q *mat.SymDense, rest float64, err error) {
	m := b.model.WithParams(theta)
	kzz, kzx := gram(m.Kernel, b.z, b.z), gram(m.Kernel, b.z, b.x)
	for i := range b.z {
		kzz.Set(i, i, kzz.At(i, i)*(1+1e-9))
	}
	var factor mat.Cholesky
	if !factor.Factorize(symmetric(kzz)) {
		return nil, 0, fmt.Errorf("experiment: the covariance of %d inducing inputs cannot be factorised", len(b.z))
	}
	var solved, product mat.Dense
	if err := factor.SolveTo(&solved, kzx); err != nil {
		return nil, 0, err
	}
	product.Mul(kzx.T(), &solved)
	q = symmetric(&product)
	variance := gram(m.Kernel, b.x[:1], b.x[:1]).At(0, 0)
	rest = (variance*float64(len(b.x)) - mat.Trace(q)) / m.Noise
	for i := range b.x {
		q.SetSym(i, i, q.At(i, i)+m.Noise)
	}
	return q, rest, nil
}

// value is the expectation ½[log|Q + σ²I| + tr (Q + σ²I)⁻¹A + tr (K − Q)/σ²]; +Inf where it cannot be computed.
func (b *bound) value(theta []float64) float64 {
	q, rest, err := b.low(theta)
	var factor mat.Cholesky
	if err != nil || !factor.Factorize(q) {
		return math.Inf(1)
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return math.Inf(1)
	}
	return 0.5 * (factor.LogDet() + inner(&inverse, b.a) + rest)
}

// vfeOptimum returns the covariance H⁻¹JH⁻¹ of the minimum of VFE with m evenly spaced inducing inputs around the minimum of its
// expectation, and how far that is from the truth, in the logs of the parameters.
func vfeOptimum(ctx context.Context, truth gppl.Model, x gppl.Inputs, m int, info *fisher.Information) (cov mat.Matrix,
	bias []float64, err error) {
	times := x.Coordinate(0)
	b := &bound{truth, times, floats.Span(make([]float64, m), times[0], times[len(times)-1]), info.Covariance()}
	logs := make([]float64, len(truth.Values()))
	for i, v := range truth.Values() {
		logs[i] = math.Log(v)
	}
	at := func(logs []float64) []float64 {
		theta := make([]float64, len(logs))
		for i, v := range logs {
			theta[i] = math.Exp(v)
		}
		return theta
	}
	value := func(logs []float64) float64 {
		if ctx.Err() != nil {
			return math.NaN()
		}
		return b.value(at(logs))
	}
	const step = 1e-2
	moved := func(from []float64, i, j int, di, dj float64) float64 {
		to := append([]float64(nil), from...)
		to[i] += di
		to[j] += dj
		return value(to)
	}
	curvature := func(from []float64) *mat.SymDense {
		h := mat.NewSymDense(len(from), nil)
		for i := range from {
			for j := range i + 1 {
				h.SetSym(i, j, (moved(from, i, j, step, step)-moved(from, i, j, step, -step)-moved(from, i, j, -step, step)+
					moved(from, i, j, -step, -step))/(4*step*step))
			}
		}
		return h
	}
	r, err := optimize.Minimize(optimize.Problem{Func: value}, logs, &optimize.Settings{
		Converger: &optimize.FunctionConverge{Absolute: 1e-7, Iterations: 20}}, &optimize.NelderMead{SimplexSize: 0.1})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	bias = floats.SubTo(make([]float64, len(logs)), r.X, logs)
	j, err := b.scores(at(r.X))
	if err != nil {
		return nil, nil, err
	}
	cov, err = solvedTwice(curvature(r.X), j)
	return cov, bias, err
}

// scores returns the covariance of the gradient in the logs of the parameters, ½tr(M_aAM_bA) with M_a = −B∂_a(Q + σ²I)B.
func (b *bound) scores(theta []float64) (*mat.SymDense, error) {
	q, _, err := b.low(theta)
	if err != nil {
		return nil, err
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(q) {
		return nil, fmt.Errorf("experiment: the covariance of VFE cannot be factorised")
	}
	if err := factor.InverseTo(&inverse); err != nil {
		return nil, err
	}
	var ba mat.Dense
	ba.Mul(&inverse, b.a)
	products := make([]mat.Dense, len(theta)) // M_aA
	for a := range theta {
		const step = 1e-4
		up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
		up[a] *= math.Exp(step)
		down[a] *= math.Exp(-step)
		above, _, err := b.low(up)
		if err != nil {
			return nil, err
		}
		below, _, err := b.low(down)
		if err != nil {
			return nil, err
		}
		var slope, left mat.Dense
		slope.Sub(above, below)
		slope.Scale(-0.5/step, &slope)
		left.Mul(&inverse, &slope)
		products[a].Mul(&left, &ba)
	}
	j := mat.NewSymDense(len(theta), nil)
	for a := range theta {
		for c := range a + 1 {
			j.SetSym(a, c, 0.5*inner(&products[a], products[c].T()))
		}
	}
	return j, nil
}
