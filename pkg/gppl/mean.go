package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// A Mean is the mean function of a model, a linear combination of h known functions,
//
//	m(x) = h(x)ᵀβ,  β_j ~ N(0, b_j) independently, or flat,
//
// whose coefficients β are not parameters: likelihoods and predictions average over them (Rasmussen and Williams 2006, section
// 2.7). With flat priors, the default, this gives the restricted likelihood. A Mean is an immutable value, like a Kernel:
//
//	AddMeans(Intercept{}, NewTrend(1, x), Fourier{Period: 1, Harmonics: 3})
//
// Basis functions depend on x alone, so a prediction at new inputs evaluates the same functions. A variable that is not a
// function of x enters as a Regressor, from a column of the inputs (Inputs.WithColumn). Make a Mean of your own known to
// package store by store.RegisterMean.
type Mean interface {
	// Columns returns the names of the basis functions and the priors of their coefficients, in order: at least one.
	Columns() []Column
	// Basis returns the functions at x, one row per point and one column per function: n×h, n = x.Len() ≥ 1. It returns an
	// error if they cannot be evaluated at x.
	Basis(x Inputs) (*mat.Dense, error)
	// Check returns an error if a field is out of range. The other methods may assume that it returned nil.
	Check() error
	// String names the mean.
	fmt.Stringer
}

// A Column is one basis function of a Mean.
type Column struct {
	Name     string
	Variance float64 // b, the prior variance of its coefficient; +Inf for a flat prior
}

// flats returns columns of flat priors.
func flats(names ...string) []Column {
	var columns []Column
	for _, name := range names {
		columns = append(columns, Column{name, math.Inf(1)})
	}
	return columns
}

// MeanSum is the sum of mean functions: their columns side by side. Build it with AddMeans.
type MeanSum struct{ parts []Mean }

// AddMeans returns the sum of the given means, at least one.
func AddMeans(parts ...Mean) MeanSum {
	if len(parts) == 0 {
		panic("gppl: AddMeans of no means")
	}
	for i, p := range parts {
		if p == nil {
			panic(fmt.Sprintf("gppl: AddMeans: mean %d is nil", i))
		}
	}
	return MeanSum{append([]Mean(nil), parts...)}
}

// Parts returns the means that are added.
func (m MeanSum) Parts() []Mean { return append([]Mean(nil), m.parts...) }

func (m MeanSum) Columns() (all []Column) {
	for _, p := range m.parts {
		all = append(all, p.Columns()...)
	}
	return all
}

func (m MeanSum) Basis(x Inputs) (*mat.Dense, error) {
	all := mat.NewDense(x.Len(), len(m.Columns()), nil)
	at := 0
	for _, p := range m.parts {
		b, err := p.Basis(x)
		if err != nil {
			return nil, err
		}
		_, h := b.Dims()
		all.Slice(0, x.Len(), at, at+h).(*mat.Dense).Copy(b)
		at += h
	}
	return all, nil
}

// Check also requires that the names of the columns differ.
func (m MeanSum) Check() error {
	if len(m.parts) == 0 {
		return errors.New("gppl: a sum of no means")
	}
	for _, p := range m.parts {
		if err := p.Check(); err != nil {
			return err
		}
	}
	columns := map[string]bool{}
	for _, c := range m.Columns() {
		if columns[c.Name] {
			return fmt.Errorf("gppl: the mean has two columns %q", c.Name)
		}
		columns[c.Name] = true
	}
	return nil
}

func (m MeanSum) String() string {
	var parts []string
	for _, part := range m.parts {
		parts = append(parts, part.String())
	}
	return strings.Join(parts, " + ")
}

// GaussianBeta is a mean whose coefficients have Gaussian priors, β_j ~ N(0, Variances[j]) independently; +Inf is a flat
// prior. It is equivalent to adding h(x)ᵀBh(x′) to the kernel. A single variance applies to all columns. The unit of a
// variance is the unit of y² over the unit of the column squared.
type GaussianBeta struct {
	Of        Mean
	Variances []float64
}

func (m GaussianBeta) Columns() []Column {
	c := m.Of.Columns()
	for i := range c {
		c[i].Variance = m.Variances[min(i, len(m.Variances)-1)]
	}
	return c
}

func (m GaussianBeta) Basis(x Inputs) (*mat.Dense, error) { return m.Of.Basis(x) }

