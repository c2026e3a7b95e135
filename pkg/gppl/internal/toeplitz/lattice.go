package toeplitz

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

const (
	// depth is the number of stages that a piece passes at a time.
	depth = 64
	// width is the number of entries of a piece. With depth more, a piece and the
	// stage after it fit in the nearest cache: 4·(width + depth) numbers.
	width = 512
)

// lattice is the filter of n − 1 stages
//
//	a ← a − κ·zb,  b ← zb − κ·a   (z shifts by one place)
//
// of the package comment, for two inputs at once. It computes depth stages at a time. Their κ follow from the first depth
// entries alone. Then every piece of width entries, together with the depth entries before it, passes through all of these
// stages on its own: pieces are independent, each stays in the cache of its processor, and no result depends on the number of
// processors.
type lattice struct {
	ctx  context.Context
	n    int
	u, v [2][]float64 // filtered column c: nonzero from the stage on
	p, r [2][]float64 // filtered unit pulse: nonzero up to the stage
	now  int          // index of the current one of the two
	done int          // number of completed stages

	kappa, variance []float64 // values of the current stages
	leadU, leadV    []float64
	scratch         [][4][]float64 // one per piece
	lower           int            // number of pieces of u and v; the pieces of p and r follow
	run             func(int)
}

func (l *lattice) reset(n int) {
	if l.run == nil {
		l.run = l.piece
		l.leadU, l.leadV = make([]float64, depth), make([]float64, depth+1)
	}
	l.n = n
	for i := range 2 {
		l.u[i], l.v[i] = dense.Resize(l.u[i], n), dense.Resize(l.v[i], n)
		l.p[i], l.r[i] = dense.Resize(l.p[i], n), dense.Resize(l.r[i], n)
		clear(l.p[i])
		clear(l.r[i])
	}
	size := min(n, width) + depth
	if len(l.scratch) > 0 && len(l.scratch[0][0]) < size {
		l.scratch = l.scratch[:0]
	}
	for len(l.scratch) < n/width+3 { // two remainders and a margin for rounding
		var s [4][]float64
		for i := range s {
			s[i] = make([]float64, size)
		}
		l.scratch = append(l.scratch, s)
	}
}

// factorise sets x to the first column of A⁻¹ and returns log|A|, where c is the first column of A.
func (l *lattice) factorise(x, c []float64) (float64, error) {
	n := len(c)
	l.reset(n)
	if !(c[0] > 0) || math.IsInf(c[0], 0) {
		return 0, dense.NotPositive{Row: 0}
	}
	l.now, l.done = 0, 0
	copy(l.u[0], c)
	copy(l.v[0], c)
	l.p[0][0], l.r[0][0] = 1, 1
	variance := c[0]
	det, power := math.Frexp(c[0]) // |A| of the rows so far is det·2^power
	for l.done < n-1 {
		stages := min(depth, n-1-l.done)
		if err := l.reflections(stages); err != nil {
			return 0, err
		}
		for _, variance = range l.variance {
			d, p := math.Frexp(det * variance)
			det, power = d, power+p
		}
		l.lower = pieces(n - l.done - stages)
		parallel.Within(l.ctx, l.lower+pieces(l.done+stages+1), l.run)
		l.done += stages
		l.now = 1 - l.now
	}
	for i, p := range l.p[l.now] {
		x[i] = p / variance
	}
	return math.Log(det) + float64(power)*math.Ln2, nil
}

func pieces(n int) int { return (n + width - 1) / width }

// reflections sets kappa and variance for the next stages.
func (l *lattice) reflections(stages int) error {
	l.kappa, l.variance = l.kappa[:0], l.variance[:0]
	m := l.done
	u, v := l.leadU[:stages], l.leadV[:stages+1] // entries m+1 … and m … of u and v
	copy(u, l.u[l.now][m+1:])
	copy(v, l.v[l.now][m:])
	for s := range stages {
		k := u[s] / v[s]
		for i := stages - 1; i >= s; i-- {
			u[i], v[i+1] = u[i]-k*v[i], v[i]-k*u[i]
		}
		if !(v[s+1] > 0) {
			return dense.NotPositive{Row: m + s + 1}
		}
		l.kappa, l.variance = append(l.kappa, k), append(l.variance, v[s+1])
	}
	return nil
}

// piece takes one piece through the stages of kappa.
func (l *lattice) piece(i int) {
	now, next := l.now, 1-l.now
	stages := len(l.kappa)
	if i < l.lower {
		from := l.done + stages + i*width
		l.filter(i, l.u[next], l.v[next], l.u[now], l.v[now], from, min(from+width, l.n))
		return
	}
	from := (i - l.lower) * width
	l.filter(i, l.p[next], l.r[next], l.p[now], l.r[now], from, min(from+width, l.done+stages+1))
}

// filter sets entries [from, to) of a and b to the result of a0 and b0 after the stages of kappa. Entries before 0 are zero.
func (l *lattice) filter(piece int, a, b, a0, b0 []float64, from, to int) {
	s := &l.scratch[piece]
	stages := len(l.kappa)
	size := to - from + stages
	x, y, x1, y1 := s[0][:size], s[1][:size], s[2][:size], s[3][:size]
	start := from - stages
	missing := max(0, -start)
	clear(x[:missing])
	clear(y[:missing])
	copy(x[missing:], a0[start+missing:to])
	copy(y[missing:], b0[start+missing:to])
	for i, k := range l.kappa {
		dense.Reflect(x1[i+1:], y1[i+1:], -k, x[i+1:], y[i:size-1])
		x, y, x1, y1 = x1, y1, x, y
	}
	copy(a[from:to], x[stages:])
	copy(b[from:to], y[stages:])
}
