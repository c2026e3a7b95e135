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

// Formats of dates other than those of ISO 8601. A time of day may follow a date with a day: 31/1/2000 2:30 PM.
const (
	TimeQuarter TimeFormat = "quarter" // 1990Q1, 1990-Q1, Q1 1990: the first day of the quarter
	TimeHalf    TimeFormat = "half"    // 2000-H1, 1. Halbjahr 2000: the first day of the half year
	TimeFiscal  TimeFormat = "fiscal"  // 1999/2000, 1999/00, 1999-00, FY2000: the first day of the year, or of the first of two
	TimeMonth   TimeFormat = "month"   // 2000M01, 01/2000: the first day of the month
	TimeNamed   TimeFormat = "named"   // Jan 2000, 31 January 2000, Jan 31, 2000, 2000-Jan-31, 1. März 2000, févr. 2000
	TimeWeek    TimeFormat = "week"    // 2000-W05: the Monday of the ISO week
	TimeYMD     TimeFormat = "ymd"     // 2000/1/31, 2000.1.31, 2000/01
	TimeDMY     TimeFormat = "dmy"     // 31/1/2000, 31.1.2000, 31-1-2000
	TimeMDY     TimeFormat = "mdy"     // 1/31/2000
)

// timeSlashes is of a date such as 3/4/2000, of which the text alone does not tell whether the day or the month is first.
const timeSlashes TimeFormat = "dmy or mdy"

// dateForm is one way to write dates.
type dateForm struct {
	format   TimeFormat
	like     string   // an example, for messages
	examples []string // of all it reads
	means    string
	patterns []*regexp.Regexp // by which isoText reads it; the first that fits
}

