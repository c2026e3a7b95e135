package dataset

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numberStyle is how the numbers of a column are written: 1,025.10 or 1.025,10, each with a unit or without.
type numberStyle struct {
	comma bool   // the decimal sign; the other one may stand between thousands
	truth bool   // they are TRUE and FALSE
	unit  string // of every number: %, €, kWh
}

// plain reports whether numbers may be read by [decimal] alone, where it can.
func (n numberStyle) plain() bool { return n == numberStyle{} }

// numberParts are a sign or a parenthesis for it, a currency, digits with marks, an exponent, a trailing minus and a unit. Where
// they do not fit, rareParts are tried, which have a name as in T=20.5, other currencies, and thousands or more of one:
// numberParts are faster alone.
var (
	numberParts = partsOf(`\p{Sc}|%|[A-Z]{3}[ \x{a0}]`, unitBehind)
	rareParts   = partsOf(`[A-Za-z]\w{0,19}=|[A-Z]{1,3}\$|(?:[A-Z]{3}|kr\.?|Kr\.?|Rs\.?|Fr\.)[ \x{a0}\x{202f}]`,
		`(?:Mio|Mrd|Tsd|mln|mld|bn)\.? ?(?:\p{Sc}|[A-Z]{3})|`+unitBehind)
)

// unitBehind is a unit as it stands behind a number: per cent, a currency, or letters, as of kWh, m³, m3/s and kr.
const unitBehind = `%|‰|\p{Sc}|[\pL°µ][\pL°µ/²³]*(?:[23]/\pL+)?\.?`

// partsOf are the parts of a number with currencies before it and units behind.
func partsOf(currency, unit string) *regexp.Regexp {
	const blanks = `[ \x{a0}\x{202f}\x{2009}\x{2007}]*`
	return regexp.MustCompile(`^(\(?)([-+−–]?)(` + currency + `)?` + blanks + `(\(?)([-+−–]?)` +
		`([.,]?\d[\d.,'’ \x{a0}\x{202f}\x{2009}\x{2007}]*?)(?:[.,][-–—]{1,2}|([eE][-+]?\d+|[dD][-+]\d+)?([-+]?))` +
		blanks + `(` + unit + `)?(\)?)$`)
}

// writtenNumber is a number in the parts in which it is written.
type writtenNumber struct {
	negative               bool
	digits, exponent, unit string
}

// splitNumber takes a text apart; ok is false for what is no number in any style.
func splitNumber(text string) (w writtenNumber, ok bool) {
	const longest = 400 // digits of a float64
	if len(text) > longest || !strings.ContainsAny(text, "0123456789") {
		return w, false
	}
	if w, ok = splitPlain(text); ok {
		return w, true
	}
	return splitParts(text)
}

// splitParts is splitNumber by numberParts.
func splitParts(text string) (w writtenNumber, ok bool) {
	p := numberParts.FindStringSubmatch(text)
	if p == nil {
		p = rareParts.FindStringSubmatch(text)
	}
	if p == nil || (p[1]+p[4] == "") != (p[10] == "") {
		return w, false
	}
	signs := 0
	for _, sign := range []string{p[1], p[2], p[4], p[5], p[8]} {
		if sign != "" {
			signs++
			w.negative = sign != "+"
		}
	}
	if p[8] != "" && unicode.IsLetter(firstRune(p[9])) && strings.HasSuffix(text, p[8]+p[9]+p[10]) { // 1-Jan is a day
		return writtenNumber{}, false
	}
	w.digits, w.exponent, w.unit = p[6], p[7], strings.TrimRight(p[3], numberBlanks)+p[9]
	if w.exponent != "" {
		w.exponent = "e" + w.exponent[1:] // Fortran has D
	}
	return w, signs <= 1 && (p[3] == "" || p[9] == "" || strings.HasSuffix(p[3], "=") || manyOf.MatchString(p[9]))
}

