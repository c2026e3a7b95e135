package observe

import (
	"fmt"
	"math"
	"strconv"

	"github.com/projected-likelihood/gppl/internal/finite"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// A Warp is a strictly increasing transformation z = g(y) of the observations that makes a
// Gaussian process a better model of them (Snelson, Rasmussen and Ghahramani 2004). The
// model is fitted to z. Densities of y include the Jacobian,
//
//	log p(y) = log p(z) + Σ_i log g′(y_i)    (LogJacobian),
//
// so losses of different warps are comparable after it is subtracted: NLL(z) −
// LogJacobian. Quantiles of z transform to those of y by g⁻¹; means do not (Warped). It is
// an immutable value.
type Warp interface {
	// Forward returns g(y); it is NaN or ±Inf where y is not inside the domain.
	Forward(y float64) float64
	// Inverse returns g⁻¹(z), the end of the domain where z is beyond the range of g.
	Inverse(z float64) float64
	// LogSlope returns log g′(y) for y inside the domain.
	LogSlope(y float64) float64
	// Check returns an error if a field is out of range.
	Check() error
	fmt.Stringer
}

var (
	_ Warp = LogWarp{}
	_ Warp = BoxCoxWarp{}
	_ Warp = LogitWarp{}
)

// LogWarp is z = log(y + Offset), for y > −Offset: effects that multiply.
type LogWarp struct{ Offset float64 }

func (w LogWarp) Forward(y float64) float64  { return math.Log(y + w.Offset) }
func (w LogWarp) Inverse(z float64) float64  { return math.Exp(z) - w.Offset }
func (w LogWarp) LogSlope(y float64) float64 { return -math.Log(y + w.Offset) }
func (w LogWarp) Check() error               { return checkOffset(w.Offset) }
func (w LogWarp) String() string             { return "log" + withOffset(w.Offset) }

func checkOffset(offset float64) error {
	if !finite.Is(offset) {
		return fmt.Errorf("observe: a warp with the offset %v", offset)
	}
	return nil
}

func withOffset(offset float64) string {
	if offset == 0 {
		return "(y)"
	}
	return fmt.Sprintf("(y + %s)", strconv.FormatFloat(offset, 'g', -1, 64))
}

// BoxCoxWarp is z = ((y + Offset)^Lambda − 1)/Lambda, log(y + Offset) for Lambda = 0, for
// y > −Offset (Box and Cox 1964): 1 leaves the shape of y as it is, ½ is a square root,
// −1 a reciprocal. Its range ends at −1/Lambda. The probability
// that a Gaussian has beyond this end is mapped to the end of the domain: −Offset for
// Lambda > 0, +Inf for Lambda < 0.
type BoxCoxWarp struct{ Lambda, Offset float64 }

// Forward is expm1(λ·log y)/λ, which keeps its digits as λ vanishes.
func (w BoxCoxWarp) Forward(y float64) float64 {
	if w.Lambda == 0 {
		return math.Log(y + w.Offset)
	}
	if y+w.Offset == 0 {
		return math.Inf(-1) // not in the domain
	}
	return math.Expm1(w.Lambda*math.Log(y+w.Offset)) / w.Lambda
}

func (w BoxCoxWarp) Inverse(z float64) float64 {
	if w.Lambda == 0 {
		return math.Exp(z) - w.Offset
	}
	if w.Lambda*z <= -1 {
		if w.Lambda > 0 {
			return -w.Offset
		}
		return math.Inf(1)
	}
	return math.Exp(math.Log1p(w.Lambda*z)/w.Lambda) - w.Offset
}

func (w BoxCoxWarp) LogSlope(y float64) float64 { return (w.Lambda - 1) * math.Log(y+w.Offset) }

func (w BoxCoxWarp) Check() error {
	if !finite.Is(w.Lambda) || math.Abs(w.Lambda) > 10 {
		return fmt.Errorf("observe: a Box–Cox warp with lambda %v: want −10 to 10", w.Lambda)
	}
	return checkOffset(w.Offset)
}

func (w BoxCoxWarp) String() string {
	return fmt.Sprintf("Box–Cox%s, lambda = %.4g", withOffset(w.Offset), w.Lambda)
}

// LogitWarp is z = log((y − Lo)/(Hi − y)), for Lo < y < Hi: shares and percentages.
type LogitWarp struct{ Lo, Hi float64 }

func (w LogitWarp) Forward(y float64) float64 { return math.Log(y-w.Lo) - math.Log(w.Hi-y) }

func (w LogitWarp) Inverse(z float64) float64 {
	e := math.Exp(-math.Abs(z)) // from the nearer end, for the digits
	if z < 0 {
		return w.Lo + (w.Hi-w.Lo)*e/(1+e)
	}
	return w.Hi - (w.Hi-w.Lo)*e/(1+e)
}

func (w LogitWarp) LogSlope(y float64) float64 {
	return math.Log(w.Hi-w.Lo) - math.Log(y-w.Lo) - math.Log(w.Hi-y)
}

func (w LogitWarp) Check() error {
	if !finite.Is(w.Lo) || !finite.Is(w.Hi) || !(w.Lo < w.Hi) || !finite.Is(w.Hi-w.Lo) {
		return fmt.Errorf("observe: a logit warp between %v and %v", w.Lo, w.Hi)
	}
	return nil
}

func (w LogitWarp) String() string {
	return fmt.Sprintf("logit on %v to %v", w.Lo, w.Hi)
}

// WarpData returns d with g(y) for y. It is an error, which names the index, if a value is
// not inside the domain of g, and an error if the observations have known errors.
func WarpData(w Warp, d gppl.Data) (gppl.Data, error) {
	if err := w.Check(); err != nil {
		return gppl.Data{}, err
	}
	if d.Errors != nil || d.Relative != nil {
		return gppl.Data{}, fmt.Errorf("observe: the observations have known errors, which are not normal any more under %v: warp the observations without them", w)
	}
	z := make([]float64, len(d.Y))
	for i, y := range d.Y {
		if z[i] = w.Forward(y); !finite.Is(z[i]) || !finite.Is(w.LogSlope(y)) {
			return gppl.Data{}, fmt.Errorf("observe: y[%d] = %v is not inside the domain of %v", i, y, w)
		}
	}
	return gppl.Data{X: d.X, Y: z}, nil
}

// LogJacobian returns Σ_i log g′(y_i), in nats.
func LogJacobian(w Warp, y []float64) (sum float64) {
	for _, v := range y {
		sum += w.LogSlope(v)
	}
	return sum
}

// Warped is a forecast of y, derived from one of z = g(y).
type Warped struct {
	Of   *draws.Mixture // of z
	Warp Warp
}

// Len returns the number of inputs.
func (f Warped) Len() int { return f.Of.Len() }

func (f Warped) back(z []float64) []float64 {
	for i, v := range z {
		z[i] = f.Warp.Inverse(v)
	}
	return z
}

// Quantile returns the quantiles of y at level p: g⁻¹ of those of z. The median, p = ½, is
// the point forecast of least absolute error.
func (f Warped) Quantile(p float64) []float64 { return f.back(f.Of.Quantile(p)) }

// Mean returns E g⁻¹(z), to 1e-10 for the warps of this package. The probability of z beyond the range of g counts at the
// end of the domain. The mean may be far above the median, and need not exist: for a Box–Cox warp of
// Lambda < 0 it is +Inf.
func (f Warped) Mean() []float64 {
	mean := meanOf(f.Warp)
	out := make([]float64, f.Len())
	for c, w := range f.Of.Weights {
		for i := range out {
			out[i] += w * mean(f.Of.Means[c][i], math.Sqrt(f.Of.Variances[c][i]))
		}
	}
	return out
}

// LogDensity returns the log densities of y, log p(g(y)) + log g′(y), in nats; −Inf outside
// the domain. It integrates to one less the probability that a Box–Cox warp has at the end of the domain.
func (f Warped) LogDensity(y []float64) []float64 {
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = f.Warp.Forward(v)
	}
	log := f.Of.LogDensity(z)
	for i, v := range y {
		if log[i] += f.Warp.LogSlope(v); !finite.Is(z[i]) {
			log[i] = math.Inf(-1)
		}
	}
	return log
}

// CRPS returns the continuous ranked probability scores at y, in the unit of y, from 256
// quantiles: 2·mean of (1[y < q] − p)·(q − y). It takes some milliseconds for each input.
func (f Warped) CRPS(y []float64) []float64 {
	if len(y) != f.Len() {
		panic(fmt.Sprintf("observe: Warped.CRPS: len(y) = %d for %d inputs", len(y), f.Len()))
	}
	const levels = 256
	out := make([]float64, len(y))
	for k := range levels {
		p := (float64(k) + 0.5) / levels
		for i, q := range f.Quantile(p) {
			if y[i] < q {
				out[i] += 2 * (1 - p) * (q - y[i]) / levels
			} else {
				out[i] += 2 * p * (y[i] - q) / levels
			}
		}
	}
	return out
}
