package observed_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// TestLine: columns and noise come into the order of the times, and Input and Ranks lead there and back.
func TestLine(t *testing.T) {
	x := []float64{3, 1, 2, 1, 7}
	l := observed.Sorted(x)
	columns := dense.New(5, 2)
	for i, v := range x {
		columns.Data[2*i], columns.Data[2*i+1] = 10*v, float64(i)
	}
	l.SetColumns(columns)
	l.SetNoise(observed.NewNoise([]float64{3, 1, 2, 1, 7}, []float64{0.3, 0.1, 0.2, 0.1, 0.7}))
	if !slices.Equal(l.T, []float64{1, 1, 2, 3, 7}) || l.Lo != 1 || l.Span != 6 || l.Middle() != 4 || l.Count() != 5 {
		t.Errorf("times %v from %v, span %v", l.T, l.Lo, l.Span)
	}
	if !slices.Equal(x, []float64{3, 1, 2, 1, 7}) {
		t.Error("the times that were given are moved")
	}
	ranks := l.Ranks()
	for place, at := range l.T {
		i := l.Input(place)
		if x[i] != at || ranks[i] != place || l.Y[place] != 10*at || l.Columns.Data[2*place+1] != float64(i) ||
			l.Noise.Scale[place] != at || l.Noise.Known[place] != at/10 || l.Weights[place] != 1/at {
			t.Errorf("place %d has observation %d: %v, %v", place, i, l.Y[place], l.Noise)
		}
	}
	sorted := lineOf([]float64{1, 2}, []float64{5, 6})
	if sorted.Order != nil || &sorted.Y[0] != &sorted.Columns.Data[0] || sorted.Input(1) != 1 || sorted.Weights != nil {
		t.Error("what is in order is copied")
	}
	even := make([]float64, 1000)
	for i := range even {
		even[i] = float64(i)
	}
	if got := observed.Sorted(even).Neighbours(10); !(got > 9 && got < 11.5) {
		t.Errorf("%v neighbours within 10 steps", got)
	}
}

// TestNoise compares with λ = σ²·e² + s² for each of the four kinds.
func TestNoise(t *testing.T) {
	const n, sigma2 = 3, 0.5
	scale, known := []float64{4, 0.8, 9}, []float64{0.1, 60, 0.3}
	for kind, r := range map[string]observed.Noise{"even": observed.NewNoise(nil, nil), "relative": observed.NewNoise(scale, nil),
		"known": observed.NewNoise(nil, known), "both": observed.NewNoise(scale, known)} {
		want := make([]float64, n)
		for i := range want {
			if want[i] = sigma2; r.Scale != nil {
				want[i] *= scale[i]
			}
			if r.Known != nil {
				want[i] += known[i]
			}
		}
		if got := r.Set(nil, n, sigma2); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if r.Even() != (kind == "even") || r.Least(sigma2) > slices.Min(want) || r.Least(sigma2) <= 0 ||
			r.Most(sigma2) < slices.Max(want) {
			t.Errorf("%s: even %v, from %v to %v, want within %v", kind, r.Even(), r.Least(sigma2), r.Most(sigma2), want)
		}
		a := dense.NewLower(n)
		a.AddDiagonal(r.OnDiagonal(sigma2))
		r.Add(a, nil, n, sigma2)
		for i, v := range want {
			if math.Abs(a.Entry(i, i)-v) > 1e-15*v {
				t.Errorf("%s: the diagonal has %v at %d, want %v", kind, a.Entry(i, i), i, v)
			}
		}
		second := func(i int) bool { return i == 1 }
		if hasKnown := r.Known != nil; r.Negligible(sigma2, nil) || r.Negligible(sigma2, second) != hasKnown ||
			r.Negligible(1e-4, nil) != hasKnown {
			t.Errorf("%s: negligible: %v of all, %v of one", kind, r.Negligible(sigma2, nil), r.Negligible(sigma2, second))
		}
	}
}

