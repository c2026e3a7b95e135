package forecast

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// atDays returns a daily series of three years from 2021, with a jump on the given days (such as 12-25 or 2021-12-25), and these
// as its outliers.
func atDays(r *rand.Rand, days string) (*Series, []Outlier) {
	s := &Series{Axis: Axis{Dates: true, Unit: "day", Origin: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)}, Step: 1}
	var list []Outlier
	for i := range 1095 {
		day := time.Date(2021, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 100+5*math.Sin(2*math.Pi*float64(i)/7)+2*r.NormFloat64())
		if strings.Contains(days, " "+day) || strings.Contains(days, " "+day[5:]) {
			s.Y[i] -= 60
			list = append(list, Outlier{Index: i})
		}
	}
	return s, list
}

// TestAtHolidays names the country of outliers on its holidays only if no other has these, and none where they are no holidays.
func TestAtHolidays(t *testing.T) {
	const (
		us  = " 01-01 07-04 12-25 2021-11-25 2022-11-24 2023-11-23 2021-05-31 2022-05-30 2023-05-29 2021-09-06 2022-09-05 2023-09-04"
		de  = " 01-01 05-01 10-03 12-25 12-26 2021-04-02 2022-04-15 2023-04-07 2021-04-05 2022-04-18 2023-04-10 2021-05-13 2022-05-26 2023-05-18 2021-05-24 2022-06-06 2023-05-29"
		by  = de + " 01-06 11-01 2021-06-03 2022-06-16 2023-06-08" // as in Baden-Württemberg
		sn  = de + " 10-31 2021-11-17 2022-11-16 2023-11-22"
		any = " 2021-02-17 2021-06-09 2022-03-22 2022-08-30 2023-02-08 2023-10-19"
	)
	for name, test := range map[string]struct {
		days    string
		count   int
		country string
	}{
		"US":                      {us, 18, "US"},
		"US, and others":          {us + any, 18, "US"},
		"Germany":                 {de, 27, "DE"},
		"Bavaria":                 {by, 36, ""},
		"Saxony":                  {sn, 33, "DE-SN"},
		"Christmas and New Year":  {" 12-25 01-01", 6, ""},
		"the day before":          {" 12-24 12-31 07-03 2021-11-24 2022-11-23 2023-11-22", 12, "US"},
		"no holidays":             {any, 0, ""},
		"two":                     {" 2021-07-04 2022-07-04", 0, ""},
		"ends of months":          {" 01-31 03-31 05-31 07-31 08-31 10-31", 0, ""},
		"a Christmas in the rest": {any + " 2021-12-25", 0, ""},
	} {
		s, list := atDays(rand.New(rand.NewPCG(3, 0)), test.days)
		at := s.atHolidays(list, 0)
		switch {
		case test.count == 0 && at != nil:
			t.Errorf("%s: %+v", name, at)
		case test.count > 0 && (at == nil || at.Count != test.count || at.Country != test.country):
			t.Errorf("%s: %+v, want %d of %q", name, at, test.count, test.country)
		}
	}
}

// TestAtHolidaysByChance: of outliers on any days one in a hundred lists at most is said to be of holidays.
func TestAtHolidaysByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	s, _ := atDays(r, "")
	const runs = 60
	wrong := 0
	for range runs {
		var list []Outlier
		for _, i := range r.Perm(len(s.X))[:3+r.IntN(20)] {
			list = append(list, Outlier{Index: i})
		}
		if s.atHolidays(list, 0) != nil {
			wrong++
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d lists of any days are said to be of holidays", wrong, runs)
	}
}
