package gppl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func information(t *testing.T, m gppl.Model, x gppl.Inputs) *fisher.Information {
	t.Helper()
	i, err := fisher.New(t.Context(), m, x)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func projectionOf(t *testing.T, d gppl.Design, x gppl.Inputs, k int, seed uint64) *gppl.Projection {
	t.Helper()
	p, err := gppl.NewProjection(t.Context(), d, x, k, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// distance is the largest difference of two matrices, each entry relative to
// the geometric mean of the diagonal entries that belong to it in scale.
func distance(a, b, scale mat.Symmetric) float64 {
	var d float64
	for r := range scale.SymmetricDim() {
		for c := range scale.SymmetricDim() {
			d = max(d, math.Abs(a.At(r, c)-b.At(r, c))/math.Sqrt(scale.At(r, r)*scale.At(c, c)))
		}
	}
	return d
}

// smallest returns the smallest eigenvalue of a, scaled as in distance.
func smallest(t *testing.T, a, scale mat.Symmetric) float64 {
	t.Helper()
	n := a.SymmetricDim()
	s := mat.NewSymDense(n, nil)
	for r := range n {
		for c := range n {
			s.SetSym(r, c, a.At(r, c)/math.Sqrt(scale.At(r, r)*scale.At(c, c)))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)[0]
}

func flat(m [][]float64) *mat.SymDense {
	s := mat.NewSymDense(len(m), nil)
	for r := range m {
		for c := range m {
			s.SetSym(r, c, m[r][c])
		}
	}
	return s
}

func TestOracleFisher(t *testing.T) {
	b, err := os.ReadFile("testdata/oracle-small.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases []struct {
			Fisher struct {
				IY    [][]float64 `json:"I_Y"`
				IZ    [][]float64 `json:"I_Z"`
				Delta []float64   `json:"delta_I_trace_formula"`
			} `json:"fisher_log"`
			Sigma struct {
				Trace       float64
				Eigenvalues []float64 `json:"eigenvalues_desc"`
			} `json:"sigma_y_given_z"`
		}
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for c, oracle := range gppl.ReadOracle(t) {
		want := all.Cases[c]
		t.Run(oracle.Kernel, func(t *testing.T) {
			i := information(t, oracle.Model(t), oracle.Data(t).X)
			p := oracle.Projection()
			iy := flat(want.Fisher.IY)
			if d := distance(i.Data(), iy, iy); d > 1e-9 {
				t.Errorf("I_Y: got %v, want %v", mat.Formatted(i.Data()), want.Fisher.IY)
			}
			iz := testkit.Must(i.Projected(t.Context(), p))(t)
			if d := distance(iz, flat(want.Fisher.IZ), iy); d > 1e-9 {
				t.Errorf("I_Z: got %v, want %v", mat.Formatted(iz), want.Fisher.IZ)
			}
			loss := testkit.Must(i.Loss(t.Context(), p))(t).Total()
			for a, v := range want.Fisher.Delta {
				gppl.Near(t, "ΔI", loss.At(a, a), v, 1e-9)
			}
			sigma := testkit.Must(i.Conditional(t.Context(), p))(t)
			gppl.Near(t, "tr Σ", mat.Trace(sigma), want.Sigma.Trace, 1e-10)
			var e mat.EigenSym
			if !e.Factorize(sigma, false) {
				t.Fatal("no eigenvalues")
			}
			got := e.Values(nil)
			slices.Reverse(got)
			gppl.NearVector(t, "eigenvalues of Σ", got, want.Sigma.Eigenvalues, 1e-10)
		})
	}
}

// literal computes I_Y and both terms of ΔI as they are printed, without
// whitening: K̄ by solving with A, Σ as a difference.
func literal(t *testing.T, i *fisher.Information, p *gppl.Projection) (data, quadratic, cross *mat.SymDense) {
	t.Helper()
	a, sigma := i.Covariance(), testkit.Must(i.Conditional(t.Context(), p))(t)
	var explained mat.SymDense
	explained.ScaleSym(-1, sigma)
	explained.AddSym(&explained, a)
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		t.Fatal("A cannot be factorised")
	}
	q := len(i.Params())
	var solved, bar []*mat.Dense // A⁻¹Ȧ and K̄
	for b := range q {
		var s, k mat.Dense
		if err := errors.Join(chol.SolveTo(&s, i.Derivative(b)), chol.SolveTo(&k, s.T())); err != nil {
			t.Fatal(err)
		}
		solved, bar = append(solved, &s), append(bar, &k)
	}
	traceOf := func(factors ...mat.Matrix) float64 {
		var m mat.Dense
		m.Product(factors...)
		return mat.Trace(&m)
	}
	data, quadratic, cross = mat.NewSymDense(q, nil), mat.NewSymDense(q, nil), mat.NewSymDense(q, nil)
	for b := range q {
		for c := range b + 1 {
			data.SetSym(b, c, 0.5*traceOf(solved[b], solved[c]))
			quadratic.SetSym(b, c, 0.5*traceOf(bar[b], sigma, bar[c], sigma))
			cross.SetSym(b, c, traceOf(bar[b], sigma, bar[c], &explained))
		}
	}
	return data, quadratic, cross
}

// informationCase is a model and inputs with designs that suit them.
type informationCase struct {
	model   gppl.Model
	x       gppl.Inputs
	designs []gppl.Design
}

func informationCases() (cases []informationCase) {
	rnd := rand.New(rand.NewPCG(1, 2))
	plane := make([]float64, 2*100)
	for j := range plane {
		plane[j] = 20 * rnd.Float64()
	}
	anywhere := []gppl.Design{gppl.Sphere{}, gppl.Raw{Design: gppl.Sphere{}}, gppl.OneHot{}}
	line := append(anywhere, gppl.Localised{}, gppl.Mixed{}, gppl.Spectral{}, gppl.Raw{Design: gppl.Repulsive{}})
	for _, k := range gppl.EngineKernels(1.3, 4) {
		m := gppl.Model{Kernel: k, Noise: 0.2}
		cases = append(cases, informationCase{m, gppl.EngineInputs("irregular", 130, rnd), line},
			informationCase{m, gppl.EngineInputs("duplicated", 70, rnd), anywhere})
		if !strings.Contains(k.String(), "er") { // periodic kernels are not positive definite for d > 1
			cases = append(cases, informationCase{m, gppl.Vectors(plane, 2), anywhere})
		}
	}
	return cases
}

// TestInformationRoutes compares the two routes to ΔI with one another and with
// the formula as printed, for every kernel, design and number of projections,
// and checks what must hold of them.
func TestInformationRoutes(t *testing.T) {
	t.Parallel()
	worst := map[string]float64{}
	for i, c := range informationCases() {
		if testkit.Quick() && i%13 != 0 {
			continue
		}
		n := c.x.Len()
		t.Run(fmt.Sprintf("%v/n=%d/d=%d", c.model.Kernel, n, c.x.Dim()), func(t *testing.T) {
			i := information(t, c.model, c.x)
			iy := i.Data()
			bound := func(what string, got, limit float64) {
				t.Helper()
				worst[what] = max(worst[what], got)
				if !(got <= limit) {
					t.Errorf("%s: %.3g > %.3g", what, got, limit)
				}
			}
			for d, design := range c.designs {
				for _, k := range []int{1, 7, 40} {
					p := projectionOf(t, design, c.x, k, uint64(d))
					iz := testkit.Must(i.Projected(t.Context(), p))(t)
					loss := testkit.Must(i.Loss(t.Context(), p))(t)
					var difference mat.SymDense
					difference.ScaleSym(-1, iz)
					difference.AddSym(&difference, iy)
					bound("theorem against difference", distance(loss.Total(), &difference, iy), 1e-10)
					for what, m := range map[string]mat.Symmetric{"I_Z": iz, "ΔI": &difference, "quadratic": loss.Quadratic,
						"cross": loss.Cross} {
						bound(what+" ≥ 0", -smallest(t, m, iy), 1e-10)
					}
					if k == 7 && d == 1 {
						data, quadratic, cross := literal(t, i, p)
						bound("I_Y against its formula", distance(iy, data, iy), 1e-9)
						bound("quadratic against its formula", distance(loss.Quadratic, quadratic, iy), 1e-9)
						bound("cross against its formula", distance(loss.Cross, cross, iy), 1e-9)
					}
					if k == 7 {
						rnd := rand.New(rand.NewPCG(3, uint64(d)))
						r := mat.NewDense(k, k, nil)
						for a := range k {
							for b := range k {
								r.Set(a, b, rnd.NormFloat64())
							}
							r.Set(a, a, r.At(a, a)+4)
						}
						var omega mat.Dense
						omega.Mul(testkit.Must(p.Omega(t.Context()))(t), r)
						turned := gppl.ProjectionOf(&omega)
						again := testkit.Must(i.Projected(t.Context(), turned))(t)
						bound("I_Z of Ω → ΩR", distance(again, iz, iy), 1e-9)
						lossAgain := testkit.Must(i.Loss(t.Context(), turned))(t)
						bound("ΔI of Ω → ΩR", distance(lossAgain.Total(), loss.Total(), iy), 1e-9)
					}
				}
			}
			for _, design := range []gppl.Design{gppl.Identity{}, gppl.Sphere{}, gppl.Raw{Design: gppl.Sphere{}}} {
				p := projectionOf(t, design, c.x, n, 5)
				zero := mat.NewSymDense(len(i.Params()), nil)
				bound("ΔI at k = n", distance(testkit.Must(i.Loss(t.Context(), p))(t).Total(), zero, iy), 1e-20)
				bound("I_Z at k = n", distance(testkit.Must(i.Projected(t.Context(), p))(t), iy, iy), 1e-7) // Raw: a Gram matrix of Gaussians
			}
		})
	}
	for what, v := range worst {
		t.Logf("%-30s %.2g", what, v)
	}
}

// TestInformationDerivative compares Ȧ with central differences of A.
func TestInformationDerivative(t *testing.T) {
	t.Parallel()
	x := gppl.EngineInputs("duplicated", 33, rand.New(rand.NewPCG(1, 1)))
	formula := fd.Formula{
		Stencil: []fd.Point{{Loc: -2, Coeff: 1. / 12}, {Loc: -1, Coeff: -8. / 12}, {Loc: 1, Coeff: 8. / 12},
			{Loc: 2, Coeff: -1. / 12}},
		Derivative: 1, Step: 1e-4,
	}
	for turn, k := range gppl.EngineKernels(1.3, 4) {
		if testkit.Quick() && turn%3 != 0 {
			continue
		}
		m := gppl.Model{Kernel: k, Noise: 0.2}
		i := information(t, m, x)
		theta := gppl.Values(m.Params())
		for p := range theta {
			for _, at := range [][2]int{{0, 0}, {0, 1}, {7, 8}, {3, 30}, {32, 0}} {
				got := i.Derivative(p).At(at[0], at[1])
				want := fd.Derivative(func(u float64) float64 {
					moved := slices.Clone(theta)
					moved[p] *= math.Exp(u)
					return information(t, m.WithParams(moved), x).Covariance().At(at[0], at[1])
				}, 0, &fd.Settings{Formula: formula})
				if math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%v: ∂A[%d,%d]/∂log %s: got %v, central difference %v", k, at[0], at[1], m.Params()[p].Name, got, want)
				}
			}
		}
	}
}

// TestInformationDigits measures, against arithmetic of 300 bits on the same
// matrices, how many digits each route to ΔI keeps as k → n, where Σ vanishes,
// and as v/σ² grows.
func TestInformationDigits(t *testing.T) {
	t.Parallel()
	n := testkit.Size(24, 40, 40)
	x := gppl.EngineInputs("irregular", n, rand.New(rand.NewPCG(1, 1)))
	for _, c := range []struct {
		noise              float64
		theorem, atK39, iZ float64 // allowed errors: of the theorem's route at any k, of the two that cancel at k = n − 1, of I_Z
	}{{0.1, 1e-13, 1e-12, 1e-13}, {1e-4, 1e-11, 1e-9, 1e-10}, {1e-8, 1e-7, 1e-3, 1e-6}} {
		i := information(t, gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 12}, Noise: c.noise}, x)
		iy := i.Data()
		for _, k := range []int{n / 4, n / 2, n - 1} {
			p := projectionOf(t, gppl.Sphere{}, x, k, 1)
			wantY, wantZ := bigInformation(i, nil), bigInformation(i, p)
			loss := testkit.Must(i.Loss(t.Context(), p))(t).Total()
			_, quadratic, cross := literal(t, i, p)
			iz := testkit.Must(i.Projected(t.Context(), p))(t)
			var theorem, difference, printed, projected float64
			for a := range i.Params() {
				wy, wz := wantY[a], wantZ[a]
				exact := new(big.Float).Sub(wy, wz)
				want, _ := exact.Float64()
				wantIZ, _ := wz.Float64()
				theorem = max(theorem, math.Abs(loss.At(a, a)/want-1))
				difference = max(difference, math.Abs((iy.At(a, a)-iz.At(a, a))/want-1))
				printed = max(printed, math.Abs((quadratic.At(a, a)+cross.At(a, a))/want-1))
				projected = max(projected, math.Abs(iz.At(a, a)/wantIZ-1))
			}
			t.Logf("σ² = %g, k = %d: relative error of ΔI: theorem %.1e, I_Y − I_Z %.1e, as printed %.1e; of I_Z %.1e", c.noise, k,
				theorem, difference, printed, projected)
			if theorem > c.theorem || projected > c.iZ {
				t.Errorf("σ² = %g, k = %d: relative error of ΔI %.2g, allowed %.2g; of I_Z %.2g, allowed %.2g", c.noise, k, theorem,
					c.theorem, projected, c.iZ)
			}
			if k == n-1 && max(difference, printed) > c.atK39 {
				t.Errorf("σ² = %g, k = %d: relative error of I_Y − I_Z %.2g, of the printed formula %.2g, allowed %.2g", c.noise, k,
					difference, printed, c.atK39)
			}
		}
	}
}