// TestSums compares sums over the data, on a circle and of squares, with their definitions, for few columns and for many.
func TestSums(t *testing.T) {
	const n, m, origin, period = 40, 6, -1., 9.
	rnd := rand.New(rand.NewPCG(3, 1))
	x, scale := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], scale[i] = 4*rnd.Float64(), 0.5+rnd.Float64()
	}
	for _, cols := range []int{1, 2, 6} {
		for _, weighted := range []bool{false, true} {
			l := observed.Sorted(x)
			c := dense.New(n, cols)
			for i := range c.Data {
				c.Data[i] = rnd.NormFloat64()
			}
			l.SetColumns(c)
			if weighted {
				l.SetNoise(observed.NewNoise(scale, nil))
			}
			w := func(i int) float64 {
				if weighted {
					return 1 / scale[i]
				}
				return 1
			}
			near := func(what string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 1e-11*(1+math.Abs(want))) {
					t.Errorf("%d columns, weights %v: %s is %v, want %v", cols, weighted, what, got, want)
				}
			}
			var logs, precision float64
			squares, cosines := dense.New(cols, cols), make([]float64, cols)
			var moment float64
			for i := range x {
				logs, precision = logs+math.Log(w(i)), precision+w(i)
				row := dense.Row(c, i)
				blas64.Ger(w(i), row, row, squares)
				turn := 2 * math.Pi * (x[i] - origin) / period
				moment += w(i) * math.Sin(2*m*turn)
				for j, v := range row.Data {
					cosines[j] += w(i) * v * math.Cos(m*turn)
				}
			}
			near("Σ log w", l.LogWeights(), logs)
			near("Σ w", l.Precision(), precision)
			for i, v := range l.Squares().Data {
				near("a square", v, squares.Data[i])
			}
			moments, sums := l.Sums(origin, period, m)
			near("the number", moments[0], precision)
			near("a moment", moments[2*(2*m)+1], moment)
			for j, v := range cosines {
				near("a sum", sums.Data[2*m*sums.Stride+j], v)
			}
			d := new(observed.Summed)
			d.Read(l)
			near("the averaged noise", d.Averaged(0.3), 0.3*n/precision)
			if d.N != n || d.Lo != l.Lo || d.Span != l.Span || d.Refuses() != "" || d.Pass(2) != 2*n {
				t.Errorf("%+v", d)
			}
		}
	}
	l := observed.Sorted(x)
	l.SetNoise(observed.NewNoise(nil, scale))
	var precision float64
	for _, s := range scale {
		precision += 1 / (0.3 + s)
	}
	d := new(observed.Summed)
	d.Read(l)
	if got, known := d.WithKnown(); !known || got != l || d.Refuses() == "" || math.Abs(l.AveragedKnown(0.3)-n/precision) > 1e-12 {
		t.Errorf("known errors: %v, %q, %v", known, d.Refuses(), l.AveragedKnown(0.3))
	}
}

// decaying is a covariance by its reach and its bandwidth, whatever eps.
type decaying struct{ reach, bandwidth float64 }

func (k decaying) Reach(float64) float64     { return k.reach }
func (k decaying) Bandwidth(float64) float64 { return k.bandwidth }

// TestCircle: which kernels a fixed circle takes, and why not.
func TestCircle(t *testing.T) {
	const span = 10
	inf := math.Inf(1)
	for what, c := range map[string]struct {
		period  float64
		highest int
		kernel  decaying
		window  bool
		why     string
	}{
		"images":                    {15, 1000, decaying{5, 2}, false, ""},
		"too far for images":        {15, 1000, decaying{5.1, 2}, false, "resolves"},
		"a window":                  {25, 1000, decaying{inf, 2}, true, ""},
		"no room for a window":      {20.7, 1000, decaying{inf, 2}, false, "resolves"},
		"rounding":                  {25, 1000, decaying{inf, 1e3}, false, "beyond"},
		"no spectrum":               {15, 1000, decaying{5, inf}, false, observed.NoSpectrum},
		"beyond the frequencies":    {15, 20, decaying{5, 2}, false, "beyond"},
		"more than are to be dense": {15, 1000, decaying{5, 40}, false, "dense"},
	} {
		circle := observed.Circle{Period: c.period, Highest: c.highest, Most: 1000, Resolves: "resolves", Beyond: "beyond %.3g"}
		m, windowed, why := circle.Frequencies(span, c.kernel, 1e-10)
		if !strings.Contains(why.String(), c.why) || (c.why == "") == why.Given() || c.why == "" &&
			(windowed != c.window || m < c.kernel.bandwidth*c.period) {
			t.Errorf("%s: %v frequencies, window %v, %q", what, m, windowed, why)
		}
		least := circle.Least(span, c.kernel)
		if images := c.kernel.reach <= c.period-span; images != (least == 1e-14) || least <= 0 || math.IsInf(least, 1) ||
			least < 1e-16*c.kernel.bandwidth*c.period && !math.IsInf(c.kernel.bandwidth, 1) && c.kernel.reach > c.period-span {
			t.Errorf("%s: coefficients may be cut off at %v", what, least)
		}
	}
}

