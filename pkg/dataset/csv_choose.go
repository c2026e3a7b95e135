package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// xColumns are the columns that x is made of, in the order of a date: one, as a rule.
type xColumns struct {
	columns []int
	before  []string // what is written before each of them
	after   string
	digits  map[int]int // of some parts, which are filled with zeros
	counted int         // the part that numbers the hours of a day, its minutes or seconds, or its half-hours from 1; 0 for none
	seconds int         // of each of them
}

// text joins the cells of a row to a date.
func (x xColumns) text(cell func(column int) string) (text string) {
	for i, column := range x.columns {
		text += x.before[i] + x.part(i, cell(column))
	}
	return text + x.after
}

// part is what the cell of a part says: with the zeros that fill its digits, the hour, or the time at which a half-hour begins; of those beyond a day, where
// clocks are set back, the last.
func (x xColumns) part(i int, cell string) string {
	if n, err := strconv.Atoi(cell); i > 0 && i == x.counted && err == nil && n >= 0 {
		if x.seconds == halfHour {
			n--
		}
		n = min(x.seconds*n, 24*anHour-x.seconds%anHour)
		return fmt.Sprintf("%02d:%02d:%02d", n/anHour, n/60%60, n%60)
	}
	if len(x.columns) > 1 {
		cell = strings.TrimSuffix(cell, ".0") // as programs write whole numbers where some are missing
	}
	return strings.Repeat("0", max(0, x.digits[i]-len(cell))) + cell
}

func oneColumn(i int) xColumns { return xColumns{columns: []int{i}, before: []string{""}} }

// add takes a further part.
func (x *xColumns) add(column int, before string) {
	x.columns, x.before = append(x.columns, column), append(x.before, before)
}

// partNames are what columns with parts of a date are named.
var partNames = map[string]*regexp.Regexp{
	"year":    regexp.MustCompile(`(?i)^((mmwr|epi|iso)[_ ]?year|year|yr|yyyy|yy|jahr|année|annee|an|año|anno|jaar|ano|år|vuosi|rok|év)$`),
	"month":   regexp.MustCompile(`(?i)^(month|mon|mn|mm|mo|monat|mois|mes|mese|maand|mês|period|måned|månad|kk|kuukausi|miesi[ąa]c|měsíc|mesic|hónap)$`),
	"quarter": regexp.MustCompile(`(?i)^(quarter|qtr|q|quartal|trimestre|kwartaal)$`),
	"week":    regexp.MustCompile(`(?i)^(year|jahr|année|iso|epi|mmwr|date)?[-_ /]?(week|wk|(?-i:kw|KW)|woche|kalenderwoche|semaine|semana|settimana)[-_ /]?(year|jahr|no\.?|nr\.?)?$`),
	"day":     regexp.MustCompile(`(?i)^(day|dd|dy|tag|jour|día|dia|giorno|dag|pv|päivä|dzie[ńn]|den|nap)$`),
	"ordinal": regexp.MustCompile(`(?i)^(doy|jday|yday|julian[ _.]?day|day[ _.]?of[ _.]?(the[ _.]?)?year)$`),
	"half":    regexp.MustCompile(`(?i)^(half([-_ ]?year)?|halbjahr|semester|semestre)$`),
	"hour":    regexp.MustCompile(`(?i)^(hour([ _]?ending)?|hr|hh|stunde|heure|hora|ora|uur)$`),
	"minute":  regexp.MustCompile(`^((?i:minutes?|min|mn|minuut|minuto)|mm)$`),
	"second":  regexp.MustCompile(`(?i)^(seconds?|sec|ss|sekunde|seconde|segundo|secondo)$`),
	"time": regexp.MustCompile(`(?i)^((time|uhrzeit|zeit|heure|hora|ora|tijd)?[-_ ]?(von|from|start|beginn|anfang)|(start|begin|anfangs)[-_ ]?(time|zeit)|` +
		`(time|uhrzeit|zeit|heure|hora|ora|tijd|tid|klo|kello|godzina|čas|hr_?mn|hhmm(ss)?)([-_ ]?\(?(utc|gmt|lst|cet|mez)\)?)?)$`),
}

// numberedMonth is a month as M01.
var numberedMonth = regexp.MustCompile(`^M(0[1-9]|1[0-2])$`)

// counter is what a column that only counts the rows is named.
var counter = regexp.MustCompile(`(?i)^(|unnamed: ?0|index|row|record|id|#|no\.?|nr\.?)$`)

// timeName is the name of a column of times in words, and julianName of Julian dates.
var (
	timeName   = regexp.MustCompile(`(?i)^(x|t|_?times?|time[_ ]?(stamp|period)|date ?time|dates?|[bhmt]*jd([-_ ].*)?|(time|date|t)[-_ ]?[(\[].*)$`)
	julianName = regexp.MustCompile(`(?i)^[bhmt]*jd([-_ ].*)?$`)
)

// errorName is the name of a column of standard deviations.
var errorName = regexp.MustCompile(`(?i)^(d|e|s)_|err|sigma|^(sd|se|std|stdev|unc|uncertainty)($|[-_ ])|[-_ ](sd|se|std|stdev|unc|uncertainty)$`)

