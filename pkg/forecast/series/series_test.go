package series

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/timeline"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func TestRead(t *testing.T) {
	var rows []string
	for i := range 20 {
		if i != 7 && i != 8 {
			rows = append(rows, fmt.Sprintf("2024-01-%02d,%d", i+1, i*i%7))
		}
	}
	rows[3], rows[4] = rows[4], rows[3]
	rows = append(rows, "2024-01-20,5", "2024-01-21,")
	s, err := Read(t.Context(), testdraws.File(t, "day,level\n"+strings.Join(rows, "\n")), ReadOptions{YUnit: "m"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"19 observations of level (m) from 2024-01-01 to 2024-01-20, every day.",
		"1 row without a value was left out.",
		"1 gap, from 2024-01-07 to 2024-01-10; 2 observations would fill them. Gaps need not be filled.",
		"1 value of x is repeated, the first at 2024-01-20. Every observation is used.",
		"1 row out of order was sorted by x.",
	}
	if diff := cmp.Diff(want, s.Notes()); diff != "" {
		t.Error(diff)
	}
	if s.Axis.Label() != "day" || s.X[0] != 0 || s.YLabel() != "level (m)" {
		t.Errorf("%q, %q, first x %v", s.Axis.Label(), s.YLabel(), s.X[0])
	}
}

// TestReadMissing leaves out what programs write for a missing value, and refuses other texts by what to type.
func TestReadMissing(t *testing.T) {
	for _, text := range []string{"", "NA", "nan", "NULL", "N/a", "-nan"} {
		s, err := Read(t.Context(), testdraws.File(t, "t;y\n0;1\n1;"+text+"\n2;3\n3;5\n4;2\n5;4\n"), ReadOptions{})
		if err != nil || len(s.X) != 5 || s.Source.Skipped != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"n.a.", "unavailable", `\N`, "M", "***", "(D)", "#N/A N/A", "#BEZUG!", "-"} {
		table := testdraws.File(t, "t;y\n0;1\n1;"+text+"\n2;3\n3;5\n4;2\n5;4\n")
		if _, err := Read(t.Context(), table, ReadOptions{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line 3, column 2 (\"y\"): %q", text)) {
			t.Errorf("%q: %v", text, err)
		}
		if s, err := Read(t.Context(), table, ReadOptions{Missing: []string{text}}); err != nil || s.Source.Skipped != 1 {
			t.Errorf("%q, told: %v", text, err)
		}
	}
}

// TestReadDoubts: what a file may hold beside a series is said, and only then.
func TestReadDoubts(t *testing.T) {
	const several, code = "If a column tells several series apart, ReadOptions.By takes it",
		"If it stands for a missing value, add ReadOptions.Missing:"
	for name, test := range map[string]struct {
		row  func(i int, y float64) string
		want map[string]bool
	}{
		"plain":        {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, y) }, nil},
		"several":      {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i%20, y) }, map[string]bool{several: true}},
		"some doubled": {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", min(i, 35), y) }, nil},
		"code": {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, coded(i, y, -999)) },
			map[string]bool{code + ` "-999"`: true}},
		"high code": {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, coded(i, y, 9999)) },
			map[string]bool{code + ` "9999"`: true}},
		"one code": {func(i int, y float64) string {
			return fmt.Sprintf("%d,%.3f\n", i, coded(20*i, y, y)+map[bool]float64{true: -999 - y}[i == 7])
		}, map[string]bool{code + ` "-999"`: true}},
		"one far off": {func(i int, y float64) string {
			return fmt.Sprintf("%d,%.3f\n", i, y+map[bool]float64{true: -990}[i == 7])
		}, nil},
		"an outlier": {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, coded(min(i, 20), y, 50+y)) }, nil},
		"zeros":      {func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, coded(i, y+100, 0)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(t.Context(), testdraws.File(t, testdraws.Rhythm(40, test.row)), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(append(s.Notes(), s.Lead()), "\n")
			for _, text := range []string{several, code + ` "-999"`, code + ` "9999"`, code} {
				if want := test.want[text] || text == code && len(test.want) > 0 &&
					!test.want[several]; strings.Contains(notes, text) != want {
					t.Errorf("%q: %v, in %q", text, !want, notes)
				}
			}
		})
	}
}

// coded is y, and in every tenth row a code.
func coded(i int, y, code float64) float64 {
	if i%10 == 3 {
		return code
	}
	return y
}

