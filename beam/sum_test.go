package gpplbeam

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
	}
	flag.Parse()
	if !testing.Verbose() {
		slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	beam.Init()
	os.Exit(m.Run())
}

// readings are rows from to to−1 of a series of 6000, with a bad and a missing one in each thousand.
func readings(from, to int) string {
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := from; i < to; i++ {
		switch t := float64(i) / 30; i % 1000 {
		case 100:
			fmt.Fprintf(&b, "%.4f,wet\n", t)
		case 200:
			fmt.Fprintf(&b, "%.4f,NA\n", t)
		default:
			fmt.Fprintf(&b, "%.4f,%.6f\n", t, 20+math.Sin(t)+math.Sin(0.31*t+1)+0.1*math.Sin(77*float64(i*i)))
		}
	}
	return b.String()
}

const all = 6000

// shards writes the series to as many files as there are names, in that order, and returns their folder.
func shards(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		put(t, filepath.Join(dir, name), readings(all*i/len(names), all*(i+1)/len(names)))
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func header(t *testing.T) sums.Header {
	t.Helper()
	p, err := sums.NewPlan(sums.Range{Lo: 0, Hi: all / 30, Shortest: 0.5, Centre: 20, Largest: 4})
	if err != nil {
		t.Fatal(err)
	}
	return p.Header
}

// run runs the pipeline on the prism that the flags name.
func run(t *testing.T, output string, o Options, patterns ...string) error {
	t.Helper()
	return runAgain(t, Again{}, output, o, patterns...)
}

func runAgain(t *testing.T, again Again, output string, o Options, patterns ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	onPrism := func(ctx context.Context, p *beam.Pipeline) (beam.PipelineResult, error) {
		return beam.Run(ctx, "prism", p)
	}
	_, err := again.Run(ctx, onPrism, func() *beam.Pipeline {
		p, s := beam.NewPipelineWithRoot()
		Write(s, output, Sum(s, patterns, o))
		return p
	})
	return err
}

// TestSameBytes checks that the bytes of gppl sum, of gppl sum and merge, and of the pipeline agree, however the series is
// divided, whatever the files are called (names decide their keys and their order) and in whatever order they are given.
func TestSameBytes(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "gppl")
	build := exec.Command("go", "build", "-o", shell, "./cmd/gppl")
	build.Dir = ".."
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	must := func(args ...string) {
		t.Helper()
		if text, err := exec.Command(shell, args...).CombinedOutput(); err != nil {
			t.Fatalf("gppl %v: %v: %s", args, err, text)
		}
	}
	dir := shards(t, "whole.csv")
	wanted := filepath.Join(dir, "whole.sums")
	must("sum", filepath.Join(dir, "whole.csv"), "--from", "0", "--to", "200", "--lengthscale", "0.5", "--centre", "20",
		"--largest", "4", "-o", wanted, "-q")
	want := bytesOf(t, wanted)
	in := new(sums.Sums)
	if err := in.UnmarshalBinary(want); err != nil {
		t.Fatal(err)
	}
	if d := in.Header().Difference(header(t)); d != "" {
		t.Fatal(d)
	}
	if n := all - 2*all/1000; in.Len() != n {
		t.Fatalf("%d observations, want %d", in.Len(), n)
	}
	for i, names := range [][]string{
		{"a.csv"}, {"a.csv", "b.csv"}, {"b.csv", "a.csv"}, {"e.csv", "a.csv", "d.csv", "b.csv", "c.csv"}, manyNames(37),
	} {
		dir := shards(t, names...)
		out := filepath.Join(dir, "all.sums")
		patterns := []string{filepath.Join(dir, "*.csv")}
		if i%2 == 1 {
			patterns = nil
			for _, name := range names {
				patterns = append(patterns, filepath.Join(dir, name))
			}
		}
		if err := run(t, out, Options{Header: header(t)}, patterns...); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, out), want) {
			t.Errorf("%d files give other bytes", len(names))
		}
		if len(names) != 5 {
			continue
		}
		merge := []string{"merge"}
		for _, name := range names {
			part := filepath.Join(dir, name+".sums")
			must("sum", filepath.Join(dir, name), "--like", wanted, "-o", part, "-q")
			merge = append(merge, part)
		}
		merged := filepath.Join(dir, "merged.sums")
		must(append(merge, "-o", merged)...)
		if !bytes.Equal(bytesOf(t, merged), bytesOf(t, out)) {
			t.Error("gppl merge gives other bytes")
		}
	}
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%d-%d.csv", i*i%n, i))
	}
	return names
}

