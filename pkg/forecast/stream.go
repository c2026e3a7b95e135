package forecast

import (
	"cmp"
	"fmt"
	"io"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Remarks says in sentences what may be wrong with how a file was read: the same for [Read] and [Stream].
func Remarks(rep dataset.CSVReport) (remarks []string) {
	if x, y := rep.Columns[rep.X], rep.Columns[rep.Y]; isValue(x) && isValue(y) {
		remarks = append(remarks, fmt.Sprintf("The first line, with %s and %s, was read as the header. If it is data, add ReadOptions.NoHeader.", x, y))
	}
	if rep.Title > 0 {
		remarks = append(remarks, fmt.Sprintf("The table begins at line %d; what stands above it was left out.", rep.Title+1))
	}
	if rep.DecimalComma && !rep.Asked {
		remarks = append(remarks, fmt.Sprintf("%s is read with a decimal comma; ReadOptions.DecimalPoint reads it with a point.", cmp.Or(rep.Columns[rep.Y], "y")))
	}
	if rep.BySteps {
		order, other := "day", "mdy"
		if rep.Time == dataset.TimeMDY {
			order, other = "month", "dmy"
		}
		remarks = append(remarks, fmt.Sprintf("Dates are read with the %s first, since their steps are equal then; ReadOptions.Time: %q reads them otherwise.", order, other))
	}
	if rep.ShortYears {
		remarks = append(remarks, "Years of two digits are read as 1969 to 2068.")
	}
	if name := cmp.Or(rep.Columns[rep.X], "x"); rep.Numbers != "" && rep.Time == dataset.TimeNumber {
		remarks = append(remarks, fmt.Sprintf("%s looks like %s, but the range of the sums is one of the plain numbers: they stay numbers.", name, rep.Numbers))
	} else if rep.Numbers != "" {
		remarks = append(remarks, fmt.Sprintf("%s is read as %s; ReadOptions.Time: \"number\" reads it as plain numbers.", name, rep.Numbers))
	}
	if rep.Comment != 0 {
		remarks = append(remarks, fmt.Sprintf("Lines that begin with %c were left out as comments.", rep.Comment))
	}
	return remarks
}

// Stream reads a csv file of any size as [Read] reads a small one, block by block (see [dataset.StreamCSV]): dates, and numbers that stand
// for them, become seconds since 1970. It uses X, Y, Comma, DecimalComma, DecimalPoint, NoHeader, Missing and Time of the options.
func Stream(r io.Reader, o ReadOptions, workers int, visit func(worker int, b *dataset.CSVBlock) error) (dataset.CSVReport, error) {
	return dataset.StreamCSV(r, o.csv(), workers, visit)
}

// OneAxis is how the files that were read so far have x: as dates or as plain numbers. The zero value has read none.
type OneAxis struct {
	File  string `json:"file,omitempty"` // the first that decides
	Dates bool   `json:"dates,omitempty"`
}

// Add takes a file as it was read. It is an error if it has dates and another one plain numbers, which would not be on one axis. Unix times
// in seconds are both.
func (a *OneAxis) Add(file string, rep dataset.CSVReport) error {
	if rep.Time == dataset.TimeAuto || rep.Time == dataset.TimeUnix || rep.Rows == rep.Skipped {
		return nil
	}
	dates := rep.Time != dataset.TimeNumber
	if a.File == "" {
		*a = OneAxis{file, dates}
	}
	if a.Dates == dates {
		return nil
	}
	words := map[bool]string{true: "dates", false: "plain numbers"}
	return fmt.Errorf("x is read as %s, and as %s in %s: ReadOptions.Time says how all files have it, number for plain numbers", words[dates], words[a.Dates], a.File)
}
