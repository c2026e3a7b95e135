package gppl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

var (
	_ Mean = Intercept{}
	_ Mean = Trend{}
	_ Mean = Linear{}
	_ Mean = Fourier{}
	_ Mean = Step{}
	_ Mean = Kink{}
	_ Mean = Regressor{}
	_ Mean = MeanSum{}
	_ Mean = GaussianBeta{}
)

// shortest renders v with as many digits as distinguish it from its neighbours.
func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// scalarTimes returns the coordinates of a time series, for a mean that is a function of it.
func scalarTimes(x Inputs, m Mean) ([]float64, error) {
	if x.Dim() != 1 {
		return nil, fmt.Errorf("gppl: the mean %v needs inputs of dimension 1, not %d", m, x.Dim())
	}
	return x.at, nil
}

// single returns the basis of one function of time.
func single(x Inputs, m Mean, f func(t float64) float64) (*mat.Dense, error) {
	ts, err := scalarTimes(x, m)
	if err != nil {
		return nil, err
	}
	h := mat.NewDense(len(ts), 1, nil)
	for i, t := range ts {
		h.Set(i, 0, f(t))
	}
	return h, nil
}

// Intercept is a constant, in any number of dimensions.
type Intercept struct{}

func (Intercept) Columns() []Column { return flats("intercept") }
func (Intercept) Check() error      { return nil }
func (Intercept) String() string    { return "intercept" }
func (Intercept) Basis(x Inputs) (*mat.Dense, error) {
	h := mat.NewDense(x.Len(), 1, nil)
	for i := range x.Len() {
		h.Set(i, 0, 1)
	}
	return h, nil
}

func (Intercept) slope([]float64, float64) {}

// Trend is a polynomial without its constant, by the Legendre polynomials P_1 to P_Degree of u = (2t − Lo − Hi)/(Hi − Lo),
// which are orthogonal on [Lo, Hi] and at most 1 there. The range is part of the mean, so a prediction continues the same
// polynomial; with a flat prior any range gives the same model. Beyond the range a polynomial grows like t to the power of its
// degree: use degree 1 for predictions far ahead.
type Trend struct {
	Degree int // 1 to 20
	Lo, Hi float64
}

const maxDegree = 20

// NewTrend returns the trend of the given degree on the range of x, or on [t − ½, t + ½]
// if all x are one t. It panics if x is empty or has more than one dimension.
func NewTrend(degree int, x Inputs) Trend {
	if x.Dim() != 1 || x.Len() == 0 {
		panic(fmt.Sprintf("gppl: NewTrend: %d inputs of dimension %d, want some of dimension 1", x.Len(), x.Dim()))
	}
	lo, hi := x.Range(0)
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	return Trend{degree, lo, hi}
}

func (m Trend) Columns() []Column {
	names := make([]string, m.Degree)
	for j := range names {
		names[j] = fmt.Sprint("trend ", j+1)
	}
	return flats(names...)
}

func (m Trend) Check() error {
	if m.Degree < 1 || m.Degree > maxDegree {
		return fmt.Errorf("gppl: a trend of degree %d: want 1 to %d", m.Degree, maxDegree)
	}
	if !numeric.IsFinite(m.Lo) || !numeric.IsFinite(m.Hi) || !(m.Lo < m.Hi) || !numeric.IsFinite(m.Hi-m.Lo) {
		return fmt.Errorf("gppl: a trend on the range %v to %v", m.Lo, m.Hi)
	}
	return nil
}

func (m Trend) String() string {
	return fmt.Sprintf("trend(%d on %s to %s)", m.Degree, shortest(m.Lo), shortest(m.Hi))
}

func (m Trend) Basis(x Inputs) (*mat.Dense, error) {
	ts, err := scalarTimes(x, m)
	if err != nil {
		return nil, err
	}
	h := mat.NewDense(len(ts), m.Degree, nil)
	for i, t := range ts {
		u := ((t - m.Lo) - (m.Hi - t)) / (m.Hi - m.Lo)
		before, p := 1.0, u
		for j := range m.Degree {
			h.Set(i, j, p)
			d := float64(j + 1)
			before, p = p, ((2*d+1)*u*p-d*before)/(d+1)
		}
	}
	return h, nil
}

// slope uses P′_(j+1) = P′_(j−1) + (2j + 1)·P_j.
func (m Trend) slope(dst []float64, t float64) {
	u, du := ((t-m.Lo)-(m.Hi-t))/(m.Hi-m.Lo), 2/(m.Hi-m.Lo)
	before, p := 1.0, u
	for j := range dst {
		d := float64(j + 1)
		if dst[j] = (2*d - 1) * before * du; j > 1 {
			dst[j] += dst[j-2]
		}
		before, p = p, ((2*d+1)*u*p-d*before)/(d+1)
	}
}

// Linear is the function t − Origin. With a Gaussian prior of variance v,
//
//	GaussianBeta{Of: Linear{Origin: c}, Variances: []float64{v}}
//
// it is equivalent to the linear kernel v·(t − c)(t′ − c) (Rasmussen and Williams
// 2006, section 4.2.2), which is not stationary and therefore not a Kernel here.
type Linear struct{ Origin float64 }

