package fourier

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"
	"pgregory.net/rapid"
)

// exactPhases returns (x−origin)/period modulo 1 in units of 2^-128.
func exactPhases(x []float64, origin, period float64) [][2]uint64 {
	float := func(v float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(v) }
	one := new(big.Int).Lsh(big.NewInt(1), 128)
	phases := make([][2]uint64, len(x))
	for i, v := range x {
		d := float(v)
		d.Sub(d, float(origin)).Quo(d, float(period)).SetMantExp(d, 128)
		turns, _ := d.Int(nil)
		turns.Mod(turns, one)
		lo := new(big.Int).And(turns, new(big.Int).SetUint64(math.MaxUint64))
		phases[i] = [2]uint64{new(big.Int).Rsh(turns, 64).Uint64(), lo.Uint64()}
	}
	return phases
}

// worst returns the largest error, relative to Σ|W_ij|, of some rows of got.
func worst(got, w blas64.General, phases [][2]uint64, m0 int, rnd *rand.Rand) float64 {
	m := got.Rows / 2
	check := []int{0, m - 1}
	for range min(m, 20) {
		check = append(check, rnd.IntN(m))
	}
	abs := make([]float64, w.Cols)
	for i := range w.Rows {
		for j := range abs {
			abs[j] += math.Abs(w.Data[i*w.Stride+j])
		}
	}
	var err float64
	for _, f := range check {
		var sums [2][]compensated
		sums[0], sums[1] = make([]compensated, w.Cols), make([]compensated, w.Cols)
		for i, phi := range phases {
			carry, _ := bits.Mul64(phi[1], uint64(m0+f))
			turns := float64(int64(phi[0]*uint64(m0+f)+carry)) * 0x1p-64
			sin, cos := math.Sincos(2 * math.Pi * turns)
			for j := range abs {
				v := w.Data[i*w.Stride+j]
				sums[0][j].add(v * cos)
				sums[1][j].add(v * sin)
			}
		}
		for j, a := range abs {
			for part := range 2 {
				d := got.Data[(2*f+part)*got.Stride+j] - sums[part][j].value()
				if math.IsNaN(d) {
					return d
				}
				if a > 0 {
					err = max(err, math.Abs(d)/a)
				} else if d != 0 {
					return math.Inf(1)
				}
			}
		}
	}
	return err
}

// compensated is a sum with the rounding errors added up beside it (Neumaier).
type compensated struct{ sum, rest float64 }

func (c *compensated) add(v float64) {
	t := c.sum + v
	if math.Abs(c.sum) >= math.Abs(v) {
		c.rest += c.sum - t + v
	} else {
		c.rest += v - t + c.sum
	}
	c.sum = t
}

func (c *compensated) value() float64 { return c.sum + c.rest }

// scatters are ways in which n points can lie on [0, 1].
var scatters = map[string]func(n int, rnd *rand.Rand) []float64{
	"uniform": func(n int, rnd *rand.Rand) []float64 {
		return fill(n, func(int) float64 { return rnd.Float64() })
	},
	"sorted": func(n int, rnd *rand.Rand) []float64 {
		x := fill(n, func(int) float64 { return rnd.Float64() })
		slices.Sort(x)
		return x
	},
	"regular": func(n int, _ *rand.Rand) []float64 {
		return fill(n, func(i int) float64 { return float64(i) / float64(n) })
	},
	"clustered": func(n int, rnd *rand.Rand) []float64 {
		return fill(n, func(int) float64 { return 0.3*float64(rnd.IntN(4)) + 1e-4*rnd.Float64() })
	},
	"duplicated": func(n int, rnd *rand.Rand) []float64 {
		return fill(n, func(int) float64 { return float64(rnd.IntN(5)) / 5 })
	},
}

func fill(n int, f func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

func randomGeneral(r, c, stride int, rnd *rand.Rand) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: stride, Data: fill(r*stride, func(int) float64 { return rnd.NormFloat64() })}
}

