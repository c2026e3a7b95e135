// Package exactsums adds up trigonometric sums over points that come in parts, so that no digit of the result depends on the
// parts. For points t_i on a circle of circumference P, values y_i and weights w_i it keeps
//
//	E_j = Σ_i w_i exp(2πij(t_i − t_0)/P),  j = 0 … 2M,
//	F_j = Σ_i w_i·y_i exp(2πij(t_i − t_0)/P),  j = 0 … M,
//
// together with Σ w_i·y_i², Σ log w_i and the number of points.
//
// A sum of floating-point numbers depends on the order of its terms. So nothing is added in floating point. The first step of
// a non-uniform FFT of type 1 spreads each point over some grid points around it (package fourier). These contributions become
// integers, and each grid point is an integer of 128 bits. Addition of integers is associative and has an inverse: parts may
// be split, ordered, merged and subtracted in any way, with the bits of the whole. The FFT comes once, at the end.
//
// # Fixed point
//
// Values are scaled to |y| ≤ 1 and weights to 0 < w ≤ 1 by powers of two. The window is at most 1, so a contribution in units
// of 2⁻⁶² fits an int64, and 2⁶⁴ of them fit a grid point. The rounding of a contribution, 2⁻⁶² at most, is far below the
// rounding of the window itself, 2⁻⁵³, as long as a typical |y| is more than 1e-3 of the largest. For Σ w_i·y_i², y and w are
// rounded to the same units; then the squares and their sum, of 256 bits, are exact. log w comes in units of 2⁻⁵².
//
// # Memory
//
// Points keep a distance from the ends of the period, so only the grid points between the smallest and the largest t allowed
// are kept, 32 bytes each: 4·over·M·T/P of them for the range T.
package exactsums

