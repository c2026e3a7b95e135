package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What is no table with a row for each observation is refused by its first rows, with the command that makes one of it; a cell
// that is no number or date, with what it may be.

// hints are what may help with a text that is no number or no date.
var hints = []struct {
	like *regexp.Regexp
	hint string
}{
	{regexp.MustCompile(`^\([\d.,]+\)$|^[\d.,]+-$`), "a negative number? write -5 for (5) and for 5-"},
	{regexp.MustCompile(`^[<>≤≥~≈]`), "a value beyond a limit? write the number alone, or name the text as a missing value"},
	{regexp.MustCompile(`^\d{1,3}:\d{2}`),
		"a time of day? put date and time into one column, as 2024-01-31 14:30; a duration is a number"},
	{regexp.MustCompile(`^\d{2}-?Q[1-4]$|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2}\b|^\d{5,}-`),
		"write four digits of the year: two are read beside the name of a month only"},
	{regexp.MustCompile(`^'.*'$`), "are these quotation marks? sed \"s/'//g\" FILE removes them"},
	{regexp.MustCompile(`(?i)^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? |\d ([A-Z]{3,4}|[A-Z]\w+/\w+)$`),
		"leave out days of the week, and write the distance of a zone from UTC, as +02:00"},
	{regexp.MustCompile(`(?i)[年月令昭平]|^[RSH]\d{1,2}\.|^FY|^\d{4}[-/]\d{2}(\d{2})?$|^\d{4}[- ]?[HST]\d$`),
		"a fiscal year, a half-year, an era? write its first day, as 2024-07-01"},
	{regexp.MustCompile(`^[-+]?\d[\d.,]* ?[°\pL/]+\.?$`), "a unit or a flag? name units in the header, and leave flags out"},
	{regexp.MustCompile(`(?i)\b(total|sum|summe|somme|mean|average|mittel|source|quelle|note)\b`),
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

// pandas is a command that reads FILE as d, with the columns c, and writes what an expression makes of it.
func (t *table) pandas(expression string) string {
	options := fmt.Sprintf("sep='%c', dtype=str", t.opt.Comma)
	if t.opt.Comma == ' ' {
		options = `sep=r'\s+', dtype=str`
	}
	if !t.named {
		options += ", header=None"
	}
	if t.ansi.met {
		options += ", encoding='cp1252'"
	}
	command := `python3 -c "import pandas as pd; d = pd.read_csv('FILE', ` + options + "); c = d.columns; " + expression +
		`.to_csv('long.csv', index=False)"`
	return strings.ReplaceAll(command, "%", "%%") // for a hint
}

// refuseTitle refuses lines above the header, and a header without a name for the first column.
func (t *table) refuseTitle(rows []row) error {
	width, usual := usualWidth(rows)
	first := rows[0]
	if used := first.used(0); len(rows) > 3 && used > width && usual == len(rows)-1 {
		p := problem("%s has more fields than the rows below: %d, not %d", quoted(first.at(0)), used, width)
		p.Line = first.line
		return p.hint(fmt.Sprintf("if it is a title, tail -n +%d FILE leaves it out", rows[1].line)).whole()
	}
	if len(rows) < 3 || first.used(0) >= width || 2*usual <= len(rows) {
		return nil
	}
	p := problem("%s has fewer fields than the rows below: %d of %d", quoted(first.at(0)), first.used(0), width)
	p.Line = first.line
	if first.used(0) == width-1 && t.sortOf(rows[1].at(width-1)) > word {
		return p.hint(fmt.Sprintf("if column 1 has no name, sed '%ds/^/row%c/' FILE writes one", first.line, t.opt.Comma)).whole()
	}
	begins := slices.IndexFunc(rows, func(r row) bool { return r.used(0) >= width })
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
	return p.hint(t.pandas("d.melt(['"+strings.Join(others, "', '")+"'], var_name='time')") + " makes a row of each cell").whole()
}

// refuseShape refuses columns that do not have an x and a y in each row.
func (t *table) refuseShape(rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	if t.opt.Time == TimeAuto {
		if err := t.refuseParts(rows); err != nil {
			return err
		}
	}
	if err := t.refuseWords(rows); err != nil {
		return err
	}
	return t.refuseMerged(rows)
}

// free reports whether no option gives a column a role.
func (t *table) free(at int) bool {
	return at != t.rep.X && (at != t.rep.Y || t.opt.Y == "") && !slices.Contains(t.rep.Also.Columns, at)
}

var (
	partName = regexp.MustCompile(`(?i)^(quarter|quartal|trimestre|month|monat|mois|mes|week|woche|semaine|day|tag|jour|doy|hour|` +
		`stunde|heure|hora|time|uhrzeit|minute|period)s?$`)
	clockCell = regexp.MustCompile(`^\d{1,2}[:h]\d{2}`)
)

// refuseParts refuses a year or a day that repeats beside a column, which no option names, of its parts, or beside a y of 1, 2, 3
// or of times of day.
func (t *table) refuseParts(rows []row) error {
	first := rows[0].at(t.rep.X)
	repeats := len(rows) > 1 && first != "" && rows[1].at(t.rep.X) == first
	for at, name := range t.rep.Columns {
		part, counts := partName.MatchString(name) && t.sorts[at] != dated, at == t.rep.Y && len(rows) > 2
		for i, r := range rows[:min(len(rows), 3)] {
			counts = counts && strings.TrimLeft(r.at(at), "0") == strconv.Itoa(i+1)
		}
		clock := at == t.rep.Y && clockCell.MatchString(rows[0].at(at))
		if t.free(at) && len(t.opt.Keys) == 0 && (clock || repeats && (part || counts)) {
			return problem("the time is spread over %s and %s", t.column(t.rep.X), t.column(at)).
				hint("put it into one column, as 2024-01 or 2024-01-31 14:30; %s and %s take columns of numbers as they are",
					Setting{"Time", "number"}, Setting{Field: "Y"}).whole()
		}
	}
	return nil
}

// refuseWords refuses an x with words, or a y with words or dates, that no option names, if there are other columns.
func (t *table) refuseWords(rows []row) error {
	at := t.rep.Y
	if t.sorts[t.rep.X] == word && t.opt.X == "" {
		at = t.rep.X
	} else if t.opt.Y != "" || t.sorts[at] != word && t.sorts[at] != dated {
		return nil
	}
	first := slices.IndexFunc(rows, func(r row) bool { return !t.missing(r.at(at), true) })
	if cell := rows[first].at(at); t.width > 2 && hintOf(cell) == "" {
		p := problem("begins with %s, and no option names another column", quoted(cell)).
			hint("%s and %s choose the columns, and %s makes a series of the rows of each text", Setting{Field: "X"}, Setting{Field: "Y"},
				Setting{"Keys", t.name(at)})
		if p.Column, p.Cell = t.column(at), cell; t.sorts[at] == dated || len(t.opt.Keys) > 0 {
			p.hint("%s and %s choose the columns", Setting{Field: "X"}, Setting{Field: "Y"})
		}
		return p.whole()
	}
	return nil
}

// refuseMerged refuses an x that is empty in most rows below its first, where y is not.
func (t *table) refuseMerged(rows []row) error {
	empty := 0
	for _, r := range rows {
		if t.missing(r.at(t.rep.X), false) && !t.missing(r.at(t.rep.Y), true) {
			empty++
		}
	}
	if 2*empty <= len(rows) || t.missing(rows[0].at(t.rep.X), false) {
		return nil
	}
	do := fmt.Sprintf("d[c[%d]] = d[c[%d]].ffill(); d", t.rep.X, t.rep.X)
	return problem("%s is empty in %d of %d rows", t.column(t.rep.X), empty, len(rows)).
		hint("if cells are merged, so that one stands for several rows, " + t.pandas(do) + " writes it in each").whole()
}
