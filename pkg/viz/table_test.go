package viz

import (
	"encoding/xml"
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
	// A table that HTML refuses is still printed, as well as possible.
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

// TestTableOnPhone: on a phone a table scrolls sideways, and the first cell of each row and of the header, which have a background of
// their own, stay.
func TestTableOnPhone(t *testing.T) {
	for _, rule := range []string{".gppl-table:not(.sideways > *) { display: block; overflow-x: auto; }",
		".gppl-table :is(thead, tbody) > tr > :first-child:not(:last-child) { position: sticky; left: 0;"} {
		if !strings.Contains(string(CSS()), rule) {
			t.Errorf("page.css has no rule %s", rule)
		}
	}
	s := string(Must((&Table{Columns: []Column{{Name: "a"}, {Name: "b"}}, Rows: [][]any{{"c", 1}}}).HTML()))
	for _, cell := range []string{"th scope=\"col\"", "td"} {
		_, rest, _ := strings.Cut(s, "<"+cell+" style=")
		if css, _, _ := strings.Cut(rest, ">"); !strings.Contains(css, "background:") {
			t.Errorf("%s: what scrolls is seen through it: %s", cell, css)
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
