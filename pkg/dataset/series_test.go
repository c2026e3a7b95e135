package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func line(n int) Series {
	s := Series{Name: "line", XName: "time", XUnit: "s", YName: "height", YUnit: "m"}
	for i := range n {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 10*float64(i))
	}
	return s
}

func TestSeriesParts(t *testing.T) {
	s := line(5)
	if got := s.Slice(1, 3); !slices.Equal(got.X, []float64{1, 2}) || !slices.Equal(got.Y, []float64{10, 20}) || got.YUnit != "m" {
		t.Errorf("Slice(1, 3) = %+v", got)
	}
	if got := s.Slice(5, 5).Len(); got != 0 {
		t.Errorf("Slice(5, 5).Len() = %d, want 0", got)
	}
	part := s.Slice(0, 2)
	part.Y = append(part.Y, -1)
	if s.Y[2] != 20 {
		t.Error("appending to a slice overwrote the series")
	}
	if got := s.Between(1, 3); !slices.Equal(got.X, []float64{1, 2}) {
		t.Errorf("Between(1, 3).X = %v, want [1 2]", got.X)
	}
	if got := s.Between(9, 10).Len(); got != 0 {
		t.Errorf("Between outside the range has %d observations", got)
	}
	if got := s.Select([]int{4, 0, 4}); !slices.Equal(got.Y, []float64{40, 0, 40}) {
		t.Errorf("Select([4 0 4]).Y = %v", got.Y)
	}
}

func TestSeriesString(t *testing.T) {
	for _, test := range []struct {
		s    Series
		want string
	}{
		{line(3), "line: n = 3, time 0 to 2 s, height 0 to 20 m"},
		{Series{}, "series: n = 0"},
		{Series{X: []float64{1}, Y: []float64{2}}, "series: n = 1, x 1 to 1, y 2 to 2"},
	} {
		if got := test.s.String(); got != test.want {
			t.Errorf("String() = %q, want %q", got, test.want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	s, sc := line(3), Scaling{Scale: 1}
	for name, test := range map[string]struct {
		f    func()
		want string
	}{
		"slice low":    {func() { s.Slice(-1, 2) }, "i = -1"},
		"slice order":  {func() { s.Slice(2, 1) }, "j = 1"},
		"slice high":   {func() { s.Slice(0, 4) }, "j = 4"},
		"select":       {func() { s.Select([]int{0, 3}) }, "index[1] = 3"},
		"lengths":      {func() { Series{X: []float64{1}}.Standardize() }, "len(Y) = 0"},
		"dst":          {func() { sc.Values(make([]float64, 1), make([]float64, 2)) }, "len(dst) = 1"},
		"comma":        {func() { ReadCSV(strings.NewReader(""), CSVOptions{Comma: '\n'}) }, "Comma"},
		"edf reader":   {func() { ReadEDF(nil, 0) }, "r is nil"},
		"edf size":     {func() { ReadEDF(strings.NewReader(""), -1) }, "size = -1"},
		"file no name": {func() { Find(t.Context(), File{}, Options{}) }, "f.Name"},
		"file path":    {func() { Find(t.Context(), File{Name: "../x"}, Options{}) }, "f.Name"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if msg, _ := recover().(string); !strings.Contains(msg, test.want) {
					t.Errorf("panic %q, want one with %q", msg, test.want)
				}
			}()
			test.f()
		})
	}
}

func TestStandardize(t *testing.T) {
	s := Series{X: []float64{0, 1, 2, 3}, Y: []float64{2, 4, 4, 6}, YUnit: "m"}
	before := slices.Clone(s.Y)
	z, sc := s.Standardize()
	// Deviations -2, 0, 0, 2: sum of squares 8 over n-1 = 3.
	want := Scaling{Mean: 4, Scale: math.Sqrt(8. / 3)}
	if diff := cmp.Diff(want, sc, cmpopts.EquateApprox(1e-15, 0)); diff != "" {
		t.Errorf("Scaling (-want +got):\n%s", diff)
	}
	if !slices.Equal(s.Y, before) || s.YUnit != "m" {
		t.Error("Standardize changed its receiver")
	}
	if z.YUnit != "sd" {
		t.Errorf("YUnit = %q, want sd", z.YUnit)
	}
	if diff := cmp.Diff(s.Y, sc.Values(nil, z.Y), cmpopts.EquateApprox(1e-15, 1e-15)); diff != "" {
		t.Errorf("Values does not undo Standardize:\n%s", diff)
	}
	if got := sc.Variances(nil, []float64{1})[0]; math.Abs(got-8./3) > 1e-15 {
		t.Errorf("Variance(1) = %g, want 8/3", got)
	}
}

// One tenth added up many times does not give an exact mean: a constant must be recognised all the same.
func TestStandardizeConstant(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1001} {
		s := line(n)
		for i := range s.Y {
			s.Y[i] = 0.1
		}
		z, sc := s.Standardize()
		want := Scaling{Mean: 0.1, Scale: 1}
		if n == 0 {
			want.Mean = 0
		}
		if sc != want {
			t.Errorf("n = %d: %+v, want %+v", n, sc, want)
		}
		for _, v := range z.Y {
			if v != 0 {
				t.Fatalf("n = %d: standardised constant holds %g", n, v)
			}
		}
	}
}

