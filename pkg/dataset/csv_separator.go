package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tableText decodes r to lines of fields with one character between them, and sets what is open in opt: the separator and
// comments.
func tableText(r io.Reader, opt *CSVOptions) (io.Reader, error) {
	text, err := decoded(r)
	if err != nil {
		return nil, err
	}
	opt.takeDeclared(text)
	text = apostrophes(withoutBrackets(withoutBars(text)))
	named := namedSeparator(text)
	if opt.Comma == 0 {
		opt.Comma = named
	}
	if opt.Comment == 0 {
		comments(text, opt)
	}
	settings, text := withoutSettings(text)
	text = underTimes(text, opt)
	fixed := 0 // lines above a table of fixed width
	if opt.Comma == 0 {
		if columns, above := aligned(text, *opt); columns != nil {
			opt.Comma, text, fixed = '\t', columns, above
		}
	}
	if opt.title, text = withoutTitle(text, *opt); opt.title == 0 {
		opt.title, text = withoutBlock(text, *opt)
	}
	opt.title = max(opt.title, settings, fixed)
	if opt.Comma == 0 {
		if opt.Comma = separator(text, *opt); opt.Comma == opt.Comment {
			return nil, fmt.Errorf("fields are separated by %q, which also starts comments", opt.Comma)
		}
	}
	if opt.Time == TimeAuto {
		opt.coarser, text = withoutCoarser(text, *opt)
	}
	rows := firstRows(text, *opt)
	if opt.merged = opt.mergedOf(rows); opt.merged.any() {
		m := unmerger{opt: *opt, above: make([][]byte, len(opt.merged.columns))}
		text = bufio.NewReaderSize(&lineEditor{lines: text, edit: m.line}, headSize)
		rows = firstRows(text, *opt)
	}
	opt.head = rows[:likeBefore(rows)]
	if opt.rowNames = !opt.NoHeader && opt.Comma != ',' && namesRows(opt.head); opt.rowNames {
		opt.head[0] = append([]string{""}, opt.head[0]...)
	} else {
		opt.evenHead(rows)
	}
	if !opt.NoHeader && headless(opt.head, *opt) {
		opt.NoHeader, opt.headless = true, true
	}
	if opt.Comma == ' ' {
		return &blankReader{r: text}, nil
	}
	return text, nil
}

// withoutBars writes blanks for the bars in the header of a table of IPAC, the archive of infrared astronomy, whose rows have
// none. Above it are comments that a backslash begins. Types, units and the sign of missing values below the names are left out.
func withoutBars(r *bufio.Reader) *bufio.Reader {
	header, lines, size := "", 0, 0
	for line := range headLines(r) {
		text := strings.TrimSpace(string(line))
		switch bar := strings.HasPrefix(text, "|") && strings.HasSuffix(text, "|"); {
		case bar && header == "":
			header = strings.ReplaceAll(text, "|", " ")
		case bar || header == "" && strings.HasPrefix(text, "\\"):
		case header == "" || strings.Contains(text, "|") || len(strings.Fields(header)) != len(strings.Fields(text)):
			return r
		default:
			return cut(r, size, strings.Repeat("\n", lines-1)+header+"\n")
		}
		lines, size = lines+1, size+len(line)+1
	}
	return r
}

// bracketedTime is a time between brackets before the rest of a line, as logs have it.
var bracketedTime = regexp.MustCompile(`^\[([^]"]{8,40})\]([\t ]+[^,;|\s])`)

// withoutBrackets writes quotation marks for the brackets around the times that the lines of a log begin with.
func withoutBrackets(r *bufio.Reader) *bufio.Reader {
	lines := 0
	for line := range headLines(r) {
		m := bracketedTime.FindSubmatch(line)
		if m == nil || !isDate(string(m[1])) {
			return r
		}
		if lines++; lines == firstLines {
			edit := func(line []byte) []byte { return bracketedTime.ReplaceAll(line, []byte(`"$1"$2`)) }
			return bufio.NewReaderSize(&lineEditor{lines: r, edit: edit}, headSize)
		}
	}
	return r
}

// endOfHeader is a line with which programs end what they write about a recording, above its table: LabVIEW, and services of
// NASA; or the comment that PANGAEA writes there.
var endOfHeader = regexp.MustCompile(`(?i)^\W*end[_ ]of[_ ]header\W*$|^-END HEADER-$|^\*/$`)

