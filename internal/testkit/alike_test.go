package testkit

import "testing"

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		share float64
		want  bool
	}{
		{"a 0.61 times, 28 steps", "a 0.62 times, 28 steps", 0.02, true},
		{"a 0.61 times", "a 0.63 times", 0.02, false},
		{"a 0.61 times", "a 0.61 times", 0, true},
		{"374.606", "374.609", 1e-4, true},
		{"374.606", "375.606", 1e-4, false},
		{"3 steps", "4 steps", 1e-4, false},
		{"a 0.61", "b 0.61", 1, false},
	} {
		if Alike(c.a, c.b, c.share) != c.want {
			t.Errorf("%q and %q with %v: not %v", c.a, c.b, c.share, c.want)
		}
	}
}
