package leaveout

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

const (
	n     = 40
	noise = 0.2
)

// problem is y with the covariance A = V + σ²I, and with flat columns H beside it.
type problem struct {
	a, signal *mat.SymDense
	h         *mat.Dense
	columns   blas64.General // y, then an orthonormal basis of H
	fit       *regress.Fit
	length    float64
}

func newProblem(t *testing.T, mean bool) *problem {
	rnd := rand.New(rand.NewPCG(4, 1))
	p := &problem{a: mat.NewSymDense(n, nil), signal: mat.NewSymDense(n, nil), columns: dense.New(n, 1)}
	for i := range n {
		p.columns.Data[i] = rnd.NormFloat64()
		for j := range i + 1 {
			r := 0.3 * float64(i-j)
			p.signal.SetSym(i, j, 1.5*math.Exp(-0.5*r*r))
			p.a.SetSym(i, j, p.signal.At(i, j))
		}
		p.a.SetSym(i, i, p.a.At(i, i)+noise)
	}
	var chol mat.Cholesky
	if !chol.Factorize(p.a) {
		t.Fatal("A is not positive definite")
	}
	if mean {
		p.h = mat.NewDense(n, 2, nil)
		for i := range n {
			p.h.Set(i, 0, 1)
			p.h.Set(i, 1, float64(i)/n)
		}
		basis, err := regress.NewBasis(t.Context(), p.h, []float64{math.Inf(1), math.Inf(1)})
		if err != nil {
			t.Fatal(err)
		}
		y := p.columns.Data
		p.columns = dense.New(n, 3)
		for i := range n {
			p.columns.Data[3*i] = y[i]
			copy(p.columns.Data[3*i+1:], basis.Q.RawRowView(i))
		}
		var solved, g mat.Dense
		c := mat.NewDense(n, 3, p.columns.Data)
		if err := chol.SolveTo(&solved, c); err != nil {
			t.Fatal(err)
		}
		g.Mul(c.T(), &solved)
		if p.fit, err = basis.NewFit(mat.NewSymDense(3, g.RawMatrix().Data), nil); err != nil {
			t.Fatal(err)
		}
		p.length = math.Sqrt(p.fit.Quad())
	}
	return p
}

// conditioned returns what the observations outside a block say of those in it, by their own covariance and least squares.
func (p *problem) conditioned(t *testing.T, block []int) (mean, variances []float64) {
	out := map[int]bool{}
	for _, i := range block {
		out[i] = true
	}
	var rest []int
	for i := range n {
		if !out[i] {
			rest = append(rest, i)
		}
	}
	pick := func(rows, cols []int) *mat.Dense {
		m := mat.NewDense(len(rows), len(cols), nil)
		for a, i := range rows {
			for b, j := range cols {
				m.Set(a, b, p.a.At(i, j))
			}
		}
		return m
	}
	y := mat.NewDense(len(rest), 1, nil)
	for a, i := range rest {
		y.Set(a, 0, p.columns.Data[i*p.columns.Stride])
	}
	var inverse, k, fitted, cov mat.Dense
	if err := inverse.Inverse(pick(rest, rest)); err != nil {
		t.Fatal(err)
	}
	k.Mul(pick(block, rest), &inverse)
	fitted.Mul(&k, y)
	cov.Mul(&k, pick(rest, block))
	cov.Sub(pick(block, block), &cov)
	if p.h != nil { // R = h* − KH, β = M⁻¹HᵀA⁻¹y, M = HᵀA⁻¹H
		h, at := mat.NewDense(len(rest), 2, nil), mat.NewDense(len(block), 2, nil)
		for a, i := range rest {
			h.SetRow(a, p.h.RawRowView(i))
		}
		for a, i := range block {
			at.SetRow(a, p.h.RawRowView(i))
		}
		var ah, m, mi, hy, beta, r, more, part mat.Dense
		ah.Mul(&inverse, h)
		m.Mul(h.T(), &ah)
		if err := mi.Inverse(&m); err != nil {
			t.Fatal(err)
		}
		hy.Mul(ah.T(), y)
		beta.Mul(&mi, &hy)
		r.Mul(&k, h)
		r.Sub(at, &r)
		more.Mul(&r, &beta)
		fitted.Add(&fitted, &more)
		part.Mul(&r, &mi)
		more.Reset()
		more.Mul(&part, r.T())
		cov.Add(&cov, &more)
	}
	for a := range block {
		mean, variances = append(mean, fitted.At(a, 0)), append(variances, cov.At(a, a))
	}
	return mean, variances
}

