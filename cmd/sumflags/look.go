package sumflags

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// OneAxis says whether the files that were read so far have dates or plain numbers as x. The zero value has read none.
type OneAxis struct {
	File  string `json:"file,omitempty"` // the first file that shows it
	Dates bool   `json:"dates,omitempty"`
}

// Add adds a file as it was read. It is an error if one file has dates and another plain numbers, which do not share an axis.
// Unix times in seconds fit both.
func (a *OneAxis) Add(file string, rep dataset.CSVReport) error {
	if rep.Time == dataset.TimeAuto || rep.Time == dataset.TimeUnix || rep.Rows == rep.Skipped {
		return nil
	}
	return a.Join(OneAxis{file, rep.Time != dataset.TimeNumber})
}

// Join adds the files of b as Add does.
func (a *OneAxis) Join(b OneAxis) error {
	if a.File == "" {
		*a = b
	}
	if b.File == "" || a.Dates == b.Dates {
		return nil
	}
	words := map[bool]string{true: "dates", false: "plain numbers"}
	return dataset.Message{Of: "ReadOptions",
		Format: "x is read as %s, and as %s in %s: %v says how all files have it, number for plain numbers",
		Args:   []any{words[b.Dates], words[a.Dates], a.File, dataset.Setting{Field: "Time"}}}
}

// Taken returns the rows of a block that are within the range of the header h. It adds the others to the bad rows of the block.
func Taken(h sums.Header, b *dataset.CSVBlock) (x, y []float64) {
	n := 0
	for i, t := range b.X {
		if err := h.Takes(t, b.Y[i], 1); err != nil {
			b.Bad = append(b.Bad, dataset.CSVProblem{Line: b.Lines[i], Err: err})
			continue
		}
		b.X[n], b.Y[n] = t, b.Y[i]
		n++
	}
	slices.SortStableFunc(b.Bad, func(a, b dataset.CSVProblem) int { return cmp.Compare(a.Line, b.Line) })
	return b.X[:n], b.Y[:n]
}

// A first look reads a whole file of up to wholeFile bytes, otherwise pieces of it.
const (
	wholeFile  = 4 << 20
	pieces     = 16
	pieceBytes = 128 << 10
	// If a file was not read whole, lookMargin times the range is added on either side, and y may be lookSpread times as far from
	// the centre as in the rows that were read.
	lookMargin = 0.05
	lookSpread = 4
)

// GiveRange says what to give instead of a first look at files.
var GiveRange = dataset.Message{
	Of: "sums", Format: "say %v, or %v", Args: []any{dataset.Setting{Field: "Range"}, dataset.Setting{Field: "Header"}},
}

// noLook returns the error of a first look that fails. The last verb of the format stands for GiveRange.
func noLook(format string, args ...any) error {
	return dataset.Message{Of: "sums", Format: format, Args: append(args, GiveRange)}
}

// SumsAxis returns the axis of sums with the header h, for the files and tables of forecasts.
func SumsAxis(h sums.Header) series.Axis {
	if !h.Dates {
		return series.Axis{}
	}
	return series.Axis{Name: "date", Unit: "second", Dates: true, Origin: time.Unix(0, 0).UTC(), Local: h.Local}
}

// LookAt returns the range of csv files from a first look: at all of a file up to 4 MB, otherwise at pieces, with a margin.
func LookAt(ctx context.Context, files []string, o series.ReadOptions) (r sums.Range, err error) {
	var x, y []float64
	whole, local := true, true
	var axis OneAxis
	for _, file := range files {
		text, all, err := excerpt(file)
		if err != nil {
			return r, err
		}
		whole = whole && all
		look := o
		look.Pooled = o.Pooled || !all // pieces do not show whether x repeat
		rep, err := series.Stream(bytes.NewReader(text), look, 1, func(_ int, b *dataset.CSVBlock) error {
			x, y = append(x, b.X...), append(y, b.Y...)
			return ctx.Err()
		})
		if err != nil && !all { // a piece counts other lines, and may lack the dates that decide their format
			if err = fileError(ctx, file, o); err == nil {
				err = noLook("pieces of it cannot be read apart from the rest: %v")
			}
		}
		if err == nil {
			err = axis.Add(file, rep)
		}
		r.Dates, local = r.Dates || rep.Dates(), local && rep.Local
		if err != nil {
			if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "dataset: CSV: ") {
				err = inner
			}
			return r, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(x) == 0 {
		return r, noLook("a first look at %s found no row with numbers in both columns: %v", strings.Join(files, ", "))
	}
	for i, v := range [][]float64{x, y} {
		if slices.Min(v) == slices.Max(v) {
			return r, noLook("%c is %v in all %d rows of the first look: if other rows differ, %v", "xy"[i], v[0], len(v))
		}
	}
	margin, spread, dates := lookMargin, float64(lookSpread), r.Dates
	local = local && slices.ContainsFunc(x, func(s float64) bool { return math.Mod(s, 86400) != 0 })
	if whole {
		margin, spread = 0, 1
	}
	if r, err = sums.SampleRange(x, y, margin, spread); err == nil {
		r.Dates, r.Local = dates, local
	}
	return r, err
}

// fileError reads all of a file and returns the error, which then names the correct line; nil if the file can be read.
func fileError(ctx context.Context, path string, o series.ReadOptions) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = series.Stream(f, o, 1, func(int, *dataset.CSVBlock) error { return ctx.Err() })
	return err
}

// excerpt returns some lines of a file, its first and last among them, or the whole file.
func excerpt(path string) (text []byte, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, noLook("%s is not a regular file, so its range is not known before it is read: %v", path)
	}
	if info.Size() <= wholeFile {
		text, err = io.ReadAll(f)
		return text, true, err
	}
	for i := range pieces {
		lines, err := piece(f, info.Size(), i)
		if err != nil {
			return nil, false, err
		}
		if text = append(text, lines...); len(lines) == longestPiece {
			break
		}
	}
	return text, false, nil
}

// longestPiece is longer than any row that the reader accepts: if no line ends within it, the reader refuses the excerpt.
const longestPiece = 4 << 20

// piece returns the whole lines of a piece of a file. The piece is pieceBytes long, or longer if a line is, up to longestPiece.
func piece(f io.ReaderAt, size int64, i int) (lines []byte, err error) {
	for length := int64(pieceBytes); ; length *= 2 {
		length = min(length, size, longestPiece)
		at := min((size-pieceBytes)*int64(i)/(pieces-1), size-length) // the last pieces grow backwards
		lines = make([]byte, length)
		n, err := f.ReadAt(lines, at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		lines = lines[:n]
		if length == longestPiece {
			return lines, nil
		}
		if at > 0 {
			_, lines, _ = bytes.Cut(lines, []byte("\n"))
		}
		if i < pieces-1 {
			lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
		}
		lacksRow := i == 0 && bytes.Count(lines, []byte("\n")) < 2 // a header and a row are needed
		if len(lines) > 0 && !lacksRow || length == size {
			return lines, nil
		}
	}
}
