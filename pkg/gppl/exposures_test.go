package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// integral returns the integral of a smooth f, by 40 nodes.
func integral(f func(float64) float64, from, to float64) float64 {
	if from == to {
		return 0
	}
	return quad.Fixed(f, from, to, 40, quad.Legendre{}, 0)
}

// averaged is the covariance of the averages of f over exposures of length d about x and e about z, by the double integral.
func averaged(k gppl.Kernel, x, d, z, e float64) float64 {
	cov := func(r float64) float64 { return jet(k, math.Abs(r))[0] }
	switch {
	case d == 0 && e == 0:
		return cov(x - z)
	case x == z && d == e:
		return integral(func(s float64) float64 { return 2 * (1 - s) * cov(d*s) }, 0, 1)
	case d == 0: // within the exposure, or not
		lo, hi := z-e/2, z+e/2
		at := func(u float64) float64 { return cov(x - u) }
		middle := min(max(x, lo), hi)
		return (integral(at, lo, middle) + integral(at, middle, hi)) / e
	}
	return integral(func(s float64) float64 { return averaged(k, x+d*(s-0.5), 0, z, e) }, 0, 1)
}

type exposureCase struct {
	channelCase
	exposure []float64
}

func randomExposures(rnd *rand.Rand, k gppl.Kernel) exposureCase {
	c := exposureCase{channelCase: randomChannels(rnd, k)}
	for i := range c.model.Channels {
		c.model.Channels[i].Slope = 0
	}
	n := c.data.Len()
	x := make([]float64, n)
	t := -1.
	same := rnd.IntN(2) == 0
	for i := range x {
		d := 0.6 * rnd.Float64()
		switch rnd.IntN(6) {
		case 0:
			d = 0
		case 1:
			d = 1e-5
		}
		if same {
			d = 0.3
		}
		if rnd.IntN(3) > 0 || d == 0 || i > 0 && c.exposure[i-1] == 0 { // else one after another
			t += rnd.Float64()
		}
		x[i] = t + d/2
		t += d
		c.exposure = append(c.exposure, d)
	}
	order := rnd.Perm(n)
	at, exposure := make([]float64, n), make([]float64, n)
	for i, o := range order {
		at[i], exposure[i] = x[o], c.exposure[o]
	}
	c.data.X, c.exposure = gppl.Scalars(at), exposure
	return c
}

// dense is the likelihood and, at z, the posterior of f by Cholesky factors.
func (c *exposureCase) dense(t *testing.T, m gppl.Model, z []float64) (value float64, mean, variance []float64) {
	t.Helper()
	n, k := c.data.Len(), len(m.Channels)
	a, h := mat.NewSymDense(n, nil), mat.NewDense(n, k, nil)
	cov := func(i int, s float64) float64 {
		return m.Channels[c.channel[i]].Value * averaged(m.Kernel, s, 0, c.data.X.At(i)[0], c.exposure[i])
	}
	for i := range n {
		h.Set(i, c.channel[i], 1)
		for j := range i + 1 {
			v := averaged(m.Kernel, c.data.X.At(i)[0], c.exposure[i], c.data.X.At(j)[0], c.exposure[j])
			if i == j {
				v = averaged(m.Kernel, 0, c.exposure[i], 0, c.exposure[i])
			}
			a.SetSym(i, j, v*m.Channels[c.channel[i]].Value*m.Channels[c.channel[j]].Value)
		}
		noise := m.Channels[c.channel[i]].Noise
		if c.data.Relative != nil {
			noise *= c.data.Relative[i] * c.data.Relative[i]
		}
		if c.data.Errors != nil {
			noise += c.data.Errors[i] * c.data.Errors[i]
		}
		a.SetSym(i, i, a.At(i, i)+noise)
	}
	var root, info mat.Cholesky
	if !root.Factorize(a) {
		t.Fatal("A is not positive definite")
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var solved, w, gram mat.Dense
	must(root.SolveTo(&solved, h))
	w.Mul(h.T(), &solved)
	gram.Mul(h.T(), h)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			sym.SetSym(i, j, w.At(i, j))
		}
		value -= 0.5 * math.Log(gram.At(i, i))
	}
	info.Factorize(sym)
	y := mat.NewVecDense(n, c.data.Y)
	var right, beta, rest, alpha mat.VecDense
	right.MulVec(solved.T(), y)
	must(info.SolveVecTo(&beta, &right))
	rest.MulVec(h, &beta)
	rest.SubVec(y, &rest)
	must(root.SolveVecTo(&alpha, &rest))
	value += 0.5 * (mat.Dot(&rest, &alpha) + root.LogDet() + info.LogDet() + float64(n-k)*math.Log(2*math.Pi))
	for _, s := range z {
		cross := mat.NewVecDense(n, nil)
		for i := range n {
			cross.SetVec(i, cov(i, s))
		}
		var u, r, q mat.VecDense
		must(root.SolveVecTo(&u, cross))
		r.MulVec(solved.T(), cross)
		must(info.SolveVecTo(&q, &r))
		mean = append(mean, mat.Dot(cross, &alpha))
		variance = append(variance, jet(m.Kernel, 0)[0]-mat.Dot(cross, &u)+mat.Dot(&r, &q))
	}
	return value, mean, variance
}

