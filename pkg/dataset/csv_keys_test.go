package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// TestKeyColumns finds the columns that tell series apart, and none where rows with one x are repeated measurements.
func TestKeyColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, test := range []struct {
		name, header string
		row          func(i int) string // from x = 0, without x and y
		per          int                // rows of an x
		want         []int
		series       int
	}{
		{"texts", "store,price", func(i int) string { return fmt.Sprintf("s%d,%.3f", i%3, r.Float64()) }, 3, []int{2}, 3},
		{"whole numbers", "price,item", func(i int) string { return fmt.Sprintf("%.3f,%d", r.Float64(), i%4) }, 4, []int{3}, 4},
		{"a text before a number", "id,store", func(i int) string { return fmt.Sprintf("%d,%c", i%3, 'a'+i%3) }, 3, []int{3}, 3},
		{"a pair", "store,item,price", func(i int) string { return fmt.Sprintf("s%d,%d,%.3f", i%2, i/2%3, r.Float64()) }, 6, []int{2, 3}, 6},
		{"unequal series", "store", func(i int) string { return []string{"a", "b", "a", "c"}[i%4] }, 2, []int{2}, 3},
		{"measurements", "temperature", func(int) string { return fmt.Sprintf("%.4f", r.Float64()) }, 3, nil, 0},
		{"counts", "customers", func(int) string { return fmt.Sprint(100 + r.IntN(400)) }, 3, nil, 0},
		{"numbers of rows", "id", func(i int) string { return fmt.Sprintf("r%d", i) }, 3, nil, 0},
		{"weekdays", "weekday", func(i int) string { return []string{"Mon", "Tue"}[i/3%2] }, 3, nil, 0},
		{"repeats", "flag", func(i int) string { return []string{"a", "b", "a"}[i%3] }, 3, nil, 0},
	} {
		const n = 240
		lines := []string{"t,y," + test.header}
		for i := range n {
			lines = append(lines, fmt.Sprintf("%d,%.4f,%s", i/test.per, r.Float64(), test.row(i)))
		}
		path := filepath.Join(t.TempDir(), "long.csv")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		_, rep, err := dataset.ReadCSVReport(path, dataset.CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		columns, texts, series, err := dataset.KeyColumns(path, dataset.CSVOptions{}, rep, n, n/test.per)
		if err != nil || !slices.Equal(columns, test.want) || series != test.series || (len(texts) == 0) != (test.want == nil) {
			t.Errorf("%s: %v %q %d: %v", test.name, columns, texts, series, err)
		}
	}
}

// TestKeyIsY: where the first column of numbers tells several series apart, KeyColumns has it though it would be y; not if the caller named it, nor without another y.
func TestKeyIsY(t *testing.T) {
	long, short := "t,store,item,sold\n", "t,store,item\n"
	for i := range 240 {
		row := fmt.Sprintf("%d,%d,%c", i/4, i%2, 'a'+i/2%2)
		long, short = long+fmt.Sprintf("%s,%d.5\n", row, i*i%17), short+row+"\n"
	}
	for i, c := range []struct {
		text, y string
		want    []int
	}{{long, "", []int{1, 2}}, {long, "store", nil}, {short, "", nil}} {
		path := filepath.Join(t.TempDir(), "long.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		opt := dataset.CSVOptions{Y: c.y}
		_, rep, err := dataset.ReadCSVReport(path, opt)
		if err != nil {
			t.Fatal(err)
		}
		if columns, _, _, err := dataset.KeyColumns(path, opt, rep, 240, 60); err != nil || !slices.Equal(columns, c.want) {
			t.Errorf("%d: %v, %v", i, columns, err)
		}
	}
}

// TestKeys numbers the texts of columns, for rows with y and without.
func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.csv")
	if err := os.WriteFile(path, []byte("t,y,store\n1,2,b\n1,,a\n2,3,\" b \"\n2,4,a\n3,5,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, rep, err := dataset.ReadCSVReport(path, dataset.CSVOptions{SkipMissing: true, Keys: []string{"store"}})
	if err != nil {
		t.Fatal(err)
	}
	m := rep.Also
	if fmt.Sprint(m.Keys, m.OpenKeys, m.OpenX, m.KeyColumns) != "[[0 0 1 2]] [[1]] [1] [2]" || fmt.Sprintf("%q", m.KeyTexts) != `[["b" "a" ""]]` {
		t.Errorf("%+v", m)
	}
	long := strings.Repeat("x", 201)
	if err := os.WriteFile(path, []byte("t,y,store\n1,2,a\n2,3,"+long+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err = dataset.ReadCSVReport(path, dataset.CSVOptions{Keys: []string{"store"}})
	if err == nil || !strings.Contains(err.Error(), `line 3, column 3 ("store"): a text of 201 bytes`) {
		t.Error(err)
	}
}
