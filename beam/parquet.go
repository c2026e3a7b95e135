package gpplbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// mostKeys is the number of columns that may tell series apart.
const mostKeys = 6

// PagesHeld is the number of pages of a Parquet file that a worker holds in memory: compressed and uncompressed, a page of values
// and one of a dictionary for each of two columns.
const PagesHeld = 8

// isParquet reports whether a file is a Parquet file by its name; others are csv files.
func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// seekable returns in if it is a file, else a temporary file with what in holds: a Parquet file begins at its end, and a file of
// an object store can be read in order only. done closes and removes that.
func seekable(in io.Reader) (f parquet.ReaderAtSeeker, done func(), err error) {
	if f, ok := in.(parquet.ReaderAtSeeker); ok {
		return f, func() {}, nil
	}
	t, err := os.CreateTemp("", "gppl-*.parquet")
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		t.Close()
		os.Remove(t.Name())
	}
	if _, err := io.Copy(t, in); err != nil {
		done()
		return nil, nil, err
	}
	return t, done, nil
}

// parquetColumn says how a column is converted to float64.
type parquetColumn struct {
	index    int
	name     string
	level    int16 // the definition level of a value that is present
	physical parquet.Type

	timestamp bool
	second    int64 // a second in the unit of the timestamps
	day       bool  // a date, in days
	text      bool
}

// columnOf returns the column with the given name or place. Timestamps and dates become seconds since 1970, in x only.
func columnOf(s *schema.Schema, name string, place int, dates bool) (n parquetColumn, err error) {
	n.index = place
	if name != "" {
		if n.index = s.ColumnIndexByName(name); n.index < 0 {
			return n, fmt.Errorf("there is no column %q; the columns are %s", name, strings.Join(columnNames(s), ", "))
		}
	} else if s.NumColumns() < 2 {
		return n, fmt.Errorf("%d columns, and two are needed: %s", s.NumColumns(), strings.Join(columnNames(s), ", "))
	}
	c := s.Column(n.index)
	n.name, n.level, n.physical = c.Path(), c.MaxDefinitionLevel(), c.PhysicalType()
	cannot := func() (parquetColumn, error) {
		return n, fmt.Errorf("column %q is %v %v: only numbers and texts can be read, and timestamps as x",
			n.name, n.physical, c.LogicalType())
	}
	if c.MaxRepetitionLevel() > 0 {
		return n, fmt.Errorf("column %q is a list: it has more than one value a row", n.name)
	}
	switch n.physical {
	case parquet.Types.ByteArray:
		if t := c.LogicalType(); t.Equals(schema.StringLogicalType{}) {
			n.text = true
			return n, nil
		}
		return cannot()
	case parquet.Types.Double, parquet.Types.Float, parquet.Types.Int32, parquet.Types.Int64:
	default:
		return cannot()
	}
	switch t := c.LogicalType().(type) {
	case nil, schema.NoLogicalType:
	case schema.IntLogicalType, *schema.IntLogicalType:
		if i, ok := t.(interface{ IsSigned() bool }); ok && !i.IsSigned() {
			return cannot()
		}
	case schema.DateLogicalType, *schema.DateLogicalType:
		n.day = true
	case schema.TimestampLogicalType:
		n.timestamp, n.second = true, secondOf(t.TimeUnit())
	case *schema.TimestampLogicalType:
		n.timestamp, n.second = true, secondOf(t.TimeUnit())
	default:
		if !t.IsNone() {
			return cannot()
		}
	}
	if (n.timestamp || n.day) && !dates || n.timestamp && n.second == 0 {
		return cannot()
	}
	return n, nil
}

// secondOf returns a second in a unit, 0 if the unit is unknown.
func secondOf(u schema.TimeUnitType) int64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1e3
	case schema.TimeUnitMicros:
		return 1e6
	case schema.TimeUnitNanos:
		return 1e9
	}
	return 0
}

// columnNames returns the paths of all columns.
func columnNames(s *schema.Schema) (names []string) {
	for i := range s.NumColumns() {
		names = append(names, s.Column(i).Path())
	}
	return names
}