// dateForms are all forms of dates, in the order in which they are tried; docs/data.md shows them. A year of two digits is one
// from 1969 to 2068 (POSIX). It is read beside the name of a month and in a quarter, and last beside two numbers, if [dateOrder]
// finds that it is the year.
var dateForms = []dateForm{
	{
		TimeISO, "2000-01-31", []string{
			"2000-01-31", "2000-01", "2000-1-31", "2000-031", "2000-01-31T14:30", "2000-01-31 14:30:00.5", "2000-01-31T14:30:00+02:00",
			"2000-01-31T14", "20000131 1430", "2000-01-31.5",
		},
		"ISO 8601; without a zone in UTC; a month is its first day; three digits are a day of the year, and decimals a part of the day",
		patterns( // besides what parseTime reads
			`^(?P<y>\d{4})-(?P<m>\d{1,2})(?:-(?P<d>\d{1,2})(?P<rest>\D.*)?)?$`,
			`^(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?P<part>\.\d+)$`,
			`^(?P<y>\d{4})-?D(?P<yday>\d{1,3})(?P<part>\.\d+)?(?P<rest>T\d.*)?$`,
			`^(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?P<rest>[ T:]\d.*)$`),
	},
	{
		TimeQuarter, "2000Q1", []string{
			"1990Q1", "1990-Q1", "Q1 1990", "1Q1990", "1. Quartal 1990", "Q1 '90", "Q1/90", "1Q90", "FY1990Q1", "I 1990", "1990K1",
			"1990 kv1", "First quarter 1990",
		},
		"the first day of the quarter; T and K for Q are read too",
		patterns(
			`^(?:FY ?)?(?P<y>\d{4})[-:/. ]*(?:[QqTtK]|[Qq]tr ?|[Kk]v\.? ?)(?P<q>[1-4])$`,
			`^(?:[QqTtK]|[Qq]tr ?|[Kk]v\.? ?)(?P<q>[1-4])[-:/., ]*(?:FY ?)?(?P<y>\d{4})$`,
			`^(?P<q>[1-4])[QqTt][-:/., ]*(?P<y>\d{4})$`,
			`^(?P<q>[1-4])`+ordinal+` *`+quarterWord+`[-:/., ]*(?P<y>\d{4})$`,
			`^(?P<y>\d{4})[-:/., ]+(?P<q>[1-4])`+ordinal+` *`+quarterWord+`$`,
			`^`+quarterWord+` *(?P<q>[1-4])[-:/., ]*(?P<y>\d{4})$`,
			`^(?P<name>\pL{3,12})\.? ?[-–—/] ?(?P<to>\pL{3,12})\.?,? (?P<y>\d{4})$`, // of its months
			`^(?P<y>\d{4})[-:/. ]*(?:kw\.? )?(?P<roman>I{1,3}|IV)(?:\.? `+quarterWord+`)?$`,
			`^(?P<roman>I{1,3}|IV|(?i:first|second|third|fourth))(?:\.? `+quarterWord+`|\.? kw\.?)?(?:[-:/., ]+| of )(?P<y>\d{4})$`,
			`^[QqTt](?P<q>[1-4])(?:[-/. ]+['’]?|['’]|[-/. ]*FY['’ ]?)(?P<yy>\d{2})$`,
			`^(?P<q>[1-4])[QqTt][-/. ]*['’]?(?P<yy>\d{2})$`,
			`^FY ?['’]?(?P<yy>\d{2})[-/ ]*[QqTt](?P<q>[1-4])$`,
			`^(?P<y>\d{4})年 ?第?(?P<q>[1-4])(?:季度?|四半期)$`),
	},
	{
		TimeHalf, "2000-H1", []string{"2000-H1", "2000H1", "H1 2000", "1H2000", "2000-S1", "1. Halbjahr 2000"},
		"the first day of the half year; S for H is read too",
		patterns(
			`^(?P<y>\d{4})[-:/. ]*[HhSs](?P<half>[12])$`,
			`^[HhSs](?P<half>[12])[-:/., ]*(?P<y>\d{4})$`,
			`^(?P<half>[12])[HhSs][-:/., ]*(?P<y>\d{4})$`,
			`^(?P<half>[12])`+ordinal+` *(?i:halbjahr|hj\.?|half(?:[- ]year)?|semestre|semester)[-:/., ]*(?P<y>\d{4})$`),
	},
	{
		TimeMonth, "2000M01", []string{"2000M01", "2000-M1", "01/2000", "1-2000"}, "the first day of the month",
		patterns(`^(?P<y>\d{4})[- ]?[Mm]{1,2}(?P<m>\d{1,2})$`, `^(?P<y>\d{4}):(?P<m>\d{2})$`, `^0?(?P<m>\d{1,2})[/-](?P<y>\d{4})$`,
			`^(?i:tháng) ?(?P<m>\d{1,2})(?:[-/]|,? (?:năm )?)(?P<y>\d{4})$`),
	},
	{
		TimeNamed, "Jan 2000", []string{
			"Jan 2000", "31 January 2000", "31.I.2000", "Jan 31, 2000", "2000-Jan-31", "31-Jan-2000 14:30", "Jan-00", "Jan 00",
			"Jan00", "31-Jan-00", "31Jan00", "31Jan2000:14:30:00",
		},
		"months by their names in most languages of Europe and in Indonesian, the first three letters or more, " +
			"or behind a day by a Roman number; two digits are a year from 1969 to 2068",
		patterns(
			`^(?P<d>\d{1,2})(?:st|nd|rd|th|er|º)?[-\s./]*(?:de\s+)?(?P<name>\pL{3,12}|[IVX]{1,2})\.?`+
				`[-\s,./]*(?:del?\s+)?(?P<y>\d{4})(?P<rest>\D.*)?$`,
			`^(?P<name>\pL{3,12})\.?[-\s]*(?P<d>\d{1,2})(?:st|nd|rd|th|er|º)?[-\s,]+(?P<y>\d{4})(?P<rest>\D.*)?$`,
			`^(?P<y>\d{4})[-\s/.]*(?P<name>\pL{3,12})\.?[-\s/.]+(?P<d>\d{1,2})(?P<rest>\D.*)?$`,
			`^(?P<name>\pL{3,12}) +(?P<d>\d{1,2}) +(?P<rest>\d{1,2}:\d{2}:\d{2}) +(?:(?:UTC|GMT) +)?(?P<y>\d{4})$`,
			`^(?P<name>\pL{3,12})\.?[-\s,/.]*(?:del?\s+)?(?P<y>\d{4})$`,
			`^(?P<y>\d{4})[-\s,/.]*(?:gada\s+)?(?P<name>\pL{3,12})\.?$`,
			`^(?P<name>\pL{3,12})(?:\.?[-/ ]?| ?['’])(?P<yy>\d{2})$`,
			`^(?P<d>\d{1,2})\.?[-/ ]?(?P<name>\pL{3,12})\.?[-/ ]?(?P<yy>\d{2})(?P<rest>\D.*)?$`,
		),
	},
	{
		TimeWeek, "2000-W05", []string{"2000-W05", "2000W05", "2000-W05-1", "2000 W5", "2000-S05", "KW 05/2000", "5. KW 2000"},
		"the Monday of the ISO week, or the day of it",
		patterns(
			`^(?P<y>\d{4})(?: - |[-/ ]?)`+weekWord+` ?(?P<week>\d{1,2})(?:-?(?P<day>[1-7]))?$`,
			`^`+weekWord+` ?(?P<week>\d{1,2})[-/., ]+(?P<y>\d{4})$`,
			`^(?P<y>\d{4})-?[Ss](?P<week>\d{2})$`,
			`^[Ss](?P<week>\d{2})[-/., ]+(?P<y>\d{4})$`,
			`^(?P<week>\d{1,2})\. ?(?i:KW|woche)[-/., ]*(?P<y>\d{4})$`),
	},
	{
		TimeYMD, "2000/01/31", []string{
			"2000/01/31", "2000.1.31", "2000. 1. 31.", "2000_01_31", "2000年1月31日", "平成12年1月31日", "2000/01", "2000/1/31 14:30",
		},
		"year, month, day",
		patterns(`^(?P<y>\d{4})(?P<a>[/._]) ?(?P<m>\d{1,2})(?P<b>[/._]) ?(?P<d>\d{1,2})\.?(?P<rest>\D.*)?$`,
			`^(?P<y>\d{4})[/_](?P<m>\d{1,2})$`,
			`^(?P<y>\d{4})`+yearSign+` ?(?P<m>\d{1,2})`+monthSign+`(?: ?(?P<d>\d{1,2})`+daySign+`(?P<rest>\D.*)?)?$`,
			`^(?P<era>明治|大正|昭和|平成|令和)(?P<of>\d{1,2}|元)年 ?(?P<m>\d{1,2})月(?: ?(?P<d>\d{1,2})日(?P<rest>\D.*)?)?$`),
	},
	{
		TimeDMY, "31/1/2000",
		[]string{"31/1/2000", "31.1.2000", "31. 1. 2000", "31-1-2000", "31/1/2000 2:30 PM", "Mo 31.1.2000", "31.1.00"},
		"day, month, year; a day of the week before a date is left out",
		patterns(`^(?P<d>\d{1,2})(?P<a>[-/.]) ?(?P<m>\d{1,2})(?P<b>[-/.]) ?(?P<y>\d{4})(?P<rest>\D.*)?$`,
			`^(?P<d>\d{1,2})(?P<a>[-/.])(?P<m>\d{1,2})(?P<b>[-/.])(?P<yy>\d{2})(?P<rest>\D.*)?$`),
	},
	{
		TimeMDY, "1/31/2000", []string{"1/31/2000", "1.31.2000", "1/31/2000 2:30 PM", "1/31/00"}, "month, day, year",
		patterns(`^(?P<m>\d{1,2})(?P<a>[-/.])(?P<d>\d{1,2})(?P<b>[-/.])(?P<y>\d{4})(?P<rest>\D.*)?$`,
			`^(?P<m>\d{1,2})(?P<a>[-/.])(?P<d>\d{1,2})(?P<b>[-/.])(?P<yy>\d{2})(?P<rest>\D.*)?$`),
	},
	{
		TimeFiscal, "1999/00", []string{"1999/00", "1999-00", "1999/2000", "FY2000"},
		"the year, or the first of two; 2000/01 is one if all dates of the column can be",
		patterns(`^(?:FY ?)?(?P<y>\d{4}) ?[-/–] ?(?P<next>\d{2}|\d{4})$`, `^FY ?(?P<y>\d{4})$`,
			`^FY ?['’]?(?P<yy>\d{2})$`),
	},
}

