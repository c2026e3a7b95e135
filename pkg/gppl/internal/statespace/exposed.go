package statespace

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// An Exposed is a Process X with the running averages z of its first number over exposures, which are the observations: its
// state is (z, x), with a z for each exposure that may be open at the same time (Schedule). Over a span τ
//
//	z ← z + δ⁻¹(rᵀx + e),  x ← Φx + noise of covariance Q,
//	r = ∫Φ(u)ᵀe₁du,  cov(e, x) = ∫Φ(τ−u)Q(u)e₁du,  var e = 2∫r(τ−u)ᵀQ(u)e₁du,  0 ≤ u ≤ τ,
//
// where e is the same for all open exposures. The integrals are Gauss–Legendre sums over a span in which Φ hardly changes.
// Doubling then extends them to longer spans, as for Φ and Q, in log₂ of the length over the scale. None is a difference, so
// no digits are lost over short or long exposures. Without exposures, z is the first number of X.
type Exposed struct {
	X      Process
	Params int
	Slots  int // number of z

	grain float64 // a span in which Φ hardly changes
}

// exposedNodes is the number of nodes in the shortest span.
const exposedNodes = 10

// nodes and weights are the Gauss–Legendre rule on (0, 1); row j of partly holds the weights of an integral from 0 to 1 minus
// node j.
var nodes, weights, partly = func() (x, w []float64, partly [][]float64) {
	x, w = make([]float64, exposedNodes), make([]float64, exposedNodes)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	for _, node := range x {
		row, end := make([]float64, exposedNodes), 1-node
		for m, at := range x { // the polynomial through values at the nodes, integrated by the same nodes
			for k := range x {
				lagrange := 1.
				for j := range x {
					if j != k {
						lagrange *= (end*at - x[j]) / (x[k] - x[j])
					}
				}
				row[k] += end * w[m] * lagrange
			}
		}
		partly = append(partly, row)
	}
	return x, w, partly
}()

// grainChange is the largest change of Φ over the shortest span, relative to the standard deviations of the state: ten nodes
// then give integrals to rounding.
const grainChange = 0.25

// NewExposed prepares a process for exposures up to longest, at most slots of them open at the same time.
func NewExposed(x Process, params, slots int, longest float64) *Exposed {
	d := x.Dim()
	e := &Exposed{X: x, Params: params, Slots: slots}
	phi, q := make([]float64, d*d), make([]float64, d*d)
	x.Transition(phi, q, infinity)
	size := make([]float64, d)
	for i := range size {
		if size[i] = math.Sqrt(q[i*d+i]); !(size[i] > 0) {
			size[i] = 1
		}
	}
	still := func(gap float64) bool {
		x.Transition(phi, q, gap)
		for i := range d {
			var change float64
			for j := range d {
				v := phi[i*d+j]
				if i == j {
					v--
				}
				change += math.Abs(v) * size[j] / size[i]
			}
			if !(change <= grainChange) {
				return false
			}
		}
		return true
	}
	// From short to long, since a whole number of turns is no small change.
	const far = -64
	for e.grain = math.Ldexp(longest, far); e.grain > 0 && !still(e.grain); {
		e.grain = math.Ldexp(e.grain, far)
	}
	for e.grain > 0 && e.grain < longest && still(2*e.grain) {
		e.grain *= 2
	}
	e.grain = max(e.grain, math.SmallestNonzeroFloat64)
	return e
}

func (e *Exposed) Dim() int { return e.Slots + e.X.Dim() }

// window holds the numbers of a span: Φ, Q and, unless it is bare, the integrals r, cov(e, x) and var e; if it is sloped, also
// their derivatives in each parameter.
type window struct {
	length              float64
	set, sloped, bare   bool
	phi, noise          []float64
	row, cross          []float64
	spread              float64
	dPhi, dNoise        []float64
	dRow, dCross        []float64
	dSpread             []float64
	atPhi, atNoise      []float64 // values at the nodes
	atdPhi, atdNoise    []float64
	next, slope, within []float64 // working memory
}

// windows caches the latest windows: a small number of lengths recurs.
type windows struct {
	all    [4]window
	last   int
	steps  stride
	buffer []float64
	done   stride // last stride of walk, for p parameters; empty without spans
	p      int
	s      moves // result of the last walk
	ds     []moves

	wideDone stride // last stride of noiseDoubled, for wideOf − 1 parameters
	wideOf   int
	wide     wideMoves
}

