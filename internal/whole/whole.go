// Package whole keeps numbers, dates and flags of a page in one piece: a browser breaks lines at their hyphens.
package whole

import "regexp"

var parts = regexp.MustCompile(`\d[\d.]*e-\d+|\d{4}-\d\d(?:-\d\d(?:T[\d:]+Z?)?)?\b|(?:^|[\s(])--[a-z][a-z-]*`)

// HTML returns escaped text in which 1e-05, 2025-06-12T23:06:00Z and --y-error are not broken.
func HTML(escaped string) string {
	return parts.ReplaceAllStringFunc(escaped, func(s string) string {
		before := ""
		if s[0] != '-' && (s[0] < '0' || s[0] > '9') { // what stands before a flag
			before, s = s[:1], s[1:]
		}
		return before + `<span style="white-space:nowrap">` + s + `</span>`
	})
}