// The signs of year, month and day in Chinese, Japanese and Korean; then those of GBK, Shift JIS, EUC-KR, Big5 and EUC-JP, read
// as Latin-1.
const (
	yearSign  = `(?:年|년|Äê|\x{94}N|³â|¦~|Ç¯)`
	monthSign = `(?:月|월|ÔÂ|\x{8c}\x{8e}|¿ù|¤ë|·î)`
	daySign   = `(?:日|일|ÈÕ|\x{93}ú|ÀÏ|¤é|Æü)`
)

// The endings of ordinal numbers, and what quarters and weeks are called.
const (
	weekWord    = `(?i:W|KW|wk|week|woche|semaine|semana|settimana|v\.?|vecka|uke|uge|vko|viikko)`
	ordinal     = `(?:\.|st|nd|rd|th|\.?er|[eè]me|e|º|-?й)?`
	quarterWord = `(?i:quartal|vierteljahr|vj\.?|quarter|trimestre|trim\.?|kwartaal|kwartał|kvartal|kvartál|` +
		`čtvrtletí|negyedév|çeyrek|квартал|кв\.?)`
)

func patterns(of ...string) (all []*regexp.Regexp) {
	for _, p := range of {
		all = append(all, regexp.MustCompile(p))
	}
	return all
}

