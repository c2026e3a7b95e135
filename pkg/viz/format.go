package viz

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Format turns the value of a cell into text. The formats below return "–" for nil, NaN and an empty string, and apply to each
// number of a [Spread].
type Format func(v any) string

const (
	absent = "–"
	second = "\n" // separates the main text of a cell from its small print
)

// Digits shows numbers with n significant digits, and all digits before the decimal point: 1468.6, 0.03125, 2.1e-7.
func Digits(n int) Format {
	return ofNumbers(func(x float64) string { return formatDigits(x, n) })
}

// UpTo shows numbers with at most n significant digits, without trailing zeros: 54.1, 2100, 6.5e9.
func UpTo(n int) Format {
	return ofNumbers(func(x float64) string { return trimmed(formatDigits(x, n)) })
}

// trimmed drops trailing zeros of decimals.
func trimmed(s string) string {
	digits, exponent, _ := strings.Cut(s, "e")
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
	}
	if exponent != "" {
		digits += "e" + exponent
	}
	return digits
}

// Fixed shows numbers with n decimals, so that the numbers of a column line up. With a negative n they are rounded to a multiple
// of 10⁻ⁿ: for −3, 1234567 is 1235000.
func Fixed(n int) Format {
	return ofNumbers(func(x float64) string {
		if n < 0 {
			unit := math.Pow10(-n)
			x = math.Round(x/unit) * unit
		}
		return signed(strconv.FormatFloat(x, 'f', max(0, n), 64))
	})
}

// Scientific shows numbers with n decimals and a power of ten: 1.107e15, 5.79e-6.
func Scientific(n int) Format {
	return ofNumbers(func(x float64) string { return signed(scientific(x, n)) })
}

// Percent shows a share as a percentage with n decimals: 0.123 as 12.3 %.
func Percent(n int) Format {
	return ofNumbers(func(x float64) string { return signed(strconv.FormatFloat(100*x, 'f', n, 64)) + " %" })
}

// lasting shows a time.Duration, or a number of seconds, in a suitable unit: 12 ms, 3.4 s, 2 min 05 s.
func lasting(v any) string {
	if d, ok := v.(time.Duration); ok {
		return formatDuration(d.Seconds())
	}
	return ofNumbers(formatDuration)(v)
}

// auto is the format of a column without one: numbers with four significant digits, durations in a suitable unit.
func auto(v any) string {
	switch v := v.(type) {
	case nil:
		return absent
	case Spread:
		return Digits(4)(v)
	case string:
		if v == "" {
			return absent
		}
		return v
	case time.Duration:
		return lasting(v)
	case fmt.Stringer:
		return v.String()
	case error:
		return v.Error()
	}
	if r := reflect.ValueOf(v); r.CanInt() || r.CanUint() {
		return signed(fmt.Sprint(v))
	}
	return Digits(4)(v)
}

// number returns v as a float64 if it is a number of any type of Go, or a spread.
func number(v any) (float64, bool) {
	if s, ok := v.(Spread); ok {
		return s.Median, true
	}
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

func ofNumbers(f func(float64) string) Format {
	var format Format
	format = func(v any) string {
		if s, ok := v.(Spread); ok {
			median, rest := s.parts(func(x float64) string { return format(x) })
			return median + second + rest
		}
		x, ok := number(v)
		switch {
		case !ok && (v == nil || v == ""):
			return absent
		case !ok:
			return fmt.Sprint(v)
		case math.IsNaN(x):
			return absent
		case math.IsInf(x, 1):
			return "∞"
		case math.IsInf(x, -1):
			return minus + "∞"
		}
		return f(x)
	}
	return format
}

func formatDigits(x float64, n int) string {
	n = max(n, 1)
	if x == 0 {
		return "0"
	}
	// Rounding comes first, so that 9.9996 with four digits is 10.00 and not 10.000.
	s := scientific(x, n-1)
	_, exp, _ := strings.Cut(s, "e")
	e, _ := strconv.Atoi(exp)
	if e < -4 || e >= 9 {
		return signed(s)
	}
	return signed(strconv.FormatFloat(x, 'f', max(0, n-1-e), 64))
}

// scientific writes the exponent without the plus and the leading zero of strconv.
func scientific(x float64, decimals int) string {
	mantissa, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', decimals, 64), "e")
	e, _ := strconv.Atoi(exp)
	return mantissa + "e" + strconv.Itoa(e)
}

// signed gives a number a true minus sign, which is as wide as a digit, and removes the sign of a zero.
func signed(s string) string {
	rest, negative := strings.CutPrefix(s, "-")
	if !negative {
		return s
	}
	if strings.Trim(rest, "0.") == "" {
		return rest
	}
	return minus + rest
}

func formatDuration(s float64) string {
	a := math.Abs(s)
	sign := ""
	if s < 0 {
		sign = minus
	}
	// Each limit is the largest value that still rounds to two or three digits of the smaller unit.
	switch {
	case a == 0:
		return "0 s"
	case a < 0.9995e-6:
		return sign + small(a*1e9) + " ns"
	case a < 0.9995e-3:
		return sign + small(a*1e6) + " µs"
	case a < 0.9995:
		return sign + small(a*1e3) + " ms"
	case a < 59.5:
		return sign + small(a) + " s"
	case a < 3599.5:
		t := int(math.Round(a))
		return fmt.Sprintf("%s%d min %02d s", sign, t/60, t%60)
	case a < 1e9:
		t := int(math.Round(a / 60))
		return fmt.Sprintf("%s%d h %02d min", sign, t/60, t%60)
	}
	return sign + formatDigits(a/3600, 3) + " h"
}

// small shows a number below 1000 with two digits, or with all digits before the decimal point.
func small(x float64) string {
	if x < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

const minus = "−"
