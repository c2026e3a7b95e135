package gppl_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
)

// denseGram returns K, n×n.
func denseGram(k gppl.Kernel, x gppl.Inputs) *mat.SymDense {
	n := x.Len()
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			r := []float64{math.Abs(x.At(i)[0] - x.At(j)[0])}
			k.Cov(r, r)
			if i == j {
				r[0] += capability.Nugget(k)
			}
			g.SetSym(i, j, r[0])
		}
	}
	return g
}

// complement returns an orthonormal basis of what is orthogonal to Ω, n×(n−k).
func complement(omega *mat.Dense) *mat.Dense {
	n, k := omega.Dims()
	var qr mat.QR
	qr.Factorize(omega)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, n, k, n))
}

func TestResidual(t *testing.T) {
	t.Parallel()
	const n, k = 150, 40
	data := randomData(t, n, 1, 7)
	distinct := data.Pick(indices(n - 1)) // the last point repeats the first
	for i, kernel := range kernels() {
		for j, design := range []gppl.Design{gppl.Sphere{}, gppl.Spectral{}} {
			if testkit.Quick() && (i+j)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%v/%v", kernel, design), func(t *testing.T) {
				m := gppl.Model{Kernel: kernel, Noise: 0.2}
				p := testkit.Must(gppl.NewProjection(t.Context(), design, data.X, k, 3))(t)
				l := testkit.Must(gppl.NewResidual(t.Context(), m, data, p))(t)
				gppltest.CheckLoss(t, l)

				// The same with a basis of the complement.
				pl, _ := valueAt(t, testkit.Must(gppl.NewProjected(t.Context(), m, data, p))(t))
				q := complement(testkit.Must(p.Omega(t.Context()))(t))
				var rest mat.VecDense
				rest.MulVec(q.T(), mat.NewVecDense(n, data.Y))
				var kq, qkq mat.Dense
				kq.Mul(denseGram(kernel, data.X), q)
				qkq.Mul(q.T(), &kq)
				tau := 0.2 + mat.Trace(&qkq)/(n-k)
				want := pl + 0.5*((n-k)*math.Log(2*math.Pi*tau)+mat.Dot(&rest, &rest)/tau)
				got, grad := valueAt(t, l)
				if relative(got, want) > 1e-10 {
					t.Errorf("PL + residual is %v, want %v", got, want)
				}
				dense, denseGrad := valueAt(t, testkit.Must(gppl.NewResidual(t.Context(), m, data, p, gppl.WithEngine(gppl.EngineDense)))(t))
				if relative(got, dense) > 1e-9 {
					t.Errorf("%v by %s, %v densely", got, l.Report().Engine, dense)
				}
				for i := range grad {
					if relative(grad[i], denseGrad[i]) > 1e-6 {
						t.Errorf("∂ %v by %s, %v densely", grad, l.Report().Engine, denseGrad)
					}
				}
			})
		}
		t.Run(kernel.String()+"/k=n", func(t *testing.T) {
			m := gppl.Model{Kernel: kernel, Noise: 0.3}
			exact, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), m, distinct))(t))
			p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, distinct.X, distinct.Len(), 5))(t)
			if all, _ := valueAt(t, testkit.Must(gppl.NewResidual(t.Context(), m, distinct, p))(t)); relative(all, exact) > 1e-9 {
				t.Errorf("PL + residual with k = n is %v, exact %v", all, exact)
			}
		})
	}
}

