package sums

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/exactsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gridded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

// Range states which observations Sums must accept and which lengthscales they must resolve.
type Range struct {
	Lo, Hi float64 // bounds on all inputs, of data and of posteriors
	// Shortest is the shortest lengthscale of SE for which the exact likelihood is computed; 0 means a thousandth of the
	// range. Other kernels need as many frequencies as their spectrum has.
	Shortest float64
	// Longest, unless 0, is the longest lengthscale of interest, of SE and similar kernels. It saves half of the frequencies if it
	// is short compared with the range. If it is 0, the period is 2.16 times the range, which also serves kernels that do not decay
	// to zero.
	Longest float64
	// Centre is a number near the mean of the observations, and Largest bounds their distances from it; NewPlan rounds Largest
	// up to a power of two. Digits are lost only if Largest is a thousand times the usual distance.
	Centre, Largest float64
	LargestWeight   float64 // 0 means no weights
	Dates           bool    // inputs are dates, in seconds since 1970
	Local           bool    // dates have no time zone
}

// Plan is the header of sums, with the memory, the disk space and the time that they take.
type Plan struct {
	Header    Header
	Bytes     int     // memory of the sums, in bytes
	FileBytes int     // size of a file with 1e9 observations, in bytes
	Gridded   float64 // estimated seconds for the likelihood and gradient of SE at the shortest lengthscale
	Dense     float64 // the same for a kernel that uses all frequencies in a dense matrix; +Inf if that is refused
}

const (
	// periodRatio is the ratio of the period to the range. It is twice 1.08: the frequencies of Spectral are then among the
	// frequencies of the sums, and a window has space to fall (see fourier.Series).
	periodRatio = 2 * 1.08
	// defaultResolution is the ratio of the range to the shortest lengthscale.
	defaultResolution = 1000
	// MaxProjections is the largest number of projections of Sums, and of features in a dense matrix: an evaluation takes some
	// seconds.
	MaxProjections = 4000
)

// NewPlan returns the header for r with the fewest frequencies.
func NewPlan(r Range) (Plan, error) {
	for _, f := range []struct {
		name  string
		value float64
		least float64
	}{{"Lo", r.Lo, math.Inf(-1)}, {"Hi", r.Hi, r.Lo}, {"Shortest", r.Shortest, 0}, {"Longest", r.Longest, 0},
		{"Centre", r.Centre, math.Inf(-1)}, {"Largest", r.Largest, 0}, {"LargestWeight", r.LargestWeight, 0}} {
		if math.IsInf(f.value, 0) || !(f.value >= f.least) {
			return Plan{}, fmt.Errorf("gppl: sums.NewPlan: %s = %v: want a finite number, no less than %v", f.name, f.value, f.least)
		}
	}
	span := r.Hi - r.Lo
	switch {
	case !(span > 0):
		return Plan{}, fmt.Errorf("gppl: sums.NewPlan: the range from %v to %v is empty", r.Lo, r.Hi)
	case !(r.Largest > 0):
		return Plan{}, fmt.Errorf("gppl: sums.NewPlan: Largest = %v: want a positive number", r.Largest)
	}
	if r.Shortest == 0 {
		r.Shortest = span / defaultResolution
	}
	if r.Longest != 0 && r.Longest < r.Shortest {
		return Plan{}, fmt.Errorf("gppl: sums.NewPlan: Longest = %v is less than Shortest = %v", r.Longest, r.Shortest)
	}
	h := Header{Lo: r.Lo, Hi: r.Hi, Centre: r.Centre, Largest: exactsums.UnitFor(r.Largest),
		LargestWeight: exactsums.UnitFor(r.LargestWeight), Dates: r.Dates, Local: r.Local}
	h.Period = periodRatio * span
	if short := span + griddedGap(r.Longest); r.Longest > 0 && short < h.Period {
		h.Period = short
	}
	h.Origin = r.Lo - 0.5*(h.Period-span)
	m := math.Ceil(seFrequency/r.Shortest*h.Period) + gridded.Spare
	if m > mostHighest {
		return Plan{}, fmt.Errorf("gppl: sums.NewPlan: a lengthscale of %v on a range of %v takes %.3g frequencies, and %d are the"+
			" most: the shortest that can be resolved is %.3g",
			r.Shortest, span, m, mostHighest, seFrequency*h.Period/(mostHighest-gridded.Spare))
	}
	h.Highest = max(leastHighest, int(m))
	return h.Plan()
}