// asideName is the name of a column of numbers that are no observations: codes, and parts of a date beside others.
var asideName = regexp.MustCompile(`(?i)^(year|month|week|weekday|day|dates?|hour|quarter|dow|doy|day[ _.]?of[ _.]?(the[ _.]?)?(week|year|month)|week[ _.]?(no|nr|number|of[ _.]?year)|` +
	`jahr|monat|woche|wochentag|(?-i:kw|KW)|tag|stunde|quartal|jour|mois|année|time|uhrzeit|heure|hora|qn_\d+|decimal|ms|milli(second)?s?|lat(itude)?|lon(gitude)?|lng|elevation|altitude|settlement[_ ]?period|elapsed([_ (\[].*)?)$|(^|[_ .-])(id|code|nbr|type)$|typ$`)

// valueName is the name of the column of values among others that say what they are of.
var valueName = regexp.MustCompile(`(?i)^(obs[_ ]?value|_?value|wert|valeur|valor|valore|waarde|värde|wartość|hodnota|verdi|værdi)$`)

// ErrorName reports whether a column is named as one of standard deviations is.
func ErrorName(name string) bool { return errorName.MatchString(name) }

// xOf finds the columns of x where the options name none, by the names and the first row of values. They are year and month, with the day
// and the time of day if there are such columns; year and day of the year, half-year, quarter or week; a date with its time of day or its
// hour; the first date behind a column that counts the rows or has words, or in the place of a y that is not named; the one column named as
// a time; or the first column. Columns that are empty are passed over.
func (s *csvStream) xOf(names, first []string) (x xColumns) {
	if s.wide != nil && s.wide.rest < 0 { // whatever the names of the columns before, as geo\TIME_PERIOD
		return oneColumn(s.wide.from)
	}
	if len(names) > 2 && names[0]+names[1] == "" {
		for _, form := range leadingForms {
			if x, ok := s.leadingParts(form); ok {
				return x
			}
		}
	}
	var used []int
	for i := range names {
		if !s.empty(i) {
			used = append(used, i)
		}
	}
	rows := s.rows()
	if len(used) < 2 || len(used) == len(names) || len(first) < len(names) {
		return xOf(names, first, s.opt.Y == "", rows)
	}
	some := func(row []string) (cells []string) {
		for _, i := range used {
			cells = append(cells, row[i])
		}
		return cells
	}
	var short firstCells
	for _, row := range rows {
		short = append(short, some(row))
	}
	x = xOf(some(names), some(first), s.opt.Y == "", short)
	for k, i := range x.columns {
		x.columns[k] = used[i]
	}
	return x
}

// empty reports whether a column has no name, and no value in the first rows.
func (s *csvStream) empty(i int) bool {
	return len(s.opt.head) > 1 && !slices.ContainsFunc(s.opt.head, func(row []string) bool { return row[i] != "" })
}

// rows are the first rows of values.
func (s *csvStream) rows() firstCells {
	if s.opt.NoHeader || len(s.opt.head) == 0 {
		return s.opt.head
	}
	return s.opt.head[min(1+s.rep.Words, len(s.opt.head)):]
}

// hasNumber reports whether the first value of a column is a number.
func (s *csvStream) hasNumber(first []string, i int) bool {
	for _, row := range s.rows() {
		if cell := row[i]; !s.isMissing([]byte(cell)) {
			return isNumber(cell)
		}
	}
	return isNumber(first[i])
}

// firstCells are the cells of the first rows of values.
type firstCells [][]string

// constant reports whether a column has one value.
func (rows firstCells) constant(i int) bool {
	return len(rows) >= fewestDates && !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != rows[0][i] })
}

const many = 20 // of the first rows

// blank reports whether a column has nothing in many rows, or a mark as -> that is no value.
func (rows firstCells) blank(i int) bool {
	value := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return len(rows) >= many && !strings.ContainsFunc(rows[0][i], value) && rows.constant(i)
}

// code reports whether a column has one whole number in many rows, as that of a station, of several digits or with a zero before: rain may be 0, and a price 5.
func (rows firstCells) code(i int) bool {
	const digits = 3
	return len(rows) >= many && rows.constant(i) && isWhole(rows[0][i]) && (len(rows[0][i]) >= digits || len(rows[0][i]) > 1 && rows[0][i][0] == '0')
}

// fullest returns the first of the rows with the fewest empty cells, or the row that is first if none has fewer: rows above may be about the device.
func (rows firstCells) fullest(first []string) []string {
	empty := func(row []string) (n int) {
		for _, cell := range row {
			if cell == "" {
				n++
			}
		}
		return n
	}
	for _, row := range rows {
		if empty(row) < empty(first) {
			first = row
		}
	}
	return first
}

// repeats reports whether a row has the value of the one above it in a column.
func (rows firstCells) repeats(i int) bool {
	for r := 1; r < len(rows); r++ {
		if rows[r][i] == rows[r-1][i] {
			return true
		}
	}
	return false
}

