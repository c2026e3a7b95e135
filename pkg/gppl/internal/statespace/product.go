package statespace

import (
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// A Product computes BᵀKB and Bᵀ∂KB for one set of inputs, without noise. The lower triangle of K is a combination of
// exponentials times powers: as e⁻ᵃaʲ/j! becomes e⁻ᵃ⁻ᵟ·Σ_i (aⁱ/i!)·δ^(j−i)/(j−i)! over a gap δ, the sums
//
//	X_j = Σ_(m<i) e⁻ᵃ·aʲ/j!·b_m,  a = λ(t_i − t_m),  b_m row m of B
//
// over all earlier rows go from row to row in O(k), and
//
//	K:         v·X₀,  v·(X₀ + X₁),  v·(X₀ + X₁ + ⅔X₂)    for order 0, 1, 2
//	∂K/∂log l: v·X₁,  2v·X₂,        v·(⅔X₂ + 2X₃)
//
// All coefficients are positive, so neither small nor large gaps cost digits.
//
// Processors share the columns, in panels that stay in the nearest cache. A Product is not safe for concurrent use.
type Product struct {
	t      []float64
	steps  []steps
	panels []panel
}

// panel is the working memory of some columns.
type panel struct {
	from, to int       // the range of columns
	state    []float64 // X, see sweep
	out      []float64 // a block of rows of the lower triangle times B
	sum      []float64 // Bᵀ·out
}

// NewProduct returns a Product for inputs t, ascending. It keeps t.
func NewProduct(t []float64) *Product {
	checkSorted(t)
	return &Product{t: t}
}

// maxPanel is the largest width of a panel.
const maxPanel = 64

// blockRows is the number of rows that Gram passes to Gemm at a time.
const blockRows = 128

// prepare sets up the transitions of cs and panels over the columns of b.
func (p *Product) prepare(b blas64.General, cs []component) {
	if b.Rows != len(p.t) {
		panic(fmt.Sprintf("statespace: %d rows for %d inputs", b.Rows, len(p.t)))
	}
	if err := check(cs); err != nil {
		panic(err)
	}
	for c, comp := range cs {
		if c == len(p.steps) {
			p.steps = append(p.steps, steps{})
		}
		p.steps[c].set(p.t, comp, false)
	}
	n := (b.Cols + maxPanel - 1) / maxPanel
	n = max(n, min(b.Cols, runtime.GOMAXPROCS(0)))
	for len(p.panels) < n {
		p.panels = append(p.panels, panel{})
	}
	p.panels = p.panels[:n]
	for i := range p.panels {
		q := &p.panels[i]
		q.from, q.to = i*b.Cols/n, (i+1)*b.Cols/n
		q.state = dense.Resize(q.state, powers*(q.to-q.from)*len(cs))
	}
}

// Gram sets values[c] = BᵀK_cB and, unless slopes is nil, slopes[c] = Bᵀ(∂K_c/∂log l_c)B, all k×k, for each block's own K_c.
// Blocks are Summable.
// It takes 2nk² flops for each of them, and O(k²) memory. b is n×k.
func (p *Product) Gram(values, slopes []blas64.General, b blas64.General, blocks []Block) {
	p.gram(values, slopes, b, components(nil, blocks))
}

// gram is Gram for components.
func (p *Product) gram(values, slopes []blas64.General, b blas64.General, cs []component) {
	k := b.Cols
	if len(values) != len(cs) || slopes != nil && len(slopes) != len(cs) {
		panic(fmt.Sprintf("statespace: %d values and %d slopes for %d components", len(values), len(slopes), len(cs)))
	}
	outs := append(append([]blas64.General(nil), values...), slopes...)
	for _, o := range outs {
		if o.Rows != k || o.Cols != k {
			panic(fmt.Sprintf("statespace: Gram matrix %d×%d, want %d×%d", o.Rows, o.Cols, k, k))
		}
	}
	p.prepare(b, cs)
	// K = U + Uᵀ, where U is its lower triangle with the diagonal halved: BᵀKB = BᵀUB + (BᵀUB)ᵀ.
	parallel.For(len(p.panels), func(i int) { p.panels[i].gram(p, len(outs), b, cs) })
	for i := range p.panels {
		q := &p.panels[i]
		w := q.to - q.from
		for o, dst := range outs {
			for a := range k {
				copy(dst.Data[a*dst.Stride+q.from:][:w], q.sum[(a*len(outs)+o)*w:])
			}
		}
	}
	for _, dst := range outs {
		for a := range k {
			for c := range a + 1 {
				v := dst.Data[a*dst.Stride+c] + dst.Data[c*dst.Stride+a]
				dst.Data[a*dst.Stride+c], dst.Data[c*dst.Stride+a] = v, v
			}
		}
	}
}

// gram sets sum = Bᵀ[U₁B … | ∂U₁B …] for the columns of the panel, n of U and ∂U together.
func (q *panel) gram(p *Product, n int, b blas64.General, cs []component) {
	k, w := b.Cols, q.to-q.from
	width := n * w
	q.sum = dense.Resize(q.sum, k*width)
	q.out = dense.Resize(q.out, blockRows*width)
	clear(q.sum)
	clear(q.state)
	sum := blas64.General{Rows: k, Cols: width, Stride: width, Data: q.sum}
	for from := 0; from < b.Rows; from += blockRows {
		rows := min(blockRows, b.Rows-from)
		for i := range rows {
			clear(q.out[i*width:][:width])
			for c, comp := range cs {
				out := q.out[i*width+c*w:][:w]
				var slope []float64
				if n > len(cs) {
					slope = q.out[i*width+(len(cs)+c)*w:][:w]
				}
				if from+i > 0 {
					s := &p.steps[c]
					before := b.Data[(from+i-1)*b.Stride+q.from:][:w]
					q.sweep(out, slope, before, c, comp, s.a[from+i], s.e[from+i])
				}
				half := 0.5 * comp.Variance
				for j, v := range b.Data[(from+i)*b.Stride+q.from:][:w] {
					out[j] += half * v
				}
			}
		}
		block := blas64.General{Rows: rows, Cols: k, Stride: b.Stride, Data: b.Data[from*b.Stride:]}
		out := blas64.General{Rows: rows, Cols: width, Stride: width, Data: q.out}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, block, out, 1, sum)
	}
}

