package banded

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"
)

// These tests hold the selected inverse of smooth covariances, which are as
// badly conditioned as their noise is small, against columns of the inverse in
// double-double arithmetic.

// dd is hi + lo, about 32 digits (Dekker 1971).
type dd struct{ hi, lo float64 }

func quickSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

// minusProduct returns a − b·c.
func (a dd) minusProduct(b, c dd) dd {
	p := b.hi * c.hi
	e := math.FMA(b.hi, c.hi, -p) + (b.hi*c.lo + b.lo*c.hi)
	s := a.hi - p
	v := s - a.hi
	return quickSum(s, (a.hi-(s-v))-(p+v)+(a.lo-e))
}

func (a dd) over(b dd) dd {
	q := a.hi / b.hi
	r := a.minusProduct(dd{q, 0}, b)
	return quickSum(q, (r.hi+r.lo)/b.hi)
}

func (a dd) sqrt() dd {
	x := math.Sqrt(a.hi)
	r := a.minusProduct(dd{x, 0}, dd{x, 0})
	return quickSum(x, (r.hi+r.lo)/(2*x))
}

// reference is the Cholesky factor L of a matrix in double-double: row i holds
// columns first[i] to i.
type reference struct {
	first []int
	l     [][]dd
}

func newReference(first []int, at func(i, j int) float64) *reference {
	r := &reference{first, make([][]dd, len(first))}
	for i, f := range first {
		r.l[i] = make([]dd, i-f+1)
		for j := f; j <= i; j++ {
			s := dd{at(i, j), 0}
			from := max(f, first[j])
			x, y := r.l[i][from-f:j-f], r.l[j][from-first[j]:]
			for k := range x {
				s = s.minusProduct(x[k], y[k])
			}
			if j == i {
				s = s.sqrt()
			} else {
				s = s.over(r.l[j][j-first[j]])
			}
			r.l[i][j-f] = s
		}
	}
	return r
}

// column returns column c of A⁻¹.
func (r *reference) column(c int) []float64 {
	n := len(r.first)
	x := make([]dd, n)
	x[c] = dd{1, 0}
	for i := c; i < n; i++ {
		f := r.first[i]
		for j := max(f, c); j < i; j++ {
			x[i] = x[i].minusProduct(r.l[i][j-f], x[j])
		}
		x[i] = x[i].over(r.l[i][i-f])
	}
	for i := n - 1; i >= 0; i-- {
		f := r.first[i]
		x[i] = x[i].over(r.l[i][i-f])
		for j := f; j < i; j++ {
			x[j] = x[j].minusProduct(r.l[i][j-f], x[i])
		}
	}
	out := make([]float64, n)
	for i := range x {
		out[i] = x[i].hi
	}
	return out
}

// covariance is a kernel of variance 1 that dies out beyond reach, plus noise.
type covariance struct {
	name  string
	k     func(r float64) float64
	reach float64
}

func seOf(l float64) covariance {
	return covariance{"SE", func(r float64) float64 { return math.Exp(-0.5 * (r / l) * (r / l)) }, 8.85 * l}
}

func locPerOf(l, p, q float64) covariance {
	return covariance{"LocPer", func(r float64) float64 {
		s := math.Sin(math.Pi*r/p) / q
		return math.Exp(-0.5*(r/l)*(r/l) - 2*s*s)
	}, 8.85 * l}
}

func matern52Of(l float64) covariance {
	return covariance{"Matern52", func(r float64) float64 {
		a := math.Sqrt(5) * r / l
		return (1 + a + a*a/3) * math.Exp(-a)
	}, 20.8 * l}
}

// profileOf returns the profile of sorted times.
func profileOf(t []float64, reach float64) []int {
	first := make([]int, len(t))
	j := 0
	for i := range t {
		for t[j] < t[i]-reach {
			j++
		}
		first[i] = j
	}
	return first
}

