package dataset

import (
	"math/rand/v2"
	"testing"
)

// TestSplitPlain compares the fast path of numbers with the regular expression that defines them.
func TestSplitPlain(t *testing.T) {
	alphabet := []rune("0123456789012345.,,..--++  '’\u00a0\u202feE%€kWh°/)(–é²")
	r := rand.New(rand.NewPCG(1, 2))
	numbers, plain := 0, 0
	for range 200_000 {
		text := make([]rune, 1+r.IntN(9))
		for j := range text {
			text[j] = alphabet[r.IntN(len(alphabet))]
		}
		want, is := splitParts(string(text))
		got, ok := splitNumber(string(text))
		if ok != is || is && got != want {
			t.Fatalf("%q: %+v, %t; want %+v, %t", string(text), got, ok, want, is)
		}
		if is {
			numbers++
		}
		if _, ok := splitPlain(string(text)); ok {
			plain++
		}
	}
	if plain < numbers/2 {
		t.Errorf("%d of %d numbers take the fast path", plain, numbers)
	}
}

func BenchmarkSplitNumber(b *testing.B) {
	for _, text := range []string{"1.025,10", "1.025,10 €", "-12 kWh", "abc", "(1,025.10)"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				splitNumber(text)
			}
		})
	}
}