// of returns the window of a span, computed only if it is not cached.
func (ws *windows) of(e *Exposed, length float64, slopes, bare bool) *window {
	for i := range ws.all {
		if w := &ws.all[i]; w.set && w.length == length && w.sloped == slopes && w.bare == bare {
			return w
		}
	}
	ws.last = (ws.last + 1) % len(ws.all)
	w := &ws.all[ws.last]
	e.windowOf(w, length, slopes, bare)
	return w
}

// reset forgets all windows, for another process.
func (ws *windows) reset() {
	for i := range ws.all {
		ws.all[i].set = false
	}
	ws.done.spans, ws.wideOf = ws.done.spans[:0], 0
}

// windowOf sets w to a span of the given length.
func (e *Exposed) windowOf(w *window, length float64, slopes, bare bool) {
	d, p := e.X.Dim(), 0
	dd := d * d
	if slopes {
		p = e.Params
	}
	w.length, w.sloped, w.bare, w.set = length, slopes, bare, true
	w.phi, w.noise = dense.Resize(w.phi, dd), dense.Resize(w.noise, dd)
	w.dPhi, w.dNoise = dense.Resize(w.dPhi, p*dd), dense.Resize(w.dNoise, p*dd)
	if bare {
		e.over(w, length, p)
		return
	}
	w.row, w.cross, w.spread = dense.Resize(w.row, d), dense.Resize(w.cross, d), 0
	w.dRow, w.dCross = dense.Resize(w.dRow, p*d), dense.Resize(w.dCross, p*d)
	w.dSpread, w.next, w.within = dense.Resize(w.dSpread, p), dense.Resize(w.next, d), dense.Resize(w.within, d)
	w.slope = dense.Resize(w.slope, 3*d)
	doublings := 0
	if length > e.grain {
		_, long := math.Frexp(length)
		_, short := math.Frexp(e.grain)
		doublings = max(0, long-short)
		if math.Ldexp(length, -doublings) > e.grain {
			doublings++
		}
	}
	e.shortest(w, math.Ldexp(length, -doublings), p)
	for k := doublings; k > 0; k-- {
		e.over(w, math.Ldexp(length, -k), p)
		e.double(w, p)
	}
	e.over(w, length, p)
}

// over sets Φ and Q of a gap.
func (e *Exposed) over(w *window, gap float64, p int) {
	e.X.Transition(w.phi, w.noise, gap)
	if p > 0 {
		e.X.Slopes(w.dPhi, w.dNoise, w.phi, w.noise, gap)
	}
}

// shortest sets the integrals over a span in which Φ hardly changes.
func (e *Exposed) shortest(w *window, length float64, p int) {
	d := e.X.Dim()
	dd := d * d
	w.atPhi, w.atNoise = dense.Resize(w.atPhi, exposedNodes*dd), dense.Resize(w.atNoise, exposedNodes*dd)
	w.atdPhi, w.atdNoise = dense.Resize(w.atdPhi, exposedNodes*p*dd), dense.Resize(w.atdNoise, exposedNodes*p*dd)
	clear(w.row)
	clear(w.cross)
	clear(w.dRow)
	clear(w.dCross)
	clear(w.dSpread)
	at := func(x []float64, j, size int) []float64 { return x[j*size:][:size] }
	for j, node := range nodes {
		phi, q := at(w.atPhi, j, dd), at(w.atNoise, j, dd)
		e.X.Transition(phi, q, length*node)
		addScaled(w.row, length*weights[j], phi[:d])
		if p == 0 {
			continue
		}
		dPhi := at(w.atdPhi, j, p*dd)
		e.X.Slopes(dPhi, at(w.atdNoise, j, p*dd), phi, q, length*node)
		for k := range p {
			addScaled(w.dRow[k*d:][:d], length*weights[j], dPhi[k*dd:][:d])
		}
	}
	// integral of r over a span that is shorter by node j
	partial := func(dst []float64, values []float64, size, offset, j int) {
		clear(dst)
		for k, weight := range partly[j] {
			addScaled(dst, length*weight, at(values, k, size)[offset:][:d])
		}
	}
	r, dr := w.slope[:d], w.slope[d:2*d]
	for j := range nodes {
		scale, other := length*weights[j], exposedNodes-1-j
		phi, q := at(w.atPhi, other, dd), at(w.atNoise, j, dd)
		partial(r, w.atPhi, dd, 0, j)
		w.spread += 2 * scale * dot(r, q[:d])
		for i := range d {
			w.cross[i] += scale * dot(phi[i*d:][:d], q[:d])
		}
		for k := range p {
			dPhi, dQ := at(w.atdPhi, other, p*dd)[k*dd:][:dd], at(w.atdNoise, j, p*dd)[k*dd:][:dd]
			partial(dr, w.atdPhi, p*dd, k*dd, j)
			w.dSpread[k] += 2 * scale * (dot(dr, q[:d]) + dot(r, dQ[:d]))
			for i := range d {
				w.dCross[k*d+i] += scale * (dot(dPhi[i*d:][:d], q[:d]) + dot(phi[i*d:][:d], dQ[:d]))
			}
		}
	}
}

