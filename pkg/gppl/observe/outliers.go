package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Outliers tests the residuals of a fitted model against Gaussian noise.
type Outliers struct {
	// Z are the leave-one-out residuals, (y_i − mean)/standard deviation of y_i given all
	// other observations: N(0, 1) if the model is right.
	Z []float64
	// At are the indices of observations that the model cannot explain, most extreme first: with Gaussian noise, the probability of
	// even one |Z| as large among n is below 1 %.
	At []int
	// Gain is the improvement, in nats, of the log likelihood of Z by a Student-t distribution over a normal one, each with
	// its best scale. Nu is the degrees of freedom of the Student-t.
	Gain, Nu float64
	// P is the probability of at least this gain if Z is normal: ½·P(χ²₁ > 2·Gain), since the normal distribution is at the
	// end of the range of ν (Self and Liang 1987).
	P float64
}

// FindOutliers tests the noise of a model against heavy tails, from LeaveOut: it uses all residuals together and ignores their
// scale, since outliers inflate the learnt noise. The test treats the residuals as independent, which is nearly true.
func FindOutliers(ctx context.Context, m gppl.Model, d gppl.Data, opts ...gppl.Option) (_ *Outliers, err error) {
	defer parallel.Stopped(&err)
	if d.Len() < 5 {
		return nil, fmt.Errorf("observe: %d observations: a test for outliers wants five or more", d.Len())
	}
	mean, variances, err := gppl.LeaveOut(ctx, m, d, nil, opts...)
	if err != nil {
		return nil, err
	}
	o := &Outliers{Z: make([]float64, d.Len())}
	n := float64(d.Len())
	r2 := make([]float64, d.Len())
	var square float64
	for i, y := range d.Y {
		o.Z[i] = (y - mean[i]) / math.Sqrt(variances[i])
		r2[i] = o.Z[i] * o.Z[i]
		square += r2[i] / n
		if n*math.Erfc(math.Abs(o.Z[i])/math.Sqrt2) < 0.01 {
			o.At = append(o.At, i)
		}
	}
	slices.SortFunc(o.At, func(i, j int) int {
		return cmp.Compare(math.Abs(o.Z[j]), math.Abs(o.Z[i]))
	})
	if !(square > 0) {
		return nil, fmt.Errorf("observe: the residuals of %v are all 0", m)
	}
	if math.IsInf(square, 1) {
		return nil, fmt.Errorf("observe: observation %d is %.3g standard deviations off, and the sum of squares is beyond float64",
			o.At[0], o.Z[o.At[0]])
	}
	s, log := studentOf(ctx, r2, square)
	normal := -0.5 * n * (math.Log(2*math.Pi*square) + 1)
	o.Gain, o.Nu = max(0, log-normal), s.nu
	o.P = 0.5 * math.Erfc(math.Sqrt(o.Gain))
	if o.Gain == 0 {
		o.P = 1
	}
	return o, nil
}

// proposalP is the chance below which heavy tails are proposed.
const proposalP = 0.01

// Proposed reports whether Student-t noise (FitRobust) is advisable: P is below 1 %.
func (o *Outliers) Proposed() bool { return o.P < proposalP }

// String describes the result and recommends what to do.
func (o *Outliers) String() string {
	var b strings.Builder
	if o.Proposed() {
		fmt.Fprintf(&b, "the noise has heavy tails: Student-t noise of ν ≈ %.2g fits the leave-one-out residuals better by %.3g"+
			" nats (p = %.1g): use FitRobust", o.Nu, o.Gain, o.P)
	} else {
		fmt.Fprintf(&b, "no sign of heavy tails (p = %.2g)", o.P)
	}
	if len(o.At) > 0 {
		fmt.Fprintf(&b, "; %d of %d observations are more than Gaussian noise explains, the worst %.1f standard deviations off",
			len(o.At), len(o.Z), math.Abs(o.Z[o.At[0]]))
	}
	return b.String()
}
