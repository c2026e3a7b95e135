package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// division says how the mixed engine takes the terms of a kernel.
type division struct {
	waves     []wavePart
	rest      []basePart
	grid      int     // the term that is the base on a grid, −1
	layered   int     // the term that is taken in layers, −1
	p, moving float64 // columns, and those whose frequencies are parameters
	whole     float64 // columns without packets
	period    float64 // on which all waves can be
	highest   float64 // frequency, in cycles per unit
	widest    float64 // band that stays, in cycles per unit
	mixture   layer
}

// wavePart is a term of the kernel, or a layer of one, that is taken as waves.
type wavePart struct {
	index  int // among the terms of the kernel
	kernel waver
}

// basePart is one that is in the base.
type basePart struct {
	index  int
	kernel Kernel
}

// sameFamily reports whether p and q differ in their parameters alone.
func (p basePart) sameFamily(q basePart) bool {
	a, cut := p.kernel.(layer)
	b, also := q.kernel.(layer)
	return p.index == q.index && cut == also && (!cut || a.from == b.from && a.to == b.to)
}

// divide sets d to the terms of a kernel that are taken as waves, and to the rest. A term that dies out goes to the base if it
// takes many columns.
func (e *mixedExact) divide(d *division, m *compiled, eps float64) {
	e.divideBy(d, m, eps, e.gridTerm(m))
	if d.grid >= 0 && (len(d.rest) != 1 || d.p == 0) {
		e.divideBy(d, m, eps, -1)
	}
}

// divideBy is divide with the given term on a grid, −1: none.
func (e *mixedExact) divideBy(d *division, m *compiled, eps float64, grid int) {
	*d = division{waves: d.waves[:0], rest: d.rest[:0], grid: grid, layered: -1}
	for i, k := range m.split.signal {
		if of, ok := k.(layered); ok && d.layered < 0 {
			if d.mixture, ok = of.mixture(); ok {
				d.layered = i
				continue
			}
		}
		if w, ok := waverOf(k); !ok || i == grid || !e.takeWaves(d, i, w, eps) {
			d.rest = append(d.rest, basePart{i, k})
		}
	}
	if d.layered >= 0 {
		e.takeLayers(d, eps, 2*e.line.Span)
	}
}

// takeWaves adds a term as waves; false: it has its place in the base.
func (e *mixedExact) takeWaves(d *division, index int, w waver, eps float64) bool {
	room := e.rooms.Get()
	defer e.rooms.Put(room)
	period, bands := w.Bands((*room)[:0], e.line.Span, 0.5*eps)
	*room = bands
	whole, moves := 2*float64(waves.Count(bands)), w.PeriodParam() >= 0
	columns := whole
	if !moves {
		columns, _ = mixed.Packed(bands, e.line.Span/period, slopeShare*eps)
		for _, b := range bands {
			d.widest = max(d.widest, float64(b.To-b.From+1)/period)
		}
	}
	dies := func() bool { return index != d.layered && reach(w, 1e-16) < 0.1*e.line.Span }
	if bands == nil || columns > 0.25*float64(len(e.line.T)) && dies() {
		return false
	}
	d.waves = append(d.waves, wavePart{index, w})
	d.p += columns
	d.whole += whole
	d.period, d.highest = max(d.period, period), max(d.highest, float64(bands[len(bands)-1].To)/period)
	if moves {
		d.moving += columns
	}
	return true
}

// layerRatio is the ratio of the longest lengthscale of a layer to the shortest: the period of its waves is for the longest,
// their frequencies are for the shortest.
const layerRatio = 4

// takeLayers adds a mixture of lengthscales: the longest as waves, layer by layer, and those below a cut in the base or as waves,
// whichever is predicted to be faster.
func (e *mixedExact) takeLayers(d *division, eps, span float64) {
	k := d.mixture
	constant := k.scales.ConstantFrom(span, 0.1*eps)
	cut, inBase := e.cheapestCut(d, eps, constant)
	short := k.between(0, cut, false)
	if len(short.scales.Terms) > 0 && (inBase || !e.takeWaves(d, d.layered, short, eps)) {
		d.rest = append(d.rest, basePart{d.layered, short})
	}
	for from := cut; from < constant; from *= layerRatio {
		if of := k.between(from, min(constant, layerRatio*from), false); len(of.scales.Terms) > 0 {
			e.takeWaves(d, d.layered, of, eps)
		}
	}
	if of := k.between(max(cut, constant), math.Inf(1), true); of.scales.Weight() > 0 {
		e.takeWaves(d, d.layered, of, eps)
	}
}

