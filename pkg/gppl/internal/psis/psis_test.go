package psis_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/psis"
)

// TestFitPareto: the shape and scale of draws from the distribution itself.
func TestFitPareto(t *testing.T) {
	const n = 20000
	for _, k := range []float64{-0.3, 0, 0.2, 0.5, 0.9, 1.5} {
		for _, sigma := range []float64{1e-3, 2} {
			rnd := rand.New(rand.NewPCG(1, uint64(10*k+100)))
			x := make([]float64, n)
			for i := range x {
				u := 1 - rnd.Float64()
				if x[i] = -sigma * math.Log(u); k != 0 {
					x[i] = sigma * (math.Pow(u, -k) - 1) / k
				}
			}
			slices.Sort(x)
			gotK, gotSigma := psis.FitPareto(x)
			// The standard error of the estimate is (1 + k)/√n.
			if math.Abs(gotK-k) > 4*(1+math.Abs(k))/math.Sqrt(n) || math.Abs(gotSigma/sigma-1) > 0.05 {
				t.Errorf("k = %v, σ = %v: got %v and %v", k, sigma, gotK, gotSigma)
			}
		}
	}
}

// TestParetoTails: ratios with a Pareto tail P(r > t) = t^(−1/k).
func TestParetoTails(t *testing.T) {
	const n = 40000
	for _, k := range []float64{0.2, 0.5, 0.7, 1.2} {
		rnd := rand.New(rand.NewPCG(2, 3))
		r := make([]float64, n)
		for i := range r {
			r[i] = -k*math.Log(1-rnd.Float64()) + 700 // far from the range of exp
		}
		s, err := psis.Smooth(r)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(s.K-k) > 0.15 {
			t.Errorf("k = %v: k̂ = %v", k, s.K)
		}
		check(t, s, n)
	}
}

func check(t *testing.T, s *psis.Smoothed, n int) {
	t.Helper()
	var sum float64
	for _, w := range s.Weights {
		if !(w >= 0) {
			t.Fatalf("weight %v", w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 1e-9 || len(s.Weights) != n || !(s.ESS >= 1 && s.ESS <= float64(n)*(1+1e-12)) {
		t.Errorf("%d weights of sum %v, effective number %v", len(s.Weights), sum, s.ESS)
	}
}

// TestNormalProposals: of a N(0, 1) target with N(0, s²) proposals the tail of the ratios
// has k = 1 − s² where s < 1, and is bounded where s ≥ 1. Averages come out accordingly.
func TestNormalProposals(t *testing.T) {
	const n = 20000
	for _, c := range []struct{ s2, lo, hi, off float64 }{
		{0.8, 0.05, 0.4, 0.03},
		{0.5, 0.3, 0.7, 0.15},
		{0.1, 0.7, 1.2, 1},
		{1.5, -2, 0.1, 0.03},
	} {
		t.Run(fmt.Sprint("s²=", c.s2), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(4, 5))
			r, x := make([]float64, n), make([]float64, n)
			for i := range r {
				z := rnd.NormFloat64()
				x[i] = math.Sqrt(c.s2) * z
				r[i] = -0.5*x[i]*x[i] + 0.5*z*z
			}
			s, err := psis.Smooth(r)
			if err != nil {
				t.Fatal(err)
			}
			check(t, s, n)
			if !(s.K >= c.lo && s.K <= c.hi) {
				t.Errorf("k̂ = %v, want between %v and %v", s.K, c.lo, c.hi)
			}
			var second float64
			for i, w := range s.Weights {
				second += w * x[i] * x[i]
			}
			if math.Abs(second-1) > c.off {
				t.Errorf("E x² = %v, want 1 within %v", second, c.off)
			}
		})
	}
}

func TestSmoothEdges(t *testing.T) {
	equal := make([]float64, 100)
	s, err := psis.Smooth(equal)
	if err != nil || !math.IsInf(s.K, -1) || math.Abs(s.ESS-100) > 1e-9 {
		t.Errorf("equal ratios: %+v, %v", s, err)
	}
	if s, err = psis.Smooth([]float64{0, 1, 2}); err != nil || !math.IsNaN(s.K) {
		t.Errorf("three ratios: %+v, %v", s, err)
	}
	check(t, s, 3)
	few := slices.Repeat([]float64{math.Inf(-1)}, 50) // most of them outside the support
	few[3], few[30] = 1, 2
	if s, err = psis.Smooth(few); err != nil || !math.IsNaN(s.K) {
		t.Errorf("two within the support: %+v, %v", s, err)
	}
	check(t, s, 50)
	for i := range 8 {
		few[3*i] = float64(i)
	}
	if s, err = psis.Smooth(few); err != nil || math.IsNaN(s.K) {
		t.Errorf("some within the support: %+v, %v", s, err)
	}
	for i, w := range s.Weights {
		if (w == 0) != math.IsInf(few[i], -1) {
			t.Errorf("draw %d of ratio %v has the weight %v", i, few[i], w)
		}
	}
	check(t, s, 50)
	ties := make([]float64, 200) // a tail that begins with ties
	ties[7], ties[8] = 3, 1
	if s, err = psis.Smooth(ties); err != nil || math.IsNaN(s.K) {
		t.Errorf("ties: %+v, %v", s, err)
	}
	check(t, s, 200)
	before := slices.Clone(few)
	if _, err := psis.Smooth(few); err != nil || !slices.Equal(few, before) {
		t.Error("Smooth changed its argument")
	}
	for _, bad := range [][]float64{{0, math.NaN()}, {math.Inf(1), 0}, {math.Inf(-1), math.Inf(-1)}, nil} {
		if _, err := psis.Smooth(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	// Monotone: a larger ratio never has a smaller weight.
	rnd := rand.New(rand.NewPCG(6, 7))
	r := make([]float64, 500)
	for i := range r {
		r[i] = 3 * rnd.NormFloat64()
	}
	if s, err = psis.Smooth(r); err != nil {
		t.Fatal(err)
	}
	for i := range r {
		for j := range r {
			if r[i] < r[j] && s.Weights[i] > s.Weights[j]*(1+1e-12) {
				t.Fatalf("ratios %v < %v, weights %v > %v", r[i], r[j], s.Weights[i], s.Weights[j])
			}
		}
	}
}
