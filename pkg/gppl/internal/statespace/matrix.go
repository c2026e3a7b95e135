package statespace

// Small matrices by rows, and vectors.

// addScaled adds w·x to dst, which may be shorter.
func addScaled(dst []float64, w float64, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] += w * v
	}
}

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// apply sets dst = B·x.
func apply(dst, b, x []float64) {
	d := len(x)
	for i := range dst {
		var v float64
		for j, w := range b[i*d:][:d] {
			v += w * x[j]
		}
		dst[i] = v
	}
}

// mirror copies the lower triangle to the upper one.
func mirror(m []float64, d int) {
	for i := range d {
		for j, v := range m[i*d:][:i] {
			m[j*d+i] = v
		}
	}
}

// subtractOuter subtracts a·bᵀ from m.
func subtractOuter(m, a, b []float64) {
	for i, v := range a {
		row := m[i*len(b):][:len(b)]
		for j, w := range b {
			row[j] -= v * w
		}
	}
}

// leftRight sets dst = A·P·Bᵀ, m×n. It uses x, m×n.
func leftRight(dst, x, a, p, b []float64, m, n int) {
	for i := range m {
		row := x[i*n:][:n]
		clear(row)
		for j, w := range a[i*m:][:m] {
			addScaled(row, w, p[j*n:])
		}
		for j := range n {
			var v float64
			for k, w := range b[j*n:][:n] {
				v += w * row[k]
			}
			dst[i*n+j] = v
		}
	}
}

// multiplyRow sets dst = rowᵀ·a.
func multiplyRow(dst, row, a []float64) {
	clear(dst)
	for k, v := range row {
		addScaled(dst, v, a[k*len(row):][:len(row)])
	}
}

// multiplySquare sets dst = a·b, d×d.
func multiplySquare(dst, a, b []float64, d int) {
	for i := range d {
		multiplyRow(dst[i*d:][:d], a[i*d:][:d], b)
	}
}

// swapFirst exchanges the first number of a step's end (rows), or of its start (columns), with the first number of x.
func swapFirst(a []float64, m, slots int, rows, columns bool) {
	for i := range m {
		if rows {
			a[i], a[slots*m+i] = a[slots*m+i], a[i]
		}
	}
	for i := range m {
		if columns {
			a[i*m], a[i*m+slots] = a[i*m+slots], a[i*m]
		}
	}
}

// negate sets dst = −x.
func negate(dst, x []float64) {
	for i := range dst {
		dst[i] = -x[i]
	}
}
