package statespace

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"gonum.org/v1/gonum/blas/blas64"
)

func oscillatorOf(period, quality float64) *Oscillator {
	p := NewOscillator(period, quality)
	return &p
}

// withParams returns an oscillator whose own parameters (see Parted) are first and, but for a factor, second, which is a quality
// if the process is not parted.
func withParams(first, second float64) *Oscillator {
	if p := oscillatorOf(first, second); !p.parted {
		return p
	}
	ratio := second / 3
	return oscillatorOf(2*math.Pi*first*math.Sqrt(ratio), math.Sqrt(ratio)/(1+ratio))
}

// process returns a process of the tests and its number of parameters, whose logs are theta.
func process(kind string, theta []float64) (Process, int) {
	at := func(i int) float64 { return math.Exp(theta[i]) }
	switch kind {
	case "constant":
		return Constant{}, 0
	case "oscillator":
		return withParams(at(0), at(1)), 2
	case "turn":
		return Turn{at(0), 1}, 1
	case "matern⊗turn":
		return &Kronecker{&Matern{1, at(0)}, Turn{at(1), 2}, 1, 1}, 2
	case "constant⊗turn":
		return &Kronecker{Constant{}, Turn{at(0), 1}, 0, 1}, 1
	case "matern⊗oscillator":
		return &Kronecker{&Matern{1, at(0)}, withParams(at(1), at(2)), 1, 2}, 3
	}
	order := map[string]int{"laplace": 0, "matern32": 1, "matern52": 2}[kind]
	return &Matern{order, at(0)}, 1
}

// covOf is k(r) = (ΦP∞)₁₁.
func covOf(p Process, r float64) float64 {
	d := p.Dim()
	phi, q, all := make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
	p.Transition(phi, all, math.Inf(1))
	p.Transition(phi, q, r)
	var k float64
	for j := range d {
		k += phi[j] * all[j*d]
	}
	return k
}

// TestProcess compares Q with P∞ − ΦP∞Φᵀ, Φ with the semigroup, and slopes with central differences.
func TestProcess(t *testing.T) {
	for _, c := range []struct {
		kind  string
		theta []float64
	}{
		{"constant", nil}, {"laplace", []float64{0.3}}, {"matern32", []float64{0.3}}, {"matern52", []float64{-0.2}},
		{"matern⊗oscillator", []float64{0.3, 0.5, 0.4}}, {"turn", []float64{0.4}}, {"matern⊗turn",
			[]float64{0.3, 0.5}}, {"constant⊗turn", []float64{0.2}},
		{"oscillator", []float64{0.5, math.Log(0.01)}}, {"oscillator", []float64{0.5, math.Log(0.3)}},
		{"oscillator", []float64{0.5, math.Log(0.49)}}, {"oscillator", []float64{0.5, math.Log(0.5)}},
		{"oscillator", []float64{0.5, math.Log(0.5 + 1e-9)}}, {"oscillator", []float64{0.5, math.Log(0.52)}},
		{"oscillator", []float64{0.5, math.Log(3)}}, {"oscillator", []float64{0.5, math.Log(1e4)}},
	} {
		for _, gap := range []float64{0, 1e-9, 1e-4, 0.01, 0.05, 0.1, 0.3, 1, 3, 20} {
			t.Run(fmt.Sprintf("%s%.3g/%g", c.kind, c.theta, gap), func(t *testing.T) {
				p, params := process(c.kind, c.theta)
				d := p.Dim()
				dd := d * d
				get := func(p Process, gap float64) []float64 {
					out := make([]float64, 2*dd)
					p.Transition(out[:dd], out[dd:], gap)
					return out
				}
				at, all, half := get(p, gap), get(p, math.Inf(1))[dd:], get(p, gap/2)
				x, y := make([]float64, dd), make([]float64, dd)
				leftRight(y, x, at[:dd], all, at[:dd], d, d)
				for i, q := range at[dd:] {
					if math.Abs(q-(all[i]-y[i])) > 1e-14 {
						t.Errorf("Q entry %d: %v, want %v", i, q, all[i]-y[i])
					}
				}
				// Φ(Δ) = Φ(Δ/2)², Q(Δ) = Q(Δ/2) + ΦQ(Δ/2)Φᵀ: relative, on the diagonal, at any gap.
				leftRight(y, x, half[:dd], half[dd:], half[:dd], d, d)
				for i := range d {
					want := half[dd+i*d+i] + y[i*d+i]
					if math.Abs(at[dd+i*d+i]-want) > 1e-12*want {
						t.Errorf("Q%d%d: %v, by halves %v", i, i, at[dd+i*d+i], want)
					}
				}
				if params == 0 {
					return
				}
				slopes := make([]float64, 2*params*dd)
				p.Slopes(slopes[:params*dd], slopes[params*dd:], at[:dd], at[dd:], gap)
				for k := range params {
					for e := range 2 * dd {
						got := slopes[k*dd+e%dd]
						if e >= dd {
							got = slopes[(params+k)*dd+e-dd]
						}
						want := fd.Derivative(func(u float64) float64 {
							theta := append([]float64(nil), c.theta...)
							theta[k] = u
							q, _ := process(c.kind, theta)
							return get(q, gap)[e]
						}, c.theta[k], &fd.Settings{Formula: fd.Central, Step: 1e-5})
						if math.Abs(got-want) > 1e-9+1e-6*math.Abs(want) {
							t.Errorf("slope %d of entry %d: %v, want %v", k, e, got, want)
						}
					}
				}
			})
		}
	}
}