// withoutSettings leaves out what stands above the last line that ends a header, but for the line ends, and returns how many
// lines that are.
func withoutSettings(r *bufio.Reader) (lines int, rest *bufio.Reader) {
	texts, starts, ends := tableLines(r, CSVOptions{})
	for i := len(texts) - 1; i > 0; i-- {
		if endOfHeader.MatchString(texts[i-1]) {
			return ends[i], cut(r, starts[i], strings.Repeat("\n", ends[i]))
		}
	}
	return 0, r
}

// cut leaves out so many bytes, for a text that is read instead.
func cut(r *bufio.Reader, size int, instead string) *bufio.Reader {
	r.Discard(size) // of the head
	return bufio.NewReaderSize(io.MultiReader(strings.NewReader(instead), r), headSize)
}

// tableLines are the lines of the head that are neither blank nor a comment nor drawn, where each begins, and the line ends
// before it.
func tableLines(r *bufio.Reader, opt CSVOptions) (texts []string, starts, ends []int) {
	at, end := 0, 0
	for line := range headLines(r) {
		text := strings.TrimSpace(string(line))
		comment := opt.Comment != 0 && strings.HasPrefix(text, string(opt.Comment))
		if text != "" && !comment && !isRuler([]byte(text)) {
			text = strings.TrimLeft(string(line[:bytes.Index(line, []byte(text))]), " \r") + text // a tab is an empty field
			texts, starts, ends = append(texts, text), append(starts, at), append(ends, end)
		}
		at, end = at+len(line)+1, end+1
	}
	return texts, starts, ends
}

// withoutTitle leaves out what stands above the header, but for the line ends, and returns how many lines that are: lines with
// fewer fields than the header and the two rows below it, which have as many. Empty fields at the end of a line do not count
// there, and one field is no header.
func withoutTitle(r *bufio.Reader, opt CSVOptions) (lines int, rest *bufio.Reader) {
	texts, starts, ends := tableLines(r, opt)
	candidates := separatorsOf(opt)
	most := make([]int, len(candidates)) // in the lines above
	for i := 0; i+1 < len(texts); i++ {
		regular := false // three lines have as many of a character, or two, of which the first names times
		for j, c := range candidates {
			n := outside(texts[i], c)
			if regular {
				break
			}
			filled := outside(strings.TrimRight(texts[i], string(c)+" "), c)
			one := n > 0 && filled == 0
			last := i+2 == len(texts) || outside(texts[i+2], c) == 0
			two := last && namesTimes(split(texts[i], c)) || i+2 < len(texts) && outside(texts[i+2], c) == n
			regular = n > 0 && outside(texts[i+1], c) == n && two && !(setting.MatchString(texts[i]) && setting.MatchString(texts[i+1]))
			table := n > most[j] && regular && !one && !(2*filled < n && namesBelow(texts[i+1:], c, n))
			bare := most[j] == 0 && (n > 1 || c != ',' || isDate(split(texts[i], c)[0])) // no line above is a header
			below := 0
			if table && i == 0 {
				below = belowBlank(texts, ends, opt, c)
			}
			switch most[j] = max(most[j], filled); {
			case below > 0:
				return ends[below], cut(r, starts[below], strings.Repeat("\n", ends[below]))
			case table && (i == 0 || allValues(texts[i], opt) && !opt.NoHeader && !bare):
				return 0, r
			case table:
				return ends[i], cut(r, starts[i], strings.Repeat("\n", ends[i]))
			}
		}
	}
	header, i := beginOfWords(texts, opt)
	if i == 0 || header == 0 || opt.Comma != 0 && opt.Comma != ' ' || opt.NoHeader {
		return 0, r
	}
	if header < 0 {
		return ends[i], cut(r, starts[i], strings.Repeat("\n", ends[i]))
	}
	instead := strings.Repeat("\n", ends[header]) + texts[header] + strings.Repeat("\n", ends[i]-ends[header]) // no units
	return ends[header], cut(r, starts[i], instead)
}

