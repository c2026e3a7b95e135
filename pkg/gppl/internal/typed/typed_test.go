package typed

import "testing"

type inner struct{ A, B float64 }

func TestRead(t *testing.T) {
	for _, c := range []struct {
		json string
		want inner
		ok   bool
	}{
		{`{"A": 2}`, inner{A: 2}, true},
		{`{"A": 2, "C": 3}`, inner{}, false},
		{`{"A": 2} {}`, inner{}, false},
		{`{"A": "2"}`, inner{}, false},
		{``, inner{}, false},
	} {
		for _, zero := range []any{inner{}, (*inner)(nil)} {
			got, err := Read(zero, []byte(c.json))
			if (err == nil) != c.ok {
				t.Errorf("%s: %v", c.json, err)
				continue
			}
			if p, is := got.(*inner); is && c.ok {
				got = *p
			}
			if c.ok && got != c.want {
				t.Errorf("%s: %v, want %v", c.json, got, c.want)
			}
		}
	}
	if v, err := Read(inner{}, nil); err != nil || v != (inner{}) {
		t.Errorf("no fields: %v, %v", v, err)
	}
}

func TestName(t *testing.T) {
	if a, b := Name(inner{}), Name(&inner{}); a != "inner" || b != "inner" {
		t.Errorf("%q, %q", a, b)
	}
}
