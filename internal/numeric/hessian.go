package numeric

import "gonum.org/v1/gonum/mat"

// Gradient sets grad to the derivatives of a function at u, and returns its value. It keeps neither slice.
type Gradient func(grad, u []float64) (value float64, err error)

// GradientStep is the step of differences of gradients in the raw parameters of a training, most of which are logs.
const GradientStep = 1e-4

// Hessian returns the second derivatives at u of the function with gradient f, by central differences of the gradient,
//
//	h_ab = ½(D_a f_b + D_b f_a), D_a f = (f(u + s·e_a) − f(u − s·e_a)) / 2s for the step s,
//
// and first, the same differences D_a of its values. Both are exact to O(s²). It takes 2·len(u) calls of f, none of them at u,
// and ends with the first error of f.
func Hessian(f Gradient, u []float64, step float64) (h *mat.SymDense, first []float64, err error) {
	p := len(u)
	h, first = mat.NewSymDense(p, nil), make([]float64, p)
	at := append([]float64(nil), u...)
	plus, minus := make([]float64, p), make([]float64, p)
	for a := range p {
		at[a] = u[a] + step
		above, err := f(plus, at)
		if err != nil {
			return nil, nil, err
		}
		at[a] = u[a] - step
		below, err := f(minus, at)
		if err != nil {
			return nil, nil, err
		}
		at[a] = u[a]
		first[a] = (above - below) / (2 * step)
		for b := range p {
			d := (plus[b] - minus[b]) / (2 * step)
			if b < a {
				d = 0.5 * (d + h.At(a, b))
			}
			h.SetSym(a, b, d)
		}
	}
	return h, first, nil
}

// ForwardHessian returns the second derivatives as Hessian does, but by forward differences from the gradient at u,
//
//	D_a f_b = (f_b(u + s·e_a) − f_b(u)) / s,
//
// exact to O(s). It takes len(u) calls of f, half as many.
func ForwardHessian(f Gradient, u, gradient []float64, step float64) (*mat.SymDense, error) {
	p := len(u)
	h, at, moved := mat.NewSymDense(p, nil), append([]float64(nil), u...), make([]float64, p)
	for a := range p {
		at[a] = u[a] + step
		if _, err := f(moved, at); err != nil {
			return nil, err
		}
		at[a] = u[a]
		for b := range p {
			d := (moved[b] - gradient[b]) / step
			if b < a {
				d = 0.5 * (d + h.At(a, b))
			}
			h.SetSym(a, b, d)
		}
	}
	return h, nil
}
