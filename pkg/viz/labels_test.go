package viz

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
)

// scene returns labelled markers in axes of 300 × 200 points.
func scene(at []vg.Point) (crowd, []label) {
	w := crowd{within: vg.Rectangle{Max: vg.Point{X: 300, Y: 200}}}
	var labels []label
	for _, p := range at {
		w.markers = append(w.markers, grow(vg.Rectangle{Min: p, Max: p}, 4))
		labels = append(labels, label{p, 6, vg.Point{X: 18, Y: 8}})
	}
	return w, labels
}

func scattered(rng *rand.Rand, n int, width, height float64) []vg.Point {
	at := make([]vg.Point, n)
	for i := range at {
		at[i] = vg.Point{X: vg.Length(150 + width*(rng.Float64()-0.5)), Y: vg.Length(100 + height*(rng.Float64()-0.5))}
	}
	return at
}

// TestPlaceWithRoom checks that, if there is space, a label stands beside its point and covers no point, no other label and not
// the edge.
func TestPlaceWithRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range 200 {
		var at []vg.Point
		for _, p := range scattered(rng, 200, 300, 200) {
			if len(at) < 12 && !slices.ContainsFunc(at, func(q vg.Point) bool { d := p.Sub(q); return d.X*d.X+d.Y*d.Y < 45*45 }) {
				at = append(at, p)
			}
		}
		w, labels := scene(at)
		for i, s := range w.place(labels) {
			if s.left || s.tied {
				t.Fatalf("label %d of %v is left out or away from its point: %+v", i, at, s)
			}
			if c := (nearby{crowd: w, area: 18 * 8}).cost(s, nil, nil); c > 0.02 {
				t.Fatalf("label %d of %v covers a marker or the edge: %+v", i, at, s)
			}
		}
	}
	w, labels := scene([]vg.Point{{X: 100, Y: 100}})
	if s := w.place(labels)[0]; s.box.Min.X != 106 {
		t.Errorf("alone, the label is at %v and not to the right", s.box)
	}
}

// TestPlaceInCrowd checks that in a crowd labels move farther away, with ties, before any covers another, and that no label that
// is written covers another.
func TestPlaceInCrowd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, c := range []struct {
		n             int
		width, height float64
		left          int // largest number without a place, in 100 crowds
	}{{12, 80, 50, 0}, {20, 120, 80, 25}, {400, 290, 190, math.MaxInt}} {
		left, drawn := 0, 0
		for range 100 {
			if c.n > 100 && drawn > 0 {
				break
			}
			w, labels := scene(scattered(rng, c.n, c.width, c.height))
			spots := w.place(labels)
			if again := w.place(labels); !slices.Equal(spots, again) {
				t.Fatal("the places differ from one call to the next")
			}
			for i, s := range spots {
				if s.left {
					left++
					continue
				}
				drawn++
				for j := range i {
					if o := spots[j]; !o.left && overlap(s.box, o.box) > labelCovered*18*8 {
						t.Fatalf("of %d: labels %d and %d cover each other: %v, %v", c.n, i, j, s.box, o.box)
					}
				}
			}
		}
		t.Logf("%d markers on %g × %g: %d labels drawn, %d left out", c.n, c.width, c.height, drawn, left)
		if left > c.left {
			t.Errorf("%d markers on %g × %g: %d labels are left out, want at most %d", c.n, c.width, c.height, left, c.left)
		}
	}
}

// TestPlaceOffLines checks that no label is written over a line through markers, or a bar, if another side is free.
func TestPlaceOffLines(t *testing.T) {
	at := []vg.Point{{X: 60, Y: 100}, {X: 140, Y: 100}, {X: 220, Y: 100}}
	w, labels := scene(at)
	for i := 1; i < len(at); i++ {
		w.lines = append(w.lines, stroke{at[i-1], at[i]})
	}
	w.lines = append(w.lines, stroke{vg.Point{X: 140, Y: 60}, vg.Point{X: 140, Y: 140}})
	for i, s := range w.place(labels) {
		for _, l := range w.lines {
			if in := l.inside(s.box); in > 0 || s.tied {
				t.Errorf("label %d at %v is crossed by %v over %g points", i, s.box, l, in)
			}
		}
	}
}

func TestStrokeInside(t *testing.T) {
	box := vg.Rectangle{Min: vg.Point{X: 10, Y: 10}, Max: vg.Point{X: 20, Y: 14}}
	for _, c := range []struct {
		x0, y0, x1, y1, want vg.Length
	}{
		{0, 12, 30, 12, 10}, {0, 20, 30, 20, 0}, {12, 0, 12, 30, 4}, {30, 0, 30, 30, 0},
		{12, 12, 15, 12, 3}, {0, 0, 9, 9, 0}, {15, 12, 15, 12, 0}, {8, 8, 24, 24, 4 * math.Sqrt2},
	} {
		if got := (stroke{vg.Point{X: c.x0, Y: c.y0}, vg.Point{X: c.x1, Y: c.y1}}).inside(box); math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("(%g, %g) to (%g, %g): %g points inside, want %g", c.x0, c.y0, c.x1, c.y1, got, c.want)
		}
	}
}