func TestReadErrors(t *testing.T) {
	many := strings.Repeat("1,2\n", 12)
	for name, test := range map[string]struct {
		text string
		o    ReadOptions
		want []string
	}{
		"wrong column": {"t,y\n0,1\n", ReadOptions{Y: "z"}, []string{"data.csv", `no column "z"`, `"t"`}},
		"text":         {"t,y\n0,1\n1,two\n", ReadOptions{}, []string{"data.csv", "line 3", "column 2", `"two"`}},
		"few":          {"t,y\n0,1\n1,2\n", ReadOptions{}, []string{"2 observations", "at least 5"}},
		"one x":        {"t,y\n" + many, ReadOptions{}, []string{"1 different x"}},
		"constant": {testdraws.Rhythm(20, func(i int, _ float64) string { return fmt.Sprintf("%d,5\n", i) }), ReadOptions{},
			[]string{"y is 5 in all 20 rows"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(t.Context(), testdraws.File(t, test.text), test.o)
			for _, w := range test.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error %v, want %q in it", err, w)
				}
			}
		})
	}
	if _, err := Read(t.Context(), filepath.Join(t.TempDir(), "none.csv"), ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestSplitUnit(t *testing.T) {
	for column, want := range map[string][2]string{
		"level (m)": {"level", "m"}, "Temperatur [°C]": {"Temperatur", "°C"}, "a (b) (c)": {"a (b)", "c"},
		"flu: (Worldwide)": {"flu: (Worldwide)", ""}, "rate (EXR.D.USD.EUR)": {"rate (EXR.D.USD.EUR)", ""},
		"Temp (S/N: 1, SEN S/N: 2)": {"Temp (S/N: 1, SEN S/N: 2)", ""}, "rate (% p.a.)": {"rate", "% p.a."},
		"level": {"level", ""}, "(m)": {"(m)", ""}, "level ()": {"level ()", ""}, "f(x) of y": {"f(x) of y", ""}, "": {"", ""},
	} {
		if name, unit, _ := splitUnit(column); name != want[0] || unit != want[1] {
			t.Errorf("%q: %q in %q", column, name, unit)
		}
	}
	text := strings.Replace(testdraws.Rhythm(20, func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, y) }), ",level\n",
		",level (m)\n", 1)
	for _, o := range []ReadOptions{{}, {YUnit: "cm"}} {
		s, err := Read(t.Context(), testdraws.File(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"": "level (m)", "cm": "level (m) (cm)"}[o.YUnit]; s.YLabel() != want {
			t.Errorf("label %q, want %q", s.YLabel(), want)
		}
	}
}