// double extends the integrals over a span to two spans, given Φ and Q of one:
//
//	r ← r + Φᵀr,  cov(e, x) ← Φ(cov(e, x) + Qr) + cov(e, x),  var e ← 2var e + 2rᵀcov(e, x) + rᵀQr.
func (e *Exposed) double(w *window, p int) {
	d := e.X.Dim()
	dd := d * d
	r, c, in, next := w.row, w.cross, w.within, w.next
	for i := range d { // cov(e, x) + Qr
		in[i] = c[i] + dot(w.noise[i*d:][:d], r)
	}
	dIn, moved := w.slope[:d], w.slope[d:2*d]
	for k := range p {
		dPhi, dQ, dr, dc := w.dPhi[k*dd:][:dd], w.dNoise[k*dd:][:dd], w.dRow[k*d:][:d], w.dCross[k*d:][:d]
		for i := range d {
			dIn[i] = dc[i] + dot(dQ[i*d:][:d], r) + dot(w.noise[i*d:][:d], dr)
		}
		// rᵀ(cov(e, x) + in)
		w.dSpread[k] = 2*w.dSpread[k] + dot(dr, c) + dot(dr, in) + dot(r, dc) + dot(r, dIn)
		clear(moved)
		for i := range d {
			dc[i] += dot(dPhi[i*d:][:d], in) + dot(w.phi[i*d:][:d], dIn)
			addScaled(moved, r[i], dPhi[i*d:][:d])
			addScaled(moved, dr[i], w.phi[i*d:][:d])
		}
		dense.Add(dr, moved)
	}
	w.spread = 2*w.spread + dot(r, c) + dot(r, in)
	clear(next)
	for i := range d {
		c[i] += dot(w.phi[i*d:][:d], in)
		addScaled(next, r[i], w.phi[i*d:][:d])
	}
	dense.Add(r, next)
}

// moves is the effect of a stride so far: x at its end is Φx plus noise of covariance xx, and z grows by rows·x plus noise of
// covariances zz and zx.
type moves struct{ phi, xx, rows, zx, zz []float64 }

func movesIn(buffer []float64, m, d int) (s moves, rest []float64) {
	take := func(size int) (x []float64) { x, buffer = buffer[:size:size], buffer[size:]; return x }
	return moves{take(d * d), take(d * d), take(m * d), take(m * d), take(m * m)}, buffer
}

func movesSize(m, d int) int { return 2*d*d + 2*m*d + m*m }

