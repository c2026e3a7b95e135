package series

import (
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
)

// TestNoHolidays: without an effect the model stays as it is, so that the forecast has the same scores, and a note says so.
func TestNoHolidays(t *testing.T) {
	const runs = 40
	for _, heavy := range []bool{false, true} {
		wrong := 0
		for seed := range uint64(runs) {
			x, y := testdraws.Shopping(seed, 1000, 0)
			tails := distuv.StudentsT{Sigma: 8, Nu: 3, Src: rand.NewPCG(seed, 77)}
			for i := range y {
				if heavy {
					y[i] += tails.Rand()
				}
			}
			s, err := Read(t.Context(), testdraws.Shop(t, x, y), ReadOptions{Holidays: "US"})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Holidays.Names) > 0 {
				wrong++
			}
		}
		if wrong > 3 { // of 40 series; 1 % each of two kinds are expected
			t.Errorf("heavy tails: %v: effects were seen in %d of %d series without any", heavy, wrong, runs)
		}
	}
	x, y := testdraws.Shopping(1, 400, 1)
	for _, test := range []struct{ text, country, want string }{
		{"", "XX", `no holidays are known of "XX": they are of AR, AT, AU-ACT`},
		{"t,y\n1,2\n2,3\n3,5\n4,1\n5,2\n6,4\n", "US", "holidays need dates, and t is numbers"},
		{"week,y\n2024-01-01,2\n2024-01-08,3\n2024-01-15,5\n2024-01-22,1\n2024-01-29,2\n", "US",
			"holidays are for daily and finer series, and this has an observation every 7 days"},
	} {
		path := testdraws.Shop(t, x, y)
		if test.text != "" {
			path = testdraws.File(t, test.text)
		}
		if _, err := Read(t.Context(), path, ReadOptions{Holidays: test.country}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.country, err)
		}
	}
}
