package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Code is a value that may stand for a missing one, as -999 does.
type Code struct {
	Value float64
	Times int // occurrences
}

// Bounds of codesIn.
const (
	mostCodes   = 3    // at either end
	commonCodes = 0.25 // largest share of the observations that codes are
	usualCodes  = 0.5  // the same if all are usual codes
	usualGap    = 0.5  // least distance of a usual code from the others, in units of their range; that of another code is 1
	onceGap     = 3    // the same for zeros, and for a code that occurs once unless only it is negative
	rareZeros   = 0.05 // largest share of zeros that are codes: a shop is closed more often, one day in seven
)

// usualCode reports whether v is a number that programs and sensors write for a missing value: nines, with or without a sign and
// decimals, three or more sevens or eights below 0, the ends of 16- and 32-bit integers, fill values, and the -127 of a
// thermometer without contact.
func usualCode(v float64) bool { return v == -127 || repeated(v) >= 2 || noReading(v) }

// noReading reports whether v is one of the two least or the greatest 16- or 32-bit integer, or a fill value (dataset.LeastFill).
func noReading(v float64) bool {
	if math.Abs(v) >= dataset.LeastFill {
		return true
	}
	switch v {
	case -32768, -32767, 32767, 65535, -2147483648, -2147483647, 2147483647, 4294967295:
		return true
	}
	return false
}

// repeated returns the number of digits of a number of nines alone, or of a negative one of three or more sevens or eights alone,
// without the zeros at its ends; 0 for other numbers.
func repeated(v float64) int {
	digits := strings.Trim(strings.Replace(fmt.Sprint(math.Abs(v)), ".", "", 1), "0")
	switch {
	case strings.Trim(digits, "9") == "":
		return len(digits)
	case v < 0 && len(digits) >= 3 && (strings.Trim(digits, "7") == "" || strings.Trim(digits, "8") == ""):
		return len(digits)
	}
	return 0
}

// codesIn returns the values at the ends of y that may be codes. A code is further from the other values than their range: a
// usual code by half the range, a few zeros or a code that occurs once by three times the range. Only codes such as -99, -999
// and -32767 may occur once. It takes as few values as possible, up to three from each end, and then searches the rest again.
func codesIn(y []float64) (all []Code) {
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	for {
		codes := codesAt(sorted)
		if codes == nil {
			slices.SortFunc(all, func(a, b Code) int { return cmp.Compare(a.Value, b.Value) })
			return all
		}
		all = append(all, codes...)
		sorted = slices.DeleteFunc(sorted, func(v float64) bool {
			return slices.ContainsFunc(codes, func(c Code) bool { return c.Value == v })
		})
	}
}

// codesAt returns the codes at the ends of sorted y.
func codesAt(sorted []float64) []Code {
	var low, high []Code // the lowest and the highest values, from outside
	for at := 0; at < len(sorted) && len(low) < mostCodes; at += low[len(low)-1].Times {
		v := sorted[at]
		end, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		low = append(low, Code{v, end - at})
	}
	for at := len(sorted); at > 0 && len(high) < mostCodes; at -= high[len(high)-1].Times {
		v := sorted[at-1]
		from, _ := slices.BinarySearch(sorted, v)
		high = append(high, Code{v, at - from})
	}
	for most := 1; most <= 2*mostCodes; most++ {
		for k := 0; k <= most; k++ {
			if j := most - k; k <= len(low) && j <= len(high) {
				if codes := slices.Concat(low[:k], high[:j]); areCodes(sorted, codes, k) {
					return codes
				}
			}
		}
	}
	return nil
}