func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 300), rapid.SampledFrom([]int{64, 1000, 4097, 5000})).Draw(t, "n")
		k := rapid.SampledFrom([]int{1, 2, 7, 12, 13, 64, 70}).Draw(t, "columns")
		m := rapid.SampledFrom([]int{1, 2, 31, 32, 33, 100, 500}).Draw(t, "frequencies")
		m0 := rapid.SampledFrom([]int{0, 0, 1, 77, 1000, 19500}).Draw(t, "m0")
		tol := rapid.SampledFrom([]float64{1e-3, 1e-6, 1e-9, 1e-12, 1e-13, floor}).Draw(t, "tol")
		scatter := rapid.SampledFrom([]string{"uniform", "sorted", "regular", "clustered", "duplicated"}).Draw(t, "x")
		scale := rapid.SampledFrom([]float64{1, 1000, 1.0 / 3}).Draw(t, "scale")
		shift := rapid.SampledFrom([]float64{0, -0.5, 17.1, 1e6}).Draw(t, "shift")
		origin := rapid.SampledFrom([]float64{0, 0.1, 2e6}).Draw(t, "origin")
		period := rapid.SampledFrom([]float64{1.0001, 1.08, 2.2, 50, 1e6, 0.3}).Draw(t, "period")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))

		x := scatters[scatter](n, rnd)
		for i := range x {
			x[i] = scale * (x[i] + shift)
		}
		origin, period = scale*origin, scale*period
		w := randomGeneral(n, k, k+rnd.IntN(3), rnd)
		phases := exactPhases(x, origin, period)
		p := NewPoints(x, origin, period)
		for _, method := range methods {
			dst := randomGeneral(2*m, k, k+rnd.IntN(3), rnd)
			bound := method.sums(p, dst, w, m0, tol)
			if err := worst(dst, w, phases, m0, rnd); !(err <= bound) {
				t.Errorf("%s: error %.3g, promised %.3g", method.name, err, bound)
			}
		}
	})
}

var methods = []struct {
	name string
	sums func(p *Points, dst, w blas64.General, m0 int, tol float64) (bound float64)
}{
	{"Direct", func(p *Points, dst, w blas64.General, m0 int, _ float64) float64 {
		p.Direct(dst, w, m0)
		return 1e-14
	}},
	{"NUFFT", func(p *Points, dst, w blas64.General, m0 int, tol float64) float64 {
		p.NUFFT(dst, w, m0, tol)
		return tol
	}},
	{"Sums", func(p *Points, dst, w blas64.General, m0 int, tol float64) float64 {
		p.Sums(dst, w, m0, tol)
		return tol
	}},
}

// TestAccuracy shows what is left of each tolerance by the grids that newGrid may
// choose, and holds Direct to 1e-14 at high frequencies.
func TestAccuracy(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 30, 2000} {
		x := fill(n, func(int) float64 { return 1000 * rnd.Float64() })
		w := randomGeneral(n, 3, 3, rnd)
		phases, p := exactPhases(x, 1.1, 1080), NewPoints(x, 1.1, 1080)
		for _, m := range []int{1, 10, 1000, 20000, 100000} {
			if testkit.Quick() && m > 1000 {
				continue
			}
			dst := dense.New(2*m, 3)
			p.Direct(dst, w, 0)
			err := worst(dst, w, phases, 0, rnd)
			t.Logf("n=%d M=%d: Direct %.2g", n, m, err)
			if !(err <= 1e-14) {
				t.Errorf("n=%d M=%d: Direct errs by %.3g", n, m, err)
			}
			if m > 20000 {
				continue
			}
			for _, tol := range []float64{1e-2, 1e-5, 1e-8, 1e-11, 1e-13, floor} {
				for _, over := range []int{2, 3, 5, 8} {
					g := gridOf(m, over, tol)
					gain := g.gains(0, m)
					g.transform(dst, g.spread(p, g.sort(p), w), gain, 0)
					if err := worst(dst, w, phases, 0, rnd); !(err <= tol) {
						t.Errorf("n=%d M=%d tol=%g over=%d (w=%d, size=%d): NUFFT errs by %.3g", n, m, tol, over, g.width, g.size, err)
					} else if m == 1000 {
						t.Logf("n=%d M=%d tol=%g over=%d w=%d: NUFFT %.2g", n, m, tol, over, g.width, err)
					}
				}
			}
		}
	}
}

