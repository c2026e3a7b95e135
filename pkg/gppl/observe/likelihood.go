package observe

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/mathext"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gammas"
)

// Likelihood is the distribution of an observation y given the latent value g = f(x): log p(y | g, size), concave in g. The
// size is the exposure of a count (its mean is size·eᵍ) or the number of trials of a share.
type Likelihood interface {
	// Check returns an error for an impossible y or size.
	Check(y, size float64) error
	// LogDensity returns log p(y | g) with its derivatives in g.
	LogDensity(y, size, g float64) Derivatives
	// Guess returns a g at which the expected observation is about y.
	Guess(y, size float64) float64
	// Mean returns E(y | g), Variance Var(y | g).
	Mean(size, g float64) float64
	Variance(size, g float64) float64
	// CDF returns P(Y ≤ y | g).
	CDF(y, size, g float64) float64
	fmt.Stringer
}

// Continuous is a likelihood of real y, such as waiting times: LogDensity is the log of a density, and quantiles and scores
// are over real numbers. The method does nothing.
type Continuous interface {
	Likelihood
	Continuous()
}

// Derivatives are a log density and its first three derivatives in g. D2 is negative.
type Derivatives struct{ Value, D1, D2, D3 float64 }

// Shaped is a likelihood with parameters of its own, which are learnt with the model's.
type Shaped interface {
	Likelihood
	Params() []gppl.Param
	WithParams(theta []float64) Likelihood
	// Slopes returns the derivatives of LogDensity in parameter p: of its value, and of D1 and D2. D3 is not used.
	Slopes(p int, y, size, g float64) Derivatives
}

var (
	_ Likelihood = Poisson{}
	_ Likelihood = Binomial{}
	_ Shaped     = NegBinomial{}
)

// Poisson counts events at the rate eᵍ: y ~ Poisson(size·eᵍ), size the exposure.
type Poisson struct{}

func (Poisson) String() string { return "Poisson" }

func (Poisson) Check(y, size float64) error { return checkCount(y, size) }

func (Poisson) LogDensity(y, size, g float64) Derivatives {
	mu := size * math.Exp(g)
	return Derivatives{logPoisson(y, size, g, mu), y - mu, -mu, -mu}
}

// logPoisson returns y·log μ − μ − log y!.
func logPoisson(y, size, g, mu float64) float64 {
	if y > mostTabulated {
		return gammas.LogGamma(y, g+math.Log(size/y)) - math.Log(y)
	}
	return y*(g+math.Log(size)) - mu - logFactorials[int(y)]
}

func (Poisson) Guess(y, size float64) float64    { return math.Log((y + 0.5) / size) }
func (Poisson) Mean(size, g float64) float64     { return size * math.Exp(g) }
func (Poisson) Variance(size, g float64) float64 { return size * math.Exp(g) }

func (Poisson) CDF(y, size, g float64) float64 {
	y = math.Floor(y)
	switch {
	case y < 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	case y < mostTabulated:
		return mathext.GammaIncRegComp(y+1, size*math.Exp(g))
	}
	_, above := gammas.GammaTails(y+1, g+math.Log(size/(y+1)))
	return above
}

// NegBinomial counts events whose rate varies more than f explains: Poisson with a gamma distributed rate about size·eᵍ. The
// variance is μ + μ²/Shape: the smaller the shape, the more overdispersed the counts.
type NegBinomial struct {
	Shape float64 // r > 0
}

func (l NegBinomial) String() string { return fmt.Sprintf("NegBinomial(shape=%.4g)", l.Shape) }

func (l NegBinomial) Check(y, size float64) error { return checkCount(y, size) }

func (l NegBinomial) LogDensity(y, size, g float64) Derivatives {
	r, mu := l.Shape, size*math.Exp(g)
	s, left, log, logLeft := logistics(g + math.Log(size/r)) // μ/(r + μ)
	d := Derivatives{D1: y*left - r*s, D2: -(y + r) * s * left}
	if s < 0.5 { // with a large r, μ has more digits than r·s
		d.D1, d.D2 = left*(y-mu), -(1+y/r)*mu*left*left
	}
	d.D3 = d.D2 * (left - s)
	switch {
	case y == 0 && s < 0.5: // −r·log(1 + μ/r)
		d.Value = -mu
		if q := mu / r; q > 0 {
			d.Value *= math.Log1p(q) / q
		}
	case y == 0:
		d.Value = r * logLeft
	case y > mostTabulated || r > mostTabulated:
		d.Value = gammas.LogBeta(y, r, g+math.Log(size/y)) - math.Log(y)
	default:
		d.Value = logRising(r, y) - logFactorials[int(y)] + y*log + r*logLeft
	}
	return d
}

func (NegBinomial) Guess(y, size float64) float64 { return math.Log((y + 0.5) / size) }
func (NegBinomial) Mean(size, g float64) float64  { return size * math.Exp(g) }
func (l NegBinomial) Variance(size, g float64) float64 {
	mu := size * math.Exp(g)
	return mu + mu*mu/l.Shape
}

