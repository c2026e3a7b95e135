package viz

import (
	"html"
	"regexp"

	"github.com/projected-likelihood/gppl/internal/text"
)

// subscript finds d_{ij} and K_uu, one letter with an index, but not names such as co2_ppm or train_step.
var subscript = regexp.MustCompile(`(^|[^\pL\p{Nd}_])(\pL)_(?:\{([^{}<>]*)\}|(\pL{1,2})\b)`)

// escape turns plain text into HTML. Indices of symbols become subscripts and minus signs true ones; numbers and dates are not
// broken across lines.
func escape(s string) string {
	s = text.Minus(html.EscapeString(s))
	return text.UnbrokenHTML(subscript.ReplaceAllString(s, "$1$2<sub>$3$4</sub>"))
}