// TestResidualUnbiased computes the expected score exactly: it is c + q(y) with a
// quadratic form q, so that E q(y) = Σ_i q(Le_i) for A = LLᵀ.
func TestResidualUnbiased(t *testing.T) {
	const n, k = 40, 9
	x := uniform(n, 12, 3)
	m := gppl.Model{Kernel: gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 1.5}, gppl.White{Variance: 0.2}), Noise: 0.1}
	a := denseGram(m.Kernel, x)
	for i := range n {
		a.SetSym(i, i, a.At(i, i)+m.Noise)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		t.Fatal("A is not positive definite")
	}
	var l mat.TriDense
	c.LTo(&l)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, x, k, 3))(t)
	score := func(y []float64) []float64 {
		d := testkit.Must(gppl.NewData(x, y))(t)
		_, g := valueAt(t, testkit.Must(gppl.NewResidual(t.Context(), m, d, p))(t))
		return g
	}
	at0 := score(make([]float64, n))
	sum := append([]float64(nil), at0...)
	size := make([]float64, len(sum))
	for i := range n {
		for j, g := range score(mat.Col(nil, i, &l)) {
			sum[j] += g - at0[j]
			size[j] += math.Abs(g - at0[j])
		}
	}
	for j, s := range sum {
		if !(math.Abs(s) <= 1e-10*size[j]) {
			t.Errorf("expected score %d is %v, of terms that sum to %v", j, s, size[j])
		}
	}
}

func TestResidualRefusesRaw(t *testing.T) {
	d := randomData(t, 30, 1, 1)
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Raw{Design: gppl.Sphere{}}, d.X, 5, 1))(t)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}
	if _, err := gppl.NewResidual(t.Context(), m, d, p); err == nil || !strings.Contains(err.Error(), "orthonormal") {
		t.Errorf("got %v, want an error that asks for orthonormal directions", err)
	}
}

// TestInformation compares with ½tr(S⁻¹∂S·S⁻¹∂S), ∂S by central differences of
// dense Gram matrices, with and without the residual.
func TestInformation(t *testing.T) {
	const n, k = 90, 20
	data := randomData(t, n, 1, 5)
	for _, kernel := range kernels() {
		t.Run(kernel.String(), func(t *testing.T) {
			m := gppl.Model{Kernel: kernel, Noise: 0.2}
			p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Spectral{}, data.X, k, 3))(t)
			q := complement(testkit.Must(p.Omega(t.Context()))(t))
			theta := gppl.Values(m.Params())
			project := func(theta []float64) (s *mat.Dense, tau float64) {
				m := m.WithParams(theta)
				a := denseGram(m.Kernel, data.X)
				for i := range n {
					a.SetSym(i, i, a.At(i, i)+m.Noise)
				}
				var ao, aq, qaq mat.Dense
				s = new(mat.Dense)
				ao.Mul(a, testkit.Must(p.Omega(t.Context()))(t))
				s.Mul(testkit.Must(p.Omega(t.Context()))(t).T(), &ao)
				aq.Mul(a, q)
				qaq.Mul(q.T(), &aq)
				return s, mat.Trace(&qaq) / (n - k)
			}
			const h = 1e-5
			s, tau := project(theta)
			var scaled []*mat.Dense // S⁻¹∂S
			var logTau []float64
			for a := range theta {
				at := append([]float64(nil), theta...)
				at[a] = theta[a] * math.Exp(h)
				plus, tauPlus := project(at)
				at[a] = theta[a] * math.Exp(-h)
				minus, tauMinus := project(at)
				plus.Sub(plus, minus)
				plus.Scale(1/(2*h), plus)
				var d mat.Dense
				if err := d.Solve(s, plus); err != nil {
					t.Fatal(err)
				}
				scaled = append(scaled, &d)
				logTau = append(logTau, (tauPlus-tauMinus)/(2*h*tau))
			}
			for _, c := range []struct {
				make     func(context.Context, gppl.Model, gppl.Data, *gppl.Projection, ...gppl.Option) (*gppl.Projected, error)
				residual float64
			}{{gppl.NewProjected, 0}, {gppl.NewResidual, 1}} {
				l := testkit.Must(c.make(t.Context(), m, data, p))(t)
				got := testkit.Must(l.Information(t.Context(), theta))(t)
				for a := range theta {
					for b := range theta {
						var prod mat.Dense
						prod.Mul(scaled[a], scaled[b])
						want := 0.5*mat.Trace(&prod) + c.residual*0.5*(n-k)*logTau[a]*logTau[b]
						if scale := math.Sqrt(got.At(a, a) * got.At(b, b)); math.Abs(got.At(a, b)-want) > 1e-4*scale {
							t.Errorf("%v: I[%d][%d] = %v, want %v", l, a, b, got.At(a, b), want)
						}
					}
				}
			}
		})
	}
}
