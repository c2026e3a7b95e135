package text

import (
	"strings"
	"unicode"
)

// Printable replaces control characters, and those that change the direction of text or are invisible, so that data cannot send
// them to the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, s)
}
