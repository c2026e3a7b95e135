package gppl

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

var _ Loss = (*Projected)(nil)

// Projected is the projected likelihood: the negative log likelihood of the k
// projections z = Ωᵀy of the n observations,
//
//	PL  = ½zᵀS⁻¹z + ½log|S| + (k/2)·log 2π,  S = Ωᵀ(K + σ²I)Ω
//	∂PL = ½⟨S⁻¹ − ββᵀ, Ωᵀ∂AΩ⟩,               β = S⁻¹z
//
// (the paper's eq. (GP_pdf_projected); its eq. (PL_NLL) prints an inverse too
// many). Densely, the value takes n²k flops and the gradient as many more, in
// memory for O(nk + k²) numbers.
type Projected struct {
	model  Model
	proj   *Projection
	params []Param
	engine projectedEngine
	z      []float64 // Ωᵀy
	oto    []float64 // ΩᵀΩ, k×k; nil where it is I
	gram   []float64 // ΩᵀKΩ, k×k
	factor *dense.Lower
	inv    *dense.Lower
	v      []float64 // S⁻¹ − ββᵀ, k×k
	beta   []float64
	report LossReport
}

// NewProjected returns the projected likelihood of the data under the
// projection p, to be trained from the parameters of m.
func NewProjected(m Model, d Data, p *Projection) (*Projected, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	n, k := p.Dims()
	if n != d.Len() {
		return nil, fmt.Errorf("gppl: the projection is of %d observations, but x and y have %d", n, d.Len())
	}
	l := &Projected{
		model: m, proj: p, params: m.Params(),
		engine: newProjectedEngine(d.X, p),
		z:      p.Project(d.Y),
		gram:   make([]float64, k*k),
		factor: dense.NewLower(k), inv: dense.NewLower(k),
		v: make([]float64, k*k), beta: make([]float64, k),
	}
	if !p.Orthonormal {
		l.oto = make([]float64, k*k)
		o := p.Omega.RawMatrix()
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, o, o, 0, blas64.General{Rows: k, Cols: k, Stride: k, Data: l.oto})
	}
	l.report = LossReport{Engine: l.engine.name(), Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// WithSetup counts d, the time that drawing the projection took, as part of the
// set-up, and returns l.
func (l *Projected) WithSetup(d time.Duration) *Projected {
	l.report.Setup += d
	return l
}

func (l *Projected) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Projected) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Projected) Report() LossReport          { return l.report }
func (l *Projected) String() string {
	n, k := l.proj.Dims()
	return fmt.Sprintf("PL (n=%d, k=%d, %s)", n, k, l.proj.Design)
}

func (l *Projected) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	k := len(l.z)
	last := len(theta) - 1
	kernel, noise := l.model.Kernel.WithParams(theta[:last]), theta[last]
	l.engine.gram(l.gram, kernel)
	jitter, err := choleskyWithJitter(l.factor, variance(kernel)+noise, func() { l.fillS(noise) })
	l.report.Jitter = max(l.report.Jitter, jitter)
	if err != nil {
		return 0, fmt.Errorf("gppl: the covariance of %d projections cannot be factorised: %w (kernel %v, noise variance %.4g)", k, err, kernel, noise)
	}
	copy(l.beta, l.z)
	l.factor.SolveL(columnOf(l.beta))
	l.factor.SolveLT(columnOf(l.beta))
	if grad != nil {
		l.weights()
		for i := range l.v {
			l.v[i] *= 0.5
		}
		l.engine.contract(grad[:last], l.v, kernel)
		grad[last] = noise * l.traceV()
		toNatural(grad, theta)
	}
	quad := blas64.Dot(vec(l.z), vec(l.beta))
	return 0.5 * (quad + l.factor.LogDet() + float64(k)*log2Pi), nil
}

// fillS sets the factor to S = ΩᵀKΩ + σ²ΩᵀΩ.
func (l *Projected) fillS(noise float64) {
	k := len(l.z)
	l.factor.EachTile(func(i, j int, t blas64.General) {
		for a := range t.Rows {
			from := (i*dense.Tile+a)*k + j*dense.Tile
			row := t.Data[a*t.Stride:][:t.Cols]
			copy(row, l.gram[from:])
			if l.oto != nil {
				for b := range row {
					row[b] += noise * l.oto[from+b]
				}
			}
		}
	})
	if l.oto == nil {
		l.factor.AddDiagonal(noise)
	}
}

// weights sets v = S⁻¹ − ββᵀ.
func (l *Projected) weights() {
	k := len(l.z)
	l.factor.InvertL(l.inv)
	nb := dense.Blocks(k)
	for i := range nb {
		for j := range i + 1 {
			tile := blas64.General{Rows: dense.Width(k, i), Cols: dense.Width(k, j), Stride: k, Data: l.v[i*dense.Tile*k+j*dense.Tile:]}
			l.inv.InverseTile(tile, i, j)
		}
	}
	for a := range k {
		for b := range a + 1 {
			v := l.v[a*k+b] - l.beta[a]*l.beta[b]
			l.v[a*k+b], l.v[b*k+a] = v, v
		}
	}
}

// traceV returns ⟨v, ΩᵀΩ⟩.
func (l *Projected) traceV() float64 {
	if l.oto != nil {
		return blas64.Dot(vec(l.v), vec(l.oto))
	}
	k := len(l.z)
	return trace(blas64.General{Rows: k, Cols: k, Stride: k, Data: l.v})
}
