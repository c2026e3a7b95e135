package numeric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQn: normal samples of every size have a scale near 1 in the mean, and a fifth of wild values moves it little.
func TestQn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 93))
	for _, n := range []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 30} {
		const draws = 4000
		var clean, wild float64
		for range draws {
			v := make([]float64, n)
			for i := range v {
				v[i] = rnd.NormFloat64()
			}
			clean += Qn(v) / draws
			for i := range n / 5 {
				v[i] *= 1000
			}
			wild += Qn(v) / draws
		}
		if math.Abs(clean-1) > 0.05 || wild > 2 {
			t.Errorf("n = %d: a mean scale of %.3f, and %.3f with wild values", n, clean, wild)
		}
	}
}

func TestHolm(t *testing.T) {
	if got := Holm([]float64{0.01, 0.04, 0.03}); !slices.Equal(got, []float64{0.03, 0.06, 0.06}) {
		t.Errorf("Holm: %v", got)
	}
	if got := Holm([]float64{0.5, 0.5}); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("of equals: %v", got)
	}
}
