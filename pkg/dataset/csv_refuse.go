package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What is no table with a row for each observation is refused with the command that makes one of it; a cell that is no number or
// date, with what it may be.

// hints are what may help with a text that is no number or no date.
var hints = []struct {
	like *regexp.Regexp
	hint string
}{
	{regexp.MustCompile(`^[+-]?0[xX]`), "a hexadecimal number? write it in decimal"},
	{regexp.MustCompile(`^[+-]?[\d.]+[eE][+-]?\d+$`), "its size is beyond that of a float64"},
	{regexp.MustCompile(`^[+-]?\d[\d_]*_[\d_]*$`), "write digits without _ between them"},
	{regexp.MustCompile(`^[-+\d.]+[dD][-+]?\d+$`), `a Fortran exponent? sed -E 's/([0-9])[dD]([-+0-9])/\1e\2/g' FILE has e`},
	{regexp.MustCompile(`^\([\d.,]+\)$|^[\d.,]+-$`), "a negative number? write -5 for (5) and for 5-"},
	{regexp.MustCompile(`^[<>≤≥~≈]`), "a value beyond a limit? write the number alone, or name the text as a missing value"},
	{regexp.MustCompile(`^\d{1,3}:\d{2}`),
		"a time of day? put date and time into one column, as 2024-01-31 14:30; a duration is a number"},
	{regexp.MustCompile(`^\d{2}-?Q[1-4]$|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2}\b`),
		"write four digits of the year: two are read beside the name of a month only"},
	{regexp.MustCompile(`^\d{5,}-`), "write years with four digits"},
	{regexp.MustCompile(`:60`), "a leap second? they end an hour of UTC"},
	{regexp.MustCompile(`^'.*'$`), "are these quotation marks? sed \"s/'//g\" FILE removes them"},
	{regexp.MustCompile(`(?i)^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? `), "a day of the week? leave it out"},
	{regexp.MustCompile(`\d ([A-Z]{3,4}|[A-Z]\w+/\w+)$`), "a zone by its name? write its distance from UTC, as +02:00"},
	{regexp.MustCompile(`[年月令昭平]|^[RSH]\d{1,2}\.`), "an era, or a date in signs? write it as 2024-01-31"},
	{regexp.MustCompile(`^FY|^\d{4}[-/]\d{2}(\d{2})?$`), "a fiscal year? write the first day of each, as 2024-04-01"},
	{regexp.MustCompile(`(?i)^\d{4}[- ]?[HS][12]$`), "a half-year? write its first day, as 2024-07-01"},
	{regexp.MustCompile(`^[-+]?\d[\d.,]* ?[°\pL/]+\.?$`), "a unit or a flag? name units in the header, and leave flags out"},
	{regexp.MustCompile(`(?i)\b(total|sum|summe|gesamt|somme|totale|suma|mean|average|mittel|source|quelle|note)\b`),
		"a total or a remark? remove the line"},
}

// hintOf returns what may help with a text; "" for no idea.
func hintOf(text string) string {
	for _, h := range hints {
		if h.like.MatchString(text) {
			return h.hint
		}
	}
	return ""
}

// orMissing adds what may help with a text, or else how to name it as a missing value.
func (p *CSVProblem) orMissing(text string) *CSVProblem {
	const longest = 40
	if hint := hintOf(text); hint != "" || len(text) > longest {
		return p.hint(hint)
	}
	return p.hint("if it stands for a missing value: %s", Setting{"Missing", text})
}

// pandas is a command that reads FILE as d and writes what an expression makes of it; names of columns are quoted.
func (t *table) pandas(do string, names ...any) string {
	options := fmt.Sprintf("sep='%c', dtype=str", t.opt.Comma)
	if t.opt.Comma == ' ' {
		options = `sep=r'\s+', dtype=str`
	}
	if !t.named {
		options += ", header=None"
	}
	if !t.utf8 {
		options += ", encoding='cp1252'"
	}
	return `python3 -c "import pandas as pd; d = pd.read_csv('FILE', ` + options + "); " +
		fmt.Sprintf(do, names...) + `.to_csv('long.csv', index=False)"`
}

// label is how pandas names a column.
func (t *table) label(at int) string {
	if !t.named {
		return strconv.Itoa(at)
	}
	return "'" + cmp.Or(t.rep.Columns[at], fmt.Sprintf("Unnamed: %d", at)) + "'"
}

// refuseTitle refuses lines above the header, and a header without a name for the first column.
func (t *table) refuseTitle(rows []row) error {
	count, width := map[int]int{}, 0
	for _, row := range rows {
		n := row.used(0)
		if count[n]++; n > 1 && count[n] > count[width] {
			width = n
		}
	}
	first := rows[0]
	if len(rows) < 3 || first.used(0) >= width || 2*count[width] <= len(rows) {
		return nil
	}
	p := problem("%s has fewer fields than the rows below: %d of %d", quoted(first.at(0)), first.used(0), width)
	p.Line = first.line
	begins := slices.IndexFunc(rows, func(r row) bool { return r.used(0) >= width })
	if begins == 1 && first.used(0) == width-1 && t.sortBelow(rows[1:2], width-1) > word {
		return p.hint(fmt.Sprintf("if column 1 has no name, sed '%ds/^/row%c/' FILE writes one", first.line, t.opt.Comma)).whole()
	}
	return p.hint(fmt.Sprintf("if it is a title, tail -n +%d FILE leaves it out", rows[begins].line)).whole()
}

// timeName is the name of a column that has a year, a month, a quarter or a week, where each has a column.
var timeName = regexp.MustCompile(`^(?:(?:1[89]|20)\d\d|Q[1-4]|(?:KW|W) ?\d{1,2})$`)

