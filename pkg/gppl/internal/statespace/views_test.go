package statespace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// viewedCase is a sum of blocks, seen by views.
type viewedCase struct {
	kinds []string
	theta []float64 // logs: of each block's variance and parameters in turn, then of the noise variance of each view
	views []View
	of    []int
	t, y  []float64
}

func (c *viewedCase) blocks(theta []float64) (blocks []Block, noise []float64) {
	for _, kind := range c.kinds {
		p, params := process(kind, theta[1:])
		blocks = append(blocks, Block{Process: p, Params: params, Variance: math.Exp(theta[0])})
		theta = theta[1+params:]
	}
	for _, u := range theta {
		noise = append(noise, math.Exp(u))
	}
	return blocks, noise
}

// functional returns h of a view.
func functional(p Process, params int, v View) []float64 {
	h := make([]float64, p.Dim())
	if v.Slope != 0 {
		p.(Differentiable).Derivative(h, make([]float64, len(h)*params))
	}
	for i := range h {
		h[i] *= v.Slope
	}
	h[0] += v.Value
	return h
}

// covViews is the covariance of what view v sees at s and what w sees at u: hᵀΦP∞h.
func covViews(blocks []Block, v, w View, s, u float64) (sum float64) {
	if s < u {
		s, u, v, w = u, s, w, v
	}
	for _, b := range blocks {
		d := b.Process.Dim()
		phi, q, all := make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
		b.Process.Transition(phi, all, math.Inf(1))
		b.Process.Transition(phi, q, s-u)
		later, before := functional(b.Process, b.Params, v), functional(b.Process, b.Params, w)
		for i := range d {
			for j := range d {
				sum += b.Variance * later[i] * phi[i*d+j] * dot(all[j*d:][:d], before)
			}
		}
	}
	return sum
}

func (c *viewedCase) dense(theta []float64, views []View) (*mat.Cholesky, float64) {
	blocks, noise := c.blocks(theta)
	n := len(c.t)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := covViews(blocks, views[c.of[i]], views[c.of[j]], c.t[i], c.t[j])
			if i == j {
				v += noise[c.of[i]]
			}
			a.SetSym(i, j, v)
		}
	}
	var root mat.Cholesky
	if !root.Factorize(a) {
		return nil, math.NaN()
	}
	var x mat.VecDense
	y := mat.NewVecDense(n, c.y)
	if err := root.SolveVecTo(&x, y); err != nil {
		return nil, math.NaN()
	}
	return &root, 0.5 * (root.LogDet() + mat.Dot(y, &x))
}

// filter factorises by views and returns the derivatives in theta, and in Value and Slope of each view.
func (c *viewedCase) filter(t *testing.T, theta []float64, views []View, doubled bool) (f *Filter, value float64, grad []float64) {
	t.Helper()
	blocks, noise := c.blocks(theta)
	f = NewFilter(c.t, nil)
	scale := make([]float64, len(c.t))
	for i, v := range c.of {
		scale[i] = noise[v]
	}
	f.SetScale(scale)
	f.SetViews(views, c.of)
	factorise := f.factorisePairs
	if doubled {
		factorise = f.FactoriseDoubled
	}
	if err := factorise(column(c.y), blocks, 1); err != nil {
		t.Fatal(err)
	}
	g := general(1, 1, []float64{0})
	f.Gram(g)
	grad = make([]float64, f.Derivatives())
	f.Gradient(grad, one)
	k := len(views)
	more := make([]float64, 3*k)
	f.ViewSlopes(more[k:2*k], more[2*k:], more[:k])
	return f, 0.5 * (f.LogDet() + g.Data[0]), append(grad[:len(grad)-1], more...)
}

// TestDerivative compares f′ = gᵀx with differences of the covariance, and ∂g with differences of g.
func TestDerivative(t *testing.T) {
	for kind, theta := range map[string][]float64{
		"constant": nil, "turn": {0.4}, "matern32": {0.3}, "matern52": {-0.4}, "oscillator": {0.2, -0.9},
		"matern⊗oscillator": {0.3, 0.5, 0.4},
		"matern⊗turn":       {0.1, 0.7}, "constant⊗turn": {0.7},
	} {
		p, params := process(kind, theta)
		blocks := []Block{{Process: p, Params: params, Variance: 1}}
		f, slope := View{Value: 1}, View{Slope: 1}
		at := func(v, w View) func(float64) float64 {
			return func(s float64) float64 { return covViews(blocks, v, w, s, 0) }
		}
		central := &fd.Settings{Formula: fd.Central, Step: 1e-5}
		if got, want := at(slope, f)(0.3), fd.Derivative(at(f, f), 0.3, central); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
			t.Errorf("%s: cov(f′, f) = %v, want %v", kind, got, want)
		}
		if got, want := at(slope, slope)(0.3), -fd.Derivative(at(slope, f), 0.3,
			central); math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
			t.Errorf("%s: cov(f′, f′) = %v, want %v", kind, got, want)
		}
		d := p.Dim()
		slopes := make([]float64, d*params)
		p.(Differentiable).Derivative(make([]float64, d), slopes)
		for k := range params {
			for e := range d {
				want := fd.Derivative(func(u float64) float64 {
					moved := slices.Clone(theta)
					moved[k] = u
					q, _ := process(kind, moved)
					return functional(q, params, slope)[e]
				}, theta[k], central)
				if math.Abs(slopes[k*d+e]-want) > 1e-7 {
					t.Errorf("%s: ∂g%d in parameter %d = %v, want %v", kind, e, k, slopes[k*d+e], want)
				}
			}
		}
	}
	if (&Matern{0, 1}).Derivative(make([]float64, 1), make([]float64, 1)) {
		t.Error("Laplace has no derivative")
	}
}

