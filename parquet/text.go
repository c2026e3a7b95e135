package gpplparquet

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Texts, and numbers that may stand for dates, go through the csv reader, so that there is only one table of date formats.

// stream writes both columns as a csv file and reads that. visit gets the rows in order; line 1 is the first.
func (s source) stream(ctx context.Context, o forecast.ReadOptions,
	visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error) {
	if s.dates() { // they are written below
		o.Time = dataset.TimeAuto
	}
	o.NoHeader, o.X, o.Y, o.Comma = true, "1", "2", ','
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.writeCSV(ctx, w)) }()
	rep, err := forecast.Stream(r, o, 1, func(_ int, b *dataset.CSVBlock) error { return visit(b) })
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends the writer
	if err == nil {
		rep.Columns[rep.X], rep.Columns[rep.Y] = s.x.name, s.y.name
	}
	return rep, err
}

func (s source) writeCSV(ctx context.Context, w io.Writer) (err error) {
	defer damaged(&err)
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	texts := [2][]string{make([]string, batch), make([]string, batch)}
	for g := range s.NumRowGroups() {
		columns, rows, err := s.group(g)
		if err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
		for from := 0; from < rows; from += batch {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(batch, rows-from)
			for i := range columns {
				if err := columns[i].readText(texts[i][:n]); err != nil {
					return fmt.Errorf("row group %d: %w", g, err)
				}
			}
			for i := range n {
				if err := out.Write([]string{texts[0][i], texts[1][i]}); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return errors.Join(out.Error(), buffered.Flush())
}

// readText sets dst to the next rows, "" where there is no value.
func (c *column) readText(dst []string) error {
	if r, ok := c.chunk.(*file.ByteArrayColumnChunkReader); ok {
		return readInto(c, dst, r.ReadBatch, func(v parquet.ByteArray) string { return string(v) }, "")
	}
	if r, ok := c.chunk.(*file.Int64ColumnChunkReader); ok && !c.timestamp {
		return readInto(c, dst, r.ReadBatch, func(v int64) string { return strconv.FormatInt(v, 10) }, "")
	}
	values := make([]float64, len(dst))
	if err := c.read(values); err != nil {
		return err
	}
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			dst[i] = ""
		case c.timestamp || c.day:
			whole := math.Floor(v)
			dst[i] = time.Unix(int64(whole), int64(math.Round(1e9*(v-whole)))).UTC().Format("2006-01-02T15:04:05.999999999Z")
		default:
			dst[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return nil
}

// sumText adds a file that is read as text.
func (s source) sumText(ctx context.Context, into *sums.Sums, o Options, rep *Report) (dataset.CSVReport, error) {
	h := into.Header()
	found, err := s.stream(ctx, o.Columns.Within(h), func(b *dataset.CSVBlock) error {
		x, y := forecast.Taken(h, b)
		rep.Bad += len(b.Bad)
		if len(b.Bad) > 0 {
			bad := fmt.Errorf("row %d: %w", b.Bad[0].Line-1, b.Bad[0].Err)
			if o.Strict {
				return bad
			}
			if rep.First == nil {
				rep.First = bad
			}
		}
		return into.Add(x, y)
	})
	rep.Rows, rep.Missing, rep.RowGroups = int(s.NumRows()), found.Skipped, s.NumRowGroups()
	if err == nil {
		rep.Remarks = forecast.Remarks(found)
	}
	return found, err
}
