package experiment

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// testLevel is the probability of contradicting the paper by chance: Holm's correction keeps the tests of all rows together below
// it. It is also the probability that a published number lies outside the interval of its row by chance.
const testLevel = 0.05

// A Test is a statistical test of a published number or claim against measurements on several draws.
type Test struct {
	Name string  `json:"name"`
	N    int     `json:"n"` // independent draws
	P    float64 `json:"p"` // before the correction
	Holm float64 `json:"holm"`

	Lo      float64 `json:"lo,omitempty"`      // for a published number: the interval that this test alone accepts
	Hi      float64 `json:"hi,omitempty"`      //
	Claim   bool    `json:"claim,omitempty"`   // a one-sided test of a claim, not of a number
	Support float64 `json:"support,omitempty"` // for a claim: the probability of as much evidence for it if it were false
}

// oneMore names the test of a published number.
const oneMore = "t test of one more draw"

// prediction tests whether x comes from the same distribution as sample: Student's t for one further normal number, two-sided.
// With log, for numbers that vary by factors, it takes logarithms if all numbers are positive.
func prediction(x float64, sample []float64, log bool) *Test {
	name := oneMore
	v := numeric.OnlyFinite(sample)
	if log && x > 0 && len(v) > 0 && slices.Min(v) > 0 {
		name += ", of logarithms"
		x = math.Log(x)
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	n := float64(len(v))
	if n < 2 {
		return nil
	}
	mean, sd := stat.MeanStdDev(v, nil)
	test := fromMoments(x, mean, sd, len(v))
	if test.Name = name; name != oneMore {
		test.Lo, test.Hi = math.Exp(test.Lo), min(math.Exp(test.Hi), math.MaxFloat64)
	}
	return test
}

// survival is the probability that Student's t with nu degrees of freedom exceeds t. Numbers without spread give an infinite t,
// or NaN if they are all at the limit, which is no evidence.
func survival(t, nu float64) float64 {
	switch {
	case math.IsNaN(t), t < -1e6: // gonum's tail is unreliable beyond 1e6
		return 1
	case t > 1e6:
		return 0
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Survival(t)
}

// zScore is how many standard deviations x lies above the mean of sample.
func zScore(x float64, sample []float64) float64 {
	mean, sd := stat.MeanStdDev(numeric.OnlyFinite(sample), nil)
	return (x - mean) / sd
}

// signs tests that a win is at least as likely as a loss: p is the probability of so few wins or fewer.
func signs(won, of int) *Test {
	if of == 0 {
		return nil
	}
	b := distuv.Binomial{N: float64(of), P: 0.5}
	return &Test{Name: "sign test, one-sided", N: of, P: b.CDF(float64(won)), Claim: true, Support: 1 - b.CDF(float64(won)-1)}
}

// above tests that the mean of v is at most limit, against its being larger, by Student's t.
func above(v []float64, limit float64) *Test {
	n := float64(len(v))
	if n < 2 {
		return nil
	}
	mean, sd := stat.MeanStdDev(v, nil)
	t := (mean - limit) / (sd / math.Sqrt(n))
	return &Test{Name: "t test of a mean over draws, one-sided", N: len(v), P: survival(t, n-1),
		Claim: true, Support: survival(-t, n-1)}
}

// worst combines the tests of the parts of a claim that must all hold: the smallest p times their number (Bonferroni). The
// support is that of the weakest part.
func worst(tests []*Test) *Test {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t *Test) bool { return t == nil })
	if len(tests) == 0 {
		return nil
	}
	least := *slices.MinFunc(tests, func(a, b *Test) int { return cmp.Compare(a.P, b.P) })
	least.P = min(1, least.P*float64(len(tests)))
	for _, t := range tests {
		least.Support = max(least.Support, t.Support)
	}
	if len(tests) > 1 {
		least.Name += fmt.Sprintf(", least of %d by Bonferroni", len(tests))
	}
	return &least
}

// holm returns the p values corrected for their number: however they depend on each other, the probability of any false rejection
// at a level is at most that level (Holm 1979).
func holm(p []float64) []float64 {
	out := make([]float64, len(p))
	most := 0.0
	for rank, i := range timeline.Ascending(p) {
		most = max(most, min(1, p[i]*float64(len(p)-rank)))
		out[i] = most
	}
	return out
}

// span is a 95 % interval of a quantity, and its middle.
type span struct{ mid, lo, hi float64 }

func (s span) String() string {
	return fmt.Sprintf("%s [%s, %s]", number(s.mid), number(s.lo), number(s.hi))
}

// resamples is the number of bootstrap resamples: its intervals are then accurate to about a percent of their width.
const resamples = 4000

// medianSpan returns the median of v and the interval between two of its values that holds the median of the distribution with a
// probability of at least 95 %, for any distribution (by the sign test). For fewer than six values it is their range.
func medianSpan(v []float64) span {
	s := slices.Sorted(slices.Values(v))
	if len(s) == 0 {
		return span{math.NaN(), math.NaN(), math.NaN()}
	}
	b, out := distuv.Binomial{N: float64(len(s)), P: 0.5}, 0 // values left out at each end
	for b.CDF(float64(out+1)) <= 0.025 {
		out++
	}
	return span{mid: median(s), lo: s[out], hi: s[len(s)-1-out]}
}

// nestedSpan returns the median of nested numbers, such as those of several Ω for each draw of the data, and its bootstrap
// interval: draws are resampled, and Ω within each.
func nestedSpan(groups [][]float64) span {
	all := slices.Concat(groups...)
	s := span{mid: median(all), lo: math.NaN(), hi: math.NaN()}
	if len(groups) < 2 {
		return s
	}
	rnd := rand.New(rand.NewPCG(1, 8))
	var medians, drawn []float64
	for range resamples {
		drawn = drawn[:0]
		for range groups {
			g := groups[rnd.IntN(len(groups))]
			for range g {
				drawn = append(drawn, g[rnd.IntN(len(g))])
			}
		}
		medians = append(medians, median(drawn))
	}
	slices.Sort(medians)
	s.lo, s.hi = medians[resamples/40], medians[resamples-1-resamples/40]
	return s
}

// withinShare is the share of the variance of nested numbers that lies within groups: 1 if the groups do not matter (one-way
// analysis of variance, groups of equal size).
func withinShare(groups [][]float64) float64 {
	var within, means []float64
	for _, g := range groups {
		within = append(within, stat.Variance(g, nil))
		means = append(means, stat.Mean(g, nil))
	}
	w := stat.Mean(within, nil)
	between := max(0, stat.Variance(means, nil)-w/float64(len(groups[0])))
	return w / (w + between)
}

// pairedDifferences returns a − b, pair by pair.
func pairedDifferences(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }

// fromMoments is prediction for a sample of n of which only the mean and the standard deviation are known.
func fromMoments(x, mean, sd float64, n int) *Test {
	nu, scale := float64(n)-1, sd*math.Sqrt(1+1/float64(n))
	half := scale * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(1-testLevel/2)
	return &Test{Name: oneMore, N: n, P: min(1, 2*survival(math.Abs(x-mean)/scale, nu)), Lo: mean - half, Hi: mean + half}
}
