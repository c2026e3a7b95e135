package viz

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func results() *Table {
	return &Table{
		Caption: "Results",
		Columns: []Column{{Name: "method"}, {Name: "NLL", Unit: "nats", Format: Fixed(1), Best: true}, {Name: "time", Best: true}},
		Rows: [][]any{
			{"ML", 1468.565, 2 * time.Minute},
			{"PL", 1468.56, 12 * time.Millisecond},
			{"VFE", nan, nil},
			{"SoR", -inf, nil},
		},
		Notes: []string{"a note"},
	}
}

func TestTableString(t *testing.T) {
	const want = `Results
method  NLL (nats)         time
──────  ──────────  ───────────
ML         1468.6*  2 min 00 s
PL         1468.6*       12 ms*
VFE             –            –
SoR            −∞            –
a note
`
	if got := results().String(); got != want {
		t.Errorf("got\n%s", got)
	}
	// What HTML refuses is still printed, as well as it can be.
	_ = (&Table{}).String()
	_ = (&Table{Columns: []Column{{}, {}}, Rows: [][]any{{}, {1, 2, 3}}}).String()
}

// TestLines checks that the lines of a cell are lines in HTML, and parts of one line in a terminal.
func TestLines(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "measured"}}, Rows: [][]any{{[]string{"a < b", "c"}}}}
	h, err := table.HTML()
	if err != nil || !strings.Contains(string(h), "a &lt; b<br>c</td>") {
		t.Errorf("%v, %s", err, h)
	}
	if got := table.String(); !strings.Contains(got, "a < b; c\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestBestOfRow checks that the best of a row is its smallest value, or the nearest to the target, among the columns that are
// compared.
func TestBestOfRow(t *testing.T) {
	score := Column{Format: Fixed(2), BestOfRow: true}
	share := Column{Format: Percent(0), BestOfRow: true, Target: 0.95}
	for _, c := range []struct {
		column Column
		row    []any
		want   string
	}{
		{score, []any{-1, 0.5, 0.301, 0.302, nil}, "  0.30*  0.30*"},
		{share, []any{-1, 1.0, 0.93, 0.5, nan}, "  93 %*  50 %"},
	} {
		table := &Table{Columns: []Column{{Name: "n"}, c.column, c.column, c.column, c.column}, Rows: [][]any{c.row}}
		if got := table.String(); !strings.Contains(got, c.want) || strings.Contains(got, "-1*") {
			t.Errorf("%q is not in\n%s", c.want, got)
		}
	}
}

func TestTableHTML(t *testing.T) {
	h, err := results().HTML()
	if err != nil {
		t.Fatal(err)
	}
	s := string(h)
	if n := strings.Count(s, "<strong>"); n != 3 {
		t.Errorf("%d values emphasised: two that look alike and one were to be", n)
	}
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(s, "<br>", "<br/>")))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []*Table{{}, {Columns: []Column{{}}, Rows: [][]any{{1, 2}}},
		{Columns: []Column{{}, {}}, Rows: [][]any{{1}}}} {
		if _, err := bad.HTML(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// TestTableAlign checks that numbers are aligned to the right even if some are unknown.
func TestTableAlign(t *testing.T) {
	for want, values := range map[bool][]any{true: {1.5, "", nil, "–"}, false: {1.5, "none", nil, ""}} {
		table := &Table{Columns: []Column{{Name: "a"}}}
		for _, v := range values {
			table.Rows = append(table.Rows, []any{v})
		}
		if _, right := table.cells(); right[0] != want {
			t.Errorf("%v is aligned to the right: %v, want %v", values, right[0], want)
		}
	}
}

// TestTableHeader checks that a column without a name has no header: a screen reader would read an empty one at every cell.
func TestTableHeader(t *testing.T) {
	s := string(Must((&Table{Columns: []Column{{}, {Name: "a"}}, Rows: [][]any{{"x", 1}}}).HTML()))
	if strings.Count(s, "<th ") != 1 || strings.Count(s, "</th>") != 1 {
		t.Errorf("want one header: %s", s)
	}
}

// TestTableSentences checks that a long text keeps a readable width where the page is narrow.
func TestTableSentences(t *testing.T) {
	s := string(Must((&Table{Columns: []Column{{Name: "why"}}, Rows: [][]any{{strings.Repeat("why ", 20)}, {"short"}}}).HTML()))
	if strings.Count(s, "min-width:16em") != 1 {
		t.Errorf("want one wide cell: %s", s)
	}
}

// TestTableOnPhone checks that rows become cards on a phone if the table is too wide for it, and that a number in the first
// column then has its name.
func TestTableOnPhone(t *testing.T) {
	number, name := Column{Name: "evaluations"}, Column{Name: "kernel"}
	for _, c := range []struct {
		columns []Column
		row     []any
		names   int // how many cells say what they are
	}{
		{[]Column{name, number, number}, []any{"Matern32", 1, 2}, 0},
		{[]Column{name, number, number, number, number}, []any{"Matern32", 1, 2, 3, 4}, 4},
		{[]Column{number, number, number, number, number}, []any{5, 1, 2, 3, 4}, 5},
		{[]Column{name, {Name: "unit"}, {Name: "reason"}}, []any{strings.Repeat("m", 20), "in " + strings.Repeat("m", 18), "converged"},
			2},
		{[]Column{name, number, number, number}, []any{strings.Repeat("why ", 20), 1, 2, 3}, 3},
		{[]Column{name, {}, {Name: "reason"}}, []any{"a", strings.Repeat("why ", 20), "b"}, 1},
		{[]Column{name, {Name: "reason"}}, []any{"a", strings.Repeat("why ", 20)}, 1},
		{[]Column{name, {Name: "NLL"}, {Name: "NLL"}}, []any{"a", Spread{N: 2}, Spread{N: 2, Q1: 100.123, Q3: 1e-3, Worst: 1234567}},
			0},
	} {
		s := string(Must((&Table{Columns: c.columns, Rows: [][]any{c.row}}).HTML()))
		if got := strings.Count(s, "data-name="); got != c.names || strings.Contains(s, "gppl-cards") != (got > 0) {
			t.Errorf("%v: %d cells are named, want %d", c.row, got, c.names)
		}
	}
	// What wide assumes.
	font, padding := fmt.Sprintf("font-size: %.2grem", phoneFont/16), fmt.Sprintf("padding-left: %.1fem", phonePadding/phoneFont/2)
	for _, rule := range []string{font, padding} {
		if !strings.Contains(pageCSS, strings.Replace(rule, " 0.", " .", 1)) {
			t.Errorf("%s is not in page.css", rule)
		}
	}
}

func TestTableEscapes(t *testing.T) {
	const evil = `"><script>alert(1)</script>`
	for _, tb := range []*Table{
		{Caption: evil, Columns: []Column{{Name: "a"}}},
		{Columns: []Column{{Name: evil, Unit: evil}}, Rows: [][]any{{1}}},
		{Columns: []Column{{Name: "a"}}, Rows: [][]any{{evil}}, Notes: []string{evil}},
		{Columns: []Column{{Name: "a", Format: func(any) string { return evil }}}, Rows: [][]any{{1}}},
	} {
		h, err := tb.HTML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(h), "<script") || !strings.Contains(string(h), "&lt;script&gt;") {
			t.Errorf("not escaped: %s", h)
		}
	}
}

// TestMinor: a phone leaves a minor column out of the cards of a wide table, and keeps it in a narrow one.
func TestMinor(t *testing.T) {
	columns := []Column{{Name: "model"}, {Name: "engine", Minor: true}}
	for text, want := range map[string]int{"short": 0, strings.Repeat("a sentence of many words ", 4): 1} {
		s, err := (&Table{Columns: columns, Rows: [][]any{{"SE", text}}}).HTML()
		if got := strings.Count(string(s), `class="gppl-minor"`); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	if !strings.Contains(string(CSS()), ".gppl-cards tbody td.gppl-minor { display: none; }") {
		t.Error("the style does not leave it out")
	}
}
