package statespace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// stretched has a series in stretches, each with its element and, once combined, what lies
// on both sides of it.
type stretched struct {
	t, y     [][]float64
	before   []float64
	elements []Element
	total    Element
	starts   []State
	ends     []Adjoint
}

// cut makes stretches of a series at random places: some of one input, some of many.
func cut(rnd *rand.Rand, t, y []float64) *stretched {
	s := new(stretched)
	before := math.Inf(-1)
	for len(t) > 0 {
		n := 1
		if rnd.IntN(3) > 0 {
			n += rnd.IntN(len(t))
		}
		s.t, s.y, s.before = append(s.t, t[:n]), append(s.y, y[:n]), append(s.before, before)
		before = t[n-1]
		t, y = t[n:], y[n:]
	}
	return s
}

func (s *stretched) reduce(cs []Component, noise float64) error {
	s.elements = make([]Element, len(s.t))
	for i, t := range s.t {
		if err := NewFilter(t, nil).Reduce(&s.elements[i], s.before[i], s.y[i], cs, noise); err != nil {
			return err
		}
	}
	return nil
}

// combine sets what lies on both sides of each stretch.
func (s *stretched) combine(dim int) {
	var m Merger
	s.total = *Nothing(dim)
	s.starts = []State{{At: math.Inf(-1)}}
	for i := range s.elements {
		m.Merge(&s.total, &s.total, &s.elements[i])
		s.starts = append(s.starts, s.total.Left(s.t[i][len(s.t[i])-1]))
	}
	s.ends = make([]Adjoint, len(s.t))
	later := Nothing(dim)
	for i := len(s.t) - 1; i > 0; i-- {
		m.Merge(later, &s.elements[i], later)
		s.ends[i-1] = m.Adjoint(s.starts[i], later)
	}
}

// drawStretches draws a series of n observations and cuts it into stretches, combined.
func drawStretches(t *testing.T, rnd *rand.Rand, n int, cs []Component, noise float64) (s *stretched, x, y []float64) {
	t.Helper()
	x = sorted(layouts[rnd.IntN(len(layouts))].draw(rnd, n))
	y = drawY(rnd, x, cs, noise)
	s = cut(rnd, x, y)
	if err := s.reduce(cs, noise); err != nil {
		t.Fatal(err)
	}
	s.combine(stateDim(cs))
	return s, x, y
}

// nll is that of Filter.NLL, by stretches.
func (s *stretched) nll(grad []float64, cs []Component, noise float64) (value, parts float64, err error) {
	if err := s.reduce(cs, noise); err != nil {
		return 0, 0, err
	}
	s.combine(stateDim(cs))
	n := 0
	clear(grad)
	for i, t := range s.t {
		f := NewFilter(t, nil)
		f.Between(s.starts[i], s.ends[i])
		some := make([]float64, len(grad))
		v, err := f.NLL(some, s.y[i], cs, noise)
		if err != nil {
			return 0, 0, err
		}
		parts += v
		for p, g := range some {
			grad[p] += g
		}
		n += len(t)
	}
	return 0.5 * (s.total.Form + s.total.LogDet + float64(n)*math.Log(2*math.Pi)), parts, nil
}

