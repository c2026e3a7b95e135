package gppl

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

// waveTerm is a term of the kernel as waves, in working memory.
type waveTerm struct {
	mixed.Term
	kernel waver
	index  int               // index among the terms of the kernel
	bands  []capability.Band // bands of its coefficients
	slope  []float64         // derivatives in the coefficients
	param  int               // index of the period among its parameters, −1 for none
}

// expand sets the waves of all terms.
func (f *mixedFactor) expand() error {
	l := f.engine.line
	e := f.engine
	e.divide(&f.division, f.model, f.eps)
	if err := f.verifyLayers(); err != nil {
		return err
	}
	if err := f.base.compile(f.model, f.division.rest); err != nil {
		return err
	}
	if f.span = l.Span; e.tight && len(f.division.rest) > 0 { // for a posterior: as far from the data as the terms reach
		f.span = 2 * l.Span
	}
	frequencies := 0.
	f.terms = slices.Grow(f.terms[:0], len(f.division.waves))[:len(f.division.waves)]
	f.Reset(f.model.ctx, mixed.Series{T: l.T, Middle: l.Middle(), Columns: l.Columns})
	for i, of := range f.division.waves {
		w := &f.terms[i]
		w.kernel, w.index, w.param = of.kernel, of.index, of.kernel.PeriodParam()
		w.Period, w.bands = w.kernel.Bands(w.bands[:0], f.span, 0.5*f.eps)
		for _, b := range w.bands {
			frequencies += float64(b.To) - float64(b.From) + 1
		}
	}
	if len(f.division.rest) > 0 {
		f.which, _ = e.baseEstimate(&f.base, &f.division)
	}
	if grid := len(f.division.rest) > 0 && f.which == gridBase; grid || f.span == l.Span && e.summed(&f.division) {
		if err := f.setCircle(); err != nil {
			return err
		}
	}
	f.Lambda = l.Noise.Set(f.Lambda, len(l.T), f.Noise)
	for i := range f.terms {
		if err := f.setColumns(&f.terms[i]); err != nil {
			return err
		}
		if f.Columns() > spectral.MostFeatures {
			return tooManyWaves(f.span, frequencies)
		}
	}
	return nil
}

func tooManyWaves(span, frequencies float64) error {
	return fmt.Errorf("gppl: mixed engine: waves that represent the kernel over a range of %.3g would have about %.2g frequencies",
		span, frequencies)
}

// setCircle puts the waves of all terms on one circle, with sums over the data. Terms whose frequencies move keep their own
// period.
func (f *mixedFactor) setCircle() error {
	e := f.engine
	period, most := e.circleFor(&f.division)
	for i := range f.terms {
		if w := &f.terms[i]; w.param < 0 && w.Period > period { // happens for a posterior
			period = e.circled(w.Period)
		}
	}
	highest := int(most) + 1
	if f.division.grid >= 0 {
		highest = max(highest, int(rootFrequencies(f.division.rest[0].kernel, period)))
	}
	for i := range f.terms {
		w := &f.terms[i]
		if w.param >= 0 {
			continue
		}
		for j, b := range w.bands {
			w.bands[j] = capability.Band{From: int(math.Floor(float64(b.From) / w.Period * period)),
				To: int(math.Ceil(float64(b.To) / w.Period * period))}
			highest = max(highest, w.bands[j].To)
		}
		w.Period = period
	}
	c, err := e.sums.On(e.line.Middle(), period, highest)
	if err != nil {
		return err
	}
	f.circle = mixed.Circle{Period: c.Period, Moments: c.Moments, Columns: c.Columns, Squares: e.grid.yy}
	f.Circle = &f.circle
	return nil
}

// slopeShare is the share of eps that packets may leave out. A derivative, diag(UVUᵀ)/c, lacks products of the kept with the
// omitted part, and so errs by the root. With half of eps instead, derivatives in a period were off by 1.8 times their bound
// (TestRandomMeans, case 971).
const slopeShare = 5e-5

