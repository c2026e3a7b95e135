//go:build !openblas

package dense

import (
	"fmt"
	"sync"

	"golang.org/x/sys/cpu"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The kernel keeps panelRows×panelCols entries of the result in registers while it adds up to depth products to each. At a depth
// of 64 the parts of a and b that it reads stay in the first cache.
const (
	panelRows = 4
	panelCols = 8
	broadCols = 12 // columns of a panel with fused multiply-adds
	wideCols  = 16 // columns of a panel with AVX-512
	depth     = 64
)

// dotRows and dotCols are how many rows of a and b the kernel of dot products multiplies.
const (
	dotRows = 4
	dotCols = 2

	wideDots = 4 // rows of b with AVX-512
)

// packed holds Tile rows of alpha·op(a), panel by panel and in each column by column. Several goroutines may multiply by it.
type packed struct {
	tile
	fused bool // multiply and add without rounding in between (Lower.Fused)
	a     [Tile * depth]float64
	z     [Tile / panelRows][2]int // range of columns in which a panel of a is not zero
}

// edge is the working memory of a product whose last panels are narrow: one of b, row by row, and one of c.
type edge struct {
	b [depth * panelCols]float64
	c [panelRows * panelCols]float64
}

var edges = sync.Pool{New: func() any { return new(edge) }}

var packs = sync.Pool{New: func() any { return new(packed) }}

// addProduct adds to the 4×8 matrix c the product of the 4×k matrix a, stored by columns, and the k×8 matrix b, for k > 0. The
// rows of b and c are ldb and ldc apart. It needs AVX. Each entry adds its products one after another, each rounded, as gonum
// does. Meanwhile memory at ahead is fetched into the cache (product_amd64.h).
//
//go:noescape
func addProduct(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)

// addProductWide does as addProduct for the 4×16 matrix c and the k×16 matrix b. It needs AVX-512.
//
//go:noescape
func addProductWide(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)

// fuseProduct does as addProduct by fused multiply-adds, which do not round the products. It needs FMA.
//
//go:noescape
func fuseProduct(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)

// fuseProductBroad does as fuseProduct for the 4×12 matrix c and the k×12 matrix b.
//
//go:noescape
func fuseProductBroad(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)

// fuseProductWide does as addProductWide by fused multiply-adds. It needs AVX-512.
//
//go:noescape
func fuseProductWide(k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64)

// addDotsWide adds alpha times the products of 4 rows of a and 4 rows of b, with k entries each, to the 4×4 matrix c. The rows
// are lda, ldb and ldc apart. It needs AVX-512, and adds up as dots does.
//
//go:noescape
func addDotsWide(k int, alpha float64, a *float64, lda int, b *float64, ldb int, c *float64, ldc int)

// packTransposed sets to, panels of k×4, to alpha times as many times 4 columns of k rows of a, lda apart. It needs AVX.
//
//go:noescape
func packTransposed(k, panels int, alpha float64, a *float64, lda int, to *float64)

// transposeFour sets to, k×4 with rows ldto apart, to alpha times the transpose of 4 rows of a, lda apart, for a multiple k of 4.
// It needs AVX.
//
//go:noescape
func transposeFour(k int, alpha float64, a *float64, lda int, to *float64, ldto int)

// dots sets to to the products of 4 rows of a, lda apart, and 2 rows of b, ldb apart, with k entries each. It needs AVX. It adds
// up as gonum does: every fourth product in a lane, and the remaining ones in the first.
//
//go:noescape
func dots(k int, a *float64, lda int, b *float64, ldb int, to *[dotRows * dotCols]float64)

// reflect does as Reflect with n entries. It needs AVX.
//
//go:noescape
func reflect(n int, k float64, a, b, x, y *float64)

// Gemm sets c = alpha·op(a)·op(b) + beta·c like blas64.Gemm, serially: for use where the processors are busy already. It takes
// 2·m·n·k operations, in vectors of four on processors with AVX, and of eight with AVX-512, and with the result in registers:
// two to four times as fast as gonum, or more (BenchmarkGemm). It skips leading and trailing columns of zeros of four rows of
// op(a). The result agrees with gonum's to the last bit, so that nothing depends on the processor.
func Gemm(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	k, kb := a.Cols, b.Rows
	if ta != blas.NoTrans {
		k = a.Rows
	}
	if tb != blas.NoTrans {
		kb = b.Cols
	}
	if !cpu.X86.HasAVX || c.Rows < panelRows || c.Cols == 0 || k == 0 || ta != blas.NoTrans && tb != blas.NoTrans {
		pieces(ta, tb, alpha, a, b, beta, c)
		return
	}
	if k != kb {
		panic(fmt.Sprintf("dense: op(a) has %d columns, op(b) %d rows", k, kb))
	}
	for _, m := range []blas64.General{a, b, c} { // the kernels do not check
		_ = m.Data[(m.Rows-1)*m.Stride+m.Cols-1]
	}
	switch beta {
	case 0:
		Zero(c)
	case 1:
	default:
		for i := range c.Rows {
			blas64.Scal(beta, Row(c, i))
		}
	}
	switch {
	case tb != blas.NoTrans:
		addDots(alpha, a, b, c)
	case c.Cols == 1 && b.Stride == 1 && c.Stride == 1 && (alpha == 1 || alpha == -1):
		addColumn(ta, alpha, a, b.Data[:k], c.Data[:c.Rows])
	default:
		addProducts(ta, alpha, a, b, c, k)
	}
}

// addColumn adds alpha·op(a)·b, of one column, to c, for alpha = 1 or −1.
func addColumn(ta blas.Transpose, alpha float64, a blas64.General, b, c []float64) {
	if ta != blas.NoTrans {
		for l, v := range b {
			blas64.Axpy(alpha*v, Row(a, l), Vec(c))
		}
		return
	}
	i := 0
	for ; i+panelRows <= len(c); i += panelRows { // their sums overlap in time
		at := a.Data[i*a.Stride:]
		r0, r1, r2, r3 := at[:len(b)], at[a.Stride:][:len(b)], at[2*a.Stride:][:len(b)], at[3*a.Stride:][:len(b)]
		s0, s1, s2, s3 := c[i], c[i+1], c[i+2], c[i+3]
		for l, v := range b {
			v *= alpha
			s0 += float64(r0[l] * v)
			s1 += float64(r1[l] * v)
			s2 += float64(r2[l] * v)
			s3 += float64(r3[l] * v)
		}
		c[i], c[i+1], c[i+2], c[i+3] = s0, s1, s2, s3
	}
	for ; i < len(c); i++ {
		for l, v := range Row(a, i).Data {
			c[i] += float64(alpha * v * b[l])
		}
	}
}

// addDots adds alpha·a·bᵀ to c, each entry a dot product of rows.
func addDots(alpha float64, a, b, c blas64.General) {
	var sums [dotRows * dotCols]float64
	for i := 0; i < c.Rows; i += dotRows {
		rows, first := min(dotRows, c.Rows-i), 0
		if cpu.X86.HasAVX512F && rows == dotRows {
			for ; first+wideDots <= c.Cols; first += wideDots {
				addDotsWide(a.Cols, alpha, &a.Data[i*a.Stride], a.Stride, &b.Data[first*b.Stride], b.Stride,
					&c.Data[i*c.Stride+first], c.Stride)
			}
		}
		for j := first; j < c.Cols; j += dotCols {
			cols, ldb := min(dotCols, c.Cols-j), b.Stride
			if cols < dotCols {
				ldb = 0 // the last row is multiplied twice
			}
			if rows == dotRows {
				dots(a.Cols, &a.Data[i*a.Stride], a.Stride, &b.Data[j*b.Stride], ldb, &sums)
			}
			for r := range rows {
				to := c.Data[(i+r)*c.Stride+j:][:cols]
				for s := range to {
					if rows < dotRows {
						sums[r*dotCols+s] = blas64.Dot(Row(a, i+r), Row(b, j+s))
					}
					to[s] += alpha * sums[r*dotCols+s]
				}
			}
		}
	}
}

// slide does as slideEach. The kernel multiplies four windows, and the next four windows by x four places later: these products
// meet the zeros before x first.
func slide(sums *[windows]float64, k int, long, x []float64) {
	if !cpu.X86.HasAVX {
		slideEach(sums, k, long, x)
		return
	}
	_, _ = long[dotRows-1+k+strands-1], x[strands+k+strands-1] // the kernel does not check
	var to [windows]float64
	dots(k+strands, &long[0], 1, &x[strands], -strands, &to)
	for s := range sums {
		sums[s] = to[s%dotRows*dotCols+s/dotRows]
	}
}

// Reflect sets a = x + k·y and b = y + k·x, which all have the length of x. a and b may not overlap others.
func Reflect(a, b []float64, k float64, x, y []float64) {
	if n := len(x); cpu.X86.HasAVX && n > 0 {
		_, _, _ = a[n-1], b[n-1], y[n-1] // the kernel does not check
		reflect(n, k, &a[0], &b[0], &x[0], &y[0])
		return
	}
	reflectEach(a, b, k, x, y)
}

// transpose sets dst to aᵀ, in strips of columns of a, so that the rows of dst stay in the first cache.
func transpose(dst, a blas64.General) {
	rows, cols := a.Rows&^(panelRows-1), a.Cols&^(panelRows-1)
	if !cpu.X86.HasAVX || rows == 0 || cols == 0 {
		transposeEach(dst, a)
		return
	}
	_, _ = a.Data[(a.Rows-1)*a.Stride+a.Cols-1], dst.Data[(a.Cols-1)*dst.Stride+a.Rows-1] // the kernel does not check
	for j := 0; j < cols; j += transposedCols {
		for i := 0; i < rows; i += panelRows {
			transposeFour(min(transposedCols, cols-j), 1, &a.Data[i*a.Stride+j], a.Stride, &dst.Data[j*dst.Stride+i], dst.Stride)
		}
	}
	right, below := Sub(a, 0, a.Rows, cols, a.Cols), Sub(a, rows, a.Rows, 0, cols)
	transposeEach(Sub(dst, cols, a.Cols, 0, a.Rows), right)
	transposeEach(Sub(dst, 0, cols, rows, a.Rows), below)
}

// transposedCols is the number of columns of a that transpose takes at a time: it writes to as many rows of dst, in each to the
// same line of a cache twice.
const transposedCols = 16

// addProducts adds alpha·op(a)·b to c.
func addProducts(ta blas.Transpose, alpha float64, a, b, c blas64.General, k int) {
	p := packs.Get().(*packed)
	p.fused = false
	for i := 0; i < c.Rows; i += Tile {
		rows := min(Tile, c.Rows-i)
		for l := 0; l < k; l += depth {
			deep := min(depth, k-l)
			p.packA(ta, alpha, a, i, rows, l, deep)
			p.addTimes(none, Rows(b, l, deep), Rows(c, i, rows), blas64.General{})
		}
	}
	packs.Put(p)
}

// solveByFours replaces b by alpha·t⁻¹b for a lower triangle t of at most Tile rows, with the bits of substitution row by row
// unless its products are fused: the kernel of products subtracts all rows before four from them. It reports false, and does
// nothing, for other sizes.
func solveByFours(fused bool, alpha float64, t blas64.Triangular, b blas64.General) bool {
	if !cpu.X86.HasAVX || t.N > Tile || t.N%panelRows != 0 || b.Cols%panelCols != 0 {
		return false
	}
	_, _ = t.Data[(t.N-1)*t.Stride+t.N-1], b.Data[(t.N-1)*b.Stride+b.Cols-1] // the kernels do not check
	a := blas64.General{Rows: t.N, Cols: t.N, Stride: t.Stride, Data: t.Data}
	p := packs.Get().(*packed)
	p.fused = fused && cpu.X86.HasFMA
	if alpha != 1 {
		for i := range t.N {
			blas64.Scal(alpha, Row(b, i))
		}
	}
	for r := 0; r < t.N; r += panelRows {
		if r > 0 {
			packPanel(p.a[:panelRows*r], blas.NoTrans, -1, a, r, panelRows, 0, r)
			to := b.Data[r*b.Stride:]
			for j, cols := 0, 0; j < b.Cols; j += cols {
				cols = p.width(panelRows, j, b.Cols-j)
				p.product(cols, r, &p.a[0], &b.Data[j], b.Stride, &to[j], b.Stride, &to[j])
			}
		}
		four := t
		four.N, four.Data = panelRows, t.Data[r*t.Stride+r:]
		blas64.Trsm(blas.Left, blas.NoTrans, 1, four, Rows(b, r, panelRows))
	}
	packs.Put(p)
	return true
}

// set packs alpha·op(a), at most a tile, for addTimes.
func (p *packed) set(fused bool, ta blas.Transpose, alpha float64, a blas64.General) {
	p.tile, p.fused = tile{ta, alpha, a}, fused && cpu.X86.HasFMA
	if cpu.X86.HasAVX {
		rows, cols := p.size()
		p.packA(ta, alpha, a, 0, rows, 0, cols)
	}
}

// addTo adds the product of what set packed and b to c. It fetches next, the b of the following call or nothing, into the cache.
func (p *packed) addTo(of triangle, b, c, next blas64.General) {
	if cpu.X86.HasAVX {
		p.addTimes(of, b, c, next)
	} else {
		p.tile.addTo(b, c)
	}
}

// addTimes adds to c the product of the packed matrix and b. It takes Tile columns at a time, which fit into the first cache. A
// panel of c stays in registers while the products are added to each of its entries.
func (p *packed) addTimes(of triangle, b, c, next blas64.General) {
	if len(next.Data) == 0 {
		next = b
	}
	var last *edge
	if narrow := c.Cols % panelCols; narrow > 0 || c.Rows%panelRows > 0 {
		last = edges.Get().(*edge)
		defer edges.Put(last)
		if narrow > 0 {
			last.packB(b, c.Cols-narrow, narrow)
		}
	}
	for first := 0; first < c.Cols; first += Tile {
		for r := 0; r < c.Rows; r += panelRows {
			end := min(first+Tile, c.Cols)
			if of&lowerC != 0 {
				end = min(end, (r+panelRows+panelCols-1)&^(panelCols-1))
			}
			lo, hi := p.z[r/panelRows][0], p.z[r/panelRows][1]
			if lo == hi {
				continue
			}
			rows, to, ahead := min(panelRows, c.Rows-r), c.Data[r*c.Stride:], next.Data[min(r*Tile, len(next.Data)-1):]
			for j, cols := first, 0; j < end; j += cols {
				cols = p.width(rows, j-first, end-j)
				if of&lowerB != 0 {
					if lo = max(lo, j); lo >= hi {
						break
					}
				}
				a, fetched := &p.a[r*b.Rows+lo*panelRows], &ahead[min((j-first)*panelRows, len(ahead)-1)]
				switch {
				case cols < panelCols:
					last.addTo(p, hi-lo, a, last.b[lo*panelCols:], panelCols, to[j:], c.Stride, rows, cols)
				case rows < panelRows:
					last.addTo(p, hi-lo, a, b.Data[lo*b.Stride+j:], b.Stride, to[j:], c.Stride, rows, cols)
				default:
					p.product(cols, hi-lo, a, &b.Data[lo*b.Stride+j], b.Stride, &to[j], c.Stride, fetched)
				}
			}
		}
	}
}

// width returns the number of columns of the panel of c at column j of a tile, from which as many as left remain.
func (p *packed) width(rows, j, left int) int {
	switch {
	case rows < panelRows || left < 2*panelCols:
		return min(panelCols, left)
	case cpu.X86.HasAVX512F:
		return wideCols
	case p.fused && j+left == Tile && left > 2*panelCols:
		return broadCols // four of them make a tile with two of panelCols
	}
	return panelCols
}

// product adds the product of a panel of a and one of b with some columns to c.
func (p *packed) product(cols, k int, a, b *float64, ldb int, c *float64, ldc int, ahead *float64) {
	switch {
	case cols == broadCols:
		fuseProductBroad(k, a, b, ldb, c, ldc, ahead)
	case cols == wideCols && p.fused:
		fuseProductWide(k, a, b, ldb, c, ldc, ahead)
	case cols == wideCols:
		addProductWide(k, a, b, ldb, c, ldc, ahead)
	case p.fused:
		fuseProduct(k, a, b, ldb, c, ldc, ahead)
	default:
		addProduct(k, a, b, ldb, c, ldc, ahead)
	}
}

// packA copies alpha·op(a) of some rows from i on and deep columns from l on; the last panel ends with rows of zeros.
func (p *packed) packA(ta blas.Transpose, alpha float64, a blas64.General, i, rows, l, deep int) {
	first := 0
	if whole := rows / panelRows; ta != blas.NoTrans && whole > 0 {
		packTransposed(deep, whole, alpha, &a.Data[l*a.Stride+i], a.Stride, &p.a[0])
		first = whole * panelRows
	}
	for r := 0; r < rows; r += panelRows {
		to := p.a[r*deep : (r+panelRows)*deep]
		if r >= first {
			packPanel(to, ta, alpha, a, i+r, min(panelRows, rows-r), l, deep)
		}
		p.z[r/panelRows] = nonZeroColumns(to)
	}
}

// packPanel does as packA for one panel.
func packPanel(to []float64, ta blas.Transpose, alpha float64, a blas64.General, i, rows, l, deep int) {
	first := 0
	switch {
	case rows < panelRows:
		clear(to)
	case ta == blas.NoTrans && deep >= panelRows:
		first = deep &^ (panelRows - 1)
		transposeFour(first, alpha, &a.Data[i*a.Stride+l], a.Stride, &to[0], panelRows)
	}
	if ta == blas.NoTrans {
		for s := range rows {
			for t, v := range a.Data[(i+s)*a.Stride+l:][first:deep] {
				to[(first+t)*panelRows+s] = alpha * v
			}
		}
		return
	}
	for t := range deep {
		for s, v := range a.Data[(l+t)*a.Stride+i:][:rows] {
			to[t*panelRows+s] = alpha * v
		}
	}
}

// nonZeroColumns returns the range of columns in which a panel of a is not zero: covariances of distant observations underflow to
// zero.
func nonZeroColumns(panel []float64) (between [2]int) {
	isZero := func(t int) bool {
		c := (*[panelRows]float64)(panel[t*panelRows:])
		return *c == [panelRows]float64{}
	}
	lo, hi := 0, len(panel)/panelRows
	for lo < hi && isZero(lo) {
		lo++
	}
	for lo < hi && isZero(hi-1) {
		hi--
	}
	return [2]int{lo, hi}
}

// packB copies some columns of b from j on, zeros to the right of them.
func (e *edge) packB(b blas64.General, j, cols int) {
	clear(e.b[:b.Rows*panelCols])
	for t := range b.Rows {
		copy(e.b[t*panelCols:], b.Data[t*b.Stride+j:][:cols])
	}
}

// addTo does as addProduct for a panel of c with fewer rows or columns.
func (e *edge) addTo(p *packed, k int, a *float64, b []float64, ldb int, c []float64, ldc, rows, cols int) {
	for r := range rows {
		copy(e.c[r*panelCols:], c[r*ldc:][:cols])
	}
	p.product(panelCols, k, a, &b[0], ldb, &e.c[0], panelCols, &b[0])
	for r := range rows {
		copy(c[r*ldc:][:cols], e.c[r*panelCols:])
	}
}
