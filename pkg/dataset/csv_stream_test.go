package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// streamed reads a text in blocks of some bytes, and puts the rows in order.
func streamed(r io.Reader, opt CSVOptions, workers, size int) (s Series, lines []int, bad []CSVRowError, rep CSVReport, err error) {
	type row struct {
		line int
		x, y float64
	}
	var rows []row
	var mu sync.Mutex
	stream := &csvStream{opt: opt, size: size, visit: func(worker int, b *CSVBlock) error {
		mu.Lock()
		defer mu.Unlock()
		if worker < 0 || worker >= workers {
			return fmt.Errorf("worker %d", worker)
		}
		for i, x := range b.X {
			rows = append(rows, row{b.Lines[i], x, b.Y[i]})
		}
		return nil
	}}
	err = stream.run(r, workers)
	slices.SortStableFunc(rows, func(a, b row) int { return a.line - b.line })
	bad = stream.rep.Bad.Rows
	for _, r := range rows {
		s.X, s.Y, lines = append(s.X, r.x), append(s.Y, r.y), append(lines, r.line)
	}
	return s, lines, bad, stream.rep, err
}

// TestStreamAsRead compares with ReadCSV on random tables: the same rows where that reads them, the same first bad row where it
// does not.
func TestStreamAsRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	fields := []string{"1", "-2.5", "0.1", "1e3", "3.14159265358979", "123456789012345678901", "1e-300", "", "NA", "x", "1_0", "0x10", "nan", "1e999", " 7 ", "+4", ".5", "5.", "2024-01-01", `"8"`, `"a,b"`, `a"b`, "1;2", "12%", "\u00a06"}
	readable, unreadable, trials := 0, 0, testkit.Size(300, 3000, 3000)
	for trial := range trials {
		width := 2 + rnd.IntN(3)
		var b strings.Builder
		header := rnd.IntN(4) > 0
		if header {
			b.WriteString("t,y,z,w"[:2*width-1] + "\n")
		}
		clean := rnd.IntN(2) == 0
		for range rnd.IntN(40) {
			switch rnd.IntN(20) {
			case 0:
				b.WriteString("\n")
				continue
			case 1:
				if !clean {
					b.WriteString("1,2,3,4,5,6\n")
				}
				continue
			case 2:
				b.WriteString("   \n")
				continue
			}
			for c := range width {
				if c > 0 {
					b.WriteByte(',')
				}
				if clean {
					fmt.Fprint(&b, float64(rnd.IntN(1000))/8)
				} else if rnd.IntN(10) == 0 {
					b.WriteString(fields[rnd.IntN(len(fields))])
				} else {
					fmt.Fprint(&b, rnd.NormFloat64())
				}
			}
			if rnd.IntN(10) == 0 {
				b.WriteString(", ")
			}
			b.WriteString([]string{"\n", "\n", "\r\n"}[rnd.IntN(3)])
		}
		text := b.String()
		if rnd.IntN(5) == 0 {
			text = strings.TrimRight(text, "\r\n")
		}
		opt := CSVOptions{Comma: ',', NoHeader: !header, Missing: []string{"NA"}, SkipMissing: true, Limit: 1e100, X: strconv.Itoa(1 + rnd.IntN(2))}
		opt.Y = strconv.Itoa(3 - int(opt.X[0]-'0'))
		want, wantErr := ReadCSV(strings.NewReader(text), opt)
		s, lines, bad, rep, err := streamed(iotest.OneByteReader(strings.NewReader(text)), opt, 1+rnd.IntN(3), 1+rnd.IntN(200))
		if err != nil {
			if wantErr == nil || !strings.Contains(wantErr.Error(), err.Error()) {
				t.Fatalf("trial %d: %v, want %v:\n%s", trial, err, wantErr, text)
			}
			continue
		}
		switch {
		case wantErr == nil:
			readable++
			if len(bad) > 0 || !slices.Equal(s.X, want.X) || !slices.Equal(s.Y, want.Y) {
				t.Fatalf("trial %d: %v %v, bad %v, want %v:\n%s", trial, s, lines, bad, want, text)
			}
			if rep.Rows != len(s.X)+rep.Skipped {
				t.Fatalf("%d rows, %d skipped, %d read", rep.Rows, rep.Skipped, len(s.X))
			}
		case len(bad) == 0:
			if len(s.X) > 0 || !strings.Contains(wantErr.Error(), "no rows with both") {
				t.Fatalf("trial %d: no bad row, want %v:\n%s", trial, wantErr, text)
			}
		default:
			unreadable++
			// What the first row is told to be explains more in ReadCSV.
			if got := fmt.Sprintf("line %d", bad[0].Line); !strings.Contains(wantErr.Error(), got+":") && !strings.Contains(wantErr.Error(), got+",") {
				t.Fatalf("trial %d: %v, want %v:\n%s", trial, bad[0], wantErr, text)
			}
		}
	}
	if readable < trials/10 || unreadable < trials/10 {
		t.Errorf("%d tables were readable, %d not", readable, unreadable)
	}
}

