package series

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Counting says that the values of a series are counts, and how they depend on the latent value g that models describe.
type Counting struct {
	Likelihood string `json:"likelihood"` // poisson, negbinomial, binomial or bernoulli
	// Sizes are exposures of counts, or numbers of trials; nil means all 1. SizeName is their column. Forecasts use the last
	// size.
	Sizes    []float64 `json:"sizes,omitempty"`
	SizeName string    `json:"size_name,omitempty"`
	// Because is the reason for modelling the values as counts when no likelihood was named; "" if one was.
	Because string `json:"because,omitempty"`
}

// Likelihoods are the values of ReadOptions.Likelihood. "" and "gaussian" mean a normal distribution of y or of log y, "student"
// means Student's t (Series.Student).
var Likelihoods = []string{"auto", "gaussian", "student", "poisson", "negbinomial", "binomial", "bernoulli"}

// StartShape is the shape of a negative binomial distribution at which training begins: a variance of μ + μ²/3.
const StartShape = 3

// Distribution returns the likelihood with a shape; 0 means the start value.
func (c *Counting) Distribution(shape float64) observe.Likelihood {
	switch c.Likelihood {
	case "poisson":
		return observe.Poisson{}
	case "negbinomial":
		return observe.NegBinomial{Shape: cmp.Or(shape, StartShape)}
	case "binomial", "bernoulli":
		return observe.Binomial{}
	}
	panic("series: no likelihood of counts " + c.Likelihood)
}

// Varies reports whether the model has noise: a variation of each observation on the scale of g. A negative binomial distribution
// varies already, and single trials cannot show it.
func (c *Counting) Varies() bool { return c.Likelihood == "poisson" || c.Likelihood == "binomial" }

// Size returns the size of the i-th observation.
func (c *Counting) Size(i int) float64 { return SizeAt(c.Sizes, i) }

// SizeAt returns the i-th size; nil means all 1.
func SizeAt(sizes []float64, i int) float64 {
	if sizes == nil {
		return 1
	}
	return sizes[i]
}

// Part returns the counting of the observations from ≤ i < to.
func (c *Counting) Part(from, to int) *Counting {
	if c == nil || c.Sizes == nil {
		return c
	}
	p := *c
	p.Sizes = c.Sizes[from:to]
	return &p
}

// check returns an error for an impossible y or size.
func (c *Counting) check(y, size float64) error {
	err := c.Distribution(0).Check(y, size)
	if err != nil && c.Likelihood == "bernoulli" {
		return fmt.Errorf("%v is neither 0 nor 1", y)
	}
	return err
}

// countingNames name the likelihoods in a sentence.
var countingNames = map[string]string{
	"poisson": "counts with a Poisson distribution", "negbinomial": "counts with a negative binomial distribution",
	"binomial": "numbers of successes with a binomial distribution", "bernoulli": "events, 0 or 1, with a probability that changes",
}

// note says in a sentence how the values are modelled.
func (c *Counting) note(name string) dataset.Message {
	as, sizes := message("%s is modelled as %s", name, countingNames[c.Likelihood]), ""
	if c.Because != "" {
		as = message("%v, since %s: %v models them as any other values", as, c.Because,
			dataset.Setting{Field: "Likelihood", Value: "gaussian"})
	}
	if c.SizeName != "" {
		sizes = fmt.Sprintf(". Their sizes are in column %s; the forecast uses the last, %v", c.SizeName, c.Sizes[len(c.Sizes)-1])
	}
	return message("%v%s.", as, sizes)
}

// fewCounts is the median below which whole numbers may be counts whose distribution is far from normal. A normal distribution
// with mean and variance 20 has less than 1e-5 of its mass below 0.
const fewCounts = 20

// leastCounts is the smallest number of observations that guessCounting models as counts.
const leastCounts = 20

const (
	// counted is the smallest ratio, of the variance about neighbouring values to the mean, that guessCounting accepts. It is 1
	// for Poisson counts, and more if their rate changes; grades, ages and serial numbers have less.
	counted = 0.5
)

// guessCounting returns the counting of values that are plainly counts, nil for others. Counts are 0 and 1, or whole numbers from
// 0 with a median below fewCounts that scatter like counts: their variance about neighbours is about the mean or more, and so is
// their variance about the values one season earlier, since a schedule that repeats is no count. They are negative binomial if
// they scatter more than a Poisson distribution.
func guessCounting(y []float64) *Counting {
	if len(y) < leastCounts || slices.ContainsFunc(y, func(v float64) bool { return v < 0 || v != math.Trunc(v) }) {
		return nil
	}
	middle, n := numeric.UpperMedian(y), float64(len(y))
	ratio := scatter(y, 1)
	switch most := slices.Max(y); {
	case most == 1:
		return &Counting{Likelihood: "bernoulli", Because: "its values are 0 and 1"}
	case middle >= fewCounts || ratio < counted:
		return nil
	}
	late := y[max(0, len(y)-MostRemembered):]
	below := min(counted, 1-3*math.Sqrt(3/float64(len(late)))) // at least three standard errors below 1
	if lags := SeasonPeaks(late); len(lags) > 0 && scatter(late, lags[0]) < below {
		return nil
	}
	c := &Counting{Likelihood: "poisson", Because: fmt.Sprintf(
		"its values are whole numbers from 0 with a median of %v, scattered as counts are", middle)}
	// The ratio is 1 for a Poisson distribution, with a standard error of about √(3/n + 1/2S) for S events.
	if excess := ratio - 1; excess > 2*math.Sqrt(3/n+0.5/floats.Sum(y)) {
		c.Likelihood = "negbinomial"
	}
	return c
}

// scatter returns Σ (y_i − y_{i−lag})²/Σ (y_i + y_{i−lag}), which is 1 in expectation for Poisson counts whose rate repeats after
// lag. It returns 0 if all y are 0.
func scatter(y []float64, lag int) float64 {
	var squares, sums float64
	for i := lag; i < len(y); i++ {
		d := y[i] - y[i-lag]
		squares, sums = squares+d*d, sums+y[i]+y[i-lag]
	}
	if sums == 0 {
		return 0
	}
	return squares / sums
}

// CentreOf returns the latent value at which the observations add up to their expectation.
func (c *Counting) CentreOf(y []float64) float64 {
	var sum, size float64
	for i, v := range y {
		sum, size = sum+v, size+c.Size(i)
	}
	return c.Distribution(0).Guess(sum, size)
}
