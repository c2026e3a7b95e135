package gppl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// Data is a validated set of n observations: inputs x and values y. Unless the model has a Mean, its mean is zero and y must
// be centred (dataset.Series.Standardize centres it).
type Data struct {
	X Inputs
	Y []float64 // length n
	// Errors are the known standard deviations s_i of the errors of individual observations (error bars), in the unit of y.
	// They add to the noise of the model: Cov(y) = K + σ²I + diag(s²). nil means none.
	Errors []float64
	// Relative are errors e_i known up to a common scale σ, which is learnt. The noise (White included) then has the variance
	// σ²e_i²: Cov(y) = K + σ²diag(e²) + diag(s²). They are positive and have no unit. nil means that all are 1.
	Relative []float64
	// Channels assigns each observation to a channel, such as an instrument: observation i belongs to
	// Model.Channels[Channels[i]], which defines how it depends on f. nil means no channels.
	Channels []int
	// Exposures are the lengths δ_i of exposures, in the unit of x: y_i is the average of f from x_i − δ_i/2 to x_i + δ_i/2, and
	// f(x_i) itself for 0. nil if there are none.
	Exposures []float64

	sums   *sums.Sums // replaces all fields above, see SumsData
	centre float64    // subtracted from the observations in sums
}

// NewData checks and pairs inputs and observations. It neither copies nor modifies them; losses, posteriors and projections
// copy what they keep. It returns an error that names the argument and the first bad index: no points, lengths that differ,
// NaN or infinite values.
func NewData(x Inputs, y []float64) (Data, error) {
	if err := x.check("x"); err != nil {
		return Data{}, err
	}
	if len(y) != x.Len() {
		return Data{}, fmt.Errorf("gppl: len(y) = %d, but x has %d points", len(y), x.Len())
	}
	if i := numeric.FirstNotFinite(y); i >= 0 {
		return Data{}, fmt.Errorf("gppl: y[%d] = %v is not finite", i, y[i])
	}
	return Data{X: x, Y: y}, nil
}

// String returns the number of observations, their range and mean, and the known errors, but no values.
func (d Data) String() string {
	if d.sums != nil {
		return d.sums.String()
	}
	if len(d.Y) == 0 {
		return "no observations"
	}
	s := fmt.Sprintf("%d observations from %.4g to %.4g, mean %.4g, at %v", len(d.Y), slices.Min(d.Y), slices.Max(d.Y),
		floats.Sum(d.Y)/float64(len(d.Y)), d.X)
	for _, known := range []struct {
		what string
		is   bool
	}{{"known errors", d.Errors != nil}, {"relative errors", d.Relative != nil}, {"channels", d.Channels != nil},
		{"exposures", d.Exposures != nil}} {
		if known.is {
			s += ", with " + known.what
		}
	}
	return s
}

// WithErrors returns the same observations with known standard deviations of their errors. It returns an error, with the
// index, if one is negative or not finite. If nothing is known about an observation, leave it out instead of giving it a huge
// error.
func (d Data) WithErrors(errors []float64) (Data, error) {
	d.Errors = errors
	return d, d.Check()
}

// WithRelativeErrors returns the same observations with errors e_i known up to a common scale: the noise variance of
// observation i is σ²e_i², where σ² is the noise variance of the model. For weights w, use e_i = 1/√w_i. A posterior's noisy
// band at a new input has e = 1. WithRelativeErrors returns an error, with the index, if an e_i is not positive and finite.
func (d Data) WithRelativeErrors(relative []float64) (Data, error) {
	d.Relative = relative
	return d, d.Check()
}

// WithChannels returns the same observations with observation i assigned to Model.Channels[of[i]]. It returns an error, with
// the index, if an of[i] is negative.
func (d Data) WithChannels(of []int) (Data, error) {
	d.Channels = of
	return d, d.Check()
}

// WithExposures returns the same observations as averages of f over exposures of the given lengths about x, which may overlap;
// a length of 0 means f(x) itself. It returns an error, with the index, if a length is negative or not finite.
func (d Data) WithExposures(lengths []float64) (Data, error) {
	d.Exposures = lengths
	return d, d.Check()
}

// takeSums names the functions that accept SumsData.
const takeSums = "NewExact, NewResidual, NewPosterior, Model.Periodogram and SpectralColumns"

// Check returns an error, with the first bad index, unless the data satisfy the conditions of NewData and of the methods With….
// All losses call it; losses that accept SumsData handle sums before they call it.
func (d Data) Check() error {
	if d.sums != nil {
		return errors.New("gppl: sums hold no single observations: " + takeSums + " take them")
	}
	if _, err := NewData(d.X, d.Y); err != nil {
		return err
	}
	for _, s := range [][]float64{d.Errors, d.Relative} {
		if s != nil && len(s) != len(d.Y) {
			return fmt.Errorf("gppl: %d errors are given for %d observations", len(s), len(d.Y))
		}
	}
	for i, s := range d.Errors {
		if !(s >= 0 && s*s <= math.MaxFloat64) {
			return fmt.Errorf("gppl: the known error of observation %d is %v: want a standard deviation, 0 or more", i, s)
		}
	}
	for i, e := range d.Relative {
		if !(e*e > 0 && 1/(e*e) > 0 && e > 0) {
			return fmt.Errorf("gppl: the relative error of observation %d is %v: want a positive, finite number", i, e)
		}
	}
	if d.Channels != nil && len(d.Channels) != len(d.Y) {
		return fmt.Errorf("gppl: channels are given for %d of %d observations", len(d.Channels), len(d.Y))
	}
	for i, c := range d.Channels {
		if c < 0 {
			return fmt.Errorf("gppl: channel[%d] = %d: want an index of Model.Channels", i, c)
		}
	}
	if d.Exposures != nil && len(d.Exposures) != len(d.Y) {
		return fmt.Errorf("gppl: exposures are given for %d of %d observations", len(d.Exposures), len(d.Y))
	}
	for i, e := range d.Exposures {
		if !(e >= 0 && e <= math.MaxFloat64) {
			return fmt.Errorf("gppl: exposure[%d] = %v: want a length, 0 or more", i, e)
		}
	}
	return nil
}

