package dataset

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	hexadecimal  = regexp.MustCompile(`^[+-]?0[xX]`)
	infinite     = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan|1\.#\w+)$`)
	thousands    = regexp.MustCompile(`^[+-]?\d{1,3}([,.' \x{a0}\x{202f}’]\d{3})+([.,]\d+)?$`)
	fortran      = regexp.MustCompile(`^([+-]?[\d.]+)[dDqQ]([+-]?\d+)$`)
	minus        = regexp.MustCompile(`^[−–‒—]\s*[\d.,]+$`)
	withUnit     = regexp.MustCompile(`^(\p{Sc}\s*[+-]?[\d.,]+|[+-]?[\d.,]+([eE][+-]?\d+)?\s*(\p{Sc}|[\pL°µ][\pL°µ/²³0-9]*))$`)
	slashDate    = regexp.MustCompile(`^\d{1,4}[./]\d{1,2}[./]\d{1,4}\b`)
	longYear     = regexp.MustCompile(`^[+-]?\d{5,}-\d\d`)
	second60     = regexp.MustCompile(`:\d\d:60`)
	clock        = regexp.MustCompile(`^\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?(\s?[AaPp][Mm])?$`)
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
func (opt CSVOptions) numberHint(text string) string {
	switch {
	case hexadecimal.MatchString(text):
		return " (a hexadecimal number? write it in decimal)"
	case infinite.MatchString(text):
		return missingHint
	case strings.Contains(text, "_"):
		return " (write digits without _ between them)"
	case isDecimal(text):
		return " (its size is beyond that of a float64)"
	case strings.HasSuffix(text, "%"):
		return " (write per cent without the sign)"
	case shortQuarter.MatchString(text):
		return " (write quarters with four digits of the year: 1949Q1)"
	case fortran.MatchString(text):
		return " (a Fortran exponent? write e for D)"
	case minus.MatchString(text):
		return " (a typographic minus? write -)"
	case opt.decimalComma(text) && thousands.MatchString(text):
		return " (marks between thousands? write digits without them; a decimal comma? CSVOptions.DecimalComma)"
	case opt.decimalComma(text):
		return " (is it a decimal comma? CSVOptions.DecimalComma)"
	case thousands.MatchString(text):
		return " (write digits without marks between thousands)"
	}
	if dateFormat(text) != TimeAuto {
		return dateInstead
	}
	if withUnit.MatchString(text) {
		return " (write numbers without a unit, which can stand in the header)"
	}
	if clock.MatchString(text) {
		return timeInstead
	}
	return nameInstead
}

// decimalComma reports whether text would be a number with a point for its comma.
func (opt CSVOptions) decimalComma(text string) bool {
	if opt.DecimalComma || strings.Count(text, ",") != 1 {
		return false
	}
	v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return err == nil && !math.IsInf(v, 0)
}

// dateHint says, in parentheses, what is wrong with a text that is no date.
func dateHint(text string) string {
	switch {
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
