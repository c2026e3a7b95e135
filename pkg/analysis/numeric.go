package analysis

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// numericDates makes seconds since 1970 of the x of a series if they are numbers that stand for dates: times since 1970 in one unit,
// or dates written 20240131 or 202401. It returns their format, with a remark; TimeNumber for other numbers, which are left as they are.
func numericDates(s dataset.Series) (format dataset.TimeFormat, remark string) {
	const otherwise = "--time number reads it as plain numbers."
	name := orElse(s.XName, "x")
	if format = dataset.LikelyUnix(s.X); format != dataset.TimeNumber {
		perSecond, unit := format.Unix()
		for i := range s.X {
			s.X[i] /= perSecond
		}
		return format, fmt.Sprintf("%s is read as Unix time in %s; %s", name, unit, otherwise)
	}
	for _, compact := range []struct{ layout, like string }{{"20060102", "20240131"}, {"200601", "202401"}} {
		if dates := compactDates(s.X, compact.layout); dates != nil {
			copy(s.X, dates)
			return dataset.TimeISO, fmt.Sprintf("%s is read as dates written %s; %s", name, compact.like, otherwise)
		}
	}
	return dataset.TimeNumber, ""
}

// compactDates returns the dates, in seconds since 1970, of numbers that are all dates between 1800 and 2200 in a layout of digits; nil
// if one is not. Months count only if they pass from one year to another as dates do: numbers from 200001 to 200012 may be anything.
func compactDates(x []float64, layout string) []float64 {
	scale := math.Pow10(len(layout) - 4)
	out := make([]float64, len(x))
	years := map[int]bool{}
	for i, v := range x {
		if v < 1800*scale || v > 2200*scale || v != math.Trunc(v) {
			return nil
		}
		t, err := time.Parse(layout, strconv.Itoa(int(v)))
		if err != nil {
			return nil
		}
		out[i] = float64(t.Unix())
		years[t.Year()] = true
	}
	if len(layout) == len("200601") && len(years) < 2 {
		return nil
	}
	return out
}