// fixed are sums on one circle.
type fixed struct {
	*observed.Line
	at observed.Circle
}

func (f fixed) Circle() (observed.Circle, bool) { return f.at, true }

// TestOn: sums on any circle reach up to the rung above what is asked for, whatever was asked before; fixed ones refuse more
// than there are.
func TestOn(t *testing.T) {
	l := lineOf([]float64{0, 1, 2.5}, []float64{1, -1, 2})
	var d observed.Summed
	d.Read(l)
	c, err := d.On(0, 7, 30)
	if err != nil || c.Highest != 32 || len(c.Columns.Data) != 2*33 || len(c.Moments) != 2*65 {
		t.Fatalf("%+v, %v", c, err)
	}
	fewer, _ := d.On(0, 7, 5)
	if again, _ := d.On(0, 7, 32); again != c || fewer.Highest != 16 {
		t.Errorf("sums that are there are computed again, or up to %d for 5", fewer.Highest)
	}
	d = observed.Summed{}
	d.Read(fixed{l, observed.Circle{Period: 7, Highest: 6, Beyond: "beyond %.2g"}})
	if c, err = d.On(0, 7, 6); err != nil || c.Highest != 6 || d.Pass(1) != 0 {
		t.Errorf("all that there are: %+v, %v", c, err)
	}
	if _, err := d.On(0, 7, 7); err == nil || err.(*choice.Refused).Why != "beyond 1" {
		t.Errorf("more than there are: %v", err)
	}
}

// TestExposures: ends ascend with the exposures beside them, exactly at any origin; those that overlap are as they are, and only
// what rounding of a length leaves is cut.
func TestExposures(t *testing.T) {
	const julian = 2450000
	x := []float64{julian + 5, julian + 1, julian + 2.25}
	e, err := observed.ExposuresOf(x, []float64{2, 1, 2})
	if err != nil || e.Origin != julian+1 || !slices.Equal(e.T, []float64{0.5, 2.25, 5}) || !slices.Equal(e.Lengths, []float64{1, 2, 2}) {
		t.Errorf("%+v, %v", e, err)
	}
	for i, want := range []float64{-0.5, 0.25, 3} {
		if got := e.Starts[i]; got.Hi != want || got.Lo != 0 {
			t.Errorf("start %d: %v, want %v", i, got, want)
		}
	}
	const early = 1 + 0x1p-52
	if e, err = observed.ExposuresOf([]float64{0, early}, []float64{early, early}); err != nil || e.Starts[1] != e.Ends[0] {
		t.Errorf("%+v, %v", e, err)
	}
	third := 1. / 3
	if e, err = observed.ExposuresOf([]float64{0, third}, []float64{third * (1 + 0x1p-52), third}); err != nil ||
		e.Starts[1] != e.Ends[0] {
		t.Errorf("rounding is left: %+v, %v", e, err)
	}
	if _, err := observed.ExposuresOf([]float64{1e308, -1e308}, []float64{1e308, 0}); err == nil {
		t.Error("an end beyond the range of numbers")
	}
}

// lineOf is the series of y at x.
func lineOf(x, y []float64) *observed.Line {
	l := observed.Sorted(x)
	l.SetColumns(dense.AsColumn(y))
	return l
}

