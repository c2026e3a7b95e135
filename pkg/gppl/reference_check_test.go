package gppl_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The reference is held to a reference of its own: the formulas of the kernels
// and of the NLL in big.Float with 400 bits, and derivatives by central
// differences with a step of 1e-40.

const bits = 400

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
func bigAdd(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bits).Add(a, b)
}
func bigSub(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bits).Sub(a, b)
}
func bigMul(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bits).Mul(a, b)
}
func bigDiv(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(bits).Quo(a, b)
}

// bigExp is the series of exp, of an argument halved 20 times.
func bigExp(x *big.Float) *big.Float {
	r := bigDiv(x, bigOf(1<<20))
	sum, term := bigOf(1), bigOf(1)
	for i := 1; i < 40; i++ {
		term = bigDiv(bigMul(term, r), bigOf(float64(i)))
		sum = bigAdd(sum, term)
	}
	for range 20 {
		sum = bigMul(sum, sum)
	}
	return sum
}

// bigLog inverts bigExp by Newton's method.
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := bigOf(math.Log(f))
	for range 5 {
		y = bigSub(bigAdd(y, bigMul(x, bigExp(new(big.Float).Neg(y)))), bigOf(1))
	}
	return y
}

// bigSinPi is the series of sin πt, whole turns taken off.
func bigSinPi(t *big.Float) *big.Float {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620"+
		"899862803482534211706798214808651328230664709384460955058223172535940812848111745", 10, bits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	f, _ := t.Float64()
	x := bigMul(pi, bigSub(t, bigOf(2*math.Round(f/2))))
	sum, term := bigOf(0), x
	for i := 1; i < 120; i += 2 {
		sum = bigAdd(sum, term)
		term = bigDiv(bigMul(bigMul(term, x), x), bigOf(-float64((i+1)*(i+2))))
	}
	return sum
}

// bigKernel is k(r) with the parameters theta; it returns those that it leaves.
func bigKernel(k gppl.Kernel, theta []*big.Float, r *big.Float, self bool) (*big.Float, []*big.Float) {
	one, two := bigOf(1), bigOf(2)
	neg := func(x *big.Float) *big.Float { return new(big.Float).Neg(x) }
	over := func(l *big.Float) *big.Float { return bigDiv(r, l) }
	half := func(l *big.Float) *big.Float { a := over(l); return bigDiv(bigMul(a, a), two) }
	matern := func(nu2 float64, poly func(a *big.Float) *big.Float) *big.Float {
		root := new(big.Float).SetPrec(bits).Sqrt(bigOf(nu2))
		a := bigMul(root, over(theta[1]))
		return bigMul(theta[0], bigMul(poly(a), bigExp(neg(a))))
	}
	wave := func(period, l *big.Float) *big.Float {
		s := bigDiv(bigSinPi(over(period)), l)
		return bigMul(two, bigMul(s, s))
	}
	switch k := k.(type) {
	case gppl.SE:
		return bigMul(theta[0], bigExp(neg(half(theta[1])))), theta[2:]
	case gppl.Laplace:
		return matern(1, func(*big.Float) *big.Float { return one }), theta[2:]
	case gppl.Matern32:
		return matern(3, func(a *big.Float) *big.Float { return bigAdd(one, a) }), theta[2:]
	case gppl.Matern52:
		return matern(5, func(a *big.Float) *big.Float { return bigAdd(bigAdd(one, a), bigDiv(bigMul(a, a), bigOf(3))) }), theta[2:]
	case gppl.RQ:
		return bigMul(theta[0], bigExp(neg(bigMul(theta[2], bigLog(bigAdd(one, bigDiv(half(theta[1]), theta[2]))))))), theta[3:]
	case gppl.Periodic:
		return bigMul(theta[0], bigExp(neg(wave(theta[2], theta[1])))), theta[3:]
	case gppl.LocPer:
		return bigMul(theta[0], bigExp(neg(bigAdd(half(theta[1]), wave(theta[2], theta[3]))))), theta[4:]
	case gppl.White:
		if self {
			return theta[0], theta[1:]
		}
		return bigOf(0), theta[1:]
	case gppl.Sum:
		sum := bigOf(0)
		for _, p := range k.Terms() {
			var v *big.Float
			v, theta = bigKernel(p, theta, r, self)
			sum = bigAdd(sum, v)
		}
		return sum, theta
	case gppl.Product:
		prod := one
		for _, p := range k.Factors() {
			var v *big.Float
			v, theta = bigKernel(p, theta, r, self)
			prod = bigMul(prod, v)
		}
		return prod, theta
	}
	panic("no such kernel")
}