// cheapestCut returns the lengthscale below which a mixture is taken in the base, or as waves of one period.
func (e *mixedExact) cheapestCut(d *division, eps, constant float64) (cut float64, inBase bool) {
	k, n, span := d.mixture, float64(len(e.line.T)), e.line.Span
	far := math.Sqrt(2 * math.Log(4/eps)) // in lengthscales
	columns := func(to, frequency float64) float64 {
		whole := 2 * frequency * (span + to*far)
		if whole > 2*mixed.WidestPacket {
			return whole
		}
		return min(whole, 2*frequency*span+far)
	}
	base := 0. // what the base has to reach
	for _, of := range d.rest {
		base = max(base, reach(of.kernel, negligible))
	}
	least := math.Inf(1)
	cut = constant // if nothing fits: more columns than the engine takes
	for at := constant; at > k.scales.Terms[len(k.scales.Terms)-1].Lengthscale/2; at /= 2 {
		p := d.p + 1
		for from := at; from < constant; from *= layerRatio {
			p += columns(layerRatio*from, far/(2*math.Pi*from))
		}
		cost := func(p, width float64) float64 {
			return n*(3*width*width+4*p*width+2*p*p) + p*p*p
		}
		if reach := max(base, at*far); reach < span {
			if c := cost(p, e.line.Neighbours(reach)+32); c < least {
				least, cut, inBase = c, at, true
			}
		}
		if cost(p, 0) >= least { // even without the columns of what is shorter
			continue
		}
		if short := k.between(0, at, false); len(short.scales.Terms) > 0 {
			_, f := short.scales.Circle(span, eps)
			p += columns(at, f)
		}
		if c := cost(p, 0); p < spectral.MostFeatures && c < least {
			least, cut, inBase = c, at, false
		}
	}
	return cut, inBase
}

// verifyLayers compares a mixture and its derivatives at one distance with the kernel's.
func (f *mixedFactor) verifyLayers() error {
	d := &f.division
	if d.layered < 0 {
		return nil
	}
	k, span := f.model.split.signal[d.layered], f.engine.line.Span
	v := variance(k)
	r := [1]float64{span * math.Pow(float64(1+verify.Pick(1<<20, f.Noise, v, span))/(1<<20), 3)}
	var sum, part, want [1]float64
	var slopes [2][]float64
	for i := range slopes {
		f.probe[i] = append(f.probe[i][:0], make([]float64, len(k.Params()))...)
		slopes[i] = f.probe[i]
	}
	one := [1]float64{1}
	add := func(index int, of Kernel) {
		if index == d.layered {
			of.Cov(part[:], r[:])
			sum[0] += part[0]
			of.Contract(slopes[0], one[:], r[:])
		}
	}
	for _, p := range d.waves {
		add(p.index, p.kernel)
	}
	for _, p := range d.rest {
		add(p.index, p.kernel)
	}
	k.Cov(want[:], r[:])
	if err := verify.Near("a sum of layers", sum[0], want[0], v*(waves.ScaleRounding+f.eps)); err != nil {
		return err
	}
	k.Contract(slopes[1], one[:], r[:])
	for p, want := range slopes[1] {
		if err := verify.Near("the derivative of a sum of layers", slopes[0][p], want, v*(1e-11+100*f.eps)); err != nil {
			return err
		}
	}
	return nil
}

// Where B is even noise, all terms take their waves from one circle: EᵀE and Eᵀz then follow from sums
// over the data that are computed once, as in the spectral engine, and an evaluation does not depend on n.

// maxSummed bounds the frequencies of the sums: 50 MB.
const maxSummed = 1 << 20

// circled returns the period of a circle that is long enough for the given one: of a few, so that sums are computed seldom.
func (e *mixedExact) circled(period float64) float64 {
	const each = 4 // to a factor of two
	return e.line.Span * math.Exp2(math.Ceil(each*math.Log2(period/e.line.Span)-1e-9)/each)
}

// circleFor returns the period of the circle for a division, and the highest frequency on it.
func (e *mixedExact) circleFor(d *division) (period, highest float64) {
	period = d.period
	if d.grid >= 0 {
		period = max(period, e.line.Span+2*rootGap(d.rest[0].kernel))
	}
	if d.moving > 0 {
		period = max(period, 2*e.line.Span)
	}
	period = e.circled(period)
	highest = d.highest * period
	if d.moving > 0 {
		highest += float64(mixed.LineReach(e.line.Span / period))
	}
	return period, highest
}

// summed reports whether sums over the data are faster than the data themselves.
func (e *mixedExact) summed(d *division) bool {
	if len(d.rest) > 0 || !e.line.Noise.Even() {
		return false
	}
	// A wide band could not be packed there, and took more columns on a longer period.
	if period, highest := e.circleFor(d); !(highest < maxSummed) || d.widest*period > mixed.WidestPacket {
		return false
	}
	direct, sums := e.costs(d)
	return sums < e.favour*direct
}

// sumSeconds is the time of the sums for a frequency of the circle.
const sumSeconds = 2e-6

// costs predicts the seconds that EᵀE takes from the data, and from sums, a share of computing these included even if they are
// known.
func (e *mixedExact) costs(d *division) (direct, sums float64) {
	n, passes := float64(len(e.line.T)), 1.0
	if !e.line.Noise.Even() {
		passes = 2
	}
	direct = passes*n*d.p*(d.p+2*d.moving)/(2*choice.FlopRate) + passes*n*(d.whole+d.moving)*4e-9
	period, highest := e.circleFor(d)
	whole, lines := e.onCircle(d, period)
	setup := e.sums.Pass(300e-9) + highest*sumSeconds
	return direct, (whole+2*lines)*whole*2e-9 + whole*d.p*packetWidth/choice.FlopRate + setup/choice.EvaluationsAhead
}

// onCircle returns how many features the columns take on a circle, and how many of them those that move.
func (e *mixedExact) onCircle(d *division, period float64) (whole, lines float64) {
	if d.moving > 0 {
		lines = d.moving * float64(2*mixed.LineReach(e.line.Span/period)+1)
	}
	return period/d.period*(d.whole-d.moving) + lines, lines
}

// packetWidth is about how many columns a packet has.
const packetWidth = 24
