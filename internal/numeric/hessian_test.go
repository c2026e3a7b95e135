package numeric

import (
	"errors"
	"math"
	"testing"
)

// exponential is e^(u₀ + 2u₁) + u₀u₂².
func exponential(grad, u []float64) (float64, error) {
	e := math.Exp(u[0] + 2*u[1])
	grad[0], grad[1], grad[2] = e+u[2]*u[2], 2*e, 2*u[0]*u[2]
	return e + u[0]*u[2]*u[2], nil
}

func TestHessian(t *testing.T) {
	u := []float64{0.3, -0.2, 1.5}
	h, first, err := Hessian(exponential, u, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	e := math.Exp(u[0] + 2*u[1])
	want := [][]float64{{e, 2 * e, 2 * u[2]}, {2 * e, 4 * e, 0}, {2 * u[2], 0, 2 * u[0]}}
	grad := make([]float64, 3)
	exponential(grad, u)
	forward, err := ForwardHessian(exponential, u, grad, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for a := range 3 {
		if math.Abs(first[a]-grad[a]) > 1e-7 {
			t.Errorf("first derivative %d = %v, want %v", a, first[a], grad[a])
		}
		for b := range 3 {
			if math.Abs(h.At(a, b)-want[a][b]) > 1e-7 {
				t.Errorf("h[%d,%d] = %v, want %v", a, b, h.At(a, b), want[a][b])
			}
			if math.Abs(forward.At(a, b)-want[a][b]) > 1e-5 {
				t.Errorf("forward, h[%d,%d] = %v, want %v", a, b, forward.At(a, b), want[a][b])
			}
		}
	}
	if u[0] != 0.3 || u[1] != -0.2 || u[2] != 1.5 {
		t.Errorf("u was changed to %v", u)
	}
}

// TestHessianError: the first error ends the computation, whichever call returns it.
func TestHessianError(t *testing.T) {
	wrong := errors.New("wrong")
	for fails := range 6 {
		calls := 0
		f := func(grad, u []float64) (float64, error) {
			if calls++; calls > fails {
				return 0, wrong
			}
			return exponential(grad, u)
		}
		if _, _, err := Hessian(f, make([]float64, 3), 1e-3); !errors.Is(err, wrong) || calls != fails+1 {
			t.Errorf("call %d: error %v after %d calls", fails, err, calls)
		}
	}
}
