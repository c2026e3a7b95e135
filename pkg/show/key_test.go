package show_test

import (
	"regexp"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/show"
)

// TestKey: the key depends on each setting, values of different types have different keys, and a key is a valid file name.
func TestKey(t *testing.T) {
	seen := map[string]bool{}
	for _, knobs := range [][]any{
		nil, {1}, {2}, {1, 2}, {12}, {1.}, {"1"}, {"../data/x y.csv"}, {gppl.SE{Variance: 1, Lengthscale: 2}},
		{gppl.SE{Variance: 1, Lengthscale: 3}}, {gppl.Matern32{Variance: 1, Lengthscale: 3}},
	} {
		key := show.Key("fit", knobs...)
		if seen[key] || key != show.Key("fit", knobs...) || !regexp.MustCompile(`^fit-[0-9a-f]{24}$`).MatchString(key) {
			t.Errorf("%v: key %q", knobs, key)
		}
		seen[key] = true
	}
	for _, rate := range []float64{0.1, 0.2} { // functions of the same code
		s := gppl.Settings{Method: gppl.AdamRate(rate)}
		if seen[show.Key("fit", s)] {
			t.Errorf("the key of %v is that of another rate", s)
		}
		seen[show.Key("fit", s)] = true
	}
	for i := range 3 { // the text of the data does not show this
		y := []float64{1, 2, 3, 4}
		y[i] += 1e-9
		d, err := gppl.NewData(gppl.Scalars([]float64{0, 1, 2, 3}), y)
		if err != nil {
			t.Fatal(err)
		}
		if seen[show.Key("fit", d)] {
			t.Errorf("the key of %v is that of other observations", y)
		}
		seen[show.Key("fit", d)] = true
	}
	if show.Key("a", 1) == show.Key("b", 1) {
		t.Error("names do not count")
	}
}

// TestCache: a value is computed once for a key, in the folder of the kernel; without one it is computed each time.
func TestCache(t *testing.T) {
	calls := 0
	compute := func() []float64 { calls++; return []float64{float64(calls)} }
	t.Setenv("GONB_TMP_DIR", t.TempDir())
	for _, want := range []float64{1, 1} {
		if got := show.Cache(show.Key("a", 1), compute); len(got) != 1 || got[0] != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := show.Cache(show.Key("a", 2), compute); got[0] != 2 {
		t.Errorf("another knob: %v", got)
	}
	t.Setenv("GONB_TMP_DIR", t.TempDir())
	if got := show.Cache(show.Key("a", 1), compute); got[0] != 3 {
		t.Errorf("another kernel: %v", got)
	}
	t.Setenv("GONB_TMP_DIR", "")
	if got := show.Cache(show.Key("a", 1), compute); got[0] != 4 {
		t.Errorf("no kernel: %v", got)
	}
}