func (Linear) Columns() []Column { return flats("linear") }
func (m Linear) Check() error {
	if !numeric.IsFinite(m.Origin) {
		return fmt.Errorf("gppl: a linear mean with the origin %v", m.Origin)
	}
	return nil
}
func (m Linear) String() string { return fmt.Sprintf("linear(from %s)", shortest(m.Origin)) }
func (m Linear) Basis(x Inputs) (*mat.Dense, error) {
	return single(x, m, func(t float64) float64 { return t - m.Origin })
}

func (Linear) slope(dst []float64, _ float64) { dst[0] = 1 }

// Fourier is a fixed periodic function: cos 2πjt/Period and sin 2πjt/Period for j from 1 to Harmonics. For a pattern that
// drifts, use a Periodic or LocPer kernel.
type Fourier struct {
	Period    float64 // in the unit of x
	Harmonics int     // 1 to 100
}

const maxHarmonics = 100

func (m Fourier) Columns() []Column {
	var names []string
	for j := 1; j <= m.Harmonics; j++ {
		f := fmt.Sprintf("%d/%s", j, shortest(m.Period))
		names = append(names, "cos "+f, "sin "+f)
	}
	return flats(names...)
}

func (m Fourier) Check() error {
	if !(m.Period > 0) || math.IsInf(m.Period, 1) {
		return fmt.Errorf("gppl: a Fourier mean of the period %v: want a positive number", m.Period)
	}
	if m.Harmonics < 1 || m.Harmonics > maxHarmonics {
		return fmt.Errorf("gppl: a Fourier mean of %d harmonics: want 1 to %d", m.Harmonics, maxHarmonics)
	}
	return nil
}

func (m Fourier) String() string {
	return fmt.Sprintf("Fourier(period %s, %d harmonics)", shortest(m.Period), m.Harmonics)
}

func (m Fourier) Basis(x Inputs) (*mat.Dense, error) {
	ts, err := scalarTimes(x, m)
	if err != nil {
		return nil, err
	}
	h := mat.NewDense(len(ts), 2*m.Harmonics, nil)
	for i, t := range ts {
		phase := math.Mod(t, m.Period) / m.Period // the exact remainder keeps the digits of distant times
		for j := range m.Harmonics {
			sin, cos := math.Sincos(2 * math.Pi * float64(j+1) * phase)
			h.Set(i, 2*j, cos)
			h.Set(i, 2*j+1, sin)
		}
	}
	return h, nil
}

func (m Fourier) slope(dst []float64, t float64) {
	phase := math.Mod(t, m.Period) / m.Period
	for j := range m.Harmonics {
		sin, cos := math.Sincos(2 * math.Pi * float64(j+1) * phase)
		frequency := 2 * math.Pi * float64(j+1) / m.Period
		dst[2*j], dst[2*j+1] = -frequency*sin, frequency*cos
	}
}

// Step is a change of level at a known time: 0 before At, 1 from At on.
type Step struct{ At float64 }

func (m Step) Columns() []Column { return flats("step at " + shortest(m.At)) }
func (m Step) Check() error {
	if !numeric.IsFinite(m.At) {
		return fmt.Errorf("gppl: a step at %v", m.At)
	}
	return nil
}
func (m Step) String() string { return fmt.Sprintf("step(at %s)", shortest(m.At)) }
func (m Step) Basis(x Inputs) (*mat.Dense, error) {
	return single(x, m, func(t float64) float64 {
		if t < m.At {
			return 0
		}
		return 1
	})
}

func (Step) slope([]float64, float64) {}

// Kink is a change of slope at a known time: max(0, t − At).
type Kink struct{ At float64 }

func (m Kink) Columns() []Column { return flats("kink at " + shortest(m.At)) }
func (m Kink) Check() error {
	if !numeric.IsFinite(m.At) {
		return fmt.Errorf("gppl: a change of slope at %v", m.At)
	}
	return nil
}
func (m Kink) String() string { return fmt.Sprintf("kink(at %s)", shortest(m.At)) }
func (m Kink) Basis(x Inputs) (*mat.Dense, error) {
	return single(x, m, func(t float64) float64 { return max(0, t-m.At) })
}

func (m Kink) slope(dst []float64, t float64) {
	switch {
	case t > m.At:
		dst[0] = 1
	case t == m.At:
		dst[0] = 0.5
	}
}

// Regressor is a named column of the inputs (Inputs.WithColumn): a variable that affects y and is known at every observation and
// at every input of a prediction. Its values are not scaled. x may have any dimension.
type Regressor struct{ Name string }

func (m Regressor) Columns() []Column { return flats(m.Name) }
func (m Regressor) Check() error {
	if m.Name == "" {
		return fmt.Errorf("gppl: a regressor without a name")
	}
	return nil
}
func (m Regressor) String() string { return fmt.Sprintf("regressor(%s)", m.Name) }
func (m Regressor) Basis(x Inputs) (*mat.Dense, error) {
	values, ok := x.Column(m.Name)
	if !ok {
		have := "it has none"
		if names := x.ColumnNames(); names != nil {
			have = fmt.Sprintf("it has %q", strings.Join(names, ", "))
		}
		return nil, fmt.Errorf("gppl: the mean needs the column %q of x, but %s: give it by Inputs.WithColumn, for predictions too",
			m.Name, have)
	}
	return mat.NewDense(len(values), 1, append([]float64(nil), values...)), nil
}

func (Regressor) slope([]float64, float64) {}
