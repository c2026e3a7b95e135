// Package text writes numbers and sentences as they are printed in English, keeps together what a line must not break, and finds
// the name that a misspelt one may mean.
package text

import (
	"fmt"
	"regexp"
	"strconv"
)

// negative finds the sign of a negative number, but not the hyphen of a range, a date, or an exponent.
var negative = regexp.MustCompile(`(^|[\s(\[,=±→])-(\d)`)

// Minus writes the negative numbers of a text with a true minus sign: −0.26.
func Minus(s string) string { return negative.ReplaceAllString(s, "$1−$2") }

// Count writes how many of a thing there are: 1 row, 2 rows.
func Count(n int, what string) string { return fmt.Sprintf("%d %s", n, Choose(n, what, what+"s")) }

// Number writes a number from 0 to 12 as a word, and others in digits.
func Number(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// Does returns the form of a verb for n things: counts for one, count for more.
func Does(n int, verb string) string { return Choose(n, verb+"s", verb) }

// Rounded returns v rounded to a number of significant digits, or v if that is beyond the range of float64.
func Rounded(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// P writes the p-value of a test: p = 0.039, and p < 0.001 for any smaller one, since no tail of a distribution is known better.
func P(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// Bytes writes a number of bytes with three digits, as in 3.2 GB.
func Bytes(bytes float64) string {
	unit := "bytes"
	for _, larger := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		if bytes < 999.5 {
			break
		}
		bytes, unit = bytes/1e3, larger
	}
	return fmt.Sprintf("%.3g %s", bytes, unit)
}

// WithUnit writes a name with its unit: depth (m). Without a unit it is the name.
func WithUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// Are returns the verb for n things, is or are.
func Are(n int) string { return Choose(n, "is", "are") }

// Was returns the verb for n things, was or were.
func Was(n int) string { return Choose(n, "was", "were") }

// Choose returns one if n is 1, else more.
func Choose(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
