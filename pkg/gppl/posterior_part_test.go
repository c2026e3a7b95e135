package gppl

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// partCase is a model with a few terms and data, and the reference by textbook formulas: everything with dense matrices of gonum,
// the mean as a Gaussian process of variance HBHᵀ.
type partCase struct {
	name  string
	model Model
	data  Data
	terms []Kernel
	at    Inputs
	flat  float64 // the variance that stands for a flat prior
}

// randomPart draws a case.
func randomPart(t *testing.T, rnd *rand.Rand, dim int) (c partCase) {
	l := func() float64 { return math.Exp(rnd.NormFloat64()*0.6 + 1) }
	v := func() float64 { return math.Exp(rnd.NormFloat64() * 0.5) }
	pool := []func() Kernel{
		func() Kernel { return SE{v(), l()} }, func() Kernel { return Matern32{v(), l()} }, func() Kernel { return Matern52{v(), l()} },
		func() Kernel { return Laplace{v(), l()} }, func() Kernel { return RQ{v(), l(), 0.5 + v()} }, func() Kernel { return White{0.3 * v()} },
		func() Kernel { return Periodic{v(), 0.5 + v(), l()} }, func() Kernel { return SHO{v(), l(), 0.6 + v()} },
		func() Kernel { return LocPer{v(), 3 * l(), l(), 0.5 + v()} },
	}
	if dim > 1 {
		pool = pool[:6]
	}
	for range 1 + rnd.IntN(3) {
		c.terms = append(c.terms, pool[rnd.IntN(len(pool))]())
	}
	c.model = Model{Kernel: c.terms[0], Noise: 0.05 + 0.3*rnd.Float64()}
	if len(c.terms) > 1 {
		c.model.Kernel = Add(c.terms...)
	}
	if dim == 1 {
		switch rnd.IntN(4) {
		case 0:
			c.model.Mean = GaussianBeta{Of: AddMeans(Intercept{}, Linear{}), Variances: []float64{2, 0.1}}
		case 1:
			c.model.Mean = AddMeans(Intercept{}, GaussianBeta{Of: Fourier{Period: 7, Harmonics: 1}, Variances: []float64{0.5, 0.5}})
		}
	}
	c.flat = 1e6
	n, regular := 5+rnd.IntN(30), rnd.IntN(3) == 0
	x, y := make([]float64, n*dim), make([]float64, n)
	for i := range x {
		if x[i] = 20 * rnd.Float64(); regular && dim == 1 {
			x[i] = 0.6 * float64(i)
		}
	}
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	at := make([]float64, 5*dim)
	for i := range at {
		at[i] = -3 + 26*rnd.Float64()
	}
	c.data, c.at = testkit.Must(NewData(Vectors(x, dim), y))(t), Vectors(at, dim)
	if rnd.IntN(4) == 0 {
		e := make([]float64, n)
		for i := range e {
			e[i] = 0.1 + 0.5*rnd.Float64()
		}
		c.data = testkit.Must(c.data.WithErrors(e))(t)
	}
	c.name = fmt.Sprintf("%v, n = %d, d = %d", c.model, n, dim)
	return c
}

// basis is H·B^½, with rows for the inputs.
func (c *partCase) basis(t *testing.T, x Inputs, has func(column int) bool) *mat.Dense {
	h := mat.DenseCopyOf(testkit.Must(c.model.Mean.Basis(x))(t))
	for j, column := range c.model.Mean.Columns() {
		b := math.Sqrt(min(c.flat, column.Variance))
		for i := range x.Len() {
			if h.Set(i, j, b*h.At(i, j)); !has(j) {
				h.Set(i, j, 0)
			}
		}
	}
	return h
}

// covariance returns the covariance of the given terms and columns between a and b.
func (c *partCase) covariance(t *testing.T, a, b Inputs, terms []int, columns func(int) bool) *mat.Dense {
	sum := mat.NewDense(a.Len(), b.Len(), nil)
	for _, j := range terms {
		k := crossCovariance(a, b, c.terms[j])
		sum.Add(sum, mat.NewDense(a.Len(), b.Len(), k.Data))
	}
	if c.model.Mean != nil {
		var h mat.Dense
		h.Mul(c.basis(t, a, columns), c.basis(t, b, columns).T())
		sum.Add(sum, &h)
	}
	return sum
}

