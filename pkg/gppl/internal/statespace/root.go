package statespace

import "math"

// choleskyRoot sets l, lower triangular, to a root of c, which may be singular: a pivot
// that is no more than rounding has a column of zeros.
func choleskyRoot(l, c []float64, d int) {
	clear(l)
	for j := range d {
		pivot := c[j*d+j]
		for _, v := range l[j*d:][:j] {
			pivot -= v * v
		}
		if !(pivot > 4*0x1p-52*c[j*d+j]) {
			continue
		}
		pivot = math.Sqrt(pivot)
		l[j*d+j] = pivot
		for i := j + 1; i < d; i++ {
			v := c[i*d+j]
			for k, w := range l[j*d:][:j] {
				v -= l[i*d+k] * w
			}
			l[i*d+j] = v / pivot
		}
	}
}

// triangularise makes the first so many columns of a, rows×cols, upper triangular by
// reflections.
func triangularise(a []float64, rows, cols, first int) {
	for j := range first {
		var largest float64
		for i := j; i < rows; i++ {
			largest = max(largest, math.Abs(a[i*cols+j]))
		}
		if largest == 0 {
			continue
		}
		var square float64
		for i := j; i < rows; i++ {
			v := a[i*cols+j] / largest
			square += v * v
		}
		norm := math.Sqrt(square)
		head := a[j*cols+j] / largest
		scale := norm * (norm + math.Abs(head)) // ½|v|², v the column less its image, over largest²
		image := -math.Copysign(norm, head)
		a[j*cols+j] = (head - image) * largest
		for k := j + 1; k < cols; k++ {
			var dot float64
			for i := j; i < rows; i++ {
				dot += a[i*cols+j] / largest * a[i*cols+k]
			}
			dot /= scale
			for i := j; i < rows; i++ {
				a[i*cols+k] -= dot * (a[i*cols+j] / largest)
			}
		}
		a[j*cols+j] = image * largest
		for i := j + 1; i < rows; i++ {
			a[i*cols+j] = 0
		}
	}
}
