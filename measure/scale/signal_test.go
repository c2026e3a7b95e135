package main

import (
	"math"
	"testing"
)

// TestSignal compares the polynomial between grid points with the series itself at twice the resolution, by its own consistency:
// the polynomial through every other point must give the points between.
func TestSignal(t *testing.T) {
	f := newSignal(200, 3)
	coarse := &signalGrid{span: f.span, step: 2 * f.step}
	for i := 0; i < len(f.value); i += 2 {
		coarse.value = append(coarse.value, f.value[i])
	}
	var worst float64
	for i := taps; i < 3000; i++ {
		// Both begin taps/2 − 1 of their own steps before 0.
		at := float64(i) * f.step
		place := at + (taps/2-1)*coarse.step // counted from the beginning of the coarse grid
		want := f.value[int(math.Round(place/f.step))]
		worst = max(worst, math.Abs(coarse.interpolate(at)-want))
	}
	// Twelve points at half the resolution err 2^12 times as much.
	if worst > 1e-9*4096 {
		t.Errorf("off by %.2g", worst)
	}
	var square float64
	for _, v := range f.value {
		square += v * v / float64(len(f.value))
	}
	if square < 0.6 || square > 1.5 {
		t.Errorf("variance %v over 200 lengthscales, want about 1", square)
	}
	t.Logf("half the resolution is off by %.2g", worst)
}
