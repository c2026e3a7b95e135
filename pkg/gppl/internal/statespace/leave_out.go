package statespace

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// Observations that are left out are predicted from both sides. Let γ be the coefficients of the columns Q beside y. The state x
// at an input has the mean m_y − M_Qγ and the covariance LLᵀ given γ and the observations before. U = (U_x U_γ d) is the
// information on (x, γ) from the observations after, and (G_γ G_y) is the information on γ from the observations before and from
// the priors. With z ~ N(0, I) and noise of variance 1,
//
//	x = m_y − M_Qγ + Lz,   U_x·x + U_γ·γ = d + noise,   G_γ·γ = G_y + noise,
//
// so (z, γ) is the least-squares solution of the system whose last column is the right-hand side:
//
//	( I      0               0        )
//	( U_xL   U_γ − U_xM_Q    d − U_xm_y )
//	( 0      G_γ             G_y      )
//
// L, U and G are roots, computed by reflections and rotations alone. Unlike A⁻¹ of a block, they do not subtract numbers of about
// the same size. Rounding errors are therefore amplified by √(v/σ²) only, where v is the variance of the process, as in the
// filter.

// A forecast is the distribution of the state at a later input, given the observations so far.
type forecast struct {
	root  []float64 // L, D×D
	mean  []float64 // mean of each column, c×D
	gamma []float64 // (G_γ G_y), h×(h+1), upper triangular
}

func (p *forecast) copyOf(q *forecast) {
	p.root = append(p.root[:0], q.root...)
	p.mean = append(p.mean[:0], q.mean...)
	p.gamma = append(p.gamma[:0], q.gamma...)
}

// A leaver is the working memory of LeaveOut.
type leaver struct {
	*Filter
	columns   blas64.General // C = (y, Q)
	h         int            // number of columns of Q
	noise     []float64      // √λ of each observation
	input     int            // input of the step, for blocks
	drive     []float64      // a root of the covariance of the noise of a step
	rows, row []float64      // working memory
	at        []float64      // h of the components
	look      []float64      // Lᵀh
	after     []float64      // U: (D+h)×(D+h+1), upper triangular, over (x, γ, d)
}

// LeaveOut sets mean[i] and variance[i] to the prediction of observation i, the first column of C, from all observations
// outside its block. The other columns are a basis of the mean, whose coefficients have normal priors of variance 1 with the
// means in prior, or flat ones where that is NaN; the observations outside a block must determine them. Blocks hold indices of
// observations; entries in no block are not set. It takes O(n·D³) and, for each block, as much for the observations from its
// first to its last. It returns an error if a prediction is not finite.
func (f *Filter) LeaveOut(mean, variance []float64, columns blas64.General, prior []float64, blocks [][]int) error {
	n, d, h := len(f.t), f.dim, columns.Cols-1
	if len(mean) != n || len(variance) != n || columns.Rows != n || len(prior) != h {
		panic(fmt.Sprintf("statespace: LeaveOut: %d means, %d variances and %d priors for %d×%d columns at %d inputs",
			len(mean), len(variance), len(prior), columns.Rows, columns.Cols, n))
	}
	wide := d + h + 1
	l := &leaver{
		Filter: f.Reader(), columns: columns, h: h, noise: make([]float64, n),
		drive: make([]float64, d*d), at: make([]float64, d), look: make([]float64, d),
		rows: make([]float64, (2*d+2*h+1)*(d+wide)), row: make([]float64, wide), after: make([]float64, (d+h)*wide),
	}
	for i := range l.noise {
		l.noise[i] = math.Sqrt(f.noiseAt(i))
	}
	l.at[0] = 1
	first, last := make([][]int, n), make([][]int, n) // the blocks that begin and end at an input
	ends := make([][2]int, len(blocks))
	owner := slices.Repeat([]int{-1}, n) // the block of an observation, −1 for none
	for b, block := range blocks {
		lo, hi := n, -1
		for _, i := range block {
			lo, hi, owner[i] = min(lo, i), max(hi, i), b
		}
		if ends[b] = [2]int{lo, hi}; hi >= 0 {
			first[lo], last[hi] = append(first[lo], b), append(last[hi], b)
		}
	}

	now := &forecast{root: make([]float64, d*d), mean: make([]float64, columns.Cols*d), gamma: make([]float64, h*(h+1))}
	for j, of := range prior {
		if !math.IsNaN(of) {
			now.gamma[j*(h+1)+j], now.gamma[j*(h+1)+h] = 1, of
		}
	}
	begin := make([]forecast, len(blocks))
	for i := range n {
		l.lookAt(i)
		l.ahead(now, i)
		for _, b := range first[i] {
			begin[b].copyOf(now)
		}
		l.update(now, i)
	}
	var within []forecast
	own := make([]float64, len(l.after))
	for i := n - 1; i >= 0; i-- {
		for _, b := range last[i] {
			from := ends[b][0]
			for j := from; ; j++ {
				l.lookAt(j)
				if owner[j] == b {
					if at := j - from; at >= len(within) {
						within = append(within, make([]forecast, at+1-len(within))...)
					}
					within[j-from].copyOf(&begin[b])
				} else {
					l.update(&begin[b], j)
				}
				if j == i {
					break
				}
				l.ahead(&begin[b], j+1)
			}
			copy(own, l.after)
			for j := i; j >= from; j-- {
				l.lookAt(j)
				if owner[j] == b {
					mean[j], variance[j] = l.between(&within[j-from], own, j)
					if math.IsNaN(mean[j]) || !(variance[j] <= math.MaxFloat64) {
						return fmt.Errorf("statespace: observation %d given the others has mean %v and variance %v", j, mean[j], variance[j])
					}
				} else {
					l.observeAfter(own, j)
				}
				if j > from {
					l.behind(own, j)
				}
			}
			begin[b] = forecast{}
		}
		l.observeAfter(l.after, i)
		l.behind(l.after, i)
	}
	return nil
}