// setColumns sets the columns of a term, and checks them.
func (f *mixedFactor) setColumns(w *waveTerm) error {
	l := f.engine.line
	w.Bands = w.Bands[:0]
	for _, b := range w.bands {
		w.Bands = append(w.Bands, waves.Band(b))
	}
	w.Reset(w.Period, w.Bands, f.Columns())
	w.kernel.Coefficients(w.Coef, w.Period, w.bands)
	verify.Tampered("mixed coefficients", w.Coef)
	length := 2*f.span - l.Span // range of the times whose covariances are represented
	if _, worth := mixed.Packed(w.bands, length/w.Period, slopeShare*f.eps); worth && w.param < 0 {
		w.Pack(f.Ctx, length, slopeShare*f.eps*variance(w.kernel))
		for i := range w.Packets {
			verify.Tampered("mixed packets", w.Packets[i].Z.Data)
		}
	} else {
		w.TakeAll()
	}
	f.Add(&w.Term, w.param >= 0)
	if f.Circle != nil && w.param >= 0 {
		w.SetLines(f.Circle.Period, l.Span/f.Circle.Period)
		for j := range w.Lines {
			verify.Tampered("mixed lines", w.Lines[j].Waves[1])
			verify.Tampered("mixed lines", w.Lines[j].Moved[1])
		}
	}
	return f.verifyTerm(w)
}

// verifyTerm compares the sum of waves and its derivatives at one distance with the kernel's.
func (f *mixedFactor) verifyTerm(w *waveTerm) error {
	// A distance that shows both a short period and a long lengthscale.
	r := [1]float64{f.engine.line.Span * (0.25 +
		0.5*float64(verify.Pick(1<<20, f.Noise, w.Period, w.Coef[0]))/(1<<20)) / float64(1+len(w.Coef))}
	v := variance(w.kernel)
	w.slope = dense.Resize(w.slope, len(w.Coef))
	sum, moved := w.At(r[0], w.slope)
	count := f.model.split.end[w.index] - f.model.split.offset[w.index]
	f.probe[0], f.probe[1] = dense.Resize(f.probe[0], count), dense.Resize(f.probe[1], count)
	clear(f.probe[0])
	clear(f.probe[1])
	one := [1]float64{1}
	w.kernel.Contract(f.probe[0], one[:], r[:])
	w.kernel.ContractCoefficients(f.probe[1], w.slope, w.Period, w.bands)
	if w.param >= 0 {
		f.probe[1][w.param] += moved
	}
	steep := 1 + steepness(f.model.split.signal[w.index], f.engine.line.Span)
	var want [1]float64
	w.kernel.Cov(want[:], r[:])
	if err := verify.Near("a sum of waves", sum, want[0], v*(1e-12+2*f.eps+0x1p-50*steep)); err != nil {
		return err
	}
	if err := f.verifyPacked(w, r[0], v*(1e-12+2*f.eps+0x1p-50*steep)); err != nil {
		return err
	}
	for p, want := range f.probe[0] {
		if err := verify.Near("the derivative of a sum of waves", f.probe[1][p], want, v*steep*(1e-9+100*f.eps)); err != nil {
			return err
		}
	}
	return nil
}

// verifyPacked compares the products of columns at the start of the data and at the given distance from it, and at their
// end, with the kernel.
func (f *mixedFactor) verifyPacked(w *waveTerm, r, limit float64) error {
	if len(w.Packets) == 0 {
		return nil
	}
	if w.Size == 0 {
		return &Refusal{Engine: EngineMixed, Reason: "the coefficients of all waves of a term are 0 in float64"}
	}
	l := f.engine.line
	for _, at := range [...]float64{l.Lo + r, l.Lo + l.Span} {
		far := [1]float64{at - l.Lo}
		w.kernel.Cov(far[:], far[:])
		if err := verify.Near("a product of packets of waves", w.Between(l.Lo, at, l.Middle()), far[0], limit); err != nil {
			return err
		}
	}
	return nil
}
