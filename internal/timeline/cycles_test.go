package timeline

import (
	"slices"
	"testing"
)

// openAt returns the steps of some cycles at which a place is open and not skipped.
func openAt(cycles, length int, open func(at int) bool, skipped ...int) (t []float64) {
	for k := range cycles * length {
		if open(k%length) && !slices.Contains(skipped, k) {
			t = append(t, 10+0.5*float64(k))
		}
	}
	return t
}

func TestCyclesOf(t *testing.T) {
	day := func(at int) bool { return at >= 7 && at <= 17 }
	shop := func(at int) bool { return at/24 < 6 && day(at%24) }
	uneven := openAt(30, 7, func(at int) bool { return at < 5 })
	uneven[40] += 0.2
	for _, c := range []struct {
		name                      string
		x                         []float64
		length, open, count, hole int // length 0: no cycles
	}{
		{"hours of a day", openAt(20, 24, day), 24, 11, 20, 0},
		{"working days", openAt(50, 7, func(at int) bool { return at < 5 }), 7, 5, 50, 0},
		{"holidays", openAt(50, 7, func(at int) bool { return at < 5 }, 14, 37, 38), 7, 5, 50, 3},
		{"a part of the last day", openAt(20, 24, day)[:217], 24, 11, 20, 3},
		{"closed on Sundays", openAt(20, 168, shop), 168, 66, 20, 0},
		{"all places", openAt(20, 7, func(int) bool { return true }), 0, 0, 0, 0},
		{"off its places", uneven, 0, 0, 0, 0},
		{"three cycles", openAt(3, 24, day), 0, 0, 0, 0},
		{"chance", []float64{0, 1, 3, 4, 5, 8, 11, 13, 14, 15, 19, 21, 22, 26, 27, 28, 31, 34, 35, 39, 40, 44, 45, 50},
			0, 0, 0, 0},
	} {
		got, ok := CyclesOf(c.x)
		said := [4]int{got.Length, len(got.Open), got.Count, len(got.Holes)}
		if ok != (c.length > 0) || ok && said != [4]int{c.length, c.open, c.count, c.hole} {
			t.Errorf("%s: %v, steps, open places, cycles and holes are %v", c.name, ok, said)
			continue
		}
		if !ok {
			continue
		}
		for i, row := range got.Row {
			if got.At(row) != got.Place[i] || slices.Contains(got.Holes, row) {
				t.Errorf("%s: observation %d at step %d has row %d, at step %d", c.name, i, got.Place[i], row, got.At(row))
			}
		}
		if len(got.Row)+len(got.Holes) != got.Len() {
			t.Errorf("%s: %d observations and %d holes are not %d open places", c.name, len(got.Row), len(got.Holes), got.Len())
		}
	}
}