// walk sets s to a stride and, for the p parameters of a sloped one, ds to its derivatives.
func (e *Exposed) walk(ws *windows, st *stride, p int) (s moves, ds []moves) {
	if ws.p == p && slices.Equal(ws.done.spans, st.spans) && slices.Equal(ws.done.slots, st.slots) { // the same stride
		return ws.s, ws.ds
	}
	d, m := e.X.Dim(), e.Slots
	size := movesSize(m, d)
	ws.done.spans, ws.done.slots = append(ws.done.spans[:0], st.spans...), append(ws.done.slots[:0], st.slots...)
	ws.buffer = dense.Resize(ws.buffer, (1+p)*size+4*d*d+3*d+m*d)
	clear(ws.buffer)
	s, buffer := movesIn(ws.buffer, m, d)
	ds = ws.ds[:0]
	for range p {
		var one moves
		one, buffer = movesIn(buffer, m, d)
		ds = append(ds, one)
	}
	take := func(size int) (x []float64) { x, buffer = buffer[:size:size], buffer[size:]; return x }
	left, right, other, third, u, v, du := take(d*d), take(d*d), take(d*d), take(d*d), take(d), take(d), take(d)
	before := take(m * d)
	for i := range d {
		s.phi[i*d+i] = 1
	}
	share := func(j, k int) float64 { // share of slot j in span k
		if st.slots[j].from <= k {
			return st.slots[j].share
		}
		return 0
	}
	for k, length := range st.spans {
		bare := true
		for j := range m {
			bare = bare && share(j, k) == 0
		}
		if length == 0 && len(st.spans) > 1 {
			continue
		}
		w := ws.of(e, length, p > 0, bare)
		first := k == 0 // nothing precedes it
		if !bare {
			multiplyRow(u, w.row, s.xx) // rᵀxx
			own := dot(u, w.row) + w.spread
			for q := range p {
				dr, t := w.dRow[q*d:][:d], &ds[q]
				multiplyRow(v, w.row, t.xx)
				dOwn := dot(v, w.row) + 2*dot(u, dr) + w.dSpread[q]
				for j := range m {
					sj := share(j, k)
					dcj := dot(t.zx[j*d:][:d], w.row) + dot(s.zx[j*d:][:d], dr)
					for i := range m {
						si := share(i, k)
						dci := dot(t.zx[i*d:][:d], w.row) + dot(s.zx[i*d:][:d], dr)
						t.zz[j*m+i] += si*dcj + sj*dci + sj*si*dOwn
					}
				}
			}
			for j := range m {
				sj, cj := share(j, k), dot(s.zx[j*d:][:d], w.row)
				for i := range m {
					s.zz[j*m+i] += share(i, k)*cj + share(j, k)*dot(s.zx[i*d:][:d], w.row) + sj*share(i, k)*own
				}
			}
			for j := range m {
				sj := share(j, k)
				if sj == 0 {
					continue
				}
				for q := range p {
					dr, t := w.dRow[q*d:][:d], &ds[q]
					multiplyRow(du, dr, s.phi)
					addScaled(t.rows[j*d:][:d], sj, du)
					multiplyRow(du, w.row, t.phi)
					addScaled(t.rows[j*d:][:d], sj, du)
				}
				multiplyRow(du, w.row, s.phi)
				addScaled(s.rows[j*d:][:d], sj, du)
			}
		}
		// zx ← (zx + s·rᵀxx)Φᵀ + s·cov(e, x)
		copy(before, s.zx)
		for j := range m {
			sj, row := share(j, k), before[j*d:][:d]
			if !bare && sj != 0 {
				addScaled(row, sj, u)
			}
			for q := range p {
				t, dPhi := &ds[q], w.dPhi[q*d*d:][:d*d]
				to := t.zx[j*d:][:d]
				copy(v, to)
				if !bare && sj != 0 {
					multiplyRow(du, w.dRow[q*d:][:d], s.xx)
					addScaled(v, sj, du)
					multiplyRow(du, w.row, t.xx)
					addScaled(v, sj, du)
				}
				for i := range d {
					to[i] = dot(w.phi[i*d:][:d], v) + dot(dPhi[i*d:][:d], row)
				}
				if !bare && sj != 0 {
					addScaled(to, sj, w.dCross[q*d:][:d])
				}
			}
			to := s.zx[j*d:][:d]
			for i := range d {
				to[i] = dot(w.phi[i*d:][:d], row)
			}
			if !bare && sj != 0 {
				addScaled(to, sj, w.cross)
			}
		}
		if first {
			copy(s.phi, w.phi)
			copy(s.xx, w.noise)
			for q := range p {
				copy(ds[q].phi, w.dPhi[q*d*d:][:d*d])
				copy(ds[q].xx, w.dNoise[q*d*d:][:d*d])
			}
			continue
		}
		multiplySquare(left, w.phi, s.phi, d)
		multiplySquare(right, w.phi, s.xx, d)
		for q := range p {
			t, dPhi := &ds[q], w.dPhi[q*d*d:][:d*d]
			multiplySquare(other, dPhi, s.phi, d)
			multiplySquare(third, w.phi, t.phi, d)
			for i := range t.phi {
				t.phi[i] = other[i] + third[i]
			}
			multiplySquare(other, w.phi, t.xx, d) // Φ∂xxΦᵀ + ∂Φ·xxΦᵀ and its mirror image
			multiplySquare(third, dPhi, s.xx, d)
			for i := range d {
				for j := range d {
					t.xx[i*d+j] = dot(other[i*d:][:d], w.phi[j*d:][:d]) + dot(third[i*d:][:d], w.phi[j*d:][:d]) +
						dot(right[i*d:][:d], dPhi[j*d:][:d]) + w.dNoise[q*d*d+i*d+j]
				}
			}
		}
		copy(s.phi, left)
		for i := range d {
			for j := range d {
				s.xx[i*d+j] = dot(right[i*d:][:d], w.phi[j*d:][:d]) + w.noise[i*d+j]
			}
		}
	}
	if st.slots[0].value { // f at the end
		for q := -1; q < p; q++ {
			t := &s
			if q >= 0 {
				t = &ds[q]
			}
			copy(t.rows[:d], t.phi[:d])
			copy(t.zx[:d], t.xx[:d])
			for j := 1; j < m; j++ {
				t.zz[j], t.zz[j*m] = t.zx[j*d], t.zx[j*d]
			}
			t.zz[0] = t.xx[0]
		}
	}
	ws.p, ws.s, ws.ds = p, s, ds
	return s, ds
}