// wanders reports whether the numbers of a column go up and down.
func (rows firstCells) wanders(i int) bool {
	up, down := false, false
	for r := 1; r < len(rows); r++ {
		before, err := ParseNumber(rows[r-1][i])
		v, bad := ParseNumber(rows[r][i])
		if err != nil || bad != nil {
			return false
		}
		up, down = up || v > before, down || v < before
	}
	return up && down
}

const halfHour, anHour = 1800, 3600 // seconds

// hourly is the name of a column that may number hours, or none: 24 shops are not the hours of a day.
var hourly = regexp.MustCompile(`(?i)^(|no\.?|nr\.?|h[er]?|std\.?|(time )?period|interval(l|lo)?|.*(hour|stunde|heure|hora|uur|ora|timme|godzina).*)$`)

// dayParts returns the seconds of what a column numbers for the days in another column: half-hours from 1, 46, 48 or 50 as clocks are changed, or hours from 0, or from
// 1, 23, 24 or 25. It is 0 for other columns, and where the rows do not go on to a second day.
func (rows firstCells) dayParts(i, days int) (seconds int) {
	var before, from int
	for r, row := range rows {
		n, err := strconv.Atoi(row[i])
		switch newDay := r > 0 && row[days] != rows[r-1][days]; {
		case err != nil:
			return 0
		case r == 0:
			from = min(n, 1)
		case newDay && n == from:
			of := 0
			switch before + 1 - from {
			case 24:
				of = anHour
			case 23, 25:
				of = anHour * from
			case 46, 48, 50:
				of = halfHour * from
			}
			if of == 0 || seconds > 0 && of != seconds {
				return 0
			}
			seconds = of
		case newDay || n != before+1:
			return 0
		}
		before = n
	}
	return seconds
}

// ofDay are names of columns that count from the beginning of a day, by the seconds of what they count.
var ofDay = map[int]*regexp.Regexp{
	1:  regexp.MustCompile(`(?i)^(?:s|secs?|seconds?|sekunden?|secondes|segundos)([ _.](?:of|past|since|after|des|seit|du|del)[ _.].*)?$`),
	60: regexp.MustCompile(`(?i)^(?:mins?|minutes?|minuten?|minutos)([ _.](?:of|past|since|after|des|seit|du|del)[ _.].*)?$`),
}

// sinceMidnight returns the column that counts the seconds or minutes of each day of another column, and how many seconds one is; -1 if there is none. Those of a
// minute or of an hour are not above 59.
func (rows firstCells) sinceMidnight(names []string, days int) (column, seconds int) {
	for i, name := range names {
		for unit, named := range ofDay {
			m := named.FindStringSubmatch(name)
			most, before := 0, -1
			for r := 0; r < len(rows) && m != nil; r++ {
				if r > 0 && rows[r][days] != rows[r-1][days] {
					before = -1
				}
				n, err := strconv.Atoi(rows[r][i])
				if err != nil || n <= before || n*unit > 24*anHour {
					m = nil
				}
				most, before = max(most, n), n
			}
			if m != nil && (most > 59 || m[1] != "") && rows.repeats(days) {
				return i, unit
			}
		}
	}
	return -1, 0
}

// leadingForm is a year and smaller parts of a date, down to the minute, in the first columns: what is written before each and after the last, and how many there are at least.
type leadingForm struct {
	before, after []string
	fewest        int
}

// leadingForms have the month, or the day of the year and the hour as the OMNI data of NASA.
var leadingForms = []leadingForm{
	{[]string{"", "-", "-", " ", ":"}, []string{"-1", "", "", ":00", ""}, 2},
	{[]string{"", "-D", "T", ":"}, []string{"-D1", "", ":00", ""}, 3},
}

// leadingParts returns the first columns, which have no names, if they hold the parts of a form: months that follow one another by equal steps, or times that
// ascend.
func (s *csvStream) leadingParts(form leadingForm) (x xColumns, ok bool) {
	rows := s.rows()
	for n := 1; n <= len(form.before) && len(rows) >= fewestDates && n < len(rows[0]); n++ {
		x = xColumns{columns: timeline.Range(0, n), before: form.before[:n], after: form.after[n-1], digits: map[int]int{len(form.before) - 1: 2}}
		var by steps
		for _, row := range rows {
			t, _, ok := dateOf(x.text(func(column int) string { return row[column] }), TimeISO)
			if !ok || !isWhole(row[n-1]) {
				return x, false
			}
			by.add(t)
		}
		switch {
		case n >= form.fewest && (n == 2 && by.alike() || n > 2 && by.oneWay()):
			return x, true
		case by.oneWay(): // what follows need not be parts
			return x, false
		}
	}
	return x, false
}

// ymdParts are year, month and day.
const ymdParts = 3

// decimalYears reports whether a column has the year of x with the fraction that has passed.
func (s *csvStream) decimalYears(i int, x xColumns) bool {
	if len(x.columns) == 1 {
		return false
	}
	rows := s.rows()
	return len(rows) >= fewestDates && !slices.ContainsFunc(rows, func(row []string) bool {
		year, _, fraction := strings.Cut(row[i], ".")
		return !fraction || year != row[x.columns[0]] || strings.Trim(year, "0123456789") != ""
	})
}