// bigInformation returns the diagonal of I_Z, or of I_Y where p is nil, by
// Gauss elimination in 300 bits.
func bigInformation(i *fisher.Information, p *gppl.Projection) (diagonal []*big.Float) {
	of := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	congruent := func(a mat.Symmetric) [][]*big.Float {
		n := a.SymmetricDim()
		omega := func(r, c int) *big.Float { return of(omegaOf(p).At(r, c)) }
		k := n
		if p == nil {
			omega = func(r, c int) *big.Float {
				if r == c {
					return of(1)
				}
				return of(0)
			}
		} else {
			_, k = p.Dims()
		}
		times := func(rows, cols int, left, right func(r, c int) *big.Float) func(r, c int) *big.Float {
			m := make([]*big.Float, rows*cols)
			for r := range rows {
				for c := range cols {
					sum := of(0)
					for s := range n {
						sum.Add(sum, new(big.Float).Mul(left(r, s), right(s, c)))
					}
					m[r*cols+c] = sum
				}
			}
			return func(r, c int) *big.Float { return m[r*cols+c] }
		}
		ao := times(n, k, func(r, c int) *big.Float { return of(a.At(r, c)) }, omega)
		oao := times(k, k, func(r, c int) *big.Float { return omega(c, r) }, ao)
		m := make([][]*big.Float, k)
		for r := range k {
			for c := range k {
				m[r] = append(m[r], oao(r, c))
			}
		}
		return m
	}
	for q := range i.Params() {
		s, dot := congruent(i.Covariance()), congruent(i.Derivative(q))
		k := len(s)
		for c := range k { // S is positive definite: no pivoting
			for r := range k {
				if r == c {
					continue
				}
				f := new(big.Float).Quo(s[r][c], s[c][c])
				for j := range k {
					s[r][j].Sub(s[r][j], new(big.Float).Mul(f, s[c][j]))
					dot[r][j].Sub(dot[r][j], new(big.Float).Mul(f, dot[c][j]))
				}
			}
		}
		sum := of(0)
		for r := range k {
			for c := range k {
				t := new(big.Float).Mul(new(big.Float).Quo(dot[r][c], s[r][r]), new(big.Float).Quo(dot[c][r], s[c][c]))
				sum.Add(sum, t)
			}
		}
		diagonal = append(diagonal, sum.Mul(sum, of(0.5)))
	}
	return diagonal
}

