package dataset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// TestAllThatIsWrong wants every row of a file that cannot be read in one error, with those whose x is repeated, and no more than ten.
func TestAllThatIsWrong(t *testing.T) {
	lines := func(n int, change map[int]string) string {
		all := []string{"date,y"}
		for i := 2; i <= n; i++ {
			row, ok := change[i]
			if !ok {
				row = fmt.Sprintf("2024-%02d-%02d,%d", 1+i/28, 1+i%28, i)
			}
			all = append(all, row)
		}
		return strings.Join(all, "\n")
	}
	for _, test := range []struct {
		name, text string
		opt        dataset.CSVOptions
		title      string
		want       []string
	}{
		{"three", lines(40, map[int]string{7: "2024-02-30,7", 9: "2024-01-10,nine", 12: "2024-01-05,12"}), dataset.CSVOptions{}, "3 things are wrong:", []string{
			`line 7, column 1 ("date"): "2024-02-30" is not an ISO date`, `line 9, column 2 ("y"): "nine" is not a finite number (`,
			`line 12, column 1 ("date"): the x of line 4 once more (both are used; remove one`}},
		{"one", lines(40, map[int]string{7: "2024-02-30,7"}), dataset.CSVOptions{}, "", []string{`line 7, column 1 ("date")`}},
		{"many", lines(40, map[int]string{3: "a,1", 4: ",", 5: "a,1", 6: "a,1", 7: "a,1", 8: "a,1", 9: "a,1", 10: "a,1", 11: "a,1", 12: "a,1", 13: "a,1", 14: "2024-01-01"}),
			dataset.CSVOptions{}, "12 things are wrong:", []string{"line 3, ", "line 4, ", "line 5, ", "", "", "", "", "", "", "line 12, ", "and 2 more"}},
		{"all", "t,y\n" + strings.Repeat("1,a\n", 30), dataset.CSVOptions{}, "30 things are wrong:", []string{"line 2, ", "and 29 more"}},
		{"an open quote below", lines(40, map[int]string{7: "2024-02-30,7", 30: `2024-02-02,"3`}), dataset.CSVOptions{}, "2 things are wrong:",
			[]string{"line 7, ", `line 30: a field that a quotation mark " opens is not closed`}},
		{"columns", lines(40, nil), dataset.CSVOptions{X: "when", Y: "value", Also: []string{"price"}}, "", []string{
			`x: no column "when"; there are column 1 ("date"), column 2 ("y"); y: no column "value"; there are column 1 ("date"), column 2 ("y"); no column "price"`}},
		{"dates and numbers", "date;y\n3/4/2000;1.025\n5/4/2001;980\n7/8/2001;5\n", dataset.CSVOptions{}, "", []string{"no other date of the column tells which: say CSVOptions.Time"}},
	} {
		_, err := dataset.ReadCSV(strings.NewReader(test.text), test.opt)
		if err == nil {
			t.Errorf("%s: no error", test.name)
			continue
		}
		title, got := "", []string{strings.TrimPrefix(err.Error(), "dataset: CSV: ")}
		if rows := (*dataset.CSVRowsError)(nil); errors.As(err, &rows) {
			title, got = rows.Lines()
			if !strings.HasSuffix(err.Error(), strings.TrimSpace(title+" "+strings.Join(got, "; "))) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		ok := title == test.title && len(got) == len(test.want)
		for i := range got {
			ok = ok && strings.Contains(got[i], test.want[i])
		}
		if !ok {
			t.Errorf("%s: %q\n%s", test.name, title, strings.Join(got, "\n"))
		}
	}
	// What is open of dates and of numbers is told together.
	_, err := dataset.ReadCSV(strings.NewReader("date;y\n3/4/2000;1.025\n5/4/2001;980\n7/8/2001;5\n"), dataset.CSVOptions{})
	if err == nil || !strings.Contains(err.Error(), "CSVOptions.Time") || !strings.Contains(err.Error(), "CSVOptions.DecimalComma") {
		t.Error(err)
	}
}
