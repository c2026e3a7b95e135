package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/data"
)

// BenchmarkLongRows reads rows of many fields, by the time for a byte: it must not grow with their number.
func BenchmarkLongRows(b *testing.B) {
	for _, kind := range []struct{ name, first, field string }{{"quoted", "\"1\"", ","}, {"apostrophes", "'1','2'\n'1','2'\n1", ",'a"}} {
		for _, n := range []int{500, 2000, 100_000} {
			b.Run(fmt.Sprintf("%s/fields=%d", kind.name, n), func(b *testing.B) {
				row := kind.first + strings.Repeat(kind.field, n) + "\n"
				text := "t,y\n" + strings.Repeat(row, 1+200_000/len(row))
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					readCSV(strings.NewReader(text), CSVOptions{SkipMissing: true})
				}
			})
		}
	}
}

// BenchmarkStreamCSV reads rows of a time in seconds and a value, from memory.
func BenchmarkStreamCSV(b *testing.B) {
	const n = 1 << 19
	rnd := rand.New(rand.NewPCG(1, 4))
	for _, c := range []struct {
		name string
		row  func(i int) string
	}{
		{"numbers", func(i int) string {
			return fmt.Sprintf("%d.%03d,%.6f\n", 1700000000+i, rnd.IntN(1000), rnd.NormFloat64())
		}},
		{"dates", func(i int) string {
			return fmt.Sprintf("%s,%.6f\n", time.Unix(int64(1700000000+i), 0).UTC().Format(time.RFC3339), rnd.NormFloat64())
		}},
	} {
		var text strings.Builder
		text.WriteString("t,y\n")
		for i := range n {
			text.WriteString(c.row(i))
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				rep, err := StreamCSV(strings.NewReader(text.String()), CSVOptions{Seconds: true}, 2, func(_ int, k *CSVBlock) error {
					if len(k.Bad) > 0 {
						return k.Bad[0]
					}
					return nil
				})
				if err != nil || rep.Rows != n {
					b.Fatal(rep.Rows, err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkReadCSV reads the weeks of CO2 that are shipped, and a million rows.
func BenchmarkReadCSV(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 4))
	million := "t,y\n" + rowsOf(1_000_000, func(i int) string { return fmt.Sprintf("%d.%03d,%.6f", i, rnd.IntN(1000), rnd.NormFloat64()) })
	for _, file := range []struct{ name, text string }{{"co2", data.CO2Weekly}, {"million", million}} {
		b.Run(file.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ReadCSV(strings.NewReader(file.text), CSVOptions{SkipMissing: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
