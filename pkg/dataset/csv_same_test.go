package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

var sameCases = flag.Int("same-cases", 400, "random files of TestSameFiles")

// randomFile writes a table from a grammar of all that files are made of, and options to read it by.
func randomFile(rnd *rand.Rand) (text []byte, opt CSVOptions) {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	comma := pick(",", ",", ";", "\t", "|", " ")
	opt = CSVOptions{
		SkipMissing: rnd.IntN(4) > 0, Missing: []string{"NA", "-99.99"}, Seconds: rnd.IntN(3) > 0, Limit: 1e140, NumberDates: rnd.IntN(2) == 0,
		NoHeader: rnd.IntN(6) == 0, DecimalComma: comma != "," && rnd.IntN(3) == 0,
	}
	if rnd.IntN(3) == 0 {
		opt.Comma = rune(comma[0])
	}
	if rnd.IntN(10) == 0 {
		opt.Time = TimeFormats[rnd.IntN(len(TimeFormats))]
	}
	var forms []string // of a date or number by day i
	for _, f := range dateForms {
		forms = append(forms, string(f.format))
	}
	form := pick(append(forms, "short", "short", "slashes", "slashes", "number", "number", "unix", "unix", "digits")...)
	century := 1900 + 10*rnd.IntN(15)
	noise := []int{0, 0, 50, 8}[rnd.IntN(4)] // one cell in so many is odd
	x := func(i int) string {
		y, m, d := century+i/300, 1+i/28%12, 1+i%28
		if form == "slashes" {
			d = 1 + i%[]int{28, 12}[century/10%2]
		}
		if noise > 0 && rnd.IntN(4*noise) == 0 {
			return pick(string(dateForms[rnd.IntN(len(dateForms))].examples[0]), "1-Jan-60", "3/4/2000", "", "NA", "17", "last week", "2000-02-30")
		}
		switch TimeFormat(form) {
		case TimeISO:
			return fmt.Sprintf("%04d-%02d-%02d", y, m, d) + pick("", "T10:00:00Z", " 10:00")
		case TimeQuarter:
			return fmt.Sprintf("%dQ%d", y, 1+m%4)
		case TimeMonth:
			return fmt.Sprintf("%dM%02d", y, m)
		case TimeNamed:
			return fmt.Sprintf("%d %s %d", d, monthNames[m-1][:3], y)
		case "short":
			return fmt.Sprintf("%d-%s-%02d", d, monthNames[m-1][:3], y%100)
		case TimeWeek:
			return fmt.Sprintf("%d-W%02d", y, 1+i%52)
		case TimeYMD:
			return fmt.Sprintf("%d/%d/%d", y, m, d)
		case TimeDMY:
			return fmt.Sprintf("%02d.%02d.%d", d, m, y)
		case TimeMDY, "slashes":
			return fmt.Sprintf("%d/%d/%d", m, d, y) + pick("", "", " 2:30 PM")
		case "unix":
			return strconv.Itoa(1700000000 + 60*i)
		case "digits":
			return fmt.Sprintf("%d%02d%02d", y, m, d)
		}
		return strconv.FormatFloat(float64(i)/4, 'g', -1, 64)
	}
	y := func() string {
		v := strconv.FormatFloat(math.Round(1e4*rnd.NormFloat64())/100, 'g', -1, 64)
		if opt.DecimalComma {
			v = strings.Replace(v, ".", ",", 1)
		}
		if noise > 0 && rnd.IntN(noise) == 0 {
			v = pick("1,234.5", "1.234,5", "1'000", "1 000", "12%", "3,14", "", "NA", "-99.99", "NaN", "inf", "1e999", "1e200", "0x10", "1_0", "−5", "$7", "12:30", "5 m", "a\"b", "\x1b[2J", "\u202e7")
		}
		return v
	}
	quote := []int{0, 0, 1, 20}[rnd.IntN(4)]
	cell := func(v string) string {
		if quote > 0 && rnd.IntN(quote) == 0 || strings.ContainsAny(v, comma) && rnd.IntN(5) > 0 {
			return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
		}
		return v
	}
	end := pick("\n", "\n", "\r\n", "\r")
	var b strings.Builder
	for range rnd.IntN(3) * rnd.IntN(2) {
		b.WriteString("# " + pick("made by hand", "x,y,z", `a "quote`) + end)
	}
	width := 2 + rnd.IntN(3)
	names := []string{"t", "y", "note", pick("y", "z", "Höhe")}
	for c := range width {
		if !opt.NoHeader {
			b.WriteString(comma[:min(c, 1)] + cell(names[c]))
		}
	}
	if !opt.NoHeader {
		b.WriteString(end)
	}
	opt.X, opt.Y = pick("", "1", "t"), pick("", "2", "y")
	if opt.NoHeader {
		opt.X, opt.Y = "", pick("", "2", "9")
	}
	for i := range rnd.IntN(60) {
		row := []string{cell(x(i * []int{1, 7, 31}[century/10%3])), cell(y()), pick("a", `"two`+end+`lines"`, "#", `""`), "4"}[:width]
		switch {
		case noise > 0 && rnd.IntN(4*noise) == 0:
			row = row[:1]
		case rnd.IntN(40) == 0:
			row = append(row, "", " ")
		}
		b.WriteString(strings.Join(row, comma) + end)
		switch rnd.IntN(60) {
		case 0:
			b.WriteString(pick("", "  ") + end)
		case 1:
			b.WriteString("# a comment" + end)
		case 2:
			if noise == 8 {
				b.WriteString(pick(`"open`, `1,"2"3`, "\x00", `a"b,2`) + end)
			}
		}
	}
	out := b.String()
	if rnd.IntN(4) == 0 {
		out = strings.TrimRight(out, "\r\n")
	}
	switch rnd.IntN(8) {
	case 0:
		return []byte("\ufeff" + out), opt
	case 1:
		wide := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(out)) {
			wide = binary.LittleEndian.AppendUint16(wide, u)
		}
		return wide, opt
	}
	return []byte(out), opt
}