// belowBlank returns the line of the header below a blank line and at least two lines of settings, each with a word before its
// value and as many fields as the table; 0 if there is none. It has words alone, above three rows of values alone.
func belowBlank(lines []string, ends []int, opt CSVOptions, c rune) int {
	const most, rows = 20, 3
	opt.Comma = c
	n := outside(lines[0], c)
	word := func(line string) bool { return unicode.IsLetter(firstRune(strings.TrimLeft(line, "\" "))) }
	for i := 1; i+rows < len(lines) && i < most && word(lines[i-1]); i++ {
		table := !slices.ContainsFunc(lines[i:i+rows+1], func(line string) bool { return outside(line, c) != n })
		values := !slices.ContainsFunc(lines[i+1:i+rows+1], func(line string) bool { return !allValues(line, opt) })
		if i > 1 && ends[i] > ends[i-1]+1 && table && values && valuesIn(lines[i], opt) == 0 && word(lines[i]) {
			return i
		}
	}
	return 0
}

// namesBelow reports whether one of some lines, with n separators, has a word in each field, or names of times: a line with few
// fields above it is one of a title, to which a spreadsheet has added empty ones.
func namesBelow(lines []string, c rune, n int) bool {
	const most = 12
	return slices.ContainsFunc(lines[:min(most, len(lines))], func(line string) bool {
		cells := split(line, c)
		return outside(line, c) == n && len(cells) == n+1 && (namesTimes(cells) || !slices.ContainsFunc(cells, func(cell string) bool {
			cell = strings.Trim(cell, "\" ")
			return cell == "" || isNumber(cell) || dateFormat(cell) != TimeAuto
		}))
	})
}

// separatorsOf are those that fields may have.
func separatorsOf(opt CSVOptions) string {
	switch {
	case opt.Comma != 0:
		return string(opt.Comma)
	case opt.DecimalComma:
		return ";\t|"
	}
	return ";\t|," // a comma last: it may be the decimal sign
}

// namesTimes reports whether some names end with those of the times of a wide table, which may have one row, and their totals.
func namesTimes(names []string) bool {
	var plain []string
	for _, name := range names {
		plain = append(plain, strings.Trim(name, `" `))
	}
	for len(plain) > fewestWide && isAside(plain[len(plain)-1]) {
		plain = plain[:len(plain)-1]
	}
	return len(lastTimes(plain, false, "").columns) >= fewestWide
}

// setting is a name with a colon before its value, as programs write what a table is about.
var setting = regexp.MustCompile(`^"?\pL[^\t;,|]*:"?[\t;,]`)

// beginOfWords returns the first of three rows of as many values, separated by blanks, below other lines, and the header: one of
// the two lines above with as many words, or with one less if the rows are counted; -1 if there is none. The row is 0 if there is
// no such table.
func beginOfWords(lines []string, opt CSVOptions) (header, row int) {
	opt.Comma = ' '
	for i := 1; i+2 < len(lines); i++ {
		n := wordsOf(lines[i])
		if n < 2 || strings.ContainsAny(lines[i], ";	|") ||
			slices.ContainsFunc(lines[i:i+3], func(line string) bool { return wordsOf(line) != n || !allValues(line, opt) }) {
			continue
		}
		written := dateFormat(strings.Fields(lines[i])[0])
		alike := func(line string) bool { return dateFormat(strings.Fields(line)[0]) == written }
		if written != TimeAuto && slices.ContainsFunc(lines[:i], alike) {
			return 0, 0 // rows with blank cells are above
		}
		var rows [][]string
		for _, line := range lines[i-1 : i+3] {
			rows = append(rows, strings.Fields(line))
		}
		for _, above := range []int{i - 2, i - 1} {
			if above >= 0 && wordsOf(lines[above]) == n || above == i-1 && namesRows(rows) {
				return above, i
			}
		}
		return -1, i
	}
	return 0, 0
}

