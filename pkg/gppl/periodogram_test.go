package gppl_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestPeriodogram compares with the sums as they are written, on even times with gaps and duplicates.
func TestPeriodogram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	var x, y []float64
	for i := range 60 {
		if i > 20 && i < 26 {
			continue
		}
		for range 1 + i%7/6 {
			x, y = append(x, 1000+0.25*float64(i)), append(y, rnd.NormFloat64())
		}
	}
	rnd.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := gppl.Model{Kernel: gppl.Add(gppl.LocPer{Variance: 1.2, Lengthscale: 4, Period: 2, PeriodicLengthscale: 1},
		gppl.Laplace{Variance: 0.4, Lengthscale: 1}, gppl.White{Variance: 0.2}), Noise: 0.1}
	p := testkit.Must(m.Periodogram(t.Context(), d))(t)
	if math.Abs(p.Noise-0.3) > 1e-12 {
		t.Errorf("noise %v, want 0.3", p.Noise)
	}
	lo, hi := d.X.Range(0)
	if f := p.Frequency; f[0] < 1/(hi-lo) || f[0] > 2/(hi-lo) || f[len(f)-1] > 2.2 || f[len(f)-1] < 1.8 {
		t.Errorf("frequencies from %v to %v", f[0], f[len(f)-1])
	}
	n := len(x)
	w := make([]float64, n)
	var squares float64
	basis := mat.NewDense(n, 4, nil)
	for i, v := range x {
		w[i] = math.Pow(math.Sin(math.Pi*(v-lo)/(hi-lo)), 2)
		squares += w[i] * w[i]
		u := v - 1007
		basis.SetRow(i, []float64{1, u, u * u, u * u * u})
	}
	var qr mat.QR
	var q, h mat.Dense
	qr.Factorize(basis)
	qr.QTo(&q)
	h.Mul(q.Slice(0, n, 0, 4), q.Slice(0, n, 0, 4).T())
	without := mat.NewDense(n, n, nil) // M = I − QQᵀ
	a := mat.NewDense(n, n, nil)       // K + σ²I
	for i := range x {
		for k := range x {
			r := []float64{math.Abs(x[i] - x[k])}
			if i == k {
				without.Set(i, i, 1)
				a.Set(i, i, m.Noise+capability.Nugget(m.Kernel))
			}
			m.Kernel.Cov(r, r)
			a.Set(i, k, a.At(i, k)+r[0])
		}
	}
	without.Sub(without, &h)
	var mam mat.Dense
	mam.Product(without, a, without)
	var rest mat.VecDense
	rest.MulVec(without, mat.NewVecDense(n, y))
	for j := 0; j < len(p.Frequency); j += 7 {
		xi := p.Frequency[j]
		u := make([]complex128, n)
		var sum complex128
		for i := range x {
			u[i] = complex(w[i], 0) * cmplx.Exp(complex(0, -2*math.Pi*xi*x[i]))
			sum += u[i] * complex(rest.AtVec(i), 0)
		}
		var expected float64
		for i := range x {
			for k := range x {
				expected += real(u[i]*cmplx.Conj(u[k])) * mam.At(i, k) / squares
			}
		}
		// x is even, but its mean spacing differs from the grid's: rounding to a part of it shifts phases.
		if got, want := p.Data[j], real(sum*cmplx.Conj(sum))/squares; math.Abs(got-want) > 0.02*(want+1) {
			t.Errorf("I(%v) = %v, want %v", xi, got, want)
		}
		if got := p.Expected[j]; math.Abs(got-expected) > 0.01*expected {
			t.Errorf("E I(%v) = %v, want %v", xi, got, expected)
		}
	}
}

// TestPeriodogramMean checks the expectation on draws: I/E I has mean one.
func TestPeriodogramMean(t *testing.T) {
	t.Parallel()
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 2, Lengthscale: 3}, Noise: 0.2}
	var ratio []float64
	n, allowed := testkit.Size(60, 150, 300), 1.0 // times the errors that 150 draws of 300 may have
	if testkit.Quick() {
		allowed = 1.5
	}
	for seed := range uint64(150) {
		s, _, _, err := dataset.Synthetic{Model: m, N: n, Seed: seed + 1}.Draw()
		if err != nil {
			t.Fatal(err)
		}
		d := testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
		p := testkit.Must(m.Periodogram(t.Context(), d))(t)
		for j := range p.Data {
			ratio = append(ratio, p.Data[j]/p.Expected[j])
		}
	}
	mean, sd := stat.MeanStdDev(ratio, nil)
	t.Logf("I/E I: mean %.3f, standard deviation %.3f", mean, sd)
	if math.Abs(mean-1) > 0.05*allowed || math.Abs(sd-1) > 0.07*allowed {
		t.Errorf("I/E I: mean %v, standard deviation %v, want 1 and 1", mean, sd)
	}
}

func TestPeriodogramErrors(t *testing.T) {
	m := gppl.PaperModel(gppl.SE{})
	for name, d := range map[string]gppl.Data{
		"two times": {X: gppl.Scalars([]float64{1, 2}), Y: []float64{1, 2}},
		"the ends":  {X: gppl.Scalars([]float64{1, 2, 2, 1}), Y: []float64{1, 2, 3, 4}},
		"one time":  {X: gppl.Scalars([]float64{1, 1, 1, 1}), Y: []float64{1, 2, 3, 4}},
		"the plane": {X: gppl.Vectors([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 2), Y: []float64{1, 2, 3, 4}},
	} {
		if p, err := m.Periodogram(t.Context(), d); err == nil {
			t.Errorf("%s: %v", name, p)
		}
	}
	if _, err := (gppl.Model{Noise: 1}).Periodogram(t.Context(), gppl.Data{}); err == nil {
		t.Error("no kernel: no error")
	}
}

// BenchmarkPeriodogram shows that the time grows as n log n.
func BenchmarkPeriodogram(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			rnd := rand.New(rand.NewPCG(1, 1))
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = float64(n)*rnd.Float64(), rnd.NormFloat64()
			}
			d, err := gppl.NewData(gppl.Scalars(x), y)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := gppl.PaperModel(gppl.SE{}).Periodogram(b.Context(), d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPeriodogramKnownErrors: equal known errors are noise, and relative ones scale it.
func TestPeriodogramKnownErrors(t *testing.T) {
	x, y, known := make([]float64, 50), make([]float64, 50), make([]float64, 50)
	for i := range x {
		x[i], y[i], known[i] = float64(i), math.Sin(float64(i)), 0.5
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	m := func(noise float64) gppl.Model {
		return gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 3}, Noise: noise}
	}
	for name, c := range map[string]struct {
		data        gppl.Data
		noise, want float64
	}{
		"errors":          {testkit.Must(d.WithErrors(known))(t), 0.1, 0.35},
		"relative errors": {testkit.Must(d.WithRelativeErrors(known))(t), 0.4, 0.1},
	} {
		got, plain := testkit.Must(m(c.noise).Periodogram(t.Context(), c.data))(t), testkit.Must(m(c.want).Periodogram(t.Context(), d))(t)
		for j, want := range plain.Expected {
			if math.Abs(got.Expected[j]-want) > 1e-12*want || math.Abs(got.Noise-c.want) > 1e-12 {
				t.Fatalf("%s: at %v %v is expected with noise %v, want %v with %v",
					name, got.Frequency[j], got.Expected[j], got.Noise, want, c.want)
			}
		}
	}
}