// setCovariance fills a with the covariance of the times t plus noise on the
// diagonal.
func setCovariance(a *Matrix, t []float64, c covariance, noise float64) {
	a.EachTile(func(row, col int, tile blas64.General) {
		for i := range tile.Rows {
			for j := range tile.Cols {
				v := c.k(math.Abs(t[row+i] - t[col+j]))
				if row+i == col+j {
					v = 1 + noise
				}
				tile.Data[i*tile.Stride+j] = v
			}
		}
	})
}

// entries returns a function for the entries of a, lower triangle.
func entries(a *Matrix) func(i, j int) float64 {
	return func(i, j int) float64 {
		for _, p := range [][2]int{{i, j}, {j, i}} {
			b := &a.blocks[p[0]/side]
			if p[1] >= b.at && p[1] < b.at+b.diag.Rows {
				return b.diag.Data[(p[0]-b.at)*b.diag.Stride+p[1]-b.at]
			}
			if p[1] >= b.lo && p[1] < b.hi {
				return b.off.Data[(p[0]-b.at)*b.off.Stride+p[1]-b.lo]
			}
		}
		return 0
	}
}

// inverseError returns by how much columns of the selected inverse and the same
// columns solved for with the factor differ from the reference, relative to the
// largest entry of the column: NaN if the matrix cannot be factorised.
func inverseError(first []int, a *Matrix, columns []int) (inverse, solve float64) {
	ref := newReference(first, entries(a))
	z := New(first)
	if a.m > 0 {
		split(z, first)
	}
	if a.Cholesky() != nil {
		return math.NaN(), math.NaN()
	}
	a.Inverse(z)
	at := entries(z)
	for _, c := range columns {
		want := ref.column(c)
		x := make([]float64, a.n)
		x[c] = 1
		col := blas64.General{Rows: a.n, Cols: 1, Stride: 1, Data: x}
		a.SolveL(col)
		a.SolveLT(col)
		scale := largest(want)
		for i := range a.n {
			if first[max(i, c)] > min(i, c) {
				continue
			}
			inverse = max(inverse, math.Abs(at(max(i, c), min(i, c))-want[i])/scale)
			solve = max(solve, math.Abs(x[i]-want[i])/scale)
		}
	}
	return inverse, solve
}

// series returns n sorted times of mean spacing 1.
func series(kind string, n int, rnd *rand.Rand) []float64 {
	t := make([]float64, n)
	for i := range t {
		switch kind {
		case "regular":
			t[i] = float64(i)
		case "irregular":
			t[i] = float64(n) * rnd.Float64()
		case "clustered": // groups of fifty, each in the first fifth of its 50 steps
			t[i] = float64(i/50*50) + 10*rnd.Float64()
		case "duplicated":
			t[i] = float64(i / 3 * 3)
		case "dense in the middle": // with isolated times at both ends
			t[i] = 0.5 * float64(n) * rnd.Float64()
			if i < 40 || i >= n-40 {
				t[i] = 300*float64(i) - 20000
			}
		}
	}
	slices.Sort(t)
	return t
}

// roundings returns err in units of what a condition of v/σ² = 1/noise costs
// one operation.
func roundings(err, noise float64) float64 { return err / (0x1p-53 * (1 + 1/noise)) }

// most returns how many roundings an entry of the inverse may be off, relative
// to the largest in its column: at most 30 were seen up to a condition of 1e8,
// 110 at 1e9 and 430 at 1e10.
func most(noise float64) float64 { return 64 + 0.01*math.Sqrt(1/noise) }

