package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// spectralExact is the exact likelihood of A = ΦCΦᵀ + σ²I, Φ (n×p) the features of a
// kernel, by the matrix determinant and inversion lemmas, from sums over the data
// computed once. (Weights in C are negative only where a window cuts a kernel that does
// not die out.) Value and gradient take 2p³/3 flops, half of them for the gradient,
// whatever n. The derivation is in internal/spectral.
//
// Known errors beside a noise variance that is learnt change the weights of the sums over
// the data with σ²: at one σ² they are w_i = σ²/λ_i, λ_i = σ²e_i² + s_i², and A = K + σ²W⁻¹
// is a case of the above. Sums are computed anew for each evaluation, O(n + M log M), and
// twice for a gradient: the weights of the derivative in log σ² are v_i = e_i²w_i² (spectral.Part),
// those of the derivative in the scale of the known errors s_i²w_i²/σ² = w_i − v_i, and their sums
// the difference of the two.
type spectralExact struct {
	spectralData
	tolerance float64        // nats per observation
	tight     bool           // for a posterior: as exact as a few frequencies more make it
	yy        blas64.General // CᵀC of the columns
	factors   parallel.Pool[spectralFactor]
}

func newSpectralExact(d observed.Source, o options) *spectralExact {
	e := &spectralExact{tolerance: o.tolerance, tight: o.posterior, yy: d.Squares()}
	e.Read(d)
	return e
}

func (e *spectralExact) name() string { return EngineSpectral }

// eps is what the coefficients that are left out may sum to, relative to the
// variance: 0.3·σ²/v times the tolerance keeps the value within it, and far within
// in practice. Where less takes few frequencies, as for a Gaussian spectrum, the
// gradient near an optimum is worth them, and a posterior the more.
func (e *spectralExact) eps(k Kernel, noise float64) float64 {
	least := 1e-14
	if c, ok := e.Circle(); ok {
		least = c.Least(e.Span, decay{k})
	}
	if e.tight && bandwidth(k, least)*e.Span < 600 {
		return least
	}
	loose := 0.3 * e.tolerance * e.Averaged(noise) / variance(k)
	if tight := loose / 150; bandwidth(k, tight)*e.Span < 300 {
		loose = tight
	}
	return min(0.01*e.tolerance, max(least, loose))
}