// TestScoreVariance draws observations and compares the variance of the scores,
// which are minus the gradients of the losses, with I_Y and I_Z. The covariance
// of the two scores is I_Z as well, since the score of z is the conditional mean,
// given z, of the score of y.
func TestScoreVariance(t *testing.T) {
	const draws = 6000
	rnd := rand.New(rand.NewPCG(7, 7))
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 1.5, Lengthscale: 8}, Noise: 0.4}
	x := gppl.EngineInputs("irregular", 40, rnd)
	p := projectionOf(t, gppl.Sphere{}, x, 12, 3)
	i := information(t, m, x)
	iy, iz := i.Data(), testkit.Must(i.Projected(t.Context(), p))(t)
	var ofY, ofZ []func([]float64) float64
	for a := range 3 {
		var s, dot mat.Dense
		s.Product(testkit.Must(p.Omega(t.Context()))(t).T(), i.Covariance(), testkit.Must(p.Omega(t.Context()))(t))
		dot.Product(testkit.Must(p.Omega(t.Context()))(t).T(), i.Derivative(a), testkit.Must(p.Omega(t.Context()))(t))
		ofY, ofZ = append(ofY, score(t, i.Covariance(), i.Derivative(a))), append(ofZ, score(t, &s, &dot))
	}
	scores := make([][]float64, 6)
	for draw := range draws {
		d := gppl.DrawFrom(t, m, x, rnd)
		z := p.Project(d.Y)
		for a := range 3 {
			scores[a], scores[3+a] = append(scores[a], ofY[a](d.Y)), append(scores[3+a], ofZ[a](z))
		}
		if draw < 3 {
			_, gy := gppl.LogGrad(t, testkit.Must(gppl.NewExact(t.Context(), m, d))(t), 3)
			_, gz := gppl.LogGrad(t, testkit.Must(gppl.NewProjected(t.Context(), m, d, p))(t), 3)
			for a := range 3 {
				gppl.Near(t, "score of y", scores[a][draw], -gy[a], 1e-7)
				gppl.Near(t, "score of z", scores[3+a][draw], -gz[a], 1e-7)
			}
		}
	}
	products := make([]float64, draws)
	for a := range 6 {
		for b := range 6 {
			want, what := iz.At(a%3, b%3), "I_Z"
			if a < 3 && b < 3 {
				want, what = iy.At(a, b), "I_Y"
			}
			for j := range products { // the scores have mean zero
				products[j] = scores[a][j] * scores[b][j]
			}
			got, sd := stat.MeanStdDev(products, nil)
			if se := sd / math.Sqrt(draws); math.Abs(got-want) > 4*se {
				t.Errorf("%s[%d,%d] by simulation: %v, want %v, %.1f standard errors away", what, a%3, b%3, got, want, math.Abs(got-want)/se)
			}
		}
	}
}