// TestOscillatorShort compares Q₁₁ at short gaps, and φ and k, with 220 bits: none of their digits is lost, through quality ½.
func TestOscillatorShort(t *testing.T) {
	for _, quality := range []float64{0.02, 0.3, 0.499, 0.5, 0.5 + 1e-7, 0.51, 0.7, 5, 1e5} {
		p := oscillatorOf(2*math.Pi, quality)
		for _, u := range []float64{1e-12, 1e-6, 1e-3, 0.04, 0.1, 0.2499, 0.26, 0.5, 0.8} {
			if p.beta*u > 10 { // the reference cancels
				continue
			}
			phi, q := make([]float64, 4), make([]float64, 4)
			p.Transition(phi, q, u)
			s, q11 := bigOscillator(p.beta, u)
			if math.Abs(phi[1]-s) > 8*eps*s || math.Abs(q[0]-q11) > 256*eps*q11 {
				t.Errorf("quality %v, u %v: φ₁₂ %v, want %v; Q₁₁ %v, want %v (relative %.2g)", quality, u, phi[1], s, q[0], q11, q[0]/q11-1)
			}
		}
	}
}

// bigOscillator returns φ₁₂ and Q₁₁ by their power series.
func bigOscillator(beta, u float64) (s, q11 float64) {
	const n = 160
	a := make([]*big.Float, n)
	a[0], a[1] = bf(0), bf(1)
	mul := func(x, y *big.Float) *big.Float { return zero().Mul(x, y) }
	for k := range n - 2 {
		v := mul(mul(bf(2*beta), bf(float64(k+1))), a[k+1])
		v.Add(v, a[k])
		v.Quo(v, bf(float64((k+1)*(k+2))))
		a[k+2] = v.Neg(v)
	}
	sum, q, power := bf(0), bf(0), bf(1)
	for j := range n {
		sum.Add(sum, mul(a[j], power))
		c := bf(0)
		for k := range j + 1 {
			c.Add(c, mul(a[k], a[j-k]))
		}
		power.Mul(power, bf(u))
		c.Mul(c, power)
		q.Add(q, c.Quo(c, bf(float64(j+1))))
	}
	s, _ = sum.Float64()
	q11, _ = mul(q, bf(4*beta)).Float64()
	return s, q11
}

// A blockCase is a sum of blocks as a function of the logs of its derivatives' parameters, weights plain.
type blockCase struct {
	name   string
	kinds  []string
	first  []int
	counts []int // numbers of weights, 0 for none
	theta  []float64
}

func (c *blockCase) blocks(theta []float64) (bs []Block) {
	at := 0
	next := func() float64 { at++; return theta[at-1] }
	for i, kind := range c.kinds {
		b := Block{Variance: math.Exp(next())}
		b.Process, b.Params = process(kind, theta[at:])
		at += b.Params
		if c.counts[i] > 0 {
			b.Period, b.First = math.Exp(next()), c.first[i]
			for range c.counts[i] {
				b.Weights = append(b.Weights, next())
			}
		}
		bs = append(bs, b)
	}
	return bs
}

