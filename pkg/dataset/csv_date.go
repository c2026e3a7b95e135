package dataset

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// dateFormats are the formats of dates, with layouts of package time or, where these do not do, a function.
var dateFormats = map[TimeFormat]struct {
	like    string
	layouts []string // "2" stands for a day, so a layout without it names a month
	parse   func(text string) (date, bool)
}{
	TimeISO: {"2000-01-31", []string{"2006-1-2", "2006-01", "20060102", "2006-002", "2006002", "2006-01-02T15", "2006-01-02 15",
		"20060102T150405", "20060102T150405Z07:00", "20060102T1504", "20060102150405", "200601021504", "2006010215"}, nil},
	TimeYMD:     {"2000/1/31", []string{"2006/1/2", "2006.1.2"}, nil},
	TimeDMY:     {"31/1/2000", []string{"2.1.2006", "2/1/2006", "2-1-2006", "2. 1. 2006"}, nil},
	TimeMDY:     {"1/31/2000", []string{"1/2/2006", "1-2-2006"}, nil},
	TimeNamed:   {"31 Jan 2000", nil, namedDate},
	TimeMonth:   {"2000M01", []string{"2006M1", "2006/01", "1/2006", "1-2006", "01.2006", "2006.01", "200601"}, nil},
	TimeQuarter: {"2000Q1", nil, quarterDate},
	TimeWeek:    {"2000-W05", nil, weekDate},
}

// dayOrMonth are the formats of 1/2/2000.
var dayOrMonth = TimeDMY.bit() | TimeMDY.bit()

// date is what a cell says: an instant, the period that it names in place of a day, and whether its year has two digits.
type date struct {
	time.Time
	period string // month, quarter or week; "" for a day
	short  bool
}

// date reads a date of the format, with the time of day behind it if there is one.
func (f TimeFormat) date(text string) (d date, ok bool) {
	const longest = 48 // bytes of what is a date
	if len(text) > longest {
		return d, false
	}
	form := dateFormats[f]
	if f == TimeISO {
		if d.Time, ok = isoTime(text); ok {
			return d, true
		}
	}
	day, clock := text, ""
	if at := strings.IndexByte(text, ':'); at > 2 {
		for at--; at > 0 && text[at-1]-'0' <= 9; at-- {
		}
		day, clock = strings.TrimRight(text[:at], "T ,"), text[at:]
	}
	if form.parse != nil {
		d, ok = form.parse(day)
	}
	for i := 0; i < len(form.layouts) && !ok; i++ {
		var err error
		if d.Time, err = time.Parse(form.layouts[i], day); err == nil {
			ok = true
			if rest := strings.Replace(form.layouts[i], "2006", "", 1); !strings.Contains(rest, "2") {
				d.period = "month"
			}
		}
	}
	if ok && clock != "" {
		if ok = d.period == "" && len(day) < len(text); ok {
			d.Time, ok = withClock(d.Time, clock)
		}
	}
	return d, ok
}

// dateFits returns the formats that read a text, and the date as the first of them reads it. Plain numbers fit none: for
// 20240131, all cells of a column decide.
func dateFits(text string) (fits uint, first date) {
	if _, number := decimal(text); number || !strings.ContainsAny(text, "0123456789") {
		return 0, date{}
	}
	for _, f := range TimeFormats {
		if d, ok := f.date(text); ok {
			if fits == 0 {
				first = d
			}
			fits |= f.bit()
		}
	}
	return fits, first
}

