// Package nuts draws from a density with a gradient by the No-U-Turn sampler (Hoffman and Gelman 2014), in its multinomial form
// with the generalised criterion (Betancourt 2017, A conceptual introduction to Hamiltonian Monte Carlo, appendix A). R̂ and
// effective sizes say whether the draws are usable (Vehtari et al. 2021).
package nuts

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A Density returns the log density at u, up to a constant, and sets grad to its gradient. Where there is none, it returns −Inf
// or NaN, with any gradient.
type Density func(grad, u []float64) (log float64)

// Settings configures Run; all fields must be set.
type Settings struct {
	Warmup, Draws int     // transitions that adapt and are dropped, and transitions that are kept
	Accept        float64 // target of the mean acceptance, in (0, 1)
	MaxDepth      int     // largest number of doublings of a trajectory
}

// Chain holds the draws of one run.
type Chain struct {
	Draws     [][]float64
	Divergent int     // draws whose trajectory left the region that the step can follow
	Saturated int     // draws whose trajectory was cut at 2^MaxDepth steps
	Accept    float64 // mean acceptance
	Gradients int     // evaluations of the density, including the warm-up
}

const (
	// diverged is the error of the energy, in nats, from which a trajectory is abandoned.
	diverged = 1000
	// The warm-up begins with a share of firstShare and ends with a share of lastShare that adapt the step alone. In between,
	// windows of draws set the metric: the first has firstWindow draws, each further one twice as many as its predecessor.
	firstShare, lastShare, firstWindow = 0.15, 0.1, 25
)

// sampler is the state of a chain, in coordinates w = L⁻¹(u − c) in which the metric is the identity.
type sampler struct {
	density  Density
	rnd      *rand.Rand
	settings Settings
	lower    *mat.TriDense // L
	centre   []float64
	step     float64
	chain    *Chain
	u, grad  []float64 // scratch

	energy     float64 // log density minus kinetic energy at the start of a trajectory
	sum, count float64 // sum and number of the acceptances of its points
	divergent  bool
}

// point is a place on a trajectory.
type point struct {
	w, p, grad []float64 // position, momentum, gradient
	log        float64
}

func (q point) clone() point {
	return point{append([]float64(nil), q.w...), append([]float64(nil), q.p...), append([]float64(nil), q.grad...), q.log}
}

// Run draws a chain from a start u with a positive density, until ctx ends. lower is the Cholesky factor of the expected
// covariance of the draws, which is the first metric; the warm-up adapts it to the draws.
func Run(ctx context.Context, density Density, start []float64, lower *mat.TriDense, rnd *rand.Rand, s Settings) *Chain {
	n := len(start)
	c := &sampler{density: density, rnd: rnd, settings: s, centre: append([]float64(nil), start...), chain: &Chain{},
		lower: mat.NewTriDense(n, mat.Lower, nil), u: make([]float64, n), grad: make([]float64, n)}
	c.lower.Copy(lower)
	at := point{w: make([]float64, n), p: make([]float64, n), grad: make([]float64, n)}
	c.evaluate(&at)
	dual := c.begin(at)
	schedule := windows(s.Warmup)
	var window [][]float64
	var accepted float64
	for i := range s.Warmup + s.Draws {
		if ctx.Err() != nil {
			break
		}
		var depth int
		at, depth = c.transition(at)
		accept := c.sum / math.Max(c.count, 1)
		if i >= s.Warmup {
			c.position(at.w)
			c.chain.Draws = append(c.chain.Draws, append([]float64(nil), c.u...))
			accepted += accept
			if c.divergent {
				c.chain.Divergent++
			}
			if depth >= s.MaxDepth {
				c.chain.Saturated++
			}
			continue
		}
		c.step = dual.update(accept)
		switch schedule[i] {
		case collect, renew:
			window = append(window, append([]float64(nil), at.w...))
		}
		if schedule[i] == renew {
			c.renew(&at, window)
			window, dual = nil, c.begin(at)
		}
		if i == s.Warmup-1 {
			c.step = dual.mean()
		}
	}
	c.chain.Accept = accepted / math.Max(1, float64(len(c.chain.Draws)))
	return c.chain
}

