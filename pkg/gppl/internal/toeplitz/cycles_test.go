package toeplitz

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// cycles returns a series of some cycles, open at the first places of each, without some of its observations.
func cycles(tb testing.TB, count, length, open int, skipped ...int) *timeline.Cycles {
	tb.Helper()
	var t []float64
	for k := range count * open {
		t = append(t, float64(k/open*length+k%open))
	}
	for i := len(skipped) - 1; i >= 0; i-- {
		t = append(t[:skipped[i]], t[skipped[i]+1:]...)
	}
	c, ok := timeline.CyclesOf(t)
	if !ok {
		tb.Fatalf("%d cycles of %d steps, %d of them open, are not found", count, length, open)
	}
	return &c
}

// daily is a covariance with a season, at some lags.
func daily(n int, period, noise float64) (c []float64) {
	for d := range n {
		r := float64(d)
		wave := math.Sin(math.Pi * r / period)
		c = append(c, 0.7*math.Exp(-r/30)+math.Exp(-r*r/2e4-2*wave*wave))
	}
	c[0] += noise
	return c
}

// TestCycles compares all that a factor says with dense algebra over the observed rows.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		name                string
		count, length, open int
		skipped             []int
		noise               float64
	}{
		{"days of a week", 20, 7, 5, nil, 0.1},
		{"hours of a day", 9, 24, 11, nil, 0.05},
		{"holidays", 20, 7, 5, []int{10, 33, 34}, 0.1},
		{"a part of the last cycle", 12, 7, 5, []int{57, 58, 59}, 0.1},
		{"little noise", 20, 7, 5, []int{11}, 1e-5},
	} {
		of := cycles(t, c.count, c.length, c.open, c.skipped...)
		cov := daily(Places(of), float64(c.length), c.noise)
		n, rnd := len(of.Row), rand.New(rand.NewPCG(3, 5))
		columns, a, u := dense.New(of.Len(), 2), mat.NewSymDense(n, nil), dense.New(of.Len(), 2)
		observed := mat.NewDense(n, 2, nil)
		for i, row := range of.Row {
			for j := range 2 {
				columns.Data[2*row+j] = rnd.NormFloat64()
				observed.Set(i, j, columns.Data[2*row+j])
			}
			for j, other := range of.Row[:i+1] {
				a.SetSym(i, j, cov[of.At(row)-of.At(other)])
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			t.Fatalf("%s: not positive definite", c.name)
		}
		var alpha mat.Dense
		var inverse mat.SymDense
		if err := errors.Join(chol.SolveTo(&alpha, observed), chol.InverseTo(&inverse)); err != nil {
			t.Fatal(err)
		}
		var f Cycles
		for range 2 { // again with the same memory
			if err := f.Factorise(of, cov, columns); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		condition := 1 / c.noise
		near := func(what string, got, want, scale float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-13*condition*scale) {
				t.Errorf("%s: %s is %.12g, want %.12g", c.name, what, got, want)
			}
		}
		near("log|A|", f.LogDet(), chol.LogDet(), float64(n))
		sums := make([]float64, Places(of))
		for i, row := range of.Row {
			for j := range 2 {
				near("A⁻¹C", f.Alpha.Data[2*row+j], alpha.At(i, j), mat.Max(&alpha))
				u.Data[2*row+j] = alpha.At(i, j)
			}
			for j, other := range of.Row[:i+1] {
				sums[of.At(row)-of.At(other)] += inverse.At(i, j) - alpha.At(i, 0)*alpha.At(j, 0) - alpha.At(i, 1)*alpha.At(j, 1)
			}
		}
		for _, row := range of.Holes {
			if f.Alpha.Data[2*row] != 0 {
				t.Errorf("%s: A⁻¹C is not 0 in a hole", c.name)
			}
		}
		got := make([]float64, Places(of))
		f.Sums(got, u)
		for d, want := range sums {
			near("a sum", got[d], want, mat.Trace(&inverse))
		}
		if most := 64 * 0x1p-53 * cov[0] * float64(n); !(f.Backward() <= most) {
			t.Errorf("%s: the residual is %.2g, more than %.2g", c.name, f.Backward(), most)
		}
	}
}

func TestCyclesNotPositive(t *testing.T) {
	of := cycles(t, 20, 7, 5)
	cov := daily(Places(of), 7, 0.1)
	cov[7] = 2 * cov[0]
	if err := new(Cycles).Factorise(of, cov, dense.New(of.Len(), 1)); !errors.As(err, new(dense.NotPositive)) {
		t.Errorf("%v, want a NotPositive", err)
	}
}

func BenchmarkCycles(b *testing.B) {
	for _, c := range []struct {
		name                string
		count, length, open int
	}{{"hours", 68, 24, 11}, {"month", 28, 24, 11}, {"days", 150, 7, 5}, {"week", 12, 168, 66}} {
		b.Run(c.name, func(b *testing.B) {
			of := cycles(b, c.count, c.length, c.open)
			cov := daily(Places(of), float64(c.length), 0.1)
			columns, sums := dense.New(of.Len(), 3), make([]float64, Places(of))
			for i := range columns.Data {
				columns.Data[i] = math.Sin(float64(i))
			}
			var f Cycles
			for b.Loop() {
				if err := f.Factorise(of, cov, columns); err != nil {
					b.Fatal(err)
				}
				f.Sums(sums, f.Alpha)
			}
			b.ReportMetric(1e9*CyclesSeconds(of, columns.Cols), "predicted-ns/op")
		})
	}
}
