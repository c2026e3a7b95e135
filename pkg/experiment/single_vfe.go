package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// singleVFE is −ELBO of an SE kernel in single precision, as the authors' E2 computed it (elbo in gp.py, lines 500 to 549):
//
//	½[n log 2π + n log σ² − log|K_uu| + log|A| + (yᵀy − bᵀA⁻¹b/σ²)/σ² + (nv − tr K_uu⁻¹G)/σ²]
//	A = K_uu + G/σ², G = K_ux K_xu, b = K_ux y
//
// Squared distances are computed as x² + z² − 2xz, which loses most digits where x is near 1000 and z near x. A factorisation
// that fails is tried again with ten times more on the diagonal. The gradient is that of these formulas, also in single
// precision. It shows the effect of the precision. O(nm²) for each evaluation.
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

func (l *singleVFE) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	n, m := len(l.x), len(l.z)
	v, length, noise := float32(theta[0]), float32(theta[1]), float32(theta[2])
	z := toSingle(theta[3:])
	kuu, kux := squaredDistances(z, z), squaredDistances(z, l.x)
	suu, sux := append([]float32(nil), kuu.Data...), append([]float32(nil), kux.Data...)
	for _, k := range []blas32.General{kuu, kux} {
		for i, s := range k.Data {
			k.Data[i] = v * exp32(-0.5*s/(length*length))
		}
	}
	g := product(blas.NoTrans, blas.Trans, kux, kux)
	a := general32(m, m)
	for i := range a.Data {
		a.Data[i] = kuu.Data[i] + g.Data[i]/noise
	}
	inverseU, logU, err := l.inverse(kuu)
	if err != nil {
		return 0, err
	}
	inverseA, logA, err := l.inverse(a)
	if err != nil {
		return 0, err
	}
	b, w := vector32(m), vector32(m)
	y := blas32.Vector{N: n, Inc: 1, Data: l.y}
	blas32.Gemv(blas.NoTrans, 1, kux, y, 0, b)
	blas32.Gemv(blas.NoTrans, 1, inverseA, b, 0, w)
	yy, bw := blas32.Dot(y, y), blas32.Dot(b, w)
	var explained float32 // tr K_uu⁻¹G
	for i, u := range inverseU.Data {
		explained += u * g.Data[i]
	}
	quad := (yy - bw/noise) / noise
	slack := (float32(n)*v - explained) / noise
	value := 0.5 * (float64(n)*math.Log(2*math.Pi*theta[2]) + float64(logA-logU) + float64(quad) + float64(slack))
	if grad == nil {
		return value, nil
	}

	// ∂/∂A, then ∂/∂K_uu and ∂/∂K_ux.
	dA := inverseA
	blas32.Ger(1/(noise*noise), w, w, dA)
	blas32.Scal(0.5, blas32.Vector{N: m * m, Inc: 1, Data: dA.Data})
	du := product(blas.NoTrans, blas.NoTrans, inverseU, product(blas.NoTrans, blas.NoTrans, g, inverseU))
	for i := range du.Data {
		du.Data[i] = dA.Data[i] + 0.5*(du.Data[i]/noise-inverseU.Data[i])
	}
	both := general32(m, m)
	for i := range both.Data {
		both.Data[i] = (2*dA.Data[i] - inverseU.Data[i]) / noise
	}
	dx := product(blas.NoTrans, blas.NoTrans, both, kux)
	blas32.Ger(-1/(noise*noise), w, y, dx)

	var byV, byL float32
	slope := make([]float32, m)
	contract := func(weight, k blas32.General, s, other []float32, sides float32) {
		for i := range m {
			var sum, moved float32
			for j := range k.Cols {
				at := i*k.Stride + j
				wk := weight.Data[at] * k.Data[at]
				byV += wk
				byL += wk * s[at]
				sum += wk
				moved += wk * other[j]
			}
			slope[i] -= sides * (z[i]*sum - moved) / (length * length) // ∂(z² + x² − 2zx)/∂z = 2z − 2x
		}
	}
	contract(du, kuu, suu, z, 2)
	contract(dx, kux, sux, l.x, 1)
	var trace float32
	for i, d := range dA.Data {
		trace += d * g.Data[i]
	}
	grad[0] = float64(byV/v + 0.5*float32(n)/noise)
	grad[1] = float64(byL / (length * length * length))
	grad[2] = float64(0.5*(float32(n)-yy/noise+2*bw/(noise*noise)-slack)/noise - trace/(noise*noise))
	for i, s := range slope {
		grad[3+i] = float64(s)
	}
	return value, nil
}

// inverse returns the inverse of k and its log determinant, with 1e-6 added to the diagonal. While the factorisation fails it
// adds ten times more, up to five times (safe_cholesky in gp.py, lines 158 to 190). After that the authors add the negative
// eigenvalue; that never happened in their log, and is an error here.
func (l *singleVFE) inverse(k blas32.General) (blas32.General, float32, error) {
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
		var logDet float32
		if logDet, err = cholesky32(c); err == nil {
			return invert32(c), logDet, nil
		}
		l.tries++
		jitter *= 10
	}
	return k, 0, err
}

// invert32 returns the inverse of a matrix from its lower Cholesky factor.
func invert32(c blas32.General) blas32.General {
	k := c.Rows
	v := general32(k, k)
	for i := range k {
		v.Data[i*k+i] = 1
	}
	factor := blas32.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: k, Stride: k, Data: c.Data}
	blas32.Trsm(blas.Left, blas.NoTrans, 1, factor, v)
	blas32.Trsm(blas.Left, blas.Trans, 1, factor, v)
	return v
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

func general32(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
}

func vector32(n int) blas32.Vector { return blas32.Vector{N: n, Inc: 1, Data: make([]float32, n)} }
