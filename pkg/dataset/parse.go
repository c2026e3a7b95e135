package dataset

import (
	"fmt"
	"strconv"
	"strings"
)

// What the readers share: plain numbers, and text in messages.

// ParseNumber reads a number with a decimal point: digits, with or without an exponent, and finite.
func ParseNumber(text string) (float64, error) {
	if v, ok := decimal(text); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s is not a finite number", quoted(text))
}

// decimal reads [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. strconv.ParseFloat reads "NaN",
// "Inf", "0x1p3" and "1_000", too, which are no observations.
func decimal(text string) (float64, bool) {
	mantissa, digits, point, exact := 0, 0, len(text), true
	for i := range len(text) {
		switch c := text[i]; {
		case c-'0' <= 9:
			mantissa = 10*mantissa + int(c-'0')
			digits++
		case c == '.':
			exact, point = exact && point == len(text), i+1
		case c == '-' && i == 0:
		case c != '-' && c != '+' && c|' ' != 'e':
			return 0, false
		default:
			exact = false
		}
	}
	if !exact || digits == 0 || digits > 15 {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil
	}
	v := float64(mantissa) / powers[len(text)-point] // of two numbers without rounding: as exact as ParseFloat (Clinger 1990)
	if text[0] == '-' {
		v = -v
	}
	return v, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// quoted quotes the beginning of a text for a message: text may be long, as binary data read by mistake tends to be.
func quoted(text string) string {
	const most = 40 // bytes
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "…"
}
