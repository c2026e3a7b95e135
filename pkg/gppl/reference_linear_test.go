package gppl_test

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// The kernels of linear stochastic differential equations in double-double.

// wideCosine is v·cos(2πr/p).
type wideCosine struct{ v, perPeriod wide }

func (wideCosine) params() int { return 2 }
func (k wideCosine) at(g []wide, r wide, _ bool) wide {
	turns := r.Mul(k.perPeriod).Scale(2)
	sin, cos := wideSinCosPi(turns)
	g[0], g[1] = k.v.Mul(cos), k.v.Mul(widePi.Mul(turns)).Mul(sin)
	return g[0]
}

// wideSHO is v·(c + βs), see statespace.Oscillator.
type wideSHO struct{ v, perPeriod, beta wide }

func newWideSHO(v, period, quality wide) wideSHO {
	one := doubled.Of(1)
	return wideSHO{v, one.Div(period), one.Div(quality).Scale(0.5)}
}

func (wideSHO) params() int { return 3 }
func (k wideSHO) at(g []wide, r wide, _ bool) wide {
	one := doubled.Of(1)
	turns := r.Mul(k.perPeriod).Scale(2)
	u := turns.Mul(widePi)
	bu := k.beta.Mul(u)
	if k.beta.Hi > 1.2 {
		return k.parted(g, u)
	}
	eta2 := one.Sub(k.beta).Mul(one.Add(k.beta))
	w := eta2.Mul(u).Mul(u)
	var c, s, slope wide // slope is e⁻ᵝᵘ(cos √w − sin √w/√w)/2w, with s/u = e⁻ᵝᵘ·sin √w/√w
	switch decay := wideExp(bu.Neg()); {
	case math.Abs(w.Hi) < 1e-4:
		term := one // (−w)ʲ/(2j)!
		for j := 0.; j < 9; j++ {
			sine := term.Div(doubled.Of(2*j + 1))
			c, s = c.Add(term), s.Add(sine)
			term = term.Mul(w.Neg()).Div(doubled.Of((2*j + 1) * (2*j + 2)))
			// the derivative of wʲ⁺¹'s term of sin √w/√w
			slope = slope.Sub(one.Times(j + 1).Mul(power(w.Neg(), int(j))).Div(factorial(int(2*j) + 3)))
		}
		c, s, slope = c.Mul(decay), s.Mul(decay).Mul(u), slope.Mul(decay)
	case w.Hi > 0:
		eta := eta2.Sqrt()
		sin, cos := wideSinCosPi(turns.Mul(eta))
		c, s = cos.Mul(decay), sin.Mul(decay).Div(eta)
		slope = c.Sub(s.Div(u)).Div(w).Scale(0.5)
	default:
		kappa := eta2.Neg().Sqrt()
		fast := k.beta.Add(kappa)
		p, f := wideExp(u.Div(fast).Neg()), wideExp(u.Mul(fast).Neg())
		c, s = p.Add(f).Scale(0.5), p.Sub(f).Div(kappa).Scale(0.5)
		slope = c.Sub(s.Div(u)).Div(w).Scale(0.5)
	}
	// ∂c and ∂s in log quality: ∂β = −β, ∂η² = 2β².
	b2 := k.beta.Mul(k.beta)
	dc := bu.Mul(c).Sub(b2.Mul(u).Mul(s))
	ds := bu.Mul(s).Add(slope.Mul(u).Mul(u).Mul(u).Mul(b2).Scale(2))
	g[0] = k.v.Mul(c.Add(k.beta.Mul(s)))
	g[1] = k.v.Mul(u).Mul(s)
	g[2] = k.v.Mul(dc.Add(k.beta.Mul(ds.Sub(s))))
	return g[0]
}

// parted is at for two real rates of decay, 1/f and f with f = β + √(β² − 1), which no digit is lost of at any β: with M = 1/f²,
// A = exp(−u/f), B = exp(−uf) and a = u/f, k is v·(A − MB)/(1 − M), and ∂log M = 2(1 + M)/(1 − M)·∂log quality.
func (k wideSHO) parted(g []wide, u wide) wide {
	one, over := doubled.Of(1), doubled.Of(1).Div(k.beta)
	fast := k.beta.Mul(one.Add(one.Sub(over).Mul(one.Add(over)).Sqrt()))
	a, m := u.Div(fast), one.Div(fast).Div(fast)
	rest := one.Sub(m)
	slow, quick := wideExp(a.Neg()), wideExp(u.Mul(fast).Neg())
	v, apart := k.v.Div(rest), slow.Sub(quick)
	g[0] = v.Mul(slow.Sub(m.Mul(quick)))
	g[1] = v.Mul(a).Mul(apart)
	h := one.Add(m).Div(rest)
	g[2] = v.Mul(h).Mul(m.Mul(apart).Scale(2).Div(rest).Sub(a.Mul(slow.Add(quick))))
	return g[0]
}

func power(x wide, n int) wide {
	p := doubled.Of(1)
	for range n {
		p = p.Mul(x)
	}
	return p
}

func factorial(n int) wide {
	p := doubled.Of(1)
	for i := 2; i <= n; i++ {
		p = p.Times(float64(i))
	}
	return p
}

// wideTrend is v·(e⁻ᵃ − M·e⁻ᵇ)/(1 − M), a = r/l, b = a/M, whose derivative in log M is v·M·(e⁻ᵃ − e⁻ᵇ − (1 − M)·b·e⁻ᵇ)/(1 − M)².
type wideTrend struct{ v, l, memory wide }

