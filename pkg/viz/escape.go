package viz

import (
	"html"
	"regexp"

	"github.com/projected-likelihood/gppl/internal/whole"
)

// subscript finds d_{ij} and K_uu, one letter with an index, but not names such as co2_ppm or train_step.
var subscript = regexp.MustCompile(`(^|[^\pL\p{Nd}_])(\pL)_(?:\{([^{}<>]*)\}|(\pL{1,2})\b)`)

// negative finds the sign of a negative number, but not the hyphen of a range, a date, or an exponent.
var negative = regexp.MustCompile(`(^|[\s(\[,=±→])-(\d)`)

// escape makes HTML of a plain text, indices of symbols as subscripts, true minus signs, numbers and dates in one piece.
func escape(s string) string {
	s = negative.ReplaceAllString(html.EscapeString(s), "$1"+minus+"$2")
	return whole.HTML(subscript.ReplaceAllString(s, "$1$2<sub>$3$4</sub>"))
}
