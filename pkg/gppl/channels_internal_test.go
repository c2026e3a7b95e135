package gppl

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// TestChannelsChecked: a derivative that is wrong is no answer.
func TestChannelsChecked(t *testing.T) {
	defer func() { verify.Tamper = nil }()
	rnd := rand.New(rand.NewPCG(1, 1))
	x, y, channel := make([]float64, 30), make([]float64, 30), make([]int, 30)
	for i := range x {
		x[i], y[i], channel[i] = float64(i), rnd.NormFloat64(), i%2
	}
	m := Model{Kernel: SHO{Variance: 1, Period: 5, Quality: 2}, Channels: []Channel{{Name: "A",
		Value: 1, Noise: 0.1}, {Name: "B", Value: 0.4, Slope: 2, Noise: 0.2}}}
	l, err := NewExact(t.Context(), m, Data{X: Scalars(x), Y: y, Channels: channel})
	if err != nil {
		t.Fatal(err)
	}
	theta := Values(m.Params())
	verify.Tamper = func(_ string, x []float64) { x[1] *= 1.001 }
	if _, err := l.ValueGrad(t.Context(), make([]float64, len(theta)), theta); err == nil ||
		!strings.Contains(err.Error(), "scale of the coefficients") {
		t.Errorf("a wrong derivative: %v", err)
	}
}
