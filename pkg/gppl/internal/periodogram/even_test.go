package periodogram

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// TestTransform compares transforms of smooth and of other lengths with sums.
func TestTransform(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 7, 16, 30, 45, 49, 97, 120} {
		f := NewTransform(n).Fresh()
		x, even := make([]complex128, n), make([]float64, n/2+1)
		for i := range x {
			x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
		for i := range even {
			even[i] = rnd.NormFloat64()
		}
		got, cosines := append([]complex128(nil), x...), append([]float64(nil), even...)
		f.Forward(got)
		f.Cosines(cosines, cosines)
		for j := range n {
			var want complex128
			var cos float64
			for s, v := range x {
				want += v * cmplx.Exp(complex(0, -2*math.Pi*float64(j*s%n)/float64(n)))
				cos += even[min(s, n-s)] * math.Cos(2*math.Pi*float64(j*s%n)/float64(n))
			}
			if cmplx.Abs(got[j]-want) > 1e-12*float64(n) || j <= n/2 && math.Abs(cosines[j]-cos) > 1e-12*float64(n) {
				t.Fatalf("n = %d, j = %d: %v and %v, want %v and %v", n, j, got[j], cosines[min(j, n/2)], want, cos)
			}
		}
	}
}

// TestSlepian compares entries with SciPy's dpss(n, 4), and wants the most energy within the band.
func TestSlepian(t *testing.T) {
	for _, c := range []struct {
		n, at int
		want  float64
	}{{64, 0, slepian64[0]}, {64, 10, slepian64[1]}, {64, 31, slepian64[2]}, {1000, 0, slepian1000[0]}, {1000, 200, slepian1000[1]},
		{1000, 499, slepian1000[2]}} {
		h := Slepian(c.n, 4)
		if math.Abs(h[c.at]-c.want) > 1e-9*h[c.n/2] || math.Abs(h[c.n-1-c.at]-c.want) > 1e-9*h[c.n/2] {
			t.Errorf("n = %d: h[%d] = %v and %v, want %v", c.n, c.at, h[c.at], h[c.n-1-c.at], c.want)
		}
	}
	for _, n := range []int{3, 8, 100_000} {
		if h := Slepian(n, 1); math.Abs(floats.Norm(h, 2)-1) > 1e-12 || math.Abs(h[0]-h[n-1]) > 1e-9 || h[0] < 0 {
			t.Errorf("n = %d: ends %v and %v, norm %v", n, h[0], h[n-1], floats.Norm(h, 2))
		}
	}
}

// evenCase is a periodogram beside the matrices that define it.
type evenCase struct {
	*Even
	name string
	at   []int // the places
	y    []float64
	u    *mat.CDense // Mu, n×N
	p    [][]float64
}

func evenCases(rnd *rand.Rand) (all []evenCase) {
	for _, c := range []struct {
		name    string
		n       int
		gaps    float64
		nw      float64
		free, p int
	}{
		{"plain", 40, 0, 0, 0, 0}, {"plain, prime", 37, 0, 0, 0, 0}, {"gaps", 45, 0.2, 0, 0, 0}, {"taper", 41, 0, 4, 0, 0},
		{"mean", 44, 0, 0, 1, 0}, {"all", 43, 0.2, 3, 2, 2}, {"trend and gaps", 60, 0.3, 0, 3, 1},
	} {
		var places []int
		for t := range c.n {
			if t == 0 || t == c.n-1 || rnd.Float64() >= c.gaps {
				places = append(places, t)
			}
		}
		taper := make([]float64, c.n)
		for t := range taper {
			taper[t] = 1
		}
		if c.nw > 0 {
			taper = Slepian(c.n, c.nw)
		}
		x, y := make([]float64, len(places)), make([]float64, len(places))
		for i, at := range places {
			x[i], y[i] = float64(at), rnd.NormFloat64()
		}
		var q [][]float64
		if c.free > 0 {
			q = regress.Polynomials(x, c.free+c.p-1)
		} else if c.p > 0 {
			q = regress.Polynomials(x, c.p-1)
		}
		q, p := q[:c.free], q[c.free:]
		for _, col := range q {
			floats.AddScaled(y, -floats.Dot(col, y), col)
		}
		e := NewEven(c.n, places, y, q, p, taper)
		u := mat.NewCDense(len(places), c.n, nil)
		for j := range c.n {
			re, im := make([]float64, len(places)), make([]float64, len(places))
			for i, at := range places {
				z := cmplx.Rect(e.taper[at], 2*math.Pi*float64(j*at)/float64(c.n))
				re[i], im[i] = real(z), imag(z)
			}
			for _, col := range q {
				floats.AddScaled(re, -floats.Dot(col, re), col)
				floats.AddScaled(im, -floats.Dot(col, im), col)
			}
			for i := range re {
				u.Set(i, j, complex(re[i], im[i]))
			}
		}
		all = append(all, evenCase{e, c.name, places, y, u, p})
	}
	return all
}

