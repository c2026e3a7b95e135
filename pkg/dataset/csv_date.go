package dataset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Formats of dates other than those of ISO 8601. A time of day may follow a date with a day: 31/1/2000 2:30 PM.
const (
	TimeQuarter TimeFormat = "quarter" // 1990Q1, 1990-Q1, Q1 1990: the first day of the quarter
	TimeMonth   TimeFormat = "month"   // 2000M01, 01/2000: the first day of the month
	TimeNamed   TimeFormat = "named"   // Jan 2000, 31 January 2000, Jan 31, 2000, 2000-Jan-31: months by their English names
	TimeWeek    TimeFormat = "week"    // 2000-W05: the Monday of the ISO week
	TimeYMD     TimeFormat = "ymd"     // 2000/1/31, 2000.1.31, 2000/01
	TimeDMY     TimeFormat = "dmy"     // 31/1/2000, 31.1.2000, 31-1-2000
	TimeMDY     TimeFormat = "mdy"     // 1/31/2000
)

// timeSlashes is of a date such as 3/4/2000, of which the text alone does not tell whether the day or the month is first.
const timeSlashes TimeFormat = "dmy or mdy"

// dateExamples show how dates of a format are written.
var dateExamples = map[TimeFormat]string{
	TimeISO: "2000-01-31", TimeQuarter: "2000Q1", TimeMonth: "2000M01", TimeNamed: "Jan 2000", TimeWeek: "2000-W05", TimeYMD: "2000/01/31",
	TimeDMY: "31/1/2000", TimeMDY: "1/31/2000", timeSlashes: "31/1/2000",
}

var (
	quarterText = []*regexp.Regexp{
		regexp.MustCompile(`^(?P<y>\d{4})[-:/. ]*[Qq](?P<q>[1-4])$`),
		regexp.MustCompile(`^[Qq](?P<q>[1-4])[-:/., ]*(?P<y>\d{4})$`),
		regexp.MustCompile(`^(?P<q>[1-4])[Qq][-:/., ]*(?P<y>\d{4})$`),
	}
	monthText = []*regexp.Regexp{
		regexp.MustCompile(`^(?P<y>\d{4})[- ]?[Mm](?P<m>\d{1,2})$`),
		regexp.MustCompile(`^(?P<m>\d{1,2})[/-](?P<y>\d{4})$`),
	}
	namedText = []*regexp.Regexp{
		regexp.MustCompile(weekday + `(?P<d>\d{1,2})(?:st|nd|rd|th)?[-\s./]*(?P<name>[A-Za-z]{3,9})\.?[-\s,./]*(?P<y>\d{4})(?P<rest>\D.*)?$`),
		regexp.MustCompile(weekday + `(?P<name>[A-Za-z]{3,9})\.?[-\s]*(?P<d>\d{1,2})(?:st|nd|rd|th)?[-\s,]+(?P<y>\d{4})(?P<rest>\D.*)?$`),
		regexp.MustCompile(`^(?P<y>\d{4})[-\s/.]*(?P<name>[A-Za-z]{3,9})\.?[-\s/.]+(?P<d>\d{1,2})(?P<rest>\D.*)?$`),
		regexp.MustCompile(`^(?P<name>[A-Za-z]{3,9})\.?[-\s,/.]*(?P<y>\d{4})$`),
		regexp.MustCompile(`^(?P<y>\d{4})[-\s,/.]*(?P<name>[A-Za-z]{3,9})\.?$`),
	}
	// shortNamed have years of two digits, as spreadsheets write them: 1969 to 2068. Where months are numbers too, such a date may
	// mean anything, and is not read.
	shortNamed = []*regexp.Regexp{
		regexp.MustCompile(`^(?P<name>[A-Za-z]{3,9})(?:[-/]| ?['’])(?P<yy>\d{2})$`),
		regexp.MustCompile(`^(?P<d>\d{1,2})[-/ ](?P<name>[A-Za-z]{3,9})[-/ ](?P<yy>\d{2})(?P<rest>\D.*)?$`),
	}
	weekText   = regexp.MustCompile(`^(\d{4})-?[Ww](\d{1,2})(?:-?([1-7]))?$`)
	ymdText    = regexp.MustCompile(`^(?P<y>\d{4})(?P<a>[/.])(?P<m>\d{1,2})(?P<b>[/.])(?P<d>\d{1,2})(?P<rest>\D.*)?$`)
	yearSlash  = regexp.MustCompile(`^(?P<y>\d{4})/(?P<m>\d{1,2})$`)
	unpadded   = regexp.MustCompile(`^(?P<y>\d{4})-(?P<m>\d{1,2})(?:-(?P<d>\d{1,2})(?P<rest>\D.*)?)?$`)
	slashes    = regexp.MustCompile(`^(?P<one>\d{1,2})(?P<a>[-/.])(?P<two>\d{1,2})(?P<b>[-/.])(?P<y>\d{4})(?P<rest>\D.*)?$`)
	timeOfDay  = regexp.MustCompile(`^[T,]?\s*(\d{1,2}):(\d{2})(:\d{2}(?:\.\d+)?)?\s*(?:([AaPp])\.?[Mm]\.?)?\s*(.*)$`)
	shortYear  = regexp.MustCompile(`^(\d{1,2}[-/.]\d{1,2}[-/.]\d{2}|[A-Za-z]{3,9}[-\s/.']+\d{2})\b(\D|$)`)
	monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
)