// formOf returns the form of dates of a format.
func formOf(f TimeFormat) (dateForm, bool) {
	for _, form := range dateForms {
		if form.format == f {
			return form, true
		}
	}
	return dateForm{}, false
}

var (
	timeOfDay = regexp.MustCompile(`^[T,:]?\s*(?:(?:kl|um|at|à|ore|alle|@)\.?\s+)?` +
		`(?P<hour>\d{1,2})(?P<sign>[:.h]?)(?P<minute>\d{2})(?:(?P<again>[:.]?)(?P<second>\d{2})(?P<part>[.,]\d+|:\d{3})?)?\s*` +
		`(?:(?P<half>[AaPp])(?:\.?\s?[Mm]\.?)?)?\s*(?:(?:GMT|UTC)(?P<named>[-+]))?(?P<zone>.*?)(?:\s*\(.*\))?$`)
	pointedTime = regexp.MustCompile(`^-(\d\d\.\d\d\.\d\d)`)
	shortYear   = regexp.MustCompile(`^(\d{1,2}[-/.]\d{1,2}[-/.]\d{2}|[A-Za-z]{3,9}[-\s/.']+\d{2})\b(\D|$)`)
)

const longestDate = 64 // bytes of what is a date

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

// dateFormat returns how a date is written, timeSlashes if that is open; TimeAuto if text is none.
func dateFormat(text string) TimeFormat {
	for _, form := range dateForms {
		if _, _, ok := dateOf(text, form.format); ok {
			if form.format == TimeDMY {
				return slashesFormat(text)
			}
			return form.format
		}
	}
	return TimeAuto
}

// slashesFormat is TimeDMY or TimeMDY, timeSlashes for a date that may be both, and TimeAuto for none.
func slashesFormat(text string) TimeFormat {
	_, _, dmy := dateOf(text, TimeDMY)
	_, _, mdy := dateOf(text, TimeMDY)
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

// dateOf reads a date of a format, with or without a day of the week before it; short says that its year has two digits. Of dates
// with day and month as numbers, the day of the week must be that of the date.
func dateOf(text string, f TimeFormat) (t time.Time, short, ok bool) {
	if len(text) > longestDate || !strings.ContainsAny(text, "0123456789") { // all have a year
		return t, false, false
	}
	if m := clockToClock.FindStringSubmatch(text[max(0, len(text)-len(" 14:00–14:30")):]); m != nil {
		later := fmt.Sprintf("%5s", m[3]) > fmt.Sprintf("%5s", m[1]) || strings.Trim(m[3], "0:") == ""
		if zone := f == TimeISO && m[2][0] == '-'; zone && later && !american.MatchString(m[3]) || !zone && !later {
			return t, false, false
		} else if !zone {
			text = strings.TrimSuffix(text, m[2])
		}
	}
	if t, short, ok = plainDate(text, f); ok {
		return t, short, ok
	}
	rest, day, ok := cutWeekday(text)
	if !ok && !isDigits(text[len(text)-1:]) {
		if m := weekdayBehind.FindStringSubmatch(text); m != nil {
			rest, day, ok = cutWeekday(m[2] + " " + m[1])
		}
	}
	if !ok {
		begin, end := withinDate(text)
		if t, short, ok = dateOf(begin, f); ok && end != "" {
			_, _, ok = dateOf(end, f)
		}
		return t, short, ok
	}
	t, short, ok = plainDate(rest, f)
	if numbers := f == TimeDMY || f == TimeMDY; numbers && day != unknownWeekday && t.Weekday() != day {
		ok = false
	}
	return t, short, ok
}

// clockToClock is a period of a day without blanks, whose end may look like a zone.
var clockToClock = regexp.MustCompile(` (\d?\d:\d\d)([-–](\d?\d:\d\d))$`)

// american is a zone west of Greenwich, but for one hour, which an end of a period is more often.
var american = regexp.MustCompile(`^(0[2-9]|1[0-2]):[03]0$`)

// fromTo are two dates that a period goes from and to, or a date and two times of day.
var fromTo = regexp.MustCompile(`^(.*\d.*?)\s+(?:[-–—/]|to|until|bis|au|al|a)\s+(.+)$`)

// withinDate returns the date that a text has between brackets, or the two that a period goes from and to; an end on the same day
// is "". begin is "" for any other text.
func withinDate(text string) (begin, end string) {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		return strings.TrimSuffix(inner, "]"), ""
	}
	if begin, end, ok := strings.Cut(text, "/"); ok && len(begin) >= len(time.DateOnly) { // of ISO 8601
		return begin, end
	}
	if !strings.Contains(text, " ") {
		return "", ""
	}
	p := fromTo.FindStringSubmatch(text)
	switch {
	case p == nil:
		return "", ""
	case strings.Contains(p[1], ":") && clock.MatchString(p[2]):
		return p[1], ""
	}
	return p[1], p[2]
}

