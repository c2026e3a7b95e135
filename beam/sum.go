// Package gpplbeam makes sums.Sums of csv and Parquet files on Apache Beam: on prism in this process, with nothing to install, or
// by its flags on Flink, Dataflow or any other runner.
//
// One worker reads each file in blocks and makes one sums.Sums of it; observations are never elements of a collection. Two
// Combines, the first by key, add the Sums. A runner may split, order and repeat the work in any way: the result always has the
// bits of gppl sum on all files at once.
package gpplbeam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func init() {
	// The default coder is JSON, which leaves out unexported fields.
	beam.RegisterCoder(reflect.TypeFor[*sums.Sums](), encodeSums, decodeSums)
	beam.RegisterCoder(reflect.TypeFor[*part](), encodePart, decodePart)
	register.DoFn2x3[context.Context, fileio.ReadableFile, int, *part, error](&sumFile{})
	register.Combiner1[*part](&merge{})
	register.Function1x1(sumsOf)
	register.DoFn2x1[context.Context, *sums.Sums, error](&write{})
}

func encodeSums(s *sums.Sums) ([]byte, error) { return s.MarshalBinary() }

func decodeSums(b []byte) (*sums.Sums, error) {
	s := new(sums.Sums)
	return s, s.UnmarshalBinary(b)
}

// part holds the sums of some files, and how x is read in them.
type part struct {
	sums *sums.Sums
	axis sumflags.OneAxis
}

// encodePart writes the axis as a line of JSON, followed by the sums.
func encodePart(p *part) ([]byte, error) {
	line, err := json.Marshal(p.axis)
	if err != nil {
		return nil, err
	}
	b, err := p.sums.MarshalBinary()
	return slices.Concat(line, []byte("\n"), b), err
}

func decodePart(b []byte) (*part, error) {
	p := &part{sums: new(sums.Sums)}
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	return p, errors.Join(json.Unmarshal(line, &p.axis), p.sums.UnmarshalBinary(rest))
}

func sumsOf(p *part) *sums.Sums { return p.sums }

// Options are the header of the sums and the way in which files are read.
type Options struct {
	Header sums.Header // without weights
	// Columns names the columns X and Y; by default they are the first and the second. In a Parquet file "a.b" is a field of a
	// group.
	Columns series.ReadOptions
	Strict  bool // a row that cannot be read or is out of range is an error instead of being left out
	// PageBytes is the largest allowed size of a page of a Parquet file, compressed and uncompressed: a small file can claim to have
	// pages of many gigabytes. 0 means arrow's limits, 64 and 256 MB. A worker holds up to PagesHeld pages.
	PageBytes int64
}

// The names of the counters of rows, in the namespace Namespace: rows that were added, rows without a value, and rows that could
// not be read or are out of range. If a runner repeats work, it may count rows twice.
const (
	Namespace   = "gppl"
	RowsAdded   = "rows"
	RowsMissing = "rows without a value"
	RowsBad     = "bad rows"
)

// keys is the number of partial results that are made independently. A runner can share 16 among its workers, and adding them
// takes little time.
const keys = 16

// Sum returns a collection of one *sums.Sums: the sums of all files that match the patterns, on any registered file system. A
// pattern that matches no file is an error of the pipeline.
func Sum(s beam.Scope, patterns []string, o Options) beam.PCollection {
	if _, err := sums.New(o.Header); err != nil {
		panic(fmt.Sprintf("gpplbeam: Sum: %v", err))
	}
	if o.Header.LargestWeight != 0 {
		panic("gpplbeam: Sum: the header has weights, which are not read")
	}
	s = s.Scope("gppl.Sum")
	matches := fileio.MatchAll(s, beam.CreateList(s, patterns), fileio.MatchEmptyDisallow())
	// Without a reshuffle, a runner fuses the steps and one worker reads all files.
	files := beam.Reshuffle(s, fileio.ReadMatches(s, matches))
	each := beam.ParDo(s, &sumFile{o}, files)
	some := beam.CombinePerKey(s, &merge{o.Header}, each)
	return beam.ParDo(s, sumsOf, beam.Combine(s, &merge{o.Header}, beam.DropKey(s, some)))
}

// sumFile makes the sums of a file.
type sumFile struct{ Options Options }

func (f *sumFile) ProcessElement(ctx context.Context, file fileio.ReadableFile) (key int, p *part, err error) {
	path := file.Metadata.Path
	h := fnv.New32a()
	h.Write([]byte(path))
	if p, err = newPart(f.Options.Header); err != nil {
		return 0, nil, err
	}
	in, err := file.Open(ctx)
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	defer in.Close()
	if isParquet(path) {
		err = f.readParquet(ctx, in, path, p)
	} else {
		err = f.readCSV(ctx, in, path, p)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(dataset.Words(err, sumflags.Word), "dataset: "))
	}
	return int(h.Sum32() % keys), p, nil
}

// merge adds the sums of files whose x is on one axis. Combine takes no side input, so the header is a field.
type merge struct{ Header sums.Header }

func newPart(h sums.Header) (*part, error) {
	s, err := sums.New(h)
	return &part{sums: s}, err
}

func (m *merge) CreateAccumulator() (*part, error) { return newPart(m.Header) }

func (m *merge) AddInput(all, p *part) (*part, error) { return m.MergeAccumulators(all, p) }

func (m *merge) MergeAccumulators(all, p *part) (*part, error) {
	if err := all.axis.Join(p.axis); err != nil {
		return nil, fmt.Errorf("%s: %s", p.axis.File, dataset.Words(err, sumflags.Word))
	}
	return all, all.sums.Merge(p.sums)
}

// Write writes the *sums.Sums of a collection, which should have exactly one, to a file, either completely or not at all. Sums
// without observations are an error.
func Write(s beam.Scope, path string, sums beam.PCollection) {
	filesystem.ValidateScheme(path)
	beam.ParDo0(s.Scope("gppl.Write"), &write{path}, sums)
}

type write struct{ Path string }

func (w *write) ProcessElement(ctx context.Context, s *sums.Sums) error {
	if s.Len() == 0 {
		return errors.New("no row could be added: nothing is written")
	}
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	if !strings.Contains(w.Path, "://") {
		return files.WriteBytes(ctx, w.Path, b)
	}
	return writeObject(ctx, w.Path, b)
}

// writeObject writes to an object store, where an object becomes visible when it is closed.
func writeObject(ctx context.Context, path string, b []byte) error {
	// Cancelling the context abandons an object that is not closed.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	out, err := fs.OpenWrite(ctx, path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if _, err := out.Write(b); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Local reports whether all paths are on the local file system.
func Local(paths []string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(p, "://") })
}
