package gpplbeam

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// rowsOf passes the rows of a file to visit, block by block in order, and returns how they were read.
type rowsOf func(visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error)

// readCSV adds a csv file.
func (f *sumFile) readCSV(ctx context.Context, in io.Reader, path string, p *part) error {
	word := func(e dataset.CSVProblem) string { return e.Words(sumflags.Word) }
	return f.add(ctx, path, p, word, func(visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error) {
		return series.Stream(in, f.Options.Columns, 1, func(_ int, b *dataset.CSVBlock) error { return visit(b) })
	})
}

// readParquet adds a Parquet file.
func (f *sumFile) readParquet(ctx context.Context, in io.Reader, path string, p *part) error {
	file, done, err := seekable(in)
	if err != nil {
		return err
	}
	defer done()
	s, err := openParquet(file, f.Options)
	if err != nil {
		return err
	}
	word := func(e dataset.CSVProblem) string {
		if e.Column != "" {
			return fmt.Sprintf("row %d: %s: %v", e.Line, e.Column, e.Err)
		}
		return fmt.Sprintf("row %d: %v", e.Line, e.Err)
	}
	return f.add(ctx, path, p, word, func(visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error) {
		return s.read(ctx, visit)
	})
}

// add adds the rows of a file to p and counts them. word says what is wrong with a row.
func (f *sumFile) add(ctx context.Context, path string, p *part, word func(dataset.CSVProblem) string, rows rowsOf) error {
	var bad dataset.CSVError
	rep, err := rows(func(b *dataset.CSVBlock) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(b.Bad) > 0 && f.Options.Strict {
			return errors.New(word(b.Bad[0]))
		}
		b.Bad = b.Bad[:0] // the report counts these
		x, y := sumflags.Taken(f.Options.Header, b)
		if len(b.Bad) > 0 && f.Options.Strict {
			return errors.New(word(b.Bad[0]))
		}
		bad.Add(b.Bad...)
		return p.sums.Add(x, y)
	})
	if err != nil {
		return err
	}
	bad.Add(rep.Bad.Problems...)
	bad.More += rep.Bad.More
	if rep.X == rep.Y {
		return fmt.Errorf("x and y are both column %d: choose another for one of them", rep.X+1)
	}
	if err := p.axis.Add(path, rep); err != nil {
		return err
	}
	for _, remark := range series.Remarks(rep) {
		log.Warnf(ctx, "%s: %s", path, remark.Words(sumflags.Word))
	}
	for _, row := range bad.Problems {
		log.Warnf(ctx, "%s, %s", path, word(row))
	}
	if bad.More > 0 {
		log.Warnf(ctx, "%s: and %d more", path, bad.More)
	}
	beam.NewCounter(Namespace, RowsAdded).Inc(ctx, int64(p.sums.Len()))
	beam.NewCounter(Namespace, RowsMissing).Inc(ctx, int64(rep.Skipped))
	beam.NewCounter(Namespace, RowsBad).Inc(ctx, int64(len(bad.Problems)+bad.More))
	return nil
}

// LookAt returns the range of files on this machine: of csv files from a first look ([sumflags.LookAt]), of Parquet files from
// the statistics of their row groups, without a margin.
func LookAt(ctx context.Context, files []string, o Options) (r sums.Range, err error) {
	var texts []string
	var lo, hi [2]float64
	for i := range lo {
		lo[i], hi[i] = math.Inf(1), math.Inf(-1)
	}
	var axis sumflags.OneAxis
	for _, path := range files {
		if !isParquet(path) {
			texts = append(texts, path)
			continue
		}
		rep, err := lookAtParquet(ctx, path, o, &lo, &hi)
		if err == nil {
			err = axis.Add(path, rep)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w: %w", path, err, sumflags.GiveRange)
		}
		r.Dates = r.Dates || rep.Dates()
	}
	if len(texts) > 0 {
		t, err := sumflags.LookAt(ctx, texts, o.Columns)
		if err != nil || len(texts) == len(files) {
			return t, err
		}
		r.Dates = r.Dates || t.Dates
		lo[0], hi[0] = min(lo[0], t.Lo), max(hi[0], t.Hi)
		lo[1], hi[1] = min(lo[1], t.Centre-t.Largest), max(hi[1], t.Centre+t.Largest)
	}
	if !(hi[0] > lo[0]) || !(hi[1] > lo[1]) {
		return r, fmt.Errorf("x is from %v to %v, y from %v to %v: there is nothing to learn; %w", lo[0], hi[0], lo[1], hi[1],
			sumflags.GiveRange)
	}
	r.Lo, r.Hi, r.Centre = lo[0], hi[0], 0.5*lo[1]+0.5*hi[1]
	r.Largest = max(hi[1]-r.Centre, r.Centre-lo[1])
	return r, nil
}

