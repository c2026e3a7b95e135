package gppl_test

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// The reference: value and gradient of the losses by their definitions, in
// double-double, O(n³) and plain. It bears conditions up to about 1e20, where
// float64 has lost everything at 1e16.

// truth is what a loss should return, with the scales by which its rounding is
// to be judged. Gradients are in the logs of the parameters, noise last.
type truth struct {
	value wide
	size  float64 // sum of the absolute values of the terms of value
	quad  float64 // yᵀA⁻¹y, or zᵀS⁻¹z
	grad  []wide
	// gradSize[p] is the sum of the absolute values of the terms of grad[p],
	// pair of observations by pair.
	gradSize []float64
	// slope[p] says how much faster than log v the covariances move with
	// log θ_p: the largest of 1, |∂k/∂log θ_p|/v between two of the observations,
	// |tr A⁻¹∂A|/n and |αᵀ∂Aα|/max(n, yᵀA⁻¹y). The last two are 1 at most for v itself.
	slope []float64
	prior float64 // v, the prior variance
}

// referenceError is what the derivatives of the reference may err by, in nats:
// 1e-8·n at v/σ² = 1e12, where an engine in float64 cannot promise 1e-3·n.
func referenceError(n int, v, noise float64) float64 {
	return 1e-32 * float64(n) * (1 + v/noise) * (1 + v/noise)
}

// wideGram is K and its derivatives in double-double, without noise.
type wideGram struct {
	k     wideLower
	deriv []wideLower
	prior wide      // k of an observation with itself
	self  []wide    // derivatives of the value
	slope []float64 // see truth, without the noise's
}

func newWideGram(k gppl.Kernel, x []float64) *wideGram {
	w := widen(k)
	n, params := len(x), w.params()
	g := &wideGram{k: newWideLower(n), self: make([]wide, params), slope: make([]float64, params)}
	g.prior = w.at(g.self, wide{}, true)
	for range params {
		g.deriv = append(g.deriv, newWideLower(n))
	}
	d := make([]wide, params)
	for i := range n {
		for j := range i + 1 {
			g.k[i][j] = w.at(d, doubled.Difference(x[i], x[j]).Abs(), i == j)
			for p, v := range d {
				g.deriv[p][i][j] = v
				g.slope[p] = max(g.slope[p], math.Abs(v.Hi))
			}
		}
	}
	for p := range g.slope {
		g.slope[p] = max(1, g.slope[p]/g.prior.Hi)
	}
	return g
}

// contract adds c·⟨w, ∂K_p⟩ to component p of the gradient, for every p and a
// symmetric w whose lower triangle row makes, one row at a time.
func (g *wideGram) contract(t *truth, c float64, row func(dst []wide, i int)) {
	w := make([]wide, len(g.k))
	for i := range g.k {
		row(w[:i+1], i)
		for p, d := range g.deriv {
			sum := doubled.Dot(d[i][:i], w).Scale(2).Add(d[i][i].Mul(w[i]))
			t.grad[p] = t.grad[p].Add(sum.Times(c))
			size := math.Abs(d[i][i].Hi * w[i].Hi)
			for j, v := range d[i][:i] {
				size += 2 * math.Abs(v.Hi*w[j].Hi)
			}
			t.gradSize[p] += math.Abs(c) * size
		}
	}
}

// steepen sets the slopes to |tr A⁻¹∂A|/n and |αᵀ∂Aα|/max(n, yᵀA⁻¹y) where these are more. The
// gradient is ½tr A⁻¹∂A so far, and form subtracts ½αᵀ∂Aα from it.
func (t *truth) steepen(n int, form func()) {
	trace := slices.Clone(t.grad)
	for p, v := range trace {
		t.slope[p] = max(t.slope[p], 2*math.Abs(v.Hi)/float64(n))
	}
	form()
	for p, v := range t.grad {
		t.slope[p] = max(t.slope[p], 2*math.Abs(v.Sub(trace[p]).Hi)/max(float64(n), t.quad))
	}
}

// outer is the row of vvᵀ.
func outer(v []wide) func(dst []wide, i int) {
	return func(dst []wide, i int) {
		for j := range dst {
			dst[j] = v[i].Mul(v[j])
		}
	}
}

func widenVector(y []float64) []wide {
	w := make([]wide, len(y))
	for i, v := range y {
		w[i] = doubled.Of(v)
	}
	return w
}

// gaussian is −log N(b | 0, A) for the A that is factorised in place, with A⁻¹
// as inverse and α = A⁻¹b.
type gaussian struct {
	quad, logDet wide
	inverse      wideUpper
	alpha        []wide
	b            []wide
}

func newGaussian(a wideLower, b []wide) (*gaussian, error) {
	if err := a.Cholesky(); err != nil {
		return nil, fmt.Errorf("the reference cannot be factorised: %w", err)
	}
	half := a.Solve(b)
	g := &gaussian{quad: doubled.Dot(half, half), logDet: a.LogDet(), inverse: a.Invert(), b: b}
	g.alpha = g.inverse.MulTrans(half)
	return g, nil
}