// withoutBlock leaves out up to mostBlock lines of another table above the header, as loggers and services write about the place
// and the device: they have a number of fields of their own, more or fewer, and the names, words or years, and the rows of values
// below them all have another number.
func withoutBlock(r *bufio.Reader, opt CSVOptions) (lines int, rest *bufio.Reader) {
	const mostBlock, fewestBelow = 12, 3
	texts, starts, ends := tableLines(r, opt)
	if texts = texts[:min(len(texts), likeRows)]; opt.NoHeader || len(texts) < 2 {
		return 0, r
	}
	if opt.Comma == 0 {
		opt.Comma = separator(r, opt)
	}
	if opt.Comma == ' ' {
		return 0, r
	}
	var counts []int
	for _, text := range texts {
		counts = append(counts, outside(text, opt.Comma))
	}
	last := len(texts) - 1
	from := last
	for from > 0 && counts[from-1] == counts[last] {
		from--
	}
	if from == 0 || from > mostBlock || counts[last] == 0 || valuesIn(texts[last], opt) == 0 {
		return 0, r
	}
	years := 0 // that are names of columns
	for _, name := range split(texts[from], opt.Comma) {
		if kind, _ := timeNamed(strings.Trim(name, " \"")); kind == "year" {
			years++
		}
	}
	if years < mostYears && (valuesIn(texts[from], opt) > 0 || last-from < fewestBelow) || last == from {
		return 0, r
	}
	return ends[from], cut(r, starts[from], strings.Repeat("\n", ends[from]))
}

// withoutCoarser leaves out the years and quarters of a table that goes on with the months of the same time below them, or with
// its quarters, as offices of statistics write them, but for the line ends. It returns what is left out and what is read.
func withoutCoarser(r *bufio.Reader, opt CSVOptions) (coarser string, rest *bufio.Reader) {
	const fewest = 3 // rows of each
	type part struct {
		period      string
		from, rows  int
		first, last string // years
	}
	var parts []part
	texts, starts, ends := tableLines(r, opt)
	times := func(line string) (period, year string) {
		cell := strings.Trim(split(line, opt.Comma)[0], "\" ")
		if year = fourDigits.FindString(cell); year == cell && year != "" {
			return "year", year
		}
		return periodOf(cell), year
	}
	if len(texts) == 0 {
		return "", r
	}
	if period, _ := times(texts[len(texts)-1]); period != "month" && period != "quarter" { // as most tables end
		return "", r
	}
	for i, text := range texts {
		period, year := times(text)
		if n := len(parts); n == 0 || parts[n-1].period != period {
			parts = append(parts, part{period: period, from: i, first: year})
		}
		of := &parts[len(parts)-1]
		of.rows, of.last = of.rows+1, year
	}
	if len(parts) > 0 && parts[0].period == "" { // the header
		parts = parts[1:]
	}
	if len(parts) < 2 {
		return "", r
	}
	finer := map[string]string{"year": "quarter month", "quarter": "month"}
	var names []string
	for i, of := range parts[:len(parts)-1] {
		next := parts[i+1]
		goesOn := next.period != "" && strings.Contains(finer[of.period], next.period) && next.first <= of.last
		if !goesOn || min(of.rows, next.rows) < fewest {
			return "", r
		}
		names = append(names, of.period+"s")
	}
	begin, end := parts[0].from, parts[len(parts)-1].from
	head, _ := r.Peek(headSize)
	kept := string(head[:starts[begin]]) + strings.Repeat("\n", ends[end]-ends[begin])
	return strings.Join(names, " and "), cut(r, starts[end], kept)
}

var fourDigits = regexp.MustCompile(`\b(?:1[5-9]|2[01])\d\d\b`) // of a year

// valuesIn counts the numbers and dates of a line.
func valuesIn(line string, opt CSVOptions) (n int) {
	for _, field := range split(line, opt.Comma) {
		field = strings.Trim(field, " \"")
		if isNumber(field) || dateFormat(field) != TimeAuto {
			n++
		}
	}
	return n
}

// namesRows reports whether the header has no name for the first column, as R and pandas write tables with names of rows: it has
// one field less than all rows below it, and these begin with whole numbers that count them, years or dates. Between
// commas the field more may be decimals.
func namesRows(head [][]string) bool {
	const fewest = 3 // rows
	if len(head) < fewest || slices.ContainsFunc(head[0], isNumber) {
		return false
	}
	first, err := strconv.Atoi(head[1][0])
	days := dateFormat(head[1][0])
	for i, row := range head[1:] {
		n, bad := strconv.Atoi(row[0])
		dated := days != TimeAuto && dateFormat(row[0]) == days && len(row) > 1 && !isClock(row[1])
		if !dated && (err != nil || bad != nil || n != first+i) || len(row) != len(head[0])+1 {
			return false
		}
	}
	return true
}