// wave is the kernel cos(a·r)·exp(−r/50) of a parameter a.
type wave float64

func (a wave) Cov(dst, r []float64) {
	for i, d := range r {
		dst[i] = math.Cos(float64(a)*d) * math.Exp(-d/50)
	}
}

func (a wave) Slope(dst, r []float64) {
	for i, d := range r {
		sin, cos := math.Sincos(float64(a) * d)
		dst[i] = (-float64(a)*sin - cos/50) * math.Exp(-d/50)
		if d == 0 {
			dst[i] = 0
		}
	}
}

func (a wave) Contract(grad, w, r []float64) {
	for i, d := range r {
		grad[0] -= w[i] * d * float64(a) * math.Sin(float64(a)*d) * math.Exp(-d/50)
	}
}

// TestLags: a table has the covariance at every distance of times on a grid, to the bit where they are whole multiples of its
// step, and there is none where it would not pay.
func TestLags(t *testing.T) {
	workdays := func(i int) float64 { return float64(i/5*7 + i%5) }
	for _, c := range []struct {
		name string
		at   func(i int) float64
		n    int // distances; 0 for no table
		off  float64
	}{
		{"days of work", workdays, 698, 0},
		{"every third hour but the first", func(i int) float64 { return 1e6 + 3*float64(i+min(i, 1)) }, 501, 0},
		{"halves, with a long gap", func(i int) float64 { return 0.5 * float64(i+i/300*2000) }, 2500, 0},
		{"quarters of an hour in days", func(i int) float64 { return 1e4 + float64(i+i/3)/96 }, 666, 1e-9},
		{"days of work in years", func(i int) float64 { return 2010 + workdays(i)/365.2425 }, 698, 1e-9},
		{"uneven", func(i int) float64 { return float64(i) + 0.3*math.Sin(float64(i)) }, 0, 0},
		{"nearly even", func(i int) float64 { return float64(i) + 1e-7*math.Sin(float64(i)) }, 0, 0},
		{"two at nearly one time", func(i int) float64 { return float64(i) - (1-1e-12)*float64(i/400) }, 0, 0},
		{"far apart", func(i int) float64 { return float64(i*i*1000) + float64(i) }, 0, 0},
		{"one time", func(int) float64 { return 5 }, 0, 0},
	} {
		times := make([]float64, 500)
		for i := range times {
			times[i] = c.at(i)
		}
		span := times[len(times)-1] - times[0]
		var g observed.Lags
		for range 2 { // the memory of the first time is used again
			g.Reset(observed.Sorted(times), span, len(times)*len(times))
		}
		if len(g.R) != c.n {
			t.Errorf("%s: %d distances, want %d", c.name, len(g.R), c.n)
		}
		if len(g.R) == 0 {
			continue
		}
		k := wave(0.3 * float64(len(g.R)-1) / span)
		g.Evaluate(k)
		r, got, want := make([]float64, len(times)), make([]float64, len(times)), make([]float64, len(times))
		weights, grad, wantGrad := make([]float64, len(times)), []float64{0}, []float64{0}
		all := 0.
		g.Begin()
		for i, x := range times {
			for j, y := range times {
				r[j], weights[j] = math.Abs(x-y), float64(i%7-j%5)
				all += math.Abs(weights[j]) * r[j] * float64(k)
			}
			g.Look(got, r)
			k.Cov(want, r)
			g.Add(i%parallel.Lanes, weights, r)
			k.Contract(wantGrad, weights, r)
			for j, v := range got {
				if !(math.Abs(v-want[j]) <= c.off/1e-9*0x1p-52*(1+float64(k)*r[j])) { // to the rounding of k·r
					t.Fatalf("%s: %v at %v, want %v", c.name, v, r[j], want[j])
				}
			}
		}
		g.Contract(grad, k)
		if math.Abs(grad[0]-wantGrad[0]) > 1e-15*all {
			t.Errorf("%s: gradient %v, want %v", c.name, grad[0], wantGrad[0])
		}
	}
}
