package experiment

import (
	"fmt"
	"math"
)

// number prints about five significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e5:
		return fmt.Sprintf("%.1f million", v/1e6)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// inSeconds prints a time with two significant digits: 2400 s rather than 2.4e+03 s.
func inSeconds(v float64) string {
	if v >= 100 {
		unit := math.Pow(10, math.Floor(math.Log10(v))-1)
		return fmt.Sprintf("%.0f s", math.Round(v/unit)*unit)
	}
	return fmt.Sprintf("%.2g s", v)
}