func (l NegBinomial) CDF(y, size, g float64) float64 {
	if y < 0 {
		return 0
	}
	if math.IsInf(y, 1) {
		return 1
	}
	y = math.Floor(y) + 1
	return betaBelow(l.Shape, y, math.Log(y/size)-g)
}

// Params returns the shape, learnt by its logarithm.
func (l NegBinomial) Params() []gppl.Param {
	return []gppl.Param{{Name: "shape", Value: l.Shape, Transform: transform.Log{}}}
}

func (l NegBinomial) WithParams(theta []float64) Likelihood { return NegBinomial{theta[0]} }

func (l NegBinomial) Slopes(_ int, y, size, g float64) Derivatives {
	r := l.Shape
	s, left, _, logLeft := logistics(g + math.Log(size/r))
	z := y/r*left - s // (y − μ)/(r + μ)
	log := math.Log1p(y/r) + logLeft - z
	if s < 0.5 {
		z = (y - size*math.Exp(g)) / r * left
		log = gammas.Log1pLess(z)
	}
	return Derivatives{
		// ψ(r + y) − ψ(r) − log(1 + μ/r) + (μ − y)/(r + μ), whose terms are y/r and the sum about y/r²
		Value: gammas.PsiStep(r, y) + log,
		D1:    s * z,
		D2:    s * left * (y/r*(left-s) - 2*s),
	}
}

// Binomial counts the successes among size trials, each with the probability 1/(1 + e⁻ᵍ). With one trial it is Bernoulli's
// distribution, of 0 and 1.
type Binomial struct{}

func (Binomial) String() string { return "Binomial" }

func (Binomial) Check(y, size float64) error {
	if size != math.Trunc(size) {
		return fmt.Errorf("%v trials: want a whole number", size)
	}
	if err := checkCount(y, size); err != nil {
		return err
	}
	if y > size {
		return fmt.Errorf("%v successes in %v trials", y, size)
	}
	return nil
}

func (Binomial) LogDensity(y, size, g float64) Derivatives {
	p, left, log, logLeft := logistics(g)
	d2 := -size * p * left
	value := y*log + (size-y)*logLeft
	switch fails := size - y; {
	case y == 0 || fails == 0: // there is only one way
	case size > mostTabulated:
		value = gammas.LogBeta(y, fails, g-math.Log(y/fails)) + math.Log(size/y/fails)
	default:
		value += logFactorials[int(size)] - logFactorials[int(y)] - logFactorials[int(fails)]
	}
	return Derivatives{value, y*left - (size-y)*p, d2, d2 * (left - p)}
}

func (Binomial) Guess(y, size float64) float64    { return math.Log((y + 0.5) / (size - y + 0.5)) }
func (Binomial) Mean(size, g float64) float64     { return size * logistic(g) }
func (Binomial) Variance(size, g float64) float64 { return size * logistic(g) * logistic(-g) }

func (Binomial) CDF(y, size, g float64) float64 {
	switch y = math.Floor(y); {
	case y < 0:
		return 0
	case y >= size:
		return 1
	}
	return betaBelow(size-y, y+1, -g-math.Log((size-y)/(y+1)))
}

// betaBelow returns P(X ≤ x) at x/(1 − x) = eᵈ·a/b, where X has the beta distribution of a and b.
func betaBelow(a, b, d float64) float64 {
	if max(a, b) <= mostTabulated {
		return mathext.RegIncBeta(a, b, logistic(d+math.Log(a/b)))
	}
	below, _ := gammas.BetaTails(a, b, d)
	return below
}

func checkCount(y, size float64) error {
	switch {
	case !(size > 0) || math.IsInf(size, 1):
		return fmt.Errorf("a size of %v: want a positive number", size)
	case !(y >= 0) || y != math.Trunc(y) || math.IsInf(y, 1):
		return fmt.Errorf("%v is no count: want 0, 1, 2, …", y)
	}
	return nil
}

// logistic returns 1/(1 + e⁻ˣ).
func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// logistics returns p = 1/(1 + e⁻ˣ), 1 − p and the logs of both, to the last digits at both ends.
func logistics(x float64) (p, left, log, logLeft float64) {
	e := math.Exp(-math.Abs(x))
	p, left, log = 1/(1+e), e/(1+e), -math.Log1p(e)
	if logLeft = log - math.Abs(x); x < 0 {
		return left, p, logLeft, log
	}
	return p, left, log, logLeft
}

// mostTabulated is the largest argument for which factorials come from a table, and Γ from its logarithm: beyond, differences
// of these lose digits.
const mostTabulated = 200

// logFactorials holds log n! for n up to mostTabulated.
var logFactorials = func() (logs [mostTabulated + 1]float64) {
	for n := range logs {
		logs[n] = logGamma(float64(n) + 1)
	}
	return logs
}()

// logRising returns log Γ(r + n)/Γ(r), for whole n and r up to mostTabulated: a small number of factors by their product.
func logRising(r, n float64) float64 {
	const factors = 16
	if n > factors {
		return logGamma(r+n) - logGamma(r)
	}
	product := 1.0
	for k := range int(n) {
		product *= r + float64(k)
	}
	return math.Log(product)
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