// Squares of deviations below 1e-162 underflow.
func TestStandardizeTiny(t *testing.T) {
	for _, tiny := range []float64{1e-200, math.SmallestNonzeroFloat64} {
		y := make([]float64, 1000)
		y[7] = tiny
		z, sc := Series{X: make([]float64, len(y)), Y: y}.Standardize()
		if !(sc.Scale > 0) || math.IsNaN(z.Y[0]) || math.IsInf(z.Y[7], 0) {
			t.Errorf("%g: %+v gives %g and %g", tiny, sc, z.Y[0], z.Y[7])
		}
	}
}

func TestStandardizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 50).Draw(t, "y")
		offset := rapid.Float64Range(-1e6, 1e6).Draw(t, "offset")
		for i := range y {
			y[i] += offset
		}
		z, sc := Series{X: make([]float64, len(y)), Y: y}.Standardize()
		if !(sc.Scale > 0) {
			t.Fatalf("Scale = %g", sc.Scale)
		}
		for i := range y {
			if back := sc.Value(z.Y[i]); math.Abs(back-y[i]) > 1e-9*(1+math.Abs(y[i])) {
				t.Fatalf("y[%d] = %g comes back as %g", i, y[i], back)
			}
		}
		if lo, hi := slices.Min(y), slices.Max(y); hi-lo < 1e-3 {
			return // rounding of y itself, not of the scaling, then decides the moments
		}
		var sum, ss float64
		for _, v := range z.Y {
			sum += v
			ss += v * v
		}
		n := float64(len(y))
		if math.Abs(sum) > 1e-5*n || math.Abs(ss-(n-1)) > 1e-5*n {
			t.Fatalf("sum %g, sum of squares %g; want 0, %g", sum, ss, n-1)
		}
	})
}

func TestStandardizeExtremes(t *testing.T) {
	for _, y := range [][]float64{
		{1e308, -1e308, 1e308, -1e308, 0}, {math.MaxFloat64, -math.MaxFloat64, 0}, {1e308, 1.1e308, 1.2e308}, {1e-308, 2e-308, 5e-308}, {1e300, 1, 2},
	} {
		s, sc := Series{X: make([]float64, len(y)), Y: y}.Standardize()
		var sum, squares float64
		for _, z := range s.Y {
			sum, squares = sum+z, squares+z*z
		}
		if !(math.Abs(sum) < 1e-9) || !(math.Abs(squares-float64(len(y)-1)) < 1e-9) {
			t.Errorf("%g: %g by %+v, sum %g, sum of squares %g", y, s.Y, sc, sum, squares)
		}
	}
}