func newWideTrend(k gppl.DampedTrend) wideTrend {
	return wideTrend{doubled.Of(k.Variance), doubled.Of(k.Lengthscale), doubled.Of(k.Memory)}
}

func (wideTrend) params() int { return 3 }
func (k wideTrend) at(g []wide, r wide, _ bool) wide {
	one := doubled.Of(1)
	a := r.Div(k.l)
	if k.memory == one {
		decay := k.v.Mul(wideExp(a.Neg()))
		half := decay.Mul(a).Mul(a).Scale(0.5)
		g[0], g[1], g[2] = decay.Mul(one.Add(a)), half.Scale(2), half
		return g[0]
	}
	b, apart := a.Div(k.memory), one.Sub(k.memory)
	slow, fast := wideExp(a.Neg()), wideExp(b.Neg())
	v := k.v.Div(apart)
	g[0] = v.Mul(slow.Sub(k.memory.Mul(fast)))
	g[1] = v.Mul(a).Mul(slow.Sub(fast))
	g[2] = v.Mul(k.memory).Div(apart).Mul(slow.Sub(fast)).Sub(v.Mul(b).Mul(k.memory).Mul(fast))
	return g[0]
}

// wideRotation has the two oscillators, and the derivatives of log(v, period, quality) of each.
type wideRotation struct {
	parts [2]wideSHO
	chain [2][5][3]wide
}

func newWideRotation(k gppl.Rotation) (w wideRotation) {
	one := doubled.Of(1)
	v, period, f := doubled.Of(k.Variance), doubled.Of(k.Period), doubled.Of(k.Mix)
	whole := one.Add(f)
	for i := range 2 {
		q, own := doubled.Of(k.Quality), v.Mul(f).Div(whole)
		if i == 0 {
			q, own = q.Add(doubled.Of(k.Difference)), v.Div(whole)
		}
		quality := q.Add(doubled.Of(0.5))
		sharp := q.Mul(one.Add(q)) // (4Q² − 1)/4
		p := period.Mul(sharp.Sqrt()).Div(quality)
		if i == 1 {
			p = p.Scale(0.5)
		}
		w.parts[i] = newWideSHO(own, p, quality)
		chain := &w.chain[i]
		chain[0][0], chain[1][1] = one, one
		by := func(param int, x float64) {
			chain[param][1] = doubled.Of(x).Div(quality.Mul(sharp)).Scale(0.25)
			chain[param][2] = doubled.Of(x).Div(quality)
		}
		by(2, k.Quality)
		chain[4][0] = one.Div(whole)
		if i == 0 {
			by(3, k.Difference)
			chain[4][0] = f.Div(whole).Neg()
		}
	}
	return w
}

func (wideRotation) params() int { return 5 }
func (k wideRotation) at(g []wide, r wide, self bool) (c wide) {
	clear(g[:5])
	for i, part := range k.parts {
		var own [3]wide
		c = c.Add(part.at(own[:], r, self))
		for p, chain := range k.chain[i] {
			for j, d := range chain {
				g[p] = g[p].Add(d.Mul(own[j]))
			}
		}
	}
	return c
}

// linearFrom is the number from which on random cases have kernels that are linear stochastic differential equations.
const linearFrom = 1 << 40

// linear draws such a kernel: oscillators, sums, and products with what turns.
func (d dice) linear(span float64, n int, scale float64) gppl.Kernel {
	spacing := span / float64(n)
	v := func(scale float64) float64 { return scale * d.log10(-1, 1) }
	long := func() float64 { return spacing * d.log10(-1, math.Log10(3*float64(n))) }
	period := func() float64 { return spacing * d.log10(0.3, math.Log10(2*float64(n)+2)) }
	quality := func() float64 {
		switch d.pick(0.6, 0.2, 0.2) {
		case 0:
			return d.log10(-1.5, 3)
		case 1:
			return 0.5
		}
		return 0.5 + d.log10(-12, -1)*float64(1-2*d.IntN(2))
	}
	sho := func(scale float64) gppl.Kernel {
		return gppl.SHO{Variance: v(scale), Period: period(), Quality: quality()}
	}
	matern := func(scale float64) gppl.Kernel {
		switch d.IntN(3) {
		case 0:
			return gppl.Laplace{Variance: v(scale), Lengthscale: long()}
		case 1:
			return gppl.Matern32{Variance: v(scale), Lengthscale: long()}
		}
		return gppl.Matern52{Variance: v(scale), Lengthscale: long()}
	}
	turning := func() gppl.Kernel {
		if d.chance(0.5) {
			return gppl.Cosine{Variance: v(1), Period: period()}
		}
		return gppl.Periodic{Variance: v(1), Lengthscale: d.log10(-0.3, 0.7), Period: period()}
	}
	switch d.pick(0.3, 0.15, 0.2, 0.1, 0.1, 0.05, 0.1) {
	case 0:
		return sho(scale)
	case 1:
		return gppl.Rotation{Variance: v(scale), Period: period(), Quality: d.log10(-2, 2), Difference: d.log10(-2, 2),
			Mix: d.log10(-1, 1)}
	case 2:
		return gppl.Mul(matern(scale), turning())
	case 3:
		return gppl.Add(sho(scale), matern(scale))
	case 4:
		return gppl.Mul(sho(scale), turning())
	case 5:
		return gppl.Mul(matern(scale), sho(1))
	}
	return gppl.Add(gppl.Cosine{Variance: v(scale), Period: period()}, d.second(func() gppl.Kernel { return matern(scale) }, scale))
}
