package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Code is a value that may stand for a missing one, as -999 does.
type Code struct {
	Value float64
	Times int // occurrences
}

// missingCode reports whether programs and sensors write v for a missing value: two nines or more, with or without a sign and
// decimals, three or more sevens or eights below 0, the ends of 16- and 32-bit integers, the fills of NetCDF, and the -127 of a
// thermometer without contact. long is false for 99, 9.9 and -127, which are values more often.
func missingCode(v float64) (is, long bool) {
	digits := strings.Trim(strings.Replace(strconv.FormatFloat(math.Abs(v), 'f', -1, 64), ".", "", 1), "0")
	const leastFill = 1e19
	switch v {
	case -32768, -32767, 32767, 65535, -2147483648, -2147483647, 2147483647, 4294967295, -99:
		return true, true
	case -127:
		return true, false
	}
	same := len(digits) > 1 && strings.Trim(digits, digits[:1]) == ""
	is = same && (digits[0] == '9' || v < 0 && len(digits) > 2 && (digits[0] == '7' || digits[0] == '8'))
	return is || math.Abs(v) >= leastFill, is && len(digits) > 2 || math.Abs(v) >= leastFill
}

// codesIn returns the codes at the ends of y: further from all other values than half their range, and no more than half of them.
// One that occurs once must be a long one, and three ranges away unless it alone is negative.
func codesIn(y []float64) (all []Code) {
	rest := slices.Sorted(slices.Values(y))
	take := func(v float64, others []float64) bool {
		is, long := missingCode(v)
		n := len(rest) - len(others)
		if !is || n > len(others) || n == 1 && !long {
			return false
		}
		least, most := others[0], others[len(others)-1]
		apart := max(least-v, v-most) / (most - least)
		return apart > 3 || apart > 0.5 && (n > 1 || v < 0 && least >= 0)
	}
	for found := true; found && len(rest) > 1; {
		found = false
		lo, hi := rest[0], rest[len(rest)-1]
		above, _ := slices.BinarySearch(rest, math.Nextafter(lo, math.Inf(1)))
		below, _ := slices.BinarySearch(rest, hi)
		switch {
		case above < len(rest) && take(lo, rest[above:]):
			all, rest, found = append(all, Code{lo, above}), rest[above:], true
		case below > 0 && take(hi, rest[:below]):
			all, rest, found = append(all, Code{hi, len(rest) - below}), rest[:below], true
		}
	}
	slices.SortFunc(all, func(a, b Code) int { return cmp.Compare(a.Value, b.Value) })
	return all
}

// lonely returns the index of the first or last observation if its distance from all others suggests a wrong x; else -1.
func (s *Series) lonely() int {
	const (
		least = 10 // observations
		apart = 5  // ranges of the others
	)
	n := len(s.X)
	switch {
	case n < least:
	case s.X[n-1]-s.X[n-2] > apart*(s.X[n-2]-s.X[0]):
		return n - 1
	case s.X[1]-s.X[0] > apart*(s.X[n-1]-s.X[1]):
		return 0
	}
	return -1
}

// stuck returns the first and the last index of the longest run of equal values, not 0, if it is too long for chance: of a sensor
// that was stuck, or of a gap that was filled. Elsewhere a value equals the one before it with a share q, and such a run
// has a chance of about n·q^(values − 1). ok is false if there is none.
func (s *Series) stuck() (from, to int, ok bool) {
	const least, unlikely = 10, 1e-6 // values, chance
	equal, run := 0, 0
	for i := 1; i < len(s.Y); i++ {
		if s.Y[i] != s.Y[i-1] {
			run = 0
			continue
		}
		equal++
		if run++; run > to-from {
			from, to = i-run, i
		}
	}
	n, pairs := len(s.Y), to-from
	if pairs+1 < least || s.Y[to] == 0 {
		return 0, 0, false
	}
	q := float64(equal-pairs+1) / float64(n-pairs+1)
	return from, to, float64(n)*math.Pow(q, float64(pairs)) < unlikely
}

// Lead returns what a reader must know first of a series: that numbers may be a thousand times as large, a date may be wrong, or
// values may stand for missing ones; "" if none of this is suspected.
func (s *Series) Lead() string {
	lead, _ := s.Messages()
	return lead.String()
}

// lead is Lead with its settings.
func (s *Series) lead() dataset.Message {
	var all []any
	for _, m := range s.guess {
		all = append(all, m)
	}
	if lead, why := s.suspect(); why != "" {
		all = append(all, lead)
	}
	return joined(all)
}

// suspect returns what may be wrong with the values of a series, and why tests of its past say little until this is settled; ""
// for nothing.
func (s *Series) suspect() (lead dataset.Message, why string) {
	const coded = "it was learnt from values that may stand for missing ones, and tested on them"
	if i := s.lonely(); i >= 0 {
		from, to, name := 0, len(s.X)-2, cmp.Or(s.Axis.Name, "x")
		if i == 0 {
			from, to = 1, len(s.X)-1
		}
		return message("The %s of one observation is %s, far from all others, which lie between %s and %s: "+
				"if it is wrong, correct or remove its line.", name, s.Axis.Text(s.X[i]), s.Axis.Text(s.X[from]), s.Axis.Text(s.X[to])),
			fmt.Sprintf("the %s of one observation may be wrong", name)
	}
	codes := codesIn(s.Y)
	if len(codes) == 0 {
		return lead, ""
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range s.Y {
		if !slices.ContainsFunc(codes, func(c Code) bool { return c.Value == y }) {
			least, most = min(least, y), max(most, y)
		}
	}
	var counts []string
	var settings []any
	for i, c := range codes {
		cell := fmt.Sprintf("%s of %s %s %v", text.Count(c.Times, "value"), s.YName, text.Are(c.Times), c.Value)
		if i > 0 {
			cell = fmt.Sprintf("%d %s %v", c.Times, text.Are(c.Times), c.Value)
		}
		counts, settings = append(counts, cell), append(settings, dataset.Setting{Field: "Missing", Value: fmt.Sprint(c.Value)})
	}
	what := "it stands for a missing value"
	if len(codes) > 1 {
		what = "they stand for missing values"
	}
	return message("%s, far from all others, which lie between %v and %v. If %s, add %v.",
		strings.Join(counts, ", "), least, most, what, joined(settings)), coded
}
