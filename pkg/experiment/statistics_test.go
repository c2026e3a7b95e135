package experiment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestPrediction checks the level: of numbers that are one more draw, five in a hundred are rejected, and of others more.
func TestPrediction(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rejected := func(shift float64) (count int) {
		for range 4000 {
			v := make([]float64, 8)
			for i := range v {
				v[i] = rnd.NormFloat64()
			}
			if prediction(rnd.NormFloat64()+shift, v, false).P < 0.05 {
				count++
			}
		}
		return count
	}
	if n := rejected(0); n < 150 || n > 250 {
		t.Errorf("%d of 4000 are rejected at 5 %%", n)
	}
	if n := rejected(4); n < 3000 {
		t.Errorf("%d of 4000 are rejected four standard deviations off", n)
	}
	if prediction(1, []float64{2}, false) != nil {
		t.Error("one draw makes a test")
	}
}

func TestSigns(t *testing.T) {
	if p := signs(0, 20).P; math.Abs(p-math.Exp2(-20)) > 1e-12 {
		t.Errorf("no win of 20: %v", p)
	}
	if p := signs(10, 20).P; p < 0.5 {
		t.Errorf("10 wins of 20: %v", p)
	}
}

// TestHolm compares the correction with an example computed by hand.
func TestHolm(t *testing.T) {
	got := holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("p %d becomes %v, want %v", i, got[i], want)
		}
	}
}

// TestMedianInterval checks that the interval between two values holds the median in 95 % of samples or somewhat more, and that
// it is no wider than necessary: of twenty values the sixth to the fifteenth, of six all.
func TestMedianInterval(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{6, 11, 20} {
		held := 0
		const runs = 2000
		for range runs {
			v := make([]float64, n)
			for i := range v {
				v[i] = rnd.ExpFloat64()
			}
			if s := medianSpan(v); s.lo <= math.Ln2 && math.Ln2 <= s.hi {
				held++
			}
		}
		if held < runs*94/100 || held > runs*99/100 {
			t.Errorf("of %d intervals from %d values %d hold the median", runs, n, held)
		}
	}
	v := make([]float64, 20)
	for i := range v {
		v[i] = float64(i + 1)
	}
	if s := medianSpan(v); s.lo != 6 || s.hi != 15 {
		t.Errorf("of 1 to 20: %v", s)
	}
	if s := medianSpan(v[:6]); s.lo != 1 || s.hi != 6 {
		t.Errorf("of 1 to 6: %v", s)
	}
}

// TestMedianSpan checks that 95 % of the intervals hold the median, nested or not.
func TestMedianSpan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	held := 0
	runs := testkit.Size(60, 100, 200)
	for range runs {
		groups := make([][]float64, 20)
		for i := range groups {
			shift := rnd.NormFloat64()
			for range 3 {
				groups[i] = append(groups[i], shift+rnd.NormFloat64())
			}
		}
		if s := nestedSpan(groups); s.lo <= 0 && 0 <= s.hi {
			held++
		}
	}
	if held < 7*runs/8 {
		t.Errorf("%d of %d intervals hold the median", held, runs)
	}
}

func TestWithinShare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	groups := make([][]float64, 400)
	for i := range groups {
		shift := 2 * rnd.NormFloat64()
		for range 4 {
			groups[i] = append(groups[i], shift+rnd.NormFloat64())
		}
	}
	if got := withinShare(groups); math.Abs(got-0.2) > 0.05 {
		t.Errorf("the share within is %v, want 0.2", got)
	}
}

// TestWithoutSpread checks that equal numbers give a probability, not NaN, which would pass every comparison with a level.
func TestWithoutSpread(t *testing.T) {
	equal := []float64{2, 2, 2}
	for name, c := range map[string]struct {
		got  *Test
		want float64
	}{
		"above the limit": {above(equal, 1), 0},
		"below the limit": {above(equal, 3), 1},
		"at the limit":    {above(equal, 2), 1},
		"another number":  {prediction(3, equal, false), 0},
		"the same number": {prediction(2, equal, false), 1},
	} {
		if c.got.P != c.want {
			t.Errorf("%s: p = %v, want %v", name, c.got.P, c.want)
		}
	}
}
