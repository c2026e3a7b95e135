package dataset

import (
	"cmp"
	"math"
	"math/bits"
	"regexp"
	"strings"
	"time"
)

// timeFinder finds the format of x by its cells.
type timeFinder struct {
	numberFinder      // takes the cells that are plain numbers
	opt               CSVOptions
	fits              uint   // formats that all cells fit; a cell that fits none of these is a problem of its row
	example           string // first cell, or first date that may have the day or the month first
	at                int    // line of example
	period            string // period that the first cell names
	local             bool   // the first cell is a date that names no time zone
	ambiguous, fiscal bool   // the example may have the day or the month first; all may be fiscal years: 2001/02, 2002/03
	months            bool   // numbers are months by their form, or go from the last one of a year to the first of the next
	last              date   // date of the number before
	weeks             bool   // numbers go from the last week of a year to the first of the next: 202352, 202401
	before            float64
	sheet             bool // numbers may be days as a spreadsheet counts them, from 1954 to 2064
}

var (
	yearAndTwo   = regexp.MustCompile(`^\d{4}[-/]\d\d$`)
	monthAndYear = regexp.MustCompile(`^\d\d\.\d{4}$`)
	dateName     = regexp.MustCompile(`(?i)date|datum|fecha|\bdata\b|month|monat|\bday\b|\btag\b|zeit|time`)
)

func newTimeFinder(opt CSVOptions, name string) *timeFinder {
	return &timeFinder{numberFinder: numberFinder{comma: opt.Comma}, opt: opt, fits: anyFormat, fiscal: true,
		sheet: dateName.MatchString(name)}
}

func (f *timeFinder) add(cell string, line int) {
	fits := dateFits(cell, f.fits)
	isDate := fits != 0
	if !isDate {
		if f.fits&TimeNumber.bit() == 0 || !f.numberFinder.add(cell, line) {
			return
		}
		v, _, _ := readNumber(cell, false)
		if fits = TimeNumber.bit(); f.opt.NumberDates {
			fits |= digitFits(cell, v, f.fits)
		}
		const year = 100
		f.weeks = f.weeks || v == math.Trunc(v) && math.Mod(v, year) == 1 && (f.before == v-year+51 || f.before == v-year+52)
		f.before = v
		f.sheet = f.sheet && v >= 20_000 && v < 60_000 && v == math.Trunc(v)
	}
	if f.fits&fits == 0 {
		return
	}
	f.fits &= fits
	if f.fits == TimeNumber.bit() {
		f.example, f.at, f.fiscal = cmp.Or(f.example, cell), cmp.Or(f.at, line), false
		return
	}
	d, _ := f.first().date(cell)
	if f.example == "" {
		f.example, f.at, f.period, f.local = cell, line, d.period, isDate && !Zoned(cell)
	}
	if !isDate {
		f.months = f.months || monthAndYear.MatchString(cell) ||
			f.count > 1 && f.last.Year() != d.Year() && d.Sub(f.last.Time).Abs() < 32*24*time.Hour
		f.last = d
	}
	f.fiscal = f.fiscal && yearAndTwo.MatchString(cell) && int(d.Month()) == (d.Year()+1)%100
	if fits == dayOrMonth && !f.ambiguous {
		if other, _ := TimeMDY.date(cell); !other.Equal(d.Time) {
			f.example, f.at, f.ambiguous = cell, line, true
		}
	}
}

// first returns the first format that all cells fit.
func (f *timeFinder) first() TimeFormat { return TimeFormats[bits.TrailingZeros(f.fits)] }

// settled reports whether no further cell can change the format.
func (f *timeFinder) settled() bool {
	known := f.opt.Time != TimeAuto || bits.OnesCount(f.fits) == 1 && !f.fiscal
	return known && (f.proof != "" || f.fits&TimeNumber.bit() == 0 || dateForms[f.opt.Time].like != "")
}

