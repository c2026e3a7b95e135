package dataset

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// numberDate is a way to write dates as numbers: a count of units since 1970, or digits.
type numberDate struct {
	format    TimeFormat
	perSecond float64 // 0 for digits
	scale     float64 // of digits: 100 for a month, 1000 for a day of the year, 10000 for a day
	like      string
}

// dateName is the name of a column of dates.
var dateName = regexp.MustCompile(`(?i)date|datum|fecha|^(dato|jour|tag|giorno|dag|months?|monat|mois|mes|mese|maand|` +
	`week|woche|zeitpunkt|zeitstempel|horodatage|yyyy-?(mm-?(dd)?|ddd)|(jjjj|aaaa)mm((tt|jj)(hh)?)?)$`)

// unixTime stands before the unit of a count since 1970.
const unixTime = "Unix time in "

// excelEpoch is 1 January 1970 as spreadsheets count days.
const excelEpoch = 25569

// numberDates are those that CSVOptions.NumberDates recognises. A number that fits several is of the last: of 2024013114,
// a time in 2034 in seconds since 1970 is the less likely reading.
var numberDates = []numberDate{
	{TimeUnix, 1, 0, unixTime + "seconds"},
	{TimeUnixMilli, 1e3, 0, unixTime + "milliseconds"},
	{TimeUnixMicro, 1e6, 0, unixTime + "microseconds"},
	{TimeUnixNano, 1e9, 0, unixTime + "nanoseconds"},
	{TimeYYYYMMDD, 0, 1e4, "dates written 20240131"},
	{TimeYYYYDDD, 0, 1e3, "days of years written 2024031"},
	{TimeYYYYMM, 0, 1e2, "dates written 202401"},
	{TimeHours, 0, 1e6, "dates and hours written 2024013114"},
	{TimeMinutes, 0, 1e8, "dates and times written 202401311430"},
	{TimeDigits, 0, 1e10, "dates and times written 20240131143000"},
	{TimeMMYYYY, 0, 1e-4, "months written 01.2024"},
	{TimeYYYYdQ, 0, 0.1, "quarters written 2024.1"},
	{TimeYYYYdMM, 0, 0.01, "months written 2024.01"},
	{TimeExcel, 1.0 / 86400, 0, "days as spreadsheets count them, 45292 for 2024-01-01"}, // only in a column of dates, by its name
}

// numberDateOf returns that of a format.
func numberDateOf(f TimeFormat) (numberDate, bool) {
	for _, d := range numberDates {
		if d.format == f {
			return d, true
		}
	}
	return numberDate{}, false
}

// likely reports whether v may well be such a date: from 1973 to 2096 for a count since 1970, from 1800 to 2200 for digits.
func (d numberDate) likely(v float64) bool {
	if d.format == TimeExcel {
		s, _ := d.seconds(v)
		return s >= year(1950) && s < year(2100)
	}
	if d.perSecond > 0 {
		return v > 1e8*d.perSecond && v < 4e9*d.perSecond
	}
	s, ok := d.seconds(v)
	if d.scale < 1 {
		return ok && s >= year(1800) && s < year(2200)
	}
	return ok && v >= 1800*d.scale && v < 2200*d.scale
}

// parts is the number of quarters or months of a year, behind the point.
func (d numberDate) parts() float64 {
	if d.format == TimeYYYYdQ {
		return 4
	}
	return 12
}

// year is the begin of a year in seconds since 1970.
func year(of int) float64 { return float64(time.Date(of, 1, 1, 0, 0, 0, 0, time.UTC).Unix()) }

