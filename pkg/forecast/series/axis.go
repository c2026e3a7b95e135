package series

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Axis is what x measures: plain numbers, or dates counted in a unit from an origin.
type Axis struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"` // "year", "day", "hour", "second" for dates; free for numbers
	Dates  bool      `json:"dates"`
	Origin time.Time `json:"origin,omitzero"` // the date at x = Zero
	Zero   float64   `json:"zero,omitempty"`
	// Months is the constant number of months between observations: 1 for a monthly series, 12 for a yearly one; 0 for none.
	Months int `json:"months,omitempty"`
	// Backward says that x is minus a column that counts back in time, as ages do (ReadOptions.Backward).
	Backward bool `json:"backward,omitempty"`
	// Day is the day on which months begin, 31 for their last day, on an axis of years whose months are equally long; 0 on other
	// axes.
	Day int `json:"day,omitempty"`
	// Clock says that the dates have times of day, which are then written.
	Clock bool `json:"clock,omitempty"`
	// Local says that times were written without a time zone; Text then writes none. Other times end in Z.
	Local bool `json:"local,omitempty"`
	// Period is what dates stand for instead of a day: "month", "quarter", "half-year", "week", "year" or "fiscal year", written
	// 1987-04, 1995-Q1, 1995-H1, 2019-W07, 1995 or 1995/96; "" for days.
	Period string `json:"period,omitempty"`
	// Decimals is the number of decimals of the numbers in the file, to which Text rounds, since x differs from these by rounding
	// or by the lengths of months and years; 0 if x are written as they are.
	Decimals int `json:"decimals,omitempty"`
	// Monthly says that the numbers are years whose months are a twelfth each. TableText names the months; files keep the numbers.
	Monthly bool `json:"monthly,omitempty"`
}

// unitSeconds are the lengths of the units of dates.
var unitSeconds = map[string]float64{"year": 365.25 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1}

// calendarUnit is a unit of the calendar. short is how a period may name it (Series.ParsePeriod).
type calendarUnit struct {
	name, short string
	seconds     float64
}

// calendarUnits are the units of the calendar, the longest first.
var calendarUnits = []calendarUnit{
	{"year", "y", yearSeconds}, {"quarter", "", yearSeconds / 4}, {"month", "mo", yearSeconds / 12}, {"week", "w", 7 * 86400},
	{"day", "d", 86400}, {"hour", "h", 3600}, {"minute", "min", 60}, {"second", "s", 1},
}

// DateAxis chooses unit and origin for ascending dates in seconds since 1970. Years are for observations a day or more apart:
// hours counted in years since 1970 are rounded to 1e-9 of an hour, too coarse for a Toeplitz factor of rough kernels.
func DateAxis(name string, seconds []float64) Axis {
	a := Axis{Name: name, Dates: true, Unit: "second"}
	first, last := seconds[0], seconds[len(seconds)-1]
	switch span := last - first; {
	case span >= 2*unitSeconds["year"] && medianStep(seconds) > unitSeconds["day"]/2:
		a.Unit = "year"
	case span >= 4*unitSeconds["day"]:
		a.Unit = "day"
	case span >= 4*unitSeconds["hour"]:
		a.Unit = "hour"
	}
	if a.Unit == "year" {
		a.Origin, a.Zero = time.Unix(0, 0).UTC(), 1970
	} else {
		a.Origin = instant(first)
	}
	a.Clock = slices.ContainsFunc(seconds, func(s float64) bool { return math.Mod(s, 86400) != 0 })
	var day int
	if a.Months, day = calendarMonths(seconds); a.Months > 0 && a.Unit == "year" {
		a.Day, a.Origin = day, instant(first)
		a.Zero = dataset.DecimalYear(a.Origin)
	}
	return a
}

// sinceEpoch returns t in seconds since 1970, and instant the reverse, to a microsecond.
func sinceEpoch(t time.Time) float64 { return float64(t.Unix()) + 1e-9*float64(t.Nanosecond()) }

func instant(seconds float64) time.Time {
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(math.Round(1e6*(seconds-whole)))*1000).UTC()
}

// lastOfMonth is the Day of dates that are the last of their months.
const lastOfMonth = 31