func every(int) bool { return true }

// reference returns the mean and the covariance of some terms and columns at x, given the data.
func (c *partCase) reference(t *testing.T, x Inputs, terms []int, columns func(int) bool) (mean *mat.VecDense, cov *mat.Dense) {
	all := make([]int, len(c.terms))
	for j := range all {
		all[j] = j
	}
	a := c.covariance(t, c.data.X, c.data.X, all, every)
	rows := c.data.rowNoise()
	for i, v := range rows.Set(nil, c.data.Len(), c.model.Noise+capability.Nugget(c.model.Kernel)) {
		a.Set(i, i, a.At(i, i)+v)
	}
	cross := c.covariance(t, x, c.data.X, terms, columns)
	cov = c.covariance(t, x, x, terms, columns)
	mean = mat.NewVecDense(x.Len(), nil)
	var solved, back mat.Dense
	if err := solved.Solve(a, cross.T()); err != nil && !errors.As(err, new(mat.Condition)) {
		t.Fatal(err)
	}
	mean.MulVec(solved.T(), mat.NewVecDense(c.data.Len(), c.data.Y))
	back.Mul(cross, &solved)
	cov.Sub(cov, &back)
	for _, j := range terms {
		for i := range x.Len() {
			cov.Set(i, i, cov.At(i, i)+capability.Nugget(c.terms[j]))
		}
	}
	return mean, cov
}

// posteriors calls f with the posterior by each engine that takes the case.
func (c *partCase) posteriors(t *testing.T, f func(engine string, p *Posterior)) {
	for _, engine := range engineNames {
		if engine == EngineInterpolated {
			continue
		}
		p, err := NewPosterior(t.Context(), c.model, c.data, WithEngine(engine), WithSeconds(0.5))
		if errors.As(err, new(*Refusal)) || err != nil && strings.Contains(err.Error(), "frequencies") {
			continue
		}
		if err != nil {
			t.Fatalf("%s by %s: %v", c.name, engine, err)
		}
		if p.Inexact() == 0 {
			f(engine, p)
		}
	}
}

