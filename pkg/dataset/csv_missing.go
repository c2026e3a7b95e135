package dataset

import (
	"bufio"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// LeastFill is from where on numbers, of either sign, only stand for missing values, as the 1e20 and 9.97e36 of NetCDF do.
const LeastFill = 1e19

// declares is a line that says what stands for a missing value: nothing but nines, as the NOAA writes it below a table; or a
// number behind such words, in the same cell and with words between unless the line begins with them, as no cell of a row does;
// or before the words.
var declares = regexp.MustCompile(`(?i)^(-?9[9.]+)$|(?:^[\W_]*` + declaring + `[\pL_ ]*[,;\t|=: ]+|` +
	declaring + `[^\d,;\t|]{0,120}?[\pL=:][^\d,;\t|\pL]{0,3}?)([-−]?\d[\d.]*(?:e[-+]?\d+)?)|` +
	`([-−]\d[\d.]*|\b9[9.]+)['"]?\s*(?:=|:|means|is|are|indicates?|denotes?|marks?|for)\s*(?:an? |the )?` +
	`(?:missing|no[ _-]?data|fill)`)

const declaring = `(?:missing|fill|no[ _-]?data|undef|not available|fehl(?:end|wert)|manquant|mancant|ausente|faltante)`

// takeDeclared adds to the missing values, if none of them is a number, those that a line of the head declares: negative ones,
// nines, and numbers as large as fills are. Other numbers beside such words may count what is missing.
func (opt *CSVOptions) takeDeclared(r *bufio.Reader) {
	if slices.ContainsFunc(opt.Missing, isNumber) {
		return
	}
	line := 0
	for text := range headLines(r) {
		line++
		m := declares.FindStringSubmatch(strings.TrimSpace(string(text)))
		if m == nil {
			continue
		}
		code := strings.TrimRight(strings.Join(m[1:], ""), ".")
		v, err := ParseNumber(code)
		nines := strings.Trim(code, "9.") == "" && len(code) > 1
		if err == nil && (v < 0 || nines || math.Abs(v) >= LeastFill) && !slices.Contains(opt.Missing, code) {
			opt.Missing = append(slices.Clip(opt.Missing), code)
			opt.declared = append(opt.declared, fmt.Sprintf("%s, as line %d says", code, line))
		}
	}
}

// addCode adds a text for a missing value that is a number.
func (s *csvStream) addCode(text string) {
	w, ok := splitNumber(text)
	if !ok || w.unit != "" {
		return
	}
	sign, _ := w.sign()
	v, err := numberStyle{comma: sign == ','}.value(text)
	if err != nil {
		return
	}
	s.codes = append(s.codes, v)
	for _, c := range "-+(.,0123456789" { // with which it may begin; the others are those of − and –, and of currencies
		s.suspect[c] = true
	}
	for c := 0x80; c < len(s.suspect); c++ {
		s.suspect[c] = true
	}
}

// missingAt reports whether a cell of a column of numbers is missing: by its text, or because its value is one of the codes.
// Where its marks leave two values open, the style of the column decides, once it is known.
func (s *csvStream) missingAt(place int, text []byte) bool {
	if s.isMissing(text) {
		return true
	}
	if len(s.codes) == 0 || place == s.x || !s.suspect[text[0]] {
		return false
	}
	v, ok := 0.0, false
	if !s.styles[place].comma {
		v, ok = decimal(text)
	}
	if !ok {
		w, split := splitNumber(cellText(text))
		if !split {
			return false
		}
		style := numberStyle{comma: s.styles[place].comma, unit: w.unit}
		if sign, _ := w.sign(); sign != 0 {
			style.comma = sign == ','
		}
		var err error
		if v, err = style.value(cellText(text)); err != nil {
			return false
		}
	}
	return slices.Contains(s.codes, v)
}
