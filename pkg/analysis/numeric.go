package analysis

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// numericDates recognises numbers x that stand for dates: times since 1970 in one unit, or dates written 20240131 or 202401. It returns
// their format, a remark, and a function that converts a number to seconds since 1970, or to NaN if it is not such a date. For other
// numbers it returns TimeNumber and a nil function.
func numericDates(s dataset.Series) (format dataset.TimeFormat, remark string, seconds func(float64) float64) {
	name := orElse(s.XName, "x")
	if format = dataset.LikelyUnix(s.X); format != dataset.TimeNumber {
		perSecond, unit := format.Unix()
		return format, fmt.Sprintf("%s is read as Unix time in %s; --time number reads it as plain numbers.", name, unit), func(v float64) float64 { return v / perSecond }
	}
	for _, compact := range []struct{ layout, like string }{{"20060102", "20240131"}, {"200601", "202401"}} {
		if areCompact(s.X, compact.layout) {
			return dataset.TimeISO, fmt.Sprintf("%s is read as dates written %s; --time number reads it as plain numbers.", name, compact.like), func(v float64) float64 { return compactDate(v, compact.layout) }
		}
	}
	return dataset.TimeNumber, "", nil
}

// areCompact reports whether all numbers are dates in a layout of digits. Months must pass from one year to the next: numbers from
// 200001 to 200012 may be anything.
func areCompact(x []float64, layout string) bool {
	years := map[int]bool{}
	for _, v := range x {
		if math.IsNaN(compactDate(v, layout)) {
			return false
		}
		years[int(v*math.Pow10(4-len(layout)))] = true
	}
	return len(layout) > len("200601") || len(years) > 1
}

// compactDate returns a date between 1800 and 2200 that is written as a number, in seconds since 1970; NaN for another number.
func compactDate(v float64, layout string) float64 {
	scale := math.Pow10(len(layout) - 4)
	if v < 1800*scale || v > 2200*scale || v != math.Trunc(v) {
		return math.NaN()
	}
	t, err := time.Parse(layout, strconv.Itoa(int(v)))
	if err != nil {
		return math.NaN()
	}
	return float64(t.Unix())
}