// step sets phi and noise of a stride.
func (e *Exposed) step(phi, noise []float64, ws *windows, st *stride) {
	d, m := e.X.Dim(), e.Slots
	all := d + m
	s, _ := e.walk(ws, st, 0)
	clear(phi[:all*all])
	clear(noise[:all*all])
	for j := range m {
		if c := st.slots[j].carry; c >= 0 {
			phi[j*all+c] = 1
		}
		copy(phi[j*all+m:][:d], s.rows[j*d:][:d])
		copy(noise[j*all:][:m], s.zz[j*m:][:m])
		copy(noise[j*all+m:][:d], s.zx[j*d:][:d])
		for i := range d {
			noise[(m+i)*all+j] = s.zx[j*d+i]
		}
	}
	for i := range d {
		copy(phi[(m+i)*all+m:][:d], s.phi[i*d:][:d])
		copy(noise[(m+i)*all+m:][:d], s.xx[i*d:][:d])
	}
}

// contract adds the products of the adjoints of Φ and Q of a stride, in forms, with their derivatives to grad.
func (e *Exposed) contract(grad, forms []float64, ws *windows, st *stride) {
	d, m := e.X.Dim(), e.Slots
	all := d + m
	_, ds := e.walk(ws, st, e.Params)
	z, w := forms[:all*all], forms[all*all:2*all*all]
	for p := range ds {
		t := &ds[p]
		var sum float64
		for j := range m {
			sum += dot(z[j*all+m:][:d], t.rows[j*d:][:d]) + dot(w[j*all:][:m], t.zz[j*m:][:m]) + dot(w[j*all+m:][:d], t.zx[j*d:][:d])
			for i := range d {
				sum += w[(m+i)*all+j] * t.zx[j*d+i]
			}
		}
		for i := range d {
			sum += dot(z[(m+i)*all+m:][:d], t.phi[i*d:][:d]) + dot(w[(m+i)*all+m:][:d], t.xx[i*d:][:d])
		}
		grad[p] += sum
	}
}

// Transition implements Process, without an exposure.
func (e *Exposed) Transition(phi, noise []float64, gap float64) {
	st := stride{spans: []float64{gap}}
	for range e.Slots {
		st.slots = append(st.slots, slot{carry: -1, from: 1})
	}
	st.slots[0].value = true
	e.step(phi, noise, new(windows), &st)
}

// Slopes implements Process, without an exposure.
func (e *Exposed) Slopes(dPhi, dNoise, _, _ []float64, gap float64) {
	panic("statespace: Slopes of an Exposed")
}

// wideMoves is Q of a stride and its derivatives, of the whole state by rows.
type wideMoves struct {
	q  []doubled.Float
	dq [][]doubled.Float
}
