package series

import "math"

// A warp is a strictly increasing transformation z = g(y) of the observations that makes a Gaussian process a better model of
// them (Snelson, Rasmussen and Ghahramani 2004). The model is fitted to z, and log p(y) = log p(z) + Σ log g′(y). Quantiles of
// z transform to those of y by g⁻¹; means do not.
type Warp interface {
	Forward(y float64) float64  // g(y), NaN or ±Inf where y is outside the domain
	Inverse(z float64) float64  // g⁻¹(z)
	LogSlope(y float64) float64 // log g′(y)
}

// Warp is the transformation of the models of log y: the logarithm, or the log odds between bounds.
func (s *Series) Warp() Warp {
	if s.Bounds != nil {
		return s.Bounds
	}
	return logarithm{}
}

// logarithm is z = log y, for y > 0 with multiplicative effects.
type logarithm struct{}

func (logarithm) Forward(y float64) float64  { return math.Log(y) }
func (logarithm) Inverse(z float64) float64  { return math.Exp(z) }
func (logarithm) LogSlope(y float64) float64 { return -math.Log(y) }

// ends returns the places where the log odds are infinite.
func (b *Bounds) ends() (lo, hi float64) { return b.Lo - b.Beyond, b.Hi + b.Beyond }

// Forward is z = log((y − lo)/(hi − y)), for lo < y < hi, such as shares and percentages.
func (b *Bounds) Forward(y float64) float64 {
	lo, hi := b.ends()
	return math.Log(y-lo) - math.Log(hi-y)
}

// Inverse stays within the bounds.
func (b *Bounds) Inverse(z float64) float64 {
	lo, hi := b.ends()
	e := math.Exp(-math.Abs(z)) // from the nearer end, which keeps digits
	y := hi - (hi-lo)*e/(1+e)
	if z < 0 {
		y = lo + (hi-lo)*e/(1+e)
	}
	return min(max(y, b.Lo), b.Hi)
}

func (b *Bounds) LogSlope(y float64) float64 {
	lo, hi := b.ends()
	return math.Log(hi-lo) - math.Log(y-lo) - math.Log(hi-y)
}

// LogName names the scale that takes the place of log y; "" for log y itself.
func (s *Series) LogName() string {
	if s.Bounds != nil {
		return "log odds"
	}
	return ""
}
