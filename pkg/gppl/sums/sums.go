// Package sums adds up any number of observations of a time series in a fixed amount of memory. Shards are added up
// separately, on any number of machines, written to files, and merged; no digit depends on the order. With gppl.SumsData,
// losses, posteriors and periodograms compute from the sums the same results as from the observations.
package sums

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/exactsums"
)

// Sums holds everything that the likelihood of a smooth stationary kernel needs of any number of observations, in a fixed
// amount of memory. With phases φ_i = (t_i − Origin)/Period, M = Highest and v_i = y_i − Centre it holds
//
//	n,  Σ_i w_i·v_i²,  Σ_i log w_i,
//	E_j = Σ_i w_i·exp(2πij·φ_i), j = 0 … 2M,
//	F_j = Σ_i w_i·v_i·exp(2πij·φ_i), j = 0 … M,
//
// with all w_i = 1 unless the header says that there are weights.
//
// Sums with one header form a group: Merge adds and Subtract subtracts. They are integers (see internal/exactsums):
// observations may be split among any number of Sums in any order, on any number of machines, and the merged Sums and its file
// have the same bits. The error of E_j and F_j is about 2e-15 of the sum of the absolute values of their terms.
//
// Adding an observation takes some 150 ns on one processor. A Sums must not be changed
// from two goroutines at once. Use one for each goroutine, and Merge.
type Sums struct {
	header Header
	plan   *exactsums.Plan
	sum    *exactsums.Sum
}

// Header states which observations Sums accept and which frequencies they resolve.
// Only sums with equal headers can be merged. NewPlan makes one.
type Header struct {
	Lo, Hi         float64 // every input lies in [Lo, Hi]
	Origin, Period float64 // of the circle of the Fourier sums; [Lo, Hi] lies within it
	Highest        int     // M, the highest frequency, in cycles per Period
	Centre         float64 // subtracted from every observation
	Largest        float64 // bound on |y − Centre|; a power of two
	LargestWeight  float64 // bound on weights, a power of two; 0 means no weights
	Dates          bool    // inputs are dates, in seconds since 1970
	// Local says that the dates were written without a time zone; Place then writes none. Sums that differ only in Local can
	// be merged: the result is local if all of them are.
	Local bool
}

// Bounds of a header.
const (
	leastHighest = 16
	mostHighest  = 1 << 20 // 270 MB
)

// Check returns an error that names the first field which is out of range.
func (h Header) Check() error {
	_, err := h.plan()
	return err
}

func (h Header) plan() (*exactsums.Plan, error) {
	bad := func(name string, value any, want string) error {
		return fmt.Errorf("gppl: sums.Header.%s = %v: want %s", name, value, want)
	}
	for _, f := range h.fields() {
		if v, ok := f.value.(float64); ok && !numeric.IsFinite(v) {
			return nil, bad(f.name, v, "a finite number")
		}
	}
	const powers = "a power of two between 2^-400 and 2^400"
	switch {
	case !(h.Hi > h.Lo):
		return nil, bad("Hi", h.Hi, fmt.Sprintf("more than Lo = %v", h.Lo))
	case !(h.Period > h.Hi-h.Lo):
		return nil, bad("Period", h.Period, fmt.Sprintf("more than the range %v", h.Hi-h.Lo))
	case math.IsInf(h.Hi-h.Lo, 0) || math.IsInf(h.Origin+h.Period, 0):
		return nil, bad("Period", h.Period, "a smaller number")
	case h.Highest < leastHighest || h.Highest > mostHighest:
		return nil, bad("Highest", h.Highest, fmt.Sprintf("%d to %d", leastHighest, mostHighest))
	case !exactsums.IsUnit(h.Largest):
		return nil, bad("Largest", h.Largest, powers)
	case h.LargestWeight != 0 && !exactsums.IsUnit(h.LargestWeight):
		return nil, bad("LargestWeight", h.LargestWeight, powers+", or 0")
	}
	p, err := exactsums.NewPlan(h.Origin, h.Period, h.Highest, h.Lo, h.Hi,
		exactsums.Units{Centre: h.Centre, Value: h.Largest, Weight: h.LargestWeight})
	if err != nil {
		return nil, fmt.Errorf("gppl: sums.Header: %w", err)
	}
	return p, nil
}

