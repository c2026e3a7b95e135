package gppl

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// TestSumsPeriodogram compares periodogram and expectation with dense matrices.
func TestSumsPeriodogram(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(31, 1))
	n := testkit.Size(80, 250, 250)
	for _, c := range []struct {
		kernel Kernel
		r      sums.Range
	}{
		{SE{2, 1.5}, sums.Range{Lo: 0, Hi: 30, Shortest: 0.5, Centre: 3, Largest: 16}},
		{SE{2, 1.5}, sums.Range{Lo: 0, Hi: 30, Shortest: 0.5, Longest: 1.6, Centre: 3, Largest: 16}},
		{SE{2, 1.5}, sums.Range{Lo: -50, Hi: 130, Shortest: 0.5, Centre: 3, Largest: 16, LargestWeight: 2}},
		{Add(SE{1, 1}, Periodic{Variance: 1, Lengthscale: 1, Period: 4}), sums.Range{Lo: 0, Hi: 30, Shortest: 0.1, Centre: 3,
			Largest: 16}},
	} {
		plan, err := sums.NewPlan(c.r)
		if err != nil {
			t.Fatal(err)
		}
		s, err := sums.New(plan.Header)
		if err != nil {
			t.Fatal(err)
		}
		x, y, w := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], w[i] = 30*rnd.Float64(), 1
			y[i] = 4 + math.Sin(x[i]) + rnd.NormFloat64()
		}
		if c.r.LargestWeight > 0 {
			for i := range w {
				w[i] = 2 * (1 - rnd.Float64())
			}
			err = s.AddWeighted(x, y, w)
		} else {
			err = s.Add(x, y)
		}
		if err != nil {
			t.Fatal(err)
		}
		m := Model{Kernel: c.kernel, Noise: 0.3}
		p, err := m.Periodogram(t.Context(), SumsData(s, 0))
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := s.Extent()
		h, win := s.Header(), periodogram.NewWindow(s.Header().Period/(hi-lo))
		window := make([]float64, n)
		var sum, mean, squares float64
		for i := range n {
			u := (x[i] - 0.5*(lo+hi)) / h.Period
			window[i] = win.A[0]
			for k, a := range win.A[1:] {
				window[i] += 2 * a * math.Cos(2*math.Pi*float64((k+1)*win.Step)*u)
			}
			sum += w[i]
			mean += w[i] * y[i]
			squares += w[i] * window[i] * window[i]
		}
		mean /= sum
		if first := p.Frequency[0]; first < 1/(hi-lo) || first > 1/(hi-lo)+1/h.Period {
			t.Errorf("the first frequency is %v, the range %v", first, hi-lo)
		}
		for f, xi := range p.Frequency {
			u := make([]complex128, n)
			var total, data complex128
			for i := range n {
				sin, cos := math.Sincos(-2 * math.Pi * xi * x[i])
				u[i] = complex(w[i]*window[i]*cos, w[i]*window[i]*sin)
				data += u[i] * complex(y[i]-mean, 0)
				total += u[i]
			}
			if want := (real(data)*real(data) + imag(data)*imag(data)) / squares; math.Abs(p.Data[f]-want) > 1e-9*(want+1) {
				t.Fatalf("%v: I(%v) = %v, want %v", c.kernel, xi, p.Data[f], want)
			}
			for i := range n {
				u[i] -= total * complex(w[i]/sum, 0)
			}
			var want float64
			row := make([]float64, n)
			for i := range n {
				for j := range n {
					row[j] = math.Abs(x[i] - x[j])
				}
				c.kernel.Cov(row, row)
				row[i] += m.Noise / w[i]
				var v complex128
				for j := range n {
					v += complex(row[j], 0) * u[j]
				}
				want += real(cmplx.Conj(u[i]) * v)
			}
			want /= squares
			if math.Abs(p.Expected[f]-want) > 1e-6*m.Noise+1e-9*want {
				t.Fatalf("%v: E I(%v) = %v, want %v", c.kernel, xi, p.Expected[f], want)
			}
		}
		t.Logf("%v: %d frequencies up to %v", c.kernel, len(p.Frequency), p.Frequency[len(p.Frequency)-1])
		var refusal *Refusal
		if _, err := (Model{Kernel: Laplace{1, 1}, Noise: 0.1}).Periodogram(t.Context(), SumsData(s, 0)); !errors.As(err, &refusal) {
			t.Errorf("Laplace: %v", err)
		}
	}
}