// TestExposures compares values, gradients and posteriors, within exposures and between them, with double integrals of the
// covariance.
func TestExposures(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	kernels := append(channelKernels(), gppl.Laplace{Variance: 1, Lengthscale: 1.5})
	for trial := range testkit.Size(len(kernels), 4*len(kernels), 20*len(kernels)) {
		c := randomExposures(rnd, kernels[trial%len(kernels)])
		t.Run(fmt.Sprintf("%d/%T", trial, c.model.Kernel), func(t *testing.T) {
			loss, err := gppl.NewExact(t.Context(), c.model, viewed(c.data, c.channel, c.exposure))
			if err != nil {
				t.Fatal(err)
			}
			theta := gppl.Values(loss.Params())
			grad := make([]float64, len(theta))
			got, err := loss.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Fatal(err)
			}
			z := []float64{-4, c.data.X.At(0)[0], c.data.X.At(5)[0] + 0.3*c.exposure[5], c.data.X.At(7)[0] + 0.5*c.exposure[7]}
			for range 6 {
				z = append(z, 14*rnd.Float64())
			}
			value, mean, variance := c.dense(t, c.model, z)
			n := float64(c.data.Len())
			if !(math.Abs(got-value) <= 1e-8*(n+math.Abs(value))) {
				t.Fatalf("value %v, want %v", got, value)
			}
			for i := range theta {
				if loss.Params()[i].IsFixed() {
					continue
				}
				want := fd.Derivative(func(u float64) float64 {
					moved := slices.Clone(theta)
					moved[i] = u
					v, err := loss.ValueGrad(t.Context(), nil, moved)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}, theta[i], &fd.Settings{Formula: fd.Central, Step: 1e-5 * max(0.1, math.Abs(theta[i]))})
				if !(math.Abs(grad[i]-want) <= 1e-5*(1+math.Abs(want)+n)) {
					t.Errorf("derivative in %s: %v, want %v", loss.Params()[i].Name, grad[i], want)
				}
			}
			p, err := gppl.NewPosterior(t.Context(), c.model, viewed(c.data, c.channel, c.exposure))
			if err != nil {
				t.Fatal(err)
			}
			m, v, err := p.Latent(t.Context(), gppl.Scalars(z))
			if err != nil {
				t.Fatal(err)
			}
			prior := jet(c.model.Kernel, 0)[0]
			for i := range z {
				if math.Abs(m[i]-mean[i]) > 1e-6*(1+math.Abs(mean[i])) || math.Abs(v[i]-variance[i]) > 1e-6*prior {
					t.Errorf("f at %v: %v ± %v, want %v ± %v", z[i], m[i], v[i], mean[i], variance[i])
				}
			}
		})
	}
}

// TestExposuresErrors: derivatives, lengths that are none and more exposures at the same time than a state has room for are refused
// by name; rounded times and overlaps are not.
func TestExposuresErrors(t *testing.T) {
	d := gppl.Data{X: gppl.Scalars([]float64{0, 1, 2, 3}), Y: []float64{1, 2, 0, 1}}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 1},
		Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: 1}}}
	sloped := m
	sloped.Channels = []gppl.Channel{{Name: "A", Value: 1, Slope: 1, Noise: 1}}
	for _, c := range []struct {
		m        gppl.Model
		exposure []float64
		want     string
	}{
		{m, []float64{1, 1.004, 1, 1}, ""},
		{m, []float64{1, 1, 1.5, 1}, ""},
		{m, []float64{0, 0, 3, 0}, ""},
		{m, []float64{1, -1, 1, 1}, "exposure[1] = -1"},
		{m, []float64{1, math.NaN(), 1, 1}, "exposure[1] = NaN"},
		{sloped, []float64{1, 1, 1, 1}, `channel "A" sees the derivative`},
	} {
		l, err := gppl.NewExact(t.Context(), c.m, viewed(d, make([]int, 4), c.exposure))
		if err == nil {
			_, err = l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.exposure, err, c.want)
		}
	}
	const n = 300
	x, exposure := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], exposure[i] = float64(i), n
	}
	l, err := gppl.NewExact(t.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: x}, make([]int, n), exposure))
	if err == nil {
		_, err = l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
	}
	if err == nil || !strings.Contains(err.Error(), "up to 300 exposures overlap") {
		t.Error(err)
	}
}