// outside counts a character outside quotes.
func outside(text string, c rune) (n int) {
	within := false
	for _, d := range text {
		if d == '"' {
			within = !within
		}
		if d == c && !within {
			n++
		}
	}
	return n
}

// firstLines are those that have as many separators each.
const firstLines = 3

// namedSeparator reads a line "sep=;" above all others, as Excel writes it, and returns what it names; 0 if there is none.
func namedSeparator(r *bufio.Reader) rune {
	head, _ := r.Peek(headSize) // an error is met again by the first read
	first, rest := nextLine(head, 0)
	name, ok := strings.CutPrefix(first, "sep=")
	c, size := utf8.DecodeRuneInString(name)
	if !ok || size != len(name) || !possible(c) {
		return 0
	}
	r.Discard(len(head) - len(rest) - 1) // the line end stays, so that lines are counted
	return c
}

// separator returns what separates the fields: the one of semicolon, tabulator and bar that all of the first lines have equally
// often outside quotes; else the one that the first has most often, or a comma; else blanks, where the first two lines have as
// many words, at least two; else a comma. A comma is none where it is the decimal sign.
func separator(r *bufio.Reader, opt CSVOptions) rune {
	head, _ := r.Peek(headSize) // an error is met again by the first read
	first, rest := nextLine(head, opt.Comment)
	candidates := ";\t|,"
	if opt.DecimalComma {
		candidates = candidates[:3]
	}
	second, _ := nextLine(rest, opt.Comment)
	for _, c := range candidates {
		if c == ',' && strings.ContainsAny(second, candidates[:3]) {
			break
		}
		if n, lines := outside(first, c), 1; n > 0 {
			for line, rest := nextLine(rest, opt.Comment); line != "" && lines < firstLines && outside(line, c) == n; lines++ {
				line, rest = nextLine(rest, opt.Comment)
			}
			if lines == firstLines {
				return c
			}
		}
	}
	best, most := ',', 0
	for _, c := range candidates {
		if n := outside(first, c); n > most {
			best, most = c, n
		}
	}
	if most == 0 {
		blanks := CSVOptions{Comma: ' '}
		n, below := wordsOf(first), wordsOf(second)
		counted := n > 0 && n == below-1 && valuesIn(first, blanks) == 0 && valuesIn(second, blanks) > 1 // rows
		if n > 1 && n == below || counted {
			return ' '
		}
	}
	return best
}

// wordsOf counts the words of a line without a remark.
func wordsOf(line string) int {
	short, _ := withoutRemark([]byte(line))
	return len(bytes.Fields(short))
}

// nextLine returns the next line that is neither blank nor a comment nor drawn, and what follows it.
func nextLine(text []byte, comment rune) (line string, rest []byte) {
	for len(text) > 0 {
		first, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		line := strings.Trim(string(first), " ")
		if line != "" && (comment == 0 || !strings.HasPrefix(line, string(comment))) && !isRuler([]byte(line)) {
			return line, rest
		}
	}
	return "", nil
}

// possible reports whether r can separate fields.
func possible(r rune) bool {
	return r != 0 && r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError
}

// blankReader makes one space of the blanks between the fields of a line, and leaves out those around it.
type blankReader struct {
	r      *bufio.Reader
	quoted bool
	inside bool // of a line: a field came before
	blank  bool // since then
}

func (b *blankReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := b.r.ReadByte()
		if err != nil {
			return n, err
		}
		switch {
		case !b.quoted && (c == ' ' || c == '\t'):
			b.blank = b.inside
			continue
		case !b.quoted && c == '\n':
			b.inside, b.blank = false, false
		case b.blank:
			b.blank = false
			b.r.UnreadByte() // what was read last
			c = ' '
		default:
			b.inside = true
			if c == '"' {
				b.quoted = !b.quoted
			}
		}
		p[n] = c
		n++
	}
	return n, nil
}

var (
	_ io.Reader = (*blankReader)(nil)
	_ io.Reader = (*lineEditor)(nil)
	_ io.Reader = (*lineReader)(nil)
	_ io.Reader = (*utf16Reader)(nil)
)
