package dataset

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// Every reader promises for any bytes: it returns an error and nothing else, or finite observations, no more than the bytes
// allow. The size of the file bounds the memory, whatever the header says. Observations that are written and read again are the
// same.

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{
		"x,y\n1,2\n3,4\n",
		"\xef\xbb\xbfdate,ppm\r\n2006-01-02,1e3\r\n2007-01-02T15:04:05Z,-2\r\n",
		"day,y\r\n2023-01-01,1\r\n2023-01-02,\r\n",
		"t,y\n1136214245,1\n1136214246.5,2\n",
		"a;b;c\n1;;3\n2;NA;4\n",
		"a;b\n1,5;-3,25\n2;1e3\n",
		"\"x\",\"y \"\"z\"\"\"\n\"1\",\"2\"\n",
		"t,y\n0,NaN\n",
		"\"t,y\n0",
		"1,2\n1\n",
		"\xff\xfet\x00,\x00y\x00\n\x000\x00,\x001\x00\n\x00",
		"\xfe\xff\x00t\x00,\x00y\x00\r\xd8\x3d\xde\x00\x00,\x001",
		"t,y\r0,1\r1,2\r\r\n2,3",
		"sep=;\r\nt;y\r\n0;1\r\n",
		"  t   y \n 0\t 1 \n\n 1  2\n",
		"t,y,\n0,1,,\n1,2\n",
		"t|y\n2016-12-31T23:59:60Z|1\n2017-01-01 00:00:01 UTC|2\n",
		"t,y\n1700000000000,1\n1700000060000,1_000\n",
		"t,y\n0x1p3,1\n",
		"t,y\n1990Q1,1\nQ2 1990,2\n",
		"t,y\n1/2/1990,1\n13/2/1990 2:30 PM,2\n",
		"# a\n# t,y\nJan-70,1\nFeb-70,2\n",
		"t,y\n\"Jan 2, 1990\",1\n1990-W05,2\n",
		"H\xf6he,y\n1e300,1\n",
		"t,y\n1,2\n\"3\",4" + strings.Repeat(",", 1000) + "\n",
		"Year,Q1,Q2,Q3,Q4,total\n2001,1,2,\"3\",4,10\n2002,1,,3,4\n",
		"geo,1990,1991,1992\nDE,1,2,3\nFR,1,\"2\n\",3\n",
		"t,y\n'1','2'\n'3','4'\n5,6" + strings.Repeat(",'a", 1000) + "\n",
	} {
		f.Add([]byte(text), "", "2", uint8(0))
		f.Add([]byte(text), "date", "c", uint8(7))
		f.Add([]byte(text), "1", "2", uint8(0x38))
		f.Add([]byte(text), "", "", uint8(0x44))
		f.Add([]byte(text), "", "", uint8(0x82))
		f.Add([]byte(text), "t", "y", uint8(0x9a))
	}
	times := []TimeFormat{TimeAuto, TimeISO, TimeUnix, TimeNumber, TimeAuto, TimeUnixMilli, TimeUnixMicro, TimeMonth}
	f.Fuzz(func(t *testing.T, text []byte, x, y string, flags uint8) {
		opt := CSVOptions{
			X: x, Y: y, NoHeader: flags&1 != 0, SkipMissing: flags&2 != 0, Missing: []string{"NA"},
			Seconds: flags&8 != 0, DecimalComma: flags&0x40 != 0, Time: times[flags>>4&3|flags>>5&4],
		}
		if flags&4 != 0 {
			opt.Comma = ';'
		}
		file := flags&0x80 != 0 // as analysis reads one
		if file {
			opt.Limit = 1e140
		}
		var s Series
		var err error
		bounded(t, len(text)+len(x)+len(y), func() { s, _, err = readCSV(bytes.NewReader(text), opt) })
		checkRead(t, s, err, len(text))
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Fatalf("an error of %d bytes: %.200s", len(err.Error()), err)
			}
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

func FuzzReadSILSO(f *testing.F) {
	f.Add([]byte(silsoText))
	f.Add([]byte("1749;01;1749.042;NaN;1;1;1"))
	f.Add([]byte("\ufeff;;;;;;"))
	f.Add([]byte("1749;01;1749.042;  96.7; -1.0;   -1;1\n1749;02;1749.123; 104.3; -1.0;   -1;1\n"))
	f.Add([]byte("\xef\xbb\xbf2025;07;2025.538;  -1;  -1;   -1;0\r\n\r\n2025;08;2025.623; 133.5; 22.1; 1077;0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s Series
		var err error
		bounded(t, len(text), func() { s, err = ReadSILSO(bytes.NewReader(text)) })
		checkRead(t, s, err, len(text))
		if err != nil {
			return
		}
		if !slices.IsSorted(s.X) {
			t.Error("decimal years are not increasing")
		}
		months, err := readSILSO(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
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

func FuzzReadEDF(f *testing.F) {
	f.Add([]byte{})
	f.Add(edfSpec{}.bytes())
	f.Add(twoSignals().bytes())
	unknown := twoSignals()
	unknown.records = "-1"
	f.Add(unknown.bytes())
	unknown.duration = "1e300"
	f.Add(unknown.bytes())
	huge := twoSignals()
	huge.records, huge.signals[0].samples = "99999999", "99999999"
	f.Add(huge.bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e *EDF
		var err error
		bounded(t, len(raw), func() { e, err = ReadEDF(bytes.NewReader(raw), int64(len(raw))) })
		if err != nil {
			return
		}
		for _, s := range e.Signals {
			if s.Samples < 0 || s.Samples > len(raw)/2 || math.IsNaN(s.Rate) {
				t.Errorf("%d samples at %g Hz in %d bytes", s.Samples, s.Rate, len(raw))
			}
		}
		for _, label := range e.Labels() {
			var s Series
			bounded(t, len(raw), func() { s, err = e.Series(label) })
			checkRead(t, s, err, len(raw)/2)
			if err != nil {
				continue
			}
			if !slices.IsSorted(s.X) {
				t.Errorf("signal %q: times are not increasing", label)
			}
			// There is no writer, so compare a signal that is read in two parts with the whole.
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

// bounded allows for each byte what a column of one character takes with its name, its place and its error text.
func bounded(t *testing.T, size int, read func()) {
	t.Helper()
	testkit.BoundedAllocation(t, size, 1000, read)
}

// checkRead asserts the promises of every reader: an error and nothing else, or finite observations, no more than the bytes
// allow.
func checkRead(t *testing.T, s Series, err error, bytes int) {
	t.Helper()
	if err != nil {
		if diff := cmp.Diff(Series{}, s, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("error %v with a series:\n%s", err, diff)
		}
		return
	}
	if len(s.X) != len(s.Y) || s.Len() == 0 || s.Len() > bytes {
		t.Errorf("%d x and %d y from %d bytes", len(s.X), len(s.Y), bytes)
	}
	for i := range s.X {
		if v := s.X[i] + s.Y[i]; math.IsNaN(v) || math.IsInf(s.X[i], 0) || math.IsInf(s.Y[i], 0) {
			t.Fatalf("observation %d is (%g, %g)", i, s.X[i], s.Y[i])
		}
	}
}
