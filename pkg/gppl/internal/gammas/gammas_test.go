package gammas

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"testing"
)

// TestReference compares with mpmath (the first lines of testdata/reference.py 400 1): probabilities to 3e-14, logarithms to 1e-14 of 1 or of
// themselves.
func TestReference(t *testing.T) {
	f, err := os.Open("testdata/reference.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, cases := bufio.NewScanner(f), map[string]int{}
	for lines.Scan() {
		var kind string
		var a, b, d float64
		var want, got [3]float64
		if _, err := fmt.Sscan(lines.Text(), &kind, &a, &b, &d, &want[0], &want[1], &want[2]); err != nil {
			t.Fatal(err)
		}
		limits := [3]float64{3e-14, 3e-14, 1e-14 * max(1, math.Abs(want[2]))}
		switch kind {
		case "functions":
			got = [3]float64{Rest(a), psiRest(a), HalfStep(a)}
			limits = [3]float64{1e-14, 1e-14 * max(1, math.Abs(want[1])), 1e-14}
		case "gamma":
			got[0], got[1] = GammaTails(a, d)
			got[2] = LogGamma(a, d)
		case "beta":
			got[0], got[1] = BetaTails(a, b, d)
			got[2] = LogBeta(a, b, d)
		}
		cases[kind]++
		for k, limit := range limits {
			if !(math.Abs(got[k]-want[k]) <= limit) {
				t.Errorf("%s: %v, want %v, within %v", lines.Text(), got, want, limits)
				break
			}
		}
	}
	if len(cases) != 3 {
		t.Errorf("cases %v", cases)
	}
}

// TestPsiStep compares steps with sums of 1/x and logarithms, and of large x with their first terms.
func TestPsiStep(t *testing.T) {
	for _, x := range []float64{1e-3, 0.7, 5, 11.9, 12, 30, 1e3} {
		var sum float64
		for k := range 40 {
			if want, got := sum-math.Log1p(float64(k)/x), PsiStep(x, float64(k)); !(math.Abs(got-want) <= 1e-13*max(1, math.Abs(want))) {
				t.Errorf("ψ(%v + %d) − ψ(%v) − log: %v, want %v", x, k, x, got, want)
			}
			sum += 1 / (x + float64(k))
		}
	}
	for _, x := range []float64{1e6, 1e12, 1e100} {
		if got, want := PsiStep(x, 1000)*x*x, 500*(1-1000/x); !(math.Abs(got/want-1) < 1e-5) {
			t.Errorf("x = %v: %v, want %v", x, got, want)
		}
	}
}

// TestLimits: at shapes and arguments out of the range of numbers, probabilities are numbers from 0 to 1, and a beta distribution
// of a large b is a gamma distribution.
func TestLimits(t *testing.T) {
	sizes := []float64{1e-300, 1e-10, 0.3, 7, 1e5, 1e20, 1e200, 1e300, math.Inf(1)}
	for _, a := range sizes[:len(sizes)-1] {
		for _, b := range sizes {
			for _, d := range []float64{-2000, -600, -40, -1, -1e-9, 0, 1e-9, 1, 40, 300, 600, 2000, math.Inf(1), math.Inf(-1)} {
				below, above := BetaTails(a, b, d)
				if !(below >= 0 && below <= 1 && above >= 0 && above <= 1 && math.Abs(below+above-1) < 1e-9) {
					t.Errorf("a = %v, b = %v, d = %v: %v and %v", a, b, d, below, above)
				}
			}
		}
		for _, d := range []float64{-1, 0, 0.5} {
			of, limit := LogBeta(a, 1e305, d), LogGamma(a, d)
			if a < 1e20 && !(math.Abs(of-limit) <= 1e-12*max(1, math.Abs(limit))) {
				t.Errorf("a = %v, d = %v: the log density is %v, want %v", a, d, of, limit)
			}
		}
	}
}
