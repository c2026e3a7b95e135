package forecast

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/words"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

const (
	// checked is the number of observations, the latest, that the residual checks factorise densely, in about a second.
	checked = 2500
	// maxDense is the number of observations up to which Components works: it needs a dense factor of all.
	maxDense = 4000
)

// factor is the factorised covariance A = K + HBHᵀ + σ²I of the latest observations. HBHᵀ is the covariance of the trend, if there is
// one.
type factor struct {
	model gppl.Model
	from  int // the first observation in it
	x, z  []float64
	chol  mat.Cholesky
	alpha *mat.VecDense // A⁻¹z
}

// factorise returns the factor of the latest observations, at most most; it keeps the last one.
func (a *Analysis) factorise(most int) (*factor, error) {
	if a.factor != nil && len(a.factor.x) == min(most, len(a.Series.X)) {
		return a.factor, nil
	}
	data, err := a.standardised()
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	a.factor, err = a.newFactor(a.Result.Model, data, most)
	return a.factor, err
}

// newFactor returns the factor of a model and the latest of all observations, at most most.
func (a *Analysis) newFactor(m gppl.Model, data gppl.Data, most int) (*factor, error) {
	f := &factor{model: m, from: max(0, data.Len()-most), x: a.Series.X, z: data.Y}
	f.x, f.z = f.x[f.from:], f.z[f.from:]
	n := len(f.x)
	gram := mat.NewSymDense(n, nil)
	row := make([]float64, n)
	for i := range n {
		r := row[:n-i]
		gppl.Covariance(r, m.Kernel, gppl.Scalars(f.x[i:i+1]), gppl.Scalars(f.x[i:]))
		noise := m.Noise + gppl.Nugget(m.Kernel)
		if data.Relative != nil {
			noise *= data.Relative[f.from+i] * data.Relative[f.from+i]
		}
		r[0] += noise
		if data.Errors != nil {
			r[0] += data.Errors[f.from+i] * data.Errors[f.from+i]
		}
		for j, v := range r {
			gram.SetSym(i, i+j, v)
		}
	}
	trend, err := a.trendBasis(m, f.x)
	if err != nil {
		return nil, err
	}
	if trend != nil {
		gram.SymRankK(gram, 1, trend)
	}
	if !f.chol.Factorize(gram) {
		return nil, errors.New("forecast: the covariance of the observations is singular to working precision: the learnt noise is too small")
	}
	f.alpha = mat.NewVecDense(n, nil)
	if err := f.chol.SolveVecTo(f.alpha, mat.NewVecDense(n, f.z)); err != nil {
		var bad mat.Condition
		if !errors.As(err, &bad) {
			return nil, fmt.Errorf("forecast: %w", err)
		}
	}
	return f, nil
}

// ErrCounts says that observations are counts.
var ErrCounts = errors.New("forecast: counts are not normal, so that there are no innovations to test; the forecasts of the past test the model")

// Residuals are the standardised innovations e = L⁻¹z, where A = LLᵀ: the difference between each observation and its prediction
// from those before it, divided by the standard deviation of that prediction. Under the model they are independent and N(0, 1), unlike
// leave-one-out residuals.
type Residuals struct {
	X, E []float64
	// Of is the number of observations in the series; only the latest 2500 are checked.
	Of int

	Mean, SD           float64
	Skewness, Kurtosis float64   // excess kurtosis
	Autocorrelation    []float64 // at lags 1, 2, …
	Band               float64   // 1.96/√n: if e is white, 95 % of the autocorrelations are within ±Band

	// LjungBox is n(n+2)Σ ρ_h²/(n−h) over the first LjungBoxLags lags, at most 20: with more lags it rejects white noise too often
	// (Ljung and Box 1978). Under the model it is approximately χ² with LjungBoxLags degrees of freedom. LjungBoxP is a little too
	// high, since the parameters were learnt from the same data.
	LjungBox     float64
	LjungBoxP    float64
	LjungBoxLags int
	// JarqueBera is n(skewness²/6 + kurtosis²/24), approximately χ² with two degrees of freedom for Gaussian e.
	JarqueBera  float64
	JarqueBeraP float64
}

// Residuals checks the model by its innovations. It takes n³/3 flops for n up to 2500.
func (a *Analysis) Residuals() (*Residuals, error) { return a.residuals(checked) }

