package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// singleVFE is −ELBO of an SE kernel in single precision, by the operations of the authors' E1 and E2 in their order (elbo in
// gp.py, lines 500 to 549), because the rounding errors of other routes to the same formula differ by orders of magnitude:
//
//	½[n log 2π + n log σ² − log|K_uu| + log|A| + yᵀ(y − K_xu w/σ²)/σ² + (nv − Σ V∘K_ux)/σ²]
//	V = K_uu⁻¹K_ux, A = K_uu + K_ux K_xu/σ², w = A⁻¹K_ux y
//
// Squared distances are computed as x² + z² − 2xz, which loses most digits where x is near 1000 and z near x. A factorisation
// that fails is tried again with ten times more on the diagonal. The gradient goes back through these operations as PyTorch's
// automatic differentiation does, through the factorisations too, in single precision; TestTorchSingle compares both with
// PyTorch. It shows the effect of the precision. O(nm²) for each evaluation.
type singleVFE struct {
	model gppl.Model
	x, y  []float32
	z     []float64 // initial inducing inputs
	tries int       // factorisations that failed
}

func newSingleVFE(m gppl.Model, d gppl.Data, z gppl.Inputs) (*singleVFE, error) {
	if _, ok := m.Kernel.(gppl.SE); !ok {
		return nil, fmt.Errorf("experiment: VFE in single precision is for SE alone, not for %v", m.Kernel)
	}
	return &singleVFE{model: m, x: toSingle(d.X.Coordinate(0)), y: toSingle(d.Y), z: z.Coordinate(0)}, nil
}

func (l *singleVFE) Params() []gppl.Param {
	params := l.model.Params()
	for i, z := range l.z {
		params = append(params, gppl.Param{Name: fmt.Sprintf("inducing input %d", i), Value: z,
			Transform: transform.Free{}, Unit: gppl.UnitX})
	}
	return params
}

func (l *singleVFE) Model(theta []float64) gppl.Model { return l.model.WithParams(theta[:3]) }
func (l *singleVFE) Report() gppl.LossReport {
	return gppl.LossReport{Engine: "dense, float32", Fallbacks: l.tries}
}
func (l *singleVFE) String() string {
	return fmt.Sprintf("float32 VFE (n=%d, m=%d)", len(l.x), len(l.z))
}

func (l *singleVFE) ValueGrad(_ context.Context, grad, theta []float64) (float64, error) {
	n, m := len(l.x), len(l.z)
	v, length, noise := float32(theta[0]), float32(theta[1]), float32(theta[2])
	z := toSingle(theta[3:])
	kuu, kux := squaredDistances(z, z), squaredDistances(z, l.x)
	suu, sux := slices.Clone(kuu.Data), slices.Clone(kux.Data)
	for _, k := range []blas32.General{kuu, kux} {
		for i, s := range k.Data {
			k.Data[i] = v * exp32(-0.5*s/(length*length))
		}
	}
	lu, err := l.cholesky(kuu)
	if err != nil {
		return 0, err
	}
	explained := solveCholesky(lu, kux) // V
	g := product(blas.NoTrans, blas.Trans, kux, kux)
	a := general32(m, m)
	for i := range a.Data {
		a.Data[i] = kuu.Data[i] + g.Data[i]/noise
	}
	la, err := l.cholesky(a)
	if err != nil {
		return 0, err
	}
	y := blas32.General{Rows: n, Cols: 1, Stride: 1, Data: l.y}
	ky := product(blas.NoTrans, blas.NoTrans, kux, y)
	w := solveCholesky(la, ky)
	fit := product(blas.Trans, blas.NoTrans, kux, w)
	var quad, byFit, trace float32
	for i, u := range fit.Data {
		quad += l.y[i] * ((l.y[i] - u/noise) / noise)
		byFit += l.y[i] * u
	}
	for i, e := range explained.Data {
		trace += e * kux.Data[i]
	}
	slack := (float32(n)*v - trace) / noise
	logDet := float32(n)*log32(noise) - logDetOf(lu) + logDetOf(la)
	value := float64(0.5 * (float32(n)*float32(math.Log(2*math.Pi)) + logDet + quad + slack))
	if grad == nil {
		return value, nil
	}

	// Back from the value, in the order in which PyTorch meets the operations: dX is the derivative of the value in X.
	dKux, dLu, dLa := general32(m, n), general32(m, m), general32(m, m)
	dExplained := general32(m, n)
	for i := range dKux.Data {
		dKux.Data[i], dExplained.Data[i] = -0.5*explained.Data[i]/noise, -0.5*kux.Data[i]/noise
	}
	for i := range m {
		dLu.Data[i*m+i], dLa.Data[i*m+i] = -1/lu.Data[i*m+i], 1/la.Data[i*m+i]
	}
	dFit := general32(n, 1)
	for i, v := range l.y {
		dFit.Data[i] = -0.5 * v / noise / noise
	}
	addOuter(dKux, w, dFit)
	dW := product(blas.NoTrans, blas.NoTrans, kux, dFit)
	dKy := backCholeskySolve(dLa, la, w, dW)
	addOuter(dKux, dKy, y)
	dA := backCholesky(la, dLa)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 2/noise, dA, kux, 1, dKux)
	dB := backCholeskySolve(dLu, lu, explained, dExplained)
	dKuu := backCholesky(lu, dLu)
	var byA float32
	for i, d := range dA.Data {
		dKuu.Data[i] += d
		byA += d * g.Data[i]
	}
	for i, d := range dB.Data {
		dKux.Data[i] += d
	}
	byV, byL, slope := backSE(l.x, z, dKuu, kuu, suu, dKux, kux, sux, length)
	grad[0] = float64(byV/v + 0.5*float32(n)/noise)
	grad[1] = float64(byL / (length * length * length))
	grad[2] = float64(0.5*float32(n)/noise - 0.5*quad/noise + 0.5*byFit/(noise*noise*noise) - byA/(noise*noise) - 0.5*slack/noise)
	for i, s := range slope {
		grad[3+i] = float64(s)
	}
	return value, nil
}

