package gpplbeam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// writeParquet writes a file with arrow, in row groups of the given size.
func writeParquet(t testing.TB, s *arrow.Schema, group int64, fill func(*array.RecordBuilder)) string {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	fill(b)
	record := b.NewRecordBatch()
	defer record.Release()
	table := array.NewTableFromRecords(s, []arrow.RecordBatch{record})
	defer table.Release()
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(group))
	if err := pqarrow.WriteTable(table, f, group, properties, pqarrow.DefaultWriterProps()); err != nil {
		t.Fatal(err)
	}
	return path
}

func headerOf(t testing.TB, r sums.Range) sums.Header {
	t.Helper()
	p, err := sums.NewPlan(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Header
}

func marshalled(t *testing.T, s *sums.Sums) []byte {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sumOf adds up files, each as a worker does.
func sumOf(ctx context.Context, files []string, o Options) (*sums.Sums, error) {
	all, err := newPart(o.Header)
	for _, path := range files {
		var p *part
		if err == nil {
			_, p, err = (&sumFile{o}).ProcessElement(ctx, fileio.ReadableFile{Metadata: fileio.FileMetadata{Path: path}})
		}
		if err == nil {
			all, err = (&merge{o.Header}).MergeAccumulators(all, p)
		}
	}
	if err != nil {
		return nil, err
	}
	return all.sums, nil
}

// TestParquet reads files that arrow wrote, of every type, with missing values and values out of range: the sums have the same
// bytes as sums of the numbers, whatever the row groups.
func TestParquet(t *testing.T) {
	const n = 50000
	rnd := rand.New(rand.NewPCG(1, 1))
	micros, ints, floats := make([]int64, n), make([]int32, n), make([]float64, n)
	for i := range n {
		micros[i], ints[i], floats[i] = 1_700_000_000_000_000+rnd.Int64N(100_000_000), rnd.Int32N(100), rnd.NormFloat64()
	}
	missing := func(i int) bool { return i%97 == 0 || i >= 30000 && i < 31000 }
	s := arrow.NewSchema([]arrow.Field{
		{Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "step", Type: arrow.PrimitiveTypes.Int32},
		{Name: "level", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "coarse", Type: arrow.PrimitiveTypes.Float32},
	}, nil)
	fill := func(b *array.RecordBuilder) {
		for i := range n {
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(micros[i]))
			b.Field(1).(*array.Int32Builder).Append(ints[i])
			if missing(i) {
				b.Field(2).AppendNull()
			} else {
				b.Field(2).(*array.Float64Builder).Append(floats[i])
			}
			b.Field(3).(*array.Float32Builder).Append(float32(floats[i]))
		}
	}
	seconds := func(i int) float64 {
		return float64(micros[i]/1e6) + 1e-9*float64(1000*(micros[i]%1e6))
	}
	for _, c := range []struct {
		x, y string
		of   func(i int) (x, y float64)
		r    sums.Range
	}{
		{"when", "level", func(i int) (x, y float64) { return seconds(i), floats[i] },
			sums.Range{Lo: 1.7e9, Hi: 1.7e9 + 100, Largest: 2}},
		{"step", "coarse", func(i int) (x, y float64) { return float64(ints[i]), float64(float32(floats[i])) },
			sums.Range{Lo: 0, Hi: 99, Largest: 8}},
	} {
		h := headerOf(t, c.r)
		want, err := sums.New(h)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			x, y := c.of(i)
			if c.y == "level" && missing(i) || h.Takes(x, y, 1) != nil {
				continue
			}
			if err := want.Add([]float64{x}, []float64{y}); err != nil {
				t.Fatal(err)
			}
		}
		for _, group := range []int64{n, 20000, 777} {
			path := writeParquet(t, s, group, fill)
			got, err := sumOf(t.Context(), []string{path}, Options{Header: h, Columns: series.ReadOptions{X: c.x, Y: c.y}})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(marshalled(t, got), marshalled(t, want)) {
				t.Errorf("%s, %s, row groups of %d: other bytes", c.x, c.y, group)
			}
		}
	}
}