// residuals checks the latest observations, at most most.
func (a *Analysis) residuals(most int) (*Residuals, error) {
	if a.Series.Counting != nil {
		return nil, ErrCounts
	}
	if _, err := a.room().windows(min(most, len(a.Series.X))); err != nil {
		return nil, err
	}
	f, err := a.factorise(most)
	if err != nil {
		return nil, err
	}
	n := len(f.x)
	var e mat.VecDense
	if err := e.SolveVec(f.chol.RawU().T(), mat.NewVecDense(n, f.z)); err != nil {
		var bad mat.Condition
		if !errors.As(err, &bad) {
			return nil, fmt.Errorf("forecast: %w", err)
		}
	}
	r := checkWhite(e.RawVector().Data)
	r.X, r.Of = f.x, len(a.Series.X)
	return r, nil
}

// checkWhite computes the statistics of Residuals for e.
func checkWhite(e []float64) *Residuals {
	n := float64(len(e))
	r := &Residuals{E: e, Band: 1.96 / math.Sqrt(n)}
	r.Mean, r.SD = stat.MeanStdDev(e, nil)
	r.Skewness, r.Kurtosis = stat.Skew(e, nil), stat.ExKurtosis(e, nil)
	lags := max(1, min(40, len(e)/5))
	r.LjungBoxLags = min(lags, 20)
	r.Autocorrelation = autocorrelation(e, r.Mean, lags)
	for i, rho := range r.Autocorrelation[:r.LjungBoxLags] {
		r.LjungBox += n * (n + 2) * rho * rho / (n - float64(i+1))
	}
	r.LjungBoxP = distuv.ChiSquared{K: float64(r.LjungBoxLags)}.Survival(r.LjungBox)
	r.JarqueBera = n * (r.Skewness*r.Skewness/6 + r.Kurtosis*r.Kurtosis/24)
	r.JarqueBeraP = distuv.ChiSquared{K: 2}.Survival(r.JarqueBera)
	return r
}

// autocorrelation returns that of e, whose mean is given, at the lags 1, …, lags: 0 where e is constant.
func autocorrelation(e []float64, mean float64, lags int) []float64 {
	rho := make([]float64, lags)
	var total float64
	for _, v := range e {
		total += (v - mean) * (v - mean)
	}
	for h := range rho {
		for i := h + 1; i < len(e); i++ {
			rho[h] += (e[i] - mean) * (e[i-h-1] - mean)
		}
		if total > 0 {
			rho[h] /= total
		}
	}
	return rho
}

// outside returns the lags, from 1, whose autocorrelation is beyond ±Band.
func (r *Residuals) outside() []int {
	var lags []int
	for h, rho := range r.Autocorrelation {
		if math.Abs(rho) > r.Band {
			lags = append(lags, h+1)
		}
	}
	return lags
}

// Verdict summarises the checks in sentences. The tests have a level of 1 %.
func (r *Residuals) Verdict() []string {
	const level = 0.01
	var v []string
	lags := len(r.Autocorrelation)
	outside := r.outside()
	beyond := fmt.Sprintf("%d of %d autocorrelations %s beyond the band, %.1f expected", len(outside), lags, words.Are(len(outside)), 0.05*float64(lags))
	if r.LjungBoxP < level {
		v = append(v, fmt.Sprintf("The innovations are correlated (Ljung–Box p = %.2g): the model misses structure in time. %s, the largest at lag %d.", r.LjungBoxP, beyond, r.largestLag()))
	} else {
		v = append(v, fmt.Sprintf("Nothing speaks against white innovations (Ljung–Box p = %.2g; %s).", r.LjungBoxP, beyond))
	}
	if r.JarqueBeraP < level {
		v = append(v, fmt.Sprintf("Their distribution is not Gaussian (Jarque–Bera p = %.2g, skewness %.2g, excess kurtosis %.2g): the bands assume that it is.", r.JarqueBeraP, r.Skewness, r.Kurtosis))
	} else {
		v = append(v, fmt.Sprintf("Nothing speaks against a Gaussian distribution (Jarque–Bera p = %.2g).", r.JarqueBeraP))
	}
	// The standard error of a standard deviation of Gaussian values is 1/√(2n).
	if math.Abs(r.SD-1) > 3/math.Sqrt(2*float64(len(r.E))) {
		v = append(v, fmt.Sprintf("Their standard deviation is %.3g, not 1: the bands are too %s.", r.SD, map[bool]string{true: "narrow", false: "wide"}[r.SD > 1]))
	}
	if n := len(r.E); n < r.Of {
		v = append(v, fmt.Sprintf("Checked on the latest %d of %d observations.", n, r.Of))
	}
	return v
}

