package series

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Messages returns Lead (with an empty Format if there is none) and Notes, for a program that names settings in its own words.
func (s *Series) Messages() (lead dataset.Message, notes []dataset.Message) {
	a, n := s.Axis, len(s.X)
	spacing := "every " + strings.TrimPrefix(a.Length(s.Step), "1 ")
	switch {
	case s.Even && !a.Dates && a.Unit == "":
		spacing = a.Length(s.Step) + " apart"
	case !s.Even:
		spacing = "unevenly spaced, " + a.Length(s.Step) + " apart in the median"
	case a.Months == 1, a.Monthly && s.Even:
		spacing = "every month"
	case a.Period == "week" && s.Even && a.Length(s.Step) == "7 days":
		spacing = "every week"
	case a.Months == 3:
		spacing = "every quarter"
	case a.Months == 12:
		spacing = "every year"
	case a.Months > 0:
		spacing = fmt.Sprintf("every %d months", a.Months)
	}
	say := func(format string, args ...any) { notes = append(notes, message(format, args...)) }
	say("%d observations of %s from %s to %s, %s.", n, s.YLabel(), a.TableText(s.X[0]), a.TableText(s.X[n-1]), spacing)
	if s.Student != nil && s.Errors != nil {
		say("%s", s.Student.note(s.Errors))
	} else if s.Errors != nil {
		of := "standard deviations of the observations"
		if s.Relative {
			of = "errors of the observations relative to one another"
		}
		say("%s has the %s, from %.4g to %.4g. For new observations the bands assume the median, %.4g.",
			s.ErrorName, of, slices.Min(s.Errors), slices.Max(s.Errors), numeric.UpperMedian(s.Errors))
	}
	if s.closed != nil && s.Known == nil {
		say("%s", s.closed.note())
	}
	if s.Known != nil {
		where := fmt.Sprintf("up to %s, %s ahead", a.TableText(s.Known.X[len(s.Known.X)-1]), text.Count(len(s.Ahead()), "step"))
		if len(s.Ahead()) == 0 {
			where = "at the observations only: there can be no forecast"
		}
		say("Regressors: %s, known %s.%s", strings.Join(s.Known.Names, ", "), where, s.Known.note())
	}
	if s.Holidays != nil {
		say("%s", s.Holidays.note())
	}
	if s.MonthDays != nil {
		say("%s", s.MonthDays.note())
	}
	if len(s.Events) > 0 {
		say("%s", eventNote(s.Events))
	}
	if s.Counting != nil {
		notes = append(notes, s.Counting.note(s.YName))
	}
	if b := s.Bounds; b != nil {
		note := message("%s", b.note(s.YName, s.Y))
		if b.Because != "" {
			note = message("%s %v models them as any other values.", b.note(s.YName, s.Y),
				dataset.Setting{Field: "Likelihood", Value: "gaussian"})
		}
		notes = append(notes, note)
	}
	if k := s.Source.Skipped - s.Source.Ahead; k > 0 {
		say("%s without a value %s left out.", text.Count(k, "row"), text.Was(k))
	}
	if k := s.Source.Dropped; k > 0 {
		say("Only the last %d observations are used; %d earlier ones are left out.", n, k)
	}
	if k := s.Source.Copies; k > 0 {
		say("%s of %d %s of others, with the same x and y, as a join or a file read twice leaves them: each row counts once.",
			text.Count(k, "row"), s.Source.Rows-s.Source.Skipped, text.Choose(k, "is an exact copy", "are exact copies"))
	}
	if k := len(s.Gaps); k > 0 {
		said := fmt.Sprintf("%s,%s from %s to %s", text.Count(k, "gap"), text.Choose(k, "", " the longest"),
			a.TableText(s.Gaps[0].From), a.TableText(s.Gaps[0].To))
		if s.Even {
			said += fmt.Sprintf("; %s would fill them", text.Count(s.Absent, "observation"))
		}
		say("%s. Gaps need not be filled.", said)
	}
	switch k, distinct := len(s.Duplicates), distinct(s.X); {
	case k > distinct/2:
		say("%d of the %d values of x are repeated, the first at %s, and all rows are modelled as one series. "+
			"If a column tells several series apart, %v takes it; "+
			"if the time is spread over several columns, combine them into one.",
			k, distinct, a.TableText(s.Duplicates[0]), dataset.Setting{Field: "By"})
	case k > 0:
		say("%s of x %s repeated, the first at %s. Every observation is used.",
			text.Count(k, "value"), text.Are(k), a.TableText(s.Duplicates[0]))
	}
	codes, _, _ := codesIn(s.Y)
	if from, to, ok := s.Stuck(); ok && len(codes) == 0 {
		say("%d observations from %s to %s are all %v, where others seldom repeat: "+
			"if the sensor was stuck, or a gap was filled, leave their values empty.",
			to-from+1, a.TableText(s.X[from]), a.TableText(s.X[to]), s.Y[to])
	}
	if s.neverFalls() {
		say("%s never falls. If it is a running total, such as cases to date or a meter's reading, "+
			"its bands do not know that and may reach below the last value: forecast what each step adds to it.", s.YName)
	}
	if k := s.Source.Unsorted; k > 0 {
		say("%s out of order %s sorted by x.", text.Count(k, "row"), text.Was(k))
	}
	lead, _ = s.Suspect()
	return lead, append(notes, s.remarks...)
}