// calendarMonths returns the most common distance in months between dates that share the day of the month and the time of day,
// and that day. For dates that are the last of their months the day is lastOfMonth. For other dates it returns 0.
func calendarMonths(seconds []float64) (months, day int) {
	count := map[int]int{}
	first := instant(seconds[0])
	sameDay, lastDay := true, true
	for i, s := range seconds {
		t := instant(s)
		sameDay = sameDay && t.Day() == first.Day() && t.Sub(t.Truncate(24*time.Hour)) == first.Sub(first.Truncate(24*time.Hour))
		lastDay = lastDay && t.AddDate(0, 0, 1).Day() == 1
		if i > 0 {
			before := instant(seconds[i-1])
			count[12*(t.Year()-before.Year())+int(t.Month())-int(before.Month())]++
		}
	}
	if !sameDay && !lastDay {
		return 0, 0
	}
	best := 0
	for months, n := range count {
		if months > 0 && (n > count[best] || n == count[best] && months < best) {
			best = months
		}
	}
	if lastDay {
		return best, lastOfMonth
	}
	return best, first.Day()
}

// X returns the place of a date on the axis.
func (a Axis) X(t time.Time) float64 { return a.fromSeconds(sinceEpoch(t)) }

// fromSeconds returns the place of a date in seconds since 1970.
func (a Axis) fromSeconds(s float64) float64 {
	if a.Day > 0 {
		return a.Zero + a.monthsAt(s)/12
	}
	return a.Zero + (s-float64(a.Origin.Unix())-1e-9*float64(a.Origin.Nanosecond()))/unitSeconds[a.Unit]
}

// place returns the place of an x of a file: a number, or a date in seconds since 1970.
func (a Axis) place(x float64) float64 {
	if a.Dates {
		return a.fromSeconds(x)
	}
	return x
}

// Time returns the date at x, to a microsecond or as exactly as float64 allows. It panics on an axis of numbers.
func (a Axis) Time(x float64) time.Time {
	if !a.Dates {
		panic("series: Axis.Time: x is no date")
	}
	if a.Day > 0 {
		return instant(a.secondsAt(12 * (x - a.Zero)))
	}
	return instant(sinceEpoch(a.Origin) + (x-a.Zero)*unitSeconds[a.Unit])
}

// oldPeriod matches a half-year or a fiscal year as models of earlier releases have it.
var oldPeriod = regexp.MustCompile(`^(\d{4})(?:-(H[12])|/\d{2})$`)

// fiscalYear is the period of dates such as 1995/96, which begins with the first of its years.
const fiscalYear = "fiscal year"

// periodText writes a date as the period that it begins, in a form that Axis.Parse reads; ok is false if it begins none.
func periodText(period string, t time.Time) (text string, ok bool) {
	switch period {
	case "month":
		return t.Format("2006-01"), t.Day() == 1
	case "quarter":
		return fmt.Sprintf("%04d-Q%d", t.Year(), (int(t.Month())+2)/3), t.Day() == 1 && t.Month()%3 == 1
	case "half-year":
		return fmt.Sprintf("%04d-H%d", t.Year(), (int(t.Month())+5)/6), t.Day() == 1 && t.Month()%6 == 1
	case "year":
		return t.Format("2006"), t.YearDay() == 1
	case fiscalYear:
		return fmt.Sprintf("%04d/%02d", t.Year(), (t.Year()+1)%100), t.YearDay() == 1
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week), t.Weekday() == time.Monday
	}
	return "", false
}

// takePeriod lets the axis write dates as periods if each date, in seconds since 1970, begins one.
func (a *Axis) takePeriod(period string, seconds []float64) {
	for _, s := range seconds {
		if _, begins := periodText(period, instant(s)); !begins || a.Clock {
			return
		}
	}
	a.Period = period
}