// number converts v to float64. It rounds a timestamp as the csv reader does, so that the sums have equal bytes.
func (n parquetColumn) number(v int64) float64 {
	switch {
	case n.day:
		return 86400 * float64(v)
	case n.timestamp:
		seconds, part := v/n.second, v%n.second
		if part < 0 {
			seconds, part = seconds-1, part+n.second
		}
		return float64(seconds) + 1e-9*float64(part*(1e9/n.second))
	}
	return float64(v)
}

// parquetFile is an open file, its columns x and y, and the columns of text that may tell series apart.
type parquetFile struct {
	*file.Reader
	x, y    parquetColumn
	keys    []parquetColumn
	columns series.ReadOptions
}

// all are the columns that are read: x, y and the keys.
func (s parquetFile) all() []parquetColumn { return append([]parquetColumn{s.x, s.y}, s.keys...) }

// dates reports whether x is a column of dates or timestamps.
func (s parquetFile) dates() bool { return s.x.timestamp || s.x.day }

// damaged, when deferred, turns a panic into an error: arrow panics on some corrupted files.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is damaged: %v", r)
	}
}

// openParquet reads the footer of a file.
func openParquet(f parquet.ReaderAtSeeker, o Options) (s parquetFile, err error) {
	defer damaged(&err)
	p := parquet.NewReaderProperties(nil)
	p.BufferedStreamEnabled = true // otherwise a whole row group is in memory
	if o.PageBytes > 0 {
		p.MaxCompressedPageSize, p.MaxUncompressedPageSize = min(p.MaxCompressedPageSize, o.PageBytes),
			min(p.MaxUncompressedPageSize, o.PageBytes)
	}
	if s.Reader, err = file.NewParquetReader(f, file.WithReadProps(p)); err != nil {
		return s, err
	}
	s.columns = o.Columns
	columns := s.MetaData().Schema
	if s.x, err = columnOf(columns, o.Columns.X, 0, true); err == nil {
		s.y, err = columnOf(columns, o.Columns.Y, 1, false)
	}
	if err == nil && s.x.index == s.y.index {
		err = fmt.Errorf("x and y are both column %q", s.x.name)
	}
	for i := 0; err == nil && !o.Columns.Pooled && i < columns.NumColumns() && len(s.keys) < mostKeys; i++ {
		if k, wrong := columnOf(columns, "", i, true); wrong == nil && k.text && i != s.x.index && i != s.y.index {
			s.keys = append(s.keys, k)
		}
	}
	return s, err
}

// extremes widens the extremes of x and y to those that the statistics of each row group have.
func (s parquetFile) extremes(lo, hi *[2]float64) error {
	for g := range s.NumRowGroups() {
		for i, n := range []parquetColumn{s.x, s.y} {
			least, most, err := extremesOf(s.MetaData().RowGroup(g), n)
			if err != nil {
				return fmt.Errorf("row group %d: %w", g, err)
			}
			lo[i], hi[i] = min(lo[i], least), max(hi[i], most)
		}
	}
	return nil
}

// extremesOf returns the least and the largest value of a column of a row group; +Inf and −Inf if all values are missing.
func extremesOf(g *metadata.RowGroupMetaData, n parquetColumn) (lo, hi float64, err error) {
	defer damaged(&err)
	chunk, err := g.ColumnChunk(n.index)
	if err != nil {
		return 0, 0, err
	}
	if set, err := chunk.StatsSet(); err != nil || !set {
		return 0, 0, errors.Join(err, fmt.Errorf("column %q has no statistics", n.name))
	}
	statistics, err := chunk.Statistics()
	if err != nil {
		return 0, 0, err
	}
	if !statistics.HasMinMax() {
		if statistics.HasNullCount() && statistics.NullCount() == g.NumRows() {
			return math.Inf(1), math.Inf(-1), nil
		}
		return 0, 0, fmt.Errorf("the statistics of column %q have no extremes", n.name)
	}
	switch s := statistics.(type) {
	case *metadata.Float64Statistics:
		return s.Min(), s.Max(), nil
	case *metadata.Float32Statistics:
		return float64(s.Min()), float64(s.Max()), nil
	case *metadata.Int64Statistics:
		return n.number(s.Min()), n.number(s.Max()), nil
	case *metadata.Int32Statistics:
		return n.number(int64(s.Min())), n.number(int64(s.Max())), nil
	}
	return 0, 0, fmt.Errorf("column %q has statistics of another type", n.name)
}