// headerField is a field of a header by name, a float64, an int or a bool.
type headerField struct {
	name  string
	value any
}

func (h Header) fields() []headerField {
	return []headerField{
		{"Lo", h.Lo}, {"Hi", h.Hi}, {"Origin", h.Origin}, {"Period", h.Period}, {"Highest", h.Highest},
		{"Centre", h.Centre}, {"Largest", h.Largest}, {"LargestWeight", h.LargestWeight},
		{"Dates", h.Dates},
	}
}

// Place writes an input for a message: as a date, to the second, if inputs are dates.
func (h Header) Place(t float64) string {
	const furthest = 2.5e11 // seconds: the year 9892; up to there a date has four digits of the year
	if !h.Dates || !(math.Abs(t) < furthest) {
		return fmt.Sprint(t)
	}
	at := time.Unix(int64(math.Round(t)), 0).UTC()
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format(time.DateOnly)
	}
	if h.Local {
		return at.Format("2006-01-02T15:04:05")
	}
	return at.Format(time.RFC3339)
}

// Difference lists the fields other than Local in which h and o differ, "" if there are none.
func (h Header) Difference(o Header) string {
	var differ []string
	theirs := o.fields()
	for i, f := range h.fields() {
		if f.value != theirs[i].value {
			differ = append(differ, fmt.Sprintf("%s is %v and %v", f.name, f.value, theirs[i].value))
		}
	}
	return strings.Join(differ, ", ")
}

// Takes returns an error unless Sums with this header accept the observation y at t with weight w (1 if there are no weights).
func (h Header) Takes(t, y, w float64) error {
	switch {
	case !(t >= h.Lo && t <= h.Hi):
		return fmt.Errorf("t = %s is not within [%s, %s], the range of these sums", h.Place(t), h.Place(h.Lo), h.Place(h.Hi))
	case !(math.Abs(y-h.Centre) <= h.Largest):
		return fmt.Errorf("y = %v is not within %v of %v, the range of these sums", y, h.Largest, h.Centre)
	case h.LargestWeight == 0 && w != 1:
		return fmt.Errorf("the weight is %v, and these sums have no weights", w)
	case h.LargestWeight > 0 && !(w > 0 && w <= h.LargestWeight):
		return fmt.Errorf("the weight %v is not within (0, %v], the range of these sums", w, h.LargestWeight)
	}
	return nil
}

// New returns the sums of no observations.
func New(h Header) (*Sums, error) {
	for _, v := range []*float64{&h.Lo, &h.Hi, &h.Origin, &h.Centre, &h.LargestWeight} {
		*v += 0 // turns −0 into 0, also in the file
	}
	p, err := h.plan()
	if err != nil {
		return nil, err
	}
	return &Sums{header: h, plan: p, sum: p.New()}, nil
}

// Header returns the header.
func (s *Sums) Header() Header { return s.header }

// Len returns n, the number of observations.
func (s *Sums) Len() int { return int(s.sum.N) }

// Add adds observations y at t. It returns an error, with index and value, if one lies outside the range of the header; then
// none is added. It panics if the lengths differ. Large chunks are spread over the processors; the result does not depend on
// that.
func (s *Sums) Add(t, y []float64) error {
	if s.header.LargestWeight > 0 {
		return errors.New("gppl: Sums.Add: these sums have weights: use AddWeighted")
	}
	return s.add("Add", t, y, nil)
}