func (e *spectralExact) forecast(m *compiled) choice.Forecast {
	if !m.hasSignal() {
		return choice.Cannot(noSignal)
	}
	l, known := e.WithKnown()
	if !known {
		return e.predict(m.kernel, m.variance, m.noise)
	}
	if math.IsInf(bandwidth(m.kernel, 0.5), 0) {
		return choice.Cannot(observed.NoSpectrum) // before a sum over the data
	}
	f := e.predict(m.kernel, m.variance, l.AveragedKnown(m.noise))
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

// predict is the forecast for a kernel of variance v that has a signal.
func (e *spectralExact) predict(k Kernel, v, noise float64) choice.Forecast {
	n := float64(e.N)
	eps := e.eps(k, noise)
	noise = e.Averaged(noise)
	m, windowed, why := e.frequencies(k, eps)
	if why.Given() {
		return choice.Forecast{Reason: why}
	}
	p := 2*m - 1
	if p > maxDenseFeatures {
		return tooMany(m)
	}
	f := choice.Forecast{
		Bytes:   16 * triangle(int(p)),
		Seconds: spectralSeconds(p) + 1e-4,
		Setup:   e.Pass(300e-9) + m*1e-6,
		Err:     3*n*eps*v/noise + n*rounding(v, noise),
	}
	if f.Windowed = windowed; windowed { // weights of both signs cancel
		f.Err += n * n * rounding(v, noise) * v / noise
	}
	return f
}

// spectralSeconds is the time of value and gradient with p features.
func spectralSeconds(p float64) float64 { return (2*p*p*p/3)/(2*flopRate) + p*p*6e-9 }

// spectralFactor is T = LJLᵀ of one model.
type spectralFactor struct {
	spectral.Factor
	sums   *fourier.CircleSums
	engine *spectralExact // of the data with their weights
	home   *spectralExact // whose pool the factor is from
	view   reweighted     // the data, where the weights change with the noise variance
	kernel Kernel
}

func (e *spectralExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.home, f.kernel, f.Noise, f.Ctx = e, e, m.kernel, m.noise, m.ctx
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
	if f.sums, err = e.expand(&f.Expansion, f.kernel, e.eps(f.kernel, f.Noise)); err != nil {
		return err
	}
	if err := f.affordable(); err != nil {
		return err
	}
	f.Sums = spectral.Sums{N: e.N, Moments: f.sums.Moments, Columns: f.sums.Columns, Squares: e.yy}
	if err := f.Factorise(); err != nil {
		return notFactorised(f.kernel, f.Noise, err, "gppl: spectral engine: %v", err)
	}
	return nil
}

// surplus is how many times the predicted features there may be where a dense matrix of the data is smaller: the
// time grows with their cube. A bandwidth only estimates a spectrum that falls slowly, or to rounding.
const surplus = 2

// affordable returns a Refusal if there are many more features than were predicted, and than observations, so that
// other engines are faster by far.
func (f *spectralFactor) affordable() error {
	p, e := float64(len(f.Features)), f.engine
	if _, ok := e.Source.(*observed.Line); !ok || p <= 4*float64(e.N) || p <= leastFeatures {
		return nil
	}
	m, _, _ := e.frequencies(f.kernel, e.eps(f.kernel, f.Noise))
	if predicted := 2*m - 1; p > surplus*predicted {
		return &Refusal{Engine: EngineSpectral, Reason: fmt.Sprintf("it takes %.0f features for %d observations, where %.0f were predicted", p, e.N, predicted)}
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
	if err := f.verifyInverse(); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	if err := contractSeries(f.Series, grad[:last], f.Q, f.kernel); err != nil {
		return err
	}
	if l, known := f.home.WithKnown(); known {
		noise, err = f.noiseSlope(l, r, noise)
	}
	grad[last] = noise
	return err
}

// verifyInverse compares one entry of the diagonal of T⁻¹, which came from all of
// L⁻¹, with |L⁻¹e_i|² by a substitution; and h with a row of T made again from the
// moments.
func (f *spectralFactor) verifyInverse() error {
	p := len(f.Features)
	if p == 0 {
		return nil
	}
	i := f.picked()
	trust := verify.GradientTrust * math.Abs(f.Diag[i])
	if f.Negative < p { // squares of both signs have been added
		trust = verify.GradientTrust
	}
	if err := verify.Near("an entry of an inverse", f.Diag[i], f.Entry(i), trust); err != nil {
		return err
	}
	return f.Row(i, func(got, want, size float64) error {
		return verify.Near("a row of a linear system", got, want, verify.Backward*size)
	})
}

// picked returns the feature that checks look at.
func (f *spectralFactor) picked() int {
	return verify.Pick(len(f.Features), f.Noise, f.Root[0], f.G.Data[0])
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

// noiseSlope returns the derivative in log σ² of value and trace, as gradient does for even
// noise, whose result total is: that in the scale of all λ. It is an error if what σ² and what
// the known errors have of it do not add up to it, or if what is computed for σ² is wrong at one
// frequency or feature. Neither takes sums over the data.
func (f *spectralFactor) noiseSlope(l *observed.Line, r blas64.General, total float64) (slope float64, err error) {
	own, v := f.partOfNoise(l)
	if err := f.verifySums(own, v); err != nil {
		return 0, err
	}
	f.Fit(own)
	verify.Tampered("spectral traces", own.Traces)
	verify.Tampered("spectral fitted", own.Fitted.Data)
	if err := f.verifyFit(own); err != nil {
		return 0, err
	}
	rest := f.Rest(own)
	slope, known := f.Share(own, r), f.Share(rest, r)
	size := math.Abs(slope) + math.Abs(known) + float64(len(v))
	return slope, verify.Near("the derivative in the noise variance", slope+known, total, verify.GradientTrust*size)
}

// partOfNoise returns the part of σ² with its sums over the data, and their weights v.
func (f *spectralFactor) partOfNoise(l *observed.Line) (own *spectral.Part, v []float64) {
	line := f.view.line
	own, v = new(spectral.Part), make([]float64, len(line.Weights))
	for i, w := range line.Weights {
		share := l.Noise.Weight(i) * w
		v[i] = share * w
		own.Diagonal += share
	}
	line.Weights = v
	own.Squares = line.Squares()
	own.Moments, own.Columns = line.Sums(f.sums.Origin, f.sums.Period, f.Highest())
	verify.Tampered("spectral part", own.Moments)
	return own, v
}

// sumsTrust is the relative error beyond which a sum over the data counts as wrong. What it is
// compared with errs by the rounding of phases, some thousands of turns.
const sumsTrust = 1e-9

// verifySums compares the sums of a part, with the given weights, at one frequency, all columns together, with what
// they are term by term.
func (f *spectralFactor) verifySums(part *spectral.Part, weights []float64) error {
	line, c := &f.view.line, f.H.Cols
	along := make([]float64, c)
	for j := range along {
		along[j] = statespace.Direction(j + 1)
	}
	combine := func(columns []float64) (sum float64) {
		for j, v := range columns[:len(along)] {
			sum += along[j] * v
		}
		return sum
	}
	m := verify.Pick(part.Columns.Rows/2, f.Noise, f.Root[0], f.G.Data[0])
	turn := 2 * math.Pi * float64(m) / f.sums.Period
	var cosines, sines, squares, size float64
	for i, v := range weights {
		y := combine(line.Columns.Data[i*line.Columns.Stride:])
		sin, cos := math.Sincos(turn * (line.T[i] - f.sums.Origin))
		cosines += v * (1 + y) * cos
		sines += v * (1 + y) * sin
		squares += v * y * y
		size += v * math.Abs(1+y)
	}
	for _, sum := range []struct {
		feature fourier.Feature
		want    float64
	}{{fourier.Cos(m), cosines}, {fourier.Sin(m), sines}} {
		got := part.Moments[sum.feature] + combine(part.Columns.Data[int(sum.feature)*part.Columns.Stride:])
		if err := verify.Near("a sum over the data with the weights of the noise", got, sum.want, sumsTrust*size); err != nil {
			return err
		}
	}
	var got float64
	for i := range c {
		got += along[i] * combine(part.Squares.Data[i*part.Squares.Stride:])
	}
	return verify.Near("the squares of the data with the weights of the noise", got, squares, sumsTrust*squares)
}

// verifyFit compares a part's value for the feature that verifyInverse checks with the
// result of substitutions.
func (f *spectralFactor) verifyFit(part *spectral.Part) error {
	if len(f.Features) == 0 {
		return nil
	}
	i := f.picked()
	trace, size, gram := f.Again(part, i)
	if err := verify.Near("a part of a trace", part.Traces[i], trace, verify.GradientTrust*size); err != nil {
		return err
	}
	for j := range f.H.Cols {
		h := dense.Column(f.H, j)
		var size float64
		for a, g := range gram {
			size += math.Abs(g * h.Data[a*h.Inc])
		}
		if err := verify.Near("a row of a product", dense.Row(part.Fitted, i).Data[j], blas64.Dot(dense.Vec(gram), h), sumsTrust*size); err != nil {
			return err
		}
	}
	return nil
}
