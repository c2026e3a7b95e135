package fourier

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
)

// Features sets row i of dst to the given features at point from+i: a block of
// rows of Φ. It takes a sine and cosine per frequency; a sine next to the cosine
// of its frequency shares them.
func (p *Points) Features(dst blas64.General, from int, features []Feature) {
	if dst.Cols != len(features) || from < 0 || from+dst.Rows > p.N() {
		panic(fmt.Sprintf("fourier: a %d×%d block from %d for %d features of %d points", dst.Rows, dst.Cols, from, len(features), p.N()))
	}
	for i := range dst.Rows {
		row := dst.Data[i*dst.Stride:][:dst.Cols]
		last := -1
		var sin, cos float64
		for j, f := range features {
			if m := f.Frequency(); m != last {
				sin, cos = p.sincos(from+i, float64(m))
				last = m
			}
			if f.IsSin() {
				row[j] = sin
			} else {
				row[j] = cos
			}
		}
	}
}

// FeatureRows sets row a of dst to feature a at the points from, from+1, …: a block of columns of Φᵀ. A sine next to the
// cosine of its frequency shares its work.
func (p *Points) FeatureRows(dst blas64.General, from int, features []Feature) {
	if dst.Rows != len(features) || from < 0 || from+dst.Cols > p.N() {
		panic(fmt.Sprintf("fourier: a %d×%d block from %d for %d features of %d points", dst.Rows, dst.Cols, from, len(features), p.N()))
	}
	for a := 0; a < len(features); a++ {
		f, row := features[a], dst.Data[a*dst.Stride:][:dst.Cols]
		m := float64(f.Frequency())
		if !f.IsSin() && a+1 < len(features) && features[a+1] == f+1 {
			a++
			next := dst.Data[a*dst.Stride:][:dst.Cols]
			for i := range row {
				next[i], row[i] = p.sincos(from+i, m)
			}
			continue
		}
		for i := range row {
			sin, cos := p.sincos(from+i, m)
			if row[i] = cos; f.IsSin() {
				row[i] = sin
			}
		}
	}
}