// AddWeighted is Add with weights w: the noise variance of y[i] is σ²/w[i].
func (s *Sums) AddWeighted(t, y, w []float64) error {
	if s.header.LargestWeight == 0 {
		return errors.New("gppl: Sums.AddWeighted: these sums have no weights: use Add, or a header with LargestWeight")
	}
	if len(w) != len(t) {
		panic(fmt.Sprintf("gppl: Sums.AddWeighted: len(w) = %d, len(t) = %d", len(w), len(t)))
	}
	return s.add("AddWeighted", t, y, w)
}

func (s *Sums) add(name string, t, y, w []float64) error {
	if len(y) != len(t) {
		panic(fmt.Sprintf("gppl: Sums.%s: len(y) = %d, len(t) = %d", name, len(y), len(t)))
	}
	if uint64(len(t)) > exactsums.MostPoints-s.sum.N {
		return fmt.Errorf("gppl: Sums.%s: %d and %d observations are more than can be counted", name, s.sum.N, len(t))
	}
	h, weight := &s.header, 1.0
	for i, ti := range t {
		if w != nil {
			weight = w[i]
		}
		inside := ti >= h.Lo && ti <= h.Hi && math.Abs(y[i]-h.Centre) <= h.Largest
		if !inside || w != nil && !(weight > 0 && weight <= h.LargestWeight) {
			return fmt.Errorf("gppl: Sums.%s: observation %d: %w", name, i, h.Takes(ti, y[i], weight))
		}
	}
	s.sum.AddAll(s.plan, t, y, w)
	return nil
}

// Merge adds the observations of o to s. If the headers differ, it returns an
// error that says in what, and leaves s unchanged.
func (s *Sums) Merge(o *Sums) error {
	if d := s.header.Difference(o.header); d != "" {
		return fmt.Errorf("gppl: Sums.Merge: the headers differ: %s", d)
	}
	if o.sum.N > exactsums.MostPoints-s.sum.N {
		return fmt.Errorf("gppl: Sums.Merge: %d and %d observations are more than can be counted", s.sum.N, o.sum.N)
	}
	s.sum.Merge(o.sum)
	s.header.Local = s.header.Local && o.header.Local
	return nil
}

// Subtract removes the observations of o from s. It returns an error, and leaves s unchanged, if the headers differ,
// or if the sums show that o holds observations that s does not. They do not always show it.
func (s *Sums) Subtract(o *Sums) error {
	if d := s.header.Difference(o.header); d != "" {
		return fmt.Errorf("gppl: Sums.Subtract: the headers differ: %s", d)
	}
	if o.sum.N > s.sum.N {
		return fmt.Errorf("gppl: Sums.Subtract: %d observations from %d", o.sum.N, s.sum.N)
	}
	if !s.sum.Holds(o.sum) {
		return fmt.Errorf("gppl: Sums.Subtract: the %d observations to subtract are not among the %d", o.sum.N, s.sum.N)
	}
	s.sum.Subtract(o.sum)
	return nil
}

// Clone returns a copy.
func (s *Sums) Clone() *Sums {
	return &Sums{header: s.header, plan: s.plan, sum: s.sum.Clone()}
}

// Extent returns bounds on the inputs of all observations; NaN if there are none. The bounds are too wide by up to a few
// hundredths of the shortest wave, or by a whole such wave if weights are tiny.
func (s *Sums) Extent() (lo, hi float64) {
	first, last, ok := s.plan.Extent(s.sum)
	if !ok {
		return math.NaN(), math.NaN()
	}
	h := s.header
	return max(h.Lo, h.Origin+first*h.Period), min(h.Hi, h.Origin+last*h.Period)
}

// Mean returns the weighted mean of the observations, NaN if there are none.
func (s *Sums) Mean() float64 {
	_, value := s.plan.Totals(s.sum)
	return s.header.Centre + value/s.Weight()
}