// manyOf is a thousand or more of a currency before the number.
var manyOf = regexp.MustCompile(`^(?i:k|m|mm|mn|mln|mio|b|bn|bio|mrd|t|tn)$`)

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

// splitPlain is splitParts for most numbers, at less than a tenth of the cost: digits and marks, with or without a sign before
// them and a unit behind. ok is false for any other text.
func splitPlain(text string) (w writtenNumber, ok bool) {
	if text[0] == '-' || text[0] == '+' {
		w.negative, text = text[0] == '-', text[1:]
	}
	end := 1 + strings.LastIndexAny(text, "0123456789.,'’")
	if end > 0 && strings.HasPrefix(text[end-1:], "’") {
		end += len("’") - 1
	}
	w.digits, w.unit = text[:end], strings.TrimLeft(text[end:], numberBlanks)
	first := strings.TrimLeft(w.digits[:min(len(w.digits), 2)], ".,")
	if first == "" || first[0]-'0' > 9 || strings.Trim(w.digits, "0123456789.,"+between) != "" {
		return writtenNumber{}, false
	}
	return w, w.unit == "" || unitOnly.MatchString(w.unit)
}

// unitOnly is a unit as numberParts has it behind a number.
var unitOnly = regexp.MustCompile(`^(?:` + unitBehind + `)$`)

// truths are the words for true and false, as spreadsheets and programs write them: 1 and 0. Those of one letter may be something
// else, as the unit t is.
var truths = map[string]float64{
	"true": 1, "yes": 1, "on": 1, "wahr": 1, "ja": 1, "ein": 1, "an": 1, "vrai": 1, "oui": 1, "verdadero": 1, "si": 1, "sí": 1,
	"vero": 1, "sì": 1, "verdadeiro": 1, "sim": 1, "waar": 1, "sant": 1, "prawda": 1, "tak": 1, "doğru": 1, "evet": 1,
	"y": 1, "t": 1, "j": 1,
	"false": 0, "no": 0, "off": 0, "falsch": 0, "nein": 0, "aus": 0, "faux": 0, "non": 0, "falso": 0, "não": 0, "onwaar": 0,
	"nee": 0, "falskt": 0, "nej": 0, "fałsz": 0, "nie": 0, "yanlış": 0, "hayır": 0, "n": 0, "f": 0,
}

// truthOf returns the value of one of them.
func truthOf(text string) (v float64, ok bool) {
	const longest = 20 // bytes
	if len(text) > longest {
		return 0, false
	}
	v, ok = truths[strings.ToLower(text)]
	return v, ok
}

// isTrueOrFalse reports whether a text is one of them, and isTruth whether it has more than one letter, too.
func isTrueOrFalse(text string) bool { _, ok := truthOf(text); return ok }

func isTruth(text string) bool { return len(text) > 1 && isTrueOrFalse(text) }

// statusFlag is a letter or two, or the mark of a footnote, that offices of statistics write behind a number: a break in the
// series, an estimate, provisional, revised, of low reliability. It may be a remark behind #.
var statusFlag = regexp.MustCompile(`^(.*\d)(?:[ \x{a0}]+(?:[bepru]{1,2}|\d\)|#.*)|` +
	`[ \x{a0}]*(?:\*{1,3}|#|[†‡¹²³⁴⁵ᵃᵇᵖʳ]|\(?[a-z]\)|\(\d\)|\[(?:[a-z]|\d)\]))$`)

// bareFlag is one without a blank, where numbers have no unit, and about stands before a number that is not exact.
var (
	bareFlag = regexp.MustCompile(`^(.*\d)[epr]$`)
	about    = regexp.MustCompile(`^(?:(?i:c|ca|circa|approx|about|etwa|rund|env|environ)(?:\.\s*|\s+)|[~≈]\s*)(\d.*)$`)
)