// plainDate is dateOf without a day of the week.
func plainDate(text string, f TimeFormat) (t time.Time, short, ok bool) {
	if f == TimeISO {
		if t, err := parseTime(text); err == nil {
			return t, false, true
		}
	}
	form, _ := formOf(f)
	for _, p := range form.patterns {
		part := fields(p, text)
		if part == nil || part["a"] != part["b"] {
			continue
		}
		switch {
		case part["week"] != "":
			t, ok = weekOf(part)
			return t, false, ok
		case part["yday"] != "":
			return dayOfYear(part)
		case part["next"] != "" && !follows(part):
			continue
		}
		if iso := isoText(part); iso != "" {
			t, err := parseTime(iso)
			return t.Add(partOfDay(part)), part["yy"] != "", err == nil
		}
	}
	return t, false, false
}

// partOfDay is what stands behind the point of a day, to a millisecond.
func partOfDay(part map[string]string) time.Duration {
	days, _ := strconv.ParseFloat("0"+part["part"], 64)
	return time.Duration(math.Round(days*86400e3)) * time.Millisecond
}

// periodOf returns what a date without a day names: month, quarter or week; "" for a date with one, and for none.
func periodOf(text string) string {
	if len(text) > longestDate {
		return ""
	}
	if begin, _ := withinDate(text); begin != "" && dateFormat(text) != TimeAuto {
		text = begin
	}
	for _, form := range dateForms {
		for _, p := range form.patterns {
			switch part := fields(p, text); {
			case part == nil:
				continue
			case form.format == TimeFiscal:
				return fiscalPeriod(text)
			case part["q"]+part["roman"]+part["to"] != "":
				return "quarter"
			case part["half"] != "":
				return "half-year"
			case part["week"] != "" && part["day"] == "":
				return "week"
			case part["week"] == "" && part["d"] == "" && part["yday"] == "":
				return "month"
			default:
				return ""
			}
		}
	}
	return ""
}

// isoText writes the parts of a date, y and one of q, m and name, with or without d and rest, a time of day, as ISO 8601 has it;
// "" if they make none.
func isoText(part map[string]string) string {
	month := part["m"]
	if roman := part["roman"]; roman != "" {
		part["q"] = map[string]string{"i": "1", "ii": "2", "iii": "3", "iv": "4", "first": "1", "second": "2", "third": "3",
			"fourth": "4"}[strings.ToLower(roman)]
	}
	if q := part["q"]; q != "" {
		month = strconv.Itoa(3*int(q[0]-'1') + 1)
	}
	if half := part["half"]; half != "" {
		month = strconv.Itoa(6*int(half[0]-'1') + 1)
	}
	if name := part["name"]; name != "" {
		month = strconv.Itoa(cmp.Or(slices.Index(romanMonths, name)+1, monthOf(name)))
	}
	if to := part["to"]; to != "" && !slices.Contains([]string{"1 3", "4 6", "7 9", "10 12"}, month+" "+strconv.Itoa(monthOf(to))) {
		return "" // no quarter
	}
	if month == "0" {
		return ""
	}
	year := part["y"]
	if short := part["yy"]; short >= "69" {
		year = "19" + short
	} else if short != "" {
		year = "20" + short
	}
	if era := part["era"]; era != "" {
		of, _ := strconv.Atoi(strings.Replace(part["of"], "元", "1", 1))
		year = strconv.Itoa(beforeEra[era] + of)
	}
	date := fmt.Sprintf("%s-%02s-%02s", year, cmp.Or(month, "1"), cmp.Or(part["d"], "1"))
	rest := strings.TrimSpace(part["rest"])
	if rest == "" {
		return date
	}
	return clockText(date, strings.TrimSuffix(rest, " Uhr"))
}

