package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// division says how the mixed engine represents the terms of a kernel.
type division struct {
	waves     []wavePart
	rest      []basePart
	grid      int     // index of the term that is the base on a grid, −1 for none
	layered   int     // index of the term represented in layers, −1 for none
	p, moving float64 // numbers of columns, and of those whose frequencies are parameters
	whole     float64 // number of columns without packets
	period    float64 // period that suits all waves
	highest   float64 // highest frequency, in cycles per unit
	widest    float64 // widest band that stays, in cycles per unit
	mixture   layer
}

// wavePart is a term of the kernel, or a layer of one, represented by waves.
type wavePart struct {
	index  int // index among the terms of the kernel
	kernel waver
}

// basePart is a term, or a layer of one, in the base.
type basePart struct {
	index  int
	kernel Kernel
}

// sameFamily reports whether p and q differ only in the values of their parameters.
func (p basePart) sameFamily(q basePart) bool {
	a, cut := p.kernel.(layer)
	b, also := q.kernel.(layer)
	return p.index == q.index && cut == also && (!cut || a.from == b.from && a.to == b.to)
}

// divide sets d to the terms of a kernel to represent by waves, and to the rest. A term that decays goes to the base if it
// needs many columns.
func (e *mixedExact) divide(d *division, m *compiled, eps float64) {
	e.divideBy(d, m, eps, e.gridTerm(m))
	if d.grid >= 0 && (len(d.rest) != 1 || d.p == 0) {
		e.divideBy(d, m, eps, -1)
	}
}

// divideBy is divide with the given term on a grid, or none if grid is −1.
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

// takeWaves adds a term as waves. It returns false if the term belongs to the base.
func (e *mixedExact) takeWaves(d *division, index int, w waver, eps float64) bool {
	buffer := e.buffers.Get()
	defer e.buffers.Put(buffer)
	period, bands := w.Bands((*buffer)[:0], e.line.Span, 0.5*eps)
	*buffer = bands
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

// layerRatio is the ratio of the longest lengthscale of a layer to the shortest: the longest determines the period of its
// waves, the shortest their frequencies.
const layerRatio = 4

// takeLayers adds a mixture of lengthscales: the longest as waves, layer by layer, and those below a cut in the base or as
// waves, whichever has the lower estimate.
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

// cheapestCut returns the lengthscale below which a mixture goes to the base, or to waves of one period.
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
	base := 0. // the reach that the base needs
	for _, of := range d.rest {
		base = max(base, reach(of.kernel, negligible))
	}
	least := math.Inf(1)
	cut = constant // used if nothing fits: more columns than the engine supports
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
		if cost(p, 0) >= least { // it is too expensive even without the columns of shorter lengthscales
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

// With even noise, all terms use waves of one circle: EᵀE and Eᵀz then follow from sums over the data that are computed once,
// as in the spectral engine, and an evaluation does not depend on n.

// maxSummed bounds the frequencies of the sums: 70 MB, up to the rung above.
const maxSummed = 1 << 20

// circled returns the period of a circle at least as long as the given one. There are few such periods (fourier.Ladder).
func (e *mixedExact) circled(period float64) float64 {
	return e.line.Span * fourier.Ladder(period/e.line.Span, 4)
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
	// A wide band cannot be packed on a circle, and takes more columns on a longer period.
	if period, highest := e.circleFor(d); !(highest < maxSummed) || d.widest*period > mixed.WidestPacket {
		return false
	}
	direct, sums := e.costs(d)
	return sums < e.favour*direct
}

// sumSeconds is the time of the sums per frequency of the circle.
const sumSeconds = 2e-6

// costs estimates the seconds for EᵀE from the data, and from sums, including a share of computing these even if they are
// known.
func (e *mixedExact) costs(d *division) (direct, sums float64) {
	n, passes := float64(len(e.line.T)), 1.0
	if !e.line.Noise.Even() {
		passes = 2
	}
	direct = costs.Of(costs.MixedProduct, passes*n*d.p*(d.p+2*d.moving)) + costs.Of(costs.MixedWave, passes*n*(d.whole+d.moving))
	period, highest := e.circleFor(d)
	whole, lines := e.onCircle(d, period)
	setup := e.sums.Pass(300e-9) + highest*sumSeconds
	return direct, costs.Of(costs.MixedSum, (whole+2*lines)*whole) + costs.Of(costs.MixedProduct, whole*d.p*packetWidth) +
		setup/choice.EvaluationsAhead
}

// onCircle returns the number of features for the columns on a circle, and how many of them belong to moving columns.
func (e *mixedExact) onCircle(d *division, period float64) (whole, lines float64) {
	if d.moving > 0 {
		lines = d.moving * float64(2*mixed.LineReach(e.line.Span/period)+1)
	}
	return period/d.period*(d.whole-d.moving) + lines, lines
}

// packetWidth is the usual number of columns of a packet.
const packetWidth = 24
