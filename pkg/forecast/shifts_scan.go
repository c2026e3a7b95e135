package forecast

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// possibleShift is a shift at an observation, as a factor sees it.
type possibleShift struct {
	at    int
	slope bool
	score float64    // see findShifts
	plain float64    // score without pulses
	norm  float64    // cᵀA⁻¹c
	rest  float64    // cᵀPc
	pulse [2]float64 // coefficients of c on the changes of the observations at − 1 and at
}

// clearest returns the shift with the largest score that is not at the place of a known one. It takes n³/3 flops.
func (f *factor) clearest(known []series.Shift) (best possibleShift) {
	n, v := len(f.x), f.rows()
	row := func(i int) []float64 { return v.Data[i*v.Stride:][:n] } // row i is zero before place i
	alpha := f.alpha
	var all [2][]possibleShift                           // possible steps, then kinks, the latest first
	step, kink := make([]float64, n), make([]float64, n) // Σ V_i and Σ (x_i−x_t)V_i, from t on
	var level, slope float64                             // Σ α, Σ (x−x_t)α
	for t := n - 1; t > 0; t-- {
		gap := 0.0
		if t < n-1 {
			gap = f.x[t+1] - f.x[t]
		}
		slope += gap * level
		level += alpha[t]
		floats.AddScaled(kink, gap, step)
		floats.Add(step[t:], row(t)[t:])
		// The products of the step and of the kink at t with the observations t−1 and t, and of those with one another.
		var steps, kinks [2]float64
		var pulses [2][2]float64
		for k := range 2 {
			at := row(t - 1 + k)
			steps[k], kinks[k] = floats.Dot(at[t:], step[t:]), floats.Dot(at[t:], kink[t:])
			for l := range 2 {
				pulses[k][l] = floats.Dot(at[t-1:], row(t - 1 + l)[t-1:])
			}
		}
		levels, slopes := floats.Dot(step[t:], step[t:]), floats.Dot(kink[t:], kink[t:])
		if t < beside || t > n-beside || f.x[t] == f.x[t-1] {
			continue
		}
		for kind, s := range []struct {
			slope         bool
			project, norm float64
			cross         [2]float64
		}{{false, level, levels, steps}, {true, slope, slopes, kinks}} {
			if slices.ContainsFunc(known, func(c series.Shift) bool { return c.At == f.x[t] && c.Slope == s.slope }) {
				continue
			}
			if here, ok := scored(s.project, s.norm, s.cross, pulses, alpha[t-1:t+1]); ok {
				here.at, here.slope = t, s.slope
				all[kind] = append(all[kind], here)
			}
		}
	}
	for _, kind := range all {
		for i, here := range kind {
			if here.score <= best.score {
				continue
			}
			best = here
			for _, near := range kind[max(0, i-2):min(len(kind), i+3)] { // the pulses hide which of two neighbours it is
				if score := near.plain; score > best.plain {
					near.score = here.score
					best = near
				}
			}
		}
	}
	return best
}

// scored returns a shift with its score beside pulses at two observations; ok is false if these explain it.
func scored(project, norm float64, cross [2]float64, pulses [2][2]float64, alpha []float64) (s possibleShift, ok bool) {
	const least = 1e-8 // share of its norm
	det := pulses[0][0]*pulses[1][1] - pulses[0][1]*pulses[1][0]
	s.norm, s.plain = norm, project*project/norm
	s.pulse = [2]float64{
		(pulses[1][1]*cross[0] - pulses[0][1]*cross[1]) / det,
		(pulses[0][0]*cross[1] - pulses[1][0]*cross[0]) / det,
	}
	s.rest = norm - s.pulse[0]*cross[0] - s.pulse[1]*cross[1]
	z := project - s.pulse[0]*alpha[0] - s.pulse[1]*alpha[1]
	s.score = z * z / s.rest
	return s, det > 0 && s.rest > least*norm
}

// chanceOf returns the chance that a series without a shift has, at some place, a score of z² or more for a step or a kink, as
// clear as s. A score is the square of a weighted sum of white innovations. Its chance at one place is the chance of a normal sum
// and, where tails are heavy, of one innovation so large that it makes the score by itself. Innovations are distributed as e or,
// where one may make the score alone, as all: the innovations with the outliers, nil if there are none. The chances of all places
// are added.
func (f *factor) chanceOf(s possibleShift, z float64, e, all []float64) float64 {
	column := series.Shift{At: f.x[s.at], Slope: s.slope, Scale: 1}.Column(f.x)
	column[s.at-1] -= s.pulse[0]
	column[s.at] -= s.pulse[1]
	weights := f.whiten(column)
	places := 2 * float64(len(f.x)-2*beside)
	most := floats.Norm(weights, math.Inf(1)) / math.Sqrt(s.rest)
	const unlikely = 0.5 // nats
	const alone = 0.5    // weight from which one innovation may make a score alone
	if all != nil && most > alone {
		e = all
	}
	noise := observe.HeaviestNoise(e, unlikely)
	tail := distuv.StudentsT{Sigma: math.Sqrt(noise.Scale2), Nu: noise.Nu}
	return min(1, places*math.Erfc(z/math.Sqrt2)+places*2*tail.Survival(z/most))
}
