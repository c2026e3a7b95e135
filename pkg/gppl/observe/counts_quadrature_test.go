package observe

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestCountsReference compares log densities and probabilities, of means and trials to 1e6 and standard deviations of g from 1e-3
// to 3, with sums of long doubles over fine grids (testdata/counts.py 250 1): of p(y | g) under the density of g, and of the
// derivative of P(Y ≤ y | g) under its distribution.
func TestCountsReference(t *testing.T) {
	f, err := os.Open("testdata/counts.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, cases := bufio.NewScanner(f), 0
	for lines.Scan() {
		var kind string
		var shape, size, mean, variance, y, log, p float64
		if _, err := fmt.Sscan(lines.Text(), &kind, &shape, &size, &mean, &variance, &y, &log, &p); err != nil {
			t.Fatal(err)
		}
		l := map[string]Likelihood{"p": Poisson{}, "n": NegBinomial{shape}, "b": Binomial{}}[kind]
		c := NewCounts(l, []float64{mean}, []float64{variance}, []float64{size})
		if got := testkit.Must(c.LogDensity(t.Context(), []float64{y}))(t)[0]; !(math.Abs(got-log) <= 1e-10*max(1, math.Abs(log))) {
			t.Errorf("%v of size %v, g ~ N(%v, %v): log p(%v) = %v, want %v", l, size, mean, variance, y, got, log)
		}
		if got := c.CDF(0, y); p >= 0 && !(math.Abs(got-p) <= 1e-10) {
			t.Errorf("%v of size %v, g ~ N(%v, %v): P(Y ≤ %v) = %v, want %v", l, size, mean, variance, y, got, p)
		}
		cases++
	}
	if cases < 100 {
		t.Errorf("%d cases", cases)
	}
}

// TestCountsSums compares quantiles with the distribution, moments with formulas, and scores with sums over all numbers.
func TestCountsSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 1))
	for k := range testkit.Size(12, 100, 2000) {
		mean, sd := math.Exp(6*rnd.Float64()), math.Exp(rnd.Float64()*math.Log(2e3))*1e-3
		trials := math.Ceil(20 * mean)
		l := []Likelihood{Poisson{}, NegBinomial{Shape: math.Exp(25*rnd.Float64() - 1)}, Binomial{}}[k%3]
		at, size := math.Log(mean), 1.0
		if k%3 == 2 {
			at, size = math.Log(1./19), trials
		}
		c := NewCounts(l, []float64{at}, []float64{sd * sd}, []float64{size})
		m, v := testkit.Must2(c.Expected(t.Context()))(t)
		if e := math.Exp(at + 0.5*sd*sd); k%3 != 2 {
			want := e*e*math.Expm1(sd*sd) + e
			if n, ok := l.(NegBinomial); ok {
				want += e * e * math.Exp(sd*sd) / n.Shape
			}
			equal(t, "mean", m[0], e, 1e-11)
			equal(t, "variance", v[0], want, 1e-11)
		}
		for _, p := range []float64{0.01, 0.5, 0.999} {
			if q := testkit.Must(c.Quantile(t.Context(), p))(t)[0]; !(c.CDF(0, q) >= p) || !(c.CDF(0, q-1) < p) {
				t.Errorf("%v, g ~ N(%v, %v²): the quantile of %v is %v, of probability %v, after %v", l, at, sd, p, q, c.CDF(0, q), c.CDF(0, q-1))
			}
		}
		most, y := testkit.Must(c.Quantile(t.Context(), 1-1e-7))(t)[0], testkit.Must(c.Quantile(t.Context(), rnd.Float64()))(t)[0]
		if most > 4000 {
			continue
		}
		var want float64
		for j := 0.0; j <= most; j++ {
			f := c.CDF(0, j)
			if j >= y {
				f--
			}
			want += f * f
		}
		equal(t, fmt.Sprintf("%v, g ~ N(%v, %v²): the score of %v", l, at, sd, y), testkit.Must(c.CRPS(t.Context(), []float64{y}))(t)[0], want, 1e-6)
	}
}