// withoutFlag returns a number without a flag beside it, in a column in which numbers have a unit.
func withoutFlag(text, unit string) (number string, ok bool) {
	for _, flag := range []*regexp.Regexp{statusFlag, about, bareFlag} {
		if m := flag.FindStringSubmatch(text); m != nil && (flag != bareFlag || unit == "") {
			return m[1], true
		}
	}
	return text, false
}

// between are the marks that stand between thousands in any style.
const between = "'’" + numberBlanks

// numberBlanks are those of them that are blank.
const numberBlanks = " \u00a0\u202f\u2009\u2007"

// sign returns the decimal sign that the digits show; if they may be read both ways, as those of 1,025 and 1.025, it returns 0
// and their mark.
func (w writtenNumber) sign() (decimal, open byte) {
	last := strings.LastIndexAny(w.digits, ".,")
	if last < 0 {
		return 0, 0
	}
	mark := w.digits[last]
	other := byte('.' + ',' - mark)
	switch {
	case strings.IndexByte(w.digits, other) >= 0:
		return mark, 0
	case strings.IndexByte(w.digits, mark) < last:
		return other, 0
	case groups(w.digits, mark) && w.exponent == "":
		return 0, mark
	}
	return mark, 0
}

// groups reports whether a mark stands between thousands: 1,025 and 12,345,678, and 12,34,567 as in India.
func groups(digits string, mark byte) bool {
	part := strings.Split(digits, string(mark))
	for i, d := range part {
		last := i == len(part)-1
		if strings.Trim(d, "0123456789") != "" || last && len(d) != 3 || !last && i > 0 && len(d) != len(part[1]) && len(part) > 3 ||
			!last && (len(d) == 0 || len(d) > 3 || i > 0 && len(d) < 2) {
			return false
		}
	}
	return len(part) > 1 && part[0][0] != '0'
}

// value reads the number in a style.
func (n numberStyle) value(text string) (float64, error) {
	if n.truth {
		v, ok := truthOf(text)
		if !ok {
			return 0, styleError{fmt.Errorf("%s is not one of the words for true and false, as the first value is", quoted(text))}
		}
		return v, nil
	}
	w, ok := splitNumber(text)
	if !ok {
		return 0, noNumber(text)
	}
	scale := 1.0
	if w.unit != n.unit {
		if scale, ok = multiple(w.unit, n.unit); !ok {
			return 0, unitError(text, w.unit, n.unit)
		}
	}
	decimal, thousands := ".", ","
	if n.comma {
		decimal, thousands = ",", "."
	}
	whole, fraction, _ := strings.Cut(w.digits, decimal)
	for _, mark := range append(strings.Split(between, ""), thousands) {
		if strings.Contains(whole, mark) {
			if plain := strings.ReplaceAll(whole, mark, ","); groups(plain, ',') {
				whole = strings.ReplaceAll(plain, ",", "")
			}
			break
		}
	}
	v, err := parseFinite(whole + "." + fraction + w.exponent)
	switch sign, _ := w.sign(); {
	case err != nil && sign != 0 && (sign == ',') != n.comma:
		return 0, styleError{fmt.Errorf("%s is not a finite number with a decimal %s: write all numbers of a column in one way",
			quoted(text), map[bool]string{true: "comma", false: "point"}[n.comma])}
	case err != nil:
		return 0, noNumber(text)
	case w.negative:
		v = -v
	}
	return scale * v, nil
}

// multiple returns how many of a unit another one is, where both end with the letter for thousands, millions or billions.
func multiple(unit, of string) (v float64, ok bool) {
	powers := map[string]float64{"K": 1e3, "M": 1e6, "B": 1e9}
	if unit == "" || of == "" || unit[:len(unit)-1] != of[:len(of)-1] {
		return 0, false
	}
	v, w := powers[unit[len(unit)-1:]], powers[of[len(of)-1:]]
	return v / w, v > 0 && w > 0
}

// styleError is the error of a number that is written otherwise than those above it: no hint can add to it.
type styleError struct{ error }

