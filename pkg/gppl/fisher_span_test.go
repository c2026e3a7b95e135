package gppl_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// nearly returns k columns of n rows that differ by noise of the size apart.
func nearly(n, k int, apart float64, rnd *rand.Rand) *mat.Dense {
	omega := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			omega.Set(i, j, math.Sin(7*float64(i)/30)+apart*rnd.NormFloat64())
		}
	}
	return omega
}

// orthonormal returns the Q of the QR factorisation of omega, orthonormalised twice.
func orthonormal(omega *mat.Dense) *mat.Dense {
	n, k := omega.Dims()
	q := mat.DenseCopyOf(omega)
	for range 2 {
		var qr mat.QR
		qr.Factorize(q)
		var full mat.Dense
		qr.QTo(&full)
		q = mat.DenseCopyOf(full.Slice(0, n, 0, k))
	}
	return q
}

// TestInformationOfSpan: six columns that are nearly one have the information of an orthonormal basis of their span.
func TestInformationOfSpan(t *testing.T) {
	x := timeline.Steps(30)
	info := testkit.Must(fisher.New(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.01}, gppl.Scalars(x)))(t)
	for _, apart := range []float64{1e-3, 1e-5, 1e-7, 1e-9} {
		omega := nearly(30, 6, apart, rand.New(rand.NewPCG(1, 2)))
		want := testkit.Must(info.Projected(t.Context(), gppl.ProjectionOf(orthonormal(omega))))(t)
		got, err := info.Projected(t.Context(), gppl.ProjectionOf(omega))
		if err != nil {
			t.Logf("%g apart: %v", apart, err)
			if apart >= 1e-7 {
				t.Error("an error")
			}
			continue
		}
		if !mat.EqualApprox(got, want, 1e-4) {
			t.Errorf("%g apart: information\n%v, want\n%v", apart, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// TestInformationInvariance: over spans of condition 1 to 1e14, the information does not change with Ω → ΩR, and is at most that
// of the data, or is an error; what PL says of it, its own standard errors too, agrees, and PL moves by log|det R|.
func TestInformationInvariance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	lost := 0
	for i := range 200 {
		n := 12 + rnd.IntN(40)
		k := 1 + rnd.IntN(n/2)
		x := make([]float64, n)
		y := make([]float64, n)
		for j := range x {
			x[j] = 30 * rnd.Float64()
			y[j] = rnd.NormFloat64()
		}
		noise := math.Pow(10, -4*rnd.Float64())
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1 + 5*rnd.Float64()}, Noise: noise}
		if i%3 == 0 {
			m.Kernel = gppl.Matern32{Variance: 1, Lengthscale: 2}
		}
		if i%5 == 0 {
			m.Mean = gppl.Intercept{}
		}
		info := testkit.Must(fisher.New(t.Context(), m, gppl.Scalars(x)))(t)
		basis := mat.NewDense(n, k, nil)
		for a := range n {
			for b := range k {
				basis.Set(a, b, rnd.NormFloat64())
			}
		}
		basis = orthonormal(basis)
		condition := math.Pow(10, 14*rnd.Float64())
		r := mat.NewDense(k, k, nil)
		for a := range k {
			for b := range k {
				r.Set(a, b, rnd.NormFloat64())
			}
		}
		r = orthonormal(r)
		for a := range k { // singular values from 1 down to 1/condition
			s := math.Pow(condition, -float64(a)/float64(max(1, k-1)))
			for b := range k {
				r.Set(a, b, s*r.At(a, b))
			}
		}
		var omega mat.Dense
		omega.Mul(basis, r)
		want, errBasis := info.Projected(t.Context(), gppl.ProjectionOf(basis))
		got, err := info.Projected(t.Context(), gppl.ProjectionOf(&omega))
		if errBasis != nil {
			if m.Mean == nil {
				t.Errorf("case %d: an orthonormal Ω: %v", i, errBasis)
			}
			continue
		}
		if err != nil {
			if lost++; condition*math.Sqrt(float64(n)/noise) < 1e10 {
				t.Errorf("case %d, condition %.2g: %v", i, condition, err)
			}
			continue
		}
		all := info.Data()
		var gap mat.SymDense
		gap.ScaleSym(-1, got)
		gap.AddSym(all, &gap)
		var e mat.EigenSym
		e.Factorize(&gap, false)
		if least := e.Values(nil)[0]; least < -1e-7*mat.Norm(all, 2) {
			t.Errorf("case %d, condition %.2g: I_Y − I_Z has the eigenvalue %v, I_Y is %v", i, condition, least, mat.Formatted(all))
		}
		limit := (1e-9 + 1e-15*condition*math.Sqrt(float64(n)/noise)) * mat.Norm(all, 2)
		if !mat.EqualApprox(got, want, limit) {
			t.Errorf("case %d, condition %.2g: information\n%v, want\n%v", i, condition, mat.Formatted(got), mat.Formatted(want))
		}
		if m.Mean != nil {
			continue
		}
		pl := testkit.Must(gppl.NewProjected(t.Context(), m, gppl.Data{X: gppl.Scalars(x), Y: y}, gppl.ProjectionOf(&omega)))(t)
		ofBasis := testkit.Must(gppl.NewProjected(t.Context(), m, gppl.Data{X: gppl.Scalars(x), Y: y}, gppl.ProjectionOf(basis)))(t)
		theta := []float64{1, m.Kernel.Params()[1].Value, noise}
		theta[0], theta[1] = m.Kernel.Params()[0].Value, m.Kernel.Params()[1].Value
		own, err := pl.Information(t.Context(), theta)
		if err != nil {
			t.Errorf("case %d, condition %.2g: PL: %v", i, condition, err)
		} else if !mat.EqualApprox(own, want, limit+1e-6*mat.Norm(all, 2)) {
			t.Errorf("case %d, condition %.2g: PL's information\n%v, want\n%v", i, condition, mat.Formatted(own), mat.Formatted(want))
		}
		value, err := pl.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Error(err)
			continue
		}
		wantValue, err := ofBasis.ValueGrad(t.Context(), nil, theta)
		if err != nil {
			t.Error(err)
			continue
		}
		logDet, _ := mat.LogDet(r)
		if off := math.Abs(value - wantValue - logDet); off > 1e-7*(1+math.Abs(value))+1e-14*condition*float64(n)/noise {
			t.Errorf("case %d, condition %.2g: PL is %v, want %v", i, condition, value, wantValue+logDet)
		}
	}
	t.Logf("%d of 200 are lost in rounding", lost)
}