// areCodes reports whether values at the ends of sorted y are codes. The first low of them are at the lower end.
func areCodes(sorted []float64, codes []Code, low int) bool {
	from, to, usual := 0, len(sorted), true
	for i, c := range codes {
		if usual = usual && usualCode(c.Value); c.Times < 2 && repeated(c.Value) < 3 && c.Value != -99 && !noReading(c.Value) ||
			c.Value == 0 && float64(c.Times) > rareZeros*float64(len(sorted)) {
			return false
		}
		if i < low {
			from += c.Times
		} else {
			to -= c.Times
		}
	}
	share := commonCodes
	if usual {
		share = usualCodes
	}
	if taken := len(sorted) - (to - from); to-from < 2 || float64(taken) > share*float64(len(sorted)) {
		return false
	}
	least, most := sorted[from], sorted[to-1]
	if least == most {
		return false
	}
	for i, c := range codes {
		gap := least - c.Value
		if i >= low {
			gap = c.Value - most
		}
		wanted := most - least
		switch {
		case c.Value == 0, c.Times < 2 && !(c.Value < 0 && least >= 0):
			wanted *= onceGap
		case usualCode(c.Value):
			wanted *= usualGap
		}
		if !(gap > wanted) {
			return false
		}
	}
	return true
}

// minusOnes returns how often y is -1 if these look like codes among counts, and 0 for any other y: all others are whole and not
// negative, and most steps to -1 are larger than nearly all steps between others, unlike those of degrees that fall below 0.
func minusOnes(y []float64) (n int) {
	const (
		few         = 3      // steps to -1 from which usual holds
		most, usual = 1, 0.9 // share of the other steps that the median step to -1 must exceed
	)
	var steps, leaps []float64
	last := math.NaN() // the last value that is not -1
	leapt := false     // a -1 followed it
	for _, v := range y {
		switch {
		case v == -1:
			leapt = true
			n++
			continue
		case v < 0 || v != math.Trunc(v):
			return 0
		case leapt && last == last:
			leaps = append(leaps, min(last, v)+1)
		case !leapt && last == last:
			steps = append(steps, math.Abs(v-last))
		}
		last, leapt = v, false
	}
	if len(steps) == 0 || len(leaps) == 0 {
		return 0
	}
	slices.Sort(steps)
	slices.Sort(leaps)
	share := usual
	if len(leaps) < few {
		share = most
	}
	if leaps[(len(leaps)-1)/2] <= steps[int(share*float64(len(steps)-1)+0.5)] {
		return 0
	}
	return n
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
	lead, _ := s.suspect()
	return strings.TrimSpace(s.guess + " " + lead)
}

// suspect returns the lead of a series, and why tests of its past say little until this is settled; "" if there is none.
func (s *Series) suspect() (lead, why string) {
	const coded = "it was learnt from values that may stand for missing ones, and tested on them"
	if i := s.lonely(); i >= 0 {
		from, to, name := 0, len(s.X)-2, cmp.Or(s.Axis.Name, "x")
		if i == 0 {
			from, to = 1, len(s.X)-1
		}
		return fmt.Sprintf("The %s of one observation is %s, far from all others, which lie between %s and %s: "+
				"if it is wrong, correct or remove its line.", name, s.Axis.Text(s.X[i]), s.Axis.Text(s.X[from]), s.Axis.Text(s.X[to])),
			fmt.Sprintf("the %s of one observation may be wrong", name)
	}
	codes := codesIn(s.Y)
	if n := minusOnes(s.Y); len(codes) == 0 && n > 0 {
		return fmt.Sprintf("%s of %s %s -1, where all others are whole and not negative, and far from those beside. "+
			"If -1 stands for a missing value, add ReadOptions.Missing: -1.", text.Count(n, "value"), s.YName, text.Are(n)), coded
	}
	if len(codes) == 0 {
		return "", ""
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range s.Y {
		if !slices.ContainsFunc(codes, func(c Code) bool { return c.Value == y }) {
			least, most = min(least, y), max(most, y)
		}
	}
	var counts, settings []string
	for i, c := range codes {
		cell := fmt.Sprintf("%s of %s %s %v", text.Count(c.Times, "value"), s.YName, text.Are(c.Times), c.Value)
		if i > 0 {
			cell = fmt.Sprintf("%d %s %v", c.Times, text.Are(c.Times), c.Value)
		}
		counts, settings = append(counts, cell), append(settings, fmt.Sprintf("ReadOptions.Missing: %v", c.Value))
	}
	what := "it stands for a missing value"
	if len(codes) > 1 {
		what = "they stand for missing values"
	}
	return fmt.Sprintf("%s, far from all others, which lie between %v and %v. If %s, add %s.",
		strings.Join(counts, ", "), least, most, what, strings.Join(settings, " ")), coded
}
