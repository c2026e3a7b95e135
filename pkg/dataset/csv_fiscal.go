package dataset

import (
	"strconv"
	"time"
)

// follows reports whether the second of two years, as in 1999/00, is the year after the first.
func follows(part map[string]string) bool {
	year, _ := strconv.Atoi(part["y"])
	next, _ := strconv.Atoi(part["next"])
	if len(part["next"]) == 2 {
		return next == (year+1)%100
	}
	return next == year+1
}

// fiscalPeriod is what a text of TimeFiscal names: one year, or two.
func fiscalPeriod(text string) string {
	form, _ := formOf(TimeFiscal)
	if part := fields(form.patterns[0], text); part != nil && follows(part) {
		return "fiscal year"
	}
	return "year"
}

// dayOfYear reads a day of a year, from 1 on.
func dayOfYear(part map[string]string) (t time.Time, short, ok bool) {
	year, _ := strconv.Atoi(part["y"])
	day, _ := strconv.Atoi(part["yday"])
	t = time.Date(year, time.January, day, 0, 0, 0, 0, time.UTC)
	if ok = day > 0 && t.Year() == year; ok && part["rest"] != "" {
		clock, err := parseTime(clockText(t.Format(time.DateOnly), part["rest"]))
		return clock, false, err == nil
	}
	return t.Add(partOfDay(part)), false, ok
}

// yearPairs finds out whether dates such as 2000/01 and 2000-01 are months, or the years 2000 and 2001.
type yearPairs struct {
	months TimeFormat // that they are written in; "" where none was met
	first  string
	more   int // texts after the first, without those that repeat the one before
	last   string
}

// mostMonths is the largest number of texts such as 2001/02 that are still read as months. Three in a row, 2001/02, 2002/03 and
// 2003/04, span two years as months and follow one another as fiscal years.
const mostMonths = 2

// opens reports whether a text that was read in a format may be two years as well.
func (p *yearPairs) opens(text string, f TimeFormat) bool {
	if p.months == "" && f != TimeISO && f != TimeYMD {
		return false
	}
	_, _, pair := dateOf(text, TimeFiscal)
	return pair
}

// add returns the format that a text decides; timeSlashes if none is yet.
func (p *yearPairs) add(text string, f TimeFormat) TimeFormat {
	if p.months == "" {
		p.months, p.first, p.last = f, text, text
		return timeSlashes
	}
	_, _, month := dateOf(text, p.months)
	switch pair := p.opens(text, p.months); {
	case pair && !month:
		return TimeFiscal
	case !pair:
		return p.months
	case text != p.last:
		p.more, p.last = p.more+1, text
	}
	return timeSlashes
}

// settle decides for a column of which no text does.
func (p *yearPairs) settle() TimeFormat {
	if p.more >= mostMonths {
		return TimeFiscal
	}
	return p.months
}
