package statespace

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// An Exposed is a Process X with the average z of its first number over an exposure, which is what is seen of it: its state is
// (z, x). From one input to the next, whose exposure is the last δ of the gap Δ between them (SetExposures),
//
//	z = āᵀΦ(Δ−δ)x + noise,  ā = δ⁻¹∫Φ(u)ᵀe₁du,  c̄ = δ⁻¹∫Φ(u)P∞e₁du,  V̄ = 2δ⁻²∫(δ−u)k(u)du,  0 ≤ u ≤ δ,
//
// where z has the variance V̄ in all and the covariance c̄ with x at the end. The integrals are Gauss–Legendre sums to rounding,
// of a function that is smooth wherever Φ is. Without exposures, z is the first number of X.
type Exposed struct {
	X      Process
	Params int

	prior  []float64 // P∞, d×d
	slopes []float64 // ∂P∞ in each parameter
	panels int       // of Gauss–Legendre sums over the longest exposure
}

// exposedNodes is how many nodes a panel has.
const exposedNodes = 10

var nodes, weights = func() (x, w []float64) {
	x, w = make([]float64, exposedNodes), make([]float64, exposedNodes)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}()

// NewExposed prepares one for exposures up to the longest.
func NewExposed(x Process, params int, longest float64) *Exposed {
	d := x.Dim()
	e := &Exposed{X: x, Params: params, prior: make([]float64, d*d), slopes: make([]float64, params*d*d), panels: 1}
	phi := make([]float64, d*d)
	x.Transition(phi, e.prior, math.Inf(1))
	if params > 0 {
		x.Slopes(make([]float64, params*d*d), e.slopes, phi, e.prior, math.Inf(1))
	}
	const enough, most = 8e-15, 256
	var a, b window
	for e.windowOf(&a, longest, false); e.panels < most; a, b = b, a {
		e.panels *= 2
		e.windowOf(&b, longest, false)
		off, size := math.Abs(a.variance-b.variance), b.variance
		for i := range a.before {
			off = max(off, math.Abs(a.before[i]-b.before[i]))
			size = max(size, math.Abs(b.before[i]))
		}
		if off <= enough*size {
			break
		}
	}
	return e
}

func (e *Exposed) Dim() int { return 1 + e.X.Dim() }

// window is what an exposure is of: ā, c̄ and V̄, and their derivatives in each parameter.
type window struct {
	length                                float64
	sloped                                bool
	before, after                         []float64 // ā, c̄
	variance                              float64
	beforeSlopes, afterSlopes, varySlopes []float64
	phi, noise, dPhi, dNoise, room        []float64 // to work in
}

// windowOf sets w to an exposure of the given length, unless it is that already.
func (e *Exposed) windowOf(w *window, length float64, slopes bool) {
	d := e.X.Dim()
	w.before, w.after = dense.Resize(w.before, d), dense.Resize(w.after, d)
	w.phi, w.noise = dense.Resize(w.phi, d*d), dense.Resize(w.noise, d*d)
	clear(w.before)
	clear(w.after)
	w.length, w.sloped, w.variance = length, slopes, 0
	p := 0
	if slopes {
		p = e.Params
	}
	w.beforeSlopes, w.afterSlopes, w.varySlopes = dense.Resize(w.beforeSlopes, p*d), dense.Resize(w.afterSlopes, p*d),
		dense.Resize(w.varySlopes, p)
	w.dPhi, w.dNoise = dense.Resize(w.dPhi, p*d*d), dense.Resize(w.dNoise, p*d*d)
	clear(w.beforeSlopes)
	clear(w.afterSlopes)
	clear(w.varySlopes)
	for panel := range e.panels {
		for j, node := range nodes {
			at := (float64(panel) + node) / float64(e.panels)
			weight := weights[j] / float64(e.panels)
			e.X.Transition(w.phi, w.noise, length*at)
			w.variance += e.addNode(w.before, w.after, w.phi, e.prior, weight, at)
			if p == 0 {
				continue
			}
			e.X.Slopes(w.dPhi, w.dNoise, w.phi, w.noise, length*at)
			for k := range p {
				dPhi := w.dPhi[k*d*d:][:d*d]
				w.varySlopes[k] += e.addNode(w.beforeSlopes[k*d:][:d], w.afterSlopes[k*d:][:d], dPhi, e.prior, weight, at)
				w.varySlopes[k] += e.addNode(nil, w.afterSlopes[k*d:][:d], w.phi, e.slopes[k*d*d:], weight, at)
			}
		}
	}
}