// leastMagnitude and mostMagnitude bound the magnitudes whose squares and inverse squares have full precision in float64, with
// a margin for sums and ratios.
const leastMagnitude, mostMagnitude = 1e-150, 1e150

// CheckUnits returns an error if squares of y or of distances within x overflow or vanish in float64: variances and
// lengthscales then cannot be computed.
func (d Data) CheckUnits() error {
	if err := d.X.checkUnit(); err != nil {
		return err
	}
	var most float64
	at := 0
	for i, y := range d.Y {
		if a := math.Abs(y); a > most {
			most, at = a, i
		}
	}
	if most > mostMagnitude || most > 0 && most < leastMagnitude {
		return fmt.Errorf("gppl: y[%d] = %v is the largest, and its square is beyond float64, as a variance would be: change the"+
			" unit of y", at, d.Y[at])
	}
	return nil
}

// clone returns a copy that nothing outside refers to, so a loss keeps the data as checked.
func (d Data) clone() Data {
	d.X, d.Y, d.Errors, d.Relative = d.X.clone(), slices.Clone(d.Y), slices.Clone(d.Errors), slices.Clone(d.Relative)
	d.Channels, d.Exposures = slices.Clone(d.Channels), slices.Clone(d.Exposures)
	if d.sums != nil {
		d.sums = d.sums.Clone()
	}
	return d
}

// knownVariances returns the squares of the known errors, nil if there are none.
func (d Data) knownVariances() []float64 { return squaresOf(d.Errors) }

func squaresOf(x []float64) []float64 {
	if x == nil {
		return nil
	}
	squares := make([]float64, len(x))
	for i, s := range x {
		squares[i] = s * s
	}
	return squares
}

// isEmpty reports whether d is Data{}. Data of Scalars(nil), which a caller may not intend, are not: they are an error.
func (d Data) isEmpty() bool {
	return d.sums == nil && d.X.d == 0 && d.Y == nil && d.Errors == nil && d.Relative == nil && !d.isViewed()
}

// isViewed reports whether the data have channels or exposures.
func (d Data) isViewed() bool { return d.Channels != nil || d.Exposures != nil }

// channel returns the index of observation i's channel, 0 without channels.
func (d Data) channel(i int) int {
	if d.Channels == nil {
		return 0
	}
	return d.Channels[i]
}

// Len returns n, the number of observations.
func (d Data) Len() int {
	if d.sums != nil {
		return d.sums.Len()
	}
	return len(d.Y)
}

// Pick returns the observations at the given indices, copied.
func (d Data) Pick(idx []int) Data {
	return Data{X: d.X.Pick(idx), Y: timeline.Pick(d.Y, idx), Errors: timeline.Pick(d.Errors, idx),
		Relative: timeline.Pick(d.Relative, idx), Channels: timeline.Pick(d.Channels, idx),
		Exposures: timeline.Pick(d.Exposures, idx)}
}

// rowNoise returns the noise of the data, in their order.
func (d Data) rowNoise() observed.Noise {
	return observed.NewNoise(squaresOf(d.Relative), d.knownVariances())
}

// Detrend subtracts from y its least-squares cubic in x, or a polynomial of lower degree if x has fewer distinct values. For
// inputs of several dimensions it subtracts the mean. Values that overflow float64 become ±[math.MaxFloat64].
func (d Data) Detrend() Data {
	rest := slices.Clone(d.Y)
	if y := floats.Norm(rest, math.Inf(1)); y > mostMagnitude { // sums would overflow
		scale := math.Exp2(-100)
		floats.Scale(scale, rest)
		rest = Data{X: d.X, Y: rest}.Detrend().Y
		for i, r := range rest {
			rest[i] = min(max(r/scale, -math.MaxFloat64), math.MaxFloat64)
		}
		return Data{X: d.X, Y: rest}
	}
	for _, q := range trend(d.X) {
		floats.AddScaled(rest, -floats.Dot(q, rest), q)
	}
	return Data{X: d.X, Y: rest}
}

// trend returns an orthonormal basis of the cubics in x, or of the polynomials that x distinguishes; in several dimensions, of
// the constants.
func trend(x Inputs) [][]float64 {
	if x.Dim() != 1 {
		return regress.Polynomials(make([]float64, x.Len()), 0)
	}
	return regress.Polynomials(x.at, 3)
}
