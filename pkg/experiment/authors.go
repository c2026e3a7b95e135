package experiment

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// What the authors' code does to a loss, as losses around a loss.

// onDiagonal is a loss of K + δI. The noise variance learnt under it is δ smaller than the data's.
type onDiagonal struct {
	gppl.Loss
	delta float64
	noise int // index of the noise variance
}

func (l onDiagonal) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if !(theta[l.noise] > 0) {
		return l.Loss.ValueGrad(context.Background(), grad, theta) // Loss reports what is wrong with theta
	}
	shifted := append([]float64(nil), theta...)
	shifted[l.noise] += l.delta
	return l.Loss.ValueGrad(context.Background(), grad, shifted)
}

// single is PL, or with Ω = nil the exact NLL, in single precision, as in the authors' E1 and E2: the Gram matrix, its
// projection, factor and inverse are float32, and squared distances are computed as x² + z² − 2xz. It supports SE only. It
// shows the effect of the precision and is not optimised: O(n²k), O(n³) if exact, and memory for 2n² numbers.
type single struct {
	model gppl.Model
	data  gppl.Data
	omega *gppl.Projection
	w     blas32.General // Ω, n×k
	z     []float32      // Ωᵀy, or y
	s     blas32.General // squared distances, n×n
}

func newSingle(m gppl.Model, d gppl.Data, omega *gppl.Projection) (*single, error) {
	if _, ok := m.Kernel.(gppl.SE); !ok {
		return nil, fmt.Errorf("experiment: single precision is for SE alone, not for %v", m.Kernel)
	}
	x := toSingle(d.X.Coordinate(0))
	s := &single{model: m, data: d, omega: omega, s: squaredDistances(x, x)}
	y := d.Y
	if omega != nil {
		y = omega.Project(d.Y)
		directions, err := omega.Omega(context.Background())
		if err != nil {
			return nil, err
		}
		raw := directions.RawMatrix()
		s.w = blas32.General{Rows: d.Len(), Cols: raw.Cols, Stride: raw.Cols, Data: toSingle(raw.Data)}
	}
	s.z = toSingle(y)
	return s, nil
}

func toSingle(v []float64) []float32 {
	single := make([]float32, len(v))
	for i := range single {
		single[i] = float32(v[i])
	}
	return single
}

func (s *single) Params() []gppl.Param             { return s.model.Params() }
func (s *single) Model(theta []float64) gppl.Model { return s.model.WithParams(theta) }
func (s *single) Report() gppl.LossReport          { return gppl.LossReport{Engine: "dense, float32"} }
func (s *single) String() string                   { return fmt.Sprintf("float32 loss (%d numbers)", len(s.z)) }

func (s *single) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	n := s.data.Len()
	v, length, noise := float32(theta[0]), float32(theta[1]), float32(theta[2])
	a := general32(n, n)
	for i, sq := range s.s.Data {
		a.Data[i] = v * exp32(-0.5*sq/(length*length))
	}
	cov := append([]float32(nil), a.Data...)
	for i := range n {
		a.Data[i*n+i] += noise
	}
	c := a // the covariance of z
	if s.omega != nil {
		c = product(blas.Trans, blas.NoTrans, s.w, product(blas.NoTrans, blas.NoTrans, a, s.w))
	}
	logDet, err := cholesky32(c)
	if err != nil {
		return 0, err
	}
	weight := invert32(c) // becomes V = C⁻¹ − ββᵀ
	k := c.Rows
	z, beta := blas32.Vector{N: k, Inc: 1, Data: s.z}, vector32(k)
	blas32.Gemv(blas.NoTrans, 1, weight, z, 0, beta)
	value := 0.5 * (blas32.Dot(z, beta) + logDet + float32(k)*float32(math.Log(2*math.Pi)))
	if grad == nil {
		return float64(value), nil
	}
	blas32.Ger(-1, beta, beta, weight)
	if s.omega != nil {
		weight = product(blas.NoTrans, blas.Trans, product(blas.NoTrans, blas.NoTrans, s.w, weight), s.w)
	}
	var byV, byL, trace float64 // sums of n² terms: pairwise in PyTorch, in double precision here
	for i, w := range weight.Data {
		wk := float64(w * cov[i])
		byV += wk
		byL += wk * float64(s.s.Data[i])
	}
	for i := range n {
		trace += float64(weight.Data[i*n+i])
	}
	grad[0] = 0.5 * byV / theta[0]
	grad[1] = 0.5 * byL / (theta[1] * theta[1] * theta[1])
	grad[2] = 0.5 * trace
	return float64(value), nil
}

func product(ta, tb blas.Transpose, a, b blas32.General) blas32.General {
	rows, cols := a.Rows, b.Cols
	if ta == blas.Trans {
		rows = a.Cols
	}
	if tb == blas.Trans {
		cols = b.Rows
	}
	c := general32(rows, cols)
	blas32.Gemm(ta, tb, 1, a, b, 0, c)
	return c
}

// cholesky32 overwrites the lower triangle of a with its Cholesky factor, row by row, and returns log |a|.
func cholesky32(a blas32.General) (logDet float32, err error) {
	n := a.Rows
	row := func(i, cols int) blas32.Vector { return blas32.Vector{N: cols, Inc: 1, Data: a.Data[i*a.Stride:]} }
	for i := range n {
		for j := range i {
			a.Data[i*a.Stride+j] = (a.Data[i*a.Stride+j] - blas32.Dot(row(i, j), row(j, j))) / a.Data[j*a.Stride+j]
		}
		d := a.Data[i*a.Stride+i] - blas32.Dot(row(i, i), row(i, i))
		if !(d > 0) {
			return 0, fmt.Errorf("experiment: float32: pivot %d of %d is %v", i, n, d)
		}
		a.Data[i*a.Stride+i] = float32(math.Sqrt(float64(d)))
		logDet += float32(math.Log(float64(d)))
	}
	return logDet, nil
}
