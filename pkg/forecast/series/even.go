package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// fewestEven is the smallest number of observations whose nearly equal steps are made equal; in a shorter series they may be
// chance.
const fewestEven = 24

// mostDecimals is the largest number of decimals to which x may be rounded, and with which an even x is written.
const mostDecimals = 9

// takeEven makes plain numbers x even, and remarks on it, if only rounding makes them uneven, or if they are years whose months
// or days are even by the calendar. An even series allows engines that are ten times as fast.
func (s *Series) takeEven() {
	if len(s.X) < fewestEven {
		return
	}
	digits := writtenDecimals(s.X)
	step, off := evenStep(s.X, 0.5*math.Pow(10, -float64(digits)))
	const exact = 1e-9 // share of a step up to which x is even already
	if off < exact {
		return
	}
	const (
		coarse = 0.04 // share of a step; a larger deviation is a step of its own
		apart  = 0.1  // share of a month, since one day of the month is at different parts of months
		hours  = 0.2  // share of a day, for three decimals of a year
	)
	from, to := s.X[0], s.X[len(s.X)-1]
	years := from >= fromYear && to <= toYear
	var said string
	if digits > 0 && digits <= mostDecimals && off < coarse && s.onGrid(off, func(x float64) float64 { return (x - from) / step },
		func(k, first float64) float64 { return from + step*(k+first) }) {
		said = fmt.Sprintf("x is even but for rounding to %d decimals: it is taken at equal steps of %.6g.", digits, step)
		if step == 1./12 && years {
			s.Axis.Unit, s.Axis.Monthly = cmp.Or(s.Axis.Unit, "year"), true
			said = fmt.Sprintf("x is months, in years with %d decimals: each is taken to last a twelfth of a year.", digits)
		}
	} else if years && s.onGrid(apart, monthsOf, func(k, first float64) float64 { return k/12 + roundTo(first/12, 4) }) {
		s.Axis.Unit, s.Axis.Monthly = cmp.Or(s.Axis.Unit, "year"), true
		said = "x is the same day of every month, in years: all months are taken to last a twelfth of a year."
	} else if years && s.onGrid(hours, daysOf, func(k, first float64) float64 { return 1970 + (k+first)/365.25 }) {
		s.Axis.Unit = cmp.Or(s.Axis.Unit, "year")
		said = "x is days, in years of 365 or 366 days: all days are taken to be equally long, a year being 365.25 of them."
	} else {
		return
	}
	s.Axis.Decimals = min(digits, mostDecimals)
	s.remarks = append(s.remarks, message("%s %v takes x as it is.", said, dataset.Setting{Field: "Time", Value: "number"}))
}

// onGrid moves x to whole numbers k plus the mean remainder, on a scale on which all are within off of such places and no two at
// one; otherwise x stays. scale must ascend; back is its inverse.
func (s *Series) onGrid(off float64, scale func(x float64) float64, back func(k, first float64) float64) bool {
	k, rest, first, mean := make([]float64, len(s.X)), make([]float64, len(s.X)), scale(s.X[0]), 0.0
	for i, x := range s.X {
		v := scale(x) - first
		k[i] = math.Round(v)
		rest[i] = v - k[i]
		mean += rest[i] / float64(len(s.X))
		if math.Abs(rest[i]) > 2*off || i > 0 && k[i] == k[i-1] {
			return false
		}
	}
	if slices.Max(rest)-mean > off || mean-slices.Min(rest) > off {
		return false
	}
	whole := math.Floor(first + mean)
	for i := range k {
		s.X[i] = back(k[i]+whole, first+mean-whole)
	}
	return true
}

// evenStep returns the step of x, ascending, if it is even, and how far, in steps, rounding by up to half may move an x from its
// place. It returns 0 if x is even already.
func evenStep(x []float64, half float64) (step, off float64) {
	guess, steps := medianStep(x), 0.0
	for i := 1; i < len(x); i++ { // one distance after another, since guess is rounded
		steps += math.Round((x[i] - x[i-1]) / guess)
	}
	step = (x[len(x)-1] - x[0]) / steps
	if whole := 1 / math.Round(1/step); math.Abs(whole-step)*steps < 2*half { // such as a twelfth of a year
		step = whole
	}
	for _, v := range x {
		k := (v - x[0]) / step
		off = max(off, math.Abs(k-math.Round(k)))
	}
	if off < 1e-9 {
		return step, 0
	}
	return step, 2 * half / step
}

// writtenDecimals returns the largest number of decimals among the numbers.
func writtenDecimals(x []float64) (most int) {
	for _, v := range x {
		if _, after, found := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); found {
			most = max(most, len(after))
		}
	}
	return most
}

// Numbers from fromYear to toYear may be years.
const fromYear, toYear = 1600, 2400

// dayOf returns the day, from 1970 on, on which a month begins.
func dayOf(year, month int) float64 {
	return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC).Sub(time.Unix(0, 0)).Hours() / 24
}

// daysOf converts a decimal year to days since 1970.
func daysOf(x float64) float64 {
	year := int(x)
	begin := dayOf(year, 1)
	return begin + (x-float64(year))*(dayOf(year+1, 1)-begin)
}

// monthsOf converts a decimal year to months since the year 0, with a fraction.
func monthsOf(x float64) float64 {
	year, month, day := int(x), 1, daysOf(x)
	for month < 12 && dayOf(year, month+1) <= day {
		month++
	}
	begin := dayOf(year, month)
	return float64(12*year+month-1) + (day-begin)/(dayOf(year, month+1)-begin)
}
