package observe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// waiting is a gamma distribution with the mean eᵍ and the given shape; with 1 it is exponential.
type waiting struct{ shape float64 }

func (l waiting) Continuous()    {}
func (l waiting) String() string { return fmt.Sprintf("Gamma(shape=%v)", l.shape) }

func (l waiting) Check(y, size float64) error {
	if !(y > 0) || math.IsInf(y, 1) {
		return fmt.Errorf("%v is no positive number", y)
	}
	return nil
}

func (l waiting) LogDensity(y, _, g float64) observe.Derivatives {
	constant, _ := math.Lgamma(l.shape)
	z := l.shape * y * math.Exp(-g)
	return observe.Derivatives{Value: l.shape*(math.Log(l.shape)-g) + (l.shape-1)*math.Log(y) - z - constant, D1: z - l.shape,
		D2: -z, D3: z}
}

func (l waiting) Guess(y, _ float64) float64    { return math.Log(y) }
func (l waiting) Mean(_, g float64) float64     { return math.Exp(g) }
func (l waiting) Variance(_, g float64) float64 { return math.Exp(2*g) / l.shape }

func (l waiting) CDF(y, _, g float64) float64 {
	if y <= 0 {
		return 0
	}
	return mathext.GammaIncReg(l.shape, l.shape*y*math.Exp(-g))
}

// TestContinuousLikelihood takes a likelihood of real numbers through the suite, training, quantiles, scores and the sampler.
func TestContinuousLikelihood(t *testing.T) {
	for _, shape := range []float64{1, 2.5} {
		l := waiting{shape}
		gppltest.CheckLikelihood(t, l, gppltest.Observation{Y: 0.3, Size: 1, G: 0.5}, gppltest.Observation{Y: 3, Size: 1, G: -0.5})
		one := observe.NewCounts(l, []float64{0.4}, []float64{0}, nil)
		exact := distuv.Gamma{Alpha: shape, Beta: shape / math.Exp(0.4)}
		for _, p := range []float64{0.05, 0.5, 0.99} {
			if q := testkit.Must(one.Quantile(t.Context(), p))(t)[0]; math.Abs(q/exact.Quantile(p)-1) > 1e-6 {
				t.Errorf("shape %v: the quantile of %v is %v, want %v", shape, p, q, exact.Quantile(p))
			}
		}
		if pit := testkit.Must(one.PIT(t.Context(), []float64{exact.Quantile(0.3)}, []float64{0.9}))(t)[0]; math.Abs(pit-0.3) > 1e-6 {
			t.Errorf("shape %v: the PIT of the quantile of 0.3 is %v", shape, pit)
		}
	}
	// Of an exponential distribution with mean m the CRPS of y is y + 2m·e^(−y/m) − 3m/2.
	score := testkit.Must(observe.NewCounts(waiting{1}, []float64{0, 0}, []float64{0, 0}, nil).CRPS(t.Context(), []float64{0.7, 40}))(t)
	for i, y := range []float64{0.7, 40} {
		if want := y + 2*math.Exp(-y) - 1.5; math.Abs(score[i]-want) > 1e-3 {
			t.Errorf("the CRPS of %v is %v, want %v", y, score[i], want)
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	var x, y []float64
	for i := range 120 {
		x, y = append(x, float64(i)), append(y, distuv.Gamma{Alpha: 2.5, Beta: 2.5 / math.Exp(math.Sin(float64(i)/10)),
			Src: rnd}.Rand())
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 10}, Noise: 1e-6, Mean: gppl.Intercept{}}.Fix(gppl.NoiseName)
	fit, err := observe.FitLaplace(t.Context(), m, d, waiting{2.5}, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	next, err := fit.Predict(t.Context(), gppl.Scalars([]float64{60.5}), nil)
	if err != nil {
		t.Fatal(err)
	}
	truth := math.Exp(math.Sin(6.05))
	if mean, _, _ := next.Expected(t.Context()); !(mean[0] > 0.5*truth && mean[0] < 2*truth) {
		t.Errorf("it expects %v, the truth is %v", mean[0], truth)
	}
	loss, err := gppl.NewMAP(fit.Loss, testkit.Must(m.DefaultPriors(t.Context(), fit.Loss.Guess()))(t)...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gppl.Fit(t.Context(), loss, nil, gppl.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := draws.Sample(t.Context(), loss, r, draws.SampleSettings{Chains: 2, Warmup: 100, Draws: 100})
	if err != nil || s.Divergent > 20 {
		t.Errorf("%v: %v", err, s)
	}
}