// TestParquetPipeline runs the pipeline on a csv file and a Parquet file: the sums have the same bytes as from csv files alone.
func TestParquetPipeline(t *testing.T) {
	dir := shards(t, "a.csv", "b.csv")
	want := filepath.Join(dir, "want.sums")
	if err := run(t, want, Options{Header: header(t)}, filepath.Join(dir, "*.csv")); err != nil {
		t.Fatal(err)
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "level", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "t", Type: arrow.PrimitiveTypes.Float64}}, nil)
	rows := strings.Split(strings.TrimSpace(string(bytesOf(t, filepath.Join(dir, "b.csv")))), "\n")
	file := writeParquet(t, s, 500, func(b *array.RecordBuilder) {
		for _, row := range rows[1:] {
			x, y, _ := strings.Cut(row, ",")
			at, err := strconv.ParseFloat(x, 64)
			if err != nil {
				t.Fatal(err)
			}
			b.Field(1).(*array.Float64Builder).Append(at)
			if v, err := strconv.ParseFloat(y, 64); err == nil {
				b.Field(0).(*array.Float64Builder).Append(v)
			} else {
				b.Field(0).AppendNull()
			}
		}
	})
	out := filepath.Join(dir, "got.sums")
	o := Options{Header: header(t), Columns: series.ReadOptions{X: "t", Y: "level"}}
	if err := run(t, out, o, filepath.Join(dir, "a.csv"), file); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytesOf(t, out), bytesOf(t, want)) {
		t.Error("other bytes")
	}
}