// BenchmarkExposures is a value and gradient with one exposure for all, one after another.
func BenchmarkExposures(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, k := range []gppl.Kernel{gppl.SHO{Variance: 1, Period: 9, Quality: 4},
		gppl.Rotation{Variance: 2, Period: 30, Quality: 1.2, Difference: 0.4, Mix: 0.6}} {
		const n = 3319
		x, y, exposure := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i], exposure[i] = float64(i), rnd.NormFloat64(), 0.9
		}
		m := gppl.Model{Kernel: k, Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: 0.1}}}
		loss, err := gppl.NewExact(b.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, make([]int, n), exposure))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("n=%d/kernel=%T", n, k), func(b *testing.B) { benchmarkLoss(b, loss) })
	}
}

// TestExposuresLong: exposures from 1e-6 to 1e6 lengthscales long, one after another, overlapping and within one another, against
// ∫∫k = K₂(d − a) − K₂(d − b) − K₂(c − a) + K₂(c − b) over [a, b] and [c, d], K₂″ = k.
func TestExposuresLong(t *testing.T) {
	const v, l, noise = 1.7, 1e-2, 0.01
	rate := math.Sqrt(3) / l
	twice := func(r float64) float64 {
		r = rate * math.Abs(r)
		if r < 1 { // Σ (−1)ʲ(1 − j)r^(j+2)/(j!(j+1)(j+2)), of k = Σ (−1)ʲ(1 − j)rʲ/j!
			sum, term := 0., r*r
			for j := 0.; j < 30; j++ {
				sum += (1 - j) * term / ((j + 1) * (j + 2))
				term *= -r / (j + 1)
			}
			return v * sum / (rate * rate)
		}
		return v * (2*r - 3 + math.Exp(-r)*(r+3)) / (rate * rate)
	}
	average := func(x, d, z, e float64) float64 {
		a, b, c, f := x-d/2, x+d/2, z-e/2, z+e/2
		return (twice(f-a) - twice(f-b) - twice(c-a) + twice(c-b)) / (d * e)
	}
	for _, ratio := range []float64{1e-3, 0.1, 3, 50, 3.3e3, 5e4, 1e6} {
		d := ratio * l
		for name, x := range map[string][]float64{"apart": {0, 3 * d, 9 * d}, "touching": {0, d, 2 * d}, "overlapping": {0, 0.4 * d, 1.3 * d},
			"the same": {d, d, d}} {
			exposure := []float64{d, d, 2 * d}
			if name == "touching" {
				exposure[2] = d
			}
			y := []float64{0.3, -0.5, 0.1}
			m := gppl.Model{Kernel: gppl.Matern32{Variance: v, Lengthscale: l},
				Channels: []gppl.Channel{{Name: "A", Value: 1, Noise: noise}}}
			loss, err := gppl.NewExact(t.Context(), m, viewed(gppl.Data{X: gppl.Scalars(x), Y: y}, make([]int, 3), exposure))
			if err != nil {
				t.Fatal(err)
			}
			got, err := loss.ValueGrad(t.Context(), nil, gppl.Values(loss.Params()))
			if err != nil {
				t.Fatal(err)
			}
			// Two contrasts that are free of the offset.
			contrasts := [2][3]float64{{math.Sqrt(0.5), -math.Sqrt(0.5), 0}, {math.Sqrt(1. / 6), math.Sqrt(1. / 6), -math.Sqrt(4. / 6)}}
			a, z := mat.NewSymDense(2, nil), mat.NewVecDense(2, nil)
			for p := range 2 {
				for q := range p + 1 {
					sum := 0.
					for i := range 3 {
						for j := range 3 {
							cov := average(x[i], exposure[i], x[j], exposure[j])
							if i == j {
								cov += noise
							}
							sum += contrasts[p][i] * contrasts[q][j] * cov
						}
					}
					a.SetSym(p, q, sum)
				}
				z.SetVec(p, contrasts[p][0]*y[0]+contrasts[p][1]*y[1]+contrasts[p][2]*y[2])
			}
			var root mat.Cholesky
			var u mat.VecDense
			if !root.Factorize(a) {
				t.Fatal("not positive definite")
			}
			if err := root.SolveVecTo(&u, z); err != nil {
				t.Fatal(err)
			}
			want := 0.5*(root.LogDet()+mat.Dot(z, &u)) + math.Log(2*math.Pi)
			if !(math.Abs(got-want) < 1e-6) {
				t.Errorf("%g lengthscales, %s: %v, want %v", ratio, name, got, want)
			}
		}
	}
}