// The results must be the same to the last bit on any number of processors.
func TestDeterministic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	x := fill(20000, func(int) float64 { return rnd.Float64() })
	w := randomGeneral(len(x), 20, 20, rnd)
	p := NewPoints(x, 0, 1.08)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, method := range methods {
		for _, m := range []int{5, 100} {
			var first []float64
			for _, procs := range []int{1, 2, 3, 8} {
				runtime.GOMAXPROCS(procs)
				dst := dense.New(2*m, w.Cols)
				method.sums(p, dst, w, 3, 1e-12)
				if first == nil {
					first = dst.Data
				} else if !slices.Equal(first, dst.Data) {
					t.Errorf("%s, M=%d: %d processors give another result", method.name, m, procs)
				}
			}
		}
	}
}

func TestEmptySums(t *testing.T) {
	for _, shape := range [][3]int{{0, 3, 4}, {5, 0, 4}, {5, 3, 0}} { // n, k, M
		p := NewPoints(make([]float64, shape[0]), 0, 1)
		w := dense.New(shape[0], shape[1])
		for _, method := range methods {
			dst := dense.New(2*shape[2], shape[1])
			for i := range dst.Data {
				dst.Data[i] = math.NaN()
			}
			method.sums(p, dst, w, 0, 1e-10)
			for _, v := range dst.Data {
				if v != 0 {
					t.Fatalf("%s of n, k, M = %v: %v", method.name, shape, v)
				}
			}
		}
	}
}

// Tables of more than a lane's chain, and grids in several panels.
func TestManyPointsAndColumns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct{ n, k, m int }{{100000, 2, 10}, {300, 400, 40}, {2000, 20, 70000}} {
		x := fill(c.n, func(int) float64 { return rnd.Float64() })
		w := randomGeneral(c.n, c.k, c.k, rnd)
		p, phases := NewPoints(x, 0, 1.08), exactPhases(x, 0, 1.08)
		for _, method := range methods {
			if (method.name == "Direct" || testkit.Quick()) && c.m > 10000 {
				continue
			}
			dst := dense.New(2*c.m, c.k)
			bound := method.sums(p, dst, w, 0, 1e-13)
			err := worst(dst, w, phases, 0, rnd)
			t.Logf("%s %v: %.2g", method.name, c, err)
			if !(err <= bound) {
				t.Errorf("%s %v: error %.3g, promised %.3g", method.name, c, err, bound)
			}
		}
	}
}

func ExamplePoints_Sums() {
	p := NewPoints([]float64{0, 0.25, 0.5}, 0, 1)
	w := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 10, 100}}
	dst := dense.New(2*3, 1)
	p.Sums(dst, w, 0, 1e-12)
	for m := range 3 {
		fmt.Printf("m=%d: cos %.0f, sin %.0f\n", m, dst.Data[2*m], math.Abs(dst.Data[2*m+1]))
	}
	// Output:
	// m=0: cos 111, sin 0
	// m=1: cos -99, sin 10
	// m=2: cos 91, sin 0
}

// TestRoundedOff: without a fused product the rounding error of a frequency times a phase is the same.
func TestRoundedOff(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		m, x := float64(rnd.IntN(1<<25)), rnd.Float64()-0.5
		a := m * x
		if got, want := roundedOff(m, x, a), math.FMA(m, x, -a); got != want {
			t.Fatalf("%v·%v is %v + %v; want %v", m, x, a, got, want)
		}
	}
}

// TestLongColumn compares the transform in parts with the transform of the whole column.
func TestLongColumn(t *testing.T) {
	const size = longColumn + 240*16
	var parts transformed
	parts.reset(Smooth(size))
	if parts.parts != fewParts {
		t.Fatalf("%d points in %d parts", len(parts.column), parts.parts)
	}
	rnd := rand.New(rand.NewPCG(26, 11))
	for i := range parts.column {
		parts.column[i] = rnd.NormFloat64()
	}
	want := fourier.NewFFT(len(parts.column)).Coefficients(nil, parts.column)
	from, to := 1000, len(want)
	got := make([]complex128, to)
	parts.each(from, to, func(m int, re, im float64) { got[m] += complex(re, im) })
	for m := from; m < to; m++ {
		if cmplx.Abs(got[m]-want[m]) > 1e-13*math.Sqrt(float64(len(parts.column))) {
			t.Fatalf("frequency %d: %v, want %v", m, got[m], want[m])
		}
	}
}
