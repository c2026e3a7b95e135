package gppl

import (
	"math"
	"math/rand/v2"
	"testing"
)

// smoothCases are smooth kernels whose band is many blocks wide. At commit
// 1b1a4f7 their gradient was wrong by factors between 1e2 and 1e67, without a
// word: Takahashi's recursion amplified its own rounding.
var smoothCases = []struct {
	name  string
	n     int
	k     Kernel
	noise float64
}{
	{"LocPer", 2000, LocPer{1, 60, 12, 1}, 0.1},
	{"SE", 3000, SE{1, 32}, 1e-6},
	{"Matern52×Periodic", 2000, Mul(Matern52{1, 32}, Periodic{1, 1, 12}), 1e-4},
	{"SE×Periodic", 1500, Mul(SE{1, 24}, Periodic{1, 0.7, 9}), 1e-5},
}

// TestBandedGradientSmooth compares the gradient of smooth kernels, at spacing
// 1, with the dense engine's.
func TestBandedGradientSmooth(t *testing.T) {
	for _, c := range smoothCases {
		t.Run(c.name, func(t *testing.T) {
			n := c.n
			if testing.Short() {
				n = 700
			}
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(i)
			}
			m := Model{Kernel: c.k, Noise: c.noise}
			d := drawFrom(t, m, Scalars(x), rand.New(rand.NewPCG(1, 11)))
			got, want := make([]float64, len(m.Params())), make([]float64, len(m.Params()))
			series := newLine(d.X, d.Y)
			v, _, err := newBandedExact(series).nll(got, m.Kernel, m.Noise)
			if err != nil {
				t.Fatal(err)
			}
			w, _, err := newDenseExact(d).nll(want, m.Kernel, m.Noise)
			if err != nil {
				t.Fatal(err)
			}
			var off float64
			for i := range got {
				off = max(off, math.Abs(got[i]-want[i]))
			}
			limit := float64(n) * 2 * rounding(variance(c.k), c.noise)
			t.Logf("value %.9g, dense %.9g; gradient %.6g, dense %.6g; off by %.2g, %.2g allowed", v, w, got, want, off, limit)
			if !(off <= limit) {
				t.Errorf("the gradient is off by %.2g, %.2g allowed", off, limit)
			}
		})
	}
}