// score returns the derivative of log N(v | 0, a) along dot.
func score(t *testing.T, a, dot mat.Matrix) func(v []float64) float64 {
	t.Helper()
	var s, bar mat.Dense
	if err := errors.Join(s.Solve(a, dot), bar.Solve(a, s.T())); err != nil {
		t.Fatal(err)
	}
	return func(v []float64) float64 {
		w := mat.NewVecDense(len(v), v)
		return 0.5 * (mat.Inner(w, &bar, w) - mat.Trace(&s))
	}
}

func TestConditional(t *testing.T) {
	x := gppl.EngineInputs("irregular", 90, rand.New(rand.NewPCG(1, 1)))
	m := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 2, Lengthscale: 6}, gppl.Matern32{Variance: 1, Lengthscale: 3}), Noise: 0.3}
	i := information(t, m, x)
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Raw{Design: gppl.Localised{}}} {
		p := projectionOf(t, design, x, 20, 1)
		observed := testkit.Must(i.Conditional(t.Context(), p))(t)
		latent := testkit.Must(i.ConditionalLatent(t.Context(), p))(t)
		to, tl, err := i.ConditionalTrace(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		gppl.Near(t, "tr Cov(Y|Z)", to, mat.Trace(observed), 1e-12)
		gppl.Near(t, "tr Cov(f|Z)", tl, mat.Trace(latent), 1e-12)
		// ΩᵀY is known given Z.
		var known mat.Dense
		known.Product(testkit.Must(p.Omega(t.Context()))(t).T(), observed, testkit.Must(p.Omega(t.Context()))(t))
		if v := mat.Max(&known) / mat.Max(testkit.Must(p.Omega(t.Context()))(t)); v > 1e-12 {
			t.Errorf("%v: Cov(Z|Z) = %v", design, v)
		}
	}
	// Given all observations, the function has the posterior's variance.
	y := make([]float64, 90)
	post := testkit.Must(gppl.NewPosterior(t.Context(), m, gppl.Data{X: x, Y: y}))(t)
	_, want := testkit.Must2(post.Latent(t.Context(), x))(t)
	latent := testkit.Must(i.ConditionalLatent(t.Context(), projectionOf(t, gppl.Identity{}, x, 90, 1)))(t)
	for j, v := range want {
		gppl.Near(t, "var f given all y", latent.At(j, j), v, 1e-9)
	}
}

