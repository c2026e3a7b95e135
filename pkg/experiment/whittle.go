package experiment

import (
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// whittleTaper is the half-bandwidth of the taper, NW, of the trials that have one.
const whittleTaper = 4

// randomStarts is the number of random starts of ML and of Whittle on the sunspots.
func randomStarts(s scales.Scale) uint64 { return scales.Pick[uint64](s, 20, 2) }

// sunspotsByWhittle are the four kernels on the sunspots by the debiased Whittle likelihood, without a taper and with one. Paper:
// Adam from the paper's start. GPPL: L-BFGS from the paper's start and from random ones.
func sunspotsByWhittle(s scales.Scale, source Source) (trials []Trial) {
	for _, kernel := range KernelNames {
		for _, taper := range []float64{0, whittleTaper} {
			t := Trial{Protocol: Paper, Source: source, Kernel: kernel, Loss: Whittle, Optimiser: sunspotAdam, Taper: taper}
			trials = append(trials, t)
			t.Protocol, t.Optimiser = GPPL, quasiNewton
			for t.Start = 0; t.Start <= randomStarts(s); t.Start++ {
				trials = append(trials, t)
			}
		}
	}
	return trials
}

// SunspotsByWhittle selects the trials of Whittle on the sunspots by protocol, kernel, taper or none, and random starts or the
// paper's.
func SunspotsByWhittle(protocol, kernel string, taper, random bool) func(Trial) bool {
	return func(t Trial) bool {
		return t.Protocol == protocol && t.Kernel == kernel && t.Loss == Whittle && (t.Taper > 0) == taper && (t.Start > 0) == random
	}
}

// randomStart returns the model with parameters drawn from log-uniform distributions on a plausible box for standardised data:
// variances from 0.01 to 100 and noise variances from 1e-4 to 1 in units of the mean square of y, lengthscales from half the mean
// spacing to twice the range, periods from two spacings to the range, and shapes from 1e-3 to 100.
func randomStart(m gppl.Model, d gppl.Data, seed uint64) gppl.Model {
	lo, hi := d.X.Range(0)
	spacing := (hi - lo) / float64(d.Len())
	var power float64
	for _, y := range d.Y {
		power += y * y / float64(d.Len())
	}
	rnd := rand.New(rand.NewPCG(seed, 67))
	theta := m.Values()
	for i, p := range m.Params() {
		from, to := 1e-3, 1e2
		switch {
		case p.Role == gppl.RoleNoise:
			from, to = 1e-4*power, power
		case p.Role == gppl.RoleVariance:
			from, to = 1e-2*power, 1e2*power
		case p.Role == gppl.RolePeriod:
			from, to = 2*spacing, hi-lo
		case p.Unit == gppl.UnitX:
			from, to = spacing/2, 2*(hi-lo)
		}
		theta[i] = from * math.Pow(to/from, rnd.Float64())
	}
	return m.WithParams(theta)
}
