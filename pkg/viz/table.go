package viz

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Column is one column of a table.
type Column struct {
	Name   string
	Unit   string // shown after the name, as "s" or "nats"; may be empty
	Right  bool   // the column is aligned to the right, as one of numbers and durations always is
	Format Format // nil shows numbers with four significant digits, durations in a suitable unit, others as they print
	// Best emphasises the smallest value, and values with the same text as it. It never emphasises a value that is not finite.
	Best bool
	// BestOfRow emphasises the smallest value of each row among the columns with this choice.
	BestOfRow bool
	Target    float64 // if not zero, the best value is the nearest to it, not the smallest
}

// badness returns the quantity that is smallest for the best value; only finite numbers have one.
func (c Column) badness(v any) (float64, bool) {
	x, ok := number(v)
	if c.Target != 0 {
		x = math.Abs(x - c.Target)
	}
	return x, ok && numeric.IsFinite(x)
}

// Table is a table of results. A cell is any value: a number, a [Spread] of numbers, a time.Duration, a [Status], a string, a
// []string of lines, or nil for nothing. Texts are escaped, not interpreted as HTML. A note explains spreads.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]any  // each row has a cell for each column
	Notes   []string // written below the table
}

// worst begins the second line of a spread.
const worst = " worst "

// newLine separates the lines of a cell by a character that clean does not change.
const newLine = "\u2028"

// tableCell is the text shown for a value.
type tableCell struct {
	text   string
	small  string // written after the text, or below it
	status Status // shown as a badge
	best   bool
}

// sentenceWidth is the minimum width of a sentence, in em: it is not squeezed to one word per line.
const sentenceWidth = 16

// sentence reports whether a text is too long for one line of its column.
func (c tableCell) sentence() bool { return utf8.RuneCountInString(c.text) > 48 }

// word reports whether a text must not be broken: readers take "PL, k = 100" as one word, like 2023-10-30T00:00:00Z.
func (c tableCell) word() bool { return utf8.RuneCountInString(c.text) <= 20 }

// cells formats all rows and finds the best of each column; short rows are padded.
func (t *Table) cells() (cells [][]tableCell, right []bool) {
	cells, right = make([][]tableCell, len(t.Rows)), make([]bool, len(t.Columns))
	for i := range t.Rows {
		cells[i] = make([]tableCell, len(t.Columns))
	}
	for j, c := range t.Columns {
		format := c.Format
		if format == nil {
			format = auto
		}
		numbers := true
		var rivals []rival
		for i, row := range t.Rows {
			var v any
			if j < len(row) {
				v = row[j]
			}
			text, small := format(v), ""
			if _, ok := v.(Spread); ok {
				text, small, _ = strings.Cut(text, second)
			}
			cells[i][j] = tableCell{text: clean(text), small: clean(small)}
			if lines, ok := v.([]string); ok {
				cells[i][j].text = clean(strings.Join(lines, newLine))
			}
			cells[i][j].status, _ = v.(Status)
			if _, ok := number(v); !ok && v != nil && text != absent {
				numbers = false
			}
			if x, ok := c.badness(v); ok && c.Best {
				rivals = append(rivals, rival{&cells[i][j], x})
			}
		}
		emphasise(rivals)
		right[j] = c.Right || numbers && len(t.Rows) > 0
	}
	for i, row := range t.Rows {
		var rivals []rival
		for j, c := range t.Columns[:min(len(row), len(t.Columns))] {
			if x, ok := c.badness(row[j]); ok && c.BestOfRow {
				rivals = append(rivals, rival{&cells[i][j], x})
			}
		}
		emphasise(rivals)
	}
	return cells, right
}

// rival is a cell that may be the best of its column or row.
type rival struct {
	cell    *tableCell
	badness float64
}

// emphasise marks the best of some cells, and cells with the same text.
func emphasise(rivals []rival) {
	if len(rivals) == 0 {
		return
	}
	best := slices.MinFunc(rivals, func(a, b rival) int { return cmp.Compare(a.badness, b.badness) })
	for _, r := range rivals {
		r.cell.best = r.cell.best || r.badness == best.badness || r.cell.text == best.cell.text
	}
}

func (c tableCell) html() string {
	s := strings.ReplaceAll(escape(c.text), newLine, "<br>")
	if c.status != "" {
		s = c.status.html()
	}
	if c.best {
		s = "<strong>" + s + "</strong>"
	}
	if c.small != "" {
		// A line of its own for the worst keeps a table of many methods narrow.
		s += fmt.Sprintf(`<br><span style="%s">%s</span>`, smallCSS,
			strings.Replace(html.EscapeString(c.small), worst, "<br>"+worst[1:], 1))
	}
	return s
}

// notes returns the explanation of spreads, if there are any, and the table's notes.
func (t *Table) notes() []string {
	if n := t.note(); n != "" {
		return append([]string{n}, t.Notes...)
	}
	return slices.Clone(t.Notes)
}

func (c Column) header() string {
	if c.Unit == "" {
		return clean(c.Name)
	}
	return clean(c.Name + " (" + c.Unit + ")")
}