// bigNLL is the exact NLL, without its constant, by LDLᵀ.
func bigNLL(k gppl.Kernel, theta []*big.Float, x, y []float64) *big.Float {
	n := len(x)
	a := make([][]*big.Float, n)
	b := make([]*big.Float, n)
	for i := range a {
		a[i] = make([]*big.Float, n)
		b[i] = bigOf(y[i])
		for j := range a[i] {
			r := bigSub(bigOf(x[i]), bigOf(x[j]))
			v, rest := bigKernel(k, theta, r.Abs(r), i == j)
			if i == j {
				v = bigAdd(v, rest[0])
			}
			a[i][j] = v
		}
	}
	sum := bigOf(0)
	for p := range n { // Gaussian elimination: the pivots and the quadratic form
		sum = bigAdd(sum, bigAdd(bigLog(a[p][p]), bigDiv(bigMul(b[p], b[p]), a[p][p])))
		for i := p + 1; i < n; i++ {
			f := bigDiv(a[i][p], a[p][p])
			for j := p; j < n; j++ {
				a[i][j] = bigSub(a[i][j], bigMul(f, a[p][j]))
			}
			b[i] = bigSub(b[i], bigMul(f, b[p]))
		}
	}
	return bigDiv(sum, bigOf(2))
}

// checkKernels has every kernel, alone and in sums and products.
func checkKernels() []gppl.Kernel {
	se, periodic := gppl.SE{Variance: 1.3, Lengthscale: 2.1}, gppl.Periodic{Variance: 0.7, Lengthscale: 0.9, Period: 1.7}
	rq, white := gppl.RQ{Variance: 0.8, Lengthscale: 1.1, Alpha: 0.6}, gppl.White{Variance: 0.01}
	return []gppl.Kernel{
		se, periodic, rq,
		gppl.Laplace{Variance: 0.9, Lengthscale: 1.9},
		gppl.Matern32{Variance: 0.9, Lengthscale: 1.9},
		gppl.Matern52{Variance: 0.9, Lengthscale: 1.9},
		gppl.LocPer{Variance: 1.2, Lengthscale: 4, Period: 1.3, PeriodicLengthscale: 0.8},
		gppl.Add(se, white),
		gppl.Mul(rq, periodic),
		gppl.Add(gppl.Mul(se, periodic), gppl.Laplace{Variance: 0.2, Lengthscale: 3}),
		gppl.Mul(gppl.Add(rq, white), gppl.Matern32{Variance: 0.9, Lengthscale: 1.9}),
	}
}

// TestReferenceBig holds value and gradient to big.Float, at a condition that
// float64 cannot bear.
func TestReferenceBig(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(31, 0))
	const n = 7
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 3e5+4*rnd.Float64(), rnd.NormFloat64()
	}
	x[n-1] = x[0] // a duplicate
	for i, k := range checkKernels() {
		if testkit.Quick() && i%3 != 0 {
			continue
		}
		const noise = 1e-12
		got, err := newWideGram(k, x).exact(noise, nil, y)
		if err != nil {
			t.Errorf("%v: %v", k, err)
			continue
		}
		var theta []*big.Float
		for _, p := range (gppl.Model{Kernel: k, Noise: noise}).Params() {
			theta = append(theta, bigOf(p.Value))
		}
		off := func(got wide, want *big.Float, size float64) float64 {
			d, _ := bigSub(bigSub(want, bigOf(got.Hi)), bigOf(got.Lo)).Float64()
			return math.Abs(d) / size
		}
		constant := wideLog2π.Times(n).Scale(0.5)
		if e := off(got.value.Sub(constant), bigNLL(k, theta, x, y), got.size); e > 1e-17 {
			t.Errorf("%v: the value errs by %.3g", k, e)
		}
		const step = 1e-40
		for p := range theta {
			at := func(h float64) *big.Float {
				moved := append([]*big.Float(nil), theta...)
				moved[p] = bigMul(theta[p], bigExp(bigOf(h)))
				return bigNLL(k, moved, x, y)
			}
			want := bigDiv(bigSub(at(step), at(-step)), bigOf(2*step))
			// A⁻¹ of duplicates is of the size 1/σ², known to the digits that the
			// condition v/σ² leaves, and its sum over them cancels.
			limit := referenceError(n, got.prior, noise) + 1e-17*got.gradSize[p]
			if e := off(got.grad[p], want, 1); e > limit {
				t.Errorf("%v: derivative %d errs by %.3g, more than %.3g", k, p, e, limit)
			}
		}
	}
}

