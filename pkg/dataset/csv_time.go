package dataset

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
)

// TimeFormat is how the x of a CSV file is written.
type TimeFormat string

// These are the formats besides TimeQuarter and those after it. With TimeAuto the first row decides: if its x is a date, all x
// must be dates of that form; otherwise they are numbers. Seconds since 1970, 45292 and 20240131 look like any other number: they
// must be requested, unless CSVOptions.NumberDates is set. For dates such as 3/4/2000, the first row in which one of the two
// numbers is above 12 decides whether the day or the month comes first.
const (
	TimeAuto      TimeFormat = ""
	TimeISO       TimeFormat = "iso"            // 2006-01-02, 2006-01, 2006-01-02T15:04:05+02:00, …
	TimeUnix      TimeFormat = "unix"           // seconds since 1970-01-01 UTC, with or without a fraction
	TimeUnixMilli TimeFormat = "unix-ms"        // milliseconds
	TimeUnixMicro TimeFormat = "unix-us"        // microseconds
	TimeUnixNano  TimeFormat = "unix-ns"        // nanoseconds, rounded to a quarter of a microsecond with CSVOptions.Seconds
	TimeYYYYMMDD  TimeFormat = "yyyymmdd"       // 20240131
	TimeYYYYDDD   TimeFormat = "yyyyddd"        // 2024031: the day of the year
	TimeYYYYMM    TimeFormat = "yyyymm"         // 202401: the first day of the month
	TimeHours     TimeFormat = "yyyymmddhh"     // 2024013114
	TimeMinutes   TimeFormat = "yyyymmddhhmm"   // 202401311430
	TimeDigits    TimeFormat = "yyyymmddhhmmss" // 20240131143000
	TimeMMYYYY    TimeFormat = "mm.yyyy"        // 01.2024: the first day of the month
	TimeYYYYdMM   TimeFormat = "yyyy.mm"        // 2024.01: the first day of the month; 2024.1 is October
	TimeYYYYdQ    TimeFormat = "yyyy.q"         // 2024.1: the first day of the quarter
	TimeExcel     TimeFormat = "excel"          // days since 30 December 1899, as spreadsheets count them: 45292 is 2024-01-01
	TimeNumber    TimeFormat = "number"         // decimal years, seconds of an experiment, …
)

// TimeFormats are the formats that CSVOptions.Time accepts, besides TimeAuto.
var TimeFormats = []TimeFormat{
	TimeISO, TimeDMY, TimeMDY, TimeYMD, TimeQuarter, TimeHalf, TimeMonth, TimeNamed, TimeWeek, TimeFiscal,
	TimeUnix, TimeUnixMilli, TimeUnixMicro, TimeUnixNano, TimeYYYYMMDD, TimeYYYYDDD, TimeYYYYMM, TimeHours, TimeMinutes, TimeDigits,
	TimeMMYYYY, TimeYYYYdMM, TimeYYYYdQ, TimeExcel, TimeNumber,
}

// unixSeconds is the XUnit of a date that was read with CSVOptions.Seconds.
const unixSeconds = "s since 1970"

// CSVReport describes what was found in a CSV file.
type CSVReport struct {
	Comma   rune     // what separates the fields
	Comment rune     // what starts the lines that are ignored; 0 for none
	Columns []string // the header, or the names in a comment above it; empty names where there is none
	// Headless says that the first line was found to be data, though CSVOptions.NoHeader does not say so.
	Headless bool
	X, Y     int // the columns that were read, from 0
	Time     TimeFormat
	// Numbers says which dates the numbers x stand for by CSVOptions.NumberDates; "" if none. They stay numbers, as Time then says,
	// where CSVOptions.Within holds these.
	Numbers      string
	Title        int           // lines above the header that were left out
	Coarser      string        // years and quarters above the months or quarters that are read, which were left out; "" for none
	Merged       []string      // columns whose blank cells are read as the value above them
	Years        bool          // have rows of their own above their months or other rows, which were left out
	FourWeeks    bool          // x are periods of four weeks, 13 a year, read as their first days from 1 January on
	Words        int           // rows of words below the header that were left out: units, or a second line of names
	Wide         string        // the columns of which each cell is an observation, as their names are times; "" for none
	Levels       string        // a column of words whose texts alternate in the first rows, with y at different levels; "" for none
	Unit         string        // of all y, which the cells have beside their digits: %, €, kWh
	DecimalComma bool          // y is written 1.025,10
	Declared     []string      // missing values that the file itself declares, each with its line
	Guessed      string        // the first of y if all may be read both ways: 1.025 between semicolons or tabs, which may be 1025
	Flagged      string        // a number with a flag behind it, as 1.5 p, which was left out; "" for none
	Limit        string        // a value below a limit, as <0.5, of which half the limit is read; "" for none
	Asked        bool          // for it, or for a decimal point
	BySteps      bool          // dates were open between day and month first: with the one that was taken, their steps are equal
	Rows         int           // of data, those left out included
	Skipped      int           // rows left out because x or y is missing
	Headers      int           // lines that repeat the header, which were left out
	Totals       int           // rows above the last with a word for a sum or a mean in place of x, which were left out
	Below        []CSVRowError // the first ten lines of words, or of another table, below the table that were left out
	Bad          CSVRowsError  // the other rows that could not be read
	SHA256       string        // of the file, hexadecimal
	Also         CSVMore
	// ShortYears says that years of two digits were met, in dates such as Jan-00, and read as 1969 to 2068.
	ShortYears bool
	// Period is what each date names where it has no day: month, quarter, half-year, week, year, or fiscal year for two years; ""
	// for dates with days.
	Period string
	Head   []byte // of what can be read once: its first lines, up to 4 MiB, for KeyColumns
}