// Plan returns the header with the memory, the disk space and the time that its sums take. It returns an error if the header is
// not valid.
func (h Header) Plan() (Plan, error) {
	p, err := h.plan()
	if err != nil {
		return Plan{}, err
	}
	const perCell = 24 // bytes in a file: two integers of 62 bits, and their carries for 1e9/4
	features := 2*float64(h.Highest) + 1
	plan := Plan{
		Header: h, Bytes: p.Bytes(), FileBytes: perCell*p.Count() + exactsums.Overhead,
		Gridded: costs.Of(costs.GriddedPoint, 2*float64(h.Highest)),
		Dense:   spectral.Seconds(features),
	}
	if features > MaxProjections {
		plan.Dense = math.Inf(1)
	}
	return plan, nil
}

// Plan returns the header of s with the memory, the disk space and the time that s takes.
func (s *Sums) Plan() Plan {
	p, err := s.header.Plan()
	if err != nil {
		panic(err) // the header has been checked
	}
	return p
}

// seFrequency is the frequency where the density of SE with lengthscale 1, ∝ exp(−2π²f²), falls to Floor², where the gridded
// engine cuts it off.
var seFrequency = math.Sqrt(-2*math.Log(gridded.Floor*gridded.Floor)) / (2 * math.Pi)

// griddedGap returns the distance by which the period must exceed the range for SE.
func griddedGap(lengthscale float64) float64 {
	return 2 * gridded.RootReach * (lengthscale * math.Sqrt(-2*math.Log(gridded.Floor)))
}

// Lengthscales returns the shortest and the longest lengthscale of SE for the gridded engine. Longer lengthscales, and kernels
// that do not decay to zero, need the spectral engine and a period of more than twice the range.
func (h Header) Lengthscales() (shortest, longest float64) {
	shortest = seFrequency * h.Period / float64(h.Highest-gridded.Spare)
	return shortest, (h.Period - (h.Hi - h.Lo)) / griddedGap(1)
}

// String describes the accepted observations and the resolution.
func (h Header) String() string {
	shortest, longest := h.Lengthscales()
	text := fmt.Sprintf("t from %v to %v, |y − %v| ≤ %v, %d frequencies of the period %.6g, SE lengthscales from %.3g to %.3g",
		h.Lo, h.Hi, h.Centre, h.Largest, h.Highest, h.Period, shortest, longest)
	if h.LargestWeight > 0 {
		text += fmt.Sprintf(", weights up to %v", h.LargestWeight)
	}
	return text
}

// String describes the resolution and the costs of the plan.
func (p Plan) String() string {
	others := "a kernel that needs all frequencies is refused, because its matrix would be too large"
	if !math.IsInf(p.Dense, 1) {
		others = "with another kernel at most " + timeline.Seconds(p.Dense)
	}
	return fmt.Sprintf("%v; %.3g MB of memory, %.3g MB in a file; an exact likelihood takes about %s with SE; %s",
		p.Header, 1e-6*float64(p.Bytes), 1e-6*float64(p.FileBytes), timeline.Seconds(p.Gridded), others)
}

// SampleRange returns the range of a sample of the data with a margin: margin times the sample's range is added on either side
// of t, and Largest is spread times the largest distance of y from the mean of the sample. It returns an error if the sample
// has no two different times or no two different values.
func SampleRange(t, y []float64, margin, spread float64) (Range, error) {
	if len(t) == 0 || len(y) != len(t) {
		return Range{}, fmt.Errorf("gppl: sums.SampleRange: %d times and %d values: want as many, and one at least", len(t), len(y))
	}
	for i := range t {
		if !numeric.IsFinite(t[i]) || !numeric.IsFinite(y[i]) {
			return Range{}, fmt.Errorf("gppl: sums.SampleRange: observation %d is (%v, %v): not finite", i, t[i], y[i])
		}
	}
	lo, hi := slices.Min(t), slices.Max(t)
	if lo == hi {
		return Range{}, fmt.Errorf("gppl: sums.SampleRange: all %d times are %v", len(t), lo)
	}
	var mean, largest float64
	for i, v := range y {
		mean += (v - mean) / float64(i+1)
	}
	for _, v := range y {
		largest = max(largest, math.Abs(v-mean))
	}
	if largest == 0 {
		return Range{}, fmt.Errorf("gppl: sums.SampleRange: all %d values are %v", len(y), y[0])
	}
	beyond := margin * (hi - lo)
	return Range{Lo: lo - beyond, Hi: hi + beyond, Centre: mean, Largest: spread * largest}, nil
}