func (m GaussianBeta) Check() error {
	if m.Of == nil {
		return errors.New("gppl: GaussianBeta of no mean")
	}
	if err := m.Of.Check(); err != nil {
		return err
	}
	columns := m.Of.Columns()
	if n := len(m.Variances); n != 1 && n != len(columns) {
		return fmt.Errorf("gppl: %d prior variances for the %d columns of %v", n, len(columns), m.Of)
	}
	for i, v := range m.Variances {
		if !(v > 0) {
			return fmt.Errorf("gppl: the prior variance of column %q is %v: it is not positive", columns[i].Name, v)
		}
	}
	return nil
}

func (m GaussianBeta) String() string {
	var s []string
	for _, v := range m.Variances {
		s = append(s, fmt.Sprintf("%.4g", v))
	}
	return fmt.Sprintf("(%v; β ~ N(0, %s))", m.Of, strings.Join(s, ", "))
}

// checkMean returns the error of Check, or one if there are no columns or a prior variance is not positive.
func checkMean(m Mean) error {
	if err := m.Check(); err != nil {
		return err
	}
	columns := m.Columns()
	if len(columns) == 0 {
		return fmt.Errorf("gppl: the mean %v has no columns", m)
	}
	for _, c := range columns {
		if !(c.Variance > 0) {
			return fmt.Errorf("gppl: the prior variance of column %q is %v: it is not positive", c.Name, c.Variance)
		}
	}
	return nil
}

// CheckBasis returns an error, which names the column, unless observations at x determine the coefficients of the mean, or the
// model has none. They do not if a basis function is not finite; if one with a flat prior is zero at all x or a linear
// combination of others with flat priors; or if there are not more points than columns with flat priors. A column counts as a
// combination of others if they explain all but 1e-10 of its length. CheckBasis takes O(nh²).
func (m Model) CheckBasis(ctx context.Context, x Inputs) (err error) {
	defer parallel.Stopped(&err)
	if m.Mean == nil {
		return nil
	}
	if err := cmp.Or(checkMean(m.Mean), x.check("x")); err != nil {
		return err
	}
	h, err := basisWithin(ctx, m.Mean, x)
	if err != nil {
		return err
	}
	_, err = regressionOn(ctx, m.Mean, h)
	return err
}

// basisAt returns the basis at x, or an error if it is not finite.
func basisAt(m Mean, x Inputs) (*mat.Dense, error) { return basisWithin(context.Background(), m, x) }

// basisWithin is basisAt until ctx ends (parallel.Look).
func basisWithin(ctx context.Context, m Mean, x Inputs) (*mat.Dense, error) {
	parallel.Look(ctx)
	h, err := m.Basis(x)
	if err != nil {
		return nil, err
	}
	columns := m.Columns()
	if r, c := h.Dims(); r != x.Len() || c != len(columns) {
		panic(fmt.Sprintf("gppl: the basis of %v is %d×%d, want %d points by %d columns", m, r, c, x.Len(), len(columns)))
	}
	for j, c := range columns {
		parallel.Look(ctx)
		for i := range x.Len() {
			if v := h.At(i, j); !numeric.IsFinite(v) {
				return nil, fmt.Errorf("gppl: column %q of the mean is %v at x[%d] = %v", c.Name, v, i, x.At(i))
			}
		}
	}
	return h, nil
}

// regressionOn prepares the basis h of m, at the data or projected.
func regressionOn(ctx context.Context, m Mean, h *mat.Dense) (*regress.Basis, error) {
	columns := m.Columns()
	variances := make([]float64, len(columns))
	for j, c := range columns {
		variances[j] = c.Variance
	}
	return basisOf(ctx, m, h, variances)
}

// projectedBasis prepares columns, which hold the basis first of m in a likelihood's coordinates. Coefficients with a Gaussian
// prior have the variance 1.
func projectedBasis(ctx context.Context, m Mean, first *regress.Basis, columns *mat.Dense) (*regress.Basis, error) {
	variances := make([]float64, first.Len())
	for j := range variances {
		if variances[j] = 1; first.IsFlat(j) {
			variances[j] = math.Inf(1)
		}
	}
	return basisOf(ctx, m, columns, variances)
}

