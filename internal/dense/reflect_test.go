package dense

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReflect compares with two sums of vectors, to the last bit, and checks that nothing behind the results changes.
func TestReflect(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	for n := range 21 {
		x, y := general(1, n+1, rnd).Data[:n], general(1, n+1, rnd).Data[:n]
		k := rnd.NormFloat64()
		a, b, want, other := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		for _, v := range [][]float64{a, b, want, other} {
			v[n] = 7
		}
		reflectEach(want[:n], other[:n], k, x, y)
		if Reflect(a[:n], b[:n], k, x, y); !slices.Equal(a, want) || !slices.Equal(b, other) {
			t.Errorf("%d entries: %v and %v, want %v and %v", n, a, b, want, other)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a shorter than x was accepted")
		}
	}()
	Reflect(make([]float64, 3), make([]float64, 4), 1, make([]float64, 4), make([]float64, 4))
}

// BenchmarkReflect sums vectors that fit the first cache, both sums at once and one after the other.
func BenchmarkReflect(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 6))
	for _, n := range []int{24, 64, 130, 400} {
		x, y, u, v := general(1, n, rnd).Data, general(1, n, rnd).Data, make([]float64, n), make([]float64, n)
		for name, f := range map[string]func(a, b []float64, k float64, x, y []float64){"at-once": Reflect, "one-by-one": reflectEach} {
			b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					f(u, v, 0.5, x, y)
				}
			})
		}
	}
}