// TestAgainstConditioning: by a root of A, and by the posterior at the observations, one at a time and in blocks, with a mean and
// without, predictions are those from the other observations alone.
func TestAgainstConditioning(t *testing.T) {
	for _, mean := range []bool{false, true} {
		p := newProblem(t, mean)
		blocks := [][]int{{3}, {7, 8, 9, 10, 11}, {0, 39}, {20}}
		noises := make([]float64, n)
		for i := range noises {
			noises[i] = noise
		}
		factor := dense.NewLower(n)
		factor.Set(blas64.General{Rows: n, Cols: n, Stride: n, Data: mat.DenseCopyOf(p.a).RawMatrix().Data})
		if err := factor.Cholesky(); err != nil {
			t.Fatal(err)
		}
		var priors []float64
		for range p.columns.Cols - 1 {
			priors = append(priors, math.NaN())
		}
		m, v := make([]float64, n), make([]float64, n)
		root := Root{Factor: factor, Variance: 1.5, Noise: noises, Epsilon: 1e-14}
		if err := root.Leave(context.Background(), m, v, p.columns, priors, blocks); err != nil {
			t.Fatal(err)
		}
		o := Observations{Y: dense.Slice(dense.Column(p.columns, 0)), Noise: noises, Columns: p.columns, Fit: p.fit, Length: p.length}
		om, ov := make([]float64, n), make([]float64, n)
		var inverse, means mat.Dense
		if err := inverse.Inverse(p.a); err != nil {
			t.Fatal(err)
		}
		means.Mul(&inverse, mat.NewDense(n, p.columns.Cols, p.columns.Data)) // A⁻¹C
		means.Scale(-noise, &means)
		means.Add(mat.NewDense(n, p.columns.Cols, p.columns.Data), &means) // C − D·A⁻¹C
		for b, at := range blocks {
			solved, cov := dense.New(len(at), p.columns.Cols), dense.NewLower(len(at))
			for j, i := range at {
				copy(dense.Row(solved, j).Data, means.RawRowView(i))
				for k, l := range at[:j+1] {
					post := -noise * noise * inverse.At(i, l)
					if i == l {
						post += noise
					}
					cov.SetEntry(j, k, post)
				}
			}
			if len(at) > 1 {
				if err := o.Block(om, ov, solved, cov, b, at); err != nil {
					t.Fatal(err)
				}
				continue
			}
			o.Solve(solved, at)
			precisions := []float64{noise - noise*noise*inverse.At(at[0], at[0])}
			o.Precisions(precisions, at)
			if err := o.One(om, ov, dense.Row(solved, 0).Data, precisions[0], at[0]); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range blocks {
			wantMean, want := p.conditioned(t, at)
			for j, i := range at {
				for name, got := range map[string][2]float64{"a root": {m[i], v[i]}, "the inverse": {om[i], ov[i]}} {
					if math.Abs(got[0]-wantMean[j])+math.Abs(got[1]-want[j]) > 1e-10 {
						t.Errorf("mean %v, observation %d by %s: %v, want %v and %v", mean, i, name, got, wantMean[j], want[j])
					}
				}
			}
		}
		o.Eta = 1 // A means nothing
		lost := new(LostError)
		if err := o.One(om, ov, dense.Row(p.columns, 0).Data, 1, 0); !errors.As(err, &lost) {
			t.Errorf("a prediction from a matrix that is off by all of itself: error %v", err)
		}
	}
}