// TestParquetLook checks that a first look takes the range of a file from its statistics.
func TestParquetLook(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	path := writeParquet(t, s, 10, func(b *array.RecordBuilder) {
		for i := range 100 {
			b.Field(0).(*array.Float64Builder).Append(float64(i) / 4)
			if i < 20 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.Int64Builder).Append(int64(i))
			}
		}
	})
	r, err := LookAt(t.Context(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Lo != 0 || r.Hi != 99./4 || r.Centre != 59.5 || r.Largest != 39.5 {
		t.Errorf("%+v", r)
	}
}

// TestParquetErrors checks that errors name the file and say what is wrong with it.
func TestParquetErrors(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
		{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "when", Type: arrow.FixedWidthTypes.Timestamp_ms},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64)},
		{Name: "big", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "raw", Type: arrow.BinaryTypes.Binary},
	}, nil)
	path := writeParquet(t, s, 10, func(b *array.RecordBuilder) {
		for i := range 30 {
			y := float64(i)
			if i == 25 {
				y = math.Inf(1)
			}
			b.Field(0).(*array.Float64Builder).Append(float64(i))
			b.Field(1).(*array.Float64Builder).Append(y)
			b.Field(2).(*array.StringBuilder).Append("a")
			b.Field(3).(*array.TimestampBuilder).Append(0)
			b.Field(4).(*array.ListBuilder).Append(true)
			b.Field(5).(*array.Uint64Builder).Append(1)
			b.Field(6).(*array.BinaryBuilder).Append([]byte("a"))
		}
	})
	h := headerOf(t, sums.Range{Lo: 0, Hi: 30, Largest: 64})
	text := filepath.Join(t.TempDir(), "text.parquet")
	if err := os.WriteFile(text, []byte("t,y\n1,2\n3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.parquet")
	if err := os.WriteFile(damaged, append(bytes.Repeat([]byte{0x55}, 200), whole[200:]...), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		o    Options
		want string
	}{
		{path, Options{Columns: series.ReadOptions{X: "u"}}, `there is no column "u"; the columns are t, y, name`},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "name"}, Strict: true}, `row 1: column 2: "a" is not a finite number`},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "raw"}}, `column "raw" is BYTE_ARRAY`},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "when"}}, "timestamps as x"},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "list.list.element"}}, "is a list"},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "big"}}, `column "big" is INT64`},
		{path, Options{Columns: series.ReadOptions{X: "y", Y: "y"}}, "both column"},
		{path, Options{Columns: series.ReadOptions{X: "t", Y: "y"}, Strict: true}, "row 26: y = +Inf"},
		{text, Options{}, "text.parquet: "},
		{damaged, Options{Columns: series.ReadOptions{X: "t", Y: "y"}}, "damaged.parquet"},
		{filepath.Join(t.TempDir(), "none.parquet"), Options{}, "no such file"},
	} {
		c.o.Header = h
		got, err := sumOf(t.Context(), []string{c.file}, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("%+v: %v, want %q", c.o.Columns, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	o := Options{Header: h, Columns: series.ReadOptions{X: "t", Y: "y"}}
	if _, err := sumOf(ended, []string{path}, o); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v though the context has ended", err)
	}
}

// BenchmarkParquet reads and adds up a million rows.
func BenchmarkParquet(b *testing.B) {
	const n = 1_000_000
	rnd := rand.New(rand.NewPCG(2, 2))
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	path := writeParquet(b, s, 1<<17, func(r *array.RecordBuilder) {
		for i := range n {
			r.Field(0).(*array.Float64Builder).Append(float64(i))
			r.Field(1).(*array.Float64Builder).Append(rnd.NormFloat64())
		}
	})
	h := headerOf(b, sums.Range{Lo: 0, Hi: n, Largest: 8})
	for b.Loop() {
		if _, err := sumOf(b.Context(), []string{path}, Options{Header: h}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// TestParquetAsCSV checks that a csv file with the same dates and numbers gives the same bytes.
func TestParquetAsCSV(t *testing.T) {
	const n = 5000
	rnd := rand.New(rand.NewPCG(3, 3))
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}}, nil)
	var text strings.Builder
	text.WriteString("t,y\n")
	path := writeParquet(t, s, 1000, func(b *array.RecordBuilder) {
		for range n {
			micros, y := rnd.Int64N(2e15)-1e14, rnd.NormFloat64()
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(micros))
			b.Field(1).(*array.Float64Builder).Append(y)
			fmt.Fprintf(&text, "%s,%v\n", time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z"), y)
		}
	})
	h := headerOf(t, sums.Range{Lo: -1e8, Hi: 2e9, Largest: 8})
	got, err := sumOf(t.Context(), []string{path}, Options{Header: h})
	if err != nil {
		t.Fatal(err)
	}
	want, err := sums.New(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := series.Stream(strings.NewReader(text.String()), series.ReadOptions{}, 1,
		func(_ int, b *dataset.CSVBlock) error {
			x, y := sumflags.Taken(h, b)
			return want.Add(x, y)
		}); err != nil {
		t.Fatal(err)
	}
	if got.Len() != n || !bytes.Equal(marshalled(t, got), marshalled(t, want)) {
		t.Errorf("%d observations, or other bytes", got.Len())
	}
}

// TestParquetAxis checks that files of dates and files of plain numbers are not summed as if they were on one axis, whichever comes
// first, and whether the dates have a type of their own, are texts, or are numbers that stand for dates.
func TestParquetAxis(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	file := func(kind arrow.DataType, add func(b array.Builder, i int)) string {
		s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: kind, Nullable: true}, {Name: "y", Type: arrow.PrimitiveTypes.Int64}}, nil)
		return writeParquet(t, s, 10, func(b *array.RecordBuilder) {
			for i := range 30 {
				add(b.Field(0), i)
				b.Field(1).(*array.Int64Builder).Append(int64(i % 5))
			}
		})
	}
	dates := map[string]string{
		"timestamps": file(arrow.FixedWidthTypes.Timestamp_ms, func(b array.Builder, i int) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(day.AddDate(0, 0, i).UnixMilli()))
		}),
		"days": file(arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) {
			b.(*array.Date32Builder).Append(arrow.Date32FromTime(day.AddDate(0, 0, i)))
		}),
		"texts": file(arrow.BinaryTypes.String, func(b array.Builder, i int) {
			b.(*array.StringBuilder).Append(day.AddDate(0, 0, i).Format("2006-01-02"))
		}),
		"digits": file(arrow.PrimitiveTypes.Int64, func(b array.Builder,
			i int) {
			b.(*array.Int64Builder).Append(int64(20240101 + i))
		}),
	}
	numbers := map[string]string{
		"numbers": file(arrow.PrimitiveTypes.Float64, func(b array.Builder,
			i int) {
			b.(*array.Float64Builder).Append(float64(i))
		}),
		"numbers as texts": file(arrow.BinaryTypes.String, func(b array.Builder,
			i int) {
			b.(*array.StringBuilder).Append(fmt.Sprint(i))
		}),
	}
	empty := file(arrow.PrimitiveTypes.Float64, func(b array.Builder, _ int) { b.AppendNull() })
	unix := file(arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(day.Unix() + int64(i)) })
	h := headerOf(t, sums.Range{Lo: 0, Hi: 3e9, Largest: 9})
	both := func(o Options, files ...string) (err error) {
		t.Helper()
		o.Header = h
		_, err = LookAt(t.Context(), files, o)
		_, also := sumOf(t.Context(), files, o)
		if (err == nil) != (also == nil) {
			t.Errorf("%q: LookAt says %v, sumOf says %v", files, err, also)
		}
		return err
	}
	cells := 0
	for d, first := range dates {
		for n, other := range numbers {
			for _, files := range [][]string{{first, other}, {other, first}, {empty, unix, first, other}} {
				if err := both(Options{}, files...); err == nil || !strings.Contains(err.Error(),
					"ReadOptions.Time says how all files have it") {
					t.Errorf("%s and %s: %v", d, n, err)
				}
				cells++
			}
		}
		for e, other := range dates {
			if err := both(Options{}, first, empty, unix, other); err != nil {
				t.Errorf("%s and %s: %v", d, e, err)
			}
			cells++
		}
	}
	if err := both(Options{Columns: series.ReadOptions{Time: dataset.TimeNumber}}, dates["digits"],
		numbers["numbers"]); err != nil {
		t.Errorf("as plain numbers: %v", err)
	}
	t.Logf("%d cells", cells)
}

