package gppl

import (
	"math"
	"testing"
)

// TestDrawnWaves: the covariance of a sum of waves is the kernel at all distances up to the span, within the bound.
func TestDrawnWaves(t *testing.T) {
	const span = 30
	for _, l := range []float64{0.05, 1, 40, 3000} {
		for _, k := range []Kernel{SE{1.3, l}, RQ{0.7, l, 0.4}, RQ{1, l, 30}, Periodic{1, 0.8, l}, LocPer{1.2, 4 * l, l, 0.7},
			SpectralMixture{1, 2 * l, l}, Mul(SE{1, l}, SE{2, 3 * l}), Mul(SE{1, 5 * l}, Periodic{1, 1.2, l})} {
			sets, bound, err := waveSets(k, span)
			if err != nil {
				t.Errorf("%v: %v", k, err)
				continue
			}
			if bound > 1e-11 {
				t.Errorf("%v: bound %.2g", k, bound)
			}
			for i := range 60 {
				r := span * float64(i*i) / (59 * 59)
				var want [1]float64
				k.Cov(want[:], []float64{r})
				var got float64
				for _, s := range sets {
					for m, c := range s.coef {
						if c < 0 {
							t.Fatalf("%v: coefficient %d is %v", k, m, c)
						}
						got += c * math.Cos(2*math.Pi*math.Mod(float64(m)*r/s.period, 1))
					}
				}
				if !(math.Abs(got-want[0]) <= (bound+3e-13)*variance(k)) { // the formula of an RQ by scales has 1e-13
					t.Errorf("%v at %v: %v, want %v, off by %.2g for %.2g", k, r, got, want[0], got-want[0], bound)
				}
			}
		}
	}
}