var blockCases = []blockCase{
	{"oscillator", []string{"oscillator"}, []int{0}, []int{0}, []float64{0.2, -1, 0.4}},
	{"rotation", []string{"oscillator", "oscillator"}, []int{0, 0}, []int{0, 0}, []float64{0.2, -1, 0.4, -0.5, -1.6, 0.5}},
	{"matern32 + oscillator", []string{"matern32", "oscillator"}, []int{0, 0}, []int{0, 0}, []float64{0.2, -1, -0.5, -1.6, 0.5}},
	{"cosine", []string{"constant"}, []int{1}, []int{1}, []float64{0.3, -1.2, 0.8}},
	{"periodic", []string{"constant"}, []int{0}, []int{4}, []float64{0.3, -1.2, 0.5, 0.3, 0.2, 0.05}},
	{"matern32·periodic", []string{"matern32"}, []int{0}, []int{4}, []float64{0.3, -0.4, -1.2, 0.5, 0.3, 0.2, 0.05}},
	{"matern32·cosine + matern32", []string{"matern32", "matern32"}, []int{1, 0}, []int{2, 0},
		[]float64{0.3, -0.4, -1.2, 0.5, 0.2, 0.4, -1.3}},
	{"laplace·cosine", []string{"laplace"}, []int{2}, []int{1}, []float64{0.3, -0.4, -1.2, 0.5}},
	{"matern52·cosine + oscillator + laplace", []string{"matern52", "oscillator",
		"laplace"}, []int{1, 0, 0}, []int{1, 0, 0}, []float64{0.3, -0.4, -1.2, 0.5, 0.1, -1.5, 0.9, -1, -2}},
	{"oscillator·periodic + oscillator", []string{"oscillator", "oscillator"}, []int{0, 0}, []int{3, 0},
		[]float64{0.3, -0.4, -0.2, -1.2, 0.5, 0.3, 0.2, -0.4, -1.6, 1.5}},
	{"(matern32⊗oscillator)·cosine", []string{"matern⊗oscillator"}, []int{1}, []int{1}, []float64{0.3, -0.4, -1.2, 0.9, -1.9, 0.7}},
}

// denseBlocks is K of blocks between inputs.
func denseBlocks(bs []Block, x, y []float64) *mat.Dense {
	k := mat.NewDense(len(x), len(y), nil)
	for _, b := range bs {
		for i := range x {
			for j := range y {
				r := math.Abs(x[i] - y[j])
				v := b.Variance * covOf(b.Process, r)
				if b.Weights != nil {
					var w float64
					for m, c := range b.Weights {
						w += c * math.Cos(2*math.Pi*float64(b.First+m)*r/b.Period)
					}
					v *= w
				}
				k.Set(i, j, k.At(i, j)+v)
			}
		}
	}
	return k
}

