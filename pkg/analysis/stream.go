package analysis

import (
	"io"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// HeaderRemark warns if the first line of a file that Stream read may be data; "" if not.
func HeaderRemark(rep dataset.CSVReport) string {
	for _, text := range headerRemarks(dataset.Series{XName: rep.Columns[rep.X], YName: rep.Columns[rep.Y]}, rep) {
		return text
	}
	return ""
}

// Stream reads a csv file of any size as [Read] reads a small one, block by block (see [dataset.StreamCSV]): dates become seconds since
// 1970, numbers stay as they are. It uses X, Y, Comma, DecimalComma, NoHeader, Missing and Time of the options.
func Stream(r io.Reader, o ReadOptions, workers int, visit func(worker int, b *dataset.CSVBlock) error) (dataset.CSVReport, error) {
	return dataset.StreamCSV(r, dataset.CSVOptions{
		X: o.X, Y: o.Y, Comma: o.Comma, DecimalComma: o.DecimalComma, NoHeader: o.NoHeader, Time: o.Time, Seconds: true, Limit: largest,
		Missing: append(slices.Clone(missing), o.Missing...),
	}, workers, visit)
}
