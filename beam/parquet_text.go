package gpplbeam

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// writeCSV writes both columns as a csv file without a header.
func (s parquetFile) writeCSV(ctx context.Context, w io.Writer) (err error) {
	defer damaged(&err)
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	x, y := make([]string, batch), make([]string, batch)
	err = s.batches(ctx, func(columns *[2]column, rows int) error {
		if err := errors.Join(columns[0].readText(x[:rows]), columns[1].readText(y[:rows])); err != nil {
			return err
		}
		for i := range rows {
			if err := out.Write([]string{x[i], y[i]}); err != nil {
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
