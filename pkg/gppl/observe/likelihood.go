package observe

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Likelihood is how an observation y arises from the latent value g = f(x): log p(y | g, size), concave in g. The size is the
// exposure of a count (its mean is size·eᵍ) or the number of trials of a share.
type Likelihood interface {
	// Check returns an error for a y or a size that cannot be.
	Check(y, size float64) error
	// LogDensity returns log p(y | g) with its derivatives in g.
	LogDensity(y, size, g float64) Derivatives
	// Guess returns a g at which y is about what is expected.
	Guess(y, size float64) float64
	// Mean returns E(y | g), Variance Var(y | g).
	Mean(size, g float64) float64
	Variance(size, g float64) float64
	// CDF returns P(Y ≤ y | g).
	CDF(y, size, g float64) float64
	fmt.Stringer
}

// Continuous is a likelihood of y that are not whole numbers, such as waiting times: LogDensity is the log of a density, and
// quantiles and scores are those of real numbers. The method does nothing.
type Continuous interface {
	Likelihood
	Continuous()
}

// Derivatives are a log density and its first three derivatives in g. D2 is negative.
type Derivatives struct{ Value, D1, D2, D3 float64 }

// Shaped is a likelihood with parameters of its own, which are learnt with those of the model.
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
	return Derivatives{y*(g+math.Log(size)) - mu - logFactorial(y), y - mu, -mu, -mu}
}

func (Poisson) Guess(y, size float64) float64    { return math.Log((y + 0.5) / size) }
func (Poisson) Mean(size, g float64) float64     { return size * math.Exp(g) }
func (Poisson) Variance(size, g float64) float64 { return size * math.Exp(g) }

func (Poisson) CDF(y, size, g float64) float64 {
	if y < 0 {
		return 0
	}
	return mathext.GammaIncRegComp(math.Floor(y)+1, size*math.Exp(g))
}

// NegBinomial counts events whose rate varies beyond what f explains: Poisson with a rate that is gamma distributed about
// size·eᵍ. The variance is μ + μ²/Shape: the smaller the shape, the more overdispersed the counts.
type NegBinomial struct {
	Shape float64 // r > 0
}

func (l NegBinomial) String() string { return fmt.Sprintf("NegBinomial(shape=%.4g)", l.Shape) }

func (l NegBinomial) Check(y, size float64) error { return checkCount(y, size) }

func (l NegBinomial) LogDensity(y, size, g float64) Derivatives {
	r := l.Shape
	s, left, log, logLeft := logistics(g + math.Log(size/r)) // μ/(r + μ)
	d2 := -(y + r) * s * left
	return Derivatives{logRising(r, y) - logFactorial(y) + y*log + r*logLeft, y - (y+r)*s, d2, d2 * (left - s)}
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
	return regIncBeta(l.Shape, math.Floor(y)+1, math.Log(l.Shape)-g-math.Log(size))
}

// Params is the shape, learnt by its logarithm.
func (l NegBinomial) Params() []gppl.Param {
	return []gppl.Param{{Name: "shape", Value: l.Shape, Transform: gppl.Log{}}}
}

func (l NegBinomial) WithParams(theta []float64) Likelihood { return NegBinomial{theta[0]} }

func (l NegBinomial) Slopes(_ int, y, size, g float64) Derivatives {
	r := l.Shape
	s, left, _, logLeft := logistics(g + math.Log(size/r))
	ds := -s * left / r
	return Derivatives{
		Value: mathext.Digamma(y+r) - mathext.Digamma(r) + logLeft + s - y*left/r, // 1 + log r − log(r + μ) − (y + r)/(r + μ)
		D1:    -s - (y+r)*ds,
		D2:    -s*left - (y+r)*(left-s)*ds,
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
	if size > 1 {
		value += logFactorial(size) - logFactorial(y) - logFactorial(size-y)
	}
	return Derivatives{value, y - size*p, d2, d2 * (left - p)}
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
	return regIncBeta(size-y, y+1, -g)
}

// regIncBeta is I_x(a, b) for x = logistic(z). Where one or both of a and b are large, the continued fraction of
// mathext.RegIncBeta does not converge, and what it returns is no probability. There, the approximation is that of Wise 1950 for
// a large b alone, to (a/b)², and of Peizer and Pratt 1968 for both, to 1e-6.
func regIncBeta(a, b, z float64) float64 {
	const alone, both = 1e6, 1e4
	switch {
	case b > alone*max(1, a):
		_, _, _, log := logistics(z) // of 1 − x
		return mathext.GammaIncReg(a, -(b+0.5*(a-1))*log)
	case min(a, b) > both:
		x, left, _, _ := logistics(z)
		n, s, t := a+b-1, b-0.5, a-0.5
		d := s + 1./6 - (n+1./3)*left + 0.02*(x/(s+0.5)-left/(t+0.5)+(x-0.5)/(n+1))
		return distuv.UnitNormal.CDF(d * math.Sqrt((1+x*peizerPratt(s/(n*left))+left*peizerPratt(t/(n*x)))/((n+1./6)*left*x)))
	}
	return mathext.RegIncBeta(a, b, logistic(z))
}

// peizerPratt is (1 − x² + 2x log x)/(1 − x)².
func peizerPratt(x float64) float64 {
	if e := 1 - x; math.Abs(e) < 1e-2 {
		return e * (1./3 + e*(1./6+e*(1./10+e*(1./15+e/21))))
	}
	if x == 0 {
		return 1
	}
	return (1 - x*x + 2*x*math.Log(x)) / ((1 - x) * (1 - x))
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

// logistic is 1/(1 + e⁻ˣ).
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

// logFactorials are those of the numbers up to 255.
var logFactorials = func() (logs [256]float64) {
	for n := range logs {
		logs[n] = logGamma(float64(n) + 1)
	}
	return logs
}()

// logFactorial is log n!, for whole n.
func logFactorial(n float64) float64 {
	if n < float64(len(logFactorials)) {
		return logFactorials[int(n)]
	}
	return logGamma(n + 1)
}

// logRising is log Γ(r + n)/Γ(r), for whole n: of few factors by their product.
func logRising(r, n float64) float64 {
	const factors = 16
	if n > factors || r > 1e15 {
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
