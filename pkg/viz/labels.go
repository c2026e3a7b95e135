package viz

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// stroke is a straight line that labels avoid.
type stroke struct{ from, to vg.Point }

// crowd holds everything that is drawn around labels.
type crowd struct {
	within  vg.Rectangle // rectangle of the axes
	markers []vg.Rectangle
	lines   []stroke // bars, rules, and lines through markers
}

// label is the text of a point: its place, the distance to keep from it, and the size of the text.
type label struct {
	at       vg.Point
	distance vg.Length
	size     vg.Point
}

// spot tells where a label is written. A label that is not beside its point is tied to it by a thin line.
type spot struct {
	box  vg.Rectangle
	tie  stroke
	tied bool
	left bool // the label is left out, since it would cover another one anywhere
}

// labelRings are the additional distances of a label from its point, in points, each with its cost in areas of the label.
var labelRings = []struct {
	more vg.Length
	cost float64
}{{0, 0}, {8, 0.45}, {17, 0.7}, {28, 1}}

// labelSides are the directions from a point in which its label may stand, the best first. Directly beside the point only the
// first eight are tried, because the others hardly differ there.
var labelSides = []vg.Point{
	{X: 1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {Y: 1}, {Y: -1}, {X: -1}, {X: -1, Y: 1}, {X: -1, Y: -1},
	{X: 1, Y: 0.5}, {X: 1, Y: -0.5}, {X: -1, Y: 0.5}, {X: -1, Y: -0.5}, {X: 0.5, Y: 1}, {X: 0.5, Y: -1},
	{X: -0.5, Y: 1}, {X: -0.5, Y: -1},
}

// These are the costs of a label's position, in areas of the label: for each share of it outside the axes, on another label or on
// a marker, and for each point of a line under it, as if the line had the width labelOnLine. A line through a label is worse than
// a place on another side of the point, and better than a tie.
const (
	labelOutside  = 10
	labelOnLabel  = 12
	labelOnMarker = 6
	labelOnLine   = 3  // points
	labelAir      = 1  // margin around a label that others avoid, in points
	labelCovered  = .1 // share of a label that another may cover; beyond it the label is left out
)

// place finds a place for each label where it covers least, and repeats this with the others in place until no label moves. A
// label that would cover another one wherever it is placed is left out. The result is deterministic and takes O(N²) for N
// labels, markers and lines.
func (w crowd) place(labels []label) []spot {
	spots, placed := make([]spot, len(labels)), make([]bool, len(labels))
	near := make([]nearby, len(labels))
	for i := range labels {
		near[i] = w.near(labels, i)
	}
	for range 8 { // more than four sweeps are hardly ever necessary
		moved := false
		for i, l := range labels {
			best, least := spots[i], math.Inf(1)
			for r, ring := range labelRings {
				for d, side := range labelSides {
					if r == 0 && d >= 8 || ring.cost >= least {
						break
					}
					s := l.spot(side, ring.more)
					cost := ring.cost + 0.01*float64(d) + near[i].cost(s, spots, placed)
					if cost < least {
						best, least = s, cost
					}
				}
			}
			moved = moved || !placed[i] || best.box != spots[i].box
			spots[i], placed[i] = best, true
		}
		if !moved {
			break
		}
	}
	for i, l := range labels {
		for _, j := range near[i].others {
			if j < i && !spots[j].left && float64(overlap(spots[i].box, spots[j].box)) > labelCovered*float64(l.size.X*l.size.Y) {
				spots[i].left = true
			}
		}
	}
	return spots
}

// spot returns the place of a label on a side of its point, farther away by more than a label directly beside it.
func (l label) spot(side vg.Point, more vg.Length) spot {
	off := l.distance + more
	if side.X != 0 && side.Y != 0 {
		off *= 0.7
	}
	half := vg.Point{X: l.size.X / 2, Y: l.size.Y / 2}
	middle := vg.Point{X: l.at.X + side.X*(off+half.X), Y: l.at.Y + side.Y*(off+half.Y)}
	s := spot{box: vg.Rectangle{Min: middle.Sub(half), Max: middle.Add(half)}}
	near := func(v, lo, hi vg.Length) vg.Length { return max(lo, min(hi, v)) }
	end := vg.Point{X: near(l.at.X, s.box.Min.X, s.box.Max.X), Y: near(l.at.Y, s.box.Min.Y, s.box.Max.Y)}
	d := end.Sub(l.at)
	if long := vg.Length(math.Hypot(float64(d.X), float64(d.Y))); more > 0 && long > l.distance {
		// The tie goes from the marker's edge to the text.
		s.tie, s.tied = stroke{l.at.Add(d.Scale((l.distance - 1.5) / long)), l.at.Add(d.Scale((long - 1) / long))}, true
	}
	return s
}

// nearby is the part of a crowd that can interact with one label.
type nearby struct {
	crowd
	area   vg.Length
	others []int // indices of labels
}

func (w crowd) near(labels []label, i int) nearby {
	reach := func(l label) vg.Rectangle {
		by := l.distance + labelRings[len(labelRings)-1].more + labelAir
		r := grow(vg.Rectangle{Min: l.at, Max: l.at}, by)
		return vg.Rectangle{Min: r.Min.Sub(l.size), Max: r.Max.Add(l.size)}
	}
	l := labels[i]
	all := reach(l)
	n := nearby{crowd: crowd{within: w.within}, area: l.size.X * l.size.Y}
	for _, m := range w.markers {
		if overlap(m, all) > 0 {
			n.markers = append(n.markers, m)
		}
	}
	for _, s := range w.lines {
		if s.inside(all) > 0 {
			n.lines = append(n.lines, s)
		}
	}
	for j, o := range labels {
		if j != i && overlap(reach(o), all) > 0 {
			n.others = append(n.others, j)
		}
	}
	return n
}

// cost returns what the label covers at a spot and what its tie crosses, in areas of the label.
func (n nearby) cost(s spot, spots []spot, placed []bool) float64 {
	sum := labelOutside * (n.area - overlap(s.box, n.within))
	for _, m := range n.markers {
		sum += labelOnMarker * overlap(s.box, m)
		if s.tied {
			sum += labelOnLine * s.tie.inside(m)
		}
	}
	for _, l := range n.lines {
		sum += labelOnLine * l.inside(s.box)
	}
	air := grow(s.box, labelAir)
	for _, j := range n.others {
		o := spots[j]
		if !placed[j] {
			continue
		}
		sum += labelOnLabel * overlap(air, o.box)
		if s.tied {
			sum += labelOnLabel * s.tie.inside(o.box)
		}
		if o.tied {
			sum += labelOnLabel * o.tie.inside(s.box)
		}
	}
	return float64(sum / n.area)
}

// inside returns the length of a line inside a rectangle, in points (Liang and Barsky's clipping).
func (l stroke) inside(r vg.Rectangle) vg.Length {
	d := l.to.Sub(l.from)
	enter, leave := vg.Length(0), vg.Length(1)
	for _, edge := range [4]struct{ towards, left vg.Length }{
		{-d.X, l.from.X - r.Min.X}, {d.X, r.Max.X - l.from.X}, {-d.Y, l.from.Y - r.Min.Y}, {d.Y, r.Max.Y - l.from.Y},
	} {
		switch {
		case edge.towards == 0 && edge.left < 0:
			return 0
		case edge.towards < 0:
			enter = max(enter, edge.left/edge.towards)
		case edge.towards > 0:
			leave = min(leave, edge.left/edge.towards)
		}
	}
	return max(0, leave-enter) * vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
}

func grow(r vg.Rectangle, by vg.Length) vg.Rectangle {
	d := vg.Point{X: by, Y: by}
	return vg.Rectangle{Min: r.Min.Sub(d), Max: r.Max.Add(d)}
}

// overlap returns the area of the intersection of two rectangles.
func overlap(a, b vg.Rectangle) vg.Length {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return max(w, 0) * max(h, 0)
}