// TestReferenceClosedForms: white noise, the Markov property of Laplace on a
// grid, scaling, and PL with k = n.
func TestReferenceClosedForms(t *testing.T) {
	const n = 60
	rnd := rand.New(rand.NewPCG(32, 0))
	x, y := make([]float64, n), make([]float64, n)
	var yy float64
	for i := range x {
		x[i], y[i] = 0.5*float64(i), rnd.NormFloat64()
		yy += y[i] * y[i]
	}
	near := func(what string, got wide, want float64) {
		t.Helper()
		if math.Abs(got.Hi-want) > 1e-13*max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want %v", what, got.Hi, want)
		}
	}
	white, err := newWideGram(gppl.White{Variance: 0.3}, x).exact(0.2, nil, y)
	if err != nil {
		t.Fatal(err)
	}
	near("NLL of white noise", white.value, 0.5*(yy/0.5+n*math.Log(0.5*2*math.Pi)))
	near("its derivative", white.grad[0], 0.5*0.3*(n/0.5-yy/0.25))
	near("that of the noise", white.grad[1], 0.5*0.2*(n/0.5-yy/0.25))

	// AR(1): y_i | y_{i−1} ~ N(φy_{i−1}, v(1−φ²)); the noise is beyond float64.
	const v, l = 1.7, 2.3
	phi := math.Exp(-0.5 / l)
	want := 0.5 * (y[0]*y[0]/v + math.Log(2*math.Pi*v))
	for i := 1; i < n; i++ {
		s, e := v*(1-phi*phi), y[i]-phi*y[i-1]
		want += 0.5 * (e*e/s + math.Log(2*math.Pi*s))
	}
	laplace, err := newWideGram(gppl.Laplace{Variance: v, Lengthscale: l}, x).exact(1e-18, nil, y)
	if err != nil {
		t.Fatal(err)
	}
	near("NLL of AR(1)", laplace.value, want)

	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range checkKernels() {
		g := newWideGram(k, x)
		exact, err := g.exact(0.1, nil, y)
		if err != nil {
			t.Fatal(err)
		}
		for _, design := range []gppl.Design{gppl.Identity{}, gppl.Sphere{}, gppl.Raw{Design: gppl.Identity{}}} {
			proj, err := gppl.NewProjection(t.Context(), design, data.X, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			all, err := g.projected(0.1, y, proj, proj.Orthonormal)
			if err != nil {
				t.Fatal(err)
			}
			near("PL with k = n", all.value, exact.value.Hi)
			for p := range exact.grad {
				if math.Abs(all.grad[p].Sub(exact.grad[p]).Hi) > 1e-11*(1+exact.gradSize[p]) {
					t.Errorf("%v, %v, k = n: derivative %d is %v, exact %v", k, design, p, all.grad[p].Hi, exact.grad[p].Hi)
				}
			}
		}
	}
}

