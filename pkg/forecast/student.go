package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// Student says that the observations scatter about the curve like Student's t: outliers then move neither the curve nor the noise
// of the other observations.
type Student struct {
	Nu float64 `json:"nu"` // degrees of freedom; 0 until they are learnt
}

// errStudent says that a model with Student-t noise takes no further observations.
var errStudent = errors.New("the weights of a model with Student-t noise are learnt from all observations")

const (
	studentParts  = 12   // Gaussians in the noise of a forecast: its 2.5 % quantiles are within 2 % of the scale for ν ≥ 2
	mostStudent   = 5000 // number of latest observations from which ν is learnt
	studentRounds = 200
	farOff        = 2.5 // relative error over the typical one at which an observation is far off: its weight is then a sixth
)

// weigh returns the series to learn from: with Student-t noise it has the weights of the observations, and models are of y.
func (o *Options) weigh(ctx context.Context, s *Series) (*Series, error) {
	if s.Student == nil {
		return s, nil
	}
	o.Log = "never"
	return s.weighted(ctx)
}

// weighted returns the series with the degrees of freedom of its noise and the weights w of its observations, as relative errors
// w^−½. Models then learn the noise as the squared scale σ² of the distribution; an observation has σ²/w. Both come from a
// first model, a Matérn 3/2 with a linear trend, which a state space takes in O(n): observe.FitRobust.
func (s *Series) weighted(ctx context.Context) (*Series, error) {
	if s.Counting != nil || s.Bounds != nil || s.Errors != nil && s.Student.Nu == 0 {
		return nil, errors.New("forecast: Student-t noise is not combined with counts, bounds or known errors")
	}
	plain := *s
	plain.Errors, plain.Relative, plain.Student = nil, false, nil
	n := len(s.X)
	v, err := newYScale(&plain, 0, n, false)
	if err != nil {
		return nil, err
	}
	span := s.X[n-1] - s.X[0]
	mean, err := policyMean(stationary{}, "linear", v.data.X)
	if err != nil {
		return nil, err
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: max(0.1*span, 2*s.Step)}, Noise: 0.1, Mean: mean}
	settings := observe.RobustSettings{MaxRounds: studentRounds, Tolerance: 1e-4, Fit: gppl.Settings{MaxEvaluations: 20}}
	from := max(0, n-mostStudent)
	robust, err := observe.FitRobust(ctx, m, latest(v.data, n-from), settings)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	out := *s
	out.Student, out.ErrorName, out.Relative = &Student{Nu: robust.Nu}, "", true
	out.Errors = slices.Repeat([]float64{1}, from) // earlier observations count as not far off
	for _, w := range robust.Weights {
		out.Errors = append(out.Errors, 1/math.Sqrt(w))
	}
	return &out, nil
}

// spreadNoise returns a part once for each Gaussian of Student-t noise with the given squared scale; the variance at the j-th
// place is wider(j) times that of the Gaussian.
func (s *Student) spreadNoise(p Part, scale2 float64, wider func(j int) float64) (parts []Part) {
	variances, weights := observe.StudentNoise{Nu: s.Nu, Scale2: scale2}.Mixture(studentParts)
	for c, noise := range variances {
		q := p
		q.Weight *= weights[c]
		q.NoisyVar = make([]float64, len(p.LatentVar))
		for j, latent := range p.LatentVar {
			q.NoisyVar[j] = latent + wider(j)*noise
		}
		parts = append(parts, q)
	}
	return parts
}

// note describes in a sentence how the values scatter.
func (s *Student) note(errs []float64) string {
	far, typical := 0, median(errs)
	for _, e := range errs {
		if e > farOff*typical {
			far++
		}
	}
	const nearlyNormal = 100 // degrees of freedom: 0.34 % are beyond three standard deviations; 0.27 % for a normal distribution
	if far == 0 && s.Nu >= nearlyNormal {
		return fmt.Sprintf("Observations scatter as a normal distribution does (Student's t with %.0f degrees of freedom); "+
			"none of %d is far off.", s.Nu, len(errs))
	}
	nu := fmt.Sprintf("%.2g", s.Nu)
	if s.Nu >= nearlyNormal {
		nu = fmt.Sprintf("%.0f", s.Nu)
	}
	off := fmt.Sprintf("%d of %d %s far off and %s for less", far, len(errs), text.Are(far), text.Does(far, "count"))
	return fmt.Sprintf("Observations scatter as Student's t with %s degrees of freedom; %s.", nu, off)
}
