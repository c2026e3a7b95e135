package vexp

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExp(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 709.7, 710, -708.5, -745, -746, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300,
		-1e-17}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 1000000 {
		x = append(x, 1400*(rnd.Float64()-0.5), -40*rnd.Float64(), math.Exp(20*rnd.NormFloat64()))
	}
	for range 7 {
		x = append(x, x[:20+rnd.IntN(8)]...) // special numbers at other places of their fours
	}
	got := make([]float64, len(x))
	Exp(got, x)
	worst := 0.0
	for i, v := range x {
		want := math.Exp(v)
		if v < lowest {
			want = 0
		}
		if got[i] == want || math.IsNaN(want) && math.IsNaN(got[i]) {
			continue
		}
		ulps := math.Abs(got[i]-want) / (want * 0x1p-52)
		worst = max(worst, ulps)
		if !(ulps <= 2) {
			t.Fatalf("exp(%v) = %v, want %v (%v units in the last place)", v, got[i], want, ulps)
		}
	}
	each := make([]float64, len(x))
	expEach(each, x)
	for i, v := range each {
		if math.Float64bits(v) != math.Float64bits(got[i]) && !math.IsNaN(v) {
			t.Fatalf("exp(%v) = %v by vectors of four, %v one by one", x[i], got[i], v)
		}
	}
	t.Logf("worst difference from math.Exp: %.2f units of 2^-52", worst)
	Exp(x, x)
	for i := range x {
		if x[i] != got[i] && !math.IsNaN(got[i]) {
			t.Fatalf("in place: entry %d: %v, want %v", i, x[i], got[i])
		}
	}
}

func BenchmarkExp(b *testing.B) {
	x, dst := make([]float64, 4096), make([]float64, 4096)
	for i := range x {
		x[i] = -float64(i) / 200
	}
	b.Run("vexp", func(b *testing.B) {
		for b.Loop() {
			Exp(dst, x)
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/exp")
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				dst[i] = math.Exp(v)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/4096, "ns/exp")
	})
}

// TestTable compares the table with powers of two.
func TestTable(t *testing.T) {
	for i, v := range table {
		got, want := math.Float64frombits(v+uint64(i)<<(52-bits)), math.Exp2(float64(i)/size)
		if math.Abs(got-want) > 0x1p-52 {
			t.Errorf("2^(%d/%d) = %v, want %v", i, size, got, want)
		}
	}
}