// TestReferenceProjected holds the gradients of PL and of its residual to
// central differences of their values, in double-double.
func TestReferenceProjected(t *testing.T) {
	const n, count, step, noise = 40, 9, 1e-9, 0.05
	rnd := rand.New(rand.NewPCG(33, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 9*rnd.Float64(), rnd.NormFloat64()
	}
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Raw{Design: gppl.Sphere{}}} {
		proj, err := gppl.NewProjection(t.Context(), design, gppl.Scalars(x), count, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range checkKernels() {
			for _, residual := range []bool{false, proj.Orthonormal} {
				m := gppl.Model{Kernel: k, Noise: noise}
				at := func(m gppl.Model) *truth {
					v, err := newWideGram(m.Kernel, x).projected(m.Noise, y, proj, residual)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				got := at(m)
				for p, param := range m.Params() {
					move := func(h float64) (wide, float64) {
						theta := m.Values()
						theta[p] = param.Value * math.Exp(h)
						return at(m.WithParams(theta)).value, math.Log(theta[p] / param.Value)
					}
					up, a := move(step)
					down, b := move(-step)
					want := up.Sub(down).Hi / (a - b)
					// A step of 1e-9 is rounded to 1e-7 of itself.
					if math.Abs(got.grad[p].Hi-want) > 1e-6*(1+got.gradSize[p]) {
						t.Errorf("%v, %v, residual %v: derivative %d is %v, by differences %v", k, design, residual, p, got.grad[p].Hi, want)
					}
				}
			}
		}
	}
}

// TestStandIn: where the condition is benign, the float64 stand-in agrees with
// double-double to a hundredth of what engines promise.
func TestStandIn(t *testing.T) {
	n := 150
	if !testkit.Quick() {
		n = 300
	}
	rnd := rand.New(rand.NewPCG(34, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 0.1*float64(n)*rnd.Float64(), rnd.NormFloat64()
	}
	for _, k := range checkKernels() {
		for _, noise := range []float64{1e-4, 1} {
			g := newWideGram(k, x)
			got := g.standIn(noise, y)
			if got == nil {
				continue
			}
			want, err := g.exact(noise, nil, y)
			if err != nil {
				t.Fatal(err)
			}
			limit := standInError * float64(n)
			if e := math.Abs(got.value.Sub(want.value).Hi); e > limit {
				t.Errorf("%v, noise %v: the value errs by %.3g", k, noise, e)
			}
			for p := range want.grad {
				if e := math.Abs(got.grad[p].Sub(want.grad[p]).Hi); e > limit*want.slope[p] {
					t.Errorf("%v, noise %v: derivative %d errs by %.3g, more than %.3g", k, noise, p, e, limit*want.slope[p])
				}
			}
		}
	}
	if newWideGram(gppl.SE{Variance: 1, Lengthscale: 1}, x[:20]).standIn(1e-8, y[:20]) != nil {
		t.Error("the stand-in takes a noise of 1e-8")
	}
}

// TestReferenceVFE: with Z = X the bound is tight, in value and, since it is an
// upper bound there at its minimum in Z, in the gradient; elsewhere it is above.
func TestReferenceVFE(t *testing.T) {
	const n = 15
	rnd := rand.New(rand.NewPCG(35, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i)+0.3*rnd.Float64(), rnd.NormFloat64()
	}
	for _, k := range checkKernels() {
		if hasWhite(k) {
			continue
		}
		m := gppl.Model{Kernel: k, Noise: 0.1}
		exact, err := newWideGram(k, x).exact(m.Noise, nil, y)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := vfeTruth(m, x, y, x)
		if err != nil {
			t.Fatal(err)
		}
		if e := bound.value.Sub(exact.value).Hi; math.Abs(e) > 1e-12 {
			t.Errorf("%v: VFE at Z = X is %v, exact %v", k, bound.value.Hi, exact.value.Hi)
		}
		for p := range exact.grad {
			if e := bound.grad[p].Sub(exact.grad[p]).Hi; math.Abs(e) > 1e-7*(1+exact.gradSize[p]) {
				t.Errorf("%v: ∂%d of VFE at Z = X is %v, exact %v", k, p, bound.grad[p].Hi, exact.grad[p].Hi)
			}
		}
		if fewer, err := vfeTruth(m, x, y, x[:6]); err != nil || fewer.value.Sub(exact.value).Hi < 0 {
			t.Errorf("%v: VFE with 6 inducing inputs is %v, below the exact %v (%v)", k, fewer.value.Hi, exact.value.Hi, err)
		}
	}
}
