package dataset

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// numberStyle is how the numbers of a column are written.
type numberStyle struct {
	comma bool   // the decimal sign is a comma, and points stand between thousands
	open  bool   // no cell has shown the decimal sign, so a mark before three digits may mean either
	unit  string // a currency sign or % beside each number
}

// value reads a number of the style.
func (s *numberStyle) value(text string) (float64, bool) {
	v, unit, ok := readNumber(text, s.comma)
	if ok && s.open && strings.ContainsAny(text, ".,") {
		other, _, both := readNumber(text, true)
		ok = !both || other == v
	}
	return v, ok && unit == s.unit
}

// column is one of numbers.
type column struct {
	at    int // from 0
	style numberStyle
}

// read reads a number whose size is at most limit, unless that is 0.
func (c *column) read(text string, limit float64) (float64, *CSVProblem) {
	v, ok := c.style.value(text)
	switch {
	case !ok:
		return 0, c.style.wrong(text)
	case limit != 0 && math.Abs(v) > limit:
		return 0, problem("%s is beyond ±%g", quoted(text), limit).
			hint("if it stands for a missing value: %s; else scale the column", Setting{"Missing", text})
	}
	return v, nil
}

// numberParts are a sign, a unit, a sign, digits that may have marks before groups of three, decimals, an exponent, and a unit.
func numberParts(mark, point string) *regexp.Regexp {
	return regexp.MustCompile(`^([-−+]?)([%\p{Sc}]?) ?([-−+]?)` +
		`([1-9]\d{0,2}(?:(?:` + mark + `\d{3})+|(?:['’]\d{3})+|(?:[ \x{a0}\x{202f}]\d{3})+)|\d*)` +
		`(?:` + point + `(\d*))?([eE][-+]?\d+)?[ \x{a0}\x{202f}]?([%\p{Sc}]?)$`)
}

var numbers = map[bool]*regexp.Regexp{false: numberParts(",", `\.`), true: numberParts(`\.`, ",")}

// readNumber reads a number with a decimal comma or point, marks between its thousands, and a currency sign or % on one side.
func readNumber(text string, comma bool) (v float64, unit string, ok bool) {
	if v, ok = decimal(text); ok && (!comma || strings.IndexByte(text, '.') < 0) {
		return v, "", true
	}
	const longest = 64 // bytes of a number with marks
	if len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return 0, "", false
	}
	m := numbers[comma].FindStringSubmatch(text)
	if m == nil || m[1] != "" && m[3] != "" || m[2] != "" && m[7] != "" || m[4]+m[5] == "" {
		return 0, "", false
	}
	digits := strings.Join(strings.FieldsFunc(m[4], func(r rune) bool { return r < '0' || r > '9' }), "")
	v, err := strconv.ParseFloat(digits+"."+m[5]+m[6], 64)
	if sign := m[1] + m[3]; sign != "" && sign != "+" {
		v = -v
	}
	return v, m[2] + m[7], err == nil
}

// numberFinder finds the style of a column. A cell that is a number with a decimal point only, or with a decimal comma only,
// proves the style.
type numberFinder struct {
	opt          CSVOptions
	proof        string // the decimal sign; "" while there is none
	unit         string // of the first number
	count        int
	short, long  bool   // whole numbers without a mark were met, below 1000 and others
	marks        string // of the cells that have two readings
	cell         string // the first of them
	line         int
	point, comma float64 // its readings
}

