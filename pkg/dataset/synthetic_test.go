package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func TestSynthetic(t *testing.T) {
	s := Synthetic{Model: gppl.Model{Kernel: gppl.SE{Variance: 2, Lengthscale: 1}, Noise: 0.25}, N: 600, Seed: 3}
	series, f, jitter, err := s.Draw()
	if err != nil {
		t.Fatal(err)
	}
	if series.Len() != 600 || len(f) != 600 || !slices.IsSorted(series.X) || series.X[0] < 0 || series.X[599] >= 1000 {
		t.Fatalf("%v", series)
	}
	if jitter > 2e-6 {
		t.Errorf("jitter %v", jitter)
	}
	var signal, noise float64
	for i := range f {
		signal += f[i] * f[i] / 600
		noise += (series.Y[i] - f[i]) * (series.Y[i] - f[i]) / 600
	}
	if math.Abs(signal-2) > 0.7 || math.Abs(noise-0.25) > 0.08 { // the limits are five standard errors
		t.Errorf("variance of the signal %v, want 2; of the noise %v, want 0.25", signal, noise)
	}
	again, _, _, _ := s.Draw()
	s.Seed = 4
	other, _, _, _ := s.Draw()
	if !slices.Equal(again.Y, series.Y) || slices.Equal(other.Y, series.Y) {
		t.Error("draws do not follow their seed")
	}
	s.Model.Noise = -1
	if _, _, _, err := s.Draw(); err == nil {
		t.Error("no error for a negative noise variance")
	}
}
