package viz

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestStrips(t *testing.T) {
	f, err := Strips(StripsOptions{Frame: frame("strips"), LogY: true, Strips: []Strip{
		{Name: "ML", Values: []float64{1, 2, 3}},
		{Name: "PL, converged to the minimum of its loss", Values: []float64{1, nan, -3, inf}, Marks: []float64{2}},
	}})
	written := texts(t, svg(t, f, err))
	for _, want := range []string{"ML", "+ 3 not drawn", "one run", "median and quartiles", "published"} {
		if !slices.Contains(written, want) {
			t.Errorf("%q is not in the picture: %q", want, written)
		}
	}
	if !slices.ContainsFunc(written, func(s string) bool { return strings.HasPrefix(s, "PL") && !strings.Contains(s, "loss") }) {
		t.Errorf("a long name is not on several lines: %q", written)
	}
	f, err = Strips(StripsOptions{Frame: frame("strips"), Each: "one seed",
		Strips: []Strip{{Name: "ML", Values: []float64{1, 2, 3}}}})
	written = texts(t, svg(t, f, err))
	if slices.Contains(written, "published") || slices.ContainsFunc(written,
		func(s string) bool { return strings.Contains(s, "not drawn") }) {
		t.Errorf("what is not there is named: %q", written)
	}
	if !slices.Contains(written, "one seed") {
		t.Errorf("no name for a dot in %q", written)
	}
}

// TestStripGroups: strips of one group stand together above its name, and the legend names them once.
func TestStripGroups(t *testing.T) {
	var strips []Strip
	for _, group := range []string{"n = 500", "n = 1000"} {
		for _, name := range []string{"stopped", "converged"} {
			strips = append(strips, Strip{Name: name, Group: group, Values: []float64{1, 2, 3}})
		}
	}
	f, err := Strips(StripsOptions{Frame: frame("strips"), Strips: strips})
	written := texts(t, svg(t, f, err))
	for _, want := range []string{"n = 500", "n = 1000", "stopped", "converged"} {
		if n := len(slices.DeleteFunc(slices.Clone(written), func(s string) bool { return s != want })); n != 1 {
			t.Errorf("%q is in the picture %d times: %q", want, n, written)
		}
	}
	ticks := f.panels[0].xTicks.Ticks(0, 10)
	if len(ticks) != 2 || ticks[0].Value != 1.5 || ticks[1].Value != 3.5+groupGap {
		t.Errorf("the names of the groups are at %v", ticks)
	}
	layers := f.panels[0].layers
	if layers[0].colour != layers[2].colour || layers[0].colour == layers[1].colour || layers[3].name != "n = 1000, converged" {
		t.Errorf("colours or names: %+v", layers)
	}
}

// TestSwarm checks that dots keep their height, their strip and, if there is space, their distance.
func TestSwarm(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		n := 1 + rng.IntN(40)
		ys := make([]float64, n)
		for i := range ys {
			ys[i] = 400 * rng.Float64()
		}
		slices.Sort(ys)
		at := make([]vg.Point, n)
		for i, y := range ys {
			at[i] = vg.Point{X: 50, Y: vg.Length(y)}
		}
		swarm(at, 5, 30)
		for i, p := range at {
			if p.X < 20 || p.X > 80 || p.Y != vg.Length(ys[i]) {
				t.Fatalf("dot %d of %d moved to %v", i, n, p)
			}
			for _, q := range at[:i] {
				if d := p.Sub(q); d.X*d.X+d.Y*d.Y < 0.98*5*5 {
					t.Fatalf("%v and %v overlap", p, q)
				}
			}
		}
	}
}

// TestUprightNames: names that are written upwards keep a distance from the axis.
func TestUprightNames(t *testing.T) {
	names := []string{"Laplace VFE", "SE"}
	spans := [][2]float64{{1, 1}, {2, 2}}
	for _, tick := range (nameTicks{names, spans, 30}).Ticks(0.5, 2.5) {
		for _, line := range strings.Split(tick.Label, "\n") {
			if !strings.HasSuffix(line, upwardGap) {
				t.Errorf("%q ends at the axis", line)
			}
		}
	}
	for _, tick := range (nameTicks{names, spans, 1000}).Ticks(0.5, 2.5) {
		if strings.HasSuffix(tick.Label, upwardGap) {
			t.Errorf("%q is level and has room already", tick.Label)
		}
	}
}

// TestFarOut: one value a million times the others stands at the edge, in figures, and the others keep their width; a wide spread
// is no outlier.
func TestFarOut(t *testing.T) {
	for _, logY := range []bool{false, true} {
		values := []float64{12, 15, 18, 22, 30, 2e6}
		f, err := Strips(StripsOptions{Frame: frame("strips"), LogY: logY, Strips: []Strip{
			{Name: "ML", Values: []float64{10, 11, 12, 13}}, {Name: "VFE", Values: values, Marks: []float64{40}}}})
		if written := texts(t, svg(t, f, err)); !slices.Contains(written, "2000000") {
			t.Errorf("log %t: the outlier is not written: %q", logY, written)
		}
		if y := f.panels[0].plot.Y; y.Max > 60 || y.Max < 40 || y.Min > 10 {
			t.Errorf("log %t: the axis is from %g to %g", logY, y.Min, y.Max)
		}
		f, err = Strips(StripsOptions{Frame: frame("strips"), LogY: logY, Strips: []Strip{{Name: "PL", Values: []float64{10, 30, 100, 200, 400}}}})
		svg(t, f, err)
		if y := f.panels[0].plot.Y; y.Max < 400 {
			t.Errorf("log %t: a wide spread ends at %g", logY, y.Max)
		}
	}
}