// use is the purpose of a draw of the warm-up, besides adapting the step.
type use int

const (
	pass    use = iota
	collect     // the draw belongs to a window
	renew       // the draw ends a window
)

// windows returns the use of each draw of a warm-up.
func windows(warmup int) []use {
	out := make([]use, warmup)
	from, to := int(firstShare*float64(warmup)), warmup-int(math.Ceil(lastShare*float64(warmup)))
	for size := firstWindow; from+firstWindow <= to; size *= 2 {
		end := from + size
		if end+2*size > to { // the next window would not fit
			end = to
		}
		for i := from; i < end; i++ {
			out[i] = collect
		}
		out[end-1] = renew
		from = end
	}
	return out
}

// position sets c.u to c + L·w.
func (c *sampler) position(w []float64) {
	v := mat.NewVecDense(len(w), c.u)
	v.MulVec(c.lower, mat.NewVecDense(len(w), w))
	floats.Add(c.u, c.centre)
}

// evaluate sets the log density and the gradient Lᵀ∇ of a point.
func (c *sampler) evaluate(q *point) {
	c.position(q.w)
	c.chain.Gradients++
	if q.log = c.density(c.grad, c.u); math.IsNaN(q.log) {
		q.log = math.Inf(-1)
	}
	mat.NewVecDense(len(q.grad), q.grad).MulVec(c.lower.T(), mat.NewVecDense(len(c.grad), c.grad))
}

// leap moves a point by a step of the leapfrog scheme.
func (c *sampler) leap(q *point, step float64) {
	floats.AddScaled(q.p, 0.5*step, q.grad)
	floats.AddScaled(q.w, step, q.p)
	c.evaluate(q)
	floats.AddScaled(q.p, 0.5*step, q.grad)
}

func (q point) hamiltonian() float64 { return q.log - 0.5*floats.Dot(q.p, q.p) }

func (c *sampler) kick(q *point) {
	for i := range q.p {
		q.p[i] = c.rnd.NormFloat64()
	}
}

// begin finds a step that changes the energy by about log 0.8, and begins its adaptation.
func (c *sampler) begin(at point) *dualAveraging {
	const most = 50
	step, direction := 1.0, 0.0
	for range most {
		q := at.clone()
		c.kick(&q)
		before := q.hamiltonian()
		c.leap(&q, step)
		d := -1.0
		if q.hamiltonian()-before > math.Log(0.8) {
			d = 1
		}
		if direction == 0 {
			direction = d
		}
		if d != direction || direction > 0 && step >= 2 { // a step above 2 is unstable for a normal density of unit variance
			break
		}
		step *= math.Pow(2, direction)
	}
	c.step = step
	return &dualAveraging{centre: math.Log(10 * step), target: c.settings.Accept}
}

// renew computes the metric from a window of draws: their covariance, mixed with the previous metric, whose weight falls with
// the number of draws.
func (c *sampler) renew(at *point, window [][]float64) {
	n := len(at.w)
	count := float64(len(window))
	mean := make([]float64, n)
	for _, w := range window {
		floats.AddScaled(mean, 1/count, w)
	}
	share := count / (count + float64(n) + 1)
	cov := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			var sum float64
			for _, w := range window {
				sum += (w[a] - mean[a]) * (w[b] - mean[b])
			}
			if sum *= share / count; a == b {
				sum += 1 - share
			}
			cov.SetSym(a, b, sum)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		return
	}
	var inner, next mat.TriDense
	chol.LTo(&inner)
	next.MulTri(c.lower, &inner)
	c.position(at.w)
	copy(c.centre, c.u)
	c.lower.Copy(&next)
	clear(at.w)
	c.evaluate(at)
}

// tree is a part of a trajectory, from the point nearest to the start to the furthest one.
type tree struct {
	near, far []float64 // momenta of its ends
	rho       []float64 // sum of all momenta
	weight    float64   // log of the sum of the weights
	draw      point     // one of its points, drawn by weight
}