// nll adds the value to t.
func (g *gaussian) nll(t *truth) {
	constant := wideLog2π.Times(float64(len(g.b)))
	t.value = t.value.Add(g.quad.Add(g.logDet).Add(constant).Scale(0.5))
	t.quad = g.quad.Hi
	t.size += 0.5 * (math.Abs(g.logDet.Hi) + constant.Hi)
	for i, b := range g.b {
		t.size += 0.5 * math.Abs(b.Hi*g.alpha[i].Hi)
	}
}

// trace returns tr A⁻¹.
func (g *gaussian) trace() (sum wide) {
	for i := range g.alpha {
		sum = sum.Add(g.inverse.Inverse(i, i))
	}
	return sum
}

// term adds c·v to component p of the gradient.
func (t *truth) term(p int, c float64, v wide) {
	v = v.Times(c)
	t.grad[p] = t.grad[p].Add(v)
	t.gradSize[p] += math.Abs(v.Hi)
}

func (g *wideGram) newTruth() *truth {
	params := len(g.deriv) + 1
	return &truth{grad: make([]wide, params), gradSize: make([]float64, params),
		slope: append(append([]float64(nil), g.slope...), 1), prior: g.prior.Hi}
}

// withNoise returns a copy of K with the noise on its diagonal.
func (g *wideGram) withNoise(noise float64) wideLower {
	a := newWideLower(len(g.k))
	for i, row := range g.k {
		copy(a[i], row)
		a[i][i] = a[i][i].Add(doubled.Of(noise))
	}
	return a
}

// exact returns the exact NLL,
//
//	½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,  ∂ = ½tr(A⁻¹∂A) − ½αᵀ∂Aα.
//
// where A has the squares of known errors on its diagonal, if there are some.
func (g *wideGram) exact(noise float64, errors, y []float64) (*truth, error) {
	sum := g.withNoise(noise)
	for i, s := range errors {
		sum[i][i] = sum[i][i].Add(doubled.Of(s).Times(s))
	}
	a, err := newGaussian(sum, widenVector(y))
	if err != nil {
		return nil, err
	}
	t, n := g.newTruth(), len(y)
	a.nll(t)
	g.contract(t, 0.5, func(dst []wide, i int) {
		for j := range dst {
			dst[j] = a.inverse.Inverse(i, j)
		}
	})
	t.steepen(n, func() { g.contract(t, -0.5, outer(a.alpha)) })
	last := len(g.deriv)
	t.term(last, 0.5*noise, a.trace())
	t.term(last, -0.5*noise, doubled.Dot(a.alpha, a.alpha))
	return t, nil
}

