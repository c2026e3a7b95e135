package series

import (
	"fmt"
	"io"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Stream reads a csv file of any size as [Read] reads a small one, block by block (see [dataset.StreamCSV]): dates, and numbers
// that stand for them, become seconds since 1970. Of the options it uses X, Y, Comma, DecimalComma, DecimalPoint, NoHeader,
// Missing, Time and Pooled. If a table holds several series the error comes after its last row has been visited.
func Stream(
	r io.Reader, o ReadOptions, workers int, visit func(worker int, b *dataset.CSVBlock) error,
) (dataset.CSVReport, error) {
	rep, err := dataset.StreamCSV(r, o.csv(), workers, visit)
	if err == nil {
		err = o.OneSeries(rep)
	}
	return rep, err
}

// ParsePlace reads a number, or a date as seconds since 1970: a position on the axis that [Stream] reads.
func ParsePlace(text string) (float64, error) {
	if at, err := dataset.ParseDate(text); err == nil {
		return sinceEpoch(at), nil
	}
	v, err := dataset.ParseNumber(text)
	if err != nil {
		return 0, fmt.Errorf("%w, nor a date", err)
	}
	return v, nil
}

// ParsePlaceOf is ParsePlace on an axis of dates, on which 2024 is a year, or on one of numbers.
func ParsePlaceOf(dates bool, text string) (float64, error) {
	if at, err := time.Parse("2006", text); dates && err == nil {
		return sinceEpoch(at), nil
	}
	return ParsePlace(text)
}

// IsDate reports whether ParsePlace reads a text as a date.
func IsDate(text string) bool {
	_, err := dataset.ParseDate(text)
	return err == nil
}
