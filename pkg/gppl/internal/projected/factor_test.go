package projected

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// random returns rows×cols normal numbers.
func random(rnd *rand.Rand, rows, cols int) blas64.General {
	a := dense.New(rows, cols)
	for i := range a.Data {
		a.Data[i] = rnd.NormFloat64()
	}
	return a
}

// square returns AᵀA.
func square(a blas64.General) blas64.General {
	return dense.ProductWithin(context.Background(), blas.Trans, a, a)
}

// TestFactor compares the value of a likelihood with its formula, by another factorisation, and derivatives in σ², in S₀ and in
// k(0) with differences of the value, with and without uneven noise and a residual.
func TestFactor(t *testing.T) {
	const n, k = 40, 5
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, uneven := range []bool{false, true} {
		for _, residual := range []bool{false, true} {
			d := &Data{Directions: Directions{N: n, K: k}, Z: random(rnd, k, 1), LogDet: 0.3}
			if uneven {
				d.OtO, d.Known = square(random(rnd, 2*k, k)).Data, square(random(rnd, k, k)).Data
			}
			if residual {
				d.Residual = &Residual{N: n, DoF: n - k, Share: 1, known: 0.1, Energy: dense.AsColumn([]float64{30})}
				if uneven {
					d.Residual.Share = 0.8
				}
			}
			s0, direction := square(random(rnd, 2*k, k)), square(random(rnd, k, k))
			at := func(noise, along, prior float64) (float64, *Factor) {
				f := new(Factor)
				f.Init(d)
				for i, v := range s0.Data {
					f.S0[i] = v + along*direction.Data[i]
				}
				if _, err := f.Factorise(noise, 1); err != nil {
					t.Fatal(err)
				}
				if err := f.Remainder(prior); err != nil {
					t.Fatal(err)
				}
				f.Solve()
				f.R.Data[0] = 1
				logDet, _ := f.LogDet()
				f.Complete()
				return 0.5 * (f.All.Data[0] + logDet), f
			}
			const noise, prior, h = 0.7, 100, 1e-5
			value, f := at(noise, 0, prior)

			s := mat.NewSymDense(k, nil)
			for i := range k {
				for j := range i + 1 {
					s.SetSym(i, j, s0.Data[i*k+j])
					switch {
					case uneven:
						s.SetSym(i, j, s.At(i, j)+noise*d.OtO[i*k+j]+d.Known[i*k+j])
					case i == j:
						s.SetSym(i, j, s.At(i, j)+noise)
					}
				}
			}
			var c mat.Cholesky
			var solved mat.VecDense
			z := mat.NewVecDense(k, d.Z.Data)
			if !c.Factorize(s) || c.SolveVecTo(&solved, z) != nil {
				t.Fatal("S is singular")
			}
			want := 0.5 * (mat.Dot(z, &solved) + c.LogDet() + 2*d.LogDet)
			if r := d.Residual; residual {
				tau := r.Share*noise + 0.1 + (prior-dense.Trace(s0))/(n-k)
				want += 0.5 * ((n-k)*math.Log(tau) + r.Energy.Data[0]/tau)
			}
			if math.Abs(value-want) > 1e-12*math.Abs(want) {
				t.Errorf("uneven %v, residual %v: the value is %v, want %v", uneven, residual, value, want)
			}

			ofNoise := dense.New(k, k) // ∂S
			f.AddNoise(ofNoise, 1)
			inNoise, inPrior := f.Weigh()
			for _, c := range []struct {
				what               string
				got, tau           float64 // derivatives of the value and of τ
				noise, along, more float64
			}{
				{"the noise", inNoise, f.RemainderSlope(ofNoise, 1, 0), h, 0, 0},
				{"S₀", 0.5 * blas64.Dot(dense.Vec(f.V.Data), dense.Vec(direction.Data)), f.RemainderSlope(direction, 0, 0), 0, h, 0},
				{"n·k(0)", 0.5 * inPrior / n, f.RemainderSlope(dense.New(k, k), 0, 1), 0, 0, h},
			} {
				up, above := at(noise+c.noise, c.along, prior+c.more)
				down, below := at(noise-c.noise, -c.along, prior-c.more)
				if want := (above.Tau - below.Tau) / (2 * h); math.Abs(c.tau-want) > 1e-9*(1+math.Abs(want)) {
					t.Errorf("uneven %v, residual %v: the derivative of τ in %s is %v, by differences %v", uneven, residual, c.what, c.tau, want)
				}
				if want := (up - down) / (2 * h); math.Abs(c.got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("uneven %v, residual %v: the derivative in %s is %v, by differences %v", uneven, residual, c.what, c.got, want)
				}
			}
		}
	}
}