// TestPosteriorParts: the joint covariance, terms with columns of the mean, and gradients of predictions by every engine against
// dense references. GPPL_LONG=1 takes 2000 random cases.
func TestPosteriorParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(68, 7))
	taken := map[string]int{}
	for number := range testkit.Size(60, 400, 2000) {
		c := randomPart(t, rnd, 1+rnd.IntN(6)/5)
		var all, some []int
		for j := range c.terms {
			if all = append(all, j); rnd.IntN(2) == 0 {
				some = append(some, j)
			}
		}
		if len(some) == 0 {
			some = all[:1]
		}
		columns := []int(nil)
		if c.model.Mean != nil && rnd.IntN(2) == 0 {
			columns = []int{len(c.model.Mean.Columns()) - 1}
		}
		has := func(j int) bool { return len(columns) > 0 && j == columns[0] }
		wantMean, wantCov := c.reference(t, c.at, all, every)
		partMean, partCov := c.reference(t, c.at, some, has)
		slope, slopeV := c.slopes(t, all, every)
		partSlope, partSlopeV := c.slopes(t, some, has)
		near := func(engine, what string, tolerance, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
				t.Errorf("case %d, %s by %s: %s is %.12g, want %.12g", number, c.name, engine, what, got, want)
			}
		}
		// A flat prior of the reference has a variance: its answer is off by about 1e-6.
		tolerance := 1e-7
		if c.model.Mean != nil {
			tolerance = 2e-5
		}
		c.posteriors(t, func(engine string, p *Posterior) {
			taken[engine]++
			compare := func(what string, p *Posterior, mean *mat.VecDense, cov *mat.Dense, slope, slopeV []float64) {
				m, v, err := p.Joint(t.Context(), c.at)
				if err != nil {
					t.Fatalf("case %d, %s by %s: %s: %v", number, c.name, engine, what, err)
				}
				alone := testkit.Must(p.Mean(t.Context(), c.at))(t)
				single, variances := testkit.Must2(p.Latent(t.Context(), c.at))(t)
				for i := range m {
					near(engine, what+": mean", tolerance, m[i], mean.AtVec(i))
					near(engine, what+": mean of each", tolerance, single[i], mean.AtVec(i))
					near(engine, what+": mean alone", tolerance, alone[i], mean.AtVec(i))
					near(engine, what+": variance alone", tolerance, variances[i], max(0, cov.At(i, i)))
					for j := range i + 1 {
						near(engine, what+": covariance", tolerance, v.At(i, j), cov.At(i, j))
					}
				}
				g, gv, err := p.Gradient(t.Context(), c.at)
				if err != nil {
					t.Fatalf("case %d, %s by %s: %s: %v", number, c.name, engine, what, err)
				}
				for i := range g {
					near(engine, what+": slope of the mean", 20*tolerance, g[i], slope[i])
					near(engine, what+": slope of the variance", 20*tolerance, gv[i], slopeV[i])
				}
			}
			compare("all", p, wantMean, wantCov, slope, slopeV)
			part := testkit.Must(p.Part(some, columns))(t)
			compare(fmt.Sprintf("terms %v and columns %v", some, columns), part, partMean, partCov, partSlope, partSlopeV)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("cases by engine: %v", taken)
	for _, engine := range []string{EngineDense, EngineStateSpace, EngineSpectral, EngineBanded, EngineToeplitz, EngineMixed} {
		if taken[engine] == 0 {
			t.Errorf("no case of %s", engine)
		}
	}
}

// slopes are central differences of the reference, at a step that balances rounding.
func (c *partCase) slopes(t *testing.T, terms []int, columns func(int) bool) (mean, variances []float64) {
	const step = 1e-4
	d := c.at.Dim()
	mean, variances = make([]float64, c.at.Len()*d), make([]float64, c.at.Len()*d)
	for a := range d {
		moved := func(by float64) (*mat.VecDense, *mat.Dense) {
			at := c.at.clone()
			for i := range at.Len() {
				at.at[i*d+a] += by
			}
			return c.reference(t, at, terms, columns)
		}
		for _, s := range []struct{ by, weight float64 }{{step, 8. / 12}, {-step, -8. / 12}, {2 * step, -1. / 12}, {-2 * step, 1. / 12}} {
			m, v := moved(s.by)
			for i := range c.at.Len() {
				mean[i*d+a] += s.weight / step * m.AtVec(i)
				variances[i*d+a] += s.weight / step * v.At(i, i)
			}
		}
	}
	return mean, variances
}

// TestPartDraws: draws of a term by every engine have its mean and covariance.
func TestPartDraws(t *testing.T) {
	count := testkit.Size(300, 3000, 100000)
	drawnPosteriors(t, func(name string, p *Posterior, _ Data) {
		sum, is := p.model.Kernel.(Sum)
		if !is {
			return
		}
		for j := range sum.parts {
			var columns []int
			if p.model.Mean != nil && j == 0 {
				columns = []int{1}
			}
			part := testkit.Must(p.Part([]int{j}, columns))(t)
			x := Scalars([]float64{31.5, 4.2, 17, 45})
			by, _ := part.corrected(t.Context(), x, count)
			draws, err := by.draw(t.Context(), count, 3)
			if err != nil {
				t.Fatal(name, err)
			}
			again, _ := testkit.Must(part.Part([]int{0}, columns))(t).corrected(t.Context(), x, 1)
			if same := testkit.Must(again.draw(t.Context(), 1, 3))(t); !floats.EqualApprox(same[0].F, draws[0].F, 1e-9) {
				t.Errorf("%s, term %d: a draw is %v, and %v of the part of the part", name, j, draws[0].F, same[0].F)
			}
			mean, cov := testkit.Must2(part.Joint(t.Context(), x))(t)
			values := make([][]float64, count)
			for i := range draws {
				values[i] = withNoise(draws[i].F, 1e-3, 1, i)
			}
			all := mat.NewSymDense(x.Len(), nil)
			all.CopySym(cov)
			for i := range x.Len() {
				all.SetSym(i, i, all.At(i, i)+1e-3)
			}
			CheckDraws(t, fmt.Sprintf("%s, term %d", name, j), values, mean, all)
		}
	})
}

// TestPrior: before any data the posterior is the prior, with draws, joint covariance, gradients and parts, in any dimension; the
// first Update conditions it.
func TestPrior(t *testing.T) {
	m := Model{Kernel: Add(Matern32{1.1, 4}, White{0.2}), Noise: 0.1}
	m.Mean = GaussianBeta{Of: AddMeans(Intercept{}, Linear{}), Variances: []float64{2, 0.1}}
	p := testkit.Must(NewPosterior(t.Context(), m, Data{}))(t)
	x := Scalars([]float64{0, 1.5, 1.5, 40})
	c := partCase{model: m, terms: []Kernel{m.Kernel}, flat: 1e6}
	want := c.covariance(t, x, x, []int{0}, every)
	mean, cov := testkit.Must2(p.Joint(t.Context(), x))(t)
	single, variances := testkit.Must2(p.Latent(t.Context(), x))(t)
	for i := range mean {
		if mean[i] != 0 || single[i] != 0 || math.Abs(variances[i]-cov.At(i, i)) > 1e-12 {
			t.Errorf("at %v: %v ± %v, %v", x.At(i), mean[i], cov.At(i, i), variances[i])
		}
		for j := range i + 1 {
			w := want.At(i, j)
			if i == j {
				w += 0.2
			}
			if math.Abs(cov.At(i, j)-w) > 1e-12*(1+w) {
				t.Errorf("covariance %d, %d: %v, want %v", i, j, cov.At(i, j), w)
			}
		}
	}
	count := testkit.Size(1000, 10000, 100000)
	draws := testkit.Must(p.Sample(t.Context(), x, count, 3))(t)
	values := make([][]float64, count)
	for i, d := range draws {
		values[i] = d.F
	}
	CheckDraws(t, "prior", values, mean, cov)
	g, v := testkit.Must2(p.Gradient(t.Context(), x))(t)
	for i := range g {
		if slope := 2 * 0.1 * x.At(i)[0]; g[i] != 0 || math.Abs(v[i]-slope) > 1e-8*(1+slope) { // derivative of 0.1·x²
			t.Errorf("gradients at %v: %v and %v, want 0 and %v", x.At(i), g[i], v[i], slope)
		}
	}
	part := testkit.Must(p.Part([]int{1}, nil))(t)
	if _, v := testkit.Must2(part.Latent(t.Context(), x))(t); math.Abs(v[3]-0.2) > 1e-15 {
		t.Errorf("a part of the prior has the variance %v", v[3])
	}
	n := 3000
	long := make([]float64, n)
	for i := range long {
		long[i] = float64(i)
	}
	if d := testkit.Must(p.Sample(t.Context(), Scalars(long), 1, 1))(t)[0]; d.Engine != EngineStateSpace {
		t.Errorf("a long draw from the prior is by %s", d.Engine)
	}
	d := testkit.Must(NewData(x, []float64{1, 2, 1, 4}))(t)
	now, whole := testkit.Must(p.Update(t.Context(), d))(t), testkit.Must(NewPosterior(t.Context(), m, d))(t)
	a, b := testkit.Must2(now.Latent(t.Context(), x))(t)
	e, f := testkit.Must2(whole.Latent(t.Context(), x))(t)
	if a[2] != e[2] || b[2] != f[2] {
		t.Errorf("updated: %v ± %v, want %v ± %v", a[2], b[2], e[2], f[2])
	}
	plane := testkit.Must(NewPosterior(t.Context(), Model{Kernel: SE{1, 1}, Noise: 1}, Data{}))(t)
	if _, v := testkit.Must2(plane.Latent(t.Context(), Vectors([]float64{0, 0, 1, 1}, 2)))(t); v[1] != 1 {
		t.Errorf("in the plane: %v", v)
	}
	m.Mean = Intercept{}
	if _, err := NewPosterior(t.Context(), m, Data{}); err == nil || !strings.Contains(err.Error(), "flat") {
		t.Errorf("a flat prior: %v", err)
	}
}

// thrice is a mean of a user's own: three times the functions that it embeds.
type thrice struct{ Fourier }

func (m thrice) Columns() (c []Column) {
	for _, of := range m.Fourier.Columns() {
		c = append(c, Column{"three " + of.Name, of.Variance})
	}
	return c
}

func (m thrice) Basis(x Inputs) (*mat.Dense, error) {
	h, err := m.Fourier.Basis(x)
	h.Scale(3, h)
	return h, err
}

// TestMeanSlopes: gradients of the mean function hold at any unit of time, however short its periods are beside the range of the
// inputs, also if steps of differences are whole periods.
func TestMeanSlopes(t *testing.T) {
	const ω = 2 * math.Pi
	for _, c := range []struct{ from, unit float64 }{{0, 1}, {19670 * 86400, 86400}, {0, 1e-9}} {
		at := func(days float64) float64 { return c.from + c.unit*days }
		kink, trend := Kink{at(300)}, Trend{3, at(0), at(1024)}
		short := Fourier{Period: c.unit, Harmonics: 2}
		m := Model{Kernel: Matern32{1, 3 * c.unit}, Noise: 0.1, Mean: GaussianBeta{
			Of:        AddMeans(Intercept{}, trend, kink, Step{at(200)}, thrice{Fourier{Period: 7 * c.unit, Harmonics: 1}}, short, thrice{short}),
			Variances: []float64{1, 1, 1, 1, 1 / (c.unit * c.unit), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}}
		var x, y []float64
		for day := 0.; day <= 1024; day += 4.11 {
			x, y = append(x, at(day)), append(y, math.Sin(ω*day)+math.Cos(ω*day/7)+day/1000)
		}
		p := testkit.Must(NewPosterior(t.Context(), m, testkit.Must(NewData(Scalars(x), y))(t)))(t)
		for column := range m.Mean.Columns() {
			part := testkit.Must(p.Part(nil, []int{column}))(t)
			days := []float64{0, 100.1, 300, 511.3, 1024}
			var times []float64
			for _, day := range days {
				times = append(times, at(day))
			}
			got, _ := testkit.Must2(part.Gradient(t.Context(), Scalars(times)))(t)
			for i, day := range days {
				u := day/512 - 1
				slopes := [...]float64{0, 1. / 512, 3 * u / 512, (7.5*u*u - 1.5) / 512, 0, 0, // in days, up to the step
					-3 * ω / 7 * math.Sin(ω*day/7), 3 * ω / 7 * math.Cos(ω*day/7),
					-ω * math.Sin(ω*day), ω * math.Cos(ω*day), -2 * ω * math.Sin(2*ω*day), 2 * ω * math.Cos(2*ω*day),
					-3 * ω * math.Sin(ω*day), 3 * ω * math.Cos(ω*day), -6 * ω * math.Sin(2*ω*day), 6 * ω * math.Cos(2*ω*day)}
				switch { // the kink
				case day > 300:
					slopes[4] = c.unit
				case day == 300:
					slopes[4] = c.unit / 2
				}
				beta := p.Coefficients()[column]
				want, most := beta.Value*slopes[column]/c.unit, math.Abs(beta.Value)*40/c.unit
				if !(math.Abs(got[i]-want) <= 1e-7*most) {
					t.Errorf("unit %v, column %s at %v days: %v, want %v", c.unit, beta.Name, day, got[i], want)
				}
			}
		}
	}
}

// TestPartRefusals: what has no parts says so.
func TestPartRefusals(t *testing.T) {
	d := testkit.Must(NewData(Scalars([]float64{1, 2, 3}), []float64{1, 2, 0}))(t)
	p := testkit.Must(NewPosterior(t.Context(), Model{Kernel: Add(SE{1, 1}, Laplace{1, 1}), Noise: 1}, d))(t)
	for want, f := range map[string]func(){
		"term 2":  func() { p.Term(2) },
		"column":  func() { p.Part(nil, []int{0}) },
		"neither": func() { p.Part(nil, nil) },
	} {
		if got := fmt.Sprint(testkit.Recover(f)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", want, got)
		}
	}
	part := testkit.Must(p.Term(0))(t)
	if _, err := part.Update(t.Context(), d); err == nil || !strings.Contains(err.Error(), "terms") {
		t.Errorf("an update of a term: %v", err)
	}
	if _, err := part.Part([]int{0}, nil); err != nil {
		t.Errorf("a term of a term: %v", err)
	}
}
