package gppl

import (
	"fmt"
	"math"
)

// NewExposures is NewChannels for observations that are averages over exposures:
//
//	y_i = a_c·δ_i⁻¹∫f(u)du + offset_c + ε_i,  x_i − δ_i/2 ≤ u ≤ x_i + δ_i/2,
//
// exposure[i] being δ_i, in the unit of x; 0 is f(x_i) itself. The likelihood and its gradient are exact, to rounding, in O(n·D³): the state
// of the kernel has the running integral beside it. All Slopes are 0. Exposures that overlap are an error, but for 1 % of the shorter one, by
// which the later is cut: times in files are rounded. It panics if lengths differ.
func NewExposures(m ChannelModel, d Data, channel []int, exposure []float64, opts ...Option) (*ChannelLikelihood, error) {
	if len(exposure) != d.Len() {
		panic(fmt.Sprintf("gppl: NewExposures: len(exposure) = %d, want len(d.Y) = %d", len(exposure), d.Len()))
	}
	return newChannels(m, d, channel, exposure, opts)
}

// mostOverlap is the share of an exposure by which it may overlap another.
const mostOverlap = 0.01

// exposures returns the ends of exposures as a line, and how long each is.
func exposures(m ChannelModel, x Inputs, exposure []float64) (*line, []float64, error) {
	for _, c := range m.Channels {
		if c.Slope != 0 {
			return nil, nil, fmt.Errorf("gppl: channel %q sees the derivative of f, and exposures see f alone", c.Name)
		}
	}
	ends := make([]float64, len(exposure))
	for i, e := range exposure {
		if !(e >= 0 && isFinite(e)) {
			return nil, nil, fmt.Errorf("gppl: exposure[%d] = %v: want a finite number, not negative", i, e)
		}
		ends[i] = x.At(i)[0] + 0.5*e
	}
	l := sortLine(Scalars(ends))
	at := func(i int) int {
		if l.order == nil {
			return i
		}
		return l.order[i]
	}
	lengths := make([]float64, len(exposure))
	for i := range lengths {
		lengths[i] = exposure[at(i)]
		if i == 0 {
			continue
		}
		overlap := lengths[i] - (l.t[i] - l.t[i-1])
		if shorter := min(lengths[i], exposure[at(i-1)]); overlap > mostOverlap*shorter+0x1p-50*math.Abs(l.t[i]) {
			return nil, nil, fmt.Errorf("gppl: the exposures at x[%d] = %v and x[%d] = %v overlap by %.3g: exposures one after another are needed",
				at(i-1), x.At(at(i - 1))[0], at(i), x.At(at(i))[0], overlap)
		}
		lengths[i] -= max(0, overlap)
	}
	return l, lengths, nil
}
