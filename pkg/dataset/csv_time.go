package dataset

import (
	"io"
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

// unixUnits names the unit in which each format counts Unix time.
var unixUnits = map[TimeFormat]struct {
	name      string
	perSecond float64
}{TimeUnix: {"seconds", 1}, TimeUnixMilli: {"milliseconds", 1e3}, TimeUnixMicro: {"microseconds", 1e6}}

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
	for f, unit := range unixUnits {
		if v >= 1e8*unit.perSecond && v < 4e9*unit.perSecond {
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
	numberFinder        // of the cells that are plain numbers
	fits         uint   // the formats that all cells fit; cells that fit none of these are problems of their rows
	example      string // the first cell, or the first date that may have the day or the month first
	at           int    // its line
	period       string // that the first cell names
	local        bool   // the first cell is a date that names no time zone
	ambiguous    bool   // the example may have the day or the month first
	fiscal       bool   // all may be years of a fiscal calendar: 2001/02, 2002/03

	months bool // numbers are months by their form, or go from the last one of a year to the first of the next
	last   date // of the number before
	sheet  bool // numbers may be the days that a spreadsheet counts: of 1954 to 2064
	nanos  bool // numbers may be nanoseconds since 1970: of 1973 or later
}

var (
	yearAndTwo   = regexp.MustCompile(`^\d{4}[-/]\d\d$`)
	monthAndYear = regexp.MustCompile(`^\d\d\.\d{4}$`)
	zoned        = regexp.MustCompile(`(?i)\d(Z| ?UTC| ?GMT)$|:.*[+-]\d\d(:?\d\d)?$|T\d+[+-]\d\d(:?\d\d)?$`)
	dateName     = regexp.MustCompile(`(?i)date|datum|fecha|\bdata\b|month|monat|\bday\b|\btag\b|zeit|time`)
)

// Zoned reports whether a date names a time zone.
func Zoned(text string) bool { return zoned.MatchString(text) }

func newTimeFinder(opt CSVOptions, name string) *timeFinder {
	return &timeFinder{numberFinder: numberFinder{opt: opt}, fits: math.MaxUint, fiscal: true, sheet: dateName.MatchString(name)}
}

func (f *timeFinder) add(cell string, line int) {
	fits, d := dateFits(cell)
	local := fits != 0 && !zoned.MatchString(cell)
	if fits == 0 {
		if f.fits&TimeNumber.bit() == 0 || !f.numberFinder.add(cell, line) {
			return
		}
		fits, d = f.addNumber(cell)
	}
	if f.fits&fits == 0 {
		return
	}
	f.fits &= fits
	if f.example == "" {
		f.example, f.at, f.period, f.local = cell, line, d.period, local
	}
	f.fiscal = f.fiscal && yearAndTwo.MatchString(cell) && int(d.Month()) == (d.Year()+1)%100
	if fits == dayOrMonth && !f.ambiguous {
		if mdy, _ := TimeMDY.date(cell); !mdy.Equal(d.Time) {
			f.example, f.at, f.ambiguous = cell, line, true
		}
	}
}

func (f *timeFinder) addNumber(cell string) (fits uint, d date) {
	v, _, _ := readNumber(cell, false)
	if f.opt.NumberDates {
		fits, d = digitDates(cell, v, f.fits)
		f.months = f.months || monthAndYear.MatchString(cell) ||
			f.count > 1 && f.last.Year() != d.Year() && d.Sub(f.last.Time).Abs() < 32*24*time.Hour
		f.last = d
	}
	f.sheet = f.sheet && v >= 20_000 && v < 60_000 && v == math.Trunc(v)
	f.nanos = v >= 1e17 && (f.nanos || f.count == 1)
	return fits | TimeNumber.bit(), d
}

// settled reports whether no further cell can change the format.
func (f *timeFinder) settled() bool {
	known := f.opt.Time != TimeAuto || bits.OnesCount(f.fits) == 1 && !f.fiscal
	return known && (f.proof != "" || f.fits&TimeNumber.bit() == 0 || dateForms[f.opt.Time].like != "")
}

// format returns the format of the column, "" if it has neither a date nor a number, and which dates its numbers stand for; or
// why it is not known.
func (f *timeFinder) format() (format TimeFormat, numbers string, wrong *CSVProblem) {
	if f.opt.Time != TimeAuto || f.example == "" {
		return f.opt.Time, "", nil
	}
	if f.count > 0 && !f.months {
		f.fits &^= TimeMonth.bit()
	}
	format = TimeFormats[bits.TrailingZeros(f.fits)]
	d, _ := format.date(f.example)
	as := Setting{"Time", string(format)}
	switch {
	case unixUnits[format].name != "":
		numbers = "Unix time in " + unixUnits[format].name
	case format != TimeNumber && f.count > 0:
		numbers = "dates written " + f.example
	case format == TimeNumber && f.opt.NumberDates && f.sheet && f.count > 2:
		wrong = problem("%s may be the days that a spreadsheet counts from 1900 on", quoted(f.example)).hint("format them as dates "+
			`there and save again, or duckdb -c "COPY (SELECT DATE '1899-12-30' + X::INT AS date, * FROM 'FILE') TO 'dates.csv'", `+
			"with the column for X; %s takes them as numbers", as)
	case format == TimeNumber && f.opt.NumberDates && f.nanos:
		wrong = problem("%s may be nanoseconds since 1970", quoted(f.example)).hint("divide by 1000; %s takes them as numbers", as)
	case format == TimeNumber:
	case f.fits == dayOrMonth && f.ambiguous:
		const day = "2 January 2006"
		mdy, _ := TimeMDY.date(f.example)
		wrong = problem("%s may be %s or %s, and no row tells", quoted(f.example), d.Format(day), mdy.Format(day)).
			hint("%s reads the day first, %s the month", Setting{"Time", "dmy"}, Setting{"Time", "mdy"})
	case f.fiscal:
		wrong = problem("%s may be a month or two years of a fiscal calendar, and so may all rows", quoted(f.example)).
			hint("write the first day of each year, as 2001-07-01; %s reads months", as)
	case d.Year() < 1500 || d.Year() >= 2400:
		wrong = problem("the year of %s is not between 1500 and 2400, so it may be one of another calendar", quoted(f.example)).
			hint("%s takes it as it is", as)
	}
	if wrong != nil {
		wrong.Line, wrong.Cell = f.at, f.example
	}
	return format, numbers, wrong
}

// readX reads an x in the format of the column: a number, decimal years, or seconds since 1970.
func (t *table) readX(text string) (x float64, d date, wrong *CSVProblem) {
	format, ok := t.rep.Time, false
	if format == TimeNumber {
		if x, wrong = t.numbers[0].read(text, t.opt.Limit); t.opt.Backward {
			x = 0 - x // not -0
		}
		return x, d, wrong
	}
	if t.unit > 0 {
		x, ok = t.numbers[0].style.value(text)
		x /= t.unit
		ok = ok && math.Abs(x) < 1e11 // the year 5138
		whole := math.Floor(x)
		d.Time = time.Unix(int64(whole), int64(1e9*(x-whole)))
	} else if d, ok = format.date(text); ok {
		x = float64(d.Unix()) + 1e-9*float64(d.Nanosecond())
	}
	if !ok {
		return 0, d, t.wrongDate(text)
	}
	if !t.opt.Seconds {
		x = DecimalYear(d.Time)
	}
	return x, d, nil
}

// wrongDate says why a text is no date of the column.
func (t *table) wrongDate(text string) *CSVProblem {
	wanted := "a date written as " + dateForms[t.rep.Time].like
	if unit := unixUnits[t.rep.Time].name; unit != "" {
		wanted = "a Unix time in " + unit + " (unix has seconds, unix-ms and unix-us smaller units)"
	} else if t.rep.Time == TimeAuto {
		wanted = "a date or a number"
	}
	p := problem("%s is not %s", quoted(text), wanted)
	fits, _ := dateFits(text)
	_, number := decimal(text)
	switch {
	case fits != 0:
		return p.hint("it is one written as " + dateForms[TimeFormats[bits.TrailingZeros(fits)]].like + ": write all x in one way")
	case number && t.opt.Time == TimeAuto:
		return p.hint("write all x in one way")
	case strings.ContainsAny(text, "0123456789"):
		return p.hint(hintOf(text))
	}
	return p.orMissing(text)
}

// mostRows bounds the rows that are held until all columns prove how they are written.
const mostRows = 4 << 20

// prove finds how the columns are written by the rows of the head and, of a file that is read whole, by those that follow, until
// that is known. It returns all rows that were read. What the columns do not prove is one error.
func (t *table) prove(head []row, rest *rowReader) ([]row, error) {
	x := newTimeFinder(t.opt, t.rep.Columns[t.rep.X])
	finders := []*numberFinder{&x.numberFinder}
	for range t.numbers[1:] {
		finders = append(finders, &numberFinder{opt: t.opt})
	}
	most := mostRows
	if t.opt.MaxRows > 0 {
		most = min(most, t.opt.MaxRows+1)
	}
	for i, settled := 0, false; !settled && i < most && (i < len(head) || t.whole); i++ {
		if i == len(head) {
			row, err := rest.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			head = append(head, row)
		}
		if cell := head[i].at(t.rep.X); !t.missing(cell, false) {
			x.add(cell, head[i].line)
		}
		settled = x.settled()
		for k, f := range finders[1:] {
			if cell := head[i].at(t.numbers[k+1].at); !t.missing(cell, true) {
				f.add(cell, head[i].line)
			}
			settled = settled && f.proof != ""
		}
	}
	var wrong CSVError
	add := func(at int, p *CSVProblem) {
		if p != nil {
			p.Column = t.column(at)
			wrong.Add(*p)
		}
	}
	var p *CSVProblem
	t.rep.Time, t.rep.Numbers, p = x.format()
	add(t.rep.X, p)
	t.unit = unixUnits[t.rep.Time].perSecond
	if t.rep.Dates() {
		t.rep.Period, t.rep.Local = x.period, x.local
	}
	pointed := x.count == 0 && strings.Contains(x.example, ".") // dates with points
	file := ""
	if slices.ContainsFunc(finders, func(f *numberFinder) bool { return f.marks != "" && f.proof == "" }) {
		file = t.decimalSign(head)
	}
	for k, f := range finders {
		if k > 0 || f.count > 0 {
			t.numbers[k].style, p = f.style(file, pointed)
			add(t.numbers[k].at, p)
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	y := t.numbers[1].style
	t.rep.Unit, t.rep.DecimalComma = y.unit, y.comma && !t.opt.DecimalComma
	return head, nil
}
