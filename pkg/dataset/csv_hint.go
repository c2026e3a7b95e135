package dataset

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	infinite    = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|1\.#\w+)$`)
	clock       = regexp.MustCompile(`^(\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?(\s?[AaPp](\.?\s?[Mm]\.?)?| Uhr)?|\d{4} (UTC|GMT))$`)
	noYear      = regexp.MustCompile(`^(?:\d{1,2}[-/. ]\s?(\d{1,2}|\pL{3,12})\.?|(\pL{3,12})\.?([- ]\d{1,2})?)$`)
	wordsBefore = regexp.MustCompile(`^(?:[\pL/]+\.?:?\s+)+(\d.*)$`)
)

// Hints that are about a column.
const (
	missingHint = " (if it stands for a missing value, name it as one: CSVOptions.Missing)"
	dateInstead = " (it is a date: is this the column that was meant? CSVOptions.X and CSVOptions.Y choose others)"
	timeInstead = " (it is a time of day: make one column of date and time, as sed 's/^/2024-01-31 /' FILE does up to midnight; " +
		"write a time that has elapsed as a number of hours; CSVOptions.X and CSVOptions.Y choose other columns)"
	// durationInstead is timeInstead of a column that is not x.
	durationInstead = " (it is a time of day, or a duration? write a duration as a number of hours or minutes; " +
		"CSVOptions.X and CSVOptions.Y choose other columns)"
	nameInstead = " (if another column was meant, CSVOptions.X and CSVOptions.Y choose it; " +
		"if this stands for a missing value, name it as one: CSVOptions.Missing)"
)

// hints are what may help of a text, in parentheses: that of the first kind that it is.
type hints []struct {
	is   func(text string) bool
	hint string
}

func like(pattern string) func(text string) bool { return regexp.MustCompile(pattern).MatchString }

// of returns the hint, "" if there is none.
func (all hints) of(text string) string {
	for _, h := range all {
		if h.is(text) {
			return h.hint
		}
	}
	return ""
}

// total is what a row of a sum or of a mean says in place of a time.
var total = regexp.MustCompile(`(?i)\b(sub|ins)?(totals?|totaux|annual|sum|summe|gesamt(ergebnis)?|totale|suma|somme|` +
	`average|avg|mean|mittel|mittelwert|durchschnitt|moyenne|media|promedio)\b`)

// totalHint is of a row that is none of the table's.
const totalHint = " (the header once more, or a total? remove the line)"

// numberHints are of texts that are no numbers.
var numberHints = hints{
	{like(`^[+-]?0[xX]`), " (a hexadecimal number? write it in decimal)"},
	{infinite.MatchString, missingHint},
	{like(`_`), " (write digits without _ between them)"},
	{isDecimal, " (its size is beyond that of a float64)"},
	{like(`^\d\d-?[Qq][1-4]$`), " (write quarters with four digits of the year: 1949Q1)"},
	{like(`^([+-]?[\d.]+)[dDqQ]([+-]?\d+)$`), " (a Fortran exponent? write e for it)"},
	{like(`^[<>]=?\s*\d+,\d+$`), " (a value below or above a limit? " +
		"sed -E 's/[<>]=? *[0-9]+,[0-9]+//g' FILE leaves such cells empty, or write the number alone)"},
	{like(`^[<>]=?\s*[\d.]+$`), " (a value below or above a limit? sed -E 's/[<>]=? *[0-9.]+//g' FILE leaves such cells empty, " +
		"or write the number alone)"},
	{like(`^[<>≤≥~≈]=?\s*[\d.,]+`), " (a value below or above a limit? write the number alone, " +
		"or name the text as missing: CSVOptions.Missing)"},
	{like(`^[-+\d.,]+\s*(±|\+/-|\+-)\s*[\d.,]+`), " (a value and its error? write them in two columns)"},
	{like(`^[\d.,]+\s*[-–—]\s*[\d.,]+$`), " (a range? write its middle)"},
	{hasOtherDigits, " (write numbers with the digits 0 to 9)"},
	{isDate, dateInstead},
	{like(`^\d{1,3}:\d{2}\b`), timeInstead},
	{like(`^[“”„«»]`), " (quotation marks as in print? write \" for them, or none)"},
}

// dateHints are of texts that are no dates.
var dateHints = hints{
	{like(`^\d{1,3}:\d{2}(:\d{2}([.,]\d+)?)?(\s?[AaPp]\.?[Mm]\.?)?$`), timeInstead},
	{like(`^\pL{3,12}\.?\s?[-–—/]\s?\pL{3,12}\.?\s\d{2,4}$`), " (a range of months? write the first, or the quarter: 2015Q1)"},
	{total.MatchString, totalHint},
	{like(`(?i)^FY ?\d{2,4}[-/ ]*(?:P|period|M)\.? ?\d{1,2}$`), " (a period of a fiscal year? write the month that it is: 2015-01)"},
	{like(`M13$`), " (the mean of a year? remove such rows)"},
	{like(`^\d{4}-\d{1,2}-\d{1,2}$`), " (the calendar has no such day)"},
	{like(`^[+-]?\d{5,}-\d\d`), " (years have four digits)"},
	{like(`:\d\d:60`), " (a leap second ends an hour: 23:59:60)"},
	{clockToClock.MatchString, " (a period, or a zone? write the begin alone, or seconds before the zone: 14:00:00-05:00)"},
	{like(`\d{2}:\d{2}.*\s[A-Z]{2,5}$`), " (write the zone as its distance from UTC: +02:00)"},
	{like(`(?i)^(kw|wk?|s)\.? ?\d{1,2}[-/. ]+\d{2}$`), " (write years with four digits)"},
	{like(`(?i)\b(quarter|quartal|trimestre)\b`), " (write quarters as 2015Q1)"},
	{shortYear.MatchString, " (write years with four digits)"},
	{like(`^\d{1,4}[./]\d{1,2}[./]\d{1,4}\b`), " (write dates as 2024-01-31)"},
	{like(`^\d{4}\s*[-–/]\s*\d{4}$`), " (a range of years? write the first)"},
	{datesBehind, " (words before a date? remove them)"},
	{lacksYear, " (a date without a year? add it, in four digits)"},
}

// lacksYear reports whether a text is a day and a month, or a month alone.
func lacksYear(text string) bool {
	p := noYear.FindStringSubmatch(text)
	if p == nil {
		return false
	}
	day := p[1] != "" && strings.Trim(p[1], "0123456789") == ""
	return p[1]+p[2] == "" || day || monthOf(p[1]+p[2]) > 0
}

// datesBehind reports whether a text is a date behind words.
func datesBehind(text string) bool {
	p := wordsBefore.FindStringSubmatch(text)
	return p != nil && isDate(p[1])
}

// numberHint says how a text that is no number could be made one.
func numberHint(text string) string { return cmp.Or(numberHints.of(text), nameInstead) }

// hasOtherDigits reports whether a text has digits of another script, or wide ones.
func hasOtherDigits(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) })
}

// isDate reports whether a text is a date, in any order of day and month, or a year.
func isDate(text string) bool { return dateFormat(text) != TimeAuto }
