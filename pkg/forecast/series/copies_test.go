package series

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
)

// TestCopies: rows that a join or a file read twice repeats count once, and are said; values measured twice at one x, some of them
// equal by rounding, all count.
func TestCopies(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 5))
	draw := func(i int, decimals int) string { return fmt.Sprintf("%d,%.*f\n", i, decimals, 20+r.NormFloat64()) }
	var plain, joined, twice, rounded, precise, events strings.Builder
	for i := range 60 {
		row := draw(i, 3)
		plain.WriteString(row)
		joined.WriteString(row)
		if i%12 == 5 {
			joined.WriteString(row)
		}
		rounded.WriteString(draw(i, 0) + draw(i, 0)) // equal in a third of the pairs
		level := 20 + r.NormFloat64()                // measured twice with a noise of 3 %
		fmt.Fprintf(&precise, "%d,%.6f\n%d,%.6f\n", i, level, i, level+0.03*r.NormFloat64())
		fmt.Fprintf(&events, "%d,%d\n%d,%d\n", i, i%20/19, i, i%20/19)
	}
	twice.WriteString(plain.String() + plain.String())
	for name, c := range map[string]struct {
		rows         string
		n, copies, k int
	}{
		"plain": {plain.String(), 60, 0, 0}, "joined": {joined.String(), 60, 5, 0}, "twice": {twice.String(), 60, 60, 0},
		"measured twice": {rounded.String(), 120, 0, 60}, "precise": {precise.String(), 120, 0, 60}, "events": {events.String(), 120, 0, 60},
	} {
		s, err := Read(t.Context(), testdraws.File(t, "t,y\n"+c.rows), ReadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := strings.Contains(strings.Join(s.Notes(), " "), fmt.Sprintf("%d rows of %d are exact copies of others", c.copies, c.n+c.copies))
		if len(s.X) != c.n || s.Source.Copies != c.copies || len(s.Duplicates) != c.k || said != (c.copies > 0) {
			t.Errorf("%s: %d rows, %d copies, %d repeated x, %v", name, len(s.X), s.Source.Copies, len(s.Duplicates), s.Notes())
		}
	}
	// A copy has the same error, too.
	table := "t,y,e\n" + strings.ReplaceAll(joined.String(), "\n", ",0.1\n") + "59,20,0.1\n"
	s, err := Read(t.Context(), testdraws.File(t, table), ReadOptions{YError: "e"})
	if err != nil || s.Source.Copies != 0 { // five of six: one in ten may differ
		t.Errorf("five copies and one other value: %d copies, %v", s.Source.Copies, err)
	}
}

// TestInexactCopies: rows that repeat others but for their last digits count once, and are said.
func TestInexactCopies(t *testing.T) {
	const n, every = 120, 3
	r := rand.New(rand.NewPCG(65, 6))
	var rows strings.Builder
	for i := range n {
		y := 20 + 2*r.NormFloat64()
		fmt.Fprintf(&rows, "%d,%.9f\n", i, y)
		switch {
		case i%every == 0: // another table has single precision
			fmt.Fprintf(&rows, "%d,%.9f\n", i, float32(y))
		case i == 1:
			fmt.Fprintf(&rows, "%d,%.9f\n", i, y)
		}
	}
	s := testkit.Must(Read(t.Context(), testdraws.File(t, "t,y\n"+rows.String()), ReadOptions{}))(t)
	notes := strings.Join(s.Notes(), " ")
	for _, want := range []string{"1 row of 161 is an exact copy", "40 rows of 161 differ from another with the same x only in the last digits"} {
		if len(s.X) != n || len(s.Duplicates) > 0 || !strings.Contains(notes, want) {
			t.Errorf("%d rows with %d repeated x, %q: want %q", len(s.X), len(s.Duplicates), notes, want)
		}
	}
}
