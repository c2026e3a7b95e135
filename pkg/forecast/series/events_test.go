package series

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParseEvents: both ends are included, of days, months, times and numbers; events of one name are one; months have shares.
func TestParseEvents(t *testing.T) {
	const n = 200
	daily, x := make([]float64, n), make([]float64, n)
	for i := range daily {
		daily[i] = float64(time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Unix())
	}
	axis := DateAxis("date", daily)
	for i, s := range daily {
		x[i] = axis.fromSeconds(s)
	}
	within := func(a Axis, x []float64, texts ...string) (count float64) {
		events, err := a.ParseEvents(texts)
		if err != nil || len(events) != 1 {
			t.Fatalf("%q: %+v, %v", texts, events, err)
		}
		for _, v := range events[0].column(a, x) {
			count += v / EventScale
		}
		return count
	}
	for _, c := range []struct {
		texts []string
		want  float64
	}{
		{[]string{"2020-03-15..2020-06-30"}, 108},
		{[]string{"sale=2020-02..2020-02", "sale=2020-05-01 .. 2020-05-02"}, 31},
		{[]string{"one=2020-04-01..2020-04-01"}, 1},
	} {
		if got := within(axis, x, c.texts...); got != c.want {
			t.Errorf("%q: %v days, want %v", c.texts, got, c.want)
		}
	}
	months, at := make([]float64, 24), make([]float64, 24)
	for i := range months {
		months[i] = float64(time.Date(2020, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Unix())
	}
	monthly := DateAxis("month", months)
	for i, s := range months {
		at[i] = monthly.fromSeconds(s)
	}
	if got, want := within(monthly, at, "2020-03-15..2020-06-30"), 3+17./31; math.Abs(got-want) > 1e-6 {
		t.Errorf("%v months, want %v", got, want)
	}
	if got := within(Axis{Name: "t"}, []float64{1, 2, 3, 4, 5}, "2..4"); got != 3 {
		t.Errorf("%v numbers", got)
	}
	for text, want := range map[string]string{
		"2020-03-15": "write FROM..TO", "=2020-01..2020-02": "write FROM..TO", "2020-05..2020-04": "ends before it begins", "x..y": "",
	} {
		if events, err := axis.ParseEvents([]string{text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, events, err)
		}
	}
	s, err := NewSeries(axis, x, slices.Clone(x))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"2022-01..2022-02": "no observation is within", "2019..2021": "all observations are"} {
		events, err := axis.ParseEvents([]string{text})
		if err == nil {
			_, err = s.WithEvents(events)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