// passesWords reports whether y is not looked for in a column of words, as labels of rows are: the first rows have different x, so that they may
// be one series. Words that tell the rows of an x apart are those of several.
func (s *csvStream) passesWords(x xColumns) bool {
	rows := s.rows()
	met := map[string]bool{}
	with := 0 // an x
	for _, row := range rows {
		if row[x.columns[0]] != "" {
			met[x.text(func(column int) string { return row[column] })] = true
			with++
		}
	}
	return s.opt.PassLabels && len(s.opt.Keys) == 0 && with >= fewestDates && len(met) == with
}

// levels returns the name of a column of words, no days or months, whose texts alternate in the first rows, each with a level of its own: y is much closer to
// the last with the same text than to the one above, as of two devices that take turns. It is "" if there is none.
func (s *csvStream) levels(names []string) string {
	const fewest, closer = 5, 3.0 // rows of a text in the mean, and times
	rows := s.rows()
	for i, name := range names {
		last := map[string]float64{}
		own, others, turns := 0.0, 0.0, 0
		for r, row := range rows {
			kind, _ := timeNamed(row[i])
			y, ok := s.numberX([]byte(row[s.rep.Y]))
			if !ok || kind != "" || !s.isLabel(row[i]) {
				turns = 0
				break
			}
			before, met := last[row[i]]
			if last[row[i]] = y; r == 0 || row[i] == rows[r-1][i] || !met {
				continue
			}
			above, _ := s.numberX([]byte(rows[r-1][s.rep.Y]))
			own, others, turns = own+math.Abs(y-before), others+math.Abs(y-above), turns+1
		}
		if name != "" && len(last) > 1 && fewest*len(last) <= len(rows) && 3*turns >= len(rows) && others > closer*own {
			return name
		}
	}
	return ""
}

// isLabel reports whether a cell is words, and no number, date or missing value.
func (s *csvStream) isLabel(cell string) bool {
	_, truth := truthOf(cell)
	return strings.ContainsFunc(cell, unicode.IsLetter) && !isNumber(cell) && dateFormat(cell) == TimeAuto && !truth && !s.isMissing([]byte(cell)) && !infinite.MatchString(cell)
}

// counts reports whether a column counts the rows, by its name and the first of them, or by more of them.
func (s *csvStream) counts(names []string, i int) bool {
	fewest := likeRows / 5
	if counter.MatchString(names[i]) {
		fewest = likeRows / 10
	}
	if names[i] == "" || len(s.opt.head) < fewest {
		return false
	}
	last, any := 0, false // numbers so far
	for _, row := range s.opt.head[1:] {
		switch n, err := strconv.Atoi(row[i]); {
		case err != nil && !any: // a row of words
		case err != nil || any && n != last+1 || !any && n > 1:
			return false
		default:
			last, any = n, true
		}
	}
	return any
}

// clockDigits and secondDigits are those of a time of day without a sign: 1430, 143059.
const clockDigits, secondDigits = 4, 6

func isDigits(cell string) bool {
	return cell != "" && len(cell) <= secondDigits && strings.Trim(cell, "0123456789") == ""
}

// digitClocks returns how many digits the times of day in the first rows of a column have without a sign, where leading zeros may lack: four, of
// which some have more than two, as 0, 30, 100, 2330, or six; 0 if they are none.
func (rows firstCells) digitClocks(i int) (digits int) {
	long := 0
	for _, row := range rows {
		long = max(long, len(row[i]))
	}
	unit := 1 // of a minute
	if digits = clockDigits; long > clockDigits {
		digits, unit = secondDigits, 100
	}
	for _, row := range rows {
		if n, err := strconv.Atoi(row[i]); row[i] != "" && (err != nil || !isDigits(row[i]) || n/unit/100 > 23 || n/unit%100 > 59 || n%unit > 59) {
			return 0
		}
	}
	if long <= 2 {
		return 0
	}
	return digits
}