// Dates reports whether x was read as dates.
func (r CSVReport) Dates() bool { return r.Time != TimeAuto && r.Time != TimeNumber }

// dateParser reads an x, and says whether its year has two digits.
type dateParser func(text string) (x float64, short bool, err error)

// unit is that of x in a format.
func (opt CSVOptions) unit(format TimeFormat) string {
	switch {
	case format == TimeAuto || format == TimeNumber:
		return ""
	case opt.Seconds:
		return unixSeconds
	}
	return "decimal year"
}

// parser returns what reads an x of the given format, with number for those that are numbers.
func (opt CSVOptions) parser(format TimeFormat, number func(text string) (float64, error)) dateParser {
	of := DecimalYear
	if opt.Seconds {
		of = func(t time.Time) float64 { return float64(t.Unix()) + 1e-9*float64(t.Nanosecond()) }
	}
	if format == TimeNumber {
		return func(text string) (float64, bool, error) {
			v, err := number(text)
			return v, false, err
		}
	}
	if _, isDate := formOf(format); isDate {
		return func(text string) (float64, bool, error) {
			t, short, ok := dateOf(text, format)
			if !ok {
				return 0, false, dateError(text, format)
			}
			return of(t), short, nil
		}
	}
	if date, ok := numberDateOf(format); ok {
		return func(text string) (float64, bool, error) {
			v, err := number(text)
			if err != nil {
				return 0, false, hinted(err, text)
			}
			seconds, ok := date.seconds(v)
			switch {
			case !ok:
				return 0, false, date.dateError(text, v)
			case opt.Seconds:
				return seconds, false, nil
			}
			whole := math.Floor(seconds)
			return of(time.Unix(int64(whole), int64(1e9*(seconds-whole)))), false, nil
		}
	}
	panic(fmt.Sprintf("dataset: CSVOptions.Time = %q is not a format", format))
}

// dateLayouts are the forms of ISO 8601 that are met in practice; time.Parse adds fractions of a second to each.
var dateLayouts = []string{
	time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01",
	"20060102T150405Z07:00", "20060102T1504Z07:00", "20060102T150405", "20060102T1504",
	"2006-01-02T15", "2006-01-02 15", "2006-01-02T15Z07:00",
	"2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02 15:04:05Z07",
	"2006-002", "2006-002T15:04:05Z07:00", "2006-002T15:04:05", "2006-002 15:04:05", "2006-002T15:04", "2006-002 15:04",
}

// parseTime reads a date in ISO 8601 form, with or without a time of day and a zone, which a space may precede: Z, UTC, GMT,
// +02:00, +0200 or +02; without a zone it is UTC. A leap second, such as 2016-12-31T23:59:60Z, is the second that follows it, as
// in Unix time: it must end an hour of UTC. 24:00 is the end of a day.
func parseTime(text string) (time.Time, error) {
	const longest = 64 // of what is a date
	if len(text) <= longest && len(text) > len("2006") && isDigits(text[:len("2006")]) {
		plain := plainZone(text)
		if t, ok := parseLayouts(plain); ok {
			return t, nil
		}
		behind := func(layout, part string) bool { return strings.HasPrefix(plain[min(len(plain), len(layout)):], part) }
		if behind("2006-01-02T15:04", ":60") {
			if t, ok := parseLayouts(strings.Replace(plain, ":60", ":59", 1)); ok && t.Minute() == 59 && t.Second() == 59 {
				return t.Add(time.Second), nil
			}
		}
		if behind("2006-01-02T", "24:00") {
			if t, ok := parseLayouts(strings.Replace(plain, "24:00", "00:00", 1)); ok && t.Second() == 0 && t.Nanosecond() == 0 {
				return t.AddDate(0, 0, 1), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%s is not an ISO date", quoted(text))
}

func parseLayouts(text string) (time.Time, bool) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// zonePlace is the place of a zone behind its distance from UTC, as Java writes it: +01:00[Europe/Berlin].
var zonePlace = regexp.MustCompile(`[\dZ]\[[A-Za-z_/+-]+\]$`)

// zoneName is the name of a zone behind its distance from UTC, as Go writes it: +0100 CET.
var zoneName = regexp.MustCompile(`([-+]\d{4}) [A-Z]{3,5}$`)

// plainZone writes the zone of a date without a space before it and without its place, and Z for its other names.
func plainZone(text string) string {
	if m := zonePlace.FindStringIndex(text); m != nil {
		text = text[:m[0]+1]
	}
	text = zoneName.ReplaceAllString(text, "$1")
	for _, name := range []string{" UTC", "UTC", " GMT", " Z", "z"} {
		if rest, ok := strings.CutSuffix(text, name); ok && len(rest) > len(time.DateOnly) {
			return rest + "Z"
		}
	}
	if i := strings.LastIndexByte(text, ' '); i > len(time.DateOnly) && i+1 < len(text) && (text[i+1] == '+' || text[i+1] == '-') {
		return text[:i] + text[i+1:]
	}
	return text
}