// beforeEra are the years before the first of each Japanese era.
var beforeEra = map[string]int{"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}

// clockText writes a date with a time of day, 14:30:00.5, 14.30, 14h30, 1430 or 2:30 PM and a zone, as ISO 8601 has it; "" if it
// is none.
func clockText(date, text string) string {
	part := fields(timeOfDay, pointedTime.ReplaceAllString(text, "$1")) // DB2 has 2000-01-31-14.30.00
	if part == nil || part["second"] != "" && part["again"] != part["sign"] && !(part["sign"] == "h" && part["again"] == ":") {
		return ""
	}
	hour, _ := strconv.Atoi(part["hour"])
	if half := strings.ToLower(part["half"]); half != "" {
		if hour < 1 || hour > 12 {
			return ""
		}
		if hour %= 12; half == "p" {
			hour += 12
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%sT%02d:%s:%s%s %s%s", date, hour, part["minute"], cmp.Or(part["second"], "00"),
		strings.NewReplacer(",", ".", ":", ".").Replace(part["part"]), part["named"], part["zone"]))
}

// longestShort is the longest range, in years, of dates whose years have two digits: beyond it 1968 may have been read as 2068.
const longestShort = 70

// yearRange is the range of dates of which some have years of two digits.
type yearRange struct {
	lo, hi     float64 // where any is set
	any, short bool
	last       float64 // that was added
	steps      int     // from one to the next, and how many of them are of a year
	years      int
}

func (r *yearRange) add(x float64, short bool) {
	steps, years := 0, 0
	if r.any {
		const day = 86400.0
		switch steps = 1; math.Abs(x - r.last) {
		case 1, 365 * day, 366 * day:
			years = 1
		}
	}
	r.join(yearRange{lo: x, hi: x, any: true, short: short, steps: steps, years: years})
	r.last = x
}

func (r *yearRange) join(o yearRange) {
	switch {
	case !o.any:
		return
	case r.any:
		o.lo, o.hi = min(r.lo, o.lo), max(r.hi, o.hi)
	}
	r.lo, r.hi, r.any, r.short = o.lo, o.hi, true, r.short || o.short
	r.steps, r.years = r.steps+o.steps, r.years+o.years
}

// check refuses dates, in seconds or years, whose range leaves the century of their years of two digits open. Dates such as Jan
// 15 are months of years unless most are a year apart: then 15 is the day.
func (r yearRange) check(column string, seconds, spaced bool) error {
	if r.short && spaced && r.steps > 2 && 2*r.years > r.steps {
		return fmt.Errorf("%s: dates such as Jan 15 and Jan 16 may be months of the years 2015 and 2016, or days without a year: "+
			"write years with four digits", column)
	}
	year := func(v float64) int {
		if seconds {
			return time.Unix(int64(math.Floor(v)), 0).UTC().Year()
		}
		return int(v)
	}
	if first, last := year(r.lo), year(r.hi); r.short && last-first > longestShort {
		return fmt.Errorf("%s: years of two digits are read as 1969 to 2068, which makes these dates range from %d to %d: "+
			"write years with four digits", column, first, last)
	}
	return nil
}

// monthNames are those of English, German, French, Spanish, Italian, Dutch, Portuguese, Catalan, Scandinavian and Baltic
// languages, Indonesian, Polish, Czech, Slovak, Hungarian, Romanian, Serbian, Slovene, Turkish (also without a keyboard for it),
// Greek, Ukrainian, Bulgarian, Russian, Arabic and Hebrew, in the forms that stand beside a year or a day, and short forms that
// do not begin them.
var monthNames = [12][]string{
	strings.Fields(`january januar jänner janvier enero gennaio januari janeiro gener styczeń stycznia leden ledna január
		ianuarie ocak ιανουάριος ιανουαρίου січень січня януари январь января sausis janvāris jaanuar janúar јануар يناير ינואר
		sausio`),
	strings.Fields(`february februar feber février fevrier febrero febbraio februari fevereiro febrer luty lutego únor února
		február februarie şubat φεβρουάριος φεβρουαρίου лютий лютого февруари февраль февраля vasaris februāris veebruar febrúar
		фебруар فبراير פברואר vasario`),
	strings.Fields(`march märz maerz mrz mars marzo maart mrt março marco març marts maret marzec marca březen března marec
		március martie mart μάρτιος μαρτίου березень березня март марта kovas märts مارس מרץ kovo`),
	strings.Fields(`april avril abril aprile kwiecień kwietnia duben dubna apríl április aprilie nisan απρίλιος απριλίου квітень
		квітня април апрель апреля balandis aprīlis aprill أبريل ابريل אפריל balandžio`),
	strings.Fields(`may mai mayo maggio mei maio maig maj maja květen května máj május mayıs mayis μάιος μαΐου μαϊ травень травня
		май мая gegužė maijs maí مايو מאי gegužės`),
	strings.Fields(`june juni juin junio giugno junho juny czerwiec czerwca červen června čvn jún június iunie haziran ιούνιος
		ιουνίου червень червня юни июнь июня birželis jūnijs juuni júní јун يونيو יוני birželio`),
	strings.Fields(`july juli juillet julio luglio julho juliol lipiec lipca červenec července čvc júl július iulie temmuz
		ιούλιος ιουλίου липень липня юли июль июля liepa jūlijs juuli júlí јул يوليو יולי liepos`),
	strings.Fields(`august août aout agosto agost augustus augusti agustus sierpień sierpnia srpen srpna augusztus ağustos
		αύγουστος αυγούστου серпень серпня август августа rugpjūtis augusts ágúst avgust أغسطس اغسطس אוגוסט rugpjūčio`),
	strings.Fields(`september septembre septiembre settembre setembro setembre wrzesień września září szeptember septembrie eylül
		σεπτέμβριος σεπτεμβρίου вересень вересня септември сентябрь сентября rugsėjis septembris septembar септембар سبتمبر ספטמבר
		rugsėjo`),
	strings.Fields(`october oktober octobre octubre ottobre outubro październik października říjen října október octombrie ekim
		οκτώβριος οκτωβρίου жовтень жовтня октомври октябрь октября spalis oktobris oktoober oktobar октобар أكتوبر اكتوبر אוקטובר
		spalio`),
	strings.Fields(`november novembre noviembre novembro listopad listopada listopadu noiembrie kasım kasim νοέμβριος νοεμβρίου
		листопад листопада ноември ноябрь ноября lapkritis novembris nóvember novembar новембар نوفمبر נובמבר lapkričio`),
	strings.Fields(`december dezember décembre decembre diciembre dicembre dezembro desembre desember grudzień grudnia prosinec
		prosince decembrie aralık aralik δεκέμβριος δεκεμβρίου грудень грудня декември декабрь декабря gruodis decembris detsember
		decembar децембар ديسمبر דצמבר gruodžio`),
}

// finnishMonths begin the names of months with -kuu; ordinary short forms, such as mar, must not be short for them.
var finnishMonths = strings.Fields("tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu")

// oneByte writes the letters of Turkish, Polish and Czech months as those that one-byte code pages of Windows have in their
// place, read as Latin-1, and the dotted i that lower case makes of İ plainly.
var oneByte = strings.NewReplacer(
	"ş", "þ", "ğ", "ð", "ı", "ý", "ń", "ñ", "ź", "\u009f", "ě", "ì", "č", "è", "ř", "ø", "ů", "ù", "i\u0307", "i")

// oneByteNames are monthNames written so.
var oneByteNames = func() (names [12][]string) {
	for i, all := range monthNames {
		for _, name := range all {
			names[i] = append(names[i], oneByte.Replace(name))
		}
	}
	return names
}()

// monthOf returns the number of a month by its name or the beginning of it, 0 for no month or more than one. A whole name is that
// of its month, although it may begin another one: červen, červenec.
func monthOf(name string) (month int) {
	name = strings.ToLower(name)
	if i := slices.Index(finnishMonths, strings.TrimSuffix(strings.TrimSuffix(name, "ta"), "kuu")); i >= 0 {
		return i + 1
	}
	name = oneByte.Replace(name)
	for i, names := range oneByteNames {
		if slices.Contains(names, name) {
			return i + 1
		}
		if !slices.ContainsFunc(names, func(full string) bool { return strings.HasPrefix(full, name) }) {
			continue
		}
		if month > 0 {
			month = -1 // unless a whole name follows
		} else if month == 0 {
			month = i + 1
		}
	}
	return max(0, month)
}

// weekOf reads a week of ISO 8601, with or without a day: week 1 is that of 4 January.
func weekOf(part map[string]string) (time.Time, bool) {
	year, _ := strconv.Atoi(part["y"])
	week, _ := strconv.Atoi(part["week"])
	day, _ := strconv.Atoi(cmp.Or(part["day"], "1"))
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
	monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
	t := monday.AddDate(0, 0, 7*(week-1))
	if inYear, inWeek := t.ISOWeek(); inYear != year || inWeek != week {
		return time.Time{}, false
	}
	return t.AddDate(0, 0, day-1), true
}

// Date reads a date of a format; ok is false for any other text.
func (f TimeFormat) Date(text string) (t time.Time, ok bool) {
	t, _, ok = dateOf(text, f)
	return t, ok
}

// ParseDate reads a date in any unambiguous form: ISO 8601, with or without a time of day and a zone (UTC without one), 1990Q1,
// 2000M01, Jan 2000, 31 Jan 2000, 2000-W05, 2000/01/31, 31/1/2000. An ambiguous date, such as 3/4/2000 or 31/1/00, and a year
// alone are errors.
func ParseDate(text string) (time.Time, error) {
	f := dateFormat(text)
	if dmy, mdy := bothWays(text); f == timeSlashes && dmy.Equal(mdy) {
		f = TimeDMY
	}
	switch f {
	case TimeAuto:
		return time.Time{}, fmt.Errorf("dataset: %s is not a date%s", quoted(text), dateHints.of(text))
	case timeSlashes:
		return time.Time{}, fmt.Errorf("dataset: %s may have the day or the month first: write it as 2000-01-31", quoted(text))
	}
	t, short, _ := dateOf(text, f)
	if short && (f == TimeDMY || f == TimeMDY) {
		return time.Time{}, fmt.Errorf("dataset: %s has a year of two digits: write it as 2000-01-31", quoted(text))
	}
	return t, nil
}

// bothWays reads a date such as 3/4/2000 with the day and with the month first.
func bothWays(text string) (dmy, mdy time.Time) {
	dmy, _, _ = dateOf(text, TimeDMY)
	mdy, _, _ = dateOf(text, TimeMDY)
	return dmy, mdy
}

// otherCalendar returns an error for a date whose year is one of the Buddhist calendar today, or which is a day of the Persian or
// the Islamic calendar: of years after 1300, gppl is given few days that are meant as such.
func otherCalendar(text string) error {
	f := dateFormat(text)
	if f == TimeAuto {
		return nil
	}
	read := f
	if f == timeSlashes {
		read = TimeDMY
	}
	calendar, how := "", ""
	t, _, _ := dateOf(text, read)
	switch y := t.Year(); {
	case y >= 2400 && y < 2700:
		calendar, how = "Buddhist", "subtract 543 from the years"
	case y >= 1300 && y < 1500 && periodOf(text) == "":
		calendar, how = "Persian or Islamic", "convert the dates to the Gregorian one"
	default:
		return nil
	}
	return fmt.Errorf("%s looks like a date of the %s calendar: %s, or say CSVOptions.Time: %q if this year is meant",
		quoted(text), calendar, how, read)
}

// dateError is of a text that is no date of a format.
func dateError(text string, f TimeFormat) error {
	if f == TimeISO {
		return fmt.Errorf("%s is not an ISO date", quoted(text))
	}
	if f == timeSlashes {
		f = TimeDMY
	}
	form, _ := formOf(f)
	return fmt.Errorf("%s is not a date written as %s", quoted(text), form.like)
}