// step sets the transition, and drive to a root of the covariance of the noise, of step i.
func (l *leaver) step(i int) {
	clear(l.drive)
	if len(l.system.blocks) > 0 {
		l.input = i
		for iu := range l.system.units {
			u := &l.system.units[iu]
			root := l.blockWork.pair[0]
			choleskyRoot(root, l.noiseOf(u, i), u.dim)
			for a := range u.dim {
				for b := range a + 1 {
					l.drive[(u.at+a)*l.dim+u.at+b] = math.Sqrt(u.scale) * root[a*u.dim+b]
				}
			}
		}
		return
	}
	l.transitions(i)
	d := l.dim
	for c, o := range l.first {
		n := l.cs[c].dim()
		root := l.x[:n*n]
		choleskyRoot(root, l.q[c], n)
		for a := range n {
			copy(l.drive[(o+a)*d+o:][:n], root[a*n:][:n])
		}
		if c > 0 { // the value adds to the sum
			copy(l.drive[o:][:n], root[:n])
		}
	}
}

// forth sets dst = Φx of the step.
func (l *leaver) forth(dst, x []float64) {
	if len(l.system.blocks) > 0 {
		l.turn(dst, x, l.input)
		return
	}
	l.Filter.forth(dst, x)
}

// back sets dst = Φᵀx of the step.
func (l *leaver) back(dst, x []float64) {
	if len(l.system.blocks) > 0 {
		l.turnBack(dst, x, l.input)
		return
	}
	l.Filter.back(dst, x)
}

// hAt returns h at input i.
func (l *leaver) hAt(i int) []float64 {
	if len(l.system.blocks) > 0 {
		for iu, h := range l.system.hAt(i) {
			l.at[l.system.units[iu].at] = h
		}
	}
	return l.at
}

// ahead moves p from after one observation to before observation i: LLᵀ ← ΦLLᵀΦᵀ + Q.
func (l *leaver) ahead(p *forecast, i int) {
	l.step(i)
	d := l.dim
	for c := range l.columns.Cols {
		m := p.mean[c*d:][:d]
		l.forth(l.w, m)
		copy(m, l.w)
	}
	rows := l.rows[:2*d*d]
	for a := range d {
		for b := range d { // row a of Lᵀ
			l.k[b] = p.root[b*d+a]
		}
		l.forth(rows[a*d:][:d], l.k)
		for b := range d {
			rows[(d+a)*d+b] = l.drive[b*d+a]
		}
	}
	triangularise(rows, 2*d, d, d)
	transpose(p.root, rows, d, d)
}

// transpose sets dst = aᵀ, d×d, whose rows are stride apart.
func transpose(dst, a []float64, d, stride int) {
	for i := range d {
		for j := range d {
			dst[j*d+i] = a[i*stride+j]
		}
	}
}

// update moves p over observation i. After a reflection Lᵀh has only its first entry; with l the first column of L and s = l₁²
// + λ, l₁ = hᵀl,
//
//	m ← m + l·l₁·e/s,   l ← l·√(λ/s).
func (l *leaver) update(p *forecast, i int) {
	d, h := l.dim, l.h
	at, noise := l.hAt(i), l.noise[i]
	first := l.reflect(p.root, at)
	root := math.Hypot(first, noise)
	for c, y := range l.columns.Data[i*l.columns.Stride:][:h+1] {
		m := p.mean[c*d:][:d]
		e := (y - dot(at, m)) / root
		for a := range d {
			m[a] += p.root[a*d] * (first / root) * e
		}
		l.row[(c+h)%(h+1)] = e // y last
	}
	for a := range d {
		p.root[a*d] *= noise / root
	}
	rotateIn(p.gamma, h, l.row[:h+1])
}

