package viz

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSpreadOf(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{[]float64{3}, Spread{N: 1, Median: 3, Q1: 3, Q3: 3, Worst: 3}},
		{[]float64{4, 1}, Spread{N: 2, Median: 2.5, Q1: 1.75, Q3: 3.25, Worst: 4}},
		{[]float64{5, 1, 4, 2, 3}, Spread{N: 5, Median: 3, Q1: 2, Q3: 4, Worst: 5}},
		{[]float64{nan, 1, inf, 2, -inf}, Spread{N: 2, Failed: 3, Median: 1.5, Q1: 1.25, Q3: 1.75, Worst: 2}},
	} {
		in := slices.Clone(c.values)
		if got := SpreadOf(in); got != c.want {
			t.Errorf("%v: got %+v, want %+v", c.values, got, c.want)
		}
		if c.values[0] == c.values[0] && !slices.Equal(in, c.values) {
			t.Error("input modified")
		}
	}
	for _, none := range [][]float64{nil, {nan}} {
		if s := SpreadOf(none); s.N != 0 || s.Failed != len(none) || !math.IsNaN(s.Median) || !math.IsNaN(s.Worst) {
			t.Errorf("of nothing finite: %+v", s)
		}
	}
}

func TestSpreadCells(t *testing.T) {
	tb := &Table{
		Caption: "PL",
		Columns: []Column{{Name: "method"}, {Name: "NLL", Format: Fixed(1), Best: true}, {Name: "time", Format: lasting}},
		Rows: [][]any{
			{"PL", SpreadOf([]float64{1, 2, nan, 3}), SpreadOf([]float64{0.001, 0.002})},
			{"ML", 2.04, 130.0},
			{"VFE", 7, SpreadOf([]float64{nan, nan})},
		},
		Notes: []string{"a note"},
	}
	const want = `PL
method                                  NLL                                  time
──────  ───────────────────────────────────  ────────────────────────────────────
PL      2.0* [1.5, 2.5] worst 3.0, 1 failed  1.5 ms [1.2 ms, 1.8 ms] worst 2.0 ms
ML                                     2.0*                            2 min 10 s
VFE                                    7.0                             – 2 failed
Median [lower quartile, upper quartile] worst, of 2 to 4 runs.
a note
`
	if got := tb.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	h, err := tb.HTML()
	if err != nil {
		t.Fatal(err)
	}
	s := string(h)
	for _, want := range []string{"<strong>2.0</strong><br>", "[1.5, 2.5]<br>worst 3.0, 1 failed",
		"of 2 to 4 runs", "text-align:right"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in %s", want, s)
		}
	}
	plain := &Table{Columns: []Column{{Name: "a"}}, Rows: [][]any{{1}}}
	if strings.Contains(plain.String(), "quartile") {
		t.Error("a table without spreads explains them")
	}
}

func TestStatus(t *testing.T) {
	signs := map[string]Status{}
	for s := range badges {
		h := s.html()
		if other, ok := signs[s.badge().sign]; ok {
			t.Errorf("%q and %q have one sign", s, other)
		}
		signs[s.badge().sign] = s
		if !strings.Contains(h, string(s)) || !strings.Contains(h, "print-color-adjust") {
			t.Errorf("%q is shown as %s", s, h)
		}
	}
	tb := &Table{Columns: []Column{{Name: "verdict"}}, Rows: [][]any{{Status("reproduced")}, {Status("<script>")}, {Status("")}}}
	h, err := tb.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(h), "<script>") || !strings.Contains(string(h), "✓ reproduced</span>") ||
		!strings.Contains(string(h), ">–</td>") {
		t.Errorf("got %s", h)
	}
	if got := tb.String(); !strings.Contains(got, "✓ reproduced\n") {
		t.Errorf("got\n%s", got)
	}
}