// xOf is that of a table without empty columns. anyY says that y is not named.
func xOf(names, first []string, anyY bool, rows firstCells) xColumns {
	if len(first) < len(names) || len(names) < 2 {
		return oneColumn(0)
	}
	part := func(name string, fits func(cell string) bool) int {
		for i, n := range names {
			if partNames[name].MatchString(n) && fits(first[i]) {
				return i
			}
		}
		return -1
	}
	date := -1
	for i, cell := range first[:len(names)] {
		if date >= 0 && !rows.constant(date) {
			break
		}
		if (date < 0 || !rows.constant(i)) && dateFormat(cell) != TimeAuto {
			date = i // the date of a download is that of all rows
		}
	}
	within := func(lo, hi int) func(cell string) bool {
		return func(cell string) bool {
			n, err := strconv.Atoi(strings.TrimSuffix(cell, ".0"))
			return err == nil && n >= lo && n <= hi
		}
	}
	if date < 0 && len(names) > 2 && names[0]+names[1] == "" && within(1000, 2999)(first[0]) { // as Destatis writes them
		if monthOf(first[1]) > 0 && len(first[1]) > 2 {
			return xColumns{columns: []int{0, 1}, before: []string{"", "-"}}
		}
		if f := dateFormat(first[1] + " " + first[0]); f == TimeQuarter || f == TimeHalf || f == TimeWeek {
			return xColumns{columns: []int{1, 0}, before: []string{"", " "}}
		}
	}
	hours := func(x *xColumns, before string) { // the time of day, if there are columns of it
		if hour := part("hour", within(0, 23)); hour >= 0 {
			x.add(hour, before)
			x.clock(part("minute", within(0, 59)), part("second", within(0, 59)))
		}
	}
	if year := part("year", within(1000, 2999)); date < 0 && year >= 0 {
		if month := part("month", func(cell string) bool {
			return within(1, 12)(cell) || monthOf(cell) > 0 && len(cell) > 2 || numberedMonth.MatchString(cell)
		}); month >= 0 {
			x := xColumns{columns: []int{year, month}, before: []string{"", "-"}}
			if day := part("day", within(1, 31)); day >= 0 {
				x.add(day, "-")
				if hours(&x, " "); len(x.columns) == ymdParts {
					if clocks := part("time", clock.MatchString); clocks >= 0 {
						x.add(clocks, " ")
					}
				}
			}
			return x
		}
		for _, of := range []struct {
			name, sign string
			most       int
		}{{"quarter", "Q", 4}, {"week", "W", 53}, {"half", "H", 2}, {"ordinal", "D", 366}} {
			i := part(of.name, func(cell string) bool {
				if whole, _, fraction := strings.Cut(cell, "."); fraction && of.name == "ordinal" { // a part of the day behind it
					cell = whole
				}
				return within(1, of.most)(strings.TrimPrefix(strings.ToUpper(cell), of.sign))
			})
			if i < 0 {
				continue
			}
			x := xColumns{columns: []int{year, i}, before: []string{"", "-" + of.sign}}
			if strings.HasPrefix(strings.ToUpper(first[i]), of.sign) {
				x.before[1] = "-"
			}
			if of.name == "ordinal" {
				hours(&x, "T")
			}
			return x
		}
		ordinary := func(cell string) bool {
			f := dateFormat(cell + " " + first[year])
			return f == TimeQuarter || f == TimeHalf || f == TimeWeek
		}
		for _, name := range []string{"quarter", "half", "week"} { // 1. Quartal
			if i := part(name, ordinary); i >= 0 {
				return xColumns{columns: []int{i, year}, before: []string{"", " "}}
			}
		}
	}
	if date < 0 {
		for i, name := range names {
			if century := rows.shortDays(i, dateName.MatchString(name) || partNames["day"].MatchString(name)); century != "" && (i == 0 || name != "") {
				x := xColumns{columns: []int{i}, before: []string{century}, after: " 00:00"}
				if hour := part("hour", within(0, 24)); hour >= 0 {
					x.add(hour, " ")
					x.after = ":00"
				}
				return x
			}
		}
		at := namedTime(names, first, rows)
		number := func(i int) bool { v, err := ParseNumber(first[i]); return err == nil && MayBeDate(v) }
		if x, ok := digitDate(first, part("time", func(cell string) bool { return clock.MatchString(cell) || isDigits(cell) }), rows); ok {
			return x
		}
		aside := anyY || !isNumber(first[0]) || rows.constant(0) // the first column
		for i := 1; i < len(names)-1 && at == 0 && aside && !timeName.MatchString(names[0]) && !number(0); i++ {
			if dateName.MatchString(names[i]) && number(i) || rows.digitDates(i) != "" {
				at = i
			}
		}
		return oneColumn(at)
	}
	counts := counter.MatchString(names[0]) && within(0, 1)(first[0])
	words := strings.ContainsFunc(first[0], unicode.IsLetter) && !isNumber(first[0])
	instead := date == 1 && anyY && len(names) > 2  // no date is a y
	known := rows.wanders(0) && !rows.repeats(date) // by the dates, and not by the first column
	if date > 0 && !counts && !words && !instead && !rows.constant(0) && !known && namedTime(names, first, rows) != date {
		return oneColumn(0)
	}
	if day := part("day", within(1, 31)); day >= 0 && periodOf(first[date]) == "month" && rows.repeats(date) { // 2020-01 and 5
		if _, _, ok := dateOf(first[date]+"-"+first[day], TimeISO); ok {
			return xColumns{columns: []int{date, day}, before: []string{"", "-"}}
		}
		return xColumns{columns: []int{day, date}, before: []string{"", " "}}
	}
	x := oneColumn(date)
	if strings.Contains(first[date], ":") {
		return x
	}
	if next := date + 1; next < len(names) && clock.MatchString(first[next]) && (names[date]+names[next] == "" || rows.constant(next) || rows.repeats(date)) {
		x.add(next, " ")
	} else if digits := part("time", isDigits); digits >= 0 && rows.digitClocks(digits) > 0 {
		x.add(digits, " ")
		x.digits = map[int]int{1: rows.digitClocks(digits)}
	} else if clocks := max(part("time", clock.MatchString), part("hour", clock.MatchString)); clocks >= 0 {
		x.add(clocks, " ")
	} else if hour := part("hour", within(0, 24)); hour >= 0 {
		x.add(hour, " ")
		x.after = ":00"
	} else if next < len(names) && names[next] == "" && rows.digitClocks(next) > 0 && rows.repeats(date) {
		x.add(next, " ")
		x.digits = map[int]int{1: rows.digitClocks(next)}
	} else if at, unit := rows.sinceMidnight(names, date); at >= 0 {
		x.counted, x.seconds = len(x.columns), unit
		x.add(at, " ")
	} else if next < len(names) {
		if x.seconds = rows.dayParts(next, date); x.seconds == halfHour || x.seconds > 0 && hourly.MatchString(names[next]) {
			x.counted = len(x.columns)
			x.add(next, " ")
		}
	}
	return x
}