func TestUnixTimes(t *testing.T) {
	text := testdraws.Rhythm(20, func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", 1_700_000_000+3600*i, y) })
	for _, name := range []string{"unix_time,", "t,", "x,"} {
		s, err := Read(t.Context(), testdraws.File(t, strings.Replace(text, "t,", name, 1)), ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Axis.Dates || s.Axis.Text(s.X[0]) != "2023-11-14T22:13:20Z" || s.Axis.Unit != "hour" {
			t.Errorf("%s: %+v, first %s", name, s.Axis, s.Axis.Text(s.X[0]))
		}
	}
}

func TestReadRemarks(t *testing.T) {
	times := func(name, unit string, origin, step int) string {
		text := testdraws.Rhythm(20, func(i int, y float64) string { return fmt.Sprintf("%d%s,%.3f\n", origin+step*i, unit, y) })
		return strings.Replace(text, "t,", name+",", 1)
	}
	for name, test := range map[string]struct {
		text string
		o    ReadOptions
		want string // in the notes; "" for no remark
		unit string // unit of the axis
	}{
		"milliseconds by name": {times("Timestamp (ms)", "", 1_700_000_000_000, 3_600_000), ReadOptions{},
			`is read as Unix time in milliseconds; ReadOptions.Time: "number"`, "hour"},
		"milliseconds by values": {times("t", "", 1_700_000_000_000, 3_600_000), ReadOptions{},
			`is read as Unix time in milliseconds; ReadOptions.Time: "number"`, "hour"},
		"told to be numbers": {times("unix", "", 1_700_000_000, 3600), ReadOptions{Time: dataset.TimeNumber}, "", ""},
		"told to be seconds": {times("t", "", 1_700_000_000, 3600), ReadOptions{Time: dataset.TimeUnix}, "", "hour"},
		"compact dates": {times("t", "", 2024_01_01, 1), ReadOptions{},
			`is read as dates written 20240101; ReadOptions.Time: "number"`, "day"},
		"compact months": {"t,y\n202211,1\n202212,2\n202301,3\n202302,4\n202303,5\n", ReadOptions{},
			`is read as dates written 202211; ReadOptions.Time: "number"`, "day"},
		"no compact months": {"t,y\n200001,1\n200002,2\n200003,3\n200004,4\n200005,5\n", ReadOptions{}, "", ""},
		"no compact dates":  {times("t", "", 2024_01_20, 1), ReadOptions{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(t.Context(), testdraws.File(t, test.text), test.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(fmt.Sprint(s.remarks), "[]"); test.want == "" && got != "" ||
				!strings.Contains(got, test.want) || s.Axis.Unit != test.unit {
				t.Errorf("remarks %q, axis %+v", got, s.Axis)
			}
		})
	}
}

func TestAfter(t *testing.T) {
	for _, test := range []struct{ dates, want string }{
		{"2023-01-31 2023-02-28 2023-03-31 2023-04-30", "2023-05-31 2023-06-30"},
		{"2023-10-01 2023-11-01 2023-12-01", "2024-01-01 2024-02-01"},
		{"2000-01-01 2001-01-01 2002-01-01 2004-01-01", "2005-01-01 2006-01-01"},
		{"2024-02-27 2024-02-28", "2024-02-29 2024-03-01"},
		{"1999-02-27 1999-03-06 2024-02-24", "2024-03-02 2024-03-09"},
	} {
		var seconds []float64
		for _, d := range strings.Fields(test.dates) {
			tm, err := dataset.ParseDate(d)
			if err != nil {
				t.Fatal(err)
			}
			seconds = append(seconds, float64(tm.Unix()))
		}
		a := DateAxis("t", seconds)
		last := a.fromSeconds(seconds[len(seconds)-1])
		step := a.fromSeconds(seconds[1]) - a.fromSeconds(seconds[0])
		got := a.Text(a.after(last, step, 1)) + " " + a.Text(a.after(last, step, 2))
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.dates, got, test.want)
		}
		if x, err := a.Parse(a.Text(last)); err != nil || math.Abs(x-last) > 1e-9 {
			t.Errorf("%s: Parse(Text(%v)) = %v, %v", test.dates, last, x, err)
		}
	}
}

// TestUnitOfDates: years are for observations a day or more apart. A Toeplitz factor takes an exponential kernel on hours of nine years.
func TestUnitOfDates(t *testing.T) {
	for _, c := range []struct {
		step float64 // seconds
		n    int
		want string
	}{{3600, 80000, "day"}, {43200, 2000, "day"}, {86400, 2000, "year"}, {86400, 300, "day"}, {3600, 90, "hour"}, {600, 20, "second"}} {
		seconds := timeline.Steps(c.n)
		for i := range seconds {
			seconds[i] = 1.3e9 + c.step*seconds[i]
		}
		a := DateAxis("t", seconds)
		if a.Unit != c.want {
			t.Errorf("%d steps of %v s are counted in units of a %s, want %s", c.n, c.step, a.Unit, c.want)
		}
		if c.n < 80000 {
			continue
		}
		x := make([]float64, 1500)
		for i := range x {
			x[i] = a.fromSeconds(seconds[c.n-len(x)+i])
		}
		step := x[1] - x[0]
		rough := gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 3 * step},
			gppl.LocPer{Variance: 1, Lengthscale: 300 * step, Period: 24 * step, PeriodicLengthscale: 0.6})
		m := gppl.Model{Kernel: rough, Noise: 1e-3}
		loss, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Scalars(x), Y: x}, gppl.WithTolerance(1e-4))
		if err != nil {
			t.Fatal(err)
		}
		if engine, _ := loss.Cost(m.Values()); engine != gppl.EngineToeplitz {
			t.Errorf("%d steps of %v s: engine %s, want toeplitz", c.n, c.step, engine)
		}
	}
}

func TestAxisText(t *testing.T) {
	for x, want := range map[float64]string{0.1 + 0.2: "0.3", 1700000000.0012: "1700000000.0012", 12: "12", -1e-9: "-1e-09"} {
		if got := (Axis{}).Text(x); got != want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	if _, err := (Axis{Dates: true, Unit: "year"}).Parse("10001-01-01"); err == nil ||
		!strings.Contains(err.Error(), "four digits") || !strings.Contains(err.Error(), "such as") {
		t.Error(err)
	}
}

// TestNoTime: a first column of numbers in no order and without a step is no time, unless an option names it.
func TestNoTime(t *testing.T) {
	var table, shuffled strings.Builder
	for i := range 50 {
		fmt.Fprintf(&table, "%.2f,%d\n", 40*math.Sin(float64(i*i)), i%5)
		fmt.Fprintf(&shuffled, "%d,%.2f\n", i*17%50, math.Sin(float64(i)))
	}
	path := testdraws.File(t, "data,label\n"+table.String())
	if _, err := Read(t.Context(), path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), `x is the column "data", in whose rows`) {
		t.Error(err)
	}
	if s, err := Read(t.Context(), path, ReadOptions{X: dataset.RowNumber}); err != nil || s.X[49] != 50 || s.YName != "data" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Read(t.Context(), path, ReadOptions{X: "data"}); err != nil || s.Source.Unsorted < 10 {
		t.Error(err)
	}
	if s, err := Read(t.Context(), testdraws.File(t, "t,y\n"+shuffled.String()), ReadOptions{}); err != nil || !s.Even {
		t.Error("rows in any order are sorted:", err)
	}
}