func (r *Residuals) largestLag() int {
	at := 0
	for h, rho := range r.Autocorrelation {
		if math.Abs(rho) > math.Abs(r.Autocorrelation[at]) {
			at = h
		}
	}
	return at + 1
}

// Component is the posterior of one term of a sum.
type Component struct {
	Name     string
	X, Mean  []float64 // Mean in the unit of y, without the mean of y
	Variance []float64
}

// ErrNoComponents says that the model has only one term, or that the series is too long for a dense factor, or for one in the memory.
var ErrNoComponents = errors.New("forecast: no components")

// trendName names what a mean function and slow terms explain.
func (a *Analysis) trendName() string {
	if a.Series.Known != nil {
		return "trend and regressors"
	}
	return "trend"
}

// Components returns the posterior mean and variance of every term of a sum, and of the trend if there is one, at x
// (Duvenaud 2014, Automatic model construction with Gaussian processes, section 2.4.5):
//
//	mean_j = k_j(x, X)A⁻¹z,  var_j = k_j(0) − k_j(x, X)A⁻¹k_j(X, x)
//
// The means add up to the posterior mean minus the mean of y. The variances do not add up, since the terms are correlated given the
// data. It takes n² flops for each x. Above 4000 observations
// that forecasts are conditioned on, and for models with one term, the error is ErrNoComponents.
func (a *Analysis) Components(x []float64) ([]Component, error) {
	terms := []gppl.Kernel{a.Result.Model.Kernel}
	if sum, ok := terms[0].(gppl.Sum); ok {
		terms = sum.Terms()
	}
	most := a.conditionsOn()
	if len(terms) == 1 && a.Result.Model.Mean == nil || most > maxDense {
		return nil, ErrNoComponents
	}
	if _, err := a.room().windows(most); err != nil {
		return nil, ErrNoComponents
	}
	f, err := a.factorise(most)
	if err != nil {
		return nil, err
	}
	var out []Component
	n := len(f.x)
	var l mat.TriDense
	f.chol.LTo(&l)
	add := func(name string, cross *mat.Dense, prior func(j int) float64) error {
		c := Component{Name: name, X: x}
		var mean mat.VecDense
		mean.MulVec(cross.T(), f.alpha)
		var solved mat.Dense
		if err := solved.Solve(&l, cross); err != nil {
			var bad mat.Condition
			if !errors.As(err, &bad) {
				return fmt.Errorf("forecast: %w", err)
			}
		}
		for j := range x {
			column := solved.ColView(j)
			v := prior(j) - mat.Dot(column, column)
			c.Mean = append(c.Mean, a.Scaling.Scale*mean.AtVec(j))
			c.Variance = append(c.Variance, a.Scaling.Variance(max(v, 0)))
		}
		out = append(out, c)
		return nil
	}
	if a.Result.Model.Mean != nil {
		here, err := a.trendBasis(f.model, f.x)
		if err != nil {
			return nil, err
		}
		there, err := a.trendBasis(f.model, x)
		if err != nil {
			return nil, err
		}
		effects := a.Series.effectColumns(f.model.Mean)
		for _, name := range []string{a.trendName(), shiftsName, "holidays"} {
			part, any := mat.DenseCopyOf(there), false
			for j, effect := range effects {
				of := "holidays"
				switch effect {
				case "":
					of = a.trendName()
				case shiftsName:
					of = shiftsName
				}
				if of == name {
					any = true
				} else {
					part.SetCol(j, make([]float64, len(x)))
				}
			}
			if !any {
				continue
			}
			var cross mat.Dense
			cross.Mul(here, part.T())
			if err := add(name, &cross, func(j int) float64 { return mat.Dot(part.RowView(j), part.RowView(j)) }); err != nil {
				return nil, err
			}
		}
	}
	for _, term := range terms {
		cross := mat.NewDense(n, len(x), nil)
		for i := range n {
			gppl.Covariance(cross.RawRowView(i), term, gppl.Scalars(f.x[i:i+1]), gppl.Scalars(x))
		}
		prior := make([]float64, len(x))
		for j := range x {
			at := gppl.Scalars(x[j : j+1])
			gppl.Covariance(prior[j:j+1], term, at, at)
			prior[j] += gppl.Nugget(term)
		}
		if err := add(kernelName(term), cross, func(j int) float64 { return prior[j] }); err != nil {
			return nil, err
		}
	}
	return out, nil
}
