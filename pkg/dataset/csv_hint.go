package dataset

import (
	"regexp"
	"strings"
)

var (
	hexadecimal  = regexp.MustCompile(`^[+-]?0[xX]`)
	infinite     = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|1\.#\w+)$`)
	fortran      = regexp.MustCompile(`^([+-]?[\d.]+)[dDqQ]([+-]?\d+)$`)
	slashDate    = regexp.MustCompile(`^\d{1,4}[./]\d{1,2}[./]\d{1,4}\b`)
	isoDay       = regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}$`)
	longYear     = regexp.MustCompile(`^[+-]?\d{5,}-\d\d`)
	second60     = regexp.MustCompile(`:\d\d:60`)
	clock        = regexp.MustCompile(`^\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(\s?[AaPp][Mm]| Uhr)?$`)
	shortQuarter = regexp.MustCompile(`^\d\d-?[Qq][1-4]$`)
	zoneName     = regexp.MustCompile(`\d{2}:\d{2}.*\s[A-Z]{2,5}$`)
)

// Hints that are about a column.
const (
	missingHint = " (if it stands for a missing value, name it as one: CSVOptions.Missing)"
	dateInstead = " (it is a date: is this the column that was meant? CSVOptions.X and CSVOptions.Y choose others)"
	timeInstead = " (it is a time of day: make one column of date and time, or choose another by CSVOptions.X and CSVOptions.Y)"
	nameInstead = " (if another column was meant, CSVOptions.X and CSVOptions.Y choose it; if this stands for a missing value, name it as one: CSVOptions.Missing)"
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
	}
	if dateFormat(text) != TimeAuto {
		return dateInstead
	}
	if clock.MatchString(text) {
		return timeInstead
	}
	return nameInstead
}

// dateHint says, in parentheses, what is wrong with a text that is no date.
func dateHint(text string) string {
	switch {
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
	}
	return ""
}
