package observed

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Known holds the sums of observations on one circle. The observations themselves are not known.
type Known struct {
	On       Circle
	N        int
	Lo, Span float64 // bounds on the inputs
	LogW     float64 // Σ log w
	Moments  fourier.Moments
	Columns  blas64.General // sums of the columns, 2(M+1)×c
	Products blas64.General // Σ w·c_i·c_iᵀ, c×c
}

var _ Source = (*Known)(nil)

func (k *Known) Count() int                 { return k.N }
func (k *Known) LogWeights() float64        { return k.LogW }
func (k *Known) Precision() float64         { return k.Moments[0] }
func (k *Known) Squares() blas64.General    { return k.Products }
func (k *Known) Extent() (lo, span float64) { return k.Lo, k.Span }
func (k *Known) Circle() (Circle, bool)     { return k.On, true }

func (k *Known) Sums(_, _ float64, _ int) (fourier.Moments, blas64.General) {
	return k.Moments, k.Columns
}

// Shift subtracts d from every observation of the only column: Σ w(v−d)² and Σ w(v−d)·exp(…).
func (k *Known) Shift(d float64) {
	if d == 0 {
		return
	}
	values := k.Columns.Data
	k.Products.Data[0] = max(0, k.Products.Data[0]-d*(2*values[0]-d*k.Moments[0]))
	blas64.Axpy(-d, dense.Vec(k.Moments[:len(values)]), dense.Vec(values))
}

// AddLevel subtracts the weighted mean from the only column and adds a column of 1/√n, whose sums are among the moments. It
// returns the mean as a multiple of that column.
func (k *Known) AddLevel() (gamma float64) {
	root := math.Sqrt(float64(k.N))
	level := k.Columns.Data[0] / k.Moments[0]
	k.Shift(level)
	y, yy := k.Columns, k.Products.Data[0]
	k.Columns = dense.New(y.Rows, 2)
	for i, v := range y.Data {
		k.Columns.Data[2*i], k.Columns.Data[2*i+1] = v, k.Moments[i]/root
	}
	cross := y.Data[0] / root
	k.Products = blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{yy, cross, cross, k.Moments[0] / float64(k.N)}}
	return level * root
}

// Project returns the projections of the columns on waves of the circle, k×c.
func (k *Known) Project(w *fourier.Waves) blas64.General {
	z := dense.New(w.Len(), k.Columns.Cols)
	for j := range z.Cols {
		of := make([]float64, z.Rows)
		w.Basis.Project(of, dense.Slice(dense.Column(k.Columns, j)))
		blas64.Copy(dense.Vec(of), dense.Column(z, j))
	}
	return z
}

// Lengths returns the lengths of the columns.
func (k *Known) Lengths() (all []float64) {
	all = make([]float64, k.Products.Cols)
	for j := range all {
		all[j] = math.Sqrt(k.Products.Data[j*k.Products.Stride+j])
	}
	return all
}