// TestInverseAccuracy holds the selected inverse against double-double numbers,
// in one piece and in halves. Without symmetrise it is wrong by many orders of
// magnitude.
func TestInverseAccuracy(t *testing.T) {
	n := testkit.Size(300, 400, 600)
	rnd := rand.New(rand.NewPCG(1, 1))
	noises := []float64{1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}
	var worst float64
	turn, halves := 0, 0
	for _, kind := range []string{"regular", "irregular", "clustered", "duplicated", "dense in the middle"} {
		for _, c := range []covariance{seOf(0.3), seOf(4), seOf(12), seOf(100), locPerOf(8, 12, 1), locPerOf(25, 12, 1),
			matern52Of(5)} {
			turn++
			noise := noises[turn%len(noises)]
			x := series(kind, n, rnd)
			first := profileOf(x, c.reach)
			columns := []int{0, 1, 31, 32, n / 4, n / 2, n/2 + 20, n - 60, n - 2, n - 1}
			for _, cut := range []bool{false, true} {
				var a Matrix
				if cut {
					split(&a, first)
				} else {
					a.Reset(first)
				}
				if cut == (a.m == 0) {
					continue
				}
				if cut {
					halves++
				}
				setCovariance(&a, x, c, noise)
				inverse, solve := inverseError(first, &a, columns)
				size := roundings(inverse, noise)
				worst = max(worst, size)
				if !(size < most(noise)) {
					t.Errorf("%s, %s, reach %.3g, noise %.0e, halves %v: %.2g off, solving %.2g: %.3g roundings",
						kind, c.name, c.reach, noise, cut, inverse, solve, size)
				}
			}
		}
	}
	t.Logf("at most %.3g roundings off; %d in halves", worst, halves)
	if halves < 5 {
		t.Errorf("only %d in halves", halves)
	}
}

// TestInverseLong: the error does not grow with n, where it would first.
func TestInverseLong(t *testing.T) {
	if testkit.Quick() {
		t.Skip("long")
	}
	for _, noise := range []float64{1e-4, 1e-7, 1e-10} {
		x := series("regular", 6000, nil)
		c := seOf(12)
		first := profileOf(x, c.reach)
		a := New(first)
		setCovariance(a, x, c, noise)
		n := len(x)
		inverse, solve := inverseError(first, a, []int{0, n/2 - 100, n / 2, n - 1})
		t.Logf("noise %.0e: %.2g off, solving %.2g", noise, inverse, solve)
		if size := roundings(inverse, noise); !(size < most(noise)) {
			t.Errorf("noise %.0e: %.2g off, solving %.2g: %.3g roundings", noise, inverse, solve, size)
		}
	}
}

// TestInverseProfiles takes A = LLᵀ of random factors L within random profiles:
// the inverse is about as exact as solving for its columns, whatever the
// condition.
func TestInverseProfiles(t *testing.T) {
	var worst float64
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		first := profiles(t)
		n := len(first)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		diagonal := math.Exp(rapid.Float64Range(-0.5, 3).Draw(t, "log diagonal"))
		l := make([][]float64, n)
		for i, f := range first {
			l[i] = make([]float64, i-f+1)
			for j := range l[i] {
				l[i][j] = rnd.NormFloat64() / math.Sqrt(float64(i-f+1))
			}
			l[i][i-f] = diagonal
		}
		var a Matrix
		if rapid.Bool().Draw(t, "halves") {
			split(&a, first)
		} else {
			a.Reset(first)
		}
		a.EachTile(func(row, col int, tile blas64.General) {
			for r := range tile.Rows {
				for c := range tile.Cols {
					i, j := max(row+r, col+c), min(row+r, col+c)
					var s float64
					for k := first[i]; k <= j; k++ {
						if k >= first[j] {
							s += l[i][k-first[i]] * l[j][k-first[j]]
						}
					}
					tile.Data[r*tile.Stride+c] = s
				}
			}
		})
		inverse, solve := inverseError(first, &a, []int{0, n / 3, n / 2, n - 1})
		if !(solve < 1e-4) {
			return // nothing is known of the inverse
		}
		taken++
		ratio := inverse / max(solve, 1e-15)
		worst = max(worst, ratio)
		if !(ratio < 100) {
			t.Fatalf("n = %d: the inverse is %.2g off, solving %.2g", n, inverse, solve)
		}
	})
	t.Logf("at most %.3g times as far off as solving, of %d", worst, taken)
}
