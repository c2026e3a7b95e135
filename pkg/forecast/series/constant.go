package series

import (
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// ConstantError is the error for a y that is the same in all rows, from which no model can be learnt.
type ConstantError struct {
	// Series has the rows if Read or ReadPanel returned the error, and its only forecast is the constant; otherwise it is nil.
	Series *Series
	y      float64
	rows   int
	other  dataset.Message // how to choose another column; empty if y was chosen, or there is none
}

func (e *ConstantError) Error() string { return e.Words(dataset.Setting.String) }

// Words returns Error with the settings named by word.
func (e *ConstantError) Words(word func(dataset.Setting) string) string {
	text := fmt.Sprintf("y is %v in all %d rows: there is nothing to learn", e.y, e.rows)
	if e.other.Format != "" {
		text += " (" + e.other.Words(word) + ")"
	}
	return text
}