// digitDates returns the format of the dates that a column has as digits in the first rows: 20240131, 01.2024 and so on; "" for others.
func (rows firstCells) digitDates(i int) (f TimeFormat) {
	rows = rows[:min(many, len(rows))] // below may be words
	for _, d := range numberDates {
		if d.perSecond == 0 && len(rows) >= fewestDates && !slices.ContainsFunc(rows, func(row []string) bool { v, err := ParseNumber(row[i]); return err != nil || !d.likely(v) }) {
			f = d.format
		}
	}
	return f
}

// shortDays returns the century of a column of days written 240131, as the German office for roads writes them; "" for other columns. Where no name says that they are days, their steps are
// equal, and those of the numbers are not.
func (rows firstCells) shortDays(i int, named bool) (century string) {
	var days, numbers steps
	for _, row := range rows {
		of := "20"
		if row[i] >= "69" {
			of = "19"
		}
		if len(row[i]) != len("240131") || !isDay(of+row[i]) || century != "" && of != century {
			return ""
		}
		day, _ := time.Parse("20060102", of+row[i])
		v, _ := strconv.Atoi(row[i])
		days.add(day)
		numbers.add(time.Unix(int64(v), 0))
		century = of
	}
	if !named && !(days.equal() && !numbers.equal()) {
		return ""
	}
	return century
}

// digitDate returns the columns of a date written 20240131 and of the time of day behind it.
func digitDate(first []string, at int, rows firstCells) (x xColumns, ok bool) {
	if at < 1 {
		return x, false
	}
	signed := clock.MatchString(first[at])
	if !isDay(first[at-1]) || !signed && rows.digitClocks(at) == 0 {
		return x, false
	}
	if x = (xColumns{columns: []int{at - 1, at}, before: []string{"", " "}}); !signed {
		x.digits = map[int]int{1: rows.digitClocks(at)}
	}
	return x, true
}

// clock adds columns of minutes and seconds behind that of hours, if there are any.
func (x *xColumns) clock(minute, second int) {
	if x.after = ":00"; minute < 0 {
		return
	}
	x.digits, x.after = map[int]int{}, ""
	for _, column := range []int{minute, second} {
		if column < 0 {
			return
		}
		x.digits[len(x.columns)] = 2
		x.add(column, ":")
	}
}

// namedTime returns the one column of numbers or dates that is named as a time, or the first of several behind a constant column, where the first
// is not; else the first.
func namedTime(names, first []string, rows firstCells) (at int) {
	isTime := func(i int) bool {
		date := dateFormat(first[i]) != TimeAuto
		return (timeName.MatchString(names[i]) || partNames["year"].MatchString(names[i]) || partNames["day"].MatchString(names[i])) && (isNumber(first[i]) || date) ||
			dateName.MatchString(names[i]) && date
	}
	if isTime(0) {
		return 0
	}
	for i := range names {
		switch {
		case isTime(i) && at > 0 && rows.constant(0):
			return at
		case isTime(i) && at > 0:
			return 0
		case isTime(i):
			at = i
		}
	}
	return at
}

// isKey reports whether a column tells series apart.
func (s *csvStream) isKey(names []string, i int) bool {
	return slices.ContainsFunc(s.opt.Keys, func(spec string) bool {
		j, err := column(names, spec, len(names)+1)
		return err == nil && j == i
	})
}

// TextColumnError is the error of a y that no option names and whose first value is words, where a column behind it begins with a number.
type TextColumnError struct {
	Column  string // its name, quoted, and number
	Name    string // or its number
	Cell    string
	Numbers string // the name of the column behind it, or its number
}

func (e *TextColumnError) Error() string {
	numbers := e.Numbers
	if !isWhole(numbers) {
		numbers = fmt.Sprintf("%q", numbers)
	}
	return fmt.Sprintf("y: %s begins with %q, no number, and CSVOptions.Y names no other column, such as %s%s", e.Column, e.Cell, numbers, missingHint)
}

// eventsAdvice is about rows without a number.
const eventsAdvice = "if each row is an event, write a file with the number of events of each day or hour, zeros included"

