package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestStreamErrors: the error of a stream is the first in the file, however many workers there are, and a row that cannot be read
// does not end the reading.
func TestStreamErrors(t *testing.T) {
	const every, n = 4096, 20 * 4096
	text := "t,y\n" + rowsOf(n, func(i int) string {
		if i%every == 7 {
			return fmt.Sprintf("%d,bad", i)
		}
		return fmt.Sprintf("%d,%d.5", i, i)
	})
	for _, workers := range []int{1, 2, 7} {
		rep, err := StreamCSV(strings.NewReader(text), CSVOptions{}, workers, func(_ int, b *CSVBlock) error {
			for i, x := range b.X {
				if b.Lines[i] != int(x)+2 || b.Y[i] != x+0.5 {
					return fmt.Errorf("line %d has (%v, %v)", b.Lines[i], x, b.Y[i])
				}
			}
			for _, p := range b.Bad {
				if (p.Line-2)%every != 7 || p.Cell != "bad" {
					return p
				}
			}
			return nil
		})
		if err != nil || rep.Rows != n-20 || len(rep.Bad.Problems)+rep.Bad.More != 20 {
			t.Errorf("%d workers: %d rows, %v, %v", workers, rep.Rows, rep.Bad.More, err)
		}
		if lines := rep.Bad.Problems; lines[0].Line != 9 || lines[9].Line != 9+9*every {
			t.Errorf("%d workers: lines %d to %d", workers, lines[0].Line, lines[9].Line)
		}
		first := errors.New("first")
		_, err = StreamCSV(strings.NewReader(text), CSVOptions{}, workers, func(_ int, b *CSVBlock) error {
			switch {
			case slices.Contains(b.X, n/2):
				return first
			case b.X[0] > n/2:
				return errors.New("later")
			}
			return nil
		})
		if !errors.Is(err, first) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
	stray := "t,y,note\n0,1,5\" pipe\n" + strings.Repeat("1,2,\"a\"\n", 1_000_000)
	if _, err := StreamCSV(strings.NewReader(stray), CSVOptions{}, 2, func(int, *CSVBlock) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "longer than 2 MiB, or a quotation mark is not closed") {
		t.Error(err)
	}
	open := text + "1,\"" + strings.Repeat("never closed\n", 300_000)
	if _, err := StreamCSV(strings.NewReader(open), CSVOptions{}, 2, func(int, *CSVBlock) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "longer than 2 MiB") {
		t.Error(err)
	}
}

// TestUnreadableFirstLine: a file whose header cannot be read is refused by its line.
func TestUnreadableFirstLine(t *testing.T) {
	for _, text := range []string{"a \"b,c\n", "a \"b,c\nt,y\n0,1.5\n1,2.5\n"} {
		if _, _, err := readCSV(strings.NewReader(text), CSVOptions{}); err == nil || !strings.HasPrefix(err.Error(), "line 1: quot") {
			t.Error(err)
		}
	}
}

// TestReadCSVEnds: reading a file ends with its context, in the middle too.
func TestReadCSVEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.csv")
	if err := os.WriteFile(path, []byte("t,y\n"+rowsOf(200_000, func(i int) string { return fmt.Sprintf("%d,%d.5", i, i) })), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, end := range []int64{1, 5, 20} {
		ctx := &testkit.Looked{Context: t.Context(), End: end}
		if s, _, err := ReadCSVReport(ctx, path, CSVOptions{}); !errors.Is(err, context.Canceled) || s.X != nil {
			t.Errorf("look %d: %d rows, %v", end, s.Len(), err)
		}
	}
	if s, _, err := ReadCSVReport(t.Context(), path, CSVOptions{}); err != nil || s.Len() != 200_000 {
		t.Errorf("%d rows, %v", s.Len(), err)
	}
}

// TestManyProblems: problems of a file are reported at once, the first ten with line, column and cell; the advice on what to type
// comes once.
func TestManyProblems(t *testing.T) {
	_, _, err := readCSV(strings.NewReader("t,y\n0,1.5\n"+rowsOf(30, func(i int) string { return fmt.Sprintf("%d,n.a.", i) })), CSVOptions{})
	wrong := (*CSVError)(nil)
	if !errors.As(err, &wrong) || len(wrong.Problems) != 10 || wrong.More != 20 {
		t.Fatal(err)
	}
	if p := wrong.Problems[9]; p.Line != 12 || p.Column != `column 2 ("y")` || p.Cell != "n.a." || len(p.Hint.Args) != 1 ||
		p.Hint.Args[0] != (Setting{"Missing", "n.a."}) {
		t.Errorf("%+v", p)
	}
	title, lines := wrong.Lines(func(s Setting) string { return "--missing " + s.Value })
	if title != "30 things are wrong:" || len(lines) != 11 || lines[10] != "and 20 more" ||
		lines[0] != `line 3, column 2 ("y"): "n.a." is not a finite number (if it stands for a missing value: --missing n.a.)` ||
		lines[1] != `line 4, column 2 ("y"): "n.a." is not a finite number` {
		t.Errorf("%q %q", title, lines)
	}
}

// TestSeveralSeries: a long table is recognised at its end, with the same report as for a stream, however long it is and in
// whatever order. A column whose words do not differ between the rows of an x makes no series.
func TestSeveralSeries(t *testing.T) {
	const days = 90_000 // so that a part of the days is kept
	row := func(store, day int) string {
		return fmt.Sprintf("%d,%d.5,%s,%d,%s", day, day%7, []string{"north", "south", "west"}[store], store, []string{"dry", "wet"}[day%2])
	}
	for _, c := range []struct {
		name, header string
		order        func(i int) (store, day int)
		days         int
		want         []int
	}{
		{"by series", "t,y,store,number,sky", func(i int) (int, int) { return i / days, i % days }, 3 * days, []int{2}},
		{"by day", "t,y,store,number,sky", func(i int) (int, int) { return i % 3, i / 3 }, 3 * days, []int{2}},
		{"few days", "t,y,store,number,sky", func(i int) (int, int) { return i % 3, i / 3 }, 60, []int{2}},
		{"one series", "t,y,store,number,sky", func(i int) (int, int) { return 1, i }, days, nil},
		{"repeats that nothing tells apart", "t,y,store,number,sky", func(i int) (int, int) { return 1, i / 2 }, days, nil},
	} {
		text := c.header + "\n" + rowsOf(c.days, func(i int) string { return row(c.order(i)) })
		rep, err := StreamCSV(strings.NewReader(text), CSVOptions{}, 2, func(int, *CSVBlock) error { return nil })
		if err != nil || !slices.Equal(rep.Several.Columns, c.want) || c.want != nil && rep.Several.Series != 3 ||
			rep.Several.Values < 20 || rep.Several.Values > days {
			t.Errorf("%s: %+v, %v", c.name, rep.Several, err)
		}
		if _, whole, err := readCSV(strings.NewReader(text), CSVOptions{}); err != nil || !reflect.DeepEqual(whole.Several, rep.Several) {
			t.Errorf("%s: %+v as a whole, %v", c.name, whole.Several, err)
		}
	}
}
