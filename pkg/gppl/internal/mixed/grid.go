package mixed

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

var _ observed.Source = (*Grid)(nil)

// Grid is a series with the columns (Y, E, E′) of a Factor on a Circle, by sums on it, for engines that factorise B by sums on
// a grid. The sums of the grid's waves with the columns of E follow from the sums over the data as well, so an evaluation does
// not depend on n. It is working memory.
type Grid struct {
	*observed.Line
	Factor  *Factor // set by FillSums
	Highest int     // highest frequency of the grid

	products blas64.General // see Squares
	features []fourier.Feature
	moments  fourier.Moments
	columns  blas64.General // sums of the columns
}

// Circle returns the circle of the sums, which begins half of a period before the middle of the data.
func (o *Grid) Circle() (observed.Circle, bool) {
	c := o.Factor.Circle
	return observed.Circle{Origin: o.Middle() - 0.5*c.Period, Period: c.Period, Highest: o.Highest,
		Resolves: "a wave is beyond the circle", Beyond: "%v"}, true
}

// Squares returns CᵀC from the results of FillSums, except E′ᵀE′, which nothing reads.
func (o *Grid) Squares() blas64.General {
	f := o.Factor
	p, s, c := f.columns, f.Shift, f.B.Cols
	o.products = dense.Reshape(o.products, c+p+s, c+p+s)
	clear(o.products.Data)
	g := o.products
	place := func(i, j int, m blas64.General) {
		for a := range m.Rows {
			for b, v := range dense.Row(m, a).Data {
				v *= f.Noise
				g.Data[(i+a)*g.Stride+j+b], g.Data[(j+b)*g.Stride+i+a] = v, v
			}
		}
	}
	f.T.EachTile(func(i, j int, t blas64.General) { place(c+i*dense.Tile, c+j*dense.Tile, t) })
	place(0, 0, f.ZZ)
	place(c, 0, f.B)
	place(c+p, c, f.Moved)
	place(c+p, 0, f.MovedB)
	return g
}

// Sums returns the moments and the sums of the columns. Since the origin is half of a period away, odd waves change their
// sign.
func (o *Grid) Sums(_, _ float64, m int) (fourier.Moments, blas64.General) {
	f := o.Factor
	o.moments = append(o.moments[:0], f.Circle.Moments[:2*(2*m+1)]...)
	for j := 2; j < len(o.moments); j += 4 {
		o.moments[j], o.moments[j+1] = -o.moments[j], -o.moments[j+1]
	}
	o.columns = dense.Reshape(o.columns, 2*(m+1), f.B.Cols+f.columns+f.Shift)
	o.features = dense.Resize(o.features, o.columns.Rows)
	for i := range o.features {
		o.features[i] = fourier.Feature(i)
	}
	f.Sums(o.columns, o.features)
	for i := 2; i < o.columns.Rows; i += 4 {
		for j := i; j < min(i+2, o.columns.Rows); j++ {
			blas64.Scal(-1, dense.Row(o.columns, j))
		}
	}
	verify.Tampered("mixed grid", o.columns.Data)
	return o.moments, o.columns
}

// Verify compares products with a column of E, recomputed, with the products used: a row of EᵀE times h, the products with the
// data, and the product with one wave of the grid. Factor.Verify takes it as rows; form is as there.
func (o *Grid) Verify(a *Again, form float64) error {
	f, c := o.Factor, o.Factor.B.Cols
	products := dense.Row(o.products, c+a.Column).Data
	for k := range c {
		fitted, data, size := a.Row(k)
		used := blas64.Dot(dense.Vec(products[c:][:f.columns]), dense.Column(f.H, k))
		if err := verify.Near("a row of products of columns", used, fitted, verify.Backward*size); err != nil {
			return err
		}
		if err := verify.Near("a product with the data", products[k], data, verify.Backward*size); err != nil {
			return err
		}
	}
	feature := fourier.Feature(2 + verify.Pick(o.columns.Rows-2, f.Noise, form, f.terms[0].Coef[0]))
	used := dense.Row(o.columns, int(feature)).Data
	want, size := a.Wave(feature)
	if feature.Frequency()%2 == 1 {
		want = -want
	}
	if err := verify.Near("a sum over the grid", used[c+a.Column], want, verify.Backward*size); err != nil {
		return err
	}
	data := math.Abs(dense.Row(f.Circle.Columns, int(feature)).Data[0])
	return verify.Near("a sum of the data over the grid", math.Abs(used[0]), data, verify.Backward*data)
}
