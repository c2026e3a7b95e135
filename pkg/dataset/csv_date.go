package dataset

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TimeFormat says how the x of a csv file are written. docs/data.md has examples of each. With TimeAuto the cells decide.
type TimeFormat string

const (
	TimeAuto      TimeFormat = ""
	TimeISO       TimeFormat = "iso"     // as 2000-01-31, 20000131, 2000-01
	TimeYMD       TimeFormat = "ymd"     // as 2000/1/31
	TimeDMY       TimeFormat = "dmy"     // as 31/1/2000, 31.1.2000
	TimeMDY       TimeFormat = "mdy"     // as 1/31/2000
	TimeNamed     TimeFormat = "named"   // as 31 Jan 2000, Jan 31, 2000, Jan-00
	TimeMonth     TimeFormat = "month"   // as 2000M01, 01/2000, 200001
	TimeQuarter   TimeFormat = "quarter" // as 2000Q1, Q1 2000
	TimeWeek      TimeFormat = "week"    // as 2000-W05, 2000-W05-1
	TimeUnix      TimeFormat = "unix"    // seconds since 1970-01-01 UTC
	TimeUnixMilli TimeFormat = "unix-ms" // milliseconds since 1970-01-01 UTC
	TimeUnixMicro TimeFormat = "unix-us" // microseconds since 1970-01-01 UTC
	TimeNumber    TimeFormat = "number"  // as decimal years, seconds of an experiment, …
)

// TimeFormats are the formats that CSVOptions.Time accepts, besides TimeAuto. If all cells of a column fit several, the first of
// these is taken. A set of formats has a bit for each, by its index.
var TimeFormats = []TimeFormat{TimeISO, TimeYMD, TimeDMY, TimeMDY, TimeNamed, TimeMonth, TimeQuarter, TimeWeek,
	TimeUnix, TimeUnixMilli, TimeUnixMicro, TimeNumber}

func (f TimeFormat) bit() uint { return 1 << slices.Index(TimeFormats, f) }

const anyFormat = math.MaxUint

var dayOrMonth = TimeDMY.bit() | TimeMDY.bit() // formats of 1/2/2000

// unixUnits names the unit in which each format counts Unix time.
var unixUnits = map[TimeFormat]struct {
	name      string
	perSecond float64
}{TimeUnix: {"seconds", 1}, TimeUnixMilli: {"milliseconds", 1e3}, TimeUnixMicro: {"microseconds", 1e6}}

// dateForms say how the formats write dates: by layouts of package time, after a rewriting where no layout does it. "2" stands
// for a day, so a layout without it names a month.
var dateForms = map[TimeFormat]struct {
	like    string
	layouts []string
	rewrite func(text string) (again, period string)
}{
	TimeISO: {"2000-01-31", []string{"2006-1-2", "2006-01", "20060102", "2006-002", "2006002", "2006-01-02T15", "2006-01-02 15",
		"20060102T150405", "20060102T150405Z07:00", "20060102T1504", "20060102150405", "200601021504", "2006010215"}, nil},
	TimeYMD: {"2000/1/31", []string{"2006/1/2", "2006.1.2"}, nil},
	TimeDMY: {"31/1/2000", []string{"2.1.2006", "2/1/2006", "2-1-2006", "2. 1. 2006"}, nil},
	TimeMDY: {"1/31/2000", []string{"1/2/2006", "1-2-2006"}, nil},
	TimeNamed: {"31 Jan 2000", []string{"2 Jan 2006", "Jan 2 2006", "2006 Jan 2", "Jan 2006", "2006 Jan", "2Jan2006", "Jan2006",
		"2 Jan 06", "Jan 06"}, inEnglish},
	TimeMonth:   {"2000M01", []string{"2006M1", "2006/01", "1/2006", "1-2006", "01.2006", "2006.01", "200601"}, nil},
	TimeQuarter: {"2000Q1", []string{"2006-1"}, quarterMonth},
	TimeWeek:    {"2000-W05", []string{time.DateOnly}, weekDay},
}

// date is the content of a cell: an instant, the period that it names instead of a day, whether its year has two digits, and how
// far its zone is ahead of UTC.
type date struct {
	time.Time
	period string // month, quarter or week; "" for a day
	short  bool
	ahead  time.Duration
}