func TestStdErrLog(t *testing.T) {
	x := gppl.EngineInputs("irregular", 80, rand.New(rand.NewPCG(1, 1)))
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}
	i := information(t, m, x)

	t.Run("Inverse", func(t *testing.T) {
		info := i.Data()
		var inverse mat.Dense
		if err := inverse.Inverse(info); err != nil {
			t.Fatal(err)
		}
		for a, v := range testkit.Must(fisher.StdErrLog(info, i.Params()))(t) {
			gppl.Near(t, i.Params()[a].Name, v, math.Sqrt(inverse.At(a, a)), 1e-12)
		}
	})
	t.Run("Fixed", func(t *testing.T) {
		part := information(t, m.Fix("variance"), x)
		if got := part.Params(); len(got) != 2 || got[0].Name != "lengthscale" || got[1].Name != gppl.NoiseName {
			t.Fatalf("params %v", got)
		}
		want := mat.NewSymDense(2, []float64{i.Data().At(1, 1), i.Data().At(1, 2), 0, i.Data().At(2, 2)})
		if d := distance(part.Data(), want, want); d > 1e-14 {
			t.Errorf("got %v, want %v", part.Data(), want)
		}
	})

	unidentified := func(t *testing.T, info *mat.SymDense, params []gppl.Param, infinite []string) *fisher.NotIdentified {
		t.Helper()
		se, err := fisher.StdErrLog(info, params)
		var e *fisher.NotIdentified
		if !errors.As(err, &e) {
			t.Fatalf("standard errors %v, error %v, want a NotIdentified", se, err)
		}
		var got []string
		for _, p := range e.Params {
			got = append(got, p.Name)
		}
		if !slices.Equal(got, infinite) {
			t.Errorf("not identified: %q, want %q", got, infinite)
		}
		for a, p := range params {
			if math.IsInf(se[a], 1) != slices.Contains(infinite, p.Name) {
				t.Errorf("%s has the standard error %v", p.Name, se[a])
			}
		}
		var along mat.Dense // no information along the null directions
		along.Product(e.Null.T(), info, e.Null)
		if v := mat.Norm(&along, math.Inf(1)); v > 1e-10*mat.Trace(info) {
			t.Errorf("information %v along the null directions", v)
		}
		return e
	}
	t.Run("OneProjection", func(t *testing.T) {
		p := projectionOf(t, gppl.Sphere{}, x, 1, 1)
		e := unidentified(t, testkit.Must(i.Projected(t.Context(), p))(t), i.Params(), []string{"variance", "lengthscale", gppl.NoiseName})
		if _, r := e.Null.Dims(); r != 2 {
			t.Errorf("%d null directions, want 2", r)
		}
	})
	t.Run("OneObservation", func(t *testing.T) { // the variance v + σ² is independent of the lengthscale
		p := projectionOf(t, gppl.OneHot{}, x, 1, 1)
		unidentified(t, testkit.Must(i.Projected(t.Context(), p))(t), i.Params(), []string{"variance", "lengthscale", gppl.NoiseName})
		fixed := information(t, m.Fix("variance"), x)
		unidentified(t, testkit.Must(fixed.Projected(t.Context(), p))(t), fixed.Params(), []string{"lengthscale"})
	})
	t.Run("Product", func(t *testing.T) { // only the product of two variances matters
		product := gppl.Model{Kernel: gppl.Mul(gppl.SE{Variance: 2, Lengthscale: 5},
			gppl.Periodic{Variance: 3, Lengthscale: 1, Period: 9}), Noise: 0.1}
		i := information(t, product, x)
		e := unidentified(t, i.Data(), i.Params(), []string{"SE.variance", "Periodic.variance"})
		if want := `gppl: the information is singular in 1 of 6 directions: ` +
			`"SE.variance", "Periodic.variance" not identified`; e.Error() != want {
			t.Errorf("error %q, want %q", e, want)
		}
		fixed := information(t, product.Fix("Periodic.variance"), x)
		se, _ := fisher.StdErrLog(i.Data(), i.Params())
		for a, v := range testkit.Must(fisher.StdErrLog(fixed.Data(), fixed.Params()))(t) {
			if a != 0 { // the others are as they are with one variance fixed
				b := slices.IndexFunc(i.Params(), func(p gppl.Param) bool { return p.Name == fixed.Params()[a].Name })
				gppl.Near(t, fixed.Params()[a].Name, se[b], v, 1e-8)
			}
		}
	})
	t.Run("WeakIsNotSingular", func(t *testing.T) { // units apart by many orders, but identified
		info := mat.NewSymDense(2, []float64{1e12, 0.5e3, 0, 1e-6})
		se := testkit.Must(fisher.StdErrLog(info, i.Params()[:2]))(t)
		gppl.Near(t, "strong", se[0], 1e-6/math.Sqrt(0.75), 1e-12)
		gppl.Near(t, "weak", se[1], 1e3/math.Sqrt(0.75), 1e-12)
	})
	t.Run("NaN", func(t *testing.T) {
		if _, err := fisher.StdErrLog(mat.NewSymDense(1, []float64{math.NaN()}), i.Params()[:1]); err == nil {
			t.Error("no error for NaN")
		}
	})
}

