package dataset

import (
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TimeFormat is how the x of a csv file are written. docs/data.md has examples of each. With TimeAuto the cells decide.
type TimeFormat string

const (
	TimeAuto      TimeFormat = ""
	TimeISO       TimeFormat = "iso"     // 2000-01-31, 20000131, 2000-01
	TimeYMD       TimeFormat = "ymd"     // 2000/1/31
	TimeDMY       TimeFormat = "dmy"     // 31/1/2000, 31.1.2000
	TimeMDY       TimeFormat = "mdy"     // 1/31/2000
	TimeNamed     TimeFormat = "named"   // 31 Jan 2000, Jan 31, 2000, Jan-00
	TimeMonth     TimeFormat = "month"   // 2000M01, 01/2000, 200001
	TimeQuarter   TimeFormat = "quarter" // 2000Q1, Q1 2000
	TimeWeek      TimeFormat = "week"    // 2000-W05, 2000-W05-1
	TimeUnix      TimeFormat = "unix"    // seconds since 1970-01-01 UTC
	TimeUnixMilli TimeFormat = "unix-ms" // milliseconds
	TimeUnixMicro TimeFormat = "unix-us" // microseconds
	TimeNumber    TimeFormat = "number"  // decimal years, seconds of an experiment, …
)

// TimeFormats are the formats that CSVOptions.Time accepts, besides TimeAuto. Of those that all cells of a column fit, the first
// is taken. A set of formats has a bit for the place of each.
var TimeFormats = []TimeFormat{TimeISO, TimeYMD, TimeDMY, TimeMDY, TimeNamed, TimeMonth, TimeQuarter, TimeWeek,
	TimeUnix, TimeUnixMilli, TimeUnixMicro, TimeNumber}

func (f TimeFormat) bit() uint { return 1 << slices.Index(TimeFormats, f) }

// perSecond is how many units of a format of Unix times are a second; 0 for other formats.
var perSecond = map[TimeFormat]float64{TimeUnix: 1, TimeUnixMilli: 1e3, TimeUnixMicro: 1e6}

// digits are how formats write a date as a plain number.
var digits = map[TimeFormat]*regexp.Regexp{
	TimeISO:   regexp.MustCompile(`^\d{7}$|^\d{8}(\d\d){0,3}$`),
	TimeMonth: regexp.MustCompile(`^\d{6}$|^\d{4}\.\d\d$|^\d\d\.\d{4}$`),
}

// digitDates returns those of some formats that read a number as a date: of 1800 to 2199, or a Unix time of 1973 to 2096.
func digitDates(text string, v float64, among uint) (fits uint, d date) {
	for f, written := range digits {
		if among&f.bit() != 0 && written.MatchString(text) {
			if at, ok := f.date(text); ok && at.Year() >= 1800 && at.Year() < 2200 {
				fits, d = fits|f.bit(), at
			}
		}
	}
	for f, unit := range perSecond {
		if v >= 1e8*unit && v < 4e9*unit {
			fits |= among & f.bit()
		}
	}
	return fits, d
}

// MayBeDate reports whether a number may be read as a date if it is the x of a row, and others of its column agree.
func MayBeDate(v float64) bool {
	fits, _ := digitDates(plain(v), v, math.MaxUint)
	return fits != 0
}

// timeFinder finds the format of x by its cells.
type timeFinder struct {
	opt    CSVOptions
	name   string       // of the column
	number numberFinder // of the cells that are plain numbers
	fits   uint         // the formats that all cells fit; cells that fit none of these are problems of their rows
	cell   string       // the first cell, or the first date that may have the day or the month first
	line   int
	period string    // that the first cell names
	open   time.Time // the first that may have the day or the month first, as one with the day first
	fiscal bool      // all may be years of a fiscal calendar: 2001/02, 2002/03

	months bool    // numbers are months by their form, or go from the last one of a year to the first of the next
	last   date    // of the number before
	lo, hi float64 // of the numbers
	whole  bool    // they are whole
}

func newTimeFinder(opt CSVOptions, name string) *timeFinder {
	return &timeFinder{opt: opt, name: name, number: numberFinder{between: opt.Comma}, fits: math.MaxUint, fiscal: true, whole: true,
		lo: math.Inf(1), hi: math.Inf(-1)}
}

var (
	yearAndTwo   = regexp.MustCompile(`^\d{4}[-/]\d\d$`)
	monthAndYear = regexp.MustCompile(`^\d\d\.\d{4}$`)
)

func (f *timeFinder) add(cell string, line int) {
	fits, d := dateFits(cell)
	if fits == 0 {
		if f.fits&TimeNumber.bit() == 0 || !f.number.add(cell, line) {
			return
		}
		fits, d = f.addNumber(cell)
	}
	if f.fits&fits == 0 {
		return
	}
	f.fits &= fits
	if f.cell == "" {
		f.cell, f.line, f.period = cell, line, d.period
	}
	f.fiscal = f.fiscal && yearAndTwo.MatchString(cell) && int(d.Month()) == (d.Year()+1)%100
	if mdy, ok := TimeMDY.date(cell); fits == dayOrMonth && ok && f.open.IsZero() && !mdy.Equal(d.Time) {
		f.cell, f.line, f.open = cell, line, d.Time
	}
}

func (f *timeFinder) addNumber(cell string) (fits uint, d date) {
	v, _, _ := readNumber(cell, false)
	if f.opt.NumberDates {
		fits, d = digitDates(cell, v, f.fits)
		f.months = f.months || monthAndYear.MatchString(cell) ||
			f.number.count > 1 && f.last.Year() != d.Year() && d.Sub(f.last.Time).Abs() < 32*24*time.Hour
		f.last = d
	}
	f.lo, f.hi, f.whole = min(f.lo, v), max(f.hi, v), f.whole && v == math.Trunc(v)
	return fits | TimeNumber.bit(), d
}

// settled reports whether no further cell can change the format.
func (f *timeFinder) settled() bool {
	known := f.opt.Time != TimeAuto || bits.OnesCount(f.fits) == 1 && !f.fiscal
	return known && (f.number.proof != 0 || f.fits&TimeNumber.bit() == 0 || dateFormats[f.opt.Time].like != "")
}

// format returns the format of the column, and which dates its numbers stand for, or why it is not known.
func (f *timeFinder) format() (format TimeFormat, numbers string, wrong *CSVProblem) {
	if f.opt.Time != TimeAuto {
		return f.opt.Time, "", nil
	}
	if f.number.count > 0 || f.cell == "" {
		return f.numberFormat()
	}
	format = TimeFormats[bits.TrailingZeros(f.fits)]
	d, _ := format.date(f.cell)
	as := Setting{"Time", string(format)}
	switch {
	case f.fits == dayOrMonth && !f.open.IsZero():
		mdy, _ := TimeMDY.date(f.cell)
		const day = "2 January 2006"
		wrong = problem("%s may be %s or %s, and no row tells", quoted(f.cell), f.open.Format(day), mdy.Format(day)).
			hint("%s reads the day first, %s the month", Setting{"Time", "dmy"}, Setting{"Time", "mdy"})
	case f.fiscal:
		wrong = problem("%s may be a month or two years of a fiscal calendar, and so may all rows", quoted(f.cell)).
			hint("write the first day of each year, as 2001-07-01; %s reads months", as)
	case d.Year() < 1500 || d.Year() >= 2400:
		wrong = problem("the year of %s is not between 1500 and 2400, so it may be one of another calendar", quoted(f.cell)).
			hint("%s takes it as it is", as)
	}
	return format, "", wrong
}

// numberFormat is the format of numbers, which may stand for dates.
func (f *timeFinder) numberFormat() (format TimeFormat, numbers string, wrong *CSVProblem) {
	if !f.months {
		f.fits &^= TimeMonth.bit()
	}
	format = TimeFormats[bits.TrailingZeros(f.fits)]
	switch {
	case f.cell == "" || format == TimeNumber:
		return TimeNumber, "", f.refused()
	case perSecond[format] > 0:
		numbers = "Unix time in " + map[float64]string{1: "seconds", 1e3: "milliseconds", 1e6: "microseconds"}[perSecond[format]]
	default:
		numbers = "dates written " + f.cell
	}
	at := f.lo / perSecond[format]
	if d, ok := format.date(f.cell); ok {
		at = float64(d.Unix())
	}
	if w := f.opt.Within; w[0] < w[1] && f.lo >= w[0] && f.lo <= w[1] && (at < w[0] || at > w[1]) {
		format = TimeNumber
	}
	return format, numbers, nil
}

// dateName is the name of a column of dates.
var dateName = regexp.MustCompile(`(?i)date|datum|fecha|\bdata\b|month|monat|\bday\b|\btag\b|zeit|time`)

// refused returns a problem if whole numbers seem to be dates that are not read.
func (f *timeFinder) refused() *CSVProblem {
	const from, to, nanoseconds = 20_000, 60_000, 1e17 // days of a spreadsheet, 1954 to 2064; 1973
	number := Setting{"Time", string(TimeNumber)}
	switch {
	case !f.opt.NumberDates || !f.whole || f.number.count < 3:
	case f.lo >= from && f.hi < to && dateName.MatchString(f.name):
		return problem("%s may be the days that a spreadsheet counts from 1900 on", quoted(f.cell)).hint("format them as dates "+
			`there and save again, or duckdb -c "COPY (SELECT DATE '1899-12-30' + X::INT AS date, * FROM 'FILE') TO 'dates.csv'", `+
			"with the column for X; %s takes them as numbers", number)
	case f.lo >= nanoseconds:
		return problem("%s may be nanoseconds since 1970", quoted(f.cell)).hint("divide by 1000; %s takes them as numbers", number)
	}
	return nil
}

// readX reads an x in the format of the column.
func (t *table) readX(text string) (x float64, d date, ok bool) {
	switch format := t.rep.Time; {
	case format == TimeNumber:
		x, ok = t.cols[0].style.value(text)
		return x, d, ok
	case perSecond[format] > 0:
		const most = 1e11 // seconds: the year 5138
		x, ok = t.cols[0].style.value(text)
		x /= perSecond[format]
		if ok = ok && math.Abs(x) < most; t.opt.Seconds || !ok {
			return x, d, ok
		}
		whole := math.Floor(x)
		d.Time = time.Unix(int64(whole), int64(1e9*(x-whole)))
	default:
		if d, ok = t.rep.Time.date(text); ok && t.opt.Seconds {
			return float64(d.Unix()) + 1e-9*float64(d.Nanosecond()), d, true
		}
	}
	return DecimalYear(d.Time), d, ok
}

// wrongX says why a text is no x.
func (t *table) wrongX(text string) *CSVProblem {
	fits, _ := dateFits(text)
	_, number := decimal(text)
	wanted := "a date written as " + dateFormats[t.rep.Time].like
	switch {
	case t.rep.Time == TimeNumber && t.found && fits == 0 && !number:
		return t.cols[0].style.wrong(text)
	case t.rep.Time == TimeNumber:
		wanted = map[bool]string{true: "a finite number", false: "a finite number, nor a date"}[t.found]
	case perSecond[t.rep.Time] > 0:
		wanted = "a time in " + string(t.rep.Time) + " (unix has seconds, unix-ms and unix-us smaller units)"
	}
	p := problem("%s is not %s", quoted(text), wanted)
	switch {
	case fits != 0:
		return p.hint("it is one written as " + dateFormats[TimeFormats[bits.TrailingZeros(fits)]].like + ": write all x in one way")
	case number && t.opt.Time == TimeAuto:
		return p.hint("write all x in one way")
	case strings.ContainsAny(text, "0123456789"):
		return p.hint(hintOf(text))
	}
	return p.orMissing(text)
}