// powers is the largest number of X_j in any component.
const powers = 4

// sweep advances the X_j of component c over a gap from the row b, and adds its row of the lower triangles of K and ∂K/∂log l,
// times B, to value and slope, which may be nil.
func (q *panel) sweep(value, slope, b []float64, c int, comp component, a, e float64) {
	w := len(b)
	x := q.state[c*powers*w:][:powers*w]
	x0, x1, x2, x3 := x[:w], x[w:][:w], x[2*w:][:w], x[3*w:][:w]
	e1 := e * a
	e2 := e1 * a * (1. / 2)
	e3 := e2 * a * (1. / 3)
	top := comp.Order // the highest power in the outputs
	if slope != nil {
		top++
	}
	switch top {
	case 0:
		for j, v := range b {
			x0[j] = e * (x0[j] + v)
		}
	case 1:
		for j, v := range b {
			y0, y1 := x0[j]+v, x1[j]
			x0[j], x1[j] = e*y0, e*y1+e1*y0
		}
	case 2:
		for j, v := range b {
			y0, y1, y2 := x0[j]+v, x1[j], x2[j]
			x0[j], x1[j], x2[j] = e*y0, e*y1+e1*y0, e*y2+e1*y1+e2*y0
		}
	default:
		for j, v := range b {
			y0, y1, y2, y3 := x0[j]+v, x1[j], x2[j], x3[j]
			x0[j], x1[j] = e*y0, e*y1+e1*y0
			x2[j], x3[j] = e*y2+e1*y1+e2*y0, e*y3+e1*y2+e2*y1+e3*y0
		}
	}
	v := comp.Variance
	value = value[:w]
	switch comp.Order {
	case 0:
		for j, y := range x0 {
			value[j] += v * y
		}
	case 1:
		for j, y := range x0 {
			value[j] += v * (y + x1[j])
		}
	default:
		for j, y := range x0 {
			value[j] += v * (y + x1[j] + x2[j]*(2./3))
		}
	}
	if slope != nil {
		slope = slope[:w]
		switch comp.Order {
		case 0:
			for j, y := range x1 {
				slope[j] += v * y
			}
		case 1:
			for j, y := range x2 {
				slope[j] += 2 * v * y
			}
		default:
			for j, y := range x2 {
				slope[j] += 2 * v * (y*(1./3) + x3[j])
			}
		}
	}
}