// date reads a date of the format, with the time of day behind it if there is one.
func (f TimeFormat) date(text string) (d date, ok bool) {
	const most = 48 // bytes that a date has at most
	if len(text) > most {
		return d, false
	}
	if f == TimeISO {
		if d.Time, ok = isoTime(text); ok {
			return d, true
		}
	}
	day, clock := text, ""
	if at := strings.IndexByte(text, ':'); at > 2 {
		at = len(strings.TrimRight(text[:at], "0123456789"))
		day, clock = strings.TrimRight(text[:at], "T ,"), text[at:]
	}
	if d, ok = f.day(day); ok && clock != "" {
		var after time.Duration
		after, d.ahead, ok = timeOfDay(clock)
		d.Time, ok = d.Add(after), ok && d.period == ""
	}
	return d, ok
}

// day reads a date without a time of day.
func (f TimeFormat) day(text string) (d date, ok bool) {
	form := dateForms[f]
	if form.rewrite != nil {
		text, d.period = form.rewrite(text)
	}
	for _, layout := range form.layouts {
		if at, err := time.Parse(layout, text); err == nil {
			if !strings.Contains(strings.Replace(layout, "2006", "", 1), "2") {
				d.period = cmp.Or(d.period, "month")
			}
			d.Time, d.short = at, strings.HasSuffix(layout, " 06")
			return d, true
		}
	}
	return d, false
}

// dateFits returns which of the formats in among read a text. Plain numbers fit none: for 20240131, all cells of a column decide.
func dateFits(text string, among uint) (fits uint) {
	if _, number := decimal(text); number || !strings.ContainsAny(text, "0123456789") {
		return 0
	}
	for i, f := range TimeFormats {
		if among&(1<<i) != 0 {
			if _, ok := f.date(text); ok {
				fits |= 1 << i
			}
		}
	}
	return fits
}

// digits match dates that formats write as plain numbers.
var digits = map[TimeFormat]*regexp.Regexp{
	TimeISO:   regexp.MustCompile(`^\d{7}$|^\d{8}(\d\d){0,3}$`),
	TimeMonth: regexp.MustCompile(`^\d{6}$|^\d{4}\.\d\d$|^\d\d\.\d{4}$`),
}

// digitFits returns which of the formats in among read a number as a date: the years 1800 to 2199, or Unix times from 1973 to
// 2096.
func digitFits(text string, v float64, among uint) (fits uint) {
	for f, written := range digits {
		if among&f.bit() != 0 && written.MatchString(text) {
			if d, ok := f.date(text); ok && d.Year() >= 1800 && d.Year() < 2200 {
				fits |= f.bit()
			}
		}
	}
	for f, unit := range unixUnits {
		if v >= 1e8*unit.perSecond && v < 4e9*unit.perSecond {
			fits |= among & f.bit()
		}
	}
	return fits
}

// MayBeDate reports whether a number may be read as a date if it is the x of a row, and others of its column agree.
func MayBeDate(v float64) bool { return digitFits(plain(v), v, anyFormat) != 0 }

// ParseDate reads a date in any form of docs/data.md that needs no column: 3/4/2000 and 202401 are errors.
func ParseDate(text string) (time.Time, error) {
	fits := dateFits(text, anyFormat) | digitFits(text, 0, TimeISO.bit())
	for i, f := range TimeFormats {
		if d, ok := f.date(text); ok && fits&(1<<i) != 0 {
			if other, _ := TimeMDY.date(text); fits == dayOrMonth && !other.Equal(d.Time) {
				return d.Time, fmt.Errorf("dataset: %s may have the day or the month first: write it as 2000-01-31", quoted(text))
			}
			return d.Time, nil
		}
	}
	return time.Time{}, fmt.Errorf("dataset: %w", problem("%s is not a date", quoted(text)).hint(hintOf(text)))
}

// DecimalYear returns t, in UTC, as its year plus the share of that year which has passed: 2 July 2023, 12:00 is 2023.5.
func DecimalYear(t time.Time) float64 {
	t = t.UTC()
	start := time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	return float64(t.Year()) + t.Sub(start).Seconds()/end.Sub(start).Seconds()
}

// isoTime reads 2006-01-02 and 2006-01-02T15:04:05 with or without a Z, the most common forms, faster than by layouts. For any
// other form, ok is false.
func isoTime(s string) (t time.Time, ok bool) {
	s = strings.TrimSuffix(s, "Z")
	if len(s) != len(time.DateOnly) && len(s) != len(time.DateTime) || s[4] != '-' || s[7] != '-' {
		return t, false
	}
	ok = true
	two := func(i int) int {
		ok = ok && s[i]-'0' <= 9 && s[i+1]-'0' <= 9
		return 10*int(s[i]-'0') + int(s[i+1]-'0')
	}
	year, month, day := 100*two(0)+two(2), two(5), two(8)
	var hour, minute, second int
	if len(s) > len(time.DateOnly) {
		hour, minute, second = two(11), two(14), two(17)
		ok = ok && (s[10] == 'T' || s[10] == ' ') && s[13] == ':' && s[16] == ':' && hour < 24 && minute < 60 && second < 60
	}
	t = time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, ok && t.Day() == day && int(t.Month()) == month
}