func noNumber(text string) error { return fmt.Errorf("%s is not a finite number", quoted(text)) }

// sides are the two sides of an account, debit and credit, in German S and H.
var sides = regexp.MustCompile(`(?i)^(cr?dr?|creditdebit|créditdébit|habensoll|hs)$`)

// sidesName is the name of a column of them.
var sidesName = regexp.MustCompile(`(?i)^(s ?/ ?h|h ?/ ?s|[cd]r? ?/ ?[cd]r?|soll ?/ ?haben|(debit|credit) ?/ ?(debit|credit).*)$`)

// sideNamed is the name of a column with the numbers of one side, in the group that of debit.
var sideNamed = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:(d[eé]bit[ao]?s?|soll|belastung(?:en)?|lastschrift|debe|cargos?|dare|` +
	`addebit[io]|withdrawals?|(?:money|paid) out|af|debet)|cr[eé]dit[ao]?s?|haben|gutschrift(?:en)?|haber|abonos?|avere|` +
	`accredit[io]|deposits?|(?:money|paid) in|bij|kredit)(?:[^\pL]|$)`)

// areSides reports whether two texts are these.
func areSides(a, b string) bool { return sides.MatchString(min(a, b) + max(a, b)) }

func unitError(text, has, want string) error {
	switch {
	case areSides(has, want):
		return styleError{fmt.Errorf("%s has %s, and the numbers above have %s: write a minus before those of one side of the account",
			quoted(text), quoted(has), quoted(want))}
	case want == "":
		return styleError{fmt.Errorf("%s has %s, and the numbers above have no unit: write all with it or without",
			quoted(text), quoted(has))}
	case has == "":
		return styleError{fmt.Errorf("%s has no %s, and the numbers above have: write all with it or without",
			quoted(text), quoted(want))}
	}
	return styleError{fmt.Errorf("%s has %s, and the numbers above have %s: write all in one unit",
		quoted(text), quoted(has), quoted(want))}
}

// styleFinder finds out how the numbers of a column are written. The unit is that of the first number. The first number that
// shows its decimal sign decides; a column of numbers that may all be read both ways is settled by what else is known, or is an
// error.
type styleFinder struct {
	style        numberStyle
	met, done    bool
	open         dateInRow // the first number that may be read both ways
	mark         byte      // of it
	short, long  bool      // numbers without marks, of up to three digits and of more
	marks, whole int       // numbers that may be read both ways, and those of three digits without marks
	guess        bool      // nothing tells that 1.025 is not 1025
	pair         dateInRow // the first number that is a value and a code
}

// fixed settles the decimal sign.
func (f *styleFinder) fixed(comma bool) { f.style.comma, f.done = comma, true }

// add takes a cell, and reports whether no further one is needed.
func (f *styleFinder) add(text []byte, line int, opt CSVOptions) bool {
	if f.met && f.done {
		return true
	}
	if !f.met {
		if _, truth := truthOf(cellText(text)); truth {
			f.met, f.done, f.style.truth = true, true, true
			return true
		}
	}
	w, ok := writtenNumber{}, false
	if _, ok = decimal(text); ok && text[0]-'0' <= 9 && strings.IndexByte(string(text), 'e') < 0 {
		w.digits = string(text)
	} else if w, ok = splitNumber(cellText(text)); !ok {
		return false
	}
	if f.pair.text == "" && qualityPair.Match(text) {
		f.pair = dateInRow{line, string(text)}
	}
	if !f.met {
		f.met, f.style.unit = !bareFlag.MatchString(string(text)), w.unit // 12.1p may be a flag, or pence
		if _, flagged := withoutFlag(cellText(text), w.unit); flagged {
			f.style.unit = ""
		}
		if opt.DecimalComma || opt.DecimalPoint {
			f.fixed(opt.DecimalComma)
		}
	}
	switch sign, open := w.sign(); {
	case f.done:
	case sign != 0: // between commas, 1.234,5 below 1.234 is the odd one
		f.fixed(sign == ',' && (opt.Comma != ',' || f.mark != '.'))
	case open != 0 && f.mark == 0:
		f.open, f.mark, f.marks = dateInRow{line, string(text)}, open, 1
	case open != 0 && open != f.mark: // 1,025 and 1.025: thousands in neither
		return false
	case open != 0:
		f.marks++
	case !strings.ContainsAny(w.digits, between):
		if len(w.digits) == 3 {
			f.whole++
		}
		f.short, f.long = f.short || len(w.digits) <= 3, f.long || len(w.digits) > 3
	}
	return f.done
}

// qualityPair is a number with a sign and leading zeros, and a digit behind a comma: +0012,1.
var qualityPair = regexp.MustCompile(`^[+-]0\d{3},\d$`)

// settle decides by all numbers there are. With numbers above 999 without a mark, marks are decimal signs; else they are what the
// decimal sign of the other columns, if these show one, makes them. Between commas, 1,025 is read as 1025: with decimal commas,
// programs separate fields by semicolons. There 1,025 is 1.025. What may be both is 1.025 beside 980 or beside dates with points,
// as in German, 1,025 beside these between commas, and 1,025 between other signs.
func (f *styleFinder) settle(column string, comma rune, others byte, pointed bool) error {
	if f.pair.text != "" {
		return fmt.Errorf("line %d, %s: %s seems to be a value and the code of its quality, as weather stations of the NOAA have "+
			"them: sed -E 's/([+-][0-9]{4}),[0-9]/\\1/g' FILE leaves the values, in tenths, of which +9999 is missing",
			f.pair.line, column, quoted(f.pair.text))
	}
	if f.done {
		return nil
	}
	const several = 3 // 980 beside 1.025: of fractions with three decimals, one in a thousand is whole
	both := f.mark == ',' && comma != ';' && (comma != ',' || pointed) || f.mark == '.' && comma == ';' && (f.short || pointed)
	switch {
	case f.long:
		f.fixed(f.mark == ',')
	case comma != ',' && f.marks >= several && f.whole >= several:
		f.fixed(f.mark == '.')
	case f.mark != 0 && others != 0:
		f.fixed(others == ',')
	case f.mark == ',' && comma == ';':
		f.fixed(true)
	case both:
		whole, fraction := strings.Replace(f.open.text, string(f.mark), "", 1), strings.Replace(f.open.text, ",", ".", 1)
		return fmt.Errorf("line %d, %s: %s may be %s or %s, and no other number of the column tells which: "+
			"say CSVOptions.DecimalComma or CSVOptions.DecimalPoint", f.open.line, column, quoted(f.open.text), whole, fraction)
	default:
		f.guess = f.mark == '.' && strings.ContainsRune(";\t|", comma)
		f.fixed(false)
	}
	return nil
}

// pointedDates reports whether the first rows have dates such as 31.1.2000.
func (opt CSVOptions) pointedDates() bool {
	return slices.ContainsFunc(opt.head, func(row []string) bool { return slices.ContainsFunc(row, pointedDate.MatchString) })
}

// decimalSign is that of the numbers in the first rows of all columns, if some show it and all that do show the same; else 0.
func (opt CSVOptions) decimalSign() (sign byte) {
	for _, row := range opt.head {
		for _, cell := range row {
			w, ok := splitNumber(cell)
			if !ok || dateFormat(cell) != TimeAuto {
				continue
			}
			switch s, _ := w.sign(); {
			case s == 0:
			case sign != 0 && s != sign:
				return 0
			default:
				sign = s
			}
		}
	}
	return sign
}

// hinted adds to an error of a number what may help.
func hinted(err error, text string) error {
	if errors.As(err, new(styleError)) {
		return err
	}
	hint := numberHint(text)
	if hint == timeInstead {
		hint = durationInstead
	}
	return fmt.Errorf("%w%s", err, hint)
}