var (
	namedParts   = regexp.MustCompile(`^(\d{0,4})\.?[-/ ]*(?:de )?(\pL{3,})\.?(?:[-/ ,'’]|de )*(\d{0,4})(?:, | de | )?(\d{4})?$`)
	quarterParts = regexp.MustCompile(`^(?:(\d{4})[-/ ]?Q([1-4])|Q([1-4])[-/ ]?(\d{4}))$`)
	weekParts    = regexp.MustCompile(`^(\d{4})-?W(\d{1,2})(?:-?([1-7]))?$`)
	clockParts   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(?:([AaPp])\.?[Mm]\.?)? ?` +
		`(?:Z|z|UTC|GMT|([-+])(\d{2}):?(\d{2})?)?$`)
)

// namedDate reads 31 Jan 2000, Jan 31, 2000, 2000-Jan-31, Jan 2000, 2000 Jan, and years of two digits behind the name.
func namedDate(text string) (d date, ok bool) {
	m := namedParts.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	day, year := m[1], m[3]
	switch {
	case m[4] != "" && m[1] != "":
		return d, false
	case m[4] != "": // Jan 31, 2000
		day, year = m[3], m[4]
	case len(m[1]) == 4:
		day, year = m[3], m[1]
	}
	if d.short = len(year) == 2; d.short && year >= "69" { // POSIX
		year = "19" + year
	} else if d.short {
		year = "20" + year
	}
	if day == "" {
		day, d.period = "1", "month"
	}
	t, err := time.Parse("2006-1-2", fmt.Sprintf("%s-%d-%s", year, monthOf(m[2]), day))
	d.Time = t
	return d, err == nil
}

func quarterDate(text string) (d date, ok bool) {
	m := quarterParts.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	year, _ := strconv.Atoi(m[1] + m[4])
	quarter, _ := strconv.Atoi(m[2] + m[3])
	return date{Time: time.Date(year, time.Month(3*quarter-2), 1, 0, 0, 0, 0, time.UTC), period: "quarter"}, true
}

// weekDate reads a week of ISO 8601, of which the first has 4 January.
func weekDate(text string) (d date, ok bool) {
	m := weekParts.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	year, _ := strconv.Atoi(m[1])
	week, _ := strconv.Atoi(m[2])
	day, err := strconv.Atoi(m[3])
	if err != nil {
		day, d.period = 1, "week"
	}
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	d.Time = fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7+day-1)
	inYear, inWeek := d.ISOWeek()
	return d, inYear == year && inWeek == week
}

// withClock adds the time of day that follows a date: 14:30, 2:30 PM, 14:30:00,5 +0200. Without a zone it is UTC. 24:00 is the
// end of the day, and a leap second is the second after it.
func withClock(t time.Time, text string) (time.Time, bool) {
	m := clockParts.FindStringSubmatch(text)
	if m == nil {
		return t, false
	}
	var n [9]int
	for i := range m {
		n[i], _ = strconv.Atoi(m[i])
	}
	hour, minute, second := n[1], n[2], n[3]
	nanos, _ := strconv.Atoi((m[4] + "000000000")[:9])
	if m[5] != "" {
		if hour < 1 || hour > 12 {
			return t, false
		}
		if hour %= 12; m[5] == "P" || m[5] == "p" {
			hour += 12
		}
	}
	east := 60 * (60*n[7] + n[8])
	if m[6] == "-" {
		east = -east
	}
	t = t.Add(time.Duration(3600*hour+60*minute+second-east)*time.Second + time.Duration(nanos))
	last := hour == 24 && minute+second+nanos == 0
	leap := second == 60 && t.Minute() == 0 && t.Second() == 0
	return t, (hour < 24 || last) && minute < 60 && (second < 60 || leap) && n[7] <= 14 && n[8] < 60
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

// ParseDate reads a date in any form of docs/data.md that needs no column: 3/4/2000 and 202401 are errors.
func ParseDate(text string) (time.Time, error) {
	fits, d := dateFits(text)
	if fits == 0 {
		fits, d = digitDates(text, 0, TimeISO.bit())
	}
	if fits == 0 {
		return d.Time, fmt.Errorf("dataset: %w", problem("%s is not a date", quoted(text)).hint(hintOf(text)))
	}
	if other, _ := TimeMDY.date(text); fits == dayOrMonth && !other.Equal(d.Time) {
		return d.Time, fmt.Errorf("dataset: %s may have the day or the month first: write it as 2000-01-31", quoted(text))
	}
	return d.Time, nil
}

// DecimalYear returns t, in UTC, as its year plus the part of that year which has passed: 2 July 2023, 12:00 is 2023.5.
func DecimalYear(t time.Time) float64 {
	t = t.UTC()
	start := time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	return float64(t.Year()) + t.Sub(start).Seconds()/end.Sub(start).Seconds()
}

// monthNames are those of each month in English, German, French, Spanish, Italian and Portuguese, without accents.
var monthNames = [12]string{
	"january januar janner jaenner janvier enero gennaio janeiro", "february februar fevrier febrero febbraio fevereiro",
	"march marz maerz mrz mars marzo marco", "april avril abril aprile", "may mai mayo maggio maio",
	"june juni juin junio giugno junho",
	"july juli juillet julio luglio julho", "august aout agosto", "september septembre septiembre setiembre settembre setembro",
	"october oktober octobre octubre ottobre outubro", "november novembre noviembre novembro",
	"december dezember decembre diciembre dicembre dezembro",
}

// months has the number of the month for each beginning of a name, of three letters or more, that no other month shares.
var months = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for i, names := range monthNames {
		for _, name := range strings.Fields(names) {
			for n := 3; n <= len(name); n++ {
				if month, met := all[name[:n]]; met && month != i+1 {
					all[name[:n]] = 0
				} else {
					all[name[:n]] = i + 1
				}
			}
		}
	}
	return all
})

// monthOf returns the month of a name, or 0.
func monthOf(name string) int {
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		name, _, _ = transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn))), name)
	}
	return months()[strings.ToLower(name)]
}
