package gpplbeam

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// writeCSV writes the columns as a csv file without a header.
func (s parquetFile) writeCSV(ctx context.Context, w io.Writer) (err error) {
	defer damaged(&err)
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	texts, row := make([][]string, len(s.all())), make([]string, len(s.all()))
	for i := range texts {
		texts[i] = make([]string, batch)
	}
	err = s.batches(ctx, func(columns []column, rows int) error {
		for i := range columns {
			if err := columns[i].readText(texts[i][:rows]); err != nil {
				return err
			}
			for at, text := range texts[i][:rows] {
				if i >= 2 { // a key may be any text, and is no number
					texts[i][at] = "_" + strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), 200)], "\x00", ""), "")
				}
			}
		}
		for at := range rows {
			for i := range row {
				row[i] = texts[i][at]
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
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
