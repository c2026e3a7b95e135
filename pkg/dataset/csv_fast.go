package dataset

import (
	"bytes"
	"math"
)

// decimal reads [+-] digits [. digits] [e [+-] digits] if it has so few digits that the result is exact but for one rounding
// (Clinger 1990): a mantissa below 2^53 times or over a power of ten up to 10^22. Otherwise ok is false.
func decimal(b []byte) (v float64, ok bool) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	digits, exponent := 0, 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		mantissa = 10*mantissa + uint64(b[i]-'0')
		digits++
	}
	if i < len(b) && b[i] == '.' {
		i++
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			mantissa = 10*mantissa + uint64(b[i]-'0')
			digits++
			exponent--
		}
	}
	if digits == 0 || digits > 18 {
		return 0, false
	}
	if i < len(b) && b[i]|' ' == 'e' {
		i++
		sign := 1
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			if b[i] == '-' {
				sign = -1
			}
			i++
		}
		from, e := i, 0
		for ; i < len(b) && i-from < 4 && b[i]-'0' <= 9; i++ {
			e = 10*e + int(b[i]-'0')
		}
		if i == from {
			return 0, false
		}
		exponent += sign * e
	}
	if i < len(b) || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		return 0, false
	}
	if v = float64(mantissa); exponent < 0 {
		v /= powersOfTen[-exponent]
	} else {
		v *= powersOfTen[exponent]
	}
	if negative {
		v = -v
	}
	return v, true
}

var powersOfTen = func() (p [23]float64) {
	for i := range p {
		p[i] = math.Pow10(i)
	}
	return p
}()

// isoSeconds reads 2006-01-02, and 2006-01-02T15:04:05 with or without a fraction and a Z or a space for the T, as seconds since
// 1970. For any other form, leap seconds among them, ok is false.
func isoSeconds(b []byte) (v float64, ok bool) {
	const date, clock = len("2006-01-02"), len("2006-01-02T15:04:05")
	if len(b) != date && len(b) < clock {
		return 0, false
	}
	bad := b[4] != '-' || b[7] != '-'
	number := func(from, to int) (n int) {
		for _, c := range b[from:to] {
			bad = bad || c-'0' > 9
			n = 10*n + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second, nanos := 0, 0, 0, 0
	if len(b) > date {
		bad = bad || b[10] != 'T' && b[10] != ' ' || b[13] != ':' || b[16] != ':'
		hour, minute, second = number(11, 13), number(14, 16), number(17, 19)
		rest := bytes.TrimSuffix(b[clock:], []byte("Z"))
		if len(rest) > 0 {
			bad = bad || rest[0] != '.' || len(rest) < 2 || len(rest) > 10
			scale := 1_000_000_000
			for _, c := range rest[1:] {
				bad = bad || c-'0' > 9
				scale /= 10
				nanos += scale * int(c-'0')
			}
		}
	}
	if bad || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	last := daysBefore[month+1] - daysBefore[month]
	if month == 2 && leap {
		last++
	}
	if day > last {
		return 0, false
	}
	days := 365*(year-1970) + (year+3)/4 - (year+99)/100 + (year+399)/400 - 478 + daysBefore[month] + day - 1
	if month > 2 && leap {
		days++
	}
	return float64(((days*24+hour)*60+minute)*60+second) + 1e-9*float64(nanos), true
}

// daysBefore are the days of a year before each month from 1 on.
var daysBefore = [14]int{1: 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}
