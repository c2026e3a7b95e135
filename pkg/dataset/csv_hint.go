package dataset

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	hexadecimal  = regexp.MustCompile(`^[+-]?0[xX]`)
	infinite     = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|1\.#\w+)$`)
	fortran      = regexp.MustCompile(`^([+-]?[\d.]+)[dDqQ]([+-]?\d+)$`)
	slashDate    = regexp.MustCompile(`^\d{1,4}[./]\d{1,2}[./]\d{1,4}\b`)
	isoDay       = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	longYear     = regexp.MustCompile(`^[+-]?\d{5,}-\d\d`)
	second60     = regexp.MustCompile(`:\d\d:60`)
	clock        = regexp.MustCompile(`^\d{1,2}[:h]\d{2}(:\d{2}([.,]\d+)?)?(\s?[AaPp]\.?\s?[Mm]\.?| Uhr)?$`)
	shortQuarter = regexp.MustCompile(`^\d\d-?[Qq][1-4]$`)
	noYear       = regexp.MustCompile(`^(?:\d{1,2}[-/. ]\s?(\d{1,2}|\pL{3,12})\.?|(\pL{3,12})\.?([- ]\d{1,2})?)$`)
	pastYears    = regexp.MustCompile(`^\d{4}\s*[-–/]\s*\d{4}$`)
	monthRange   = regexp.MustCompile(`^\pL{3,12}\.?\s?[-–—/]\s?\pL{3,12}\.?\s\d{2,4}$`)
	fromTo       = regexp.MustCompile(`^(.+?)\s+(?:[-–—/]|to|until|bis|au|al|a)\s+(.+)$`)
	wordsBefore  = regexp.MustCompile(`^(?:\pL+\.?:?\s+)+(\d.*)$`)
	footnote     = regexp.MustCompile(`\d\s*(?:\*+|[†‡¹²³ᵃᵇᵖʳ]|\(?\[?[a-z]\]?\)|\(\d\)|\[\d\])$`)
	limited      = regexp.MustCompile(`^[<>≤≥~≈]=?\s*[\d.,]+`)
	withError    = regexp.MustCompile(`^[-+\d.,]+\s*(±|\+/-|\+-)\s*[\d.,]+`)
	otherDigits  = regexp.MustCompile(`^[-+−.,٫٬．，\s]*\p{Nd}[\p{Nd}.,٫٬．，\s]*$`)
	zoneName     = regexp.MustCompile(`\d{2}:\d{2}.*\s[A-Z]{2,5}$`)
)

// Hints that are about a column.
const (
	missingHint = " (if it stands for a missing value, name it as one: CSVOptions.Missing)"
	dateInstead = " (it is a date: is this the column that was meant? CSVOptions.X and CSVOptions.Y choose others)"
	timeInstead = " (it is a time of day: make one column of date and time, or choose another by CSVOptions.X and CSVOptions.Y)"
	// durationInstead is timeInstead of a column that is not x.
	durationInstead = " (it is a time of day, or a duration? write a duration as a number of hours or minutes; CSVOptions.X and CSVOptions.Y choose other columns)"
	nameInstead     = " (if another column was meant, CSVOptions.X and CSVOptions.Y choose it; if this stands for a missing value, name it as one: CSVOptions.Missing)"
)

// numberHint says, in parentheses, how a text that is no number could be made one; "" if nothing is known.
func numberHint(text string) string {
	switch {
	case hexadecimal.MatchString(text):
		return " (a hexadecimal number? write it in decimal)"
	case infinite.MatchString(text):
		return missingHint
	case strings.Contains(text, "_"):
		return " (write digits without _ between them)"
	case isDecimal(text):
		return " (its size is beyond that of a float64)"
	case shortQuarter.MatchString(text):
		return " (write quarters with four digits of the year: 1949Q1)"
	case fortran.MatchString(text):
		return " (a Fortran exponent? write e for D)"
	case limited.MatchString(text):
		return " (a value below or above a limit? write the number alone, or name the text as missing: CSVOptions.Missing)"
	case withError.MatchString(text):
		return " (a value and its error? write them in two columns)"
	case footnote.MatchString(text):
		return " (the mark of a footnote? remove it)"
	case otherDigits.MatchString(text) && !isASCII(text):
		return " (write numbers with the digits 0 to 9)"
	}
	if dateFormat(text) != TimeAuto {
		return dateInstead
	}
	if clock.MatchString(text) {
		return timeInstead
	}
	return nameInstead
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isDate reports whether a text is a date, in any order of day and month, or a year.
func isDate(text string) bool { return dateFormat(text) != TimeAuto }

// dateHint says, in parentheses, what is wrong with a text that is no date.
func dateHint(text string) string {
	if p := fromTo.FindStringSubmatch(text); p != nil && isDate(p[1]) && isDate(p[2]) {
		return " (a range of dates? write the first)"
	}
	switch {
	case monthRange.MatchString(text):
		return " (a range of months? write the first, or the quarter: 2015Q1)"
	case isoDay.MatchString(text):
		return " (the calendar has no such day)"
	case longYear.MatchString(text):
		return " (years have four digits)"
	case second60.MatchString(text):
		return " (a leap second ends an hour: 23:59:60)"
	case zoneName.MatchString(text):
		return " (write the zone as its distance from UTC: +02:00)"
	case shortYear.MatchString(text):
		return " (write years with four digits)"
	case slashDate.MatchString(text):
		return " (write dates as 2024-01-31)"
	case pastYears.MatchString(text):
		return " (a range of years? write the first)"
	case footnote.MatchString(text):
		return " (the mark of a footnote? remove it)"
	}
	if p := wordsBefore.FindStringSubmatch(text); p != nil && isDate(p[1]) {
		return " (words before a date? remove them)"
	}
	if p := noYear.FindStringSubmatch(text); p != nil && (p[1]+p[2] == "" || isASCII(p[1]) && strings.Trim(p[1], "0123456789") == "" && p[1] != "" || monthOf(p[1]+p[2]) > 0) {
		return " (a date without a year? add it, in four digits)"
	}
	return ""
}