// checkText returns a TextColumnError if the first value of y is words.
func (s *csvStream) checkText(names, first []string) error {
	if len(first) < len(names) || !s.isLabel(first[s.rep.Y]) || !unicode.IsLetter(firstRune(first[s.rep.Y])) {
		return nil
	}
	number := func(row []string) bool {
		for i, cell := range row {
			if aside := i == s.rep.X || counter.MatchString(names[i]) || asideName.MatchString(names[i]); !aside && isNumber(cell) && dateFormat(cell) == TimeAuto {
				return true
			}
		}
		return false
	}
	dated := dateFormat(first[s.rep.X]) != TimeAuto
	if rows := s.rows(); dated && len(names) > 2 && len(rows) >= fewestDates && !slices.ContainsFunc(rows, number) {
		return fmt.Errorf("y: no column has numbers for it, and %s begins with %s (%s)", columnName(names, s.rep.Y), quoted(first[s.rep.Y]), eventsAdvice)
	}
	for i := s.rep.Y + 1; i < len(names); i++ {
		if _, err := strconv.ParseFloat(first[i], 64); err == nil && !s.isKey(names, i) {
			return &TextColumnError{columnName(names, s.rep.Y), cmp.Or(names[s.rep.Y], strconv.Itoa(s.rep.Y+1)), first[s.rep.Y], cmp.Or(names[i], strconv.Itoa(i+1))}
		}
	}
	return nil
}

var spacedYear = regexp.MustCompile(`^\pL+\.? \d{2}$`)

// choose finds the columns by the options, the names and the first row of values.
func (s *csvStream) choose(names, first []string) (err error) {
	s.rep.Columns = names
	s.rep.Years = s.opt.years
	for i := range s.opt.merged {
		s.rep.Merged = append(s.rep.Merged, columnName(names, i))
	}
	if slices.ContainsFunc(s.opt.head, func(row []string) bool { return len(row) < len(names) }) {
		s.opt.head = nil // its rows are split otherwise, at a remark
	}
	x := s.xOf(names, first)
	if len(x.columns) == 1 && s.isKey(names, x.columns[0]) {
		if at := slices.IndexFunc(names, func(name string) bool { return !s.isKey(names, slices.Index(names, name)) }); at >= 0 {
			x = oneColumn(at)
		}
	}
	var wrong severalErrors
	if s.rep.X, err = column(names, s.opt.X, x.columns[0]+1); err != nil {
		wrong = append(wrong, fmt.Errorf("x: %w", err))
	}
	y := len(names) // of a wide table
	if s.wide == nil {
		y = s.yOf(names, first, x)
	}
	if s.rep.Y, err = column(names, s.opt.Y, y); err != nil {
		wrong = append(wrong, fmt.Errorf("y: %w", err))
	}
	if err == nil && s.opt.Y == "" {
		if err := s.checkText(names, first); err != nil {
			wrong = append(wrong, err)
		}
	}
	if s.opt.X != "" || slices.Contains(x.columns, s.rep.Y) {
		x = oneColumn(s.rep.X)
	}
	if wrong == nil && s.passesWords(x) {
		s.rep.Levels = s.levels(names)
	}
	if len(x.columns) == 1 && s.opt.Time == TimeAuto {
		s.sign = s.periodSign(names[s.rep.X], s.rep.X)
	}
	if len(first) >= len(names) {
		text := withSign(s.sign, x.text(func(column int) string { return first[column] }))
		s.rep.Period, s.spaced = periodOf(text), spacedYear.MatchString(text)
		if err := otherCalendar(text); err != nil && s.opt.Time == TimeAuto {
			wrong = append(wrong, fmt.Errorf("%s: %w", columnName(names, s.rep.X), err))
		}
	}
	s.places = make([]int, len(names))
	for i := range s.places {
		s.places[i] = -1
	}
	place := func(column int) int {
		if s.places[column] < 0 {
			s.places[column] = len(s.columns)
			s.columns = append(s.columns, column)
		}
		return s.places[column]
	}
	s.x, s.parts = place(s.rep.X), x
	for i, column := range x.columns {
		s.parts.columns[i] = place(column)
	}
	s.y = place(s.rep.Y)
	for k, spec := range slices.Concat(s.opt.Also, s.opt.Keys) {
		switch i, err := column(names, spec, len(names)+1); {
		case err != nil:
			wrong = append(wrong, err)
		case k < len(s.opt.Also):
			s.also = append(s.also, place(i))
			s.more.Columns, s.more.Names = append(s.more.Columns, i), append(s.more.Names, names[i])
		default:
			s.searched = append(s.searched, i)
		}
	}
	if wrong != nil {
		return wrong.one()
	}
	for _, i := range s.searched {
		s.keys = append(s.keys, keyColumn{place: place(i), of: map[string]int32{}})
		s.more.KeyColumns = append(s.more.KeyColumns, i)
	}
	s.numbers.named, s.numbers.counts = dateName.MatchString(names[s.rep.X]), names[s.rep.X] != "" && counter.MatchString(names[s.rep.X])
	s.styles, s.finders = make([]numberStyle, len(s.columns)), make([]styleFinder, len(s.columns))
	if s.opt.Time != TimeAuto {
		s.format(s.opt.Time)
	}
	return nil
}

// errorOf is what the name of a column of standard deviations has beside that of the values: mag_err, magerr, e_mag.
var errorOf = regexp.MustCompile(`(?i)^(d|e|s|err|error|sigma|unc)[-_ ]|[-_ ]?(err|error|sigma|sd|se|std|stdev|unc|uncertainty)$`)

