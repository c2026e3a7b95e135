package series

import (
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// message returns a sentence or an error whose settings are fields of [ReadOptions].
func message(format string, args ...any) dataset.Message {
	return dataset.Message{Of: "ReadOptions", Format: format, Args: args}
}

// joined joins settings or messages with blanks.
func joined(parts []any) dataset.Message {
	return message(strings.TrimPrefix(strings.Repeat(" %v", len(parts)), " "), parts...)
}