// straight reports whether a part of a trajectory, between two momenta and with the sum rho, has turned back at neither end.
func straight(from, to, rho []float64) bool {
	return floats.Dot(from, rho) > 0 && floats.Dot(to, rho) > 0
}

// joined reports whether two parts, b after a, are straight together, and each with the nearest point of the other (Stan
// 2.21).
func joined(a, b tree, rho []float64) bool {
	if !straight(a.near, b.far, rho) {
		return false
	}
	extra := make([]float64, len(rho))
	floats.AddTo(extra, a.rho, b.near)
	if !straight(a.near, b.near, extra) {
		return false
	}
	floats.AddTo(extra, b.rho, a.far)
	return straight(a.far, b.far, extra)
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// grow adds 2^depth further steps at an end of the trajectory, and moves that end. ok is false if the part turns back or
// diverges.
func (c *sampler) grow(end *point, depth int, step float64) (t tree, ok bool) {
	if depth == 0 {
		c.leap(end, step)
		gain := end.hamiltonian() - c.energy
		c.count++
		if math.IsNaN(gain) || gain < -diverged {
			c.divergent = true
			return t, false
		}
		c.sum += math.Min(1, math.Exp(gain))
		draw := end.clone()
		return tree{near: draw.p, far: draw.p, rho: append([]float64(nil), draw.p...), weight: gain, draw: draw}, true
	}
	a, ok := c.grow(end, depth-1, step)
	if !ok {
		return t, false
	}
	b, ok := c.grow(end, depth-1, step)
	if !ok {
		return t, false
	}
	t = c.join(a, b, logAdd(a.weight, b.weight))
	return t, joined(a, b, t.rho)
}

// join joins two parts. The draw is the second's with the probability of its weight over against.
func (c *sampler) join(a, b tree, against float64) tree {
	t := tree{near: a.near, far: b.far, rho: make([]float64, len(a.rho)), weight: logAdd(a.weight, b.weight), draw: a.draw}
	floats.AddTo(t.rho, a.rho, b.rho)
	if math.Log(c.rnd.Float64()) < b.weight-against {
		t.draw = b.draw
	}
	return t
}

// reversed returns the same part, from its other end.
func (t tree) reversed() tree {
	t.near, t.far = t.far, t.near
	return t
}

// transition draws the next point, and returns the number of doublings of the trajectory.
func (c *sampler) transition(at point) (next point, depth int) {
	at = at.clone()
	c.kick(&at)
	c.energy, c.sum, c.count, c.divergent = at.hamiltonian(), 0, 0, false
	ends := [2]point{at.clone(), at.clone()} // backwards and forwards
	all := tree{near: append([]float64(nil), at.p...), draw: at}
	all.far, all.rho = all.near, append([]float64(nil), all.near...)
	for depth < c.settings.MaxDepth {
		side, step := 1, c.step
		if c.rnd.Float64() < 0.5 {
			side, step = 0, -c.step
			all = all.reversed()
		}
		part, ok := c.grow(&ends[side], depth, step)
		if !ok {
			break
		}
		depth++
		whole := c.join(all, part, all.weight) // biased towards the new part
		goes := joined(all, part, whole.rho)
		if all = whole; side == 0 {
			all = all.reversed()
		}
		if !goes {
			break
		}
	}
	return all.draw, depth
}

// dualAveraging adapts the log of the step to a mean acceptance (Hoffman and Gelman 2014, section 3.2).
type dualAveraging struct {
	centre, target    float64
	t, excess, smooth float64
}

func (d *dualAveraging) update(accept float64) (step float64) {
	const gamma, slow, kappa = 0.05, 10, 0.75
	d.t++
	d.excess += (d.target - accept - d.excess) / (d.t + slow)
	log := d.centre - math.Sqrt(d.t)/gamma*d.excess
	d.smooth += math.Pow(d.t, -kappa) * (log - d.smooth)
	return math.Exp(log)
}

func (d *dualAveraging) mean() float64 { return math.Exp(d.smooth) }
