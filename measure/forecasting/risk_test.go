package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/competition"
	"github.com/projected-likelihood/gppl/internal/risk"
)

// TestDoubt: the fit finds the coefficients with which forecasts were made to fail.
func TestDoubt(t *testing.T) {
	want := []float64{2, -1, -0.8, 0.3, 0.5}
	rng := rand.New(rand.NewPCG(1, 0))
	var all []competition.Detail
	for range 40_000 {
		d := competition.Detail{N: 10 + rng.IntN(200), Log: rng.Float64(), Away: math.Exp(rng.NormFloat64()), Apart: math.Exp(rng.NormFloat64()), Cover95: 1}
		if rng.Float64() < risk.Probability(want, predictors(d)) {
			d.Cover95 = 0
		}
		all = append(all, d)
	}
	got, err := logistic(all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.15 {
			t.Errorf("coefficient %d is %v, want %v", i, got[i], want[i])
		}
	}

	path := filepath.Join(t.TempDir(), "details.jsonl")
	failed := competition.Detail{Error: "no"}
	if err := competition.WriteDetails(path, append(all, failed)); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := fitRisk(&out, path); err != nil || !strings.HasPrefix(out.String(), "40000 series: level ") {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := competition.WriteDetails(path, []competition.Detail{failed}); err != nil {
		t.Fatal(err)
	}
	if err := fitRisk(&out, path); err == nil || !strings.Contains(err.Error(), "no forecasts") {
		t.Error(err)
	}
}