// TestStretches compares random series in random stretches with the same at once: the value
// of the elements, that of the stretches between what lies on both sides, and the gradient.
func TestStretches(t *testing.T) {
	for name, cs := range sums {
		t.Run(name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(21, 22))
			var worst, worstParts, worstGrad float64
			for range 300 {
				n := 1 + rnd.IntN(60)
				if rnd.IntN(4) == 0 {
					n += rnd.IntN(600)
				}
				lay := layouts[rnd.IntN(len(layouts))]
				x := sorted(lay.draw(rnd, n))
				cs := scaled(cs, math.Pow(10, -3+6*rnd.Float64()))
				noise := math.Pow(10, -10+11*rnd.Float64())
				y := normals(rnd, n)
				for i := range y {
					y[i] *= math.Sqrt(total(cs) + noise)
				}
				if rnd.IntN(2) == 0 {
					y = drawY(rnd, x, cs, noise)
				}
				what := fmt.Sprintf("%s n=%d l=%g noise=%g", lay.name, n, cs[0].Lengthscale, noise)
				want, got := make([]float64, 2*len(cs)+1), make([]float64, 2*len(cs)+1)
				f := NewFilter(x, nil)
				value, err := f.NLL(want, y, cs, noise)
				if err != nil {
					t.Fatal(what, err)
				}
				v, parts, err := cut(rnd, x, y).nll(got, cs, noise)
				if err != nil {
					t.Fatal(what, err)
				}
				// What rounding costs the filter itself, see Filter.
				q, root := f.quad, math.Sqrt(1+total(cs)/noise)
				unit := 0x1p-52 * ((float64(n)+q)*root + math.Sqrt(float64(n))*(q+math.Abs(f.logS)))
				worst, worstParts = max(worst, math.Abs(v-value)/unit), max(worstParts, math.Abs(parts-value)/unit)
				worstGrad = max(worstGrad, maxDiff(got, want)/unit)
				if d := math.Abs(v - value); d > 8*unit {
					t.Errorf("%s: value %.15g, at once %.15g: %.1f units", what, v, value, d/unit)
				}
				if d := math.Abs(parts - value); d > 8*unit {
					t.Errorf("%s: value of the stretches %.15g, at once %.15g: %.1f units", what, parts, value, d/unit)
				}
				// The third number of a state that hardly moves is known to fewer digits.
				if d := maxDiff(got, want); d > 64*unit {
					t.Errorf("%s: gradient %.15g, at once %.15g: %.1f units", what, got, want, d/unit)
				}
			}
			t.Logf("at most %.2g units of rounding in the value, %.2g in that of the stretches, %.2g in the gradient", worst, worstParts, worstGrad)
		})
	}
}

// TestMergeAssociative merges elements in random orders.
func TestMergeAssociative(t *testing.T) {
	rnd := rand.New(rand.NewPCG(23, 24))
	for name, cs := range sums {
		for range 50 {
			n := 2 + rnd.IntN(80)
			cs := scaled(cs, 0.3)
			s, _, _ := drawStretches(t, rnd, n, cs, 0.1)
			var m Merger
			some := append([]Element(nil), s.elements...)
			for len(some) > 1 {
				i := rnd.IntN(len(some) - 1)
				var both Element
				m.Merge(&both, &some[i], &some[i+1])
				some = append(append(some[:i:i], both), some[i+2:]...)
			}
			for what, pair := range map[string][2]float64{
				"value": {some[0].Form + some[0].LogDet, s.total.Form + s.total.LogDet},
				"mean":  {some[0].b[0], s.total.b[0]},
				"cov":   {some[0].c[0], s.total.c[0]},
			} {
				if d := math.Abs(pair[0] - pair[1]); d > 1e-11*(float64(n)+math.Abs(pair[1])) {
					t.Errorf("%s, n=%d: %s %.15g, from the left %.15g", name, n, what, pair[0], pair[1])
				}
			}
		}
	}
}

// TestStretchPosterior compares means and variances, at inputs before, between, on and
// after the observations.
func TestStretchPosterior(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 26))
	for name, cs := range sums {
		for range 40 {
			n := 1 + rnd.IntN(80)
			cs := scaled(cs, math.Pow(10, -2+3*rnd.Float64()))
			const noise = 0.01
			s, x, y := drawStretches(t, rnd, n, cs, noise)
			at := append([]float64{x[0] - 1, x[n-1] + 0.3}, x...)
			for range 20 {
				at = append(at, x[0]+(x[n-1]-x[0])*rnd.Float64())
			}
			mean, variance := make([]float64, len(at)), make([]float64, len(at))
			if err := NewFilter(x, nil).predict(mean, variance, at, y, cs, noise); err != nil {
				t.Fatal(err)
			}
			for i, a := range at {
				of := 0
				for of+1 < len(s.t) && a > s.t[of][len(s.t[of])-1] {
					of++
				}
				f := NewFilter(s.t[of], nil)
				f.Between(s.starts[of], s.ends[of])
				var m, v [1]float64
				if err := f.predict(m[:], v[:], []float64{a}, s.y[of], cs, noise); err != nil {
					t.Fatal(err)
				}
				if math.Abs(m[0]-mean[i]) > 1e-10*(1+maxNorm(y)) || math.Abs(v[0]-variance[i]) > 1e-12*total(cs) {
					t.Errorf("%s, n=%d, stretch %d of %d: at %v got %v ± %v, at once %v ± %v", name, n, of, len(s.t), a, m[0], v[0], mean[i], variance[i])
				}
			}
		}
	}
}
