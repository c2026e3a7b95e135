package dataset

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
)

// A file that is not a table with a row for each observation is refused after its first rows, with the command that makes a table
// of it. The error of a cell that is neither a number nor a date says what the cell may be.

// xAndY are the settings that choose columns.
var xAndY = []any{Setting{Field: "X"}, Setting{Field: "Y"}}

// hints say what may help with a text that is no number or no date.
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
	const most = 40
	if hint := hintOf(text); hint != "" || len(text) > most {
		return p.hint(hint)
	}
	return p.hint("if it stands for a missing value: %s", Setting{"Missing", text})
}

const leaveOut = "if it is a title, tail -n +%d FILE leaves it out"

// refuseTitle refuses a first line that has other fields than the rows below: a title, or a header without a name for the first
// column.
func (t *table) refuseTitle(rows []row) *CSVProblem {
	width, usual := usualWidth(rows)
	used, below := rows[0].used(0), len(rows)-1
	fewer, more := used < width && 2*usual > len(rows), used > width && usual == below && below > 2
	values := len(rows[0].cells) == width && t.sortOf(rows[0].at(0)) > word // and its last cells are empty
	if below < 2 || values || !fewer && !more {
		return nil
	}
	p := problem("%s has %s, and the rows below have %d", quoted(rows[0].at(0)), text.Count(used, "field"), width)
	p.Line = rows[0].line
	if used == width-1 && usual == below {
		return p.hint(leaveOut+"; if column 1 has no name, sed '%ds/^/row%c/' FILE writes one", rows[1].line, p.Line, t.opt.Comma)
	}
	begins := slices.IndexFunc(rows[1:], func(r row) bool { return more || r.used(0) >= width })
	return p.hint(leaveOut, rows[1+begins].line)
}

// timeName matches the name of a column that stands for a year, a month, a quarter or a week, where each has a column.
var timeName = regexp.MustCompile(`^(?:(?:1[89]|20)\d\d|Q[1-4]|(?:KW|W) ?\d{1,2})$`)

// refuseHeader refuses two lines of words above values, and a header with a column for each of three times or more, beside other
// columns.
func (t *table) refuseHeader(rows []row) *CSVProblem {
	if t.named && len(rows) > 2 {
		words, values := false, false
		for at, below := range t.sorts {
			second := t.sortOf(rows[1].at(at))
			words, values = words || second == word && below > word && t.sortOf(rows[0].at(at)) == word, values || second > word
		}
		if words && !values {
			p := problem("two lines stand above the values, with %s and %s", quoted(rows[0].at(0)), quoted(rows[1].at(0)))
			p.Line = rows[0].line
			return p.hint(leaveOut+"; if line %d has units, sed %dd FILE does", rows[1].line, rows[1].line, rows[1].line)
		}
	}
	var times, others []string
	for i := range rows[0].cells {
		name := rows[0].at(i)
		if dateFits(name, anyFormat) != 0 || timeName.MatchString(name) || monthOf(strings.TrimSuffix(name, ".")) > 0 {
			times = append(times, name)
		} else if name != "" {
			others = append(others, name)
		}
	}
	if len(times) < 3 || len(others) == 0 && rows[0].at(0) != "" {
		return nil
	}
	t.named = true
	p := problem("the header has a column for each time (%s, %s, …)", times[0], times[1])
	p.Line = rows[0].line
	return p.hint("%s makes a row of each cell", t.pandas("d.melt(['"+strings.Join(others, "', '")+"'], var_name='time')"))
}

// pandas returns a command that reads FILE as d, with the columns c, and writes the result of an expression.
func (t *table) pandas(expression string) string {
	options := fmt.Sprintf("sep='%c'", t.opt.Comma)
	if t.opt.Comma == ' ' {
		options = `sep=r'\s+'`
	}
	if !t.named {
		options += ", header=None"
	}
	return `python3 -c "import pandas as pd; d = pd.read_csv('FILE', ` + options + ", dtype=str); c = d.columns; " + expression +
		`.to_csv('long.csv', index=False)"`
}

var (
	partName = regexp.MustCompile(`(?i)^(quarter|quartal|trimestre|month|monat|mois|mes|week|woche|semaine|day|tag|jour|doy|hour|` +
		`stunde|heure|hora|time|uhrzeit|minute|period)s?$`)
	clockCell = regexp.MustCompile(`^\d{1,2}[:h]\d{2}`)
)

// refuseParts refuses a year or a day that repeats if its parts stand in another column which no option names, or if y is 1, 2, 3
// or has times of day.
func (t *table) refuseParts(rows []row) *CSVProblem {
	if t.opt.Time != TimeAuto || len(t.opt.Keys) > 0 || t.sorts[t.rep.X] == word {
		return nil
	}
	first := rows[0].at(t.rep.X)
	repeats := len(rows) > 1 && first != "" && rows[1].at(t.rep.X) == first
	for at, name := range t.rep.Columns {
		part, counts := partName.MatchString(name) && t.sorts[at] != dated, at == t.rep.Y && len(rows) > 2
		for i, r := range rows[:min(len(rows), 3)] {
			counts = counts && strings.TrimLeft(r.at(at), "0") == strconv.Itoa(i+1)
		}
		clock := at == t.rep.Y && clockCell.MatchString(rows[0].at(at))
		if t.free(at) && (clock || repeats && (part || counts)) {
			return problem("the time is spread over %s and %s", t.column(t.rep.X), t.column(at)).
				hint("put it into one column, as 2024-01 or 2024-01-31 14:30; %s and %s take columns of numbers as they are",
					Setting{"Time", "number"}, Setting{Field: "Y"})
		}
	}
	return nil
}

// refuseWords refuses an x with words, or a y with words or dates, that no option names, if there are other columns.
func (t *table) refuseWords(rows []row) *CSVProblem {
	at := t.rep.Y
	if t.sorts[t.rep.X] == word && t.opt.X == "" {
		at = t.rep.X
	} else if t.opt.Y != "" || t.sorts[at] != word && t.sorts[at] != dated {
		return nil
	}
	first := slices.IndexFunc(rows, func(r row) bool { return !t.missing(r.at(at), true) })
	cell := rows[first].at(at)
	if t.width < 3 || hintOf(cell) != "" {
		return nil
	}
	p := problem("begins with %s, and no option names another column", quoted(cell))
	p.Column, p.Cell = t.column(at), cell
	if t.sorts[at] == dated || len(t.opt.Keys) > 0 {
		return p.hint("%s and %s choose the columns", xAndY...)
	}
	by := Setting{"Keys", cmp.Or(t.rep.Columns[at], strconv.Itoa(at+1))}
	return p.hint("%s and %s choose the columns, and %s makes a series of the rows of each text", append(xAndY, by)...)
}

// refuseMerged refuses an x that is empty in most rows below its first, where y is not.
func (t *table) refuseMerged(rows []row) *CSVProblem {
	empty := 0
	for _, r := range rows {
		if t.missing(r.at(t.rep.X), false) && !t.missing(r.at(t.rep.Y), true) {
			empty++
		}
	}
	if 2*empty <= len(rows) || t.missing(rows[0].at(t.rep.X), false) {
		return nil
	}
	return problem("%s is empty in %d of %d rows", t.column(t.rep.X), empty, len(rows)).
		hint("if cells are merged, so that one stands for several rows, %s writes it in each",
			t.pandas(fmt.Sprintf("d[c[%[1]d]] = d[c[%[1]d]].ffill(); d", t.rep.X)))
}
