package series

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
)

func TestParsePeriod(t *testing.T) {
	months, err := Read(t.Context(), testdraws.File(t, testdraws.Monthly(40)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := steps(t, 20, 1, func(int) float64 { return 0 })
	for _, test := range []struct {
		of   *Series
		text string
		want float64 // 0 for an error
	}{
		{months, "1y", 1}, {months, "12", 1}, {months, "3 months", 0.25}, {months, "365.2425 d", 1},
		{months, "2 quarters", 0.5}, {months, "5259492 seconds", 1.0 / 6},
		{numbers, "12", 12}, {numbers, "24h", 0}, {months, "1 fortnight", 0}, {months, "-1y", 0}, {months, "", 0},
	} {
		got, err := test.of.ParsePeriod(test.text)
		if (err != nil) != (test.want == 0) || err == nil && math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%q: %v (%v), want %v", test.text, got, err, test.want)
		}
	}
	if diff := cmp.Diff([]float64{1}, months.CalendarPeriods(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
	if p := numbers.CalendarPeriods(); p != nil {
		t.Errorf("numbers have the periods %v", p)
	}
}

// TestQuarterOfWeeks: a season of a quarter is offered to weekly series whose values 13 weeks apart are alike, and to no others.
func TestQuarterOfWeeks(t *testing.T) {
	const weeks, trials = 260, 40
	x := make([]float64, weeks)
	for i := range x {
		x[i] = 7 * float64(i)
	}
	for name, c := range map[string]struct {
		of            func(i int) float64
		least, atMost int // series that are offered it
	}{
		"noise":   {func(int) float64 { return 0 }, 0, 1},
		"year":    {func(i int) float64 { return 4 * math.Sin(2*math.Pi*float64(i)/52.18) }, 0, 1},
		"quarter": {func(i int) float64 { return []float64{3, 1, -2, 0, 4, -1, -3, 2, 0, 1, -4, 2, -3}[i%13] }, trials, trials},
	} {
		offered := 0
		for seed := range trials {
			rnd := rand.New(rand.NewPCG(uint64(seed), 1))
			y := make([]float64, weeks)
			for i := range y {
				y[i] = c.of(i) + rnd.NormFloat64()
			}
			s, err := NewSeries(Axis{Dates: true, Unit: "day"}, x, y)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.CalendarPeriods()) == 2 {
				offered++
			}
		}
		if offered < c.least || offered > c.atMost {
			t.Errorf("%s: offered to %d of %d", name, offered, trials)
		}
	}
}