// dense returns D = uᴴM(A + PPᵀ)Mu of covariances by lag.
func (c *evenCase) dense(covariances []float64, held bool) *mat.CDense {
	n := len(c.at)
	a := mat.NewCDense(n, n, nil)
	for i := range n {
		for j := range n {
			d := c.at[i] - c.at[j]
			v := covariances[max(d, -d)]
			if held {
				for _, p := range c.p {
					v += p[i] * p[j]
				}
			}
			a.Set(i, j, complex(v, 0))
		}
	}
	_, cols := c.u.Dims()
	au, d := mat.NewCDense(n, cols, nil), mat.NewCDense(cols, cols, nil)
	for j := range cols {
		for i := range n {
			var s complex128
			for l := range n {
				s += a.At(i, l) * c.u.At(l, j)
			}
			au.Set(i, j, s)
		}
	}
	for j := range cols {
		for k := range cols {
			var s complex128
			for i := range n {
				s += cmplx.Conj(c.u.At(i, j)) * au.At(i, k)
			}
			d.Set(j, k, s)
		}
	}
	return d
}

func se(n int, l, noise float64) []float64 {
	c := make([]float64, n)
	for d := range c {
		c[d] = math.Exp(-0.5 * float64(d*d) / (l * l))
	}
	c[0] += noise
	return c
}

// TestEven compares the periodogram, its expectation, the derivatives in the lags and the covariance of its sums with the
// matrices that define them.
func TestEven(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, c := range evenCases(rnd) {
		n, half := c.n, c.n/2+1
		cov := se(n, 2.5, 0.1)
		want := c.dense(cov, false)
		var w Work
		got := make([]float64, half)
		c.Expected(got, cov, &w)
		for j := range half {
			var i complex128
			for r, y := range c.y {
				i += cmplx.Conj(c.u.At(r, j)) * complex(y, 0)
			}
			if v := real(want.At(j, j)); math.Abs(got[j]-v) > 1e-12 || math.Abs(c.Data[j]-power(i)) > 1e-12 {
				t.Errorf("%s, j = %d: expected %v and %v, data %v and %v", c.name, j, got[j], v, c.Data[j], power(i))
			}
		}
		white := make([]float64, n)
		white[0] = 1
		for j, v := range c.White {
			if u := real(c.dense(white, false).At(j, j)); math.Abs(v-u) > 1e-12 {
				t.Errorf("%s, j = %d: white noise %v, want %v", c.name, j, v, u)
			}
		}
		a, slopes := make([]float64, half), make([]float64, n)
		for j := range a {
			a[j] = rnd.NormFloat64()
		}
		c.LagSlopes(slopes, a, &w)
		for d := range n {
			unit := make([]float64, n)
			unit[d] = 1
			c.Expected(got, unit, &w)
			if v := floats.Dot(a, got); math.Abs(v-slopes[d]) > 1e-12 {
				t.Errorf("%s: slope at lag %d is %v, want %v", c.name, d, slopes[d], v)
			}
		}
		b := [][]float64{a, make([]float64, half)}
		for j := range half {
			b[1][j] = 1 / (1 + float64(j))
		}
		checkVariance(t, &c, cov, b, 1e-10)
	}
}

