package forecast

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// fewestEven is the length of the shortest series whose nearly equal steps count as equal; in a shorter one they may be chance.
const fewestEven = 24

// takeEven makes plain numbers x even if they are even but for rounding or the lengths of months or years, and remarks on it. An
// even series allows engines that are ten times as fast.
func (s *Series) takeEven() {
	if len(s.X) < fewestEven {
		return
	}
	digits := writtenDecimals(s.X)
	step, rounded := unround(s.X, digits)
	var said string
	switch {
	case rounded && step == 1./12:
		said = fmt.Sprintf("x is months, in years with %d decimals: each is taken to last a twelfth of a year.", digits)
	case rounded:
		said = fmt.Sprintf("x is even but for rounding to %d decimals: it is taken at equal steps of %.6g.", digits, step)
	case equalMonths(s.X):
		said = "x is the same day of every month, in years: all months are taken to last a twelfth of a year."
	case equalDays(s.X, digits):
		s.Axis.Unit = cmp.Or(s.Axis.Unit, "year")
		said = "x is days, in years of 365 or 366 days: all days are taken to be equally long, a year being 365.25 of them."
	default:
		return
	}
	s.Axis.Decimals = min(digits, mostDecimals)
	s.remarks = append(s.remarks, message("%s %v takes x as it is.", said, dataset.Setting{Field: "Time", Value: "number"}))
}

// mostDecimals is the largest number of decimals to which x may be rounded, and with which an even x is written.
const mostDecimals = 9

// unround moves x, ascending, to multiples of a step if all are within rounding, and returns the step; others stay.
func unround(x []float64, digits int) (step float64, ok bool) {
	const (
		largest = 0.02 // rounding, as a fraction of a step
		slack   = 1.3  // for the rounding of the line itself
	)
	n := float64(len(x))
	half := 0.5 * math.Pow(10, -float64(digits))
	guess := medianStep(x)
	if digits == 0 || digits > mostDecimals || !(half < largest*guess) {
		return 0, false
	}
	// Fit the line x = a + b·k, where the numbers of steps k follow from one distance after another.
	k := make([]float64, len(x))
	var kk, kx, meanK, meanX float64
	for i := range x {
		if i > 0 {
			gap := (x[i] - x[i-1]) / guess
			if k[i] = k[i-1] + math.Round(gap); k[i] == k[i-1] || math.Abs(gap-math.Round(gap)) > 3*half/guess*max(1, gap) {
				return 0, false
			}
		}
		meanK, meanX = meanK+k[i]/n, meanX+(x[i]-x[0])/n
	}
	for i, v := range k {
		kk += (v - meanK) * (v - meanK)
		kx += (v - meanK) * (x[i] - x[0] - meanX)
	}
	step = kx / kk
	if whole := 1 / math.Round(1/step); math.Abs(whole-step)*k[len(k)-1] < half { // as a twelfth of a year
		step = whole
	}
	first := x[0] + meanX - step*meanK
	off := func(first float64) (off float64) {
		for i, v := range x {
			off = max(off, math.Abs(v-first-step*k[i]))
		}
		return off
	}
	if short := roundTo(first, digits); off(short) <= slack*half {
		first = short
	}
	if far := off(first); far > slack*half || far < 1e-9*step {
		return 0, false
	}
	for i := range x {
		x[i] = first + step*k[i]
	}
	return step, true
}

// writtenDecimals returns the largest number of decimals with which the numbers are written.
func writtenDecimals(x []float64) (most int) {
	for _, v := range x {
		if _, after, found := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), "."); found {
			most = max(most, len(after))
		}
	}
	return most
}

func roundTo(v float64, decimals int) float64 {
	p := math.Pow(10, float64(decimals))
	return math.Round(v*p) / p
}

// medianStep returns the median distance between neighbours.
func medianStep(x []float64) float64 {
	steps := make([]float64, len(x)-1)
	for i := range steps {
		steps[i] = x[i+1] - x[i]
	}
	return numeric.UpperMedian(steps)
}

// Numbers from fromYear to toYear may be years.
const fromYear, toYear = 1600, 2400

// equalDays moves x, ascending decimal years, to days of equal length if all are at one time of day; others stay.
func equalDays(x []float64, digits int) bool {
	const (
		fewest = 3   // decimals that resolve days
		near   = 0.2 // days from that time, as with so few decimals
	)
	if x[0] < fromYear || x[len(x)-1] > toYear || digits < fewest {
		return false
	}
	days := make([]float64, len(x))
	var sin, cos float64
	for i, v := range x {
		year := int(v)
		begin := dayOf(year, 1)
		days[i] = begin + (v-float64(year))*(dayOf(year+1, 1)-begin)
		s, c := math.Sincos(2 * math.Pi * days[i])
		sin, cos = sin+s, cos+c
	}
	const parts = 1440 // the time is rounded to minutes
	after := math.Round(parts*math.Atan2(sin, cos)/(2*math.Pi)) / parts
	moved := false
	for i, d := range days {
		whole := math.Round(d - after)
		if math.Abs(d-after-whole) > near || i > 0 && whole+after <= days[i-1] {
			return false
		}
		days[i] = whole + after
		moved = moved || math.Abs(dayYear(days[i])-x[i]) > 1e-9
	}
	for i, d := range days {
		x[i] = dayYear(d)
	}
	return moved
}

// dayOf returns the day, from 1970, on which a month begins.
func dayOf(year, month int) float64 {
	return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC).Sub(time.Unix(0, 0)).Hours() / 24
}

// dayYear converts days since 1970 to years, with all days equally long.
func dayYear(days float64) float64 { return 1970 + days/365.25 }

// equalMonths moves x, ascending decimal years, to equal months if all are the same day of a month, or its middle; others stay.
func equalMonths(x []float64) bool {
	const (
		near   = 1.6 // days from that day, as middles of months are
		within = 2   // range of these in days; for equal months it would be 2.9
	)
	if x[0] < fromYear || x[len(x)-1] > toYear {
		return false
	}
	// off returns how many days v is after the beginning of a month, with months counted from the year 0.
	off := func(v float64, months int) float64 {
		year, month := months/12, months%12
		begin := dayOf(year, 1)
		return (v-float64(year))*(dayOf(year+1, 1)-begin) - (dayOf(year, 1+month) - begin)
	}
	months := make([]int, len(x))
	const rounding = 0.6 // days
	months[0] = int(12 * (x[0] + rounding/365))
	for off(x[0], months[0]) < -rounding {
		months[0]--
	}
	for off(x[0], months[0]+1) > -rounding {
		months[0]++
	}
	day := off(x[0], months[0])
	least, most, mean := day, day, 0.0
	counts := map[int]int{}
	for i, v := range x {
		if i > 0 {
			months[i] = months[i-1] + int(math.Round(12*(v-x[i-1])))
			counts[months[i]-months[i-1]]++
		}
		d := off(v, months[i])
		if math.Abs(d-day) > near {
			return false
		}
		least, most, mean = min(least, d), max(most, d), mean+d/float64(len(x))
	}
	regular := false
	for months, count := range counts {
		regular = regular || months > 0 && 2*count > len(x)
	}
	if !regular || counts[0] > 0 || most-least > within {
		return false
	}
	after := roundTo(mean/365.2425, 4)
	moved := false // years, and x that is even already, stay
	for i, m := range months {
		even := float64(m)/12 + after
		moved = moved || math.Abs(x[i]-even) > 1e-9
		x[i] = even
	}
	return moved
}