// Variance returns the weighted mean square of the observations about their mean. It is 0 if it does not exceed rounding, as
// for equal observations.
func (s *Sums) Variance() float64 {
	_, value := s.plan.Totals(s.sum)
	weight := s.Weight()
	mean, square := value/weight, s.plan.Squares(s.sum)/weight
	v, size := square-mean*mean, constant*(s.header.Centre+mean)
	if v <= max(squaresRounding*square, size*size) {
		return 0
	}
	return v
}

// constant is the share of y, by rounding, that remains where all observations are equal, or a mean explains all of them.
const constant = 1e-13

// squaresRounding is the share of a mean square that sums may lose: for constant observations the variance is up to 1.2e-15 of
// it.
const squaresRounding = 0x1p-46

// Weight returns Σ w, the number of observations if they have no weights.
func (s *Sums) Weight() float64 {
	if s.header.LargestWeight == 0 {
		return float64(s.sum.N)
	}
	weight, _ := s.plan.Totals(s.sum)
	return weight
}

// LogWeights returns Σ log w, 0 without weights.
func (s *Sums) LogWeights() float64 { return s.plan.LogWeights(s.sum) }

// Squares returns Σ w·v², v = y − Centre.
func (s *Sums) Squares() float64 { return s.plan.Squares(s.sum) }

// Moments returns real and imaginary parts of E_j by turns, without the imaginary part of E_0, which is 0: 4·Highest + 1 numbers.
func (s *Sums) Moments() []float64 { return s.plan.Moments(s.sum) }

// Values returns F_j in the order of Moments: 2·Highest + 1 numbers.
func (s *Sums) Values() []float64 { return s.plan.Values(s.sum) }

// String returns the number of observations and the resolution of the header.
func (s *Sums) String() string {
	return fmt.Sprintf("sums of %d observations, %v", s.sum.N, s.header)
}

// Magic is how the bytes from [Sums.MarshalBinary] begin.
const Magic = exactsums.Magic

var (
	_ encoding.BinaryMarshaler   = (*Sums)(nil)
	_ encoding.BinaryUnmarshaler = (*Sums)(nil)
)

// MarshalBinary returns the bytes of a file: the same for the same observations, however they were added.
func (s *Sums) MarshalBinary() ([]byte, error) {
	h := s.header
	return exactsums.Encode(exactsums.Header{Highest: h.Highest, Numbers: h.numbers(), Dates: h.Dates, Local: h.Local},
		s.plan, s.sum), nil
}

// numbers returns the numbers of the header in the order of the file.
func (h Header) numbers() [7]float64 {
	return [...]float64{h.Lo, h.Hi, h.Origin, h.Period, h.Centre, h.Largest, h.LargestWeight}
}

// UnmarshalBinary sets s to the sums that MarshalBinary wrote. Its error says what is wrong with the bytes: not sums, another
// version, truncated or damaged. s is then unchanged.
func (s *Sums) UnmarshalBinary(b []byte) error {
	read, err := decodeSums(b)
	if err != nil {
		return fmt.Errorf("gppl: Sums: %w", err)
	}
	*s = *read
	return nil
}

func decodeSums(b []byte) (*Sums, error) {
	h, err := exactsums.ReadHeader(b)
	if err != nil {
		return nil, err
	}
	v := h.Numbers
	s, err := New(Header{
		Highest: h.Highest, Lo: v[0], Hi: v[1], Origin: v[2], Period: v[3], Centre: v[4],
		Largest: v[5], LargestWeight: v[6], Dates: h.Dates, Local: h.Local,
	})
	if err != nil {
		return nil, fmt.Errorf("the header is wrong: %w", err)
	}
	for i, kept := range s.header.numbers() {
		if math.Float64bits(kept) != math.Float64bits(v[i]) {
			return nil, fmt.Errorf("the header is wrong: it has %v, and %v is written for it", v[i], kept)
		}
	}
	s.sum, err = exactsums.Decode(b, s.plan)
	return s, err
}
