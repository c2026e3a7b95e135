package gppl_test

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// The kernels once more, in double-double and from their formulas alone: nothing
// here calls the kernels that it checks, but for the values of their parameters.

type wide = doubled.Float

// wideKernel is a covariance with its derivatives.
type wideKernel interface {
	// at returns k(r) and sets g[p] = ∂k/∂log θ_p; self marks an observation
	// with itself.
	at(g []wide, r wide, self bool) wide
	params() int
}

// widen returns the double-double form of a kernel. It panics if there is none.
func widen(k gppl.Kernel) wideKernel {
	switch k := k.(type) {
	case gppl.SE:
		return wideSE{doubled.Of(k.Variance), inverse(k.Lengthscale)}
	case gppl.Laplace:
		return wideMatern{0, doubled.Of(k.Variance), inverse(k.Lengthscale)}
	case gppl.Matern32:
		return wideMatern{1, doubled.Of(k.Variance), doubled.Of(3).Sqrt().Div(doubled.Of(k.Lengthscale))}
	case gppl.Matern52:
		return wideMatern{2, doubled.Of(k.Variance), doubled.Of(5).Sqrt().Div(doubled.Of(k.Lengthscale))}
	case gppl.RQ:
		return wideRQ{doubled.Of(k.Variance), inverse(k.Lengthscale), doubled.Of(k.Alpha)}
	case gppl.Periodic:
		return widePeriodic{doubled.Of(k.Variance), inverse(k.Lengthscale), inverse(k.Period)}
	case gppl.LocPer:
		return wideLocPer{wideSE{doubled.Of(k.Variance), inverse(k.Lengthscale)},
			widePeriodic{doubled.Of(1), inverse(k.PeriodicLengthscale), inverse(k.Period)}}
	case gppl.Cosine:
		return wideCosine{doubled.Of(k.Variance), inverse(k.Period)}
	case gppl.SHO:
		return newWideSHO(doubled.Of(k.Variance), doubled.Of(k.Period), doubled.Of(k.Quality))
	case gppl.DampedTrend:
		return newWideTrend(k)
	case gppl.Rotation:
		return newWideRotation(k)
	case gppl.White:
		return wideWhite{doubled.Of(k.Variance)}
	case gppl.Sum:
		return wideSum{widenAll(k.Terms())}
	case gppl.Product:
		return wideProduct{widenAll(k.Factors())}
	}
	panic(fmt.Sprintf("the reference does not know %T", k))
}

func inverse(x float64) wide { return doubled.Of(1).Div(doubled.Of(x)) }

func widenAll(ks []gppl.Kernel) (parts []wideKernel) {
	for _, k := range ks {
		parts = append(parts, widen(k))
	}
	return parts
}

// wideSE is v·exp(−q), q = r²/2l².
type wideSE struct{ v, perLength wide }

func (wideSE) params() int { return 2 }
func (k wideSE) at(g []wide, r wide, _ bool) wide {
	a := r.Mul(k.perLength)
	q := a.Mul(a).Scale(0.5)
	c := k.v.Mul(wideExp(q.Neg()))
	g[0], g[1] = c, c.Mul(q).Scale(2)
	return c
}

// wideMatern is v·p(a)·exp(−a), a = √(2ν)·r/l, with p = 1, 1 + a or
// 1 + a + a²/3.
type wideMatern struct {
	order   int
	v, rate wide
}

func (wideMatern) params() int { return 2 }
func (k wideMatern) at(g []wide, r wide, _ bool) wide {
	a := r.Mul(k.rate)
	e := k.v.Mul(wideExp(a.Neg()))
	one := doubled.Of(1)
	switch k.order {
	case 0:
		g[0], g[1] = e, e.Mul(a)
	case 1:
		g[0], g[1] = e.Mul(one.Add(a)), e.Mul(a).Mul(a)
	default:
		a2 := a.Mul(a).Div(doubled.Of(3))
		g[0], g[1] = e.Mul(one.Add(a).Add(a2)), e.Mul(a2).Mul(one.Add(a))
	}
	return g[0]
}

// wideRQ is v·(1 + q)^−α, q = r²/2αl².
type wideRQ struct{ v, perLength, alpha wide }

func (wideRQ) params() int { return 3 }
func (k wideRQ) at(g []wide, r wide, _ bool) wide {
	a := r.Mul(k.perLength)
	q := a.Mul(a).Scale(0.5).Div(k.alpha)
	base := doubled.Of(1).Add(q)
	log := wideLog(base)
	c := k.v.Mul(wideExp(k.alpha.Mul(log).Neg()))
	share := q.Div(base)
	g[0] = c
	g[1] = c.Mul(k.alpha).Mul(share).Scale(2)
	g[2] = c.Mul(k.alpha).Mul(share.Sub(log))
	return c
}

// widePeriodic is v·exp(−2 sin²(πr/p)/l²).
type widePeriodic struct{ v, perLength, perPeriod wide }

func (widePeriodic) params() int { return 3 }
func (k widePeriodic) at(g []wide, r wide, _ bool) wide {
	turns := r.Mul(k.perPeriod)
	sin, cos := wideSinCosPi(turns)
	l2 := k.perLength.Mul(k.perLength).Scale(2)
	q := l2.Mul(sin).Mul(sin)
	c := k.v.Mul(wideExp(q.Neg()))
	g[0], g[1] = c, c.Mul(q).Scale(2)
	g[2] = c.Mul(l2).Mul(sin).Mul(cos).Mul(widePi.Mul(turns)).Scale(2)
	return c
}

// wideLocPer is SE × Periodic with one variance, its parameters in the order
// variance, lengthscale, period, periodic lengthscale.
type wideLocPer struct {
	se       wideSE
	periodic widePeriodic
}

func (wideLocPer) params() int { return 4 }
func (k wideLocPer) at(g []wide, r wide, self bool) wide {
	var gs, gp [3]wide
	s, p := k.se.at(gs[:], r, self), k.periodic.at(gp[:], r, self)
	c := s.Mul(p)
	g[0], g[1], g[2], g[3] = c, gs[1].Mul(p), s.Mul(gp[2]), s.Mul(gp[1])
	return c
}

type wideWhite struct{ v wide }

func (wideWhite) params() int { return 1 }
func (k wideWhite) at(g []wide, _ wide, self bool) wide {
	g[0] = wide{}
	if self {
		g[0] = k.v
	}
	return g[0]
}

type wideSum struct{ parts []wideKernel }

func (k wideSum) params() int { return paramsOf(k.parts) }
func (k wideSum) at(g []wide, r wide, self bool) (c wide) {
	for _, p := range k.parts {
		c = c.Add(p.at(g[:p.params()], r, self))
		g = g[p.params():]
	}
	return c
}

type wideProduct struct{ parts []wideKernel }

func (k wideProduct) params() int { return paramsOf(k.parts) }
func (k wideProduct) at(g []wide, r wide, self bool) wide {
	var buf [8]wide
	value := buf[:0]
	rest := g
	for _, p := range k.parts {
		value = append(value, p.at(rest[:p.params()], r, self))
		rest = rest[p.params():]
	}
	c := doubled.Of(1)
	for i, p := range k.parts {
		others := doubled.Of(1)
		for j, v := range value {
			if j != i {
				others = others.Mul(v)
			}
		}
		for j := range p.params() {
			g[j] = g[j].Mul(others)
		}
		g = g[p.params():]
		c = c.Mul(value[i])
	}
	return c
}

func paramsOf(parts []wideKernel) (n int) {
	for _, p := range parts {
		n += p.params()
	}
	return n
}
