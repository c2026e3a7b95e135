package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// spectralExact is the exact likelihood of A = ΦCΦᵀ + σ²I, Φ (n×p) the features of a kernel, by the matrix determinant and
// inversion lemmas, from sums over the data computed once. (Weights in C are negative only where a window cuts a kernel that does
// not die out.) Value and gradient take 2p³/3 flops, half of them for the gradient, whatever n. The derivation is in
// internal/spectral.
//
// Known errors beside a noise variance that is learnt change the weights of the sums over the data with σ²: at one σ² they are
// w_i = σ²/λ_i, λ_i = σ²e_i² + s_i², and A = K + σ²W⁻¹ is a case of the above. Sums are computed anew for each evaluation, O(n +
// M log M), and twice for a gradient: the derivative in log σ² has the weights v_i = e_i²w_i² (spectral.Factor.NoiseSlope). The
// derivative in the scale of the known errors has the weights s_i²w_i²/σ² = w_i − v_i, so its sums are the difference of the two.
type spectralExact struct {
	spectral.Data
	tolerance float64        // nats per observation
	tight     bool           // for a posterior: as exact as a few frequencies more make it
	yy        blas64.General // CᵀC of the columns
	factors   parallel.Pool[spectralFactor]
	buffers   parallel.Pool[[]capability.Band]
}

func newSpectralExact(d observed.Source, o options) *spectralExact {
	e := &spectralExact{tolerance: o.tolerance, tight: o.posterior, yy: d.Squares()}
	e.Read(d)
	return e
}

func (e *spectralExact) name() string { return EngineSpectral }

// eps bounds the sum of the coefficients that are left out, relative to the variance: 0.15·σ²/v times the tolerance keeps the
// value within it, in practice far within. Where a smaller one takes few more frequencies, as for a Gaussian spectrum, it is
// worth them for the gradient near an optimum, and even more for a posterior.
func (e *spectralExact) eps(k *decay, noise float64) float64 {
	least := 1e-14
	if c, ok := e.Circle(); ok {
		least = c.Least(e.Span, k)
	}
	if e.tight && k.Bandwidth(least)*e.Span < 600 {
		return least
	}
	loose := 0.15 * e.tolerance * e.Averaged(noise) / variance(k)
	if tight := loose / 150; k.Bandwidth(tight)*e.Span < 300 {
		loose = tight
	}
	return min(0.005*e.tolerance, max(least, loose))
}

func (e *spectralExact) estimate(m *compiled) choice.Estimate {
	if !m.hasSignal() {
		return choice.Cannot(noSignal)
	}
	l, known := e.WithKnown()
	if !known {
		return e.predict(m, m.noise)
	}
	if math.IsInf(bandwidth(m.kernel, 0.5), 0) {
		return choice.Cannot(observed.NoSpectrum) // before a sum over the data
	}
	f := e.predict(m, l.AveragedKnown(m.noise))
	if f.Reason.Given() {
		return f
	}
	if f.Windowed {
		return choice.Cannot("observations have errors of their own, and the kernel does not die out")
	}
	f.Setup = 0
	f.Seconds += 1.5*f.Seconds + 2*e.Pass(300e-9)
	return f
}

// predict is the estimate for a model with a signal and a noise variance, or what known errors average to.
func (e *spectralExact) predict(c *compiled, noise float64) choice.Estimate {
	k, v, n := &c.series, c.variance, float64(e.N)
	eps := e.eps(k, noise)
	noise = e.Averaged(noise)
	m, windowed, why := e.Frequencies(k, eps)
	if why.Given() {
		return choice.Estimate{Reason: why}
	}
	p, samples := e.features(c, eps, m, windowed)
	if p > spectral.MostFeatures {
		return spectral.TooMany(m)
	}
	left := max(0, 2*m-1-p)
	f := choice.Estimate{
		Bytes: 16 * triangle(int(p)),
		Seconds: spectral.Seconds(p) + costs.Of(costs.SpectralLeft, left*p) + costs.Of(costs.SpectralSample, samples) +
			costs.Of(costs.SpectralOnce, 1),
		Setup: e.Pass(300e-9) + m*1e-6,
		Err:   3*n*eps*v/noise + n*rounding(v, noise),
	}
	if f.Windowed = windowed; windowed { // weights of both signs cancel
		f.Err += n * n * rounding(v, noise) * v / noise
	}
	return f
}

// features predicts how many features of m frequencies have weight, and how many samples of the kernel its transform
// takes. The wider of the spectra of kernel and window decides, not their sum, by which m is chosen; a kernel with a rhythm has
// weight near its harmonics alone.
func (e *spectralExact) features(c *compiled, eps, m float64, windowed bool) (p, samples float64) {
	band := c.series.Bandwidth(eps)
	period, ok := (m-1)/band, false
	var fall float64
	if fixed, onCircle := e.Circle(); onCircle {
		period, ok = fixed.Period, true
	} else if p, _, err := spectral.Period(e.Span, &c.series, eps, true); err == nil {
		period, ok = p, true
	}
	if !ok {
		return 2*m - 1, 2 * m
	}
	if windowed {
		fall = windowFall * period / (period - 2*e.Span)
	}
	samples = 256
	for samples < 1.5*m {
		samples *= 2
	}
	buffer := e.buffers.Get()
	defer e.buffers.Put(buffer)
	count, wanted := band*period, 0.
	for _, k := range c.split.signal {
		w, ok := waverOf(k)
		if !ok {
			wanted = count
			break
		}
		own, bands := w.Bands((*buffer)[:0], e.Span, eps)
		if bands == nil {
			wanted = count
			break
		}
		*buffer = bands
		for _, b := range bands {
			wanted += float64(b.To-b.From+1)/own*period + 2*fall
		}
	}
	return min(2*m-1, 2*max(min(count, wanted), fall)+1), samples
}

