package series

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestOpenHours: stamps of open hours that are seconds late are taken at their hours, also of a shop that counts at a quarter past;
// a sensor of every hour, and stamps that are minutes late, stay as they are.
func TestOpenHours(t *testing.T) {
	for name, c := range map[string]struct {
		from, to int           // hours that are open
		at, late time.Duration // past the hour, and at most later
		taken    bool
	}{
		"late": {7, 17, 0, time.Minute, true}, "a quarter past": {7, 17, 15 * time.Minute, 50 * time.Second, true},
		"minutes late": {7, 17, 0, 10 * time.Minute, false}, "all day": {0, 23, 0, time.Minute, false},
	} {
		r := rand.New(rand.NewPCG(65, 8))
		var file strings.Builder
		file.WriteString("when,sales\n")
		for day := range 40 {
			for hour := c.from; hour <= c.to; hour++ {
				at := time.Date(2024, 3, 1+day, hour, 0, 0, 0, time.UTC).Add(c.at)
				if c.late > 0 {
					at = at.Add(time.Duration(r.Int64N(int64(c.late/time.Second))) * time.Second)
				}
				fmt.Fprintf(&file, "%s,%d\n", at.Format("2006-01-02 15:04:05"), 100+r.IntN(30))
			}
		}
		path := filepath.Join(t.TempDir(), "shop.csv")
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := testkit.Must(Read(t.Context(), path, ReadOptions{}))(t)
		late := 0
		for _, x := range s.X {
			if at := s.Axis.Time(x).Truncate(time.Hour).Add(c.at); at.Sub(s.Axis.Time(x)).Abs() > time.Millisecond {
				late++
			}
		}
		if taken := late == 0; taken != c.taken {
			t.Errorf("%s: %d of %d times are off their hours", name, late, len(s.X))
		}
		if said := strings.Contains(fmt.Sprint(s.remarks), "each is taken at its step"); said != c.taken {
			t.Errorf("%s: said is %v: %v", name, said, s.remarks)
		}
		if c.taken {
			next := testkit.Must(s.Next(12))(t)
			if at := s.Axis.Time(next[11]); at.Hour() != c.from || at.Day() != 11 {
				t.Errorf("%s: the twelfth open hour ahead is %v", name, at)
			}
		}
	}
}