// backSE returns the derivatives through K_uu and K_ux: in the variance, times v; in the lengthscale, times ℓ³; and in the
// inducing inputs.
func backSE(x, z []float32, dKuu, kuu blas32.General, suu []float32, dKux, kux blas32.General, sux []float32, length float32) (
	byV, byL float32, slope []float32) {
	slope = make([]float32, len(z))
	back := func(d, k blas32.General, s, other []float32, sides float32) {
		for i := range z {
			var sum, moved float32
			for j := range k.Cols {
				at := i*k.Stride + j
				dk := d.Data[at] * k.Data[at]
				byV += dk
				byL += dk * s[at]
				sum += dk
				moved += dk * other[j]
			}
			slope[i] -= sides * (z[i]*sum - moved) / (length * length) // ∂(z² + x² − 2zx)/∂z = 2z − 2x
		}
	}
	back(dKuu, kuu, suu, z, 2)
	back(dKux, kux, sux, x, 1)
	return byV, byL, slope
}

// cholesky returns the lower factor of k with 1e-6 added to the diagonal. While the factorisation fails it adds ten times more,
// up to five times (safe_cholesky in gp.py, lines 158 to 190). After that the authors subtract the least eigenvalue, with which
// PyTorch's factorisation fails too, as a rule (the ends in torch_single.json). It never happened in their log, and is an error.
func (l *singleVFE) cholesky(k blas32.General) (blas32.General, error) {
	m := k.Rows
	jitter := float32(1e-6)
	var err error
	for range 6 {
		c := general32(m, m)
		for i := range m {
			for j := range m {
				c.Data[i*m+j] = 0.5 * (k.Data[i*m+j] + k.Data[j*m+i])
			}
			c.Data[i*m+i] += jitter
		}
		if _, err = cholesky32(c); err == nil {
			for i := range m {
				clear(c.Data[i*m+i+1 : (i+1)*m])
			}
			return c, nil
		}
		l.tries++
		jitter *= 10
	}
	return k, err
}

func logDetOf(c blas32.General) (sum float32) {
	for i := range c.Rows {
		sum += log32(c.Data[i*c.Stride+i])
	}
	return 2 * sum
}

// lowerOf returns c as a triangular matrix.
func lowerOf(c blas32.General) blas32.Triangular {
	return blas32.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: c.Rows, Stride: c.Stride, Data: c.Data}
}

// solveCholesky returns (LLᵀ)⁻¹b for the lower factor L.
func solveCholesky(c, b blas32.General) blas32.General {
	x := general32(b.Rows, b.Cols)
	copy(x.Data, b.Data)
	blas32.Trsm(blas.Left, blas.NoTrans, 1, lowerOf(c), x)
	blas32.Trsm(blas.Left, blas.Trans, 1, lowerOf(c), x)
	return x
}

// addOuter adds the product of two columns to sum: sum += abᵀ.
func addOuter(sum, a, b blas32.General) {
	blas32.Ger(1, blas32.Vector{N: a.Rows, Inc: 1, Data: a.Data}, blas32.Vector{N: b.Rows, Inc: 1, Data: b.Data}, sum)
}

// backCholeskySolve goes back through x = (LLᵀ)⁻¹b: it returns the derivative in b, and adds that in L to dL.
func backCholeskySolve(dL, c, x, dX blas32.General) (dB blas32.General) {
	dB = solveCholesky(c, dX)
	common := product(blas.NoTrans, blas.Trans, dB, x)
	both := general32(common.Rows, common.Cols)
	for i := range common.Rows {
		for j := range common.Cols {
			both.Data[i*both.Stride+j] = common.Data[i*common.Stride+j] + common.Data[j*common.Stride+i]
		}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, -1, both, c, 1, dL)
	return dB
}

// backCholesky goes back through A = LLᵀ: L⁻ᵀΦL⁻¹, where Φ is the lower triangle of LᵀdL, made symmetric and halved.
func backCholesky(c, dL blas32.General) blas32.General {
	p := product(blas.Trans, blas.NoTrans, c, dL)
	for i := range p.Rows {
		for j := range i {
			half := 0.5 * p.Data[i*p.Stride+j]
			p.Data[i*p.Stride+j], p.Data[j*p.Stride+i] = half, half
		}
		p.Data[i*p.Stride+i] *= 0.5
	}
	blas32.Trsm(blas.Right, blas.NoTrans, 1, lowerOf(c), p)
	blas32.Trsm(blas.Left, blas.Trans, 1, lowerOf(c), p)
	return p
}

// invert32 returns the inverse of a matrix from its lower Cholesky factor.
func invert32(c blas32.General) blas32.General {
	k := c.Rows
	v := general32(k, k)
	for i := range k {
		v.Data[i*k+i] = 1
	}
	return solveCholesky(c, v)
}

// squaredDistances returns the squared distances between a and b as the authors compute them, a² + b² − 2ab in single
// precision.
func squaredDistances(a, b []float32) blas32.General {
	s := general32(len(a), len(b))
	for i, p := range a {
		for j, q := range b {
			s.Data[i*len(b)+j] = float32(p*p+q*q) - float32(2*p*q)
		}
	}
	return s
}

func exp32(v float32) float32 { return float32(math.Exp(float64(v))) }
func log32(v float32) float32 { return float32(math.Log(float64(v))) }

func general32(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func vector32(n int) blas32.Vector { return blas32.Vector{N: n, Inc: 1, Data: make([]float32, n)} }