// TestRoundingDecides: where x is clustered and k is near n, rounding would decide directions of Spectral.
func TestRoundingDecides(t *testing.T) {
	x := make([]float64, 40)
	for i := range x {
		x[i] = 100*float64(i%4) + 1e-3*float64(i)
	}
	refused := false
	for k := 1; k < len(x); k++ {
		p, err := gppl.NewProjection(t.Context(), gppl.Spectral{Stretch: 1.08}, gppl.Scalars(x), k, 1)
		if err != nil {
			refused = true
			continue
		}
		if refused {
			t.Errorf("k = %d is accepted, and fewer are not", k)
		}
		// Moving the inputs by their rounding does not turn the span.
		moved := make([]float64, len(x))
		for i, v := range x {
			moved[i] = v * (1 + 0x1p-52*float64(i%3-1))
		}
		q := testkit.Must(gppl.NewProjection(t.Context(), gppl.Spectral{Stretch: 1.08}, gppl.Scalars(moved), k, 1))(t)
		var along mat.Dense
		along.Mul(testkit.Must(p.Omega(t.Context()))(t).T(), testkit.Must(q.Omega(t.Context()))(t))
		var svd mat.SVD
		svd.Factorize(&along, mat.SVDNone)
		if least := svd.Values(nil)[k-1]; least < 0.99 {
			t.Errorf("k = %d: the span turns by %v with the rounding of x", k, math.Acos(least))
		}
	}
	if !refused {
		t.Error("every k is accepted")
	}
}