// windowFall is how many frequencies the fall of a window takes, on a period of its length.
const windowFall = 36

// spectralFactor is T = LJLᵀ of one model.
type spectralFactor struct {
	spectral.Factor
	sums   *fourier.CircleSums
	engine *spectralExact // engine of the data with their weights
	home   *spectralExact // the engine whose pool the factor comes from
	view   reweighted     // the data, where the weights change with the noise variance
	kernel decay
}

func (e *spectralExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.home, f.kernel, f.Noise, f.Ctx = e, e, m.series, m.noise, m.ctx
	l, known := e.WithKnown()
	if known {
		f.view.weigh(l, options{tolerance: e.tolerance, posterior: e.tight}, m.noise)
		f.engine, f.Series = &f.view.engine, nil
	}
	if err := f.factorise(); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *spectralFactor) factorise() (err error) {
	e := f.engine
	if f.sums, err = e.Expand(&f.Expansion, &f.kernel, variance(&f.kernel), e.eps(&f.kernel, f.Noise)); err != nil {
		return err
	}
	if len(f.Features) == 0 {
		return &Refusal{Engine: EngineSpectral, Reason: "the coefficients of all waves are 0 in float64"}
	}
	if err := f.affordable(); err != nil {
		return err
	}
	f.Sums = spectral.Sums{N: e.N, Moments: f.sums.Moments, Columns: f.sums.Columns, Squares: e.yy}
	if err := f.Factorise(); err != nil {
		return notFactorised(f.kernel.Kernel, f.Noise, err, "gppl: spectral engine: %v", err)
	}
	return nil
}

// surplus is the largest accepted ratio of features to predicted features if a dense matrix of the data is smaller: the time
// grows with their cube. For a spectrum that falls slowly, or to rounding, a bandwidth is only an estimate.
const surplus = 2

// affordable returns a Refusal if there are many more features than were predicted, and than observations, so that
// other engines are faster by far.
func (f *spectralFactor) affordable() error {
	p, e := float64(len(f.Features)), f.engine
	if _, ok := e.Source.(*observed.Line); !ok || p <= 4*float64(e.N) || p <= leastFeatures {
		return nil
	}
	m, _, _ := e.Frequencies(&f.kernel, e.eps(&f.kernel, f.Noise))
	if predicted := 2*m - 1; p > surplus*predicted {
		return &Refusal{Engine: EngineSpectral,
			Reason: fmt.Sprintf("it takes %.0f features for %d observations, where %.0f were predicted", p, e.N, predicted)}
	}
	return nil
}

// leastFeatures take some hundredths of a second, whatever was predicted.
const leastFeatures = 1000

func (f *spectralFactor) release()        { f.home.factors.Put(f) }
func (f *spectralFactor) jitter() float64 { return 0 }
func (f *spectralFactor) logDet() float64 { return f.LogDet() - f.engine.LogWeights() }

func (f *spectralFactor) gram(g blas64.General) {
	f.Solve()
	verify.Tampered("spectral h", f.H.Data)
	f.Forms()
	dense.Copy(g, f.G)
}

func (f *spectralFactor) uncertainty(r blas64.General) float64 {
	return dense.Spread(dense.Vec(f.Errors), r)
}

func (f *spectralFactor) gradient(grad []float64, r blas64.General) (err error) {
	f.Invert()
	verify.Tampered("spectral diag", f.Diag)
	noise := f.Slopes(r)
	verify.Tampered("spectral q", f.Q)
	if err := f.Verify(); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	if err := spectral.ContractSeries(f.Series, grad[:last], f.Q, f.kernel.Kernel); err != nil {
		return err
	}
	if l, known := f.home.WithKnown(); known {
		noise, err = f.NoiseSlope(&f.view.line, &l.Noise, f.sums, r, noise)
	}
	grad[last] = noise
	return err
}

// reweighted is the data at one σ².
type reweighted struct {
	engine spectralExact // reads line
	line   observed.Line
}

// weigh takes the data of l with the noise variance σ².
func (v *reweighted) weigh(l *observed.Line, o options, noise float64) {
	v.line = *l
	v.line.Noise = observed.Noise{}
	v.line.Weights = make([]float64, len(l.T)) // a posterior may keep it
	for i := range v.line.Weights {
		v.line.Weights[i] = noise / (noise*l.Noise.Weight(i) + l.Noise.Known[i])
	}
	v.engine = spectralExact{tolerance: o.tolerance, tight: o.posterior, yy: v.line.Squares()}
	v.engine.Read(&v.line)
}