// lookAtParquet widens lo and hi, the extremes of x and y, by what a file has.
func lookAtParquet(ctx context.Context, path string, o Options, lo, hi *[2]float64) (rep dataset.CSVReport, err error) {
	file, err := os.Open(path)
	if err != nil {
		return rep, err
	}
	defer file.Close()
	s, err := openParquet(file, o)
	if err != nil {
		return rep, err
	}
	if s.asText() { // texts have no extremes
		return s.read(ctx, func(b *dataset.CSVBlock) error {
			for i := range b.X {
				lo[0], hi[0] = min(lo[0], b.X[i]), max(hi[0], b.X[i])
				lo[1], hi[1] = min(lo[1], b.Y[i]), max(hi[1], b.Y[i])
			}
			return nil
		})
	}
	return s.report(int(s.NumRows()), 0), s.extremes(lo, hi)
}

// report says how x is read if it is not read as text.
func (s parquetFile) report(rows, missing int) dataset.CSVReport {
	rep := dataset.CSVReport{Rows: rows, Skipped: missing, Columns: make([]string, 2+len(s.keys)), Y: 1, Time: dataset.TimeNumber}
	if s.dates() {
		rep.Time = dataset.TimeISO
	}
	return rep
}

// asText reports whether the csv reader reads the rows: if a column is text, or if the numbers of x may or must stand for
// dates.
func (s parquetFile) asText() bool {
	switch {
	case s.NumRows() == 0 || s.dates() && !s.y.text:
		return false
	case s.x.text || s.y.text:
		return true
	case s.columns.Time != dataset.TimeAuto:
		return s.columns.Time != dataset.TimeNumber
	}
	for g := range s.NumRowGroups() {
		lo, hi, err := extremesOf(s.MetaData().RowGroup(g), s.x)
		if err == nil && lo <= hi && !(dataset.MayBeDate(lo) && dataset.MayBeDate(hi)) {
			return false
		}
	}
	return true
}

// read passes the rows to visit in blocks, in order; row 1 is the first. The error of a table of several series comes at the end.
func (s parquetFile) read(ctx context.Context, visit func(*dataset.CSVBlock) error) (rep dataset.CSVReport, err error) {
	if s.asText() {
		rep, err = s.readAsCSV(ctx, visit)
	} else {
		rep, err = s.readNumbers(ctx, visit)
	}
	if err != nil {
		return rep, err
	}
	if rep.Several.Columns != nil {
		for i, n := range s.all() {
			rep.Columns[i] = n.name
		}
	}
	return rep, s.columns.OneSeries(rep)
}

// readNumbers reads columns of numbers.
func (s parquetFile) readNumbers(ctx context.Context, visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error) {
	rows, missing := 0, 0
	var columns []int
	for i := range s.keys {
		columns = append(columns, 2+i)
	}
	watched := dataset.NewWatch(columns...)
	err := s.numbers(ctx, func(x, y []float64, keys [][]string) error {
		b := new(dataset.CSVBlock)
		for i := range x {
			if rows++; math.IsNaN(x[i]) || math.IsNaN(y[i]) {
				b.Skipped++
				continue
			}
			b.X, b.Y, b.Lines = append(b.X, x[i]), append(b.Y, y[i]), append(b.Lines, rows)
			watched.Add(rows, x[i], func(column int) string { return keys[column-2][i] })
		}
		missing += b.Skipped
		return visit(b)
	})
	rep := s.report(rows, missing)
	rep.Several = watched.Several()
	return rep, err
}

// readAsCSV writes the columns as a csv file and reads that: texts, and numbers that may stand for dates, go through the csv
// reader, so that there is only one table of forms.
func (s parquetFile) readAsCSV(ctx context.Context, visit func(*dataset.CSVBlock) error) (dataset.CSVReport, error) {
	o := s.columns
	if s.dates() { // writeCSV writes them
		o.Time = dataset.TimeAuto
	}
	o.NoHeader, o.X, o.Y, o.Comma, o.Pooled = true, "1", "2", ',', true // read tells of several series, by their names
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.writeCSV(ctx, w)) }()
	rep, err := series.Stream(r, o, 1, func(_ int, b *dataset.CSVBlock) error { return visit(b) })
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe)) // ends the writer
	if err == nil {
		rep.Columns[rep.X], rep.Columns[rep.Y] = s.x.name, s.y.name
	}
	for i, text := range rep.Several.Texts {
		rep.Several.Texts[i] = text[1:] // as writeCSV writes them
	}
	return rep, err
}
