package viz

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// seconds is an axis of seconds since 1970.
type seconds struct{}

func (seconds) Time(x float64) time.Time { return time.Unix(0, int64(x*1e9)).UTC() }

func (seconds) X(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// TestDateTicks checks that ticks stand at the start of calendar units, from minutes to centuries, and that there are at least
// two and not many.
func TestDateTicks(t *testing.T) {
	at := func(text string) float64 {
		d, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return seconds{}.X(d)
	}
	for _, test := range []struct {
		lo, hi string
		want   []string // the first labels
	}{
		{"1958-03-29 00:00:00", "2003-12-30 00:00:00", []string{"1960", "1970", "1980", "1990", "2000"}},
		{"2000-06-05 00:00:00", "2001-02-20 00:00:00", []string{"Jul 2000", "Sep 2000", "Nov 2000", "Jan 2001"}},
		{"2024-02-20 00:00:00", "2024-03-20 00:00:00", []string{"26 Feb 2024", "4 Mar 2024"}},
		{"2025-06-02 00:00:00", "2025-06-12 23:00:00", []string{"3 Jun 2025", "5 Jun 2025", "7 Jun 2025"}},
		{"2024-02-28 20:00:00", "2024-03-01 10:00:00", []string{"29 Feb 00:00", "29 Feb 06:00"}},
	} {
		var labels []string
		for _, tick := range (dateTicks{seconds{}, 7}).Ticks(at(test.lo), at(test.hi)) {
			labels = append(labels, tick.Label)
		}
		if len(labels) < len(test.want) || !slices.Equal(labels[:len(test.want)], test.want) || len(labels) > 9 {
			t.Errorf("from %s to %s: %q", test.lo, test.hi, labels)
		}
	}
	for _, n := range []int{3, 7} {
		for span := 1e-3; span < 4e9; span *= 1.1 {
			ticks := dateTicks{seconds{}, n}.Ticks(1e9-span, 1e9+0.3*span)
			if len(ticks) < 2 || len(ticks) > 2*n {
				t.Errorf("%d ticks in %g s, for %d", len(ticks), 1.3*span, n)
			}
			if s := 1.3 * span; s > 3 && s < 3e9 && !strings.ContainsAny(ticks[0].Label, ":n") && len(ticks[0].Label) < 4 {
				t.Errorf("in %g s a tick reads %q, no date", s, ticks[0].Label)
			}
		}
	}
}

// TestDatesOnPage checks that the script of a page has what it needs to write dates.
func TestDatesOnPage(t *testing.T) {
	for _, dates := range []Calendar{nil, seconds{}} {
		fr := frame("data")
		fr.Dates = dates
		p := decode(t, Must(Curves(CurvesOptions{Frame: fr, Curves: []Curve{{X: []float64{1e9, 1.1e9}, Y: []float64{1, 2}}}})))[0]
		if want := map[bool]string{true: "", false: "{}"}[dates == nil]; string(p.Dates) != want {
			t.Errorf("%v: %s, want %s", dates, p.Dates, want)
		}
	}
}