func TestInformationErrors(t *testing.T) {
	x := gppl.Scalars([]float64{0, 1, 2, 2, 3})
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.1}
	failing := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", what, err, want)
		}
	}
	_, err := fisher.New(t.Context(), m, gppl.Scalars([]float64{0, math.NaN()}))
	failing("NaN input", "x[1] = NaN", err)
	_, err = fisher.New(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: -1}, Noise: 0.1}, x)
	failing("negative lengthscale", "lengthscale", err)
	_, err = fisher.New(t.Context(), m.Fix("variance", "lengthscale", gppl.NoiseName), x)
	failing("all fixed", "every parameter", err)
	_, err = fisher.New(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1e-300}, gppl.Scalars([]float64{2, 2}))
	failing("no noise at one x twice", "cannot be factorised", err)
	_, err = fisher.New(t.Context(), m, gppl.Scalars(make([]float64, 200_000)))
	failing("too large", "memory", err)

	i := information(t, m, x)
	twice := gppl.ProjectionOf(mat.NewDense(5, 2, []float64{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}))
	twice.Design = "twice"
	_, err = i.Projected(t.Context(), twice)
	failing("dependent columns", "columns [1]", err)
	_, err = i.Loss(t.Context(), twice)
	failing("dependent columns", "columns [1]", err)
	_, err = i.Conditional(t.Context(), twice)
	failing("dependent columns", "columns [1]", err)
	_, _, err = i.ConditionalTrace(t.Context(), twice)
	failing("dependent columns", "columns [1]", err)

	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "want n = 5") {
			t.Errorf("a projection of 4 observations: panic %v", r)
		}
	}()
	_ = testkit.Must(i.Projected(t.Context(), gppl.ProjectionOf(mat.NewDense(4, 1, nil))))(t)
}