// projected returns PL under the projection, as it is given in float64, and,
// if asked to, the part of the residual energy.
//
//	S = ΩᵀKΩ + σ²I (σ²ΩᵀΩ for a raw one),  ∂ = ½⟨S⁻¹ − ββᵀ, ∂S⟩
//	τ = σ² + (n·k(0) − tr ΩᵀKΩ)/(n−k),     ∂ += ½((n−k)/τ − r/τ²)∂τ
func (g *wideGram) projected(noise float64, y []float64, proj *gppl.Projection, residual bool) (*truth, error) {
	n, k := proj.Dims()
	column, row := make([][]wide, k), make([][]wide, n)
	for c := range column {
		column[c] = make([]wide, n)
	}
	for i := range row {
		row[i] = widenVector(omegaOf(proj).RawRowView(i))
		for c, v := range row[i] {
			column[c][i] = v
		}
	}
	// S₀ = ΩᵀKΩ by KΩ, a column at a time.
	s := newWideLower(k)
	full := g.full()
	kOmega := make([]wide, n)
	for c := range k {
		for i := range kOmega {
			kOmega[i] = doubled.Dot(full[i], column[c])
		}
		for d := c; d < k; d++ {
			s[d][c] = doubled.Dot(column[d], kOmega)
		}
	}
	var traceS wide
	for c := range k {
		traceS = traceS.Add(s[c][c])
	}
	oto := func(c, d int) wide {
		if proj.Orthonormal {
			if c == d {
				return doubled.Of(1)
			}
			return wide{}
		}
		return doubled.Dot(column[c], column[d])
	}
	for c := range k {
		for d := range c + 1 {
			s[c][d] = s[c][d].Add(oto(c, d).Times(noise))
		}
	}
	z := make([]wide, k)
	for c := range z {
		z[c] = doubled.Dot(column[c], widenVector(y))
	}
	a, err := newGaussian(s, z)
	if err != nil {
		return nil, err
	}
	t := g.newTruth()
	a.nll(t)

	// The residual's part, and its derivative in τ.
	var slope wide
	dof := float64(n - k)
	residual = residual && n > k
	if residual {
		var energy wide
		for i := range n {
			e := doubled.Of(y[i]).Sub(doubled.Dot(row[i], z))
			energy = energy.Add(e.Mul(e))
		}
		tau := doubled.Of(noise).Add(g.prior.Times(float64(n)).Sub(traceS).Div(doubled.Of(dof)))
		over := energy.Div(tau)
		logs := wideLog(tau).Add(wideLog2π).Times(dof)
		t.value = t.value.Add(over.Add(logs).Scale(0.5))
		t.size += 0.5 * (over.Hi + math.Abs(logs.Hi))
		slope = doubled.Of(dof).Sub(over).Div(tau).Scale(0.5)
	}

	// ⟨ΩS⁻¹Ωᵀ, ∂K⟩, with the residual's −2·slope/(n−k) on the diagonal of S⁻¹.
	inv := make([][]wide, k)
	for c := range inv {
		inv[c] = make([]wide, k)
	}
	for c := range k {
		for d := range c + 1 {
			inv[c][d] = a.inverse.Inverse(c, d)
			inv[d][c] = inv[c][d]
		}
	}
	weight := inv
	var c2 wide
	if residual {
		c2 = slope.Scale(2).Div(doubled.Of(dof))
		for c := range k {
			weight[c][c] = weight[c][c].Sub(c2)
		}
	}
	left := make([]wide, k)
	g.contract(t, 0.5, func(dst []wide, i int) {
		for c := range left {
			left[c] = doubled.Dot(weight[c], row[i])
		}
		for j := range dst {
			dst[j] = doubled.Dot(left, row[j])
		}
	})
	back := make([]wide, n) // Ωβ
	for i := range back {
		back[i] = doubled.Dot(row[i], a.alpha)
	}
	t.steepen(k, func() { g.contract(t, -0.5, outer(back)) })
	last := len(g.deriv)
	var traceInv, quad wide // ⟨S⁻¹, ΩᵀΩ⟩ and βᵀΩᵀΩβ
	for c := range k {
		for d := range k {
			o := oto(c, d)
			traceInv = traceInv.Add(a.inverse.Inverse(max(c, d), min(c, d)).Mul(o))
			quad = quad.Add(a.alpha[c].Mul(a.alpha[d]).Mul(o))
		}
	}
	t.term(last, 0.5*noise, traceInv)
	t.term(last, -0.5*noise, quad)
	if residual {
		for p, v := range g.self {
			t.term(p, 0.5*float64(n), v.Mul(c2))
		}
		t.term(last, noise, slope)
	}
	return t, nil
}

// full returns both triangles of K, by rows.
func (g *wideGram) full() [][]wide {
	n := len(g.k)
	rows := make([][]wide, n)
	for i := range rows {
		rows[i] = make([]wide, n)
		copy(rows[i], g.k[i])
		for j := range i {
			rows[j][i] = g.k[i][j]
		}
	}
	return rows
}

// standInError is the rounding of the float64 reference, per observation and in
// nats, that standIn accepts: a hundredth of the default tolerance.
const standInError = 1e-10

// standIn returns the exact NLL for large n from the double-double K rounded to
// float64, factorised by gonum, where the condition is benign; nil where it is
// not. See TestStandIn.
func (g *wideGram) standIn(noise float64, y []float64) *truth {
	// 16 roundings of K relative to the noise are what a factorisation is
	// measured to lose per observation, in log|A| and relatively in yᵀA⁻¹y.
	loss := 16 * 0x1p-53 * (1 + g.prior.Hi/noise)
	if loss > standInError {
		return nil
	}
	n := len(y)
	a := mat.NewSymDense(n, nil)
	for i, row := range g.k {
		for j, v := range row {
			a.SetSym(i, j, v.Hi)
		}
		a.SetSym(i, i, row[i].Hi+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		return nil
	}
	var alpha mat.VecDense
	var inv mat.SymDense
	if chol.SolveVecTo(&alpha, mat.NewVecDense(n, y)) != nil || chol.InverseTo(&inv) != nil {
		return nil
	}
	quad := doubled.Dot(widenVector(y), widenVector(alpha.RawVector().Data))
	if quad.Hi*loss > standInError*float64(n) {
		return nil
	}
	t := g.newTruth()
	(&gaussian{quad: quad, logDet: doubled.Of(chol.LogDet()), alpha: widenVector(alpha.RawVector().Data), b: widenVector(y)}).nll(t)
	last := len(g.deriv)
	var trace wide
	g.contract(t, 0.5, func(dst []wide, i int) {
		for j := range dst {
			dst[j] = doubled.Of(inv.At(i, j))
		}
		trace = trace.Add(dst[i])
	})
	w := widenVector(alpha.RawVector().Data)
	t.steepen(n, func() { g.contract(t, -0.5, outer(w)) })
	t.term(last, 0.5*noise, trace)
	t.term(last, -0.5*noise, doubled.Dot(w, w))
	return t
}
