package fourier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// anchorEvery is how many neighbouring frequencies share a sine and cosine: the others are one rotation away.
const anchorEvery = 8

// Run sets row a of cos to cos 2π(m₀+a)φ at the points from, from+1, …, and that of sin to the sine: the features of a run of
// frequencies, a product for most of them. work holds 2·anchorEvery·cos.Cols numbers or is made.
func (p *Points) Run(cos, sin blas64.General, from, m0 int, work []float64) []float64 {
	if cos.Rows != sin.Rows || cos.Cols != sin.Cols || m0 < 0 || from < 0 || from+cos.Cols > p.N() {
		panic(fmt.Sprintf("fourier: a run of %d and %d frequencies from %d, %d and %d of %d points from %d", cos.Rows, sin.Rows, m0, cos.Cols, sin.Cols, p.N(), from))
	}
	n := cos.Cols
	if len(work) < 2*anchorEvery*n {
		work = make([]float64, 2*anchorEvery*n)
	}
	for b := 1; b < min(anchorEvery, cos.Rows); b++ {
		c, s := work[2*b*n:][:n], work[(2*b+1)*n:][:n]
		for i := range c {
			s[i], c[i] = p.sincos(from+i, float64(b))
		}
	}
	for a := range cos.Rows {
		first, b := a-a%anchorEvery, a%anchorEvery
		c, s := cos.Data[a*cos.Stride:][:n], sin.Data[a*sin.Stride:][:n]
		if b == 0 {
			for i := range c {
				s[i], c[i] = p.sincos(from+i, float64(m0+a))
			}
			continue
		}
		c0, s0 := cos.Data[first*cos.Stride:][:n], sin.Data[first*sin.Stride:][:n]
		turnC, turnS := work[2*b*n:][:n], work[(2*b+1)*n:][:n]
		for i, tc := range turnC {
			ts := turnS[i]
			c[i] = math.FMA(c0[i], tc, -(s0[i] * ts))
			s[i] = math.FMA(s0[i], tc, c0[i]*ts)
		}
	}
	return work
}