// reflect turns root so that Lᵀh has only its first entry, which it returns. A lower triangle with h in its first number needs
// no reflection.
func (l *leaver) reflect(root, h []float64) (first float64) {
	d, w := l.dim, l.look
	clear(w)
	for a, v := range h {
		addScaled(w, v, root[a*d:])
	}
	var rest float64
	for _, v := range w[1:] {
		rest = math.Hypot(rest, v)
	}
	if rest == 0 {
		return w[0]
	}
	norm := math.Hypot(w[0], rest)
	image := -math.Copysign(norm, w[0])
	w[0] -= image
	scale := norm * math.Abs(w[0]) // ½|w|²
	for a := range d {
		row := root[a*d:][:d]
		addScaled(row, -dot(row, w)/scale, w)
	}
	return image
}

// rotateIn adds a row to the upper triangle of a, k×(k+1), by rotations. It overwrites row.
func rotateIn(a []float64, k int, row []float64) {
	for j := range k {
		if row[j] == 0 {
			continue
		}
		r := a[j*(k+1):][:k+1]
		norm := math.Hypot(r[j], row[j])
		c, s := r[j]/norm, row[j]/norm
		r[j], row[j] = norm, 0
		for b := j + 1; b <= k; b++ {
			r[b], row[b] = c*r[b]+s*row[b], c*row[b]-s*r[b]
		}
	}
}

// observeAfter adds observation i to the information u at its input.
func (l *leaver) observeAfter(u []float64, i int) {
	d, h := l.dim, l.h
	row := l.row[:d+h+1]
	clear(row)
	c := l.columns.Data[i*l.columns.Stride:][:h+1]
	for a, v := range l.hAt(i) {
		row[a] = v / l.noise[i]
	}
	row[d+h] = c[0] / l.noise[i]
	for j, q := range c[1:] {
		row[d+j] = q / l.noise[i]
	}
	rotateIn(u, d+h, row)
}

// behind moves the information u from before input i to after the previous input: x ← Φx + noise, and eliminates the noise.
func (l *leaver) behind(u []float64, i int) {
	l.step(i)
	d, k := l.dim, l.dim+l.h
	wide := d + k + 1
	rows := l.rows[:(d+k)*wide]
	clear(rows)
	for a := range d {
		rows[a*wide+a] = 1
	}
	for a := range k {
		from, to := u[a*(k+1):][:k+1], rows[(d+a)*wide:][:wide]
		for b := a; b < d; b++ {
			addScaled(to[:d], from[b], l.drive[b*d:])
		}
		l.back(to[d:][:d], from[:d])
		copy(to[2*d:], from[d:])
	}
	triangularise(rows, d+k, wide, d+k)
	for a := range k {
		copy(u[a*(k+1):][:k+1], rows[(d+a)*wide+d:])
	}
}

// between returns the mean and variance of observation i from the observations before it and after it.
func (l *leaver) between(p *forecast, u []float64, i int) (mean, variance float64) {
	d, h := l.dim, l.h
	k := d + h
	wide := k + 1
	count := d + k + h
	rows := l.rows[:count*wide]
	clear(rows)
	for a := range d {
		rows[a*wide+a] = 1
	}
	for a := range k {
		from, to := u[a*wide:][:wide], rows[(d+a)*wide:][:wide]
		copy(to[d:], from[d:])
		for b := a; b < d; b++ {
			w := from[b]
			addScaled(to[:d], w, p.root[b*d:])
			to[k] -= w * p.mean[b]
			for c := range h {
				to[d+c] -= w * p.mean[(1+c)*d+b]
			}
		}
	}
	for a := range h {
		copy(rows[(d+k+a)*wide+d:][:h+1], p.gamma[a*(h+1):])
	}
	triangularise(rows, count, wide, k)
	// y_i = m_y + gᵀ(z, γ): with T⁻ᵀg by rows.
	g := l.row[:k]
	at := l.hAt(i)
	clear(g[:d])
	for a, v := range at {
		addScaled(g[:d], v, p.root[a*d:])
	}
	for c := range h {
		g[d+c] = l.columns.Data[i*l.columns.Stride+1+c] - dot(at, p.mean[(1+c)*d:][:d])
	}
	mean, variance = dot(at, p.mean[:d]), l.noise[i]*l.noise[i]
	for a := range k {
		w := g[a] / rows[a*wide+a]
		for b := a + 1; b < k; b++ {
			g[b] -= w * rows[a*wide+b]
		}
		mean += w * rows[a*wide+k]
		variance += w * w
	}
	return mean, variance
}
