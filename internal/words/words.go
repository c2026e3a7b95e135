// Package words writes numbers of things in English.
package words

import "fmt"

// Count writes how many of a thing there are: 1 row, 2 rows.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Are returns the verb for n things, is or are.
func Are(n int) string { return choose(n, "is", "are") }

// Was returns the verb for n things, was or were.
func Was(n int) string { return choose(n, "was", "were") }

func choose(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
