package text

import (
	"regexp"
	"strings"
)

const (
	number = `[−-]?\d(?:[\d.,]*\d)?(?:e[-+]?\d+)?`
	// unit matches a unit after a number, which says nothing at the beginning of a line.
	unit = ` (?:[%‰×]|°C?|(?:nats?|[nµm]?s|min|h|[kMGT]?B|[kM]?Hz|sd)\b)`
	// name matches a short name, since the text that is kept whole must fit on the line of a phone.
	name = `[\pL\d_.]{1,12} (?:=|<|&lt;|≈) `
)

// parts matches numbers with their units, dates and flags, which a browser or a figure would break at spaces and hyphens.
// scripts/report/whole.py does the same for the prose of notebooks.
var parts = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z-]*)|(` + strings.Join([]string{
	name + number + `(?: ± ` + number + `)?(?:` + unit + `)?`,
	number + ` ± ` + number + `(?:` + unit + `)?`,
	number + unit,
	`\d[\d.]*e-\d+`,
	`Matérn \d/\d`,
	`\d{4}-(?:Q\d|W?\d\d(?:-\d\d(?:T[\d:]+Z?)?)?)\b`,
}, "|") + `)`)

// UnbrokenHTML returns escaped text in which 95 %, p = 1e-05, 7.4 ± 0.8, 2025-06-12T23:06:00Z and --y-error are not broken.
func UnbrokenHTML(escaped string) string {
	return parts.ReplaceAllString(escaped, `$1<span style="white-space:nowrap">$2$3</span>`)
}

// UnbrokenFields splits a plain text at its spaces, as strings.Fields does, except at spaces within 95 %, p = 1e-05 and 7.4 ±
// 0.8.
func UnbrokenFields(text string) []string {
	const kept = "\x00" // stands for a space that is no place to break, and occurs in no text
	fields := strings.Fields(parts.ReplaceAllStringFunc(text, func(s string) string {
		inner := strings.TrimLeft(s, " \t\n(")
		return s[:len(s)-len(inner)] + strings.ReplaceAll(inner, " ", kept)
	}))
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, kept, " ")
	}
	return fields
}
