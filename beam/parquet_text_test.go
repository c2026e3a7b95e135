package gpplbeam

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// TestParquetTexts checks that texts, and numbers that stand for dates, give the bytes and the range of a csv file with the same
// cells.
func TestParquetTexts(t *testing.T) {
	const n = 300
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, x := range map[string]func(time.Time) any{
		"2006-01-02":      func(d time.Time) any { return d.Format("2006-01-02") },
		"day first":       func(d time.Time) any { return d.Format("2/1/2006") },
		"month first":     func(d time.Time) any { return d.Format("1/2/2006") },
		"named":           func(d time.Time) any { return d.Format("2 Jan 2006") },
		"milliseconds":    func(d time.Time) any { return d.UnixMilli() },
		"digits":          func(d time.Time) any { return int64(d.Year()*10000 + int(d.Month())*100 + d.Day()) },
		"digits as text":  func(d time.Time) any { return d.Format("20060102") },
		"plain numbers":   func(d time.Time) any { return int64(d.YearDay()) },
		"numbers as text": func(d time.Time) any { return fmt.Sprint(d.YearDay()) },
	} {
		kind := arrow.DataType(arrow.BinaryTypes.String)
		if _, ok := x(day).(int64); ok {
			kind = arrow.PrimitiveTypes.Int64
		}
		s := arrow.NewSchema([]arrow.Field{{Name: "t", Type: kind, Nullable: true}, {Name: "y", Type: arrow.BinaryTypes.String}}, nil)
		var text strings.Builder
		text.WriteString("t,y\n")
		path := writeParquet(t, s, 70, func(b *array.RecordBuilder) {
			for i := range n {
				y := []string{"1.5", "NA", "-2e0", "7"}[i%4]
				b.Field(1).(*array.StringBuilder).Append(y)
				at := x(day.AddDate(0, 0, i))
				if i == 50 {
					b.Field(0).AppendNull()
					at = ""
				} else if v, ok := at.(int64); ok {
					b.Field(0).(*array.Int64Builder).Append(v)
				} else {
					b.Field(0).(*array.StringBuilder).Append(at.(string))
				}
				fmt.Fprintf(&text, "%v,%s\n", at, y)
			}
		})
		r, err := LookAt(t.Context(), []string{path}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h := headerOf(t, r)
		got, err := sumOf(t.Context(), []string{path}, Options{Header: h})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
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
		if !bytes.Equal(marshalled(t, got), marshalled(t, want)) || got.Len() != n-n/4-1 {
			t.Errorf("%s: %d observations, want %d; %v", name, got.Len(), want.Len(), r)
		}
	}
}