// TestStreamErrors wants errors of the file as a whole.
func TestStreamErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"\n\n", "the file is empty"},
		{"t\n1\n", "no column"},
		{"t,y\n1,2\n\"3,4\n5,6\n", "line 3: a field that a quotation mark"},
		{"t,y\n1,\x00\n", "NUL"},
		{"\x1f\x8b", "gzip"},
	} {
		_, _, _, _, err := streamed(strings.NewReader(c.text), CSVOptions{}, 2, 16)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	text := "t,y\n" + strings.Repeat("1,2\n", 1000)
	if _, _, _, _, err := streamed(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), CSVOptions{}, 2, 64); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	calls := 0
	_, err := StreamCSV(strings.NewReader(text), CSVOptions{}, 1, func(int, *CSVBlock) error { calls++; return broken })
	if !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestStreamQuoted wants lines to be counted through fields that hold line ends.
func TestStreamQuoted(t *testing.T) {
	text := "t,y,note\n" + strings.Repeat("1,2,a\n", 50) + "3,4,\"two\nlines\"\n5,x,b\n6,7,c\n8,9\"9,d\n10,11,e\n"
	s, lines, bad, _, err := streamed(strings.NewReader(text), CSVOptions{}, 2, 64)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.X); n != 53 || s.X[50] != 3 || lines[50] != 52 || lines[51] != 55 || s.X[52] != 10 || lines[52] != 57 {
		t.Errorf("%d rows, lines %v", n, lines)
	}
	if len(bad) != 2 || bad[0].Line != 54 || bad[1].Line != 56 {
		t.Errorf("bad: %v", bad)
	}
}

func TestDecimal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	fast := 0
	check := func(text string) {
		got, ok := decimal([]byte(text))
		want, err := parseFinite(text)
		if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Fatalf("%q: %v, want %v %v", text, got, want, err)
		}
		if ok {
			fast++
		}
	}
	for range 100000 {
		v := rnd.NormFloat64() * math.Pow(10, float64(rnd.IntN(30)-15))
		check(strconv.FormatFloat(v, "efg"[rnd.IntN(3)], rnd.IntN(18), 64))
		const letters = "0123456789+-.eE "
		var b []byte
		for range rnd.IntN(8) {
			b = append(b, letters[rnd.IntN(len(letters))])
		}
		check(string(b))
	}
	if fast < 50000 {
		t.Errorf("%d numbers were read fast", fast)
	}
}

func TestISOSeconds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	check := func(text string) bool {
		got, ok := isoSeconds([]byte(text))
		want, err := parseTime(text)
		if ok && (err != nil || got != float64(want.Unix())+1e-9*float64(want.Nanosecond())) {
			t.Fatalf("%q: %v, want %v %v", text, got, want, err)
		}
		return ok
	}
	for range 20000 {
		at := time.Unix(rnd.Int64N(400e9)-62e9, rnd.Int64N(1e9)).UTC()
		if at.Year() > 9999 {
			continue
		}
		for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05.000", "2006-01-02T15:04:05.999999999Z"} {
			if !check(at.Format(layout)) {
				t.Fatalf("%q is not read fast", at.Format(layout))
			}
		}
		b := []byte(at.Format("2006-01-02T15:04:05.000Z"))
		b[rnd.IntN(len(b))] = "0123456789-:TZ. "[rnd.IntN(16)]
		check(string(b[:rnd.IntN(len(b)+1)]))
	}
	for _, text := range []string{"2023-02-29", "2100-02-29", "2024-02-29", "2016-12-31T23:59:60Z", "2024-13-01", "2024-00-10", "2024-04-31", "2024-01-01T24:00:00", "2024-01-01T00:00:00."} {
		check(text)
	}
}

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

// TestStreamComments reads files with comments as ReadCSVReport does.
func TestStreamComments(t *testing.T) {
	for name, text := range map[string]string{
		"above the header": "# a\n# b\nt,y\n1,2\n# c\n3,4\n",
		"above the values": "# a\n# t,y\n1,2\n3,4\n",
		"quoted":           "# a\n# b\nt,y\n\"1\",2\n3,4\n",
	} {
		s, _, bad, _, err := streamed(strings.NewReader(text), CSVOptions{X: "t", Y: "y"}, 1, blockSize)
		if err != nil || len(bad) > 0 || s.Len() != 2 || s.X[1] != 3 || s.Y[0] != 2 {
			t.Errorf("%s: %+v, %v, %v", name, s, bad, err)
		}
	}
}
