package periodogram

import (
	"context"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// exactDifferences and perOctave say which differences of two frequencies Variance sums: all up to exactDifferences and,
// beyond, perOctave in each octave, each drawn from a stratum that it represents. The sum ends where the remaining differences,
// if each contributed as much as in the last octave, would change no variance by more than the share leftOut. The error of each
// entry is at most 3 %: see TestVariance.
const (
	exactDifferences, perOctave = 128, 64
	leftOut                     = 1e-3
)

// Variance returns the covariance matrix V of the sums Σ_j b_j·I_j over j = 0 … ⌊N/2⌋, one for each b, for a Gaussian y.
// covariances are A(d) at the lags d = 0 … N−1, the noise included. With u, M, P and the taper h as in Even,
//
//	V = 2·Σ_jk b_j·b_k·|D_jk|²,  D_jk = u_jᴴM(A + PPᵀ)Mu_k,
//
// where j and k run over the N frequencies of both signs, with half of b at each sign. All D with one difference m of
// frequencies take O(N log N); without M and P,
//
//	D_{k+m,k} = Σ_d A(d)·exp(−iω_{k+m}·d)·Σ_t h_t·h_{t+d}·exp(−iω_m·t).
//
// Without gaps and taper the inner sum is geometric, and they take O(N): with s_j = Σ_d>0 A(d)·sin(ω_j·d),
//
//	D_{k+m,k} = −(s_{k+m} − s_k)·exp(iω_m/2)/(N·sin(ω_m/2)), m ≠ 0.
//
// Up to N = 256 all differences are summed. For longer series those above exactDifferences are drawn at random, O(log N) of them.
// Variance panics with a parallel.Stop once ctx has ended.
func (e *Even) Variance(ctx context.Context, covariances []float64, b [][]float64) *mat.SymDense {
	s := newScores(e, covariances, b)
	rnd := rand.New(rand.NewPCG(uint64(e.n), 1))
	for from, top := 0, e.n/2; from <= top; {
		to := min(max(exactDifferences+1, 2*from), top+1)
		before := mat.NewSymDense(len(b), nil)
		before.CopySym(s.sum)
		s.add(ctx, drawn(from, to, e.n, rnd))
		settled := from > 0
		for a := range b {
			share := (s.sum.At(a, a) - before.At(a, a)) / float64(to-from) * float64(top+1-to)
			settled = settled && share <= leftOut*s.sum.At(a, a)
		}
		if settled {
			break
		}
		from = to
	}
	return s.sum
}

// difference is a difference of two frequencies that represents several, of both signs.
type difference struct {
	m     int
	count float64
}

// drawn returns all differences from ≤ m < to of n frequencies or, unless from is 0, one of each stratum.
func drawn(from, to, n int, rnd *rand.Rand) (all []difference) {
	for m := from; m < to; {
		width := 1
		if from > 0 {
			width = min(max(1, int(float64(m)*(math.Exp2(1./perOctave)-1))), to-m)
		}
		d := difference{m + rnd.IntN(width), 2 * float64(width)}
		if width == 1 && (m == 0 || 2*m == n) { // it is its own mirror image
			d.count = 1
		}
		all = append(all, d)
		m += width
	}
	return all
}

// scores is a covariance of sums during its computation.
type scores struct {
	e           *Even
	covariances []float64
	full        [][]float64 // b over the frequencies of both signs
	sines       []float64   // s_j; nil with gaps or a taper
	rest        []remainder
	pool        parallel.Pool[scoreWork]
	sum         *mat.SymDense
}

func newScores(e *Even, covariances []float64, b [][]float64) *scores {
	n := e.n
	s := &scores{e: e, covariances: covariances, rest: e.remainders(covariances), sum: mat.NewSymDense(len(b), nil)}
	if slices.Min(e.taper) == slices.Max(e.taper) {
		s.sines = e.sines(covariances)
	}
	for a := range b {
		full := make([]float64, n)
		for j := range full {
			if full[j] = 0.5 * b[a][min(j, n-j)]; j == 0 || 2*j == n {
				full[j] *= 2
			}
		}
		s.full = append(s.full, full)
	}
	return s
}

// add adds the contributions of differences, in their order, on any number of processors.
func (s *scores) add(ctx context.Context, differences []difference) {
	n := s.e.n
	parts := make([]*mat.SymDense, len(differences))
	parallel.Within(ctx, len(differences), func(i int) {
		w := s.pool.Get()
		w.set(s.e, s.covariances)
		m := differences[i].m
		if s.sines != nil && m > 0 {
			w.even(s.sines, m)
		} else {
			w.row(s.e, m)
		}
		for k := range n {
			j := (k + m) % n
			d := w.z[j]
			for _, r := range s.rest {
				d += r.left[j] * cmplx.Conj(r.right[k])
			}
			w.powers[k] = 2 * differences[i].count * power(d)
		}
		v := mat.NewSymDense(len(s.full), nil)
		for a, at := range s.full {
			for c, other := range s.full[a:] { // differences has one order of each pair, and both count
				v.SetSym(a, a+c, pairs(w.powers[:n-m], at[m:], other, at, other[m:])+pairs(w.powers[n-m:], at, other[n-m:], at[n-m:], other))
			}
		}
		parts[i] = v
		s.pool.Put(w)
	})
	parallel.Look(ctx)
	for _, v := range parts {
		s.sum.AddSym(s.sum, v)
	}
}

// remainder is a product left·rightᴴ in D beyond the covariance without Q and P.
type remainder struct{ left, right []complex128 }

// remainders returns the contributions of the columns to D: −FᴴG − GᴴF + Fᴴ(QᵀAQ)F with F = Qᵀu and G = QᵀAu, and P's.
func (e *Even) remainders(covariances []float64) (all []remainder) {
	for _, p := range e.held {
		all = append(all, remainder{p.waves, p.waves})
	}
	if len(e.free) == 0 {
		return all
	}
	var w Work
	w.set(e)
	w.cover(e, covariances)
	for c, q := range e.free {
		g := e.waves(w.covered[c])
		for j := range g {
			g[j] = -g[j]
		}
		back := append([]complex128(nil), g...)
		for d, other := range e.free {
			inner := complex(floats.Dot(q.at, w.covered[d]), 0)
			for j := range back {
				back[j] += inner * other.waves[j]
			}
		}
		all = append(all, remainder{q.waves, back}, remainder{g, q.waves})
	}
	return all
}

// scoreWork is the working memory of one difference.
type scoreWork struct {
	transform   *Transform
	fft         *fourier.CmplxFFT
	taper, work []complex128
	covariances []float64
	z           []complex128
	powers      []float64
}

func (w *scoreWork) set(e *Even, covariances []float64) {
	w.covariances = covariances
	if w.transform != nil {
		return
	}
	w.transform, w.fft = e.transform.Fresh(), fourier.NewCmplxFFT(e.size)
	w.taper, w.work = make([]complex128, e.size), make([]complex128, e.size)
	w.z, w.powers = make([]complex128, e.n), make([]float64, e.n)
	for t, h := range e.taper {
		w.taper[t] = complex(h/float64(e.size), 0)
	}
	w.fft.Coefficients(w.taper, w.taper)
}

// pairs returns ½Σ_k p_k·(a_k·b_k + c_k·d_k).
func pairs(p, a, b, c, d []float64) (sum float64) {
	a, b, c, d = a[:len(p)], b[:len(p)], c[:len(p)], d[:len(p)]
	for k, v := range p {
		sum += 0.5 * v * (a[k]*b[k] + c[k]*d[k])
	}
	return sum
}

// sines returns s_j = Σ_d>0 A(d)·sin(ω_j·d), j = 0 … N−1.
func (e *Even) sines(covariances []float64) []float64 {
	z := make([]complex128, e.n)
	for d := 1; d < e.n; d++ {
		z[d] = complex(covariances[d], 0)
	}
	e.transform.Fresh().Forward(z)
	s := make([]float64, e.n)
	for j, v := range z {
		s[j] = -imag(v)
	}
	return s
}

// even sets z_j to u_jᴴAu_{j−m}, j = 0 … N−1, for equal weights and 0 < m < N.
func (w *scoreWork) even(s []float64, m int) {
	n := len(s)
	half := math.Pi * float64(m) / float64(n)
	by := cmplx.Rect(-1/(float64(n)*math.Sin(half)), half)
	for k, v := range s {
		j := (k + m) % n
		w.z[j] = complex(s[j]-v, 0) * by
	}
}

// row sets z_j to u_jᴴAu_{j−m}, j = 0 … N−1.
func (w *scoreWork) row(e *Even, m int) {
	clear(w.work)
	for t, h := range e.taper {
		sin, cos := math.Sincos(2 * math.Pi * float64(t*m%e.n) / float64(e.n))
		w.work[t] = complex(h*cos, h*sin) // conjugated: its transform is the other's, backwards
	}
	w.fft.Coefficients(w.work, w.work)
	for i, v := range w.work {
		w.work[i] = cmplx.Conj(v) * w.taper[i]
	}
	w.fft.Sequence(w.work, w.work)
	w.z[0] = complex(w.covariances[0], 0) * w.work[0]
	for d := 1; d < e.n; d++ {
		w.z[d] = complex(w.covariances[d], 0) * w.work[d]
	}
	for d := 1; d < e.n; d++ { // negative lags, shifted by a period
		w.z[e.n-d] += complex(w.covariances[d], 0) * w.work[e.size-d]
	}
	w.transform.Forward(w.z)
}