// timeOfDay reads what follows a day: 14:30, 2:30 PM, 14:30:00,5 +0200. It returns the time since the day began, in UTC, and how
// far the zone is ahead of UTC.
func timeOfDay(text string) (since, ahead time.Duration, ok bool) {
	text = strings.ToUpper(strings.ReplaceAll(text, " ", ""))
	text = strings.TrimSuffix(strings.TrimSuffix(text, "UTC"), "GMT")
	if text == "24:00" || text == "24:00:00" {
		return 24 * time.Hour, 0, true
	}
	for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
		for _, clock := range []string{"15:04:05", "15:04", "3:04PM", "3:04:05PM"} {
			if t, err := time.Parse(clock+zone, text); err == nil {
				_, seconds := t.Zone()
				return t.Sub(time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC)), time.Duration(seconds) * time.Second, true
			}
		}
	}
	return 0, 0, false
}

var (
	namedSeparators = regexp.MustCompile(`[-/.,'’ ]+(?:de )?`)
	words           = regexp.MustCompile(`\pL{3,}`)
	quarterParts    = regexp.MustCompile(`^(?i:(\d{4})[-/ ]?Q([1-4])|Q([1-4])[-/ ]?(\d{4}))$`)
	weekParts       = regexp.MustCompile(`^(\d{4})-?W(\d{1,2})(?:-?([1-7]))?$`)
	zoned           = regexp.MustCompile(`(?i)\d(Z| ?UTC| ?GMT)$|:.*[+-]\d\d(:?\d\d)?$|T\d+[+-]\d\d(:?\d\d)?$`)
)

// Zoned reports whether a date names a time zone.
func Zoned(text string) bool { return zoned.MatchString(text) }

// inEnglish rewrites a date that has the name of a month: with blanks between its parts, and the month in English (31 Jan 2000).
func inEnglish(text string) (again, period string) {
	return words.ReplaceAllStringFunc(namedSeparators.ReplaceAllString(text, " "), func(name string) string {
		if month := monthOf(name); month > 0 {
			return time.Month(month).String()[:3]
		}
		return name
	}), ""
}

// quarterMonth writes a quarter as its first month: 2000-1.
func quarterMonth(text string) (again, period string) {
	m := quarterParts.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	return fmt.Sprintf("%s-%d", m[1]+m[4], 3*strings.Index("1234", m[2]+m[3])+1), "quarter"
}

// weekDay writes a week of ISO 8601 as the date of its first day, and a day of a week as its date. Week 1 contains 4 January.
func weekDay(text string) (again, period string) {
	m := weekParts.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	if m[3] == "" {
		m[3], period = "1", "week"
	}
	year, _ := strconv.Atoi(m[1])
	week, _ := strconv.Atoi(m[2])
	day, _ := strconv.Atoi(m[3])
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	at := fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7+day-1)
	if inYear, inWeek := at.ISOWeek(); inYear != year || inWeek != week {
		return "", ""
	}
	return at.Format(time.DateOnly), period
}

// monthNames lists the names of each month in English, German, French, Spanish, Italian and Portuguese.
var monthNames = [12]string{
	" january januar jänner jaenner janvier enero gennaio janeiro", " february februar février fevrier febrero febbraio fevereiro",
	" march märz marz maerz mrz mars marzo março marco", " april avril abril aprile", " may mai mayo maggio maio",
	" june juni juin junio giugno junho", " july juli juillet julio luglio julho", " august août aout agosto",
	" september septembre septiembre setiembre settembre setembro", " october oktober octobre octubre ottobre outubro",
	" november novembre noviembre novembro", " december dezember décembre decembre diciembre dicembre dezembro",
}

// monthOf returns the month of a name or of its first letters, at least three that no other month shares; else 0.
func monthOf(name string) (month int) {
	begin := " " + strings.ToLower(name)
	for i, names := range monthNames {
		if len(begin) > 3 && strings.Contains(names, begin) {
			if month > 0 {
				return 0
			}
			month = i + 1
		}
	}
	return month
}
