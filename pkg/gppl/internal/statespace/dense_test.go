package statespace

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// cov returns c's covariance at distance r and its derivative in log l.
func (c component) cov(r float64) (k, slope float64) {
	a := c.rate() * r
	if a > 700 {
		return 0, 0
	}
	e := c.Variance * math.Exp(-a)
	switch c.Order {
	case 0:
		return e, e * a
	case 1:
		return e * (1 + a), e * a * a
	default:
		return e * (1 + a + a*a/3), e * a * a * (1 + a) / 3
	}
}

// gram returns the dense K and its derivative in log l.
func gram(c component, t []float64) (k, slope *mat.SymDense) {
	k, slope = mat.NewSymDense(len(t), nil), mat.NewSymDense(len(t), nil)
	for i := range t {
		for j := range i + 1 {
			v, s := c.cov(t[i] - t[j])
			k.SetSym(i, j, v)
			slope.SetSym(i, j, s)
		}
	}
	return k, slope
}

// denseResult is what a Filter computes, by dense algebra.
type denseResult struct {
	nll, logDet float64
	grad, alpha []float64
	chol        mat.Cholesky
}

func denseNLL(t, y []float64, cs []component, noise float64) (res denseResult, ok bool) {
	n := len(t)
	a := mat.NewSymDense(n, nil)
	var parts []*mat.SymDense
	for _, c := range cs {
		k, s := gram(c, t)
		a.AddSym(a, k)
		parts = append(parts, k, s)
	}
	eye := mat.NewSymDense(n, nil)
	for i := range n {
		eye.SetSym(i, i, noise)
	}
	a.AddSym(a, eye)
	parts = append(parts, eye)
	if !res.chol.Factorize(a) {
		return res, false
	}
	alpha := mat.NewVecDense(n, nil)
	if err := res.chol.SolveVecTo(alpha, mat.NewVecDense(n, y)); err != nil {
		if _, soft := err.(mat.Condition); !soft {
			return res, false
		}
	}
	res.alpha = alpha.RawVector().Data
	res.logDet = res.chol.LogDet()
	res.nll = 0.5 * (mat.Dot(alpha, mat.NewVecDense(n, y)) + res.logDet + float64(n)*math.Log(2*math.Pi))
	inv := mat.NewSymDense(n, nil)
	if err := res.chol.InverseTo(inv); err != nil {
		if _, soft := err.(mat.Condition); !soft {
			return res, false
		}
	}
	for _, p := range parts {
		var g float64
		for i := range n {
			for j := range n {
				w := inv.At(i, j)
				g += 0.5 * (w - res.alpha[i]*res.alpha[j]) * p.At(i, j)
			}
		}
		res.grad = append(res.grad, g)
	}
	return res, true
}

// A layout of inputs; all in [0, 1].
type layout struct {
	name string
	draw func(rnd *rand.Rand, n int) []float64
}

var layouts = []layout{
	{"irregular", func(rnd *rand.Rand, n int) []float64 { return uniform(rnd, n) }},
	{"regular", func(_ *rand.Rand, n int) []float64 {
		t := make([]float64, n)
		for i := range t {
			t[i] = float64(i) / float64(max(1, n-1))
		}
		return t
	}},
	{"clustered", func(rnd *rand.Rand, n int) []float64 {
		t := make([]float64, n)
		for i := range t {
			t[i] = math.Floor(4*rnd.Float64())/4 + math.Pow(10, -1-9*rnd.Float64())
		}
		return t
	}},
	{"duplicated", func(rnd *rand.Rand, n int) []float64 {
		t := uniform(rnd, n)
		for i := range t {
			t[i] = t[rnd.IntN(1+i/2)]
		}
		return t
	}},
}

func uniform(rnd *rand.Rand, n int) []float64 {
	t := make([]float64, n)
	for i := range t {
		t[i] = rnd.Float64()
	}
	return t
}

func normals(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// drawY returns something like a sample of N(0, A).
func drawY(rnd *rand.Rand, t []float64, cs []component, noise float64) []float64 {
	y := normals(rnd, len(t))
	for i := range y {
		y[i] *= math.Sqrt(noise)
	}
	for _, c := range cs {
		w := math.Sqrt(c.Variance / 8)
		for range 8 {
			f, p := c.rate()*rnd.NormFloat64(), 2*math.Pi*rnd.Float64()
			for i, v := range t {
				y[i] += w * math.Sqrt2 * math.Cos(f*v+p)
			}
		}
	}
	return y
}

func sorted(t []float64) []float64 { slices.Sort(t); return t }

func maxNorm(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func maxDiff(x, y []float64) (m float64) {
	for i := range x {
		d := math.Abs(x[i] - y[i])
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		m = max(m, d)
	}
	return m
}

func general(r, c int, data []float64) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: data}
}

func total(cs []component) (v float64) {
	for _, c := range cs {
		v += c.Variance
	}
	return v
}
