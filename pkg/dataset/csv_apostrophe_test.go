package dataset

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestApostrophes reads fields between apostrophes, and those behind one, and leaves other apostrophes where they are.
func TestApostrophes(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		y0, y1   float64
		key      string
		keyTexts string // separated by |
	}{
		"all":                   {"'date','v'\n'2015-01-01','12'\n'2015-02-01','13'\n", 12, 13, "", ""},
		"a separator within":    {"'date','v'\n'2015-01-01','1,025.10'\n'2015-02-01','980'\n", 1025.1, 980, "", ""},
		"dates only":            {"date;v\r\n'2015-01-01';1,5\r\n'2015-02-01';2,5\r\n", 1.5, 2.5, "", ""},
		"behind one":            {"date,v\n'2015-01-01,'12\n'2015-02-01,'13\n", 12, 13, "", ""},
		"texts":                 {"'k','date','v'\n'it''s, \"a\"','2015-01-01','12'\n'b','2015-02-01','13'\n", 12, 13, "k", `it's, "a"|b`},
		"quotation marks too":   {"k,date,v\n\"x,'5\",'2015-01-01','12'\nO'Neil,'2015-02-01','13'\n", 12, 13, "k", "x,'5|O'Neil"},
		"texts of other tables": {"date,v,k\n2015-01-01,12,'a'\n2015-02-01,13,'b'\n", 12, 13, "k", "'a'|'b'"},
		"thousands":             {"date;v\n2015-01-01;1'025\n2015-02-01;2'025\n", 1025, 2025, "", ""},
		"no newline at the end": {"'date','v'\n'2015-01-01','12'\n'2015-02-01','13'", 12, 13, "", ""},
	} {
		opt := CSVOptions{}
		if c.key != "" {
			opt.Keys = []string{c.key}
		}
		s, rep, err := readCSV(strings.NewReader(c.text), opt)
		if err != nil || s.Len() != 2 || s.Y[0] != c.y0 || s.Y[1] != c.y1 || rep.Time != TimeISO {
			t.Errorf("%s: %v, %v, %v", name, s.Y, rep.Time, err)
		} else if c.key != "" && strings.Join(rep.Also.KeyTexts[0], "|") != c.keyTexts {
			t.Errorf("%s: %q", name, rep.Also.KeyTexts)
		}
		long := strings.Repeat("x", 3*headSize)
		of, _, bad, _, err := streamed(strings.NewReader(strings.Replace(c.text, "\n", "\n\n", 1)+"\n# "+long+"\n"), CSVOptions{Comment: '#'}, 2, 7)
		if c.key == "" && (err != nil || len(bad) > 0 || of.Y[1] != c.y1) {
			t.Errorf("%s, streamed: %v, %v, %v", name, of.Y, bad, err)
		}
	}
	if s, _, err := readCSV(strings.NewReader("year,v\n'99,1\n'00,2\n'01,3\n"), CSVOptions{}); err == nil {
		t.Errorf("years of two digits are read as %v", s.X)
	}
}

// TestOpenApostrophe compares the short search behind a field that was not closed with the whole one.
func TestOpenApostrophe(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	short, closes := 0, 0
	for range 200_000 {
		line := make([]byte, 1+r.IntN(12))
		for i := range line {
			line[i] = "'',;a"[r.IntN(5)]
		}
		open := false
		for i := 1; i < len(line); i++ {
			if line[i-1] != '\'' || i > 1 && strings.IndexByte(separators, line[i-2]) < 0 {
				continue // no field begins here
			}
			text, size, closed := apostropheText(line[i:], false)
			if open {
				short++
				if fast, fastSize, fastClosed := apostropheText(line[i:], true); string(fast) != string(text) || fastSize != size || fastClosed != closed {
					t.Fatalf("%q from %d: %q, %d, %t; want %q, %d, %t", line, i, fast, fastSize, fastClosed, text, size, closed)
				}
				if closed {
					closes++
				}
			}
			open = open || !closed
		}
	}
	if short == 0 || closes == 0 {
		t.Errorf("%d short searches, of which %d close a field", short, closes)
	}
}
