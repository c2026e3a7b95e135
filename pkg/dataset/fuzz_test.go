package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// bounded runs read and fails if it allocates more than a file of so many bytes can call for, whatever its header says: a
// constant for buffers, and for each byte what a column of one character takes with its name, its place and its error text.
func bounded(t *testing.T, size int, read func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+1000*size); got > most {
		t.Errorf("%d bytes are allocated for a file of %d", got, size)
	}
}

// Other fuzz tests, of what a series holds, are beside each reader's tests; these here are of memory, and of reading again.

func FuzzCSVAgain(f *testing.F) {
	for _, text := range []string{
		"x,y\n1,2\n3,4\n",
		"\xef\xbb\xbfdate,ppm\r\n2006-01-02,1e3\r\n2007-01-02T15:04:05Z,-2\r\n",
		"a;b;c\n1;;3\n2;NA;4\n",
		"\"x\",\"y \"\"z\"\"\"\n\"1\",\"2\"\n",
		"1,2\n1\n",
	} {
		f.Add([]byte(text), "", "2", uint8(0))
		f.Add([]byte(text), "date", "c", uint8(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, x, y string, flags uint8) {
		opt := CSVOptions{X: x, Y: y, NoHeader: flags&1 != 0, SkipMissing: flags&2 != 0, Missing: []string{"NA"}}
		if flags&4 != 0 {
			opt.Comma, opt.Comment = ';', '#'
		}
		var s Series
		var err error
		bounded(t, len(text)+len(x)+len(y), func() { s, err = ReadCSV(bytes.NewReader(text), opt) })
		if err != nil {
			return
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.Write([]string{"x", "y"})
		for i := range s.X {
			w.Write([]string{strconv.FormatFloat(s.X[i], 'g', -1, 64), strconv.FormatFloat(s.Y[i], 'g', -1, 64)})
		}
		w.Flush()
		again, err := ReadCSV(&b, CSVOptions{})
		if err != nil || !slices.Equal(again.X, s.X) || !slices.Equal(again.Y, s.Y) {
			t.Fatalf("written and read again: %v, error %v, want %v", again, err, s)
		}
	})
}

func FuzzSILSOAgain(f *testing.F) {
	f.Add([]byte("1749;01;1749.042;  96.7; -1.0;   -1;1\n1749;02;1749.123; 104.3; -1.0;   -1;1\n"))
	f.Add([]byte("\xef\xbb\xbf2025;07;2025.538;  -1;  -1;   -1;0\r\n\r\n2025;08;2025.623; 133.5; 22.1; 1077;0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var months []silsoMonth
		var err error
		bounded(t, len(text), func() { months, err = readSILSO(bytes.NewReader(text)) })
		if err != nil {
			return
		}
		var b bytes.Buffer
		for _, m := range months {
			fmt.Fprintf(&b, "%d;%d;%v;%v;0;0;1\n", m.year, m.month, m.x, m.y)
		}
		again, err := readSILSO(&b)
		if err != nil || !slices.Equal(again, months) {
			t.Fatalf("written and read again: %v, error %v, want %v", again, err, months)
		}
	})
}

func FuzzEDFParts(f *testing.F) {
	f.Add(twoSignals().bytes())
	unknown := twoSignals()
	unknown.records = "-1"
	f.Add(unknown.bytes())
	large := twoSignals()
	large.records, large.signals[0].samples = "99999999", "99999999"
	f.Add(large.bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e *EDF
		var err error
		bounded(t, len(raw), func() { e, err = ReadEDF(bytes.NewReader(raw), int64(len(raw))) })
		if err != nil {
			return
		}
		for _, label := range e.Labels() {
			var s Series
			bounded(t, len(raw), func() { s, err = e.Series(label) })
			if err != nil {
				continue
			}
			// There is no writer; a signal read in two parts is what it is in one.
			for _, cut := range []int{1, len(s.X) / 2, len(s.X) - 1} {
				if cut < 1 || cut >= len(s.X) {
					continue
				}
				a, errA := e.SeriesRange(label, 0, cut)
				b, errB := e.SeriesRange(label, cut, len(s.X))
				if errA != nil || errB != nil {
					t.Fatalf("%q, cut at %d: %v, %v", label, cut, errA, errB)
				}
				if !slices.Equal(append(a.X, b.X...), s.X) || !slices.Equal(append(a.Y, b.Y...), s.Y) {
					t.Fatalf("%q differs when cut at %d", label, cut)
				}
			}
		}
	})
}