const longestDate = 64 // bytes of what is a date

const weekday = `^(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?`

// fields are the named groups of a match; nil for none.
func fields(r *regexp.Regexp, text string) map[string]string {
	match := r.FindStringSubmatch(text)
	if match == nil {
		return nil
	}
	of := map[string]string{}
	for i, name := range r.SubexpNames() {
		of[name] = match[i]
	}
	return of
}

// dateFormat returns how a date is written; TimeAuto if text is none.
func dateFormat(text string) TimeFormat {
	if len(text) > longestDate {
		return TimeAuto
	}
	for _, f := range []TimeFormat{TimeISO, TimeQuarter, TimeMonth, TimeNamed, TimeWeek, TimeYMD} {
		if _, ok := dateOf(text, f); ok {
			return f
		}
	}
	_, dmy := dateOf(text, TimeDMY)
	_, mdy := dateOf(text, TimeMDY)
	switch {
	case dmy && mdy:
		return timeSlashes
	case dmy:
		return TimeDMY
	case mdy:
		return TimeMDY
	}
	return TimeAuto
}

// dateOf reads a date of a format.
func dateOf(text string, f TimeFormat) (time.Time, bool) {
	if len(text) > longestDate {
		return time.Time{}, false
	}
	var iso string
	switch f {
	case TimeISO:
		if t, err := parseTime(text); err == nil {
			return t, true
		}
		iso = isoText(fields(unpadded, text))
	case TimeQuarter:
		iso = firstOf(quarterText, text)
	case TimeMonth:
		iso = firstOf(monthText, text)
	case TimeNamed:
		if iso = firstOf(namedText, text); iso == "" {
			iso = firstOf(shortNamed, text)
		}
	case TimeWeek:
		return weekOf(text)
	case TimeYMD:
		if part := fields(ymdText, text); part["a"] == part["b"] {
			iso = isoText(part)
		}
		if iso == "" {
			iso = isoText(fields(yearSlash, text))
		}
	case TimeDMY, TimeMDY:
		part := fields(slashes, text)
		if part == nil || part["a"] != part["b"] {
			return time.Time{}, false
		}
		part["d"], part["m"] = part["one"], part["two"]
		if f == TimeMDY {
			part["d"], part["m"] = part["m"], part["d"]
		}
		iso = isoText(part)
	}
	if iso == "" {
		return time.Time{}, false
	}
	t, err := parseTime(iso)
	return t, err == nil
}

func firstOf(patterns []*regexp.Regexp, text string) string {
	for _, p := range patterns {
		if iso := isoText(fields(p, text)); iso != "" {
			return iso
		}
	}
	return ""
}

// isoText writes the parts of a date, y and one of q, m and name, with or without d and rest, a time of day, as ISO 8601 has it; ""
// if they make none.
func isoText(part map[string]string) string {
	month := part["m"]
	if q := part["q"]; q != "" {
		month = strconv.Itoa(3*int(q[0]-'1') + 1)
	}
	if name := part["name"]; name != "" {
		month = strconv.Itoa(monthOf(name))
	}
	if part == nil || month == "0" {
		return ""
	}
	year := part["y"]
	if short := part["yy"]; short >= "69" {
		year = "19" + short
	} else if short != "" {
		year = "20" + short
	}
	day := part["d"]
	if day == "" {
		day = "1"
	}
	date := fmt.Sprintf("%s-%02s-%02s", year, month, day)
	rest := strings.TrimSpace(part["rest"])
	if rest == "" {
		return date
	}
	clock := timeOfDay.FindStringSubmatch(rest)
	if clock == nil {
		return ""
	}
	hour, _ := strconv.Atoi(clock[1])
	if half := strings.ToLower(clock[4]); half != "" {
		if hour < 1 || hour > 12 {
			return ""
		}
		if hour %= 12; half == "p" {
			hour += 12
		}
	}
	seconds := clock[3]
	if seconds == "" {
		seconds = ":00"
	}
	return strings.TrimSpace(fmt.Sprintf("%sT%02d:%s%s %s", date, hour, clock[2], seconds, clock[5]))
}

