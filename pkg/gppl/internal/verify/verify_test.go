package verify_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		got, want, limit float64
		ok               bool
	}{
		{1, 1, 0, true}, {1, 1.5, 0.5, true}, {1.5, 1, 0.5, true}, {1, 1.6, 0.5, false}, {-1, 1, 1.9, false},
		{math.NaN(), 1, 1, false}, {1, math.NaN(), 1, false}, {1, 1, math.NaN(), false},
		{math.Inf(1), math.Inf(1), 1, false}, {math.Inf(1), 1, math.MaxFloat64, false},
	} {
		err := verify.Near("the answer", c.got, c.want, c.limit)
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, new(verify.Failed)) || !strings.Contains(err.Error(), "the answer")) {
			t.Errorf("%v for %v within %v: %v", c.got, c.want, c.limit, err)
		}
	}
}

// TestPick: an index follows from the parameters alone, moves with the last digit of any of them, and reaches all there are.
func TestPick(t *testing.T) {
	const n, tries = 16, 4000
	var count [n]int
	moved := 0
	for i := range tries {
		theta := 1 + float64(i)/tries
		at := verify.Pick(n, theta, 2)
		if at != verify.Pick(n, theta, 2) {
			t.Fatal("the same parameters have another index")
		}
		if count[at]++; at != verify.Pick(n, math.Nextafter(theta, 2), 2) || at != verify.Pick(n, theta, math.Nextafter(2, 3)) {
			moved++
		}
	}
	for i, c := range count {
		if c < tries/n/2 || c > 2*tries/n {
			t.Errorf("index %d of %d was picked %d times in %d", i, n, c, tries)
		}
	}
	if moved < tries*9/10 {
		t.Errorf("one digit moves %d of %d indices", moved, tries)
	}
}

func TestTampered(t *testing.T) {
	x := []float64{1, 2}
	verify.Tampered("x", x)
	verify.Tamper = func(what string, x []float64) {
		if what == "x" {
			x[1] = 7
		}
	}
	defer func() { verify.Tamper = nil }()
	verify.Tampered("y", x)
	if x[1] != 2 {
		t.Error("what was not asked for is spoilt")
	}
	if verify.Tampered("x", x); x[0] != 1 || x[1] != 7 {
		t.Errorf("spoilt: %v", x)
	}
}

// TestDirection: no two parameters have the same step, and none is small beside another.
func TestDirection(t *testing.T) {
	for i := range 30 {
		if a, b := verify.Direction(i), verify.Direction(i+1); !(a > b && b > 0.05) {
			t.Errorf("steps of parameters %d and %d: %v and %v", i, i+1, a, b)
		}
	}
}