// TestParquetPages reads pages that are small in the file and large in memory.
func TestParquetPages(t *testing.T) {
	const n = 1 << 18 // 2 MB in a column, of zeros
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range n {
		b.Field(0).(*array.Float64Builder).Append(float64(i))
		b.Field(1).(*array.Float64Builder).Append(0)
		b.Field(2).(*array.StringBuilder).Append("0.5")
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(s, f, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(1<<30), parquet.WithBatchSize(n)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(b.NewRecordBatch()), w.Close()); err != nil {
		t.Fatal(err)
	}
	h := headerOf(t, sums.Range{Lo: 0, Hi: n, Largest: 1, Shortest: 1000})
	for _, y := range []string{"y", "text"} {
		for limit, want := range map[int64]string{1 << 20: "exceeds configured limit 1048576", 8 << 20: "", 0: ""} {
			o := Options{Header: h, Columns: series.ReadOptions{X: "t", Y: y}, PageBytes: limit}
			got, err := sumOf(t.Context(), []string{path}, o)
			if want == "" && (err != nil || got.Len() != n) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, pages of %d bytes: %v, want %q", y, limit, err, want)
			}
		}
	}
}

// TestParquetDamaged changes a bit of every third byte of a file of numbers and texts: either arrow does not notice and there are sums,
// or there is an error; nothing panics.
func TestParquetDamaged(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	file := writeParquet(t, s, 1000, func(b *array.RecordBuilder) {
		for i := range 60 {
			b.Field(0).(*array.Float64Builder).Append(float64(i))
			b.Field(1).(*array.Float64Builder).Append(float64(i * i % 7))
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprint(i % 5))
		}
	})
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := headerOf(t, sums.Range{Lo: 0, Hi: 100, Largest: 10, Shortest: 50})
	refused := 0
	for at := 0; at < len(whole); at += 3 {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, y := range []string{"y", "text"} {
			o := Options{Header: h, Columns: series.ReadOptions{X: "t", Y: y}, PageBytes: 1 << 20}
			_, looked := LookAt(t.Context(), []string{file}, o)
			if _, err := sumOf(t.Context(), []string{file}, o); err != nil || looked != nil {
				refused++
			}
		}
	}
	if refused < len(whole)/12 {
		t.Errorf("%d of %d changes are refused", refused, 2*len(whole)/3)
	}
}