// hasShortYear reports whether a date has a year of two digits.
func hasShortYear(text string) bool {
	return firstOf(shortNamed, text) != "" && firstOf(namedText, text) == ""
}

// longestShort is the longest range, in years, of dates whose years have two digits: beyond it 1968 may have been read as 2068.
const longestShort = 70

// checkShort refuses dates, in seconds or years, whose range leaves the century of their years of two digits open.
func checkShort(x []float64, seconds bool) error {
	lo, hi := extent(x)
	year := func(v float64) int {
		if seconds {
			return time.Unix(int64(v), 0).UTC().Year()
		}
		return int(v)
	}
	if first, last := year(lo), year(hi); last-first > longestShort {
		return fmt.Errorf("years of two digits are read as 1969 to 2068, which makes these dates range from %d to %d: write years with four digits", first, last)
	}
	return nil
}

// monthOf returns the number of a month by its English name or an abbreviation of it, 0 for no month.
func monthOf(name string) int {
	name = strings.ToLower(name)
	for i, full := range monthNames {
		if strings.HasPrefix(full, name) {
			return i + 1
		}
	}
	return 0
}

// weekOf reads a week of ISO 8601, with or without a day: week 1 is that of 4 January.
func weekOf(text string) (time.Time, bool) {
	part := weekText.FindStringSubmatch(text)
	if part == nil {
		return time.Time{}, false
	}
	year, _ := strconv.Atoi(part[1])
	week, _ := strconv.Atoi(part[2])
	day := 1
	if part[3] != "" {
		day = int(part[3][0] - '0')
	}
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	t := monday.AddDate(0, 0, 7*(week-1))
	if inYear, inWeek := t.ISOWeek(); inYear != year || inWeek != week {
		return time.Time{}, false
	}
	return t.AddDate(0, 0, day-1), true
}

// ParseDate reads a date in any unambiguous form: ISO 8601 (see [ParseTime]), 1990Q1, 2000M01, Jan 2000, 31 Jan 2000, 2000-W05,
// 2000/01/31, 31/1/2000. An ambiguous date, such as 3/4/2000, and a year alone are errors.
func ParseDate(text string) (time.Time, error) {
	f := dateFormat(text)
	if f == timeSlashes && !orderMatters(text) {
		f = TimeDMY
	}
	switch f {
	case TimeAuto:
		return time.Time{}, fmt.Errorf("dataset: %s is not a date%s", quoted(text), dateHint(text))
	case timeSlashes:
		return time.Time{}, fmt.Errorf("dataset: %s may have the day or the month first: write it as 2000-01-31", quoted(text))
	}
	t, _ := dateOf(text, f)
	return t, nil
}

// orderMatters reports whether a date with slashes is another one with the day first than with the month first.
func orderMatters(text string) bool {
	dmy, _ := dateOf(text, TimeDMY)
	mdy, _ := dateOf(text, TimeMDY)
	return !dmy.Equal(mdy)
}

// dateError is of a text that is no date of a format.
func dateError(text string, f TimeFormat) error {
	if f == TimeISO {
		return fmt.Errorf("%s is not an ISO date", quoted(text))
	}
	return fmt.Errorf("%s is not a date written as %s", quoted(text), dateExamples[f])
}

// orderColumn finds out whether the day or the month is first in a column of dates such as 3/4/2000.
type orderColumn struct {
	waiting []waitingDate
}

// waitingDate is a date that may be either, at an index of the series.
type waitingDate struct {
	index, line int
	text        string
}

// orderOf returns the format that a date decides; timeSlashes for none.
func orderOf(text string) (TimeFormat, error) {
	switch f := dateFormat(text); f {
	case timeSlashes, TimeDMY, TimeMDY:
		return f, nil
	}
	return TimeAuto, dateError(text, timeSlashes)
}

// undecided returns the format of a column that no date of it decides: an error, unless it does not matter.
func (c *orderColumn) undecided(column string) (TimeFormat, error) {
	for _, w := range c.waiting {
		if orderMatters(w.text) {
			dmy, _ := dateOf(w.text, TimeDMY)
			mdy, _ := dateOf(w.text, TimeMDY)
			return TimeAuto, fmt.Errorf("line %d, %s: %s may be %s or %s, and no other date of the column tells which: say --dates dmy (day first) or --dates mdy (month first)",
				w.line, column, quoted(w.text), dmy.Format("2 January 2006"), mdy.Format("2 January 2006"))
		}
	}
	return TimeDMY, nil
}