// batch is the number of rows that are read at a time.
const batch = 1 << 14

// numbers passes the rows to visit, some at a time and in order: NaN is a missing value. visit must not keep the slices.
func (s parquetFile) numbers(ctx context.Context, visit func(x, y []float64, keys [][]string) error) (err error) {
	defer damaged(&err)
	x, y, keys := make([]float64, batch), make([]float64, batch), make([][]string, len(s.keys))
	return s.batches(ctx, func(c []column, rows int) error {
		err := errors.Join(c[0].read(x[:rows]), c[1].read(y[:rows]))
		for i := range keys {
			keys[i] = append(keys[i][:0], make([]string, rows)...)
			err = errors.Join(err, c[2+i].readText(keys[i]))
		}
		if err != nil {
			return err
		}
		return visit(x[:rows], y[:rows], keys)
	})
}

// batches calls read for each batch of rows; read takes as many values from each of the columns.
func (s parquetFile) batches(ctx context.Context, read func(columns []column, rows int) error) error {
	for g := range s.NumRowGroups() {
		columns, left, err := s.group(g)
		for err == nil && left > 0 {
			rows := min(batch, left)
			left -= rows
			if err = ctx.Err(); err == nil {
				err = read(columns, rows)
			}
		}
		if err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
	}
	return nil
}

// column reads a chunk of a column as numbers.
type column struct {
	parquetColumn
	chunk  file.ColumnChunkReader
	levels []int16
	values any // a slice of the physical type
}

// group returns the columns of a row group, and how many rows it has.
func (s parquetFile) group(g int) (columns []column, rows int, err error) {
	group := s.RowGroup(g)
	for _, n := range s.all() {
		chunk, err := group.Column(n.index)
		if err != nil {
			return nil, 0, err
		}
		columns = append(columns, column{parquetColumn: n, chunk: chunk})
	}
	return columns, int(group.NumRows()), nil
}

// read sets dst to the next rows, NaN where there is no value.
func (c *column) read(dst []float64) error {
	switch r := c.chunk.(type) {
	case *file.Float64ColumnChunkReader:
		return readInto(c, dst, r.ReadBatch, func(v float64) float64 { return v }, math.NaN())
	case *file.Float32ColumnChunkReader:
		return readInto(c, dst, r.ReadBatch, func(v float32) float64 { return float64(v) }, math.NaN())
	case *file.Int64ColumnChunkReader:
		return readInto(c, dst, r.ReadBatch, c.number, math.NaN())
	case *file.Int32ColumnChunkReader:
		return readInto(c, dst, r.ReadBatch, func(v int32) float64 { return c.number(int64(v)) }, math.NaN())
	}
	return fmt.Errorf("column %q cannot be read", c.name)
}

// readInto sets dst to the next rows: convert(v) for a value v, and none where there is no value.
func readInto[T, V any](c *column, dst []V, readBatch func(int64, []T, []int16, []int16) (int64, int, error), convert func(T) V,
	none V) error {
	values, _ := c.values.([]T)
	if values == nil {
		values = make([]T, batch)
		c.values, c.levels = values, make([]int16, batch)
	}
	for len(dst) > 0 {
		total, count, err := readBatch(int64(len(dst)), values, c.levels, nil)
		if err == nil && total == 0 {
			err = c.chunk.Err() // an error of a page, which ReadBatch takes for the end
		}
		switch {
		case err != nil:
			return fmt.Errorf("column %q: %w", c.name, largePage(err))
		case total == 0 && count == 0:
			return fmt.Errorf("column %q: the file ends %d rows early", c.name, len(dst))
		case c.level == 0:
			total = int64(count)
		}
		at := 0
		for i := range dst[:total] {
			dst[i] = none
			if c.level == 0 || c.levels[i] == c.level {
				dst[i] = convert(values[at])
				at++
			}
		}
		dst = dst[total:]
	}
	return nil
}

// largePage adds advice to an error about a page that is larger than Options.PageBytes; other errors remain as they are.
func largePage(err error) error {
	if strings.Contains(err.Error(), "exceeds configured limit") { // arrow has no type for this error
		return fmt.Errorf("%w bytes: --memory raises the limit of a page, and pages of 1 MB need little", err)
	}
	return err
}
