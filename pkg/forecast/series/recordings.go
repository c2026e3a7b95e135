package series

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Recording is a series that the project knows where to find.
type Recording struct {
	Name    string // the argument of gppl data
	Title   string
	Licence string
	From    string // the publisher's address, or the place in this module
	load    func(context.Context, dataset.Options) (dataset.Series, error)
}

// Recordings lists the recordings of the project.
var Recordings = []Recording{
	{"co2", "Weekly CO2 at Mauna Loa, 1958 to 2001", "public domain", "shipped with gppl",
		func(context.Context, dataset.Options) (dataset.Series, error) { return dataset.CO2(), nil }},
	{"sunspots", "Monthly sunspot number since 1749, WDC-SILSO", "CC BY-NC 4.0", dataset.SunspotsFile.URL, dataset.Sunspots},
	{"eeg", "Neonatal EEG of the paper, F3-Ref, 58 minutes at 256 Hz", "CC BY 4.0", dataset.EEGFile.URL, dataset.EEG},
	{"eeg-burst", "Neonatal EEG, F3-Ref, 211 s at 256 Hz; not the paper's", "MIT", dataset.EEGBurstFile.URL, dataset.EEGBurst},
}

// FindRecording returns the recording with a name.
func FindRecording(name string) (Recording, error) {
	var known []string
	for _, r := range Recordings {
		if r.Name == name {
			return r, nil
		}
		known = append(known, r.Name)
	}
	return Recording{}, fmt.Errorf("no recording %q: there are %s", name, strings.Join(known, ", "))
}

// Load finds the recording as dataset.Find does, and downloads it if necessary.
func (r Recording) Load(ctx context.Context, o dataset.Options) (dataset.Series, error) {
	return r.load(ctx, o)
}

// WriteSeries writes a series as a csv file that Read reads: a header of two names, with units, and a row for each observation.
func WriteSeries(w io.Writer, s dataset.Series) error {
	name := func(name, unit string) string {
		if unit == name {
			return name
		}
		return text.WithUnit(name, unit)
	}
	rows := [][]string{{name(s.XName, s.XUnit), name(s.YName, s.YUnit)}}
	for i := range s.X {
		rows = append(rows, []string{strconv.FormatFloat(s.X[i], 'g', -1, 64), strconv.FormatFloat(s.Y[i], 'g', -1, 64)})
	}
	return WriteCSV(w, rows)
}

// WriteCSV writes rows as csv. A cell that a spreadsheet would read as a formula, and that is not a number, begins with an
// apostrophe. Control characters, which a terminal would obey, become U+FFFD, except ends of lines and tabs.
func WriteCSV(w io.Writer, rows [][]string) error {
	table := csv.NewWriter(w)
	for _, row := range rows {
		row = slices.Clone(row)
		for i, cell := range row {
			if formula(cell) {
				cell = "'" + cell
			}
			row[i] = strings.Map(harmless, cell)
		}
		if err := table.Write(row); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// formula reports whether a spreadsheet reads a cell as a formula, by its first character after what a spreadsheet skips.
func formula(cell string) bool {
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(cell, func(r rune) bool { return r == ' ' || r == '\ufeff' }))
	return strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}

func harmless(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return unicode.ReplacementChar
	}
	return r
}
