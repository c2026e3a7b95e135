// Package gpplparquet makes sums.Sums of Parquet files. It reads two columns; each worker reads a row group at a time. The bytes
// of the result do not depend on row groups and workers.
package gpplparquet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Options say what is read, and how.
type Options struct {
	// Columns names the columns X and Y ("a.b" for a field of a group); by default they are the first and the second. Its Time,
	// DecimalComma, DecimalPoint and Missing say how texts, and numbers that may stand for dates, are written.
	Columns forecast.ReadOptions
	Strict  bool // a row that is out of range is an error rather than left out
	// PageBytes is the largest allowed size of a page, compressed and uncompressed: a small file can claim to have pages of many
	// gigabytes. 0 means arrow's limits, 64 and 256 MB. A worker holds up to PagesHeld pages.
	PageBytes int64
}

// PagesHeld is the number of pages that a worker holds in memory: compressed and uncompressed, a page of values and one of a
// dictionary for each of two columns.
const PagesHeld = 8

// Report counts rows.
type Report struct {
	Rows      int   // in the files
	Missing   int   // left out: no x or no y
	Bad       int   // left out: out of range
	First     error // the reason for the first of these that a worker met
	RowGroups int
	Remarks   []string // on how the files were read
}

// numbers says how a column is converted to float64.
type numbers struct {
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
func columnOf(s *schema.Schema, name string, place int, dates bool) (n numbers, err error) {
	n.index = place
	if name != "" {
		if n.index = s.ColumnIndexByName(name); n.index < 0 {
			return n, fmt.Errorf("there is no column %q; the columns are %s", name, names(s))
		}
	} else if s.NumColumns() < 2 {
		return n, fmt.Errorf("%d columns, and two are needed: %s", s.NumColumns(), names(s))
	}
	c := s.Column(n.index)
	n.name, n.level, n.physical = c.Path(), c.MaxDefinitionLevel(), c.PhysicalType()
	cannot := func() (numbers, error) {
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

func names(s *schema.Schema) (text string) {
	for i := range s.NumColumns() {
		if i > 0 {
			text += ", "
		}
		text += s.Column(i).Path()
	}
	return text
}

// of converts v. Timestamps are rounded as those of a csv file are, so that the sums have equal bytes.
func (n numbers) of(v int64) float64 {
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

// source is an open file with its two columns.
type source struct {
	*file.Reader
	x, y    numbers
	columns forecast.ReadOptions
}

// dates reports whether the type of x is one of dates.
func (s source) dates() bool { return s.x.timestamp || s.x.day }

// report says how x is read if it is not read as text.
func (s source) report(rows, missing int) dataset.CSVReport {
	rep := dataset.CSVReport{Rows: rows, Skipped: missing, Time: dataset.TimeNumber}
	if s.dates() {
		rep.Time = dataset.TimeISO
	}
	return rep
}

// asText reports whether rows are read like those of a csv file: if a column is text, or if the numbers of x may or must stand
// for dates.
func (s source) asText() bool {
	switch {
	case s.NumRows() == 0 || s.dates() && !s.y.text:
		return false
	case s.x.text || s.y.text:
		return true
	case s.columns.Time != dataset.TimeAuto:
		return s.columns.Time != dataset.TimeNumber
	}
	for g := range s.NumRowGroups() {
		lo, hi, err := extremes(s.MetaData().RowGroup(g), s.x)
		if err == nil && lo <= hi && !(dataset.MayBeDate(lo) && dataset.MayBeDate(hi)) {
			return false
		}
	}
	return true
}

// damaged, when deferred, turns a panic into an error: arrow panics on some corrupted files.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is damaged: %v", r)
	}
}

func open(path string, o Options) (s source, err error) {
	defer damaged(&err)
	p := parquet.NewReaderProperties(nil)
	p.BufferedStreamEnabled = true // otherwise a whole row group is in memory
	if o.PageBytes > 0 {
		p.MaxCompressedPageSize, p.MaxUncompressedPageSize = min(p.MaxCompressedPageSize, o.PageBytes),
			min(p.MaxUncompressedPageSize, o.PageBytes)
	}
	if s.Reader, err = file.OpenParquetFile(path, false, file.WithReadProps(p)); err != nil {
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
	if err != nil {
		s.Close()
	}
	return s, err
}

// Look returns the range of the files by the statistics of each row group in their footers: of x, and of y about the middle. It
// is an error if a row group has none.
func Look(files []string, o Options) (sums.Range, error) {
	var lo, hi [2]float64
	for i := range lo {
		lo[i], hi[i] = math.Inf(1), math.Inf(-1)
	}
	var axis forecast.OneAxis
	dates := false
	for _, path := range files {
		rep, err := look(path, o, &lo, &hi)
		if err == nil {
			err = axis.Add(path, rep)
		}
		if err != nil {
			return sums.Range{}, fmt.Errorf("%s: %w", path, err)
		}
		dates = dates || rep.Dates()
	}
	if !(hi[0] > lo[0]) || !(hi[1] > lo[1]) {
		return sums.Range{}, fmt.Errorf("x is from %v to %v, y from %v to %v: there is nothing to learn", lo[0], hi[0], lo[1], hi[1])
	}
	middle := 0.5*lo[1] + 0.5*hi[1]
	return sums.Range{Lo: lo[0], Hi: hi[0], Centre: middle, Largest: max(hi[1]-middle, middle-lo[1]), Dates: dates}, nil
}

// look widens the extremes of x and y to those of a file.
func look(path string, o Options, lo, hi *[2]float64) (rep dataset.CSVReport, err error) {
	defer damaged(&err)
	s, err := open(path, o)
	if err != nil {
		return rep, err
	}
	defer s.Close()
	if s.asText() {
		return s.stream(context.Background(), o.Columns, func(b *dataset.CSVBlock) error {
			for i := range b.X {
				lo[0], hi[0] = min(lo[0], b.X[i]), max(hi[0], b.X[i])
				lo[1], hi[1] = min(lo[1], b.Y[i]), max(hi[1], b.Y[i])
			}
			return nil
		})
	}
	for g := range s.NumRowGroups() {
		for i, n := range []numbers{s.x, s.y} {
			least, most, err := extremes(s.MetaData().RowGroup(g), n)
			if err != nil {
				return rep, fmt.Errorf("row group %d: %w", g, err)
			}
			lo[i], hi[i] = min(lo[i], least), max(hi[i], most)
		}
	}
	return s.report(int(s.NumRows()), 0), nil
}

// extremes returns those of a column of a row group; if all values are missing, those of an empty set.
func extremes(g *metadata.RowGroupMetaData, n numbers) (lo, hi float64, err error) {
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
		return n.of(s.Min()), n.of(s.Max()), nil
	case *metadata.Int32Statistics:
		return n.of(int64(s.Min())), n.of(int64(s.Max())), nil
	}
	return 0, 0, fmt.Errorf("column %q has statistics of another type", n.name)
}

// Sum adds up the files with the given number of workers. If it fails, or ctx ends, there is no result.
func Sum(ctx context.Context, files []string, h sums.Header, o Options, workers int) (*sums.Sums, Report, error) {
	var rep Report
	if h.LargestWeight != 0 {
		return nil, rep, errors.New("gpplparquet: the header has weights, which are not read")
	}
	workers = max(1, workers)
	all := make([]*sums.Sums, workers)
	var err error
	for i := range all {
		if all[i], err = sums.New(h); err != nil {
			return nil, rep, err
		}
	}
	var axis forecast.OneAxis
	for _, path := range files {
		read, err := sum(ctx, path, all, o, &rep)
		if err == nil {
			err = axis.Add(path, read)
		}
		if err != nil {
			return nil, rep, fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, part := range all[1:] {
		if err := all[0].Merge(part); err != nil {
			return nil, rep, err
		}
	}
	return all[0], rep, nil
}

// sum adds a file.
func sum(ctx context.Context, path string, all []*sums.Sums, o Options, rep *Report) (read dataset.CSVReport, err error) {
	defer damaged(&err)
	s, err := open(path, o)
	if err != nil {
		return read, err
	}
	defer s.Close()
	var own Report
	if s.asText() {
		read, err = s.sumText(ctx, all[0], o, &own)
		for i, remark := range own.Remarks {
			own.Remarks[i] = path + ": " + remark
		}
	} else {
		err = sumGroups(ctx, path, all, o, &own)
		read = s.report(own.Rows, own.Missing)
	}
	rep.join(own, path)
	return read, err
}

// sumGroups adds a file: each element of all is filled by one worker, a row group at a time.
func sumGroups(ctx context.Context, path string, all []*sums.Sums, o Options, rep *Report) error {
	var next atomic.Int64
	var mu sync.Mutex // of rep and of failed
	var failed error
	var wait workers.Group
	for _, into := range all {
		wait.Go(func() {
			s, err := open(path, o)
			if err == nil {
				defer s.Close()
				var own Report
				for err == nil {
					if err = ctx.Err(); err != nil {
						break
					}
					g := int(next.Add(1)) - 1
					if g >= s.NumRowGroups() {
						break
					}
					if err = s.add(ctx, g, into, o, &own); err != nil {
						err = fmt.Errorf("row group %d: %w", g, err)
					}
				}
				mu.Lock()
				rep.join(own, "")
				mu.Unlock()
			}
			if err != nil {
				next.Store(math.MaxInt32) // stops the others
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return failed
}

func (r *Report) join(o Report, path string) {
	r.Rows += o.Rows
	r.Missing += o.Missing
	r.Bad += o.Bad
	r.RowGroups += o.RowGroups
	r.Remarks = append(r.Remarks, o.Remarks...)
	if r.First == nil && o.First != nil {
		if r.First = o.First; path != "" {
			r.First = fmt.Errorf("%s, %w", path, o.First)
		}
	}
}

// batch is the number of rows that are read at a time.
const batch = 1 << 14

// add adds a row group.
func (s source) add(ctx context.Context, g int, into *sums.Sums, o Options, rep *Report) (err error) {
	defer damaged(&err)
	columns, rows, err := s.group(g)
	if err != nil {
		return err
	}
	rep.Rows += rows
	rep.RowGroups++
	x, y := make([]float64, min(rows, batch)), make([]float64, min(rows, batch))
	h := into.Header()
	for from := 0; from < rows; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, y := x[:min(batch, rows-from)], y[:min(batch, rows-from)]
		if err := errors.Join(columns[0].read(x), columns[1].read(y)); err != nil {
			return err
		}
		kept := 0
		for i := range x {
			if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
				rep.Missing++
				continue
			}
			if err := h.Takes(x[i], y[i], 1); err != nil {
				err = fmt.Errorf("row group %d, row %d: %w", g, from+i, err)
				if o.Strict {
					return err
				}
				if rep.Bad++; rep.First == nil {
					rep.First = err
				}
				continue
			}
			x[kept], y[kept] = x[i], y[i]
			kept++
		}
		if err := into.Add(x[:kept], y[:kept]); err != nil {
			return err
		}
	}
	return nil
}

// column reads a chunk of a column as numbers.
type column struct {
	numbers
	chunk  file.ColumnChunkReader
	levels []int16
	values any // a slice of the physical type
}

// group returns the columns x and y of a row group, and how many rows it has.
func (s source) group(g int) (columns [2]column, rows int, err error) {
	group := s.RowGroup(g)
	for i, n := range []numbers{s.x, s.y} {
		columns[i].numbers = n
		if columns[i].chunk, err = group.Column(n.index); err != nil {
			return columns, 0, err
		}
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
		return readInto(c, dst, r.ReadBatch, c.of, math.NaN())
	case *file.Int32ColumnChunkReader:
		return readInto(c, dst, r.ReadBatch, func(v int32) float64 { return c.of(int64(v)) }, math.NaN())
	}
	return fmt.Errorf("column %q cannot be read", c.name)
}

// readInto sets dst to the next rows: values converted by of, and none where there is no value.
func readInto[T, V any](c *column, dst []V, readBatch func(int64, []T, []int16, []int16) (int64, int, error), of func(T) V,
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
			return fmt.Errorf("column %q: %w", c.name, err)
		case total == 0 && count == 0:
			return fmt.Errorf("column %q: the file ends %d rows early", c.name, len(dst))
		case c.level == 0:
			total = int64(count)
		}
		at := 0
		for i := range dst[:total] {
			dst[i] = none
			if c.level == 0 || c.levels[i] == c.level {
				dst[i] = of(values[at])
				at++
			}
		}
		dst = dst[total:]
	}
	return nil
}
