package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadCSVTimes(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		opt  CSVOptions
		want []float64
		unit string
	}{
		"dates as seconds":  {"t,y\n1970-01-02,1\n1970-01-01T00:00:01.5Z,2\n1970-01-01T02:00:00+02:00,3\n", CSVOptions{Seconds: true}, []float64{86400, 1.5, 0}, unixSeconds},
		"months":            {"t,y\n1970-01,1\n1970-02,2\n", CSVOptions{Seconds: true}, []float64{0, 31 * 86400}, unixSeconds},
		"unix":              {"t,y\n0,1\n1.25,2\n-1,3\n", CSVOptions{Seconds: true, Time: TimeUnix}, []float64{0, 1.25, -1}, unixSeconds},
		"unix as years":     {"t,y\n0,1\n31536000,2\n", CSVOptions{Time: TimeUnix}, []float64{1970, 1971}, "decimal year"},
		"before 1970":       {"t,y\n-86400.5,1\n-1,2\n", CSVOptions{Seconds: true, Time: TimeUnix}, []float64{-86400.5, -1}, unixSeconds},
		"milliseconds":      {"t,y\n1500,1\n1700000000123,2\n", CSVOptions{Seconds: true, Time: TimeUnixMilli}, []float64{1.5, 1700000000.123}, unixSeconds},
		"microseconds":      {"t,y\n1500,1\n1700000000123456,2\n", CSVOptions{Seconds: true, Time: TimeUnixMicro}, []float64{0.0015, 1700000000.123456}, unixSeconds},
		"nanoseconds":       {"t,y\n1500,1\n1700000000123456789,2\n", CSVOptions{Seconds: true, Time: TimeUnixNano}, []float64{1.5e-6, 1700000000.123456789}, unixSeconds},
		"ms as years":       {"t,y\n0,1\n31536000000,2\n-31536000000,3\n", CSVOptions{Time: TimeUnixMilli}, []float64{1970, 1971, 1969}, "decimal year"},
		"leap second":       {"t,y\n1970-06-30T23:59:60Z,1\n1970-07-01 05:29:60.25+05:30,2\n", CSVOptions{Seconds: true}, []float64{181 * 86400, 181*86400 + 0.25}, unixSeconds},
		"zones":             {"t,y\n1970-01-01 02:00:00 +0200,1\n1970-01-01T00:00:01UTC,2\n1970-01-01 00:00:02 Z,3\n1969-12-31T23:00:03-01,4\n", CSVOptions{Seconds: true}, []float64{0, 1, 2, 3}, unixSeconds},
		"years are numbers": {"t,y\n1970.5,1\n1971,2\n", CSVOptions{Seconds: true}, []float64{1970.5, 1971}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadCSV(strings.NewReader(test.text), test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, s.X); diff != "" || s.XUnit != test.unit {
				t.Errorf("unit %q (-want +got):\n%s", s.XUnit, diff)
			}
		})
	}
	_, err := ReadCSV(strings.NewReader("t,y\n1600000000000,1\n"), CSVOptions{Time: TimeUnix})
	mustFail(t, err, "line 2", "column 1", `"1600000000000"`, "milliseconds", "unix-ms")
	for _, text := range []string{"1970-06-30T23:58:60Z", "1970-06-30T23:60:00Z", "1970-06-30T23:59:61Z", "1970-06-30T05:29:60Z", "1970-06-30 23:59:60:60Z", "60:60", " UTC"} {
		if got, err := parseTime(text); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
	_, err = ReadCSV(strings.NewReader("t,y\n7,1\n"), CSVOptions{Time: TimeISO})
	mustFail(t, err, "line 2", `"7" is not an ISO date`)
}

func TestReadCSVReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "day;level;flag\n2024-01-01;1;a,b\n2024-01-02;;c\n2024-01-03;3;d\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, got, err := ReadCSVReport(path, CSVOptions{X: "day", Y: "level", SkipMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	want := CSVReport{Comma: ';', Columns: []string{"day", "level", "flag"}, X: 0, Y: 1, Time: TimeISO, Rows: 3, Skipped: 1, SHA256: hex.EncodeToString(sum[:]), Also: CSVMore{Lines: []int{2, 4}}}
	if diff := cmp.Diff(want, got); diff != "" || s.Len() != 2 {
		t.Errorf("%d rows (-want +got):\n%s", s.Len(), diff)
	}
}

func TestLikelyUnix(t *testing.T) {
	for x, want := range map[float64]TimeFormat{
		1.7e9: TimeUnix, 1.7e12: TimeUnixMilli, 1.7e15: TimeUnixMicro, 1.7e18: TimeUnixNano,
		0: "", 2024: "", -1.7e9: "", 1e10: "", 1e300: "",
	} {
		if got := likelyUnix(x); got.format != want {
			t.Errorf("%g: %q, want %q", x, got.format, want)
		}
	}
}

// TestReadAlso reads further columns: at observations, and in rows without y.
func TestReadAlso(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	text := "t,y,temp,err\n1,10,5,0.1\n2,,6,\n3,30,NA,0.3\n,40,8,0.4\n5,,,\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, rep, err := ReadCSVReport(path, CSVOptions{SkipMissing: true, Missing: []string{"NA"}, Also: []string{"err", "temp"}})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := CSVMore{
		Names: []string{"err", "temp"}, Columns: []int{3, 2}, Lines: []int{2, 4}, Values: [][]float64{{0.1, 0.3}, {5, nan}},
		OpenX: []float64{2, 5}, OpenLines: []int{3, 6}, OpenValues: [][]float64{{nan, nan}, {6, nan}},
	}
	if diff := cmp.Diff(want, rep.Also, cmpopts.EquateNaNs()); diff != "" || rep.Rows != 5 || rep.Skipped != 3 {
		t.Errorf("%d rows, %d skipped (-want +got):\n%s", rep.Rows, rep.Skipped, diff)
	}
	if diff := cmp.Diff([][]float64{{1, 3}, {10, 30}}, [][]float64{s.X, s.Y}); diff != "" {
		t.Error(diff)
	}
	_, _, err = ReadCSVReport(path, CSVOptions{SkipMissing: true, Also: []string{"temp"}})
	mustFail(t, err, "line 4, column 3", `"NA" is not a finite number`)
	_, _, err = ReadCSVReport(path, CSVOptions{Also: []string{"wind"}})
	mustFail(t, err, `no column "wind"`)
}
