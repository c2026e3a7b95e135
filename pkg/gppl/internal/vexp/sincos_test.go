package vexp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSincosPi compares with math.Sincos after whole turns were taken off, which is exact.
func TestSincosPi(t *testing.T) {
	x := []float64{0, 0.25, 0.5, 0.75, 1, -0.25, -0.5, -1, 1.5, 2, 1e-300, -1e-300, 1 << 49, -(1 << 49), 1<<49 - 0.25, 1<<48 + 0.5,
		1e300, math.Inf(1), math.NaN()}
	rnd := rand.New(rand.NewPCG(2, 1))
	for range 300000 {
		x = append(x, rnd.NormFloat64(), 1e5*rnd.NormFloat64(), math.Exp(20*rnd.NormFloat64()),
			0.25*float64(rnd.IntN(4000)-2000)+1e-9*rnd.NormFloat64())
	}
	sin, cos := make([]float64, len(x)), make([]float64, len(x))
	SincosPi(sin, cos, x)
	var worst float64
	for i, v := range x {
		quarters := math.Round(2 * math.Mod(v, 2))
		s, c := math.Sincos(math.Pi * (math.Mod(v, 2) - 0.5*quarters))
		switch int(quarters) & 3 {
		case 1:
			s, c = c, -s
		case 2:
			s, c = -s, -c
		case 3:
			s, c = -c, s
		}
		if math.IsNaN(s) {
			if !math.IsNaN(sin[i]) || !math.IsNaN(cos[i]) {
				t.Fatalf("x = %v: %v, %v", v, sin[i], cos[i])
			}
			continue
		}
		off := max(math.Abs(sin[i]-s)/max(math.Abs(s), 0x1p-1000), math.Abs(cos[i]-c)/max(math.Abs(c), 0x1p-1000))
		if s == 0 && sin[i] == 0 {
			off = math.Abs(cos[i] - c)
		}
		if c == 0 && cos[i] == 0 {
			off = math.Abs(sin[i] - s)
		}
		worst = max(worst, off)
		if !(off <= 4*0x1p-53) {
			t.Fatalf("x = %v: sin %v and cos %v, want %v and %v", v, sin[i], cos[i], s, c)
		}
	}
	t.Logf("worst difference from math.Sincos: %.2f units of 2^-53, relative", worst/0x1p-53)
	SincosPi(x, cos, x)
	for i := range x {
		if x[i] != sin[i] && !math.IsNaN(sin[i]) {
			t.Fatalf("in place: entry %d: %v, want %v", i, x[i], sin[i])
		}
	}
}

func BenchmarkSincosPi(b *testing.B) {
	x, sin, cos := make([]float64, 4096), make([]float64, 4096), make([]float64, 4096)
	rnd := rand.New(rand.NewPCG(3, 1))
	for i := range x {
		x[i] = 100 * rnd.Float64()
	}
	b.Run("vexp", func(b *testing.B) {
		for b.Loop() {
			SincosPi(sin, cos, x)
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/sincos")
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				sin[i], cos[i] = math.Sincos(math.Pi * v)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/sincos")
	})
}