// basisOf prepares h, whose columns are m's. Its error names the columns that the rows do not determine.
func basisOf(ctx context.Context, m Mean, h *mat.Dense, variances []float64) (*regress.Basis, error) {
	columns := m.Columns()
	free := 0
	for _, v := range variances {
		if math.IsInf(v, 1) {
			free++
		}
	}
	if n, _ := h.Dims(); n <= free {
		return nil, fmt.Errorf("gppl: %d observations for %d columns of the mean %v with flat priors: there must be more", n, free, m)
	}
	b, err := regress.NewBasis(ctx, h, variances)
	if rank, ok := errors.AsType[*regress.RankError](err); ok {
		name := columns[rank.Column].Name
		if rank.Zero {
			return nil, fmt.Errorf("gppl: column %q of the mean is zero at all observations: leave it out, or give it a"+
				" prior (GaussianBeta)", name)
		}
		if len(rank.With) == 0 { // products of extreme values are NaN or infinite
			return nil, fmt.Errorf("gppl: column %q of the mean is indistinguishable from those before it in float64: scale it,"+
				" leave it out, or give it a prior (GaussianBeta)", name)
		}
		var with []string
		for _, j := range rank.With {
			with = append(with, fmt.Sprintf("%q", columns[j].Name))
		}
		return nil, fmt.Errorf("gppl: column %q of the mean is a linear combination of %s at the observations: leave one out, or"+
			" give it a prior (GaussianBeta)", name, strings.Join(with, ", "))
	}
	return b, err
}

// SubtractMean returns d with y replaced by its residuals after a least-squares fit of the mean of m, in O(nh²). All priors
// count as flat; if the data then do not determine the coefficients, only the flat ones do. It returns d unchanged if the
// model has no mean, if it has at least as many columns as observations, or if the basis cannot be evaluated.
func (m Model) SubtractMean(ctx context.Context, d Data) (rest Data, err error) {
	defer parallel.Stopped(&err)
	if d.sums != nil {
		return d, m.CheckPlain("SubtractMean", d)
	}
	return m.subtractMean(ctx, d), nil
}

// subtractMean is SubtractMean until ctx ends (parallel.Look).
func (m Model) subtractMean(ctx context.Context, d Data) Data {
	if m.Mean == nil || checkMean(m.Mean) != nil {
		return d
	}
	h, err := basisWithin(ctx, m.Mean, d.X)
	if err != nil {
		return d
	}
	columns := m.Mean.Columns()
	if len(columns) >= d.Len() {
		return d
	}
	variances := slices.Repeat([]float64{math.Inf(1)}, len(columns))
	b, err := regress.NewBasis(ctx, h, variances)
	if err != nil {
		parallel.Look(ctx)
		if b, err = regressionOn(ctx, m.Mean, h); err != nil {
			parallel.Look(ctx)
			return d
		}
	}
	rest := mat.NewVecDense(d.Len(), append([]float64(nil), d.Y...))
	for j := range columns {
		parallel.Look(ctx)
		if b.IsFlat(j) { // Q is orthonormal there
			q := b.Q.ColView(j)
			rest.AddScaledVec(rest, -mat.Dot(q, rest), q)
		}
	}
	d.Y = rest.RawVector().Data
	return d
}

// The mean of a model is a regress.Regression on the data of a loss, or on projections of them, with the coefficients
// integrated out. Engines treat a mean as further columns beside y.

// columnNames returns the names of the columns of m.
func columnNames(m Mean) (names []string) {
	for _, c := range m.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// dataColumns returns y as the columns of an engine, with the basis of m beside it if m has a mean. Its error names the column
// of the basis that the data do not determine, or wraps ctx's.
func dataColumns(ctx context.Context, m Model, d Data) (r *regress.Regression, c blas64.General, err error) {
	defer parallel.Stopped(&err)
	if m.Mean == nil {
		return nil, dense.AsColumn(d.Y), nil
	}
	h, err := basisWithin(ctx, m.Mean, d.X)
	if err != nil {
		return nil, blas64.General{}, err
	}
	basis, err := regressionOn(ctx, m.Mean, h)
	if err != nil {
		return nil, blas64.General{}, err
	}
	r, c = regress.New(ctx, columnNames(m.Mean), basis, h, d.Y)
	return r, c, nil
}

// Coefficient is the learnt coefficient of one column of a mean.
type Coefficient struct {
	Name   string
	Value  float64 // the generalised least-squares estimate or, with a prior, the posterior mean
	StdErr float64 // conditional on the kernel's parameters and the noise
}

// String returns the name, the value and its standard error: "kink at 60 -0.16 ± 0.019".
func (c Coefficient) String() string {
	return fmt.Sprintf("%s %.4g ± %.2g", c.Name, c.Value, c.StdErr)
}

// coefficients returns the coefficients of a mean given its data, nil for nil.
func coefficients(c *regress.Conditioned) (all []Coefficient) {
	if c == nil {
		return nil
	}
	beta, se := c.Coefficients()
	for j, name := range c.Names {
		all = append(all, Coefficient{name, beta[j], se[j]})
	}
	return all
}
