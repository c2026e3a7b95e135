package gppl_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// differenceStep is the step of the differences by which the gradient of the VFE
// is taken in double-double, relative to the distance over which the covariances
// change. Between inducing inputs that are close the free energy changes over shorter
// distances s, on which differences by one step h leave a share (h/s)² of it: 1.5e-10 in
// case 71976. Those by h and by h/2, extrapolated, leave (h/s)⁴, and rounding 1e-23 times the condition.
const differenceStep = 1e-8

// errBeyondReference says that 32 digits do not distinguish K_uu from a singular matrix: a smooth kernel at inputs that are close
// for its lengthscale.
var errBeyondReference = errors.New("beyond the reference")

// vfeTruth returns the variational free energy with inducing inputs z, for
// kernels without White noise,
//
//	½[yᵀC⁻¹y + log|C| + n·log 2π + tr(K − Q)/σ²],  Q = K_xu K_uu⁻¹ K_ux, C = Q + σ²I
//
// its derivatives in the logs of the parameters and in log z by differences.
func vfeTruth(m gppl.Model, x, y, z []float64) (*truth, error) {
	t := &truth{}
	zw := widenVector(z)
	value, err := t.vfe(m, x, y, zw)
	if err != nil {
		return nil, err
	}
	central := func(up, down wide, move func(to wide) (wide, error)) (wide, error) {
		a, err := move(up)
		if err != nil {
			return wide{}, err
		}
		b, err := move(down)
		return a.Sub(b).Div(up.Sub(down)), err
	}
	// difference returns dV/dlog of the number at, given what is by above and below it.
	difference := func(at, by float64, moved func(by float64) wide, move func(to wide) (wide, error)) (wide, error) {
		whole, err := central(moved(by), moved(-by), move)
		if err != nil {
			return wide{}, err
		}
		half, err := central(moved(0.5*by), moved(-0.5*by), move)
		return half.Scale(4).Sub(whole).Div(doubled.Of(3)).Times(at), err
	}
	add := func(d wide, slope float64) {
		t.grad = append(t.grad, d)
		t.slope = append(t.slope, max(1, slope))
		t.gradSize = append(t.gradSize, t.size*max(1, slope))
	}
	slopes := crossSlopes(m.Kernel, x, z)
	theta := m.Values()
	for p, v := range theta {
		// The parameters of a kernel are float64: the step is what it rounds to.
		by := differenceStep / max(1, slopes[p]) * v
		d, err := difference(v, by, func(by float64) wide { return doubled.Of(v + by) }, func(to wide) (wide, error) {
			moved := append([]float64(nil), theta...)
			moved[p] = to.Hi
			return new(truth).vfe(m.WithParams(moved), x, y, zw)
		})
		if err != nil {
			return nil, err
		}
		add(d, slopes[p])
	}
	span := slices.Max(x) - slices.Min(x) // a z of 1.7e9 is no scale of x
	for i, v := range z {
		slope := slopes[len(theta)+i]
		by := differenceStep * min(math.Abs(v)/max(1, slope), cmp.Or(span, math.Abs(v)))
		d, err := difference(v, by, func(by float64) wide { return zw[i].Add(doubled.Of(by)) }, func(to wide) (wide, error) {
			moved := append([]wide(nil), zw...)
			moved[i] = to
			return new(truth).vfe(m, x, y, moved)
		})
		if err != nil {
			return nil, err
		}
		add(d, slope)
	}
	t.value = value
	return t, nil
}

// vfe returns the value and sets t's size and quadratic form.
func (t *truth) vfe(m gppl.Model, x, y []float64, z []wide) (wide, error) {
	w := widen(m.Kernel)
	d := make([]wide, w.params())
	at := func(r wide, self bool) wide { return w.at(d, r.Abs(), self) }
	n, count := len(x), len(z)
	luu, b := newWideLower(count), newWideLower(count)
	for i := range count {
		for j := range i + 1 {
			luu[i][j] = at(z[i].Sub(z[j]), i == j)
		}
		b[i][i] = doubled.Of(1)
	}
	if err := luu.Cholesky(); err != nil {
		return wide{}, fmt.Errorf("%w: K_uu: %w", errBeyondReference, err)
	}
	// phi[i] is row i of L_uu⁻¹K_ux, σ times Φᵀ.
	phi := make([][]wide, count)
	for i := range phi {
		phi[i] = make([]wide, n)
	}
	column := make([]wide, count)
	for j := range n {
		for i := range column {
			column[i] = at(z[i].Sub(doubled.Of(x[j])), false)
		}
		for i, v := range luu.Solve(column) {
			phi[i][j] = v
		}
	}
	noise, yw := doubled.Of(m.Noise), widenVector(y)
	var q wide // tr Q
	c := make([]wide, count)
	for i := range count {
		for j := range i + 1 {
			v := doubled.Dot(phi[i], phi[j])
			if i == j {
				q = q.Add(v)
			}
			b[i][j] = b[i][j].Add(v.Div(noise))
		}
		c[i] = doubled.Dot(phi[i], yw)
	}
	if err := b.Cholesky(); err != nil {
		return wide{}, err
	}
	half := b.Solve(c)
	yy := doubled.Dot(yw, yw)
	quad := yy.Sub(doubled.Dot(half, half).Div(noise)).Div(noise)
	slack := at(wide{}, true).Times(float64(n)).Sub(q).Div(noise)
	logs := wideLog(noise).Add(wideLog2π).Times(float64(n)).Add(b.LogDet())
	t.quad = quad.Hi
	t.size = 0.5 * (quad.Hi + math.Abs(logs.Hi) + at(wide{}, true).Hi*float64(n)/m.Noise)
	return quad.Add(slack).Add(logs).Scale(0.5), nil
}

// crossSlopes returns the largest |∂k|/v between an x and a z, for every
// parameter, the noise, and every log z.
func crossSlopes(k gppl.Kernel, x, z []float64) []float64 {
	w := widen(k)
	d := make([]wide, w.params())
	slopes := make([]float64, w.params()+1+len(z))
	prior := w.at(d, wide{}, true).Hi
	for i, zi := range z {
		for _, xj := range x {
			r := doubled.Difference(zi, xj).Abs()
			w.at(d, r, false)
			for p, v := range d {
				slopes[p] = max(slopes[p], math.Abs(v.Hi)/prior)
			}
			h := max(1e-9*r.Hi, 1e-300)
			change := w.at(d, r.Add(doubled.Of(h)), false).Sub(w.at(d, r, false))
			s := &slopes[w.params()+1+i]
			*s = max(*s, math.Abs(change.Hi/h*zi)/prior)
		}
	}
	return slopes
}