// seconds converts v to seconds since 1970; ok is false if it is no date up to the year 9999.
func (d numberDate) seconds(v float64) (s float64, ok bool) {
	if d.perSecond > 0 {
		const years10000 = 3e11
		if s = v / d.perSecond; d.format == TimeExcel {
			s = math.Round(1e3*86400*(v-excelEpoch)) / 1e3
		}
		return s, s >= -years10000 && s <= years10000
	}
	if d.format == TimeMMYYYY {
		month := math.Floor(v)
		digits := (v - month) / d.scale
		if !(month >= 1 && month <= 12) || math.Abs(digits-math.Round(digits)) > 1e-6 || !(digits > 999.5) {
			return 0, false
		}
		return float64(time.Date(int(math.Round(digits)), time.Month(month), 1, 0, 0, 0, 0, time.UTC).Unix()), true
	}
	if d.scale < 1 {
		of := math.Floor(v)
		part := (v - of) / d.scale
		n := math.Round(part)
		if !(of >= 1000 && of < 10000) || math.Abs(part-n) > 1e-6 || n < 1 || n > d.parts() {
			return 0, false
		}
		return float64(time.Date(int(of), time.Month(1+(int(n)-1)*12/int(d.parts())), 1, 0, 0, 0, 0, time.UTC).Unix()), true
	}
	if !(v >= 1000*d.scale && v < 10000*d.scale) || v != math.Trunc(v) {
		return 0, false
	}
	if d.scale > 1e4 {
		t, err := time.Parse("20060102150405", fmt.Sprintf("%.0f", v*(1e10/d.scale)))
		return float64(t.Unix()), err == nil
	}
	n, scale := int(v), int(d.scale)
	year, month, day := n/scale, n%scale, 1
	switch scale {
	case 1e3:
		t := time.Date(year, time.January, month, 0, 0, 0, 0, time.UTC)
		return float64(t.Unix()), month > 0 && t.Year() == year
	case 1e4:
		month, day = month/100, month%100
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return float64(t.Unix()), t.Month() == time.Month(month) && t.Day() == day
}

// MayBeDate reports whether CSVOptions.NumberDates may read a number v as a date, if others of its column agree.
func MayBeDate(v float64) bool { return new(numberOrder).add(v) }

// dateError is of a text, a number, that is no such date.
func (d numberDate) dateError(text string, v float64) error {
	if d.perSecond == 0 || d.format == TimeExcel {
		return fmt.Errorf("%s is not one of %s", quoted(text), d.like)
	}
	hint := ""
	if likely := likelyUnix(v); likely.format != "" {
		hint = fmt.Sprintf(" (are they %s? %s reads them)", likely.unit(), likely.format)
	}
	return fmt.Errorf("%s is not a number of %s since 1970%s", quoted(text), d.unit(), hint)
}

// unit is that of a count of time since 1970.
func (d numberDate) unit() string { return strings.TrimPrefix(d.like, unixTime) }

// likelyUnix returns the count since 1970 by which v lies between 1973 and 2096; the zero value if there is none. This is a
// guess: other numbers may be as large.
func likelyUnix(v float64) numberDate {
	for _, d := range numberDates {
		if d.perSecond > 0 && d.format != TimeExcel && d.likely(v) {
			return d
		}
	}
	return numberDate{}
}

// numberOrder finds out whether a column of numbers stands for dates: all must be likely of the form of the first. Months must
// pass from one year to the next, since numbers from 200001 to 200012 may be anything; of months before a point there must be
// two. Quarters and months behind a point must pass from the last of a year to the first of the next, since 2014.25 is a part of
// a year as well.
type numberOrder struct {
	named  bool // the column is one of dates, by its name
	counts bool // it counts the rows, by its name: 2019001 may be the first of 2019
	met    bool
	form   numberDate
	lo, hi float64
	last   float64
	inYear bool // two numbers after one another differ and are of one year
	// Of quarters and months behind a point: two numbers after one another are of two years, and whether all such are the last and
	// the first of these.
	turned, apart bool
	quarterly     bool // all months are three apart
	quarters      bool // all could be quarters
}

// add takes a number. It returns false once the column is one of plain numbers.
func (o *numberOrder) add(v float64) bool {
	if !o.met {
		for _, d := range numberDates {
			if d.likely(v) && (o.named || d.format != TimeExcel) {
				o.met, o.form, o.lo, o.hi = true, d, v, v
			}
		}
		quarters, _ := numberDateOf(TimeYYYYdQ)
		o.last, o.quarters, o.quarterly = v, quarters.likely(v), true
		return o.met
	}
	o.lo, o.hi = min(o.lo, v), max(o.hi, v)
	unit := max(1, o.form.scale) // of years
	o.inYear = o.inYear || v != o.last && math.Floor(v/unit) == math.Floor(o.last/unit)
	if o.form.format == TimeYYYYdMM || o.form.format == TimeYYYYdQ {
		quarters, _ := numberDateOf(TimeYYYYdQ)
		if o.quarters = o.quarters && quarters.likely(v); o.quarters && !o.form.likely(v) {
			o.form = quarters // 2014.1 may be October, and 2014.2 is no month
		}
		first, then := min(o.last, v), max(o.last, v)
		part := func(v float64) float64 {
			return o.form.parts()*math.Floor(v) + math.Round((v-math.Floor(v))/o.form.scale)
		}
		o.quarterly = o.quarterly && part(then)-part(first) == 3
		if math.Floor(first) != math.Floor(then) {
			o.turned = true
			o.apart = o.apart || part(then)-part(first) != 1
		}
	}
	o.last = v
	return o.form.likely(v)
}

// format returns the form of what was added.
func (o *numberOrder) format() TimeFormat {
	oneYear := o.form.scale == 1e2 && math.Floor(o.lo/1e2) == math.Floor(o.hi/1e2)
	oneMonth := o.form.format == TimeMMYYYY && math.Floor(o.lo) == math.Floor(o.hi)
	dotted := (o.form.format == TimeYYYYdMM || o.form.format == TimeYYYYdQ) && !(o.turned && o.inYear && (!o.apart || o.quarterly))
	if !o.met || oneYear || oneMonth || dotted || o.counts && o.form.format == TimeYYYYDDD {
		return TimeNumber
	}
	return o.form.format
}

// within reports whether the dates meet a range of seconds since 1970, or the plain numbers do not either.
func (o *numberOrder) within(r [2]float64) bool {
	lo, _ := o.form.seconds(o.lo)
	hi, _ := o.form.seconds(o.hi)
	meets := func(lo, hi float64) bool { return hi >= r[0] && lo <= r[1] }
	return r == [2]float64{} || meets(lo, hi) || !meets(o.lo, o.hi)
}
