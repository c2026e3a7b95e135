package gppl

import (
	"errors"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// onCircle is data whose sums are known on one circle only, up to a frequency, and
// whose noise variance is σ²/w.
type onCircle struct {
	*observed.Line
	fixed  observed.Circle
	weight float64
}

func (o onCircle) Circle() (observed.Circle, bool) { return o.fixed, true }
func (o onCircle) LogWeights() float64             { return float64(len(o.T)) * math.Log(o.weight) }

// TestFixedCircle: engines that know sums on one circle answer as those that may choose
// it, and refuse kernels that it does not resolve.
func TestFixedCircle(t *testing.T) {
	d := benchData(t, 200)
	for _, room := range []float64{0.5, 1.2} { // too short for a window, and long
		l := lineOf(d.X.at, d.Y)
		period := l.Span * (1 + room)
		o := onCircle{l, observed.Circle{Origin: l.Lo - 0.5*room*l.Span, Period: period, Highest: 400, Most: sums.MaxProjections,
			Resolves: "too long", Beyond: "frequency %v"}, 1.5}
		taken, windows := 0, 0
		for _, k := range []Kernel{SE{1, 50}, SE{1, 14}, SE{1, 3}, SE{1, 400}, RQ{1, 100, 1}, Periodic{1, 1, 300}} {
			for _, e := range []exactEngine{newSpectralExact(o, options{tolerance: defaultTolerance}), newGriddedExact(o)} {
				m := compiledAt(k, 0.1)
				f := e.estimate(m)
				if f.Reason.Given() {
					var refused *Refusal
					if _, err := newSpectralExact(o, options{tolerance: defaultTolerance}).factor(m); err != nil &&
						!errors.As(asRefusal(err), &refused) {
						t.Errorf("%v: %v is no refusal", k, err)
					}
					continue
				}
				taken++
				var logDet, extra float64
				value, err := nllBy(e, nil, k, 0.1, d.Len(), func(f exactFactor) {
					logDet, extra = f.logDet(), f.uncertainty(dense.AsColumn([]float64{1}))
					if s, ok := f.(*spectralFactor); ok && s.Series.Windowed() {
						windows++
					}
				})
				if err != nil {
					t.Fatal(k, err)
				}
				dense := newDenseExact(d.X, dense.AsColumn(d.Y), observed.Noise{})
				want, err := nllBy(dense, nil, k, 0.1, d.Len(), func(f exactFactor) { logDet -= f.logDet() })
				if err != nil {
					t.Fatal(err)
				}
				bound := f.Err + dense.estimate(m).Err + extra
				if off := math.Abs(value + 0.5*o.LogWeights() - want); off > bound {
					t.Errorf("%s of %v: off by %.2g, promised %.2g", e.name(), k, off, bound)
				}
				if off := math.Abs(logDet + o.LogWeights()); off > bound {
					t.Errorf("%s of %v: log|A| off by %.2g, promised %.2g", e.name(), k, off, bound)
				}
			}
		}
		if taken < 3 || (windows > 0) != (room > 1) {
			t.Errorf("room %v: %d taken, %d by windows", room, taken, windows)
		}
	}
}
