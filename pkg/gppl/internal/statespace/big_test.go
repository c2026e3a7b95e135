package statespace

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

const prec = 220

func bf(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func zero() *big.Float        { return new(big.Float).SetPrec(prec) }

// bigExp returns e^x, by halving x until Taylor's series is short.
func bigExp(x *big.Float) *big.Float {
	if v, _ := x.Float64(); v < -400 {
		return zero()
	}
	const halvings = 20
	r := zero().SetMantExp(x, -halvings)
	sum, term := bf(1), bf(1)
	for k := 1; k < 14; k++ {
		term.Mul(term, r)
		term.Quo(term, bf(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigNLL is the value and gradient in 220 bits, from dense matrices.
func bigNLL(t, y []float64, cs []component, noise float64) (float64, []float64) {
	n := len(t)
	square := func() [][]*big.Float {
		m := make([][]*big.Float, n)
		for i := range m {
			m[i] = make([]*big.Float, n)
			for j := range m[i] {
				m[i][j] = zero()
			}
		}
		return m
	}
	a := square()
	var parts [][][]*big.Float
	for _, c := range cs {
		k, s := square(), square()
		rate := bf(float64(2*c.Order + 1))
		rate.Sqrt(rate)
		rate.Quo(rate, bf(c.Lengthscale))
		for i := range n {
			for j := range i + 1 {
				x := zero().Sub(bf(t[i]), bf(t[j]))
				x.Mul(x, rate)
				e := bigExp(zero().Neg(x))
				e.Mul(e, bf(c.Variance))
				kv, sv := bf(1), zero().Set(x)
				switch c.Order {
				case 1:
					kv.Add(kv, x)
					sv.Mul(x, x)
				case 2:
					x2 := zero().Mul(x, x)
					x2.Quo(x2, bf(3))
					kv.Add(kv, x)
					sv.Mul(kv, x2)
					kv.Add(kv, x2)
				}
				k[i][j].Mul(kv, e)
				s[i][j].Mul(sv, e)
				k[j][i], s[j][i] = k[i][j], s[i][j]
				a[i][j].Add(a[i][j], k[i][j])
			}
		}
		parts = append(parts, k, s)
	}
	eye := square()
	for i := range n {
		eye[i][i] = bf(noise)
		a[i][i].Add(a[i][i], eye[i][i])
	}
	parts = append(parts, eye)
	// Invert in place by Gauss and Jordan without pivots: the pivots' product is |A|.
	inv := square()
	for i := range n {
		for j := range n {
			inv[i][j].Set(a[max(i, j)][min(i, j)])
		}
	}
	logDet := 0.0
	tmp := zero()
	for p := range n {
		v, _ := inv[p][p].Float64()
		logDet += math.Log(v)
		piv := zero().Quo(bf(1), inv[p][p])
		inv[p][p].SetInt64(1)
		for j := range n {
			inv[p][j].Mul(inv[p][j], piv)
		}
		for i := range n {
			if i == p {
				continue
			}
			w := zero().Set(inv[i][p])
			inv[i][p].SetInt64(0)
			for j := range n {
				inv[i][j].Sub(inv[i][j], tmp.Mul(w, inv[p][j]))
			}
		}
	}
	alpha := make([]*big.Float, n)
	quad := zero()
	for i := range n {
		alpha[i] = zero()
		for j := range n {
			alpha[i].Add(alpha[i], tmp.Mul(inv[i][j], bf(y[j])))
		}
		quad.Add(quad, tmp.Mul(alpha[i], bf(y[i])))
	}
	var grad []float64
	for _, part := range parts {
		g := zero()
		for i := range n {
			for j := range n {
				tmp.Mul(alpha[i], alpha[j])
				tmp.Sub(inv[i][j], tmp)
				g.Add(g, tmp.Mul(tmp, part[i][j]))
			}
		}
		v, _ := g.Float64()
		grad = append(grad, v/2)
	}
	q, _ := quad.Float64()
	return 0.5 * (q + logDet + float64(n)*math.Log(2*math.Pi)), grad
}

// promise is the bound on rounding errors that the documentation of Filter states.
func promise(f *Filter, cs []component, noise, quad float64) float64 {
	n := float64(len(f.t))
	return eps * ((n+quad)*math.Sqrt(1+total(cs)/noise) + math.Sqrt(n)*(quad+math.Abs(f.LogDet())))
}

// TestAccuracy holds the filter to its promise, by 220-bit arithmetic, and logs what
// dense float64 algebra reaches.
func TestAccuracy(t *testing.T) {
	if testkit.Quick() {
		t.Skip("slow")
	}
	for name, cs := range sums {
		for _, lay := range layouts {
			t.Run(name+"/"+lay.name, func(t *testing.T) {
				n := testkit.Size(0, 24, 40)
				rnd := rand.New(rand.NewPCG(3, 4))
				var w, d [4]float64 // worst errors: relative, and in units of the promise
				for _, l := range []float64{1e-2, 1, 1e4} {
					for _, noise := range []float64{1e-12, 1e-6, 1e-2} {
						x := sorted(lay.draw(rnd, n))
						cs := scaled(cs, l)
						y := drawY(rnd, x, cs, noise)
						want, wantGrad := bigNLL(x, y, cs, noise)

						grad, alpha := make([]float64, 2*len(cs)+1), make([]float64, n)
						f := NewFilter(x, nil)
						got, err := f.NLL(grad, y, cs, noise)
						if err != nil {
							t.Fatal(err)
						}
						f.Solve(alpha, y)
						promise := promise(f, cs, noise, dot(y, alpha))
						record := func(w *[4]float64, got float64, grad []float64) {
							dv, dg := math.Abs(got-want), maxDiff(grad, wantGrad)
							w[0], w[1] = max(w[0], dv/(1+math.Abs(want))), max(w[1], dv/promise)
							w[2], w[3] = max(w[2], dg/(1+maxNorm(wantGrad))), max(w[3], dg/promise)
						}
						record(&w, got, grad)
						if ds, ok := denseNLL(x, y, cs, noise); ok {
							record(&d, ds.nll, ds.grad)
						}
					}
				}
				const format = "%s: value off by %.1e, %.2f of the promise; gradient by %.1e, %.2f of it"
				t.Logf(format, "filter", w[0], w[1], w[2], w[3])
				t.Logf(format, "dense", d[0], d[1], d[2], d[3])
				if w[1] > 1 || w[3] > 4 {
					t.Error("promise broken")
				}
			})
		}
	}
}

// TestLongChains compares with the same data in reversed time, which rounds
// differently, where no other algorithm goes.
func TestLongChains(t *testing.T) {
	n := testkit.Size(10_000, 30_000, 100_000)
	rnd := rand.New(rand.NewPCG(17, 18))
	x := sorted(uniform(rnd, n))
	mx, my := make([]float64, n), make([]float64, n)
	for name, cs := range sums {
		for _, l := range []float64{1e-5, 1e-2, 10} {
			for _, noise := range []float64{1e-8, 0.1} {
				cs := scaled(cs, l)
				y := drawY(rnd, x, cs, noise)
				for i := range x {
					mx[n-1-i], my[n-1-i] = -x[i], y[i]
				}
				grad, mirrored, alpha := make([]float64, 2*len(cs)+1), make([]float64, 2*len(cs)+1), make([]float64, n)
				f := NewFilter(x, nil)
				v, err := f.NLL(grad, y, cs, noise)
				if err != nil {
					t.Fatal(err)
				}
				f.Solve(alpha, y)
				w, err := NewFilter(mx, nil).NLL(mirrored, my, cs, noise)
				if err != nil {
					t.Fatal(err)
				}
				promise := promise(f, cs, noise, dot(y, alpha))
				dv, dg := math.Abs(v-w), maxDiff(grad, mirrored)
				t.Logf("%s l=%g noise=%g: values differ by %.1e, %.3f of the promise, gradients by %.1e, %.3f of it",
					name, l, noise, dv/math.Abs(v), dv/promise, dg/(1+maxNorm(grad)), dg/promise)
				if dv > promise || dg > 4*promise {
					t.Error("promise broken")
				}
			}
		}
	}
}