// fivePoints is a difference of the fourth order: phases turn by much of a radian.
var fivePoints = &fd.Settings{Step: 1e-5, Formula: fd.Formula{Derivative: 1, Step: 1e-5, Stencil: []fd.Point{
	{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -8. / 12}, {Loc: 1, Coeff: 8. / 12}, {Loc: 2, Coeff: -1. / 12}}}}

func randomViewed(rnd *rand.Rand, n int) *viewedCase {
	all := [][]string{{"matern32"}, {"oscillator"}, {"matern52"}, {"matern⊗oscillator"}, {"matern⊗turn"}, {"oscillator",
		"oscillator"},
		{"matern32", "matern52"}, {"turn", "matern32"}, {"matern32", "constant"}, {"constant⊗turn", "oscillator"}}
	c := &viewedCase{kinds: all[rnd.IntN(len(all))]}
	for _, kind := range c.kinds {
		_, params := process(kind, []float64{0, 0, 0})
		for range 1 + params {
			c.theta = append(c.theta, rnd.NormFloat64())
		}
	}
	k := 1 + rnd.IntN(4)
	for v := range k {
		view := View{rnd.NormFloat64(), rnd.NormFloat64()}
		switch (v + rnd.IntN(2)) % 4 {
		case 1:
			view.Slope = 0
		case 3:
			view.Value = 0
			if rnd.IntN(2) == 0 {
				view.Slope = 0 // noise alone
			}
		}
		c.views = append(c.views, view)
		c.theta = append(c.theta, -3+rnd.NormFloat64())
	}
	for range n {
		s := 5 * rnd.NormFloat64()
		if rnd.IntN(4) == 0 && len(c.t) > 0 {
			s = c.t[len(c.t)-1] // two instruments at one time
		}
		c.t = append(c.t, s)
		c.of, c.y = append(c.of, rnd.IntN(k)), append(c.y, rnd.NormFloat64())
	}
	slices.Sort(c.t)
	return c
}

// TestViews compares values, gradients and posteriors with dense algebra, in float64 and in double-double.
func TestViews(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 8))
	for trial := range testkit.Size(40, 200, 2000) {
		c := randomViewed(rnd, 1+rnd.IntN(25))
		t.Run(fmt.Sprint(trial, c.kinds), func(t *testing.T) {
			f, value, grad := c.filter(t, c.theta, c.views, trial%2 == 1)
			root, want := c.dense(c.theta, c.views)
			if !(math.Abs(value-want) < 1e-9*(1+math.Abs(want))) {
				t.Fatalf("value %v, want %v", value, want)
			}
			x := slices.Clone(c.theta)
			for _, v := range c.views {
				x = append(x, v.Value)
			}
			for _, v := range c.views {
				x = append(x, v.Slope)
			}
			k := len(c.views)
			for i := range x {
				slope := fd.Derivative(func(u float64) float64 {
					moved := slices.Clone(x)
					moved[i] = u
					views := make([]View, k)
					for v := range views {
						views[v] = View{moved[len(c.theta)+v], moved[len(c.theta)+k+v]}
					}
					_, value := c.dense(moved[:len(c.theta)], views)
					return value
				}, x[i], fivePoints)
				if !(math.Abs(grad[i]-slope) < 1e-5*(1+math.Abs(slope)+math.Abs(want))) {
					t.Errorf("derivative %d: %v, want %v", i, grad[i], slope)
				}
			}
			c.checkPosterior(t, rnd, f, root)
		})
	}
}

// checkPosterior compares means and variances of every view, at and between the inputs.
func (c *viewedCase) checkPosterior(t *testing.T, rnd *rand.Rand, f *Filter, root *mat.Cholesky) {
	const m = 12
	blocks, _ := c.blocks(c.theta)
	at, view := make([]float64, m), make([]int, m)
	for i := range at {
		at[i], view[i] = 6*rnd.NormFloat64(), rnd.IntN(len(c.views))
		if i%3 == 0 {
			at[i] = c.t[rnd.IntN(len(c.t))]
		}
	}
	mean, variance := make([]float64, m), make([]float64, m)
	f.PosteriorOf(column(mean), variance, at, view)
	for i := range at {
		cross := mat.NewVecDense(len(c.t), nil)
		for j := range c.t {
			cross.SetVec(j, covViews(blocks, c.views[view[i]], c.views[c.of[j]], at[i], c.t[j]))
		}
		var x mat.VecDense
		if err := root.SolveVecTo(&x, cross); err != nil {
			t.Fatal(err)
		}
		prior := covViews(blocks, c.views[view[i]], c.views[view[i]], at[i], at[i])
		if want := mat.Dot(&x, mat.NewVecDense(len(c.y), c.y)); math.Abs(mean[i]-want) > 1e-8*(1+math.Abs(want)+prior) {
			t.Errorf("mean at %v: %v, want %v", at[i], mean[i], want)
		}
		if want := prior - mat.Dot(&x, cross); math.Abs(variance[i]-want) > 1e-9*(1e-3+prior) {
			t.Errorf("variance at %v: %v, want %v", at[i], variance[i], want)
		}
	}
}