// Text returns x as tables and csv files have it: a date in ISO form, the month, quarter, half-year, week or year that begins at
// it, or the number.
func (a Axis) Text(x float64) string {
	if !a.Dates {
		if a.Decimals > 0 {
			return strconv.FormatFloat(roundTo(x, a.Decimals), 'f', -1, 64)
		}
		const digits = 15 // digits that a decimal number keeps in float64: seconds since 1970 to 10 µs
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	t := a.Time(x)
	switch {
	case !a.Clock:
		t = t.Add(12 * time.Hour) // rounding must not give the day before
		if text, begins := periodText(a.Period, t); begins {
			return text
		}
		return t.Format(time.DateOnly)
	case a.Unit == "second" || a.Unit == "hour":
		t = t.Round(time.Millisecond)
	default:
		t = t.Round(time.Second)
	}
	if a.Local {
		return t.Format("2006-01-02T15:04:05.999")
	}
	return t.Format("2006-01-02T15:04:05.999Z07:00")
}

// TableText returns x for a table that a reader sees: the month if x are years in twelfths (Monthly), and otherwise Text.
func (a Axis) TableText(x float64) string {
	if a.Monthly {
		return a.month(x).Format("2006-01")
	}
	return a.Text(x)
}

// month returns the month that begins at x or contains it, on an axis of years in twelfths.
func (a Axis) month(x float64) time.Time {
	const rounding = 0.01 // months, since the numbers have few decimals
	year, part := math.Modf(x)
	return time.Date(int(year), 1+time.Month(math.Floor(12*part+rounding)), 1, 0, 0, 0, 0, time.UTC)
}

// Words returns x for a sentence: "December 2024", "Saturday, 17 May 2025", "17 May 2025, 23:06" or "depth 12.5".
func (a Axis) Words(x float64) string {
	if a.Monthly {
		return a.month(x).Format("January 2006")
	}
	if !a.Dates {
		return cmp.Or(a.Name, "x") + " " + a.Text(x)
	}
	switch t := a.Time(x); {
	case a.Clock && (a.Unit == "second" || t.Second() != 0 && t.Nanosecond() != 0):
		return t.Format("2 January 2006, 15:04:05")
	case a.Clock:
		return t.Round(time.Minute).Format("2 January 2006, 15:04")
	default:
		t = t.Add(12 * time.Hour) // rounding must not give the day before
		text, begins := periodText(a.Period, t)
		switch {
		case begins && a.Period == "month", a.Months == 1 && (a.Day == 1 || a.Day == lastOfMonth):
			return t.Format("January 2006")
		case begins:
			return text
		case a.Months > 0:
			return t.Format("2 January 2006")
		}
		return t.Format("Monday, 2 January 2006")
	}
}

// Texts returns the Text of each x.
func (a Axis) Texts(x []float64) []string {
	var texts []string
	for _, at := range x {
		texts = append(texts, a.Text(at))
	}
	return texts
}

// column returns the name of the column of x in a file.
func (a Axis) column() string {
	if a.Backward {
		return strings.TrimPrefix(a.Name, "−")
	}
	return a.Name
}

// Parse is the inverse of Text. On an axis of dates it reads any date that dataset.ParseDate reads, and a year as its first day;
// on another axis it reads a number.
func (a Axis) Parse(text string) (float64, error) {
	if !a.Dates {
		v, err := dataset.ParseNumber(text)
		if err != nil {
			return 0, err
		}
		return v, nil
	}
	if m := oldPeriod.FindStringSubmatch(text); m != nil { // in a model of an earlier release
		text = m[1]
		if m[2] == "H2" {
			text += "-07"
		}
	}
	t, err := time.Parse("2006", text)
	if err != nil {
		t, err = dataset.ParseDate(text)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: x are dates, such as %s", err, a.Text(a.Zero))
	}
	return a.fromSeconds(sinceEpoch(t)), nil
}

// Label names the axis and, if it has numbers, its unit: "date", "depth (m)".
func (a Axis) Label() string {
	name := cmp.Or(a.Name, "x")
	if a.Dates || strings.EqualFold(a.Unit, name) {
		return name
	}
	return text.WithUnit(name, a.Unit)
}

// Length writes a distance on the axis with its unit.
func (a Axis) Length(d float64) string { return a.LengthTo(d, 4) }

// LengthTo writes a distance on the axis with its unit, rounded to a number of digits.
func (a Axis) LengthTo(d float64, digits int) string {
	text := significant(d, digits)
	switch {
	case a.Dates:
		return duration(d*unitSeconds[a.Unit], digits)
	case a.Unit == "":
		return text
	case a.Unit == "year":
		return plural(d, a.Unit, digits)
	}
	return text + " " + a.Unit
}

// duration writes a number of seconds in the largest suitable unit.
func duration(s float64, digits int) string {
	for _, u := range []string{"year", "day", "hour", "minute"} {
		if s >= 0.999*unitSeconds[u] && (u != "year" || s >= 2*unitSeconds[u]) {
			return plural(s/unitSeconds[u], u, digits)
		}
	}
	return plural(s, "second", digits)
}

func plural(v float64, unit string, digits int) string {
	text := significant(v, digits)
	if text == "1" {
		return "1 " + unit
	}
	return text + " " + unit + "s"
}

// significant writes v rounded to a number of digits, at most four: 1200 has two.
func significant(v float64, digits int) string {
	const plain = 9 // digits before the point up to which no power of ten is written
	return strconv.FormatFloat(text.Rounded(v, digits), 'g', plain, 64)
}

// after returns x plus a number of steps. A step is a.Months calendar months, or of length step if a.Months is 0.
func (a Axis) after(x, step float64, steps int) float64 {
	if a.Months == 0 {
		return x + step*float64(steps)
	}
	if a.Day > 0 {
		return x + float64(a.Months*steps)/12
	}
	t := a.Time(x).Add(time.Millisecond).Truncate(time.Second)
	day := t.Day()
	if t.AddDate(0, 0, 1).Day() == 1 { // x is the last day of a month: so are its successors
		day = lastOfMonth
	}
	month := time.Date(t.Year(), t.Month()+time.Month(a.Months*steps), 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	return a.fromSeconds(float64(dayIn(month, day).Unix()))
}

// dayIn returns a day of the month that begins with first, or its last day if the month is shorter.
func dayIn(first time.Time, day int) time.Time {
	return first.AddDate(0, 0, min(day, first.AddDate(0, 1, -1).Day())-1)
}

// If Axis.Day is not 0, all months on the axis are a twelfth of a year long: a monthly, quarterly or yearly series then has a
// constant step, although months have 28 to 31 days. Month k begins on Day of the k-th month after Origin (on its last day if it
// is shorter), at the time of day of Origin; within the month x grows in proportion to time.

// monthBegin returns the beginning of month k, in seconds since 1970.
func (a Axis) monthBegin(k int) float64 {
	o := a.Origin
	first := time.Date(o.Year(), o.Month()+time.Month(k), 1, o.Hour(), o.Minute(), o.Second(), o.Nanosecond(), time.UTC)
	return sinceEpoch(dayIn(first, a.Day))
}

// monthsAt converts a date, in seconds since 1970, to months after Origin.
func (a Axis) monthsAt(s float64) float64 {
	t := instant(s)
	k := 12*(t.Year()-a.Origin.Year()) + int(t.Month()) - int(a.Origin.Month())
	begin, end := a.monthBegin(k), a.monthBegin(k+1)
	if s < begin {
		k--
		begin, end = a.monthBegin(k), begin
	}
	return float64(k) + (s-begin)/(end-begin)
}

// secondsAt is the inverse of monthsAt.
func (a Axis) secondsAt(months float64) float64 {
	const (
		rounding = 1e-9 // relative error of x in months, a few milliseconds
		most     = 12e6 // months, a million years
	)
	months = max(-most, min(months, most))
	k := math.Floor(months + rounding)
	begin := a.monthBegin(int(k))
	part := max(0, months-k)
	if part < rounding {
		return begin
	}
	return begin + part*(a.monthBegin(int(k)+1)-begin)
}

// IsTime reports whether x are dates or years, so that units of the calendar have a length on the axis.
func (a Axis) IsTime() bool { return a.Dates || a.Unit == "year" }

// lengthOf returns the length of a time in seconds on an axis of time.
func (a Axis) lengthOf(seconds float64) float64 { return seconds / yearSeconds * a.Year() }

// UnitLength returns the length of a unit of the calendar, such as "month", on an axis of time. It panics for other names.
func (a Axis) UnitLength(name string) float64 {
	for _, u := range calendarUnits {
		if u.name == name {
			return a.lengthOf(u.seconds)
		}
	}
	panic("series: no unit " + name)
}

// unitOf names the unit of the calendar that a length on the axis is, to 1 %; "" for other lengths, and on an axis of numbers.
func (a Axis) unitOf(length float64) string {
	const same = 0.01
	for _, u := range calendarUnits {
		if a.IsTime() && math.Abs(length/a.lengthOf(u.seconds)-1) < same {
			return u.name
		}
	}
	return ""
}

// Year returns the length of the calendar's year on an axis of time.
func (a Axis) Year() float64 {
	if a.Day > 0 {
		return 1
	}
	return yearSeconds / unitSeconds[a.Unit]
}

func roundTo(v float64, decimals int) float64 {
	p := math.Pow(10, float64(decimals))
	return math.Round(v*p) / p
}

// yearSeconds is the mean length of the calendar's year.
const yearSeconds = 365.2425 * 86400

// Largest and smallest bound |x|, |y|, the range of x and the standard deviation of y: the square of a number between them, times
// a variance of the standardised series between 1e-28 and 1e28, is within float64.
const Largest, smallest = 1e140, 1e-140

// medianStep returns the median distance between neighbours.
func medianStep(x []float64) float64 {
	steps := make([]float64, len(x)-1)
	for i := range steps {
		steps[i] = x[i+1] - x[i]
	}
	return numeric.UpperMedian(steps)
}