// TestSameFiles reads random files whole and as streams, in blocks of any size, by any number of workers: the same values bit by bit, or
// the same error.
func TestSameFiles(t *testing.T) {
	read, refused := 0, map[string]int{}
	for trial := range *sameCases {
		rnd := rand.New(rand.NewPCG(26, uint64(trial)))
		text, opt := randomFile(rnd)
		want, rep, wantErr := readCSV(bytes.NewReader(text), opt)
		workers, size := 1+rnd.IntN(3), 1+rnd.IntN(300)
		got, lines, bad, streamRep, err := streamed(iotest.HalfReader(bytes.NewReader(text)), opt, workers, size)
		fatal := func(what string) {
			t.Helper()
			t.Fatalf("trial %d, %s: %v, bad %v; whole: %v\n%+v\n%s", trial, what, err, bad, wantErr, opt, text)
		}
		if err == nil && len(bad) > 0 {
			err = bad[0]
		} else if err != nil && len(bad) > 0 && lineIn(err) > bad[0].Line {
			err = bad[0] // of rows above the error of the file
		}
		if err == nil && len(got.X) == 0 {
			err = errors.New("no rows with both x and y")
		}
		if rows := (*CSVRowsError)(nil); errors.As(wantErr, &rows) {
			wantErr = rows.Rows[0]
		}
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			fatal("another error")
		}
		if err != nil {
			refused[strings.Fields(err.Error())[0]]++
			continue
		}
		read++
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(got.X, want.X, same) || !slices.EqualFunc(got.Y, want.Y, same) || !slices.IsSorted(lines) {
			fatal("other values")
		}
		streamRep.Also = rep.Also
		if fmt.Sprint(streamRep) != fmt.Sprint(rep) {
			fatal(fmt.Sprintf("another report: %+v, %+v", streamRep, rep))
		}
	}
	t.Logf("%d of %d files were read; refused: %v", read, *sameCases, refused)
	if read < *sameCases/5 || read > 4**sameCases/5 {
		t.Errorf("%d of %d files were read", read, *sameCases)
	}
}

// lineIn is the line that an error names; none for one of the whole file, which comes last.
func lineIn(err error) int {
	line := math.MaxInt
	if _, after, ok := strings.Cut(err.Error(), "line "); ok {
		fmt.Sscanf(after, "%d", &line)
	}
	return line
}

