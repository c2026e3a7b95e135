package experiment

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// What the authors' code does to a loss, as losses around a loss.

// onDiagonal is a loss of K + δI: the noise variance that it learns is δ less than what the data ask for.
type onDiagonal struct {
	gppl.Loss
	delta float64
	noise int // index of the noise variance
}

func (l onDiagonal) ValueGrad(grad, theta []float64) (float64, error) {
	if !(theta[l.noise] > 0) {
		return l.Loss.ValueGrad(grad, theta) // which says what is wrong with it
	}
	shifted := append([]float64(nil), theta...)
	shifted[l.noise] += l.delta
	return l.Loss.ValueGrad(grad, shifted)
}

// single is PL, or with Ω = nil the exact NLL, in the single precision that the authors' E1 and E2 ran in: the Gram matrix, its
// projection, factor and inverse are float32. It is here to show the effect, and is not made to be fast: O(n²k), O(n³), and
// memory for 2n² numbers.
type single struct {
	model gppl.Model
	data  gppl.Data
	omega *gppl.Projection
	w     blas32.General // Ω, n×k
	z     []float32      // Ωᵀy, or y
	r     []float64      // distances, n×n
}

func newSingle(m gppl.Model, d gppl.Data, omega *gppl.Projection) *single {
	n := d.Len()
	s := &single{model: m, data: d, omega: omega, r: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			s.r[i*n+j] = math.Abs(d.X.At(i)[0] - d.X.At(j)[0])
		}
	}
	y := d.Y
	if omega != nil {
		y = omega.Project(d.Y)
		raw := omega.Omega.RawMatrix()
		s.w = blas32.General{Rows: n, Cols: raw.Cols, Stride: raw.Cols, Data: toSingle(raw.Data)}
	}
	s.z = toSingle(y)
	return s
}

func toSingle(v []float64) []float32 {
	s := make([]float32, len(v))
	for i := range v {
		s[i] = float32(v[i])
	}
	return s
}

func (s *single) Params() []gppl.Param             { return s.model.Params() }
func (s *single) Model(theta []float64) gppl.Model { return s.model.WithParams(theta) }
func (s *single) Report() gppl.LossReport          { return gppl.LossReport{Engine: "dense, float32"} }
func (s *single) String() string                   { return fmt.Sprintf("float32 loss (%d numbers)", len(s.z)) }

func (s *single) ValueGrad(grad, theta []float64) (float64, error) {
	n, last := s.data.Len(), len(theta)-1
	kernel := s.model.Kernel.WithParams(theta[:last])
	cov := make([]float64, n*n)
	kernel.Cov(cov, s.r)
	a := blas32.General{Rows: n, Cols: n, Stride: n, Data: toSingle(cov)}
	for i := range n {
		a.Data[i*n+i] += float32(theta[last] + gppl.Nugget(kernel))
	}
	c := a // the covariance of z
	if s.omega != nil {
		c = product(blas.Trans, blas.NoTrans, s.w, product(blas.NoTrans, blas.NoTrans, a, s.w))
	}
	logDet, err := cholesky32(c)
	if err != nil {
		return 0, err
	}
	// V = C⁻¹ − ββᵀ by solving for the columns of I.
	k := c.Rows
	v := blas32.General{Rows: k, Cols: k, Stride: k, Data: make([]float32, k*k)}
	for i := range k {
		v.Data[i*k+i] = 1
	}
	factor := blas32.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: k, Stride: k, Data: c.Data}
	blas32.Trsm(blas.Left, blas.NoTrans, 1, factor, v)
	blas32.Trsm(blas.Left, blas.Trans, 1, factor, v)
	zv, beta := blas32.Vector{N: k, Inc: 1, Data: s.z}, blas32.Vector{N: k, Inc: 1, Data: make([]float32, k)}
	blas32.Gemv(blas.NoTrans, 1, v, zv, 0, beta)
	value := 0.5 * (blas32.Dot(zv, beta) + logDet + float32(k)*float32(math.Log(2*math.Pi)))
	if grad == nil {
		return float64(value), nil
	}
	blas32.Ger(-1, beta, beta, v)
	if s.omega != nil {
		v = product(blas.NoTrans, blas.Trans, product(blas.NoTrans, blas.NoTrans, s.w, v), s.w)
	}
	weight := cov
	var trace float64
	for i := range weight {
		weight[i] = 0.5 * float64(v.Data[i])
	}
	for i := range n {
		trace += weight[i*n+i]
	}
	clear(grad)
	kernel.Contract(grad[:last], weight, s.r)
	if k, ok := kernel.(gppl.Nuggeter); ok {
		k.ContractNugget(grad[:last], trace)
	}
	for p := range last {
		grad[p] /= theta[p] // from log θ to θ
	}
	grad[last] = trace
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
	c := blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
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