// TestVariance: a sum over strata is close to that over all differences, for spectra of many decades, gaps and tapers.
func TestVariance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	const n = 601
	for _, gaps := range []float64{0, 0.2} {
		for _, nw := range []float64{0, 4} {
			var places []int
			for p := range n {
				if rnd.Float64() >= gaps {
					places = append(places, p)
				}
			}
			taper := Slepian(n, max(nw, 1e-9))
			e := NewEven(n, places, make([]float64, len(places)), nil, nil, taper)
			for _, noise := range []float64{1e-6, 0.1} {
				cov := se(n, 10, noise)
				expected, b := make([]float64, n/2+1), make([][]float64, 2)
				e.Expected(expected, cov, new(Work))
				for p, c := range [][]float64{se(n, 10, 0), se(1, 1, 0)} { // scores of the variance and of the noise
					if b[p] = make([]float64, n/2+1); p == 0 {
						e.Expected(b[p], c, new(Work))
					} else {
						copy(b[p], e.White)
					}
					for j, v := range expected {
						b[p][j] /= v * v
					}
				}
				got := e.Variance(t.Context(), cov, b)
				all := newScores(e, cov, b)
				var differences []difference
				for m := 0; 2*m <= n; m++ {
					differences = append(differences, difference{m, min(1+float64(m), 2)})
				}
				all.add(t.Context(), differences)
				want := all.sum
				for p := range b {
					for q := range b {
						off := math.Abs(got.At(p, q)-want.At(p, q)) / math.Sqrt(want.At(p, p)*want.At(q, q))
						if off > 0.03 {
							t.Errorf("gaps %v, NW %v, noise %v: %d, %d is off by %.2g", gaps, nw, noise, p, q, off)
						}
					}
				}
			}
		}
	}
}

// TestGeometric: without gaps and taper, Variance equals the general sum, for spectra of many decades, even and odd lengths, and
// a mean.
func TestGeometric(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	for _, n := range []int{600, 601} {
		places, ones, x := make([]int, n), make([]float64, n), make([]float64, n)
		for i := range places {
			places[i], ones[i], x[i] = i, 1, float64(i)
		}
		for _, q := range [][][]float64{nil, regress.Polynomials(x, 1)} {
			for _, noise := range []float64{1e-6, 0.1} {
				e, cov, b := NewEven(n, places, ones, q, nil, ones), se(n, 10, noise), make([]float64, n/2+1)
				e.Expected(b, cov, new(Work))
				for j, v := range b {
					b[j] = 1 / v
				}
				var sums [2]float64
				for i := range sums {
					s := newScores(e, cov, [][]float64{b})
					if s.sines == nil {
						t.Fatalf("n = %d: the weights of a series without gaps and taper are not equal", n)
					}
					if i > 0 {
						s.sines = nil
					}
					s.add(t.Context(), drawn(0, n/2+1, n, rnd))
					sums[i] = s.sum.At(0, 0)
				}
				if off := math.Abs(sums[0]/sums[1] - 1); off > 1e-10 {
					t.Errorf("n = %d, %d columns, noise %v: %v, in general %v (%.2g)", n, len(q), noise, sums[0], sums[1], off)
				}
			}
		}
	}
}

// checkVariance compares with all pairs of frequencies.
func checkVariance(t *testing.T, c *evenCase, cov []float64, b [][]float64, tol float64) {
	t.Helper()
	n := c.n
	d := c.dense(cov, true)
	v := c.Variance(t.Context(), cov, b)
	full := func(p, j int) float64 {
		if j == 0 || 2*j == n {
			return b[p][j]
		}
		return 0.5 * b[p][min(j, n-j)]
	}
	want := mat.NewSymDense(len(b), nil)
	for p := range b {
		for q := p; q < len(b); q++ {
			var s float64
			for j := range n {
				for k := range n {
					s += 2 * full(p, j) * full(q, k) * power(d.At(j, k))
				}
			}
			want.SetSym(p, q, s)
		}
	}
	for p := range b {
		for q := range b {
			if got, w := v.At(p, q), want.At(p, q); math.Abs(got-w) > tol*math.Sqrt(want.At(p, p)*want.At(q, q)) {
				t.Errorf("%s: covariance %d, %d is %v, want %v", c.name, p, q, got, w)
			}
		}
	}
}

// SciPy 1.17.1's dpss(n, 4), scaled to Σ h² = 1, has these at 0, 10 and 31 of 64, and at 0, 200 and 499 of 1000.
var (
	slepian64   = []float64{3.106368300717949e-05, 0.012147370143000652, 0.24733718655966383}
	slepian1000 = []float64{2.8948510669596893e-06, 0.006066464668132859, 0.06273714730236102}
)