// refuseWide refuses a header with a column for each time: three times or more, beside others.
func (t *table) refuseWide(header row) error {
	var times, others []string
	for i := range header.cells {
		name := header.at(i)
		if fits, _ := dateFits(name); fits != 0 || timeName.MatchString(name) || monthOf(strings.TrimSuffix(name, ".")) > 0 {
			times = append(times, name)
		} else if name != "" {
			others = append(others, name)
		}
	}
	if len(times) < 3 || len(others) == 0 && header.at(0) != "" {
		return nil
	}
	t.named = true
	p := problem("the header has a column for each time (%s, %s, …)", times[0], times[1])
	p.Line = header.line
	return p.hint(t.pandas("d.melt(['%s'], var_name='time')", strings.Join(others, "', '")) + " makes a row of each cell").whole()
}

var (
	clockCell = regexp.MustCompile(`^\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?$`)
	partName  = regexp.MustCompile(`(?i)^(quarter|qtr|quartal|trimestre|month|mon|mm|monat|mois|mes|mese|week|wk|woche|kw|semaine|` +
		`day|dd|tag|jour|doy|hour|hr|hh|stunde|heure|hora|ora|time|uhrzeit|minute|period)s?$`)
)

// refuseParts refuses a time that two columns share: a column that is not read has times of day beside days or, where x repeats,
// the name of a part of a year or of a day; or y, which no option names, numbers the rows of each x.
func (t *table) refuseParts(rows []row) error {
	x, first := t.rep.X, rows[0]
	repeats := slices.ContainsFunc(rows[1:], func(r row) bool { return r.at(x) != "" && r.at(x) == first.at(x) })
	fits, d := dateFits(first.at(x))
	digits, _ := digitDates(first.at(x), 0, TimeISO.bit())
	between := "-"
	if fits != 0 && d.period == "" && !strings.Contains(first.at(x), ":") || digits != 0 && len(first.at(x)) == len("20240131") {
		between = " "
	}
	for at, name := range t.rep.Columns {
		if at == x || at == t.rep.Y && t.opt.Y != "" || slices.Contains(t.more.Columns, at) || len(t.keys) > 0 && t.keys[0].asked {
			continue
		}
		clock := between == " " && clockCell.MatchString(first.at(at)) && (repeats || at == t.rep.Y)
		if clock || repeats && (partName.MatchString(name) && t.sortBelow(rows, at) != dated ||
			at == t.rep.Y && between == "-" && t.counts(rows)) {
			return problem("the time is spread over %s and %s", t.column(x), t.column(at)).
				hint("put it into one column, as 2024-01 or 2024-01-31 14:30, for which try "+strings.ReplaceAll(t.pandas(
					"d[%s] += '%s' + d.pop(%s).str.zfill(2); d", t.label(x), between, t.label(at)), "%", "%%")+
					"; %s and %s take columns of numbers as they are", Setting{"Time", "number"}, Setting{Field: "Y"}).whole()
		}
	}
	return nil
}

// counts reports whether y numbers the first rows, which share an x, as months number those of a year.
func (t *table) counts(rows []row) bool {
	first, err := strconv.Atoi(rows[0].at(t.rep.Y))
	for i := 1; i < min(len(rows), 4) && err == nil; i++ {
		var next int
		if next, err = strconv.Atoi(rows[i].at(t.rep.Y)); next != first+i || rows[i].at(t.rep.X) != rows[0].at(t.rep.X) {
			return false
		}
	}
	return err == nil && first <= 1
}

// refuseColumns refuses an x that no option names if it has words, and a y that no option names if it has words or dates, where
// columns behind them have what is needed.
func (t *table) refuseColumns(rows []row) error {
	const most = 1000 // columns that are looked at
	x, y := t.rep.X, t.rep.Y
	next := func(from int, wanted sort) int {
		for at := from; at < min(t.width, most); at++ {
			if t.sortBelow(rows, at) == wanted && at != x && !slices.Contains(t.more.Columns, at) {
				return at
			}
		}
		return -1
	}
	xs, ys := t.sortBelow(rows, x), t.sortBelow(rows, y)
	at, instead := y, []Setting(nil)
	if date := next(0, dated); t.opt.X == "" && xs == word && date >= 0 && next(date+1, number) >= 0 {
		if at, instead = x, []Setting{{"X", t.name(date)}}; t.opt.Y == "" {
			instead = append(instead, Setting{"Y", t.name(next(date+1, number))})
		}
	} else if values := next(y+1, number); t.opt.Y == "" && (ys == word || ys == dated) && values >= 0 {
		if instead = []Setting{{"Y", t.name(values)}}; ys == dated && xs != dated {
			instead = []Setting{{"X", t.name(y)}, {"Y", t.name(values)}}
		}
	}
	first := slices.IndexFunc(rows, func(r row) bool { return !t.missing(r.at(at), true) })
	if instead == nil || hintOf(rows[first].at(at)) != "" {
		return nil
	}
	hint := "%s" + strings.Repeat(" %s", len(instead)-1) + " reads another"
	if at == y && ys == word && len(t.opt.Keys) == 0 {
		hint, instead = hint+"; %s makes a series of the rows of each text", append(instead, Setting{"Keys", t.name(y)})
	}
	p := problem("begins with %s, and no option names another column", quoted(rows[first].at(at))).hint(hint, instead...)
	p.Column, p.Cell = t.column(at), rows[first].at(at)
	return p.whole()
}

// refuseMerged is the error of a file whose x is empty in most rows.
func (t *table) refuseMerged(empty, rows int) error {
	x := t.label(t.rep.X)
	return problem("%s is empty in %d of %d rows", t.column(t.rep.X), empty, rows).hint("if cells are merged, so that one " +
		"stands for several rows, " + t.pandas("d[%s] = d[%s].ffill(); d", x, x) + " writes it in each").whole()
}