// TestLongRows wants rows beyond the limit to be refused where they begin, with little memory, whatever the file goes on with.
func TestLongRows(t *testing.T) {
	const huge = 64 << 20
	fill := func(first, of string) func() *repeated {
		return func() *repeated { return &repeated{first: first, of: of, left: huge} }
	}
	for name, c := range map[string]struct {
		text func() *repeated
		want string
	}{
		"a line":                  {fill("t,y\n1,2\n3,", "4"), "line 3 is longer than 2 MiB"},
		"an open quote":           {fill("t,y\n1,2\n3,\"", "4\n"), "line 3: a field that a quotation mark \" opens is not closed within 2 MiB"},
		"a header":                {fill("t,y", ",column"), "line 1 is longer than 2 MiB"},
		"a million columns":       {fill("t,y"+strings.Repeat(",c", 1_000_000)+"\n", "1,2\n"), "line 1 has 1000002 columns, more than 131072"},
		"only separators":         {fill("t,y\n", ","), "line 2 is longer than 2 MiB"},
		"a quote on one line":     {fill("t,y\n1,\"", "4"), "line 2: a field that a quotation mark \" opens is not closed within 2 MiB"},
		"quoted fields, one line": {fill("t,y\n1,", `"4",`), "line 2 is longer than 2 MiB"},
		"NUL bytes":               {fill("", "\x00"), "line 1 holds a NUL byte"},
		"NUL bytes after a row":   {fill("t,y\n1,2\n", "\x00"), "line 3 holds a NUL byte"},
		"a comment":               {fill("# ", "a"), "line 1 is longer than 2 MiB"},
		"blanks between":          {fill("t y\n1 2\n3 4", "5"), "line 3 is longer than 2 MiB"},
		"CR at the ends":          {fill("t,y\r1,2\r3,", "4"), "line 3 is longer than 2 MiB"},
	} {
		for door, read := range map[string]func(r *repeated) error{
			"whole": func(r *repeated) error { _, err := ReadCSV(r, CSVOptions{}); return err },
			"stream": func(r *repeated) error {
				_, err := StreamCSV(r, CSVOptions{}, 2, func(int, *CSVBlock) error { return nil })
				return err
			},
		} {
			r := c.text()
			if err := read(r); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, want %q", name, door, err, c.want)
			}
			if took := huge - r.left; took > 5<<20 {
				t.Errorf("%s, %s: %d bytes were read before the error", name, door, took)
			}
		}
	}
	exact := strings.Repeat("4", longestLine-2)
	for _, c := range []struct {
		extra string
		ok    bool
	}{{"", true}, {"4", false}} {
		opt := CSVOptions{Missing: []string{exact, exact + "4"}, SkipMissing: true}
		for _, size := range []int{100_000, blockSize} {
			s, _, bad, _, err := streamed(strings.NewReader("t,y\n1,2\n3,"+exact+c.extra+"\n5,6\n"), opt, 2, size)
			if (err == nil) != c.ok || c.ok && (len(bad) > 0 || s.Len() != 2) {
				t.Errorf("%d bytes in blocks of %d: %v, %v", len(exact)+len(c.extra)+2, size, err, bad)
			}
		}
	}
}

// repeated is a long text.
type repeated struct {
	first, of string
	left      int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	n = copy(p, r.first)
	if r.first = r.first[n:]; n == 0 && r.left > 0 {
		for n < len(p) {
			n += copy(p[n:], r.of)
		}
		r.left -= n
	}
	if n == 0 {
		return 0, os.ErrClosed
	}
	return n, nil
}

// TestDefaultBesideKeys: y is the first column that does not tell series apart.
func TestDefaultBesideKeys(t *testing.T) {
	const text = "day,store,item,sold\n2020-01-01,north,3,10\n2020-01-02,north,4,9\n"
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, opt := range []CSVOptions{{Keys: []string{"store", "item"}}, {Keys: []string{"2", "3"}}} {
		s, rep, err := ReadCSVReport(path, opt)
		if err != nil || rep.Y != 3 || !slices.Equal(s.Y, []float64{10, 9}) {
			t.Errorf("%+v: column %d, %v, %v", opt, rep.Y, s.Y, err)
		}
	}
	if err := os.WriteFile(path, []byte("store,week,sold\nnorth,1,10\nnorth,2,9\n"), 0o666); err != nil { // x is the first of the others, too
		t.Fatal(err)
	}
	s, rep, err := ReadCSVReport(path, CSVOptions{Keys: []string{"store"}})
	if err != nil || rep.X != 1 || rep.Y != 2 || !slices.Equal(s.X, []float64{1, 2}) || !slices.Equal(s.Y, []float64{10, 9}) {
		t.Errorf("columns %d and %d, %v, %v, %v", rep.X, rep.Y, s.X, s.Y, err)
	}
}