// TestCoder checks that elements are encoded as the bytes of a file.
func TestCoder(t *testing.T) {
	s, err := sums.New(header(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add([]float64{1, 2}, []float64{20, 21}); err != nil {
		t.Fatal(err)
	}
	want, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	kind := reflect.TypeFor[*sums.Sums]()
	if err := beam.NewElementEncoder(kind).Encode(s, &b); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b.Bytes(), want) || b.Len() > len(want)+8 {
		t.Errorf("%d bytes for a file of %d", b.Len(), len(want))
	}
	read, err := beam.NewElementDecoder(kind).Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.(*sums.Sums).MarshalBinary(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read back as %v, error %v", read, err)
	}
}

// TestFailures checks that errors say what is wrong and that the output is unchanged.
func TestFailures(t *testing.T) {
	dir := shards(t, "a.csv", "b.csv")
	put(t, filepath.Join(dir, "out.txt"), "t,y\nx,y\n")
	put(t, filepath.Join(dir, "empty.txt"), "")
	for _, c := range []struct {
		pattern string
		strict  bool
		want    string
	}{
		{"*.csv", true, "a.csv: CSV: line 102, column 2"},
		{"*.none", false, "no files matching"},
		{"out.txt", false, "no row could be added"},
		{"empty.txt", false, "empty.txt: CSV: the file is empty"},
	} {
		out := filepath.Join(dir, "all.sums")
		put(t, out, "before")
		err := run(t, out, Options{Header: header(t), Strict: c.strict}, filepath.Join(dir, c.pattern))
		if err == nil || !strings.Contains(err.Error(), c.want) &&
			!(c.strict && strings.Contains(err.Error(), "b.csv: CSV: line 102, column 2")) {
			t.Errorf("%s: error %v, want %q", c.pattern, err, c.want)
		}
		if string(bytesOf(t, out)) != "before" {
			t.Errorf("%s: the output has changed", c.pattern)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestOneAxis checks that files of dates and files of plain numbers are not summed as if they were on one axis, whatever the
// order of the work.
func TestOneAxis(t *testing.T) {
	p, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 3e9, Largest: 9})
	if err != nil {
		t.Fatal(err)
	}
	file := func(x func(i int) string) string {
		text := "t,y\n"
		for i := range 30 {
			text += fmt.Sprintf("%s,%d\n", x(i), i%5)
		}
		return text
	}
	days, numbers := file(func(i int) string { return fmt.Sprintf("2024-01-%02d", i+1) }),
		file(func(i int) string { return fmt.Sprint(i) })
	unix := file(func(i int) string { return fmt.Sprint(1700000000 + i) })
	for _, c := range []struct {
		files []string
		ok    bool
	}{{[]string{days, numbers}, false}, {[]string{numbers, unix, days}, false}, {[]string{days, unix, days}, true},
		{[]string{numbers, unix}, true}} {
		dir := t.TempDir()
		for i, text := range c.files {
			put(t, filepath.Join(dir, fmt.Sprintf("%d.csv", i)), text)
		}
		out := filepath.Join(dir, "all.sums")
		err := run(t, out, Options{Header: p.Header}, filepath.Join(dir, "*.csv"))
		if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "says how all files have it") {
			t.Errorf("%q: %v", c.files, err)
		}
		if _, err := os.Stat(out); c.ok != (err == nil) {
			t.Errorf("the output: %v", err)
		}
	}
}

// TestSeveralSeries: the rows of several series are refused by name of the column that tells them apart, of csv and of Parquet
// files of numbers, dates and texts, and nothing is written; Pooled takes all for one.
func TestSeveralSeries(t *testing.T) {
	const rows = 90
	store := func(i int) string { return []string{"north", "south", "a\"\nb,\x00c"}[i%3] }
	paths := map[string]string{"csv": filepath.Join(t.TempDir(), "a.csv")}
	text := "t,y,store\n"
	for i := range rows {
		text += fmt.Sprintf("%d,%d.5,%s\n", i/2, i%7, store(i%2))
	}
	put(t, paths["csv"], text)
	for name, x := range map[string]arrow.DataType{"float": arrow.PrimitiveTypes.Float64, "timestamp": arrow.FixedWidthTypes.Timestamp_ms,
		"text": arrow.BinaryTypes.String} {
		fields := []arrow.Field{{Name: "store", Type: arrow.BinaryTypes.String}, {Name: "t", Type: x},
			{Name: "y", Type: arrow.PrimitiveTypes.Float64}, {Name: "empty", Type: arrow.BinaryTypes.String, Nullable: true}}
		paths[name] = writeParquet(t, arrow.NewSchema(fields, nil), 40, func(b *array.RecordBuilder) {
			for i := range rows {
				b.Field(0).(*array.StringBuilder).Append(store(i))
				switch at := b.Field(1).(type) {
				case *array.Float64Builder:
					at.Append(float64(i / 3))
				case *array.TimestampBuilder:
					at.Append(arrow.Timestamp(i / 3 * 1000))
				case *array.StringBuilder:
					at.Append(fmt.Sprint(i / 3))
				}
				b.Field(2).(*array.Float64Builder).Append(float64(i%7) + 0.5)
				b.Field(3).(*array.StringBuilder).AppendNull()
			}
		})
	}
	p, err := sums.NewPlan(sums.Range{Lo: 0, Hi: 30, Centre: 3, Largest: 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range paths {
		h := p.Header
		h.Dates = name == "timestamp"
		o := Options{Header: h, Columns: series.ReadOptions{X: "t", Y: "y"}}
		out := filepath.Join(t.TempDir(), "all.sums")
		if name == "csv" {
			err = run(t, out, o, path)
		} else {
			_, err = sumOf(t.Context(), []string{path}, o)
		}
		if err == nil || !strings.Contains(err.Error(), `the column "store" tells their rows apart`) || !strings.Contains(err.Error(), "--by none") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: sums were written", name)
		}
		o.Columns.Pooled = true
		if err := run(t, out, o, path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
