package dataset

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// ParseNumber reads a number with a decimal point: digits, with or without an exponent, and finite.
func ParseNumber(text string) (float64, error) {
	if v, ok := decimal(text); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s is not a finite number", quoted(text))
}

// decimal reads [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. strconv.ParseFloat reads "NaN",
// "Inf", "0x1p3" and "1_000", too, which are no observations.
func decimal(text string) (float64, bool) {
	mantissa, digits, point, exact := 0, 0, len(text), true
	for i := range len(text) {
		switch c := text[i]; {
		case c-'0' <= 9:
			mantissa = 10*mantissa + int(c-'0')
			digits++
		case c == '.':
			exact, point = exact && point == len(text), i+1
		case c == '-' && i == 0:
		case c != '-' && c != '+' && c|' ' != 'e':
			return 0, false
		default:
			exact = false
		}
	}
	if !exact || digits == 0 || digits > 15 {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	}
	v := float64(mantissa) / powers[len(text)-point] // neither is rounded, so this is as exact as ParseFloat (Clinger 1990)
	if text[0] == '-' {
		v = -v
	}
	return v, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// numberParts returns an expression for a sign, a unit, a sign, digits that may have marks before groups of three, decimals, an
// exponent, and a unit.
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
	const most = 64 // bytes that a number with marks has at most
	if len(text) > most || !strings.ContainsAny(text, "0123456789") {
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

// numberStyle says how the numbers of a column are written.
type numberStyle struct {
	comma bool   // the decimal sign is a comma, and points stand between thousands
	open  bool   // no cell has shown the decimal sign, so a mark before three digits may mean either
	unit  string // currency sign or % beside each number
}

// read reads a number of the style, whose size is at most limit unless that is 0.
func (s numberStyle) read(text string, limit float64) (float64, *CSVProblem) {
	v, unit, ok := readNumber(text, s.comma)
	if ok && s.open && strings.ContainsAny(text, ".,") {
		other, _, both := readNumber(text, true)
		ok = !both || other == v
	}
	if ok && unit == s.unit {
		if limit == 0 || math.Abs(v) <= limit {
			return v, nil
		}
		return 0, problem("%s is beyond ±%g", quoted(text), limit).
			hint("if it stands for a missing value: %s; else scale the column", Setting{"Missing", text})
	}
	_, unit, byPoint := readNumber(text, false)
	_, other, byComma := readNumber(text, true)
	p := problem("%s is not a finite number", quoted(text))
	switch unit = cmp.Or(unit, other); {
	case dateFits(text, anyFormat) != 0:
		return 0, p.hint("it is a date: write all in one way, or %s and %s choose the columns", xAndY...)
	case !byPoint && !byComma:
		return 0, p.orMissing(text)
	case unit != s.unit:
		return 0, problem("%s has the unit %s, and the numbers above have %s", quoted(text), cmp.Or(unit, "none"),
			cmp.Or(s.unit, "none")).hint("write all alike")
	}
	return 0, problem("%s has another decimal sign than the numbers above, or none that they prove", quoted(text)).
		hint("write all alike, or %s or %s", Setting{Field: "DecimalPoint"}, Setting{Field: "DecimalComma"})
}

// numberFinder finds the style of a column. A cell that is a number only with a decimal point, or only with a decimal comma,
// proves the style.
type numberFinder struct {
	comma        rune   // separates fields
	proof        string // proven decimal sign; "" while there is none
	unit         string // unit of the first number
	count        int
	short, long  bool   // whole numbers without a mark were met: below 1000, and others
	marks        string // marks of the cells that have two readings
	cell         string // first cell that has two readings
	line         int
	point, other float64 // readings of cell
}

// add takes a cell and reports whether it is a number.
func (f *numberFinder) add(cell string, line int) bool {
	if f.proof != "" {
		_, _, ok := readNumber(cell, f.proof == ",")
		f.count++
		return ok
	}
	point, unit, byPoint := readNumber(cell, false)
	comma, unitToo, byComma := readNumber(cell, true)
	if !byPoint && !byComma {
		return false
	}
	if f.count++; f.count == 1 {
		f.unit = cmp.Or(unit, unitToo)
	}
	switch {
	case !byComma:
		f.proof = cmp.Or(f.proof, ".")
	case !byPoint:
		f.proof = cmp.Or(f.proof, ",")
	case point != comma:
		mark := cell[strings.IndexAny(cell, ".,"):][:1]
		if f.marks == "" {
			f.cell, f.line, f.point, f.other = cell, line, point, comma
		}
		if f.marks = strings.ReplaceAll(f.marks, mark, "") + mark; mark == "." && f.comma == ',' {
			f.proof = cmp.Or(f.proof, ".")
		}
	case math.Abs(point) < 1000:
		f.short = true
	case isWhole(cell): // a blank between thousands is no decimal sign either
		f.long = true
	}
	return true
}

// style returns the style that the options or the cells prove. Otherwise cells with three digits behind their only mark may be
// thousands or decimals: a comma is the decimal sign between semicolons. It stands before thousands between commas, if there are
// whole numbers below 1000 and no others, or if another column has decimal points (pointed). If these rules contradict one
// another, it is a problem.
func (f *numberFinder) style(opt CSVOptions, pointed bool) (s numberStyle, wrong *CSVProblem) {
	s.unit = f.unit
	thousands := f.short && !f.long
	switch {
	case opt.DecimalComma || opt.DecimalPoint:
		s.comma = opt.DecimalComma
	case f.proof != "":
		s.comma = f.proof == ","
	case f.marks == "":
		s.open = true
	case f.marks == "," && f.comma == ';' && !thousands && !pointed:
		s.comma = true
	case f.marks == "," && f.comma == ',' && (thousands || pointed):
	default:
		wrong = problem("%s may be %v or %v, and no cell of the column tells", quoted(f.cell), plain(f.point), plain(f.other)).
			hint("%s or %s", Setting{Field: "DecimalPoint"}, Setting{Field: "DecimalComma"})
		wrong.Line, wrong.Cell = f.line, f.cell
	}
	return s, wrong
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func isWhole(text string) bool { return strings.Trim(text, "0123456789") == "" }
