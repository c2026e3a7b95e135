package text

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"SE.variance", "SE.lengthscale", "noise variance"}
	for spec, want := range map[string]string{"lengthscale": "SE.lengthscale", "Noise": "noise variance",
		"se.varience": "SE.variance", "": "SE.variance"} {
		if got := Nearest(spec, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", spec, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("nearest of no names is %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, d := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"abc", "abc", 0}, {"ab", "ba", 2}} {
		if got := Distance(d.a, d.b); got != d.want {
			t.Errorf("from %q to %q: %d, want %d", d.a, d.b, got, d.want)
		}
	}
}