// addNode adds a node to ā and c̄, and returns what it adds to V̄.
func (e *Exposed) addNode(before, after, phi, prior []float64, weight, at float64) (variance float64) {
	d := len(after)
	for i := range d {
		var sum float64
		for j := range d {
			sum += phi[i*d+j] * prior[j*d]
		}
		after[i] += weight * sum
		if i == 0 {
			variance = 2 * weight * (1 - at) * sum
		}
		if before != nil {
			before[i] += weight * phi[i]
		}
	}
	return variance
}

// stride is a step of an Exposed over a gap, at the end of which is a window with the given share of its exposure. carry is 1 if
// the exposure began before the step, otherwise 0.
type stride struct {
	gap, share, carry float64
	window            *window
}

// step sets phi and noise of a stride. Entries of x are those of X over the gap.
func (e *Exposed) step(phi, noise []float64, s stride) {
	d := e.X.Dim()
	m := d + 1
	s.window.room = dense.Resize(s.window.room, 4*d*d+2*d)
	room := s.window.room
	take := func(size int) (x []float64) { x, room = room[:size], room[size:]; return x }
	whole, q, lead, leadQ, row, spread := take(d*d), take(d*d), take(d*d), take(d*d), take(d), take(d)
	e.X.Transition(whole, q, s.gap)
	clear(phi[:m*m])
	for i := range d {
		copy(phi[(1+i)*m+1:][:d], whole[i*d:][:d])
		copy(noise[(1+i)*m+1:][:d], q[i*d:][:d])
	}
	phi[0] = s.carry
	if s.window.length == 0 { // no difference
		copy(phi[1:][:d], whole[:d])
		noise[0] = s.share * s.share * q[0]
		for i := range d {
			phi[1+i] *= s.share
			noise[1+i] = s.share * q[i]
			noise[(1+i)*m] = noise[1+i]
		}
		return
	}
	e.X.Transition(lead, leadQ, max(0, s.gap-s.window.length))
	clear(row)
	for k, w := range s.window.before {
		addScaled(row, w, lead[k*d:][:d])
	}
	multiplyRow(spread, row, e.prior)
	noise[0] = s.share * s.share * (s.window.variance - dot(spread, row))
	for i := range d {
		phi[1+i] = s.share * row[i]
		noise[1+i] = s.share * (s.window.after[i] - dot(spread, whole[i*d:][:d]))
		noise[(1+i)*m] = noise[1+i]
	}
}

// contract adds the products of the adjoints of Φ and Q of a whole stride, m×m each in forms, with their derivatives to grad.
func (e *Exposed) contract(grad, forms []float64, s stride) {
	d, n := e.X.Dim(), e.Params
	m, dd := d+1, d*d
	s.window.room = dense.Resize(s.window.room, (4+4*n)*dd+4*d)
	room := s.window.room
	clear(room)
	take := func(size int) (x []float64) { x, room = room[:size], room[size:]; return x }
	whole, q, lead, leadQ := take(dd), take(dd), take(dd), take(dd)
	dWhole, dQ, dLead, dLeadQ := take(n*dd), take(n*dd), take(n*dd), take(n*dd)
	row, dRow, spread, dSpread := take(d), take(d), take(d), take(d)
	before := max(0, s.gap-s.window.length)
	e.X.Transition(whole, q, s.gap)
	e.X.Slopes(dWhole, dQ, whole, q, s.gap)
	e.X.Transition(lead, leadQ, before)
	e.X.Slopes(dLead, dLeadQ, lead, leadQ, before)
	for k, w := range s.window.before {
		addScaled(row, w, lead[k*d:][:d])
	}
	multiplyRow(spread, row, e.prior)
	z, w := forms[:m*m], forms[m*m:2*m*m]
	for p := range n {
		phi, noise := dWhole[p*dd:][:dd], dQ[p*dd:][:dd]
		var sum float64
		for i := range d {
			sum += dot(z[(1+i)*m+1:][:d], phi[i*d:][:d]) + dot(w[(1+i)*m+1:][:d], noise[i*d:][:d])
		}
		if s.window.length == 0 {
			sum += dot(z[1:][:d], phi[:d]) + w[0]*noise[0]
			for i := range d {
				sum += (w[1+i] + w[(1+i)*m]) * noise[i]
			}
			grad[p] += sum
			continue
		}
		clear(dRow)
		for k := range d {
			addScaled(dRow, s.window.beforeSlopes[p*d+k], lead[k*d:][:d])
			addScaled(dRow, s.window.before[k], dLead[p*dd+k*d:][:d])
		}
		multiplyRow(dSpread, dRow, e.prior)
		vary := s.window.varySlopes[p] - 2*dot(dSpread, row)
		for k, v := range row { // ∂P∞
			addScaled(dSpread, v, e.slopes[p*dd+k*d:][:d])
			vary -= v * dot(row, e.slopes[p*dd+k*d:][:d])
		}
		sum += dot(z[1:][:d], dRow) + w[0]*vary
		for i := range d {
			cross := s.window.afterSlopes[p*d+i] - dot(dSpread, whole[i*d:][:d]) - dot(spread, phi[i*d:][:d])
			sum += (w[1+i] + w[(1+i)*m]) * cross
		}
		grad[p] += sum
	}
}

