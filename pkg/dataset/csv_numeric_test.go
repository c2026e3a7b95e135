package dataset

import (
	"fmt"
	"strings"
	"testing"
)

// TestNumberDates reads columns of numbers, which stand for dates or not as all of them say.
func TestNumberDates(t *testing.T) {
	const day = 86400
	for name, c := range map[string]struct {
		x      string
		within [2]float64
		first  float64 // as it is read
		format TimeFormat
	}{
		"seconds":                     {"1700000000 1700000060", [2]float64{}, 1.7e9, TimeUnix},
		"milliseconds":                {"1700000000500 1700000060000", [2]float64{}, 1700000000.5, TimeUnixMilli},
		"microseconds":                {"1700000000000000 1700000060000000", [2]float64{}, 1.7e9, TimeUnixMicro},
		"nanoseconds":                 {"1.7e18 1.70000006e18", [2]float64{}, 1.7e9, TimeUnixNano},
		"two units":                   {"1700000000 1700000000000", [2]float64{}, 1.7e9, TimeNumber},
		"an odd one at the end":       {"1700000000000 1700000060000 5", [2]float64{}, 1.7e12, TimeNumber},
		"days":                        {"19700102 20240131", [2]float64{}, day, TimeYYYYMMDD},
		"no days":                     {"20240120 20240132", [2]float64{}, 20240120, TimeNumber},
		"29 February":                 {"20230228 20230229", [2]float64{}, 20230228, TimeNumber},
		"half a day":                  {"20230228.5 20230301", [2]float64{}, 20230228.5, TimeNumber},
		"months":                      {"197002 197101", [2]float64{}, 31 * day, TimeYYYYMM},
		"months before years":         {"02.1970 01.1971", [2]float64{}, 31 * day, TimeMMYYYY},
		"of one month":                {"2.1970 2.1971", [2]float64{}, 2.197, TimeNumber},
		"no month":                    {"0.1970 1.1971", [2]float64{}, 0.197, TimeNumber},
		"months of one year":          {"197002 197012", [2]float64{}, 197002, TimeNumber},
		"small numbers":               {"1 2", [2]float64{}, 1, TimeNumber},
		"wanted as dates":             {"1700000000000 1700000060000", [2]float64{1.6e9, 1.8e9}, 1.7e9, TimeUnixMilli},
		"wanted as numbers":           {"1700000000000 1700000060000", [2]float64{1.6e12, 1.8e12}, 1.7e12, TimeNumber},
		"wanted as neither":           {"1700000000000 1700000060000", [2]float64{1, 2}, 1.7e9, TimeUnixMilli},
		"digits wanted as numbers":    {"20240131 20240201", [2]float64{20230101, 20241231}, 20240131, TimeNumber},
		"digits in a range from 1970": {"19700102 20240201", [2]float64{0, 2e9}, day, TimeYYYYMMDD},
	} {
		text := "t,y\nNA,1\n"
		for i, x := range strings.Fields(c.x) {
			text += fmt.Sprintf("%s,%d\n", x, i)
		}
		for _, size := range []int{blockSize, 20} {
			opt := CSVOptions{Seconds: true, NumberDates: true, SkipMissing: true, Missing: []string{"NA"}, Within: c.within}
			s, _, bad, rep, err := streamed(strings.NewReader(text), opt, 2, size)
			if err != nil || len(bad) > 0 || rep.Time != c.format || s.X[0] != c.first {
				t.Errorf("%s: %v as %q, want %v as %q; %v %v", name, s.X, rep.Time, c.first, c.format, err, bad)
			}
			if c.within == [2]float64{} && (rep.Numbers != "") != (c.format != TimeNumber) {
				t.Errorf("%s: numbers are said to be %q", name, rep.Numbers)
			}
			opt.NumberDates = false
			if s, _, _, rep, err = streamed(strings.NewReader(text), opt, 2, size); err != nil || rep.Time != TimeNumber || rep.Numbers != "" {
				t.Errorf("%s, not asked for: %v as %q, %v", name, s.X, rep.Time, err)
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"20240131\nx", `"x" is not a finite number`}, {"20240131\n2024-02-01", `"2024-02-01" is not`}, {"1700000000\n12:30", `"12:30" is not`},
	} {
		_, err := ReadCSV(strings.NewReader("t,y\n"+strings.ReplaceAll(c.text, "\n", ",1\n")+",2\n"), CSVOptions{NumberDates: true})
		if err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if _, err := ReadCSV(strings.NewReader("t,y\n20240132,1\n"), CSVOptions{Time: TimeYYYYMMDD}); err == nil || !strings.Contains(err.Error(), `"20240132" is not one of dates written 20240131`) {
		t.Error(err)
	}
}
