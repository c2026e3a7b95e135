package dense

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestCorrelate compares with inner products of windows, to the last bit, between vectors that end in zeros as gonum adds them
// up.
func TestCorrelate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	var work []float64
	for _, size := range [][3]int{{1, 1, 1}, {0, 3, 3}, {5, 4, 9}, {8, 8, 15}, {9, 9, 9}, {10, 9, 9}, {17, 3, 40}, {130, 130, 130}, {130, 130, 259}, {7, 0, 7}, {40, 64, 39}} {
		n, x, long := size[0], general(1, size[1], rnd).Data, general(1, size[2], rnd).Data
		want := make([]float64, n)
		ended := append(slices.Clone(long), make([]float64, len(x)+strands)...)
		whole := append(slices.Clone(x), make([]float64, strands)...)
		for i := range want {
			k := max(0, min(len(x), len(long)-i)+strands-1) / strands * strands
			want[i] = floats.Dot(ended[i:][:k], whole[:k])
		}
		got := make([]float64, n+1)
		got[n] = 7
		work = Correlate(got[:n], long, x, work)
		if !slices.Equal(got[:n], want) || got[n] != 7 {
			t.Errorf("%v: %v, want %v", size, got, want)
		}
		each, other := new([windows]float64), new([windows]float64)
		if k := (len(x) + strands - 1) / strands * strands; k > 0 && len(long) >= k+windows {
			from := append(append(make([]float64, strands), whole...), make([]float64, strands)...)
			slideEach(each, k, ended, from)
			if slide(other, k, ended, from); *each != *other {
				t.Errorf("%v: the kernel says %v, inner products %v", size, other, each)
			}
		}
	}
	same := general(1, 21, rnd).Data
	want := make([]float64, 21)
	Correlate(want, same, same, nil)
	if Correlate(same, same, same, nil); !slices.Equal(same, want) {
		t.Errorf("in place %v, want %v", same, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("dst longer than long was accepted")
		}
	}()
	Correlate(make([]float64, 4), make([]float64, 2), make([]float64, 2), nil)
}

// BenchmarkCorrelate multiplies all windows of 2n − 1 numbers by n, at once and by inner products.
func BenchmarkCorrelate(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 4))
	for _, n := range []int{16, 48, 130, 400} {
		dst, x, long := make([]float64, n), general(1, n, rnd).Data, general(1, 2*n-1, rnd).Data
		b.Run(fmt.Sprintf("n=%d/at-once", n), func(b *testing.B) {
			work := Correlate(dst, long, x, nil)
			for b.Loop() {
				Correlate(dst, long, x, work)
			}
		})
		b.Run(fmt.Sprintf("n=%d/one-by-one", n), func(b *testing.B) {
			for b.Loop() {
				for i := range dst {
					dst[i] = floats.Dot(long[i:][:n], x)
				}
			}
		})
	}
}