// withErrors are the names of columns, in small letters, of which another is named as their standard deviations.
func withErrors(names []string) map[string]bool {
	of := map[string]bool{}
	for _, name := range names {
		if errorName.MatchString(name) {
			of[strings.ToLower(errorOf.ReplaceAllString(name, ""))] = true
		}
	}
	delete(of, "")
	return of
}

// yOf numbers the column of y where the options name none, from 1: the first behind x that has standard deviations, else the one behind x, or the first where x is the last; but no key, and no
// standard deviations, date, code, part of a date or empty column where another column has numbers, nor a time of day if x has one.
func (s *csvStream) yOf(names, first []string, x xColumns) int {
	y := 2
	switch behind := slices.Max(x.columns) + 1; {
	case s.opt.X == "" && len(x.columns) == len(names) && len(names) > 1: // a date and what is no time of day, then
		return len(names)
	case s.opt.X == "" && behind > 1 && behind < len(names):
		y = behind + 1
	case s.opt.X == "" && behind > 1:
		y = 1
		for y < len(names)-1 && (counter.MatchString(names[y-1]) || len(first) >= len(names) && !isNumber(first[y-1])) {
			y++
		}
	case s.opt.X != "" && s.rep.X == 1 && len(names) > 2:
		y = 3
	}
	timed := len(first) >= len(names) && strings.Contains(x.text(func(column int) string { return first[column] }), ":")
	may := func(y int) bool {
		if s.isKey(names, y-1) || s.empty(y-1) || s.counts(names, y-1) || s.rows().code(y-1) {
			return false
		}
		if len(first) < len(names) {
			return true
		}
		cell := first[y-1]
		_, plain := decimal([]byte(cell))
		isTime := !plain && (dateFormat(cell) != TimeAuto || timed && clock.MatchString(cell)) || s.decimalYears(y-1, x) || julianName.MatchString(names[y-1]) ||
			s.rows().digitDates(y-1) != "" && s.rows().digitDates(x.columns[0]) == s.rows().digitDates(y-1)
		return !errorName.MatchString(names[y-1]) && !isTime && !asideName.MatchString(names[y-1]) && !isTruth(cell)
	}
	passes := s.passesWords(x) && len(first) >= len(names)
	if i := slices.IndexFunc(names, valueName.MatchString); passes && i >= 0 && y <= len(names) && (s.isLabel(first[y-1]) || s.rows().constant(y-1)) &&
		(isNumber(first[i]) || s.isMissing([]byte(first[i]))) && !slices.Contains(x.columns, i) {
		return i + 1
	}
	sure := withErrors(names)
	for i := y; i <= len(names) && len(first) >= len(names); i++ {
		if sure[strings.ToLower(names[i-1])] && may(i) && s.hasNumber(first, i-1) && !slices.Contains(x.columns, i-1) {
			return i
		}
	}
	for i := y; i <= len(names); i++ {
		if passes && s.isLabel(first[i-1]) {
			continue
		}
		if may(i) && (i == y && !s.rows().blank(i-1) || s.isKey(names, y-1) || s.hasNumber(first, i-1)) && !slices.Contains(x.columns, i-1) {
			return i
		}
	}
	for i := 1; i < y && s.opt.X == "" && len(first) >= len(names); i++ { // before x
		if may(i) && s.hasNumber(first, i-1) && !slices.Contains(x.columns, i-1) && !counter.MatchString(names[i-1]) {
			return i
		}
	}
	for y < len(names) && (s.isKey(names, y-1) || s.empty(y-1)) {
		y++
	}
	return y
}

// x is the text of x in a row: nothing if a part of it is missing.
func (r *rowScanner) x() []byte {
	p := r.s.parts
	if len(p.columns) == 1 && p.before[0] == "" {
		text := trim(r.fields[r.s.x])
		if r.s.sign != "" {
			text = []byte(withSign(r.s.sign, string(text)))
		}
		return text
	}
	r.joined = r.joined[:0]
	for i, place := range p.columns {
		cell := trim(r.fields[place])
		if r.s.isMissing(cell) {
			return nil
		}
		r.joined = append(append(r.joined, p.before[i]...), p.part(i, string(cell))...)
	}
	r.joined = append(r.joined, p.after...)
	return r.joined
}

// firstRow returns the cells of the first row below the header. It stays in b, which holds it whole.
func (s *csvStream) firstRow(blocks *rowSplitter, b *textBlock) ([]string, error) {
	var row quotedRow
	for at := 0; ; {
		for at == len(b.text) {
			next, err := blocks.next()
			if err == io.EOF {
				return nil, nil
			} else if err != nil {
				return nil, err
			}
			b.text, b.index, b.quotes = append(b.text, next.text...), next.index, b.quotes || next.quotes
		}
		line, _, _ := bytes.Cut(b.text[at:], newline)
		if s.skips(line) || len(bytes.TrimSpace(line)) == 0 {
			at += min(len(line)+1, len(b.text)-at)
			continue
		}
		if _, failure := row.read(b.text[at:], s.comma); failure != nil {
			return nil, nil // the error of this row
		}
		cells := make([]string, len(row.ends))
		for i := range cells {
			cells[i] = cellText(trim(row.field(i)))
		}
		return cells, nil
	}
}
