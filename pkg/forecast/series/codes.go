package series

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

// code is a value that may stand for a missing one, such as -999.
type code struct {
	value float64
	times int // occurrences
}

// endings are the extremes of integers, and the reading of a thermometer without contact.
var endings = []float64{-32768, -32767, 32767, 65535, -2147483648, -2147483647, 2147483647, 4294967295, -127}

// mayBeMissing reports whether programs and sensors write v for a missing value: 99, 999, … with or without a sign and decimals,
// −777, −888 and longer, one of endings, or a fill value of NetCDF.
func mayBeMissing(v float64) bool {
	const least, leastFill = 99, 1e19
	digits := strings.Replace(strconv.FormatFloat(math.Abs(v), 'f', -1, 64), ".", "", 1)
	same := math.Abs(v) >= least && strings.Trim(digits, digits[:1]) == ""
	return same && (digits[0] == '9' || v <= -777 && digits[0] >= '7') || slices.Contains(endings, v) || math.Abs(v) >= leastFill
}

// codesIn returns the values in y that may stand for missing ones, and the range of all others. A code is further from the range
// than half its length, and no more frequent than all other values together.
func codesIn(y []float64) (codes []code, least, most float64) {
	times, others := map[float64]int{}, 0
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range y {
		if mayBeMissing(v) {
			times[v]++
		} else {
			least, most, others = min(least, v), max(most, v), others+1
		}
	}
	for v, n := range times {
		if n <= others && max(least-v, v-most) > (most-least)/2 {
			codes = append(codes, code{v, n})
		}
	}
	slices.SortFunc(codes, func(a, b code) int { return cmp.Compare(a.value, b.value) })
	return codes, least, most
}

// lonely returns the index of the first or last observation if its distance from all others suggests a wrong x; otherwise −1.
func (s *Series) lonely() int {
	const (
		least = 10 // fewest observations
		apart = 5  // least distance from the others, over their range
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

// Stuck returns the first and the last index of the longest run of equal values other than 0, if the run is too long for chance:
// the sensor was stuck, or a gap was filled. Elsewhere a value equals its predecessor with a share q, so that such a run has a
// probability of about n·q^(values − 1). ok is false if there is none, as in a series that never varies.
func (s *Series) Stuck() (from, to int, ok bool) {
	const least, unlikely = 10, 1e-6 // values; probability
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
	if pairs+1 < least || pairs+1 == n || s.Y[to] == 0 {
		return 0, 0, false
	}
	q := float64(equal-pairs+1) / float64(n-pairs+1)
	return from, to, float64(n)*math.Pow(q, float64(pairs)) < unlikely
}

// Lead returns the first thing to know about a series: a date may be wrong, or values may stand for missing ones; "" if neither
// is suspected.
func (s *Series) Lead() string {
	lead, _ := s.Messages()
	return lead.String()
}

// Suspect returns what may be wrong with the values of a series, and why tests of its past say little until this is settled; both
// are empty if nothing is suspected.
func (s *Series) Suspect() (lead dataset.Message, why string) {
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
	codes, least, most := codesIn(s.Y)
	if len(codes) == 0 {
		return lead, ""
	}
	var counts []string
	var settings []any
	for i, c := range codes {
		cell := fmt.Sprintf("%s of %s %s %v", text.Count(c.times, "value"), s.YName, text.Are(c.times), c.value)
		if i > 0 {
			cell = fmt.Sprintf("%d %s %v", c.times, text.Are(c.times), c.value)
		}
		counts, settings = append(counts, cell), append(settings, dataset.Setting{Field: "Missing", Value: fmt.Sprint(c.value)})
	}
	what := "it stands for a missing value"
	if len(codes) > 1 {
		what = "they stand for missing values"
	}
	return message("%s, far from all others, which lie between %v and %v. If %s, add %v.",
		strings.Join(counts, ", "), least, most, what, joined(settings)), coded
}