// Notes returns sentences that a reader should know besides Lead: the extent, and what is missing, repeated or out of order.
func (s *Series) Notes() (notes []string) {
	_, all := s.Messages()
	for _, m := range all {
		notes = append(notes, m.String())
	}
	return notes
}

// Remarks returns sentences about what may be wrong with how a file was read, the same for [Read] and [Stream].
func Remarks(rep dataset.CSVReport) (remarks []dataset.Message) {
	say := func(holds bool, format string, args ...any) {
		if holds {
			remarks = append(remarks, message(format, args...))
		}
	}
	x, y := rep.Columns[rep.X], rep.Columns[rep.Y]
	say(isValue(x) && isValue(y),
		"The first line, with %s and %s, was read as the header. If it is data, add %v.", x, y,
		dataset.Setting{Field: "NoHeader"})
	x, y = cmp.Or(x, "x"), cmp.Or(y, "y")
	say(rep.Headless, "The file has no header: its first line is a row like the others, and was read as data.")
	say(rep.Passed != "", "y is %s: %s rises as %s does, and is another time; %v takes it.", y, rep.Passed, x,
		dataset.Setting{Field: "Y", Value: rep.Passed})
	say(rep.DecimalComma, "%s is read with a decimal comma; %v reads it with a point.", y, dataset.Setting{Field: "DecimalPoint"})
	say(rep.ShortYears, "Years of two digits are read as 1969 to 2068.")
	say(rep.Offsets.Vary(), "The UTC offset of %s changes between %v, and all its times are read as UTC: "+
		"what follows local clocks, such as a daily pattern, moves where the offset changes. "+
		"Without the offsets, times are read as clocks showed them.", x, rep.Offsets)
	say(rep.Numbers != "", "%s is read as %s; %v reads it as plain numbers.", x, rep.Numbers,
		dataset.Setting{Field: "Time", Value: "number"})
	say(rep.Comment != 0, "Lines that begin with %c were left out as comments.", rep.Comment)
	return remarks
}

// unused reports an unread column whose name suggests standard deviations of y.
func (o ReadOptions) unused(rep dataset.CSVReport) (remarks []dataset.Message) {
	taken := append([]int{rep.X, rep.Y}, slices.Concat(rep.Also.Columns, rep.Also.KeyColumns)...)
	y := cmp.Or(rep.Columns[rep.Y], "y")
	used := func(is func(name string) bool) bool {
		return slices.ContainsFunc(taken, func(i int) bool { return i >= 0 && i < len(rep.Columns) && is(rep.Columns[i]) })
	}
	const mostOthers = 5 // largest number of columns that a note names
	var others []string
	errors := o.YError != "" || used(errorName.MatchString)
	if rep.Headless && len(rep.Columns) == 3 && rep.X == 0 && rep.Y == 1 && !slices.Contains(taken, 2) {
		remarks = append(remarks, message("If column 3 has the standard deviations of %s, %v makes use of them.",
			y, dataset.Setting{Field: "YError", Value: "3"}))
	}
	for i, name := range rep.Columns {
		switch {
		case slices.Contains(taken, i):
		case !errors && errorName.MatchString(name) && !errorName.MatchString(y):
			remarks = append(remarks, message("If %s has the standard deviations of %s, %v makes use of them.",
				name, y, dataset.Setting{Field: "YError", Value: name}))
			errors = true
		case o.Y == "" && name != "" && rep.Numeric[i] && !rep.Headless:
			others = append(others, name)
		}
	}
	if n := len(others); n > 0 {
		first := dataset.Setting{Field: "Y", Value: others[0]}
		switch {
		case n == 1:
			remarks = append(remarks, message("The file has %s too: %v forecasts it.", others[0], first))
		case n <= mostOthers:
			remarks = append(remarks, message("The file has %s and %s too: %v, for example, forecasts one of them.",
				strings.Join(others[:n-1], ", "), others[n-1], first))
		default:
			remarks = append(remarks, message("The file has %d further columns, such as %s: %v forecasts it.", n, others[0], first))
		}
	}
	return remarks
}

// errorName matches the names of columns of standard deviations.
var errorName = regexp.MustCompile(`(?i)^(d|e|s)_|(^|[^\pL])err|err(or)?s?([^\pL]|$)|sigma|` +
	`^(sd|se|std|stdev|unc|uncertainty)($|[-_ ])|[-_ ](sd|se|std|stdev|unc|uncertainty)$`)