import (
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

const (
	// Fraction is the number of bits after the point of a contribution.
	Fraction = 62
	unit     = 1 << Fraction

	// over is the number of grid points per half of the shortest wave. Three would narrow the window by 2 of 18 points, and
	// enlarge sums by a half.
	over = 2

	// Words is the number of uint64 of a grid point: E's two, the lower first, then F's two.
	Words = 4
)

// Plan holds the circle and the grid to which points are added, and the units. It is immutable.
type Plan struct {
	spread  *fourier.Spread
	highest int // M
	from    int // the first grid point that is kept
	count   int // number of grid points kept
	units   Units
}

// Units are the units of the fixed point: |y − Centre| ≤ Value and 0 < w ≤ Weight, both powers of two. Weight is 0 if every
// weight is 1.
type Units struct{ Centre, Value, Weight float64 }

// mostExponent bounds the exponents of units: squares must not overflow.
const mostExponent = 400

// IsUnit reports whether v can be a unit: a power of two between 2^-400 and 2^400.
func IsUnit(v float64) bool {
	fraction, exponent := math.Frexp(v)
	return fraction == 0.5 && exponent >= -mostExponent && exponent <= mostExponent
}

// UnitFor returns the smallest power of two that is no less than v, 0 for 0.
func UnitFor(v float64) float64 {
	if v == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(v)
	if fraction == 0.5 {
		exponent--
	}
	return math.Ldexp(1, exponent)
}

// NewPlan returns the plan for points in [lo, hi] on the circle of the given period that begins at origin, with frequencies up
// to M = highest for F and 2M for E. It returns an error if grid points around lo or hi reach over an end of the circle.
func NewPlan(origin, period float64, highest int, lo, hi float64, units Units) (*Plan, error) {
	p := &Plan{spread: fourier.NewSpread(origin, period, 2*highest+1, over), highest: highest, units: units}
	width := p.spread.Width()
	need := float64(width) * period / float64(p.spread.Size())
	if have := min(lo-origin, origin+period-hi); !(have > need) {
		return nil, fmt.Errorf("the range from %v to %v keeps a distance of %.3g from the ends of the period, %v and %v,"+
			" and needs %.3g", lo, hi, have, origin, origin+period, need)
	}
	p.from = p.spread.First(lo)
	p.count = p.spread.First(hi) + width - p.from
	return p, nil
}

// Size returns the number of grid points on the circle, Width the number under a window, and Count the number kept.
func (p *Plan) Size() int  { return p.spread.Size() }
func (p *Plan) Width() int { return p.spread.Width() }
func (p *Plan) Count() int { return p.count }

// Bytes returns the memory of a Sum.
func (p *Plan) Bytes() int { return 8 * Words * p.count }

// Sum holds the sums: integers in two's complement, the lowest word first.
type Sum struct {
	N     uint64    // points
	Cells []uint64  // Words for each grid point, in units of 2^−Fraction
	YY    [4]uint64 // Σ w·y², in units of 2^−2·Fraction, or 2^−3·Fraction with weights
	LogW  [2]uint64 // Σ log w, in units of 2^−logFraction

	first []int // working memory of Add
	taps  []float64
	lanes []*Sum // working memory of AddAll, empty between calls
}

// New returns an empty sum.
func (p *Plan) New() *Sum { return &Sum{Cells: make([]uint64, Words*p.count)} }

// Reset makes s the sum of no points again.
func (s *Sum) Reset() {
	s.N, s.YY, s.LogW = 0, [4]uint64{}, [2]uint64{}
	clear(s.Cells)
}

// Clone returns a copy.
func (s *Sum) Clone() *Sum {
	return &Sum{N: s.N, Cells: slices.Clone(s.Cells), YY: s.YY, LogW: s.LogW}
}

// block is the number of points whose windows are computed at once: many, so that the processor overlaps them, but few enough
// for the first cache.
const block = 32

// piece is the number of points that a processor takes at a time.
const piece = 4096

// AddAll is Plan.Add on several processors. Each has a grid of its own, which is merged afterwards: that pays once it adds as
// many points as a quarter of the grid.
func (s *Sum) AddAll(p *Plan, t, y, w []float64) {
	lanes := max(1, min(runtime.GOMAXPROCS(0), len(t)/max(2*piece, p.count/4)))
	for len(s.lanes) < lanes-1 {
		s.lanes = append(s.lanes, p.New())
	}
	if lanes == 1 {
		p.Add(s, t, y, w)
		return
	}
	var next atomic.Int64
	parallel.For(lanes, func(lane int) {
		into := s
		if lane > 0 {
			into = s.lanes[lane-1]
		}
		for {
			from := piece * (int(next.Add(1)) - 1)
			if from >= len(t) {
				return
			}
			to := min(from+piece, len(t))
			if w == nil {
				p.Add(into, t[from:to], y[from:to], nil)
			} else {
				p.Add(into, t[from:to], y[from:to], w[from:to])
			}
		}
	})
	for _, lane := range s.lanes[:lanes-1] {
		s.Merge(lane)
		lane.Reset()
	}
}

// Add adds points t with values y and weights w, or 1 where w is nil. They must lie within the range and the units of the plan.
// It takes about 150 ns a point and does not allocate once warm. One goroutine at a time may add to a Sum.
func (p *Plan) Add(s *Sum, t, y, w []float64) {
	if len(y) != len(t) || (w != nil) != (p.units.Weight > 0) || w != nil && len(w) != len(t) || len(s.Cells) != Words*p.count {
		panic(fmt.Sprintf("exactsums: %d points, %d values, %d weights, %d grid points for %d",
			len(t), len(y), len(w), len(s.Cells)/Words, p.count))
	}
	width := p.Width()
	if s.taps == nil {
		s.first, s.taps = make([]int, block), make([]float64, block*width)
	}
	s.N += uint64(len(t))
	scale, weightScale := 1/p.units.Value, 0.0
	if w != nil {
		weightScale = 1 / p.units.Weight
	}
	for len(t) > 0 {
		n := min(block, len(t))
		p.spread.Taps(s.first, s.taps, t[:n])
		for i, yi := range y[:n] {
			v, u := (yi-p.units.Centre)*scale, 1.0
			if w == nil {
				s.square(v)
			} else {
				u = w[i] * weightScale
				s.weighted(v, u)
				s.log(w[i])
			}
			at := Words * (s.first[i] - p.from)
			deposit(s.Cells[at:at+Words*width], s.taps[i*width:][:width], u*unit, u*v*unit)
		}
		if t, y = t[n:], y[n:]; w != nil {
			w = w[n:]
		}
	}
}

// deposit adds the products of the taps with e ≥ 0 and f to the grid points of cells.
func deposit(cells []uint64, taps []float64, e, f float64) {
	for _, tap := range taps {
		c := (*[Words]uint64)(cells)
		cells = cells[Words:]
		var carry uint64
		c[0], carry = bits.Add64(c[0], uint64(tap*e), 0)
		c[1] += carry
		signed := int64(tap * f)
		c[2], carry = bits.Add64(c[2], uint64(signed), 0)
		c[3], _ = bits.Add64(c[3], uint64(signed>>63), carry)
	}
}

// square adds v², |v| ≤ 1.
func (s *Sum) square(v float64) {
	q := uint64(math.Abs(v) * unit)
	hi, lo := bits.Mul64(q, q)
	add(s.YY[:], lo, hi, 0)
}

// weighted adds u·v², |v| ≤ 1, 0 < u ≤ 1.
func (s *Sum) weighted(v, u float64) {
	q := uint64(math.Abs(v) * unit)
	hi, lo := bits.Mul64(q, q)
	w := uint64(u * unit)
	carry, first := bits.Mul64(lo, w)
	last, second := bits.Mul64(hi, w)
	second, c := bits.Add64(second, carry, 0)
	add(s.YY[:], first, second, last+c)
}

// logFraction is the number of bits after the point of a logarithm: |log w| < 2¹⁰.
const logFraction = 52

// log adds log w. With w = 2^k·m, √½ ≤ m < √2, z = (m−1)/(m+1), it is
// k·log 2 + 2z·(1 + z²/3 + z⁴/5 + …), from operations that round alike everywhere.
func (s *Sum) log(w float64) {
	m, k := math.Frexp(w)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	z := (m - 1) / (m + 1)
	zz := float64(z * z) // ≤ 0.03: eleven terms reach 1e-17
	sum := 0.0
	for j := 21; j > 0; j -= 2 {
		sum = float64(sum*zz) + 1/float64(j)
	}
	const one = 1 << logFraction
	log2 := int64(math.Round(math.Ln2 * one))
	v := int64(k)*log2 + int64(math.RoundToEven(2*z*sum*one))
	var c uint64
	s.LogW[0], c = bits.Add64(s.LogW[0], uint64(v), 0)
	s.LogW[1], _ = bits.Add64(s.LogW[1], uint64(v>>63), c)
}

// add adds three words to acc, of four.
func add(acc []uint64, a, b, c uint64) {
	var carry uint64
	acc[0], carry = bits.Add64(acc[0], a, 0)
	acc[1], carry = bits.Add64(acc[1], b, carry)
	acc[2], carry = bits.Add64(acc[2], c, carry)
	acc[3] += carry
}

// Merge adds o, of the same plan, to s.
func (s *Sum) Merge(o *Sum) {
	s.N += o.N
	pairs(s.Cells, o.Cells, bits.Add64)
	words(s.YY[:], o.YY[:], bits.Add64)
	words(s.LogW[:], o.LogW[:], bits.Add64)
}

// Holds reports whether s may contain the points of o, of the same plan: whether Subtract would leave the sum of no points, or
// a possible sum of some.
func (s *Sum) Holds(o *Sum) bool {
	if o.N > s.N {
		return false
	}
	none := o.N == s.N
	for i := 0; i < len(s.Cells); i += Words {
		a, b := s.Cells[i:i+Words], o.Cells[i:i+Words]
		lo, c := bits.Sub64(a[0], b[0], 0)
		hi, c := bits.Sub64(a[1], b[1], c)
		if c != 0 || none && (lo|hi|(a[2]^b[2])|(a[3]^b[3])) != 0 {
			return false
		}
	}
	yy := s.YY
	if words(yy[:], o.YY[:], bits.Sub64) != 0 {
		return false
	}
	return !none || yy == [4]uint64{} && s.LogW == o.LogW
}

// Subtract subtracts o, of the same plan, from s.
func (s *Sum) Subtract(o *Sum) {
	s.N -= o.N
	pairs(s.Cells, o.Cells, bits.Sub64)
	words(s.YY[:], o.YY[:], bits.Sub64)
	words(s.LogW[:], o.LogW[:], bits.Sub64)
}

// words sets a to op of the integers a and b, word by word, and returns the last carry.
func words(a, b []uint64, op func(x, y, carry uint64) (uint64, uint64)) (carry uint64) {
	for i := range a {
		a[i], carry = op(a[i], b[i], carry)
	}
	return carry
}

// pairs is words for integers of two words.
func pairs(a, b []uint64, op func(x, y, carry uint64) (uint64, uint64)) {
	if len(a) != len(b) {
		panic(fmt.Sprintf("exactsums: %d and %d words", len(a), len(b)))
	}
	for i := 0; i < len(a); i += 2 {
		words(a[i:i+2], b[i:i+2], op)
	}
}

// Moments returns the E_j, j = 0 … 2M. It takes an FFT of Size numbers.
func (p *Plan) Moments(s *Sum) fourier.Moments {
	return p.transform(s, 0, 2*p.highest, p.one())
}

// Values returns the F_j, j = 0 … M, of y − Centre. It takes an FFT of Size numbers.
func (p *Plan) Values(s *Sum) []float64 {
	return p.transform(s, 2, p.highest, p.units.Value*p.one())
}

// Totals returns E_0 = Σ w and F_0 = Σ w·(y − Centre). They are sums over the grid, which take no FFT and no memory.
func (p *Plan) Totals(s *Sum) (weight, value float64) {
	scale := p.spread.Gain() * p.one() / unit
	return scale * s.total(0), scale * p.units.Value * s.total(2)
}

// total adds up the words of the grid at offset, exactly, and rounds.
func (s *Sum) total(offset int) float64 {
	var sum [3]uint64
	for i := offset; i < len(s.Cells); i += Words {
		var carry uint64
		sum[0], carry = bits.Add64(sum[0], s.Cells[i], 0)
		sum[1], carry = bits.Add64(sum[1], s.Cells[i+1], carry)
		sum[2] += carry - s.Cells[i+1]>>63 // extends the sign
	}
	sign := 1.0
	if sum[2]>>63 == 1 { // −v is ¬v + 1
		var carry uint64 = 1
		for i := range sum {
			sum[i], carry = bits.Add64(^sum[i], 0, carry)
		}
		sign = -1
	}
	return sign * ((float64(sum[2])*(1<<64)+float64(sum[1]))*(1<<64) + float64(sum[0]))
}

// one is the unit of weights.
func (p *Plan) one() float64 {
	if p.units.Weight > 0 {
		return p.units.Weight
	}
	return 1
}

// transform returns the sums up to frequency m of the grid whose words are at offset.
func (p *Plan) transform(s *Sum, offset, m int, scale float64) []float64 {
	grid := make([]float64, p.count)
	for i := range grid {
		c := s.Cells[Words*i+offset:]
		grid[i] = scale / unit * signed(c[0], c[1])
	}
	dst := make([]float64, 2*(m+1))
	p.spread.Sums(dst, p.from, grid)
	return dst
}

// Squares returns Σ w·(y − Centre)².
func (p *Plan) Squares(s *Sum) float64 {
	v := 0.0
	for i := len(s.YY) - 1; i >= 0; i-- {
		v = v*(1<<64) + float64(s.YY[i])
	}
	v *= p.units.Value / unit * p.units.Value / unit
	if p.units.Weight > 0 {
		v *= p.units.Weight / unit
	}
	return v
}

// LogWeights returns Σ log w.
func (p *Plan) LogWeights(s *Sum) float64 {
	return signed(s.LogW[0], s.LogW[1]) / (1 << logFraction)
}

// signed returns the integer of two words, rounded.
func signed(lo, hi uint64) float64 {
	if hi>>63 == 1 {
		lo, hi = -lo, ^hi
		if lo == 0 {
			hi++
		}
		return -(float64(hi)*(1<<64) + float64(lo))
	}
	return float64(hi)*(1<<64) + float64(lo)
}

// Extent returns bounds on the points, as parts of the period: the grid points that they touch, less the width of a window. ok
// is false if there are none.
func (p *Plan) Extent(s *Sum) (first, last float64, ok bool) {
	i, j := 0, p.count-1
	empty := func(i int) bool { return s.Cells[Words*i]|s.Cells[Words*i+1] == 0 }
	for i <= j && empty(i) {
		i++
	}
	for i <= j && empty(j) {
		j--
	}
	half := float64(p.Width()) / 2
	size := float64(p.Size())
	return (float64(p.from+i) + half - 1) / size, (float64(p.from+j) - half + 1) / size, i <= j
}