// The styles are inline: a style sheet would affect, and be affected by, the rest of the page.
const (
	tableCSS = "border-collapse:collapse;margin:0.6em 0;font-size:0.95em;line-height:1.35;border:0;" +
		"font-variant-numeric:tabular-nums;color:#1f2328;background:#ffffff"
	captionCSS = "caption-side:top;text-align:left;font-weight:600;padding:0.3em 0.5em 0.45em;color:inherit"
	headCSS    = "padding:0.3em 0.5em;border:0;background:#ffffff;border-top:1.5px solid #8c959f;border-bottom:1px solid " +
		"#8c959f;font-weight:600;vertical-align:bottom;white-space:normal;"
	cellCSS  = "padding:0.25em 0.5em;border:0;border-bottom:1px solid #e7eaed;background:#ffffff;"
	bestCSS  = "font-weight:700;background:#e6f4ef;"
	smallCSS = "font-size:0.84em;font-weight:400;color:#57606a;white-space:nowrap"
	notesCSS = "text-align:left;padding:0.4em 0.5em;border:0;background:#ffffff;color:#57606a;font-size:0.92em;white-space:normal"
)

// HTML returns the table as a <table> element with inline styles; all texts are escaped. It returns an error if there is
// no column, or a row is longer or shorter than the columns.
func (t *Table) HTML() (template.HTML, error) {
	if len(t.Columns) == 0 {
		return "", fmt.Errorf("viz: table %q has no columns", t.Caption)
	}
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			return "", fmt.Errorf("viz: table %q: row %d has %d cells for %d columns", t.Caption, i, len(r), len(t.Columns))
		}
	}
	cells, right := t.cells()
	side := func(j int) string {
		return "text-align:" + map[bool]string{false: "left", true: "right;white-space:nowrap"}[right[j]]
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<table class="gppl-table" style="%s">`, tableCSS)
	if c := clean(t.Caption); c != "" {
		fmt.Fprintf(&b, `<caption style="%s"><div class="gppl-stay">%s</div></caption>`, captionCSS, escape(c))
	}
	b.WriteString("<thead><tr>")
	for j, c := range t.Columns {
		tag := `th scope="col"`
		if clean(c.Name) == "" { // an empty header cell is not a header
			tag = "td"
		}
		fmt.Fprintf(&b, `<%s style="%s%s">%s`, tag, headCSS, strings.TrimSuffix(side(j), ";white-space:nowrap"), escape(clean(c.Name)))
		if c.Unit != "" {
			fmt.Fprintf(&b, ` <span style="font-weight:400;color:#57606a">(%s)</span>`, html.EscapeString(clean(c.Unit)))
		}
		b.WriteString("</" + tag[:2] + ">")
	}
	b.WriteString("</tr></thead>\n<tbody>")
	for i := range t.Rows {
		b.WriteString("<tr>")
		for j := range t.Columns {
			css := cellCSS
			if cells[i][j].word() {
				css += "white-space:nowrap;"
			}
			if cells[i][j].sentence() { // the table may scroll
				css += fmt.Sprintf("min-width:%dem;", sentenceWidth)
			}
			if cells[i][j].best {
				css += bestCSS
			}
			fmt.Fprintf(&b, `<td style="%s%s">%s</td>`, css, side(j), cells[i][j].html())
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>")
	if notes := t.notes(); len(notes) > 0 {
		for i, n := range notes {
			notes[i] = escape(clean(n))
		}
		fmt.Fprintf(&b, `<tfoot><tr><td colspan="%d" style="%s"><div class="gppl-stay">%s</div></td></tr></tfoot>`, len(t.Columns),
			notesCSS, strings.Join(notes, "<br>"))
	}
	b.WriteString("</table>")
	return template.HTML(inPage(b.String())), nil
}

// String returns the table as text for a terminal; the best values are marked by an asterisk. A short row is padded and a long
// one cut.
func (t *Table) String() string {
	cells, right := t.cells()
	text := make([][]string, len(cells))
	width := make([]int, len(t.Columns))
	for i := range cells {
		text[i] = make([]string, len(t.Columns))
	}
	for j, c := range t.Columns {
		width[j] = utf8.RuneCountInString(c.header())
		marked := slices.ContainsFunc(cells, func(row []tableCell) bool { return row[j].best })
		for i, row := range cells {
			s := strings.ReplaceAll(row[j].text, newLine, "; ")
			switch {
			case row[j].best:
				s += "*"
			case marked && right[j]:
				s += " " // keeps the digits aligned
			}
			if row[j].small != "" {
				s += " " + row[j].small
			}
			text[i][j] = s
			width[j] = max(width[j], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	line := func(cells func(j int) string) {
		var l strings.Builder
		for j := range t.Columns {
			s := cells(j)
			pad := width[j] - utf8.RuneCountInString(s)
			before := 0
			if right[j] {
				before = pad
			}
			if j > 0 {
				l.WriteString("  ")
			}
			l.WriteString(strings.Repeat(" ", before) + s + strings.Repeat(" ", pad-before))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	if c := clean(t.Caption); c != "" {
		b.WriteString(c + "\n")
	}
	line(func(j int) string { return t.Columns[j].header() })
	line(func(j int) string { return strings.Repeat("─", width[j]) })
	for i := range text {
		line(func(j int) string { return text[i][j] })
	}
	for _, n := range t.notes() {
		b.WriteString(clean(n) + "\n")
	}
	return b.String()
}

var _ fmt.Stringer = (*Table)(nil)

// note explains the cells of a table that are spreads; empty if there are none.
func (t *Table) note() string {
	least, most := math.MaxInt, 0
	for _, row := range t.Rows {
		for _, v := range row {
			if s, ok := v.(Spread); ok {
				least, most = min(least, s.N+s.Failed), max(most, s.N+s.Failed)
			}
		}
	}
	switch {
	case most == 0:
		return ""
	case least < most:
		return fmt.Sprintf("Median [lower quartile, upper quartile] worst, of %d to %d runs.", least, most)
	}
	return fmt.Sprintf("Median [lower quartile, upper quartile] worst, of %d runs.", most)
}
