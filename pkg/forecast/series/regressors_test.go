package series

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
)

// TestFuture takes the values ahead from another file.
func TestFuture(t *testing.T) {
	text := driven(60)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	past := testdraws.File(t, strings.Join(lines[:61], "\n"))
	future := filepath.Join(t.TempDir(), "future.csv")
	write := func(rows ...string) {
		if err := os.WriteFile(future, []byte("price,month\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("11,2015-02", "12,2015-01")
	o := ReadOptions{Regressors: []string{"price"}, Future: future} // whose column month is another than here
	s, err := Read(t.Context(), past, o)
	if err != nil {
		t.Fatal(err)
	}
	if ahead := s.Ahead(); len(ahead) != 2 || s.Axis.Text(ahead[1]) != "2015-02" || s.Known.Values[0][61] != 11 {
		t.Errorf("%v", s.Known)
	}
	write("11,2015-02", "13,2014-12")
	_, err = Read(t.Context(), past, o)
	if err == nil || !strings.Contains(err.Error(), "line 61") || !strings.Contains(err.Error(), "future.csv") ||
		!strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "one value at each") {
		t.Errorf("two values at one x: %v", err)
	}
	write("bad,2015-02")
	if _, err = Read(t.Context(), past, o); err == nil || !strings.HasPrefix(err.Error(), ""+future+": line 2") {
		t.Errorf("a bad value ahead: %v", err)
	}
	write("11,31/1/2015")
	if _, err = Read(t.Context(), past, o); err == nil || !strings.Contains(err.Error(),
		`"31/1/2015" is not a date written as 2000-01-31 (it is one written as 31/1/2000`) {
		t.Errorf("other dates ahead: %v", err)
	}
	write("13,2015-02") // another scenario in place of the values of the file
	if err := s.AddFuture(future, ReadOptions{}); err != nil || s.Known.Values[0][60] != 12 || s.Known.Values[0][61] != 13 {
		t.Errorf("another scenario: %v (%v)", s.Known, err)
	}
	write("99,2014-12")
	if err := s.AddFuture(future, ReadOptions{}); err == nil || !strings.Contains(err.Error(), "one value at each x") {
		t.Errorf("another value at an observation: %v", err)
	}
}

func TestColumnErrors(t *testing.T) {
	rows := func(sixth string) string {
		text := "t,y,z,se\n"
		for i := range 12 {
			row := fmt.Sprintf("%d,%d,%d,0.5", i, i%5, i%3)
			if i == 4 {
				row = sixth
			}
			text += row + "\n"
		}
		return text
	}
	for name, test := range map[string]struct {
		text string
		o    ReadOptions
		want string
	}{
		"negative":           {rows("4,1,1,-0.5"), ReadOptions{YError: "se"}, "line 6: the error of y (se) is -0.5"},
		"zero":               {rows("4,1,1,0"), ReadOptions{YError: "se"}, "line 6: the error of y (se) is 0"},
		"missing":            {rows("4,1,1,"), ReadOptions{YError: "se"}, "line 6: the error of y (se) is missing"},
		"text":               {rows("4,1,1,y"), ReadOptions{YError: "se"}, `line 6, column 4 ("se"): "y" is not a finite number`},
		"no column":          {rows("4,1,1,1"), ReadOptions{YError: "err"}, `no column "err"`},
		"y itself":           {rows("4,1,1,1"), ReadOptions{YError: "y"}, `column 2 ("y") is y and cannot be the error of y too`},
		"missing regressor":  {rows("4,1,,1"), ReadOptions{Regressors: []string{"z"}}, "line 6: the regressor z is missing"},
		"twice":              {rows("4,1,1,1"), ReadOptions{Regressors: []string{"z", "3"}}, "cannot be a regressor too"},
		"constant regressor": {rows("4,1,1,0.5"), ReadOptions{Regressors: []string{"se"}}, "the regressor se is 0.5 in all rows"},
		"two values at an x": {rows("3,1,1,0.5"), ReadOptions{Regressors: []string{"z"}}, "z is 0 in line 5 and 1 in line 6"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(t.Context(), testdraws.File(t, test.text), test.o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
}