// TestBlocks compares value, gradient, posterior, solutions and what is left out with dense algebra and differences.
func TestBlocks(t *testing.T) {
	for _, c := range blockCases {
		for _, lay := range layouts {
			for _, n := range []int{1, 2, 9, 40} {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, lay.name, n), func(t *testing.T) {
					rnd := rand.New(rand.NewPCG(3, uint64(n)))
					x := sorted(lay.draw(rnd, n))
					known := uniform(rnd, n)
					columns := general(n, 3, normals(rnd, 3*n))
					r := general(3, 2, []float64{1, 0.3, -0.4, 0.2, 0, 0.7})
					f := NewFilter(x, known)
					g := general(3, 3, make([]float64, 9))
					value := func(theta []float64) float64 {
						last := len(theta) - 1
						if err := f.factorisePairs(columns, c.blocks(theta[:last]), math.Exp(theta[last])); err != nil {
							t.Fatal(err)
						}
						f.Gram(g)
						v := f.LogDet()
						for j := range r.Cols {
							for a := range 3 {
								for b := range 3 {
									v -= -r.Data[a*2+j] * g.Data[a*3+b] * r.Data[b*2+j]
								}
							}
						}
						return 0.5 * v
					}
					theta := append(append([]float64(nil), c.theta...), -2)
					want := fd.Gradient(nil, value, theta, &fd.Settings{Formula: fd.Central, Step: 1e-5})
					bs := c.blocks(c.theta)
					value(theta)
					grad := make([]float64, f.Derivatives())
					f.Gradient(grad, r)
					if diff := maxDiff(grad, want); !(diff <= 2e-6*(1+maxNorm(want))) {
						t.Errorf("gradient %v, want %v", grad, want)
					}

					a := denseBlocks(bs, x, x)
					for i := range n {
						a.Set(i, i, a.At(i, i)+math.Exp(-2)+known[i])
					}
					var lu mat.LU
					lu.Factorize(a)
					logDet, _ := lu.LogDet()
					if math.Abs(f.LogDet()-logDet) > 1e-11*float64(n) {
						t.Errorf("log|A| = %v, want %v", f.LogDet(), logDet)
					}
					all := mat.NewDense(n, 3, columns.Data)
					var solved, gram mat.Dense
					if err := lu.SolveTo(&solved, false, all); err != nil {
						t.Fatal(err)
					}
					gram.Mul(all.T(), &solved)
					if diff := maxDiff(g.Data, gram.RawMatrix().Data); diff > 1e-10*(1+maxNorm(g.Data)) {
						t.Errorf("CᵀA⁻¹C %v, want %v", g.Data, gram.RawMatrix().Data)
					}
					first := make([]float64, n)
					for i := range first {
						first[i] = columns.Data[3*i]
					}
					f.Reader().Solve(first, first)
					for i, v := range first {
						if math.Abs(v-solved.At(i, 0)) > 1e-10 {
							t.Errorf("A⁻¹y entry %d: %v, want %v", i, v, solved.At(i, 0))
						}
					}
					at := append([]float64{-0.5, 1.3, x[0], x[n-1]}, uniform(rnd, 5)...)
					means, variance := general(len(at), 3, make([]float64, 3*len(at))), make([]float64, len(at))
					f.Reader().Posterior(means, variance, at)
					cross := denseBlocks(bs, at, x)
					var m, half, q mat.Dense
					m.Mul(cross, &solved)
					if diff := maxDiff(means.Data, m.RawMatrix().Data); diff > 1e-10 {
						t.Errorf("posterior means %v, want %v", means.Data, m.RawMatrix().Data)
					}
					if err := lu.SolveTo(&half, false, cross.T()); err != nil {
						t.Fatal(err)
					}
					q.Mul(cross, &half)
					prior := denseBlocks(bs, at, at)
					for i, v := range variance {
						if want := prior.At(i, i) - q.At(i, i); math.Abs(v-want) > 1e-10 {
							t.Errorf("posterior variance at %v: %v, want %v", at[i], v, want)
						}
					}
					if n > 2 {
						checkLeftOut(t, f, a, columns, n)
					}
				})
			}
		}
	}
}

// checkLeftOut compares with the conditional of the first column without a mean.
func checkLeftOut(t *testing.T, f *Filter, a *mat.Dense, columns blas64.General, n int) {
	blocks := [][]int{{0}, {n - 1, n - 3}}
	mean, variance := make([]float64, n), make([]float64, n)
	own := general(n, 1, make([]float64, n))
	for i := range n {
		own.Data[i] = columns.Data[i*columns.Stride]
	}
	if err := f.LeaveOut(mean, variance, own, nil, blocks); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		var rest []int
		for i := range n {
			if i != block[0] && (len(block) == 1 || i != block[1]) {
				rest = append(rest, i)
			}
		}
		in, cross, y := mat.NewDense(len(rest), len(rest), nil), mat.NewDense(len(rest), 1, nil), mat.NewDense(len(rest), 1, nil)
		for _, i := range block {
			for p, j := range rest {
				for q, k := range rest {
					in.Set(p, q, a.At(j, k))
				}
				cross.Set(p, 0, a.At(j, i))
				y.Set(p, 0, own.Data[j])
			}
			var w, m, v mat.Dense
			if err := w.Solve(in, cross); err != nil {
				t.Fatal(err)
			}
			m.Mul(w.T(), y)
			v.Mul(w.T(), cross)
			if math.Abs(mean[i]-m.At(0, 0)) > 1e-9 || math.Abs(variance[i]-(a.At(i, i)-v.At(0, 0))) > 1e-9 {
				t.Errorf("observation %d left out: %v ± %v, want %v, %v", i, mean[i], variance[i], m.At(0, 0), a.At(i, i)-v.At(0, 0))
			}
		}
	}
}