// format returns the format of the column, "" if it has neither a date nor a number, and says which dates its numbers stand for;
// or says why the format is not known.
func (f *timeFinder) format() (format TimeFormat, numbers string, wrong *CSVProblem) {
	if f.opt.Time != TimeAuto || f.example == "" {
		return f.opt.Time, "", nil
	}
	const nanoseconds = 1e17
	if f.count > 0 && !f.months {
		f.fits &^= TimeMonth.bit()
	}
	format = f.first()
	d, _ := format.date(f.example)
	as := Setting{"Time", string(format)}
	switch v, _, _ := readNumber(f.example, false); {
	case unixUnits[format].name != "":
		numbers = "Unix time in " + unixUnits[format].name
	case format != TimeNumber && f.count > 0:
		numbers = "dates written " + f.example
	case format == TimeNumber && f.opt.NumberDates && f.sheet && f.count > 2:
		wrong = problem("%s may be the days that a spreadsheet counts from 1900 on", quoted(f.example)).hint("format them as dates "+
			`there and save again, or duckdb -c "COPY (SELECT DATE '1899-12-30' + X::INT AS date, * FROM 'FILE') TO 'dates.csv'", `+
			"with the column for X; %s takes them as numbers", as)
	case format == TimeNumber && f.opt.NumberDates && v >= nanoseconds:
		wrong = problem("%s may be nanoseconds since 1970", quoted(f.example)).hint("divide by 1000; %s takes them as numbers", as)
	case format == TimeNumber && f.opt.NumberDates && f.weeks:
		wrong = problem("%s may be a year and a week", quoted(f.example)).
			hint(`sed -E 's/([0-9]{4})([0-9]{2})/\1-W\2/' FILE writes weeks as 2023-W52; %s takes them as numbers`, as)
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

// readX reads an x in the format of the column: a number, decimal years, or seconds since 1970, and the date that it is.
func (t *table) readX(text string) (x float64, d date, wrong *CSVProblem) {
	unit, format := unixUnits[t.rep.Time].perSecond, t.rep.Time
	switch {
	case format == TimeNumber || unit > 0:
		if x, wrong = t.numbers[0].read(text, t.opt.Limit); wrong != nil {
			return 0, d, wrong
		}
		if format == TimeNumber {
			if t.opt.Backward {
				x = 0 - x // 0 stays 0, not −0
			}
			return x, d, nil
		}
		if x /= unit; math.Abs(x) >= 1e11 { // this is the year 5138
			return 0, d, t.wrongDate(text)
		}
		whole := math.Floor(x)
		d.Time = time.Unix(int64(whole), int64(1e9*(x-whole)))
	default:
		var ok bool
		if d, ok = format.date(text); !ok {
			return 0, d, t.wrongDate(text)
		}
		x = float64(d.Unix()) + 1e-9*float64(d.Nanosecond())
	}
	if !t.opt.Seconds {
		x = DecimalYear(d.Time)
	}
	return x, d, nil
}

// wrongDate says why a text is no date of the column.
func (t *table) wrongDate(text string) *CSVProblem {
	wanted := "a date or a number"
	if like := dateForms[t.rep.Time].like; like != "" {
		wanted = "a date written as " + like
	} else if unit := unixUnits[t.rep.Time].name; unit != "" {
		wanted = "a Unix time in " + unit + " (unix has seconds, unix-ms and unix-us smaller units)"
	}
	p, fits := problem("%s is not %s", quoted(text), wanted), dateFits(text, anyFormat)
	_, number := decimal(text)
	switch {
	case fits != 0:
		return p.hint("it is one written as %s: write all x in one way", dateForms[TimeFormats[bits.TrailingZeros(fits)]].like)
	case number && t.opt.Time == TimeAuto:
		return p.hint("write all x in one way")
	case strings.ContainsAny(text, "0123456789"):
		return p.hint(hintOf(text))
	}
	return p.orMissing(text)
}