// TestInformationOfEngines compares I_Z by each engine with the dense route of
// Information, which has no differences. Of a Periodic kernel on many periods,
// central differences of the gradient were 7e-6 off.
func TestInformationOfEngines(t *testing.T) {
	t.Parallel()
	d := gppl.BenchData(t, 150)
	for i, k := range []gppl.Kernel{
		gppl.Periodic{Variance: 0.7, Lengthscale: 1, Period: 11}, gppl.Periodic{Variance: 1, Lengthscale: 0.7, Period: 90},
		gppl.SE{Variance: 1.2, Lengthscale: 30}, gppl.LocPer{Variance: 1, Lengthscale: 200, Period: 20, PeriodicLengthscale: 0.9},
		gppl.Laplace{Variance: 1, Lengthscale: 30}, gppl.Matern32{Variance: 1, Lengthscale: 60},
		gppl.RQ{Variance: 1, Lengthscale: 60, Alpha: 1.3},
		gppl.Add(gppl.SE{Variance: 1, Lengthscale: 200}, gppl.Periodic{Variance: 0.5, Lengthscale: 1, Period: 25}),
		gppl.Add(gppl.Matern52{Variance: 1, Lengthscale: 40}, gppl.White{Variance: 0.3}),
		gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 300}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 40}),
	} {
		if testkit.Quick() && i%2 == 1 {
			continue
		}
		m := gppl.Model{Kernel: k, Noise: 0.1}
		dense, err := fisher.New(t.Context(), m, d.X)
		if err != nil {
			t.Fatal(err)
		}
		for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Raw{Design: gppl.Sphere{}}} {
			p, err := gppl.NewProjection(t.Context(), design, d.X, 30, 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := dense.Projected(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range append(gppl.Engines(), "") {
				l, err := gppl.NewProjected(t.Context(), m, d, p, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.Information(t.Context(), gppl.Values(m.Params()))
				if err != nil {
					if engine == "" {
						t.Error(err)
					}
					continue
				}
				var off float64
				for a := range m.Params() {
					for b := range m.Params() {
						off = max(off, math.Abs(got.At(a, b)-want.At(a, b))/math.Sqrt(want.At(a, a)*want.At(b, b)))
					}
				}
				t.Logf("%v, %v, %s: %.1e", k, design, l.Report().Engine, off)
				if !(off <= 1e-9) {
					t.Errorf("%v, %v, %s: I_Z is off by %.2g", k, design, l.Report().Engine, off)
				}
			}
		}
	}
}