// multiplyRow sets dst = rowᵀ·a.
func multiplyRow(dst, row, a []float64) {
	clear(dst)
	for k, v := range row {
		addScaled(dst, v, a[k*len(row):][:len(row)])
	}
}

// Transition implements Process, without an exposure.
func (e *Exposed) Transition(phi, noise []float64, gap float64) {
	e.step(phi, noise, stride{gap, 1, 0, &window{}})
}

// Slopes implements Process, without an exposure.
func (e *Exposed) Slopes(dPhi, dNoise, _, _ []float64, gap float64) {
	panic("statespace: Slopes of an Exposed")
}

// SetExposures sets the exposures that end at each input, for blocks of Exposed processes. None may begin before the previous
// input. The filter keeps them.
func (f *Filter) SetExposures(lengths []float64) {
	if len(lengths) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d exposures at %d inputs", len(lengths), len(f.t)))
	}
	for i, l := range lengths {
		if !(l >= 0 && l <= math.MaxFloat64) {
			panic(fmt.Sprintf("statespace: exposure %d is %v, want a finite number, not negative", i, l))
		}
	}
	f.system.exposures = lengths
}

// strideInto returns the step into input i, with its window in w.
func (f *Filter) strideInto(w *window, e *Exposed, i int, slopes bool) stride {
	length := f.system.exposures[i]
	if w.before == nil || w.length != length || w.sloped != slopes {
		e.windowOf(w, length, slopes)
	}
	gap := math.Inf(1)
	if i > 0 {
		gap = f.t[i] - f.t[i-1]
	}
	return stride{gap, 1, 0, w}
}

// halves returns the steps from the input before i to a place between, and from there to input i; either may be missing (i = 0 or
// i = n). What is before the place of an exposure is carried on.
func (f *Filter) halves(e *Exposed, i int, at float64) (to, from stride) {
	to = stride{math.Inf(1), 0, 0, &window{}}
	if i > 0 {
		to.gap = at - f.t[i-1]
	}
	if i == len(f.t) {
		return to, stride{}
	}
	length := f.system.exposures[i]
	begin := f.t[i] - length
	from = stride{f.t[i] - at, 1, 0, &window{}}
	if length == 0 {
		return to, from
	}
	if at > begin {
		passed := min(at-begin, to.gap, length)
		to.share, from.share, from.carry = passed/length, 1-passed/length, 1
		to.window = &window{}
		e.windowOf(to.window, passed, false)
		length = max(0, length-passed)
	}
	e.windowOf(from.window, length, false)
	return to, from
}

// swapFirst exchanges the first two numbers of what a step ends in (rows), or begins with.
func swapFirst(a []float64, m int, rows, columns bool) {
	for i := range m {
		if rows {
			a[i], a[m+i] = a[m+i], a[i]
		}
	}
	for i := range m {
		if columns {
			a[i*m], a[i*m+1] = a[i*m+1], a[i*m]
		}
	}
}
