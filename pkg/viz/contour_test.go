package viz

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func bowl(n int) ContourOptions {
	o := ContourOptions{
		Frame: frame("bowl"), LogX: true, LogY: true,
		Levels: []ContourLevel{{0.5, "inner"}, {2, "outer"}}, Mark: [2]float64{1, 1}, MarkName: "optimum",
	}
	for i := range n {
		u := 3 * (2*float64(i)/float64(n-1) - 1)
		o.X, o.Y = append(o.X, math.Exp(u)), append(o.Y, math.Exp(u/2))
	}
	for _, y := range o.Y {
		var row []float64
		for _, x := range o.X {
			row = append(row, 0.5*(math.Pow(math.Log(x), 2)+math.Pow(2*math.Log(y), 2)))
		}
		o.Z = append(o.Z, row)
	}
	return o
}

func TestContour(t *testing.T) {
	o := bowl(21)
	o.Z[0][0], o.Z[20][3] = math.Inf(1), math.NaN() // high, not a hole
	svg := string(Must(Must(Contour(o)).SVG()))
	for _, want := range []string{"inner", "outer", "optimum"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%q is not in the legend", want)
		}
	}
	without := o
	without.Levels = []ContourLevel{{-1, "below all"}}
	if plain := string(Must(Must(Contour(without)).SVG())); len(svg) < len(plain)+500 {
		t.Error("the level lines are not drawn")
	}
}

// TestContourSame checks that a surface of many closed and open lines always gives the same figure.
func TestContourSame(t *testing.T) {
	o := bowl(41)
	for i, row := range o.Z {
		for j := range row {
			row[j] = math.Sin(float64(i)/2) * math.Cos(float64(j)/3)
		}
	}
	o.Levels = []ContourLevel{{-0.5, "low"}, {0, "level, where lines cross"}, {0.5, "high"}}
	want := string(Must(Must(Contour(o)).SVG()))
	for range 20 {
		if got := string(Must(Must(Contour(o)).SVG())); got != want {
			t.Fatal("the same surface has another figure")
		}
	}
}

func TestContourErrors(t *testing.T) {
	for name, spoil := range map[string]func(o *ContourOptions){
		"levels":    func(o *ContourOptions) { o.Levels = nil },
		"label":     func(o *ContourOptions) { o.XLabel = "" },
		"rows":      func(o *ContourOptions) { o.Z = o.Z[1:] },
		"columns":   func(o *ContourOptions) { o.Z[2] = o.Z[2][1:] },
		"order":     func(o *ContourOptions) { o.X[3] = o.X[2] },
		"logarithm": func(o *ContourOptions) { o.Y[0] = -1 },
		"one value": func(o *ContourOptions) { o.X = o.X[:1] },
	} {
		o := bowl(5)
		spoil(&o)
		if _, err := Contour(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o := bowl(3)
	for _, row := range o.Z {
		for j := range row {
			row[j] = math.NaN()
		}
	}
	if _, err := Contour(o); !errors.Is(err, ErrNoData) {
		t.Errorf("nothing finite: %v", err)
	}
}