// add takes a cell and reports whether it is a number.
func (f *numberFinder) add(cell string, line int) bool {
	point, unit, byPoint := readNumber(cell, false)
	comma, other, byComma := readNumber(cell, true)
	if !byPoint && !byComma {
		return false
	}
	if f.count++; f.count == 1 {
		f.unit = cmp.Or(unit, other)
	}
	switch {
	case !byComma:
		f.proof = cmp.Or(f.proof, ".")
	case !byPoint:
		f.proof = cmp.Or(f.proof, ",")
	case point != comma:
		if f.marks == "" {
			f.cell, f.line, f.point, f.comma = cell, line, point, comma
		}
		mark := cell[strings.IndexAny(cell, ".,"):][:1]
		if mark == "." && f.opt.Comma == ',' {
			f.proof = cmp.Or(f.proof, ".")
		}
		f.marks = strings.ReplaceAll(f.marks, mark, "") + mark
	case math.Abs(point) < 1000:
		f.short = true
	case strings.Trim(cell, "0123456789") == "": // a blank between thousands is no decimal sign either
		f.long = true
	}
	return true
}

// style returns the style that the options, the cells, or other columns of the file prove; commas between fields prove the point.
// Else cells with three digits behind their only mark are thousands or decimals: between semicolons a comma is the decimal
// sign unless whole numbers below 1000, and no others, stand beside it; between commas it stands before thousands if they do.
func (f *numberFinder) style(file string, pointedDates bool) (s numberStyle, wrong *CSVProblem) {
	s.unit = f.unit
	thousands := f.short && !f.long
	switch {
	case f.opt.DecimalComma || f.opt.DecimalPoint:
		s.comma = f.opt.DecimalComma
	case f.proof != "":
		s.comma = f.proof == ","
	case f.marks == "":
		s.open = true
	case file == "," || file == "." && !pointedDates:
		s.comma = file == ","
	case file == "" && f.marks == "," && f.opt.Comma == ';' && !thousands:
		s.comma = true
	case file == "" && f.marks == "," && f.opt.Comma == ',' && thousands:
	default:
		wrong = problem("%s may be %s or %s, and no cell of the column tells", quoted(f.cell), plain(f.point), plain(f.comma)).
			hint("%s or %s", Setting{Field: "DecimalPoint"}, Setting{Field: "DecimalComma"})
		wrong.Line, wrong.Cell = f.line, f.cell
	}
	return s, wrong
}

// wrong says why a text is no number of the style.
func (s *numberStyle) wrong(text string) *CSVProblem {
	_, unit, byPoint := readNumber(text, false)
	_, other, byComma := readNumber(text, true)
	fits, _ := dateFits(text)
	switch unit = cmp.Or(unit, other); {
	case fits != 0:
		return problem("%s is not a finite number", quoted(text)).
			hint("it is a date: write all in one way, or %s and %s choose the columns", Setting{Field: "X"}, Setting{Field: "Y"})
	case !byPoint && !byComma:
		return problem("%s is not a finite number", quoted(text)).orMissing(text)
	case unit != s.unit:
		return problem("%s has %s, and the numbers above have %s", quoted(text), named(unit), named(s.unit)).hint("write all alike")
	}
	return problem("%s has another decimal sign than the numbers above, or none that they prove", quoted(text)).
		hint("write all alike, or %s or %s", Setting{Field: "DecimalPoint"}, Setting{Field: "DecimalComma"})
}

// named quotes a unit.
func named(unit string) string {
	if unit == "" {
		return "no unit"
	}
	return strconv.Quote(unit)
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// pointedClock is a time of day, or a number, which proves no decimal sign of other columns.
var pointedClock = regexp.MustCompile(`^([01]?\d|2[0-3])\.[0-5]\d$`)

// decimalSign returns the decimal sign that cells of the columns prove, read or not: "" if none does, "both" if they differ.
func (t *table) decimalSign(rows []row) (sign string) {
	const most = 100 // columns that are looked at
	for at := range min(t.width, most) {
		f := numberFinder{opt: t.opt}
		for _, r := range rows[:min(len(rows), headRows)] {
			if cell := r.at(at); !t.missing(cell, true) && !pointedClock.MatchString(cell) {
				f.add(cell, r.line)
			}
		}
		switch {
		case f.proof == "" || f.proof == sign:
		case sign == "":
			sign = f.proof
		default:
			return "both"
		}
	}
	return sign
}
