package statespace

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// After a gap, and over the prior at the first exposure, an average over a short exposure and f at its end are nearly the
// same: separate rounding of their covariances to float64 loses the covariance of their difference. A doubled factorisation
// therefore composes the covariances of a stride from its spans' in double-double. Within a span nothing is lost.

// square is an n×n matrix by rows.
type square struct {
	n    int
	data []doubled.Float
}

func newSquare(n int) square { return square{n, make([]doubled.Float, n*n)} }

func (a square) row(i int) []doubled.Float { return a.data[i*a.n:][:a.n] }

// timesTransposed returns abᵀ.
func (a square) timesTransposed(b square) square {
	c := newSquare(a.n)
	for i := range a.n {
		for j := range a.n {
			c.data[i*a.n+j] = doubled.Dot(a.row(i), b.row(j))
		}
	}
	return c
}

// add adds b.
func (a square) add(b square) {
	for i, x := range b.data {
		a.data[i] = a.data[i].Add(x)
	}
}

// addWithTransposed adds b + bᵀ.
func (a square) addWithTransposed(b square) {
	for i := range a.n {
		for j := range a.n {
			a.data[i*a.n+j] = a.data[i*a.n+j].Add(b.data[i*a.n+j].Add(b.data[j*a.n+i]))
		}
	}
}

// span returns Φ and Q of a span for the whole state or, for a parameter from 0 on, their derivatives. share is each slot's.
func (e *Exposed) span(w *window, share []float64, param int) (phi, q square) {
	d, m := e.X.Dim(), e.Slots
	phi, q = newSquare(m+d), newSquare(m+d)
	inPhi, inQ, row, cross, spread := w.phi, w.noise, w.row, w.cross, w.spread
	if param >= 0 {
		inPhi, inQ = w.dPhi[param*d*d:], w.dNoise[param*d*d:]
		if !w.bare {
			row, cross, spread = w.dRow[param*d:], w.dCross[param*d:], w.dSpread[param]
		}
	}
	for i := range d {
		for j := range d {
			phi.row(m + i)[m+j], q.row(m + i)[m+j] = doubled.Of(inPhi[i*d+j]), doubled.Of(inQ[i*d+j])
		}
	}
	for j, s := range share {
		if param < 0 {
			phi.row(j)[j] = doubled.Of(1)
		}
		if s == 0 {
			continue
		}
		for i := range d {
			phi.row(j)[m+i] = doubled.Of(s).Times(row[i])
			x := doubled.Of(s).Times(cross[i])
			q.row(j)[m+i], q.row(m + i)[j] = x, x
		}
		for i, other := range share {
			q.row(j)[i] = doubled.Of(s).Times(other).Times(spread)
		}
	}
	return phi, q
}

// noiseDoubled returns Q of a stride and its derivatives in p parameters: over each span, Q ← ΦQΦᵀ + the span's Q.
func (e *Exposed) noiseDoubled(ws *windows, st *stride, p int) wideMoves {
	if ws.wideOf == p+1 && slices.Equal(ws.wideDone.spans, st.spans) && slices.Equal(ws.wideDone.slots, st.slots) {
		return ws.wide
	}
	m := e.Slots
	all := m + e.X.Dim()
	q, dq := newSquare(all), make([]square, p)
	for k := range dq {
		dq[k] = newSquare(all)
	}
	share := make([]float64, m)
	for k, length := range st.spans {
		bare := true
		for j := range share {
			share[j] = 0
			if st.slots[j].from <= k {
				share[j] = st.slots[j].share
			}
			bare = bare && share[j] == 0
		}
		if length == 0 && len(st.spans) > 1 {
			continue
		}
		w := ws.of(e, length, p > 0, bare)
		phi, own := e.span(w, share, -1)
		moved := q.timesTransposed(phi) // QΦᵀ, the transpose of ΦQ
		for i := range dq {
			dPhi, dOwn := e.span(w, share, i)
			next := phi.timesTransposed(dq[i].timesTransposed(phi).transposed())
			next.addWithTransposed(dPhi.timesTransposed(moved.transposed()))
			next.add(dOwn)
			dq[i] = next
		}
		q = phi.timesTransposed(moved.transposed())
		q.add(own)
	}
	if st.slots[0].value { // f at the end
		for _, a := range append(dq, q) {
			copy(a.row(0), a.row(m))
			for i := range all {
				a.row(i)[0] = a.row(i)[m]
			}
		}
	}
	ws.wideOf, ws.wide = p+1, wideMoves{q: q.data}
	for _, a := range dq {
		ws.wide.dq = append(ws.wide.dq, a.data)
	}
	ws.wideDone.spans, ws.wideDone.slots = append(ws.wideDone.spans[:0], st.spans...), append(ws.wideDone.slots[:0], st.slots...)
	return ws.wide
}

func (a square) transposed() square {
	b := newSquare(a.n)
	for i := range a.n {
		for j := range a.n {
			b.data[j*a.n+i] = a.data[i*a.n+j]
		}
	}
	return b
}

// sharpen sets noise and low to Q of a stride.
func (e *Exposed) sharpen(noise, low []float64, ws *windows, st *stride) {
	for i, x := range e.noiseDoubled(ws, st, 0).q {
		noise[i], low[i] = x.Hi, x.Lo
	}
}
