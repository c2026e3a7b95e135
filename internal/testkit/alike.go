package testkit

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// Alike reports whether two texts differ only in their numbers, and each number of b differs from the number in a by at most half
// of the last digit of that plus a share of it.
func Alike(a, b string, share float64) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	others := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		v, err := strconv.ParseFloat(text, 64)
		w, err2 := strconv.ParseFloat(others[i], 64)
		_, decimals, _ := strings.Cut(text, ".")
		if err != nil || err2 != nil || math.Abs(v-w) > share*v+0.51*math.Pow10(-len(decimals)) {
			return false
		}
	}
	return true
}
