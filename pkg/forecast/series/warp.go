package series

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// Warp is a strictly increasing transformation z = g(y) of the observations that makes a Gaussian process a better model of them
// (Snelson, Rasmussen and Ghahramani 2004). The model is fitted to z, and log p(y) = log p(z) + Σ log g′(y). Quantiles of z
// transform to quantiles of y by g⁻¹; means do not.
type Warp interface {
	Forward(y float64) float64  // g(y), NaN or ±Inf where y is outside the domain
	Inverse(z float64) float64  // g⁻¹(z)
	LogSlope(y float64) float64 // log g′(y)
}

// Warp returns the transformation for models of log y: the logarithm, the log odds between bounds, or a root of censored amounts.
func (s *Series) Warp() Warp {
	switch b := s.Bounds; {
	case b == nil:
		return logarithm{}
	case b.Censored:
		return cut{b.Lo, b.Hi, max(1, b.Root)}
	default:
		return b
	}
}

// Cut returns the transformation for models of y itself: nil for none or, for censored values, one that ends at the bounds.
func (s *Series) Cut() Warp {
	if !s.Censored() {
		return nil
	}
	return cut{s.Bounds.Lo, s.Bounds.Hi, 1}
}

// cut is a root of the distance of y from its lower bound, or y itself as the first root. Its values end at the bounds.
type cut struct {
	lo, hi float64
	root   int
}

var _ draws.Ended = cut{}

func (c cut) Ends() (lo, hi float64) { return c.lo, c.hi }

func (c cut) Forward(y float64) float64 {
	if c.root == 1 {
		return y
	}
	return math.Pow(y-c.lo, 1/float64(c.root))
}

func (c cut) Inverse(z float64) float64 {
	if c.root > 1 {
		z = c.lo + math.Pow(max(0, z), float64(c.root))
	}
	return min(max(z, c.lo), c.hi)
}

func (c cut) LogSlope(y float64) float64 {
	if c.root == 1 {
		return 0
	}
	return (1/float64(c.root)-1)*math.Log(y-c.lo) - math.Log(float64(c.root))
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
	e := math.Exp(-math.Abs(z)) // measured from the nearer end, to keep digits
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

// LogName names the scale that replaces log y; "" for log y itself.
func (s *Series) LogName() string {
	switch b := s.Bounds; {
	case b == nil:
		return ""
	case b.Censored:
		return map[int]string{2: "square root", 3: "cube root", 4: "fourth root"}[b.Root]
	}
	return "log odds"
}
