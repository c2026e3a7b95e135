package series

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestHolidayIsNotNearAnother checks every calendar over 30 years: no holiday is the day before or after another, and effects that
// share their days are one column, so that all columns of a fit are independent.
func TestHolidayIsNotNearAnother(t *testing.T) {
	first, last := int(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/secondsOfDay), 0
	last = first + 30*365
	var days []int
	for d := first; d <= last; d++ {
		days = append(days, d)
	}
	for _, country := range slices.Sorted(maps.Keys(countries)) {
		of, names := holidayEffects(country, first, last, false)
		for _, d := range days {
			around, own := 0, 0
			for _, name := range of[d] {
				if isAround(name) && !strings.HasSuffix(name, "observed") {
					around++
				} else {
					own++
				}
			}
			if around > 0 && own > 0 {
				t.Errorf("%s: %v has the effects %q", country, instant(secondsOfDay*float64(d)), of[d])
			}
		}
		groups := sameDays(names, of, days)
		seen := map[string]bool{}
		for _, g := range groups {
			var at []int
			for _, d := range days {
				if slices.Contains(of[d], g[0]) {
					at = append(at, d)
				}
			}
			if key := fmt.Sprint(at); seen[key] {
				t.Errorf("%s: two columns are on the days of %q", country, g)
			} else {
				seen[key] = true
			}
		}
	}
}

// TestOldHolidays checks that holidays of a file of an earlier version, which has no groups, keep their columns: both of 26 December.
func TestOldHolidays(t *testing.T) {
	axis := Axis{Dates: true, Unit: "day", Origin: time.Date(2024, 12, 20, 0, 0, 0, 0, time.UTC)}
	x := []float64{4, 5, 6, 7}
	h := &Holidays{Country: "DE", Names: []string{"Weihnachtstag", "Weihnachtstag, the day after", "Zweiter Weihnachtsfeiertag"},
		Scale: []float64{1, 0.5, 1}}
	columns := func() (all [][]float64) {
		in := h.inputs(gppl.Scalars(x), axis, x)
		for _, name := range h.Names {
			c, _ := in.Column(HolidayPrefix + name)
			all = append(all, c)
		}
		return all
	}
	if got := columns(); !slices.Equal(got[1], []float64{0, 0, 0.5, 0}) || !slices.Equal(got[2], []float64{0, 0, 1, 0}) {
		t.Errorf("without groups: %v", got)
	}
	h.Groups = [][]string{{h.Names[0]}, {h.Names[1], h.Names[2]}, {h.Names[2]}}
	if got := columns(); !slices.Equal(got[1], []float64{0, 0, 0.5, 0}) {
		t.Errorf("with groups: %v", got)
	}
}
