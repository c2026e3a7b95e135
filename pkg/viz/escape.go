package viz

import (
	"html"
	"regexp"

	"github.com/projected-likelihood/gppl/internal/whole"
)

// subscript finds d_{ij} and K_uu, one letter with an index, but not names such as co2_ppm or train_step.
var subscript = regexp.MustCompile(`(^|[^\pL\p{Nd}_])(\pL)_(?:\{([^{}<>]*)\}|(\pL{1,2})\b)`)

// escape makes HTML of a plain text, indices of symbols as subscripts, numbers and dates in one piece.
func escape(s string) string {
	return whole.HTML(subscript.ReplaceAllString(html.EscapeString(s), "$1$2<sub>$3$4</sub>"))
}
