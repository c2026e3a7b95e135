package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/testsums"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// wavesOf is the design of a projected likelihood from sums, for the observations themselves.
type wavesOf struct {
	origin, period float64
	frequency      []int
	sine           []bool
}

func (wavesOf) String() string { return "waves of sums" }

func (d wavesOf) Directions(_ context.Context, omega *mat.Dense, x gppl.Inputs, _ *rand.Rand) error {
	for i := range x.Len() {
		for j, m := range d.frequency {
			phase := 2 * math.Pi * math.Mod(float64(m)*((x.At(i)[0]-d.origin)/d.period), 1)
			if d.sine[j] {
				omega.Set(i, j, math.Sin(phase))
			} else {
				omega.Set(i, j, math.Cos(phase))
			}
		}
	}
	return nil
}

// sumsProjected returns the loss from sums and the same from the observations, by the dense engine.
func sumsProjected(m gppl.Model, s *sums.Sums, d gppl.Data, centre float64, k int,
	opts ...gppl.Option) (loss, raw *gppl.Projected, err error) {
	if loss, err = sumsResidual(context.Background(), m, s, centre, k, opts...); err != nil {
		return nil, nil, err
	}
	origin, period, frequency, sine := gppl.SumsWaves(s, loss)
	p, err := gppl.NewProjection(context.Background(), wavesOf{origin, period, frequency, sine}, d.X, len(frequency), 0)
	if err != nil {
		return nil, nil, err
	}
	raw, err = gppl.NewResidual(context.Background(), m, centred(d, centre), p, gppl.WithEngine(gppl.EngineDense))
	return loss, raw, err
}

// TestSumsProjected compares PL with the residual energy, with and without an
// intercept, and their information with results from the observations themselves, projected
// by an orthonormalised matrix of the same waves.
func TestSumsProjected(t *testing.T) {
	t.Parallel()
	cases := 200
	if testkit.Quick() {
		cases = 40
	}
	const tol = 1e-9
	refused := 0
	var worst [3]float64
	for number := range cases {
		c := newSumsCase(number)
		rnd := rand.New(rand.NewPCG(uint64(number), 23))
		s := sumsOf(t, c.plan, c.data)
		centre := s.Mean()
		if number%3 == 0 {
			centre = 2.5
		}
		k := 1 + rnd.IntN(min(60, c.data.Len()))
		if number%4 >= 2 && k > 1 {
			c.model.Mean = gppl.Intercept{}
		}
		name := fmt.Sprintf("case %d: %v, n=%d, k=%d", number, c.model, c.data.Len(), k)
		theta := c.model.Values()
		got, want := make([]float64, len(theta)), make([]float64, len(theta))
		var v float64
		loss, raw, err := sumsProjected(c.model, s, c.data, centre, k, gppl.WithTolerance(1e-10))
		if err == nil {
			v, err = loss.ValueGrad(t.Context(), got, theta)
		}
		var refusal *gppl.Refusal
		for tries := 0; errors.As(err, &refusal) && tries < 6; tries++ { // not resolved
			refused++
			c.plan.Shortest /= 2
			s = sumsOf(t, c.plan, c.data)
			if loss, raw, err = sumsProjected(c.model, s, c.data, centre, k, gppl.WithTolerance(1e-10)); err == nil {
				v, err = loss.ValueGrad(t.Context(), got, theta)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		w, err := raw.ValueGrad(t.Context(), want, theta)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		scale := max(math.Abs(w), float64(c.data.Len()))
		check := func(i int, what string, got, want, scale float64) {
			off := math.Abs(got-want) / scale
			if worst[i] = max(worst[i], off); !(off <= tol) {
				t.Errorf("%s, %s: %s is %v, want %v: off by %.2g", name, loss.Report().Engine, what, got, want, off)
			}
		}
		check(0, "the value", v, w, scale)
		for p := range theta {
			scale = max(scale, math.Abs(theta[p]*want[p]))
		}
		for p := range theta {
			check(1, fmt.Sprintf("derivative %d", p), theta[p]*got[p], theta[p]*want[p], scale)
		}
		info, err := loss.Information(t.Context(), theta)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rawInfo, err := raw.Information(t.Context(), theta)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for a := range theta {
			for b := range a + 1 {
				check(2, fmt.Sprintf("information %d, %d", a, b), info.At(a, b), rawInfo.At(a, b), max(scale, mat.Max(rawInfo)))
			}
		}
	}
	t.Logf("%d refusals; off at most by %.2g in value, %.2g in gradient, %.2g in information", refused, worst[0], worst[1], worst[2])
}

// TestSumsProjectedLoss is the conformance of the losses.
func TestSumsProjectedLoss(t *testing.T) {
	x, y, _ := testsums.Series(12, 400)
	s := testsums.New(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.2, Centre: 3, Largest: 5})
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 4}, gppl.RQ{Variance: 1, Lengthscale: 8, Alpha: 3}),
		Noise: 0.2}
	loss, err := sumsResidual(t.Context(), m, s, s.Mean(), 50)
	if err != nil {
		t.Fatal(err)
	}
	gppltest.CheckLoss(t, loss)
}

// TestSumsProjectedWeights compares weighted losses with a dense computation.
func TestSumsProjectedWeights(t *testing.T) {
	const k, centre = 30, 3.0
	x, y, w := testsums.Series(9, 200)
	m := gppl.Model{Kernel: gppl.RQ{Variance: 2, Lengthscale: 8, Alpha: 2}, Noise: 0.3}
	s := testsums.New(t, testsums.Weighted)
	if err := s.AddWeighted(x, y, w); err != nil {
		t.Fatal(err)
	}
	theta := m.Values()
	loss, err := sumsResidual(t.Context(), m, s, centre, k)
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, len(theta))
	got, err := loss.ValueGrad(t.Context(), grad, theta)
	if err != nil {
		t.Fatal(err)
	}
	want := func(theta []float64) float64 {
		return denseWeightedProjected(t, s, loss, m.WithParams(theta), x, y, w, centre)
	}
	if v := want(theta); math.Abs(got-v) > 1e-9*math.Abs(v) {
		t.Errorf("%v, want %v", got, v)
	}
	for p := range theta {
		const h = 1e-5
		up, down := append([]float64{}, theta...), append([]float64{}, theta...)
		up[p] *= 1 + h
		down[p] *= 1 - h
		slope := (want(up) - want(down)) / (2 * h * theta[p])
		if math.Abs(grad[p]-slope) > 1e-5*(1+math.Abs(slope)) {
			t.Errorf("derivative %d is %v, want %v", p, grad[p], slope)
		}
	}
}

// denseWeightedProjected is PL with the residual energy of √w·y, by matrices.
func denseWeightedProjected(t *testing.T, s *sums.Sums, loss *gppl.Projected, m gppl.Model, x, y, w []float64,
	centre float64) float64 {
	t.Helper()
	n := len(x)
	origin, period, frequency, sine := gppl.SumsWaves(s, loss)
	k := len(frequency)
	phi, v := mat.NewDense(n, k, nil), mat.NewVecDense(n, nil)
	if err := (wavesOf{origin, period, frequency, sine}).Directions(t.Context(), phi, gppl.Scalars(x), nil); err != nil {
		t.Fatal(err)
	}
	cov := mat.NewDense(n, n, nil)
	var logW float64
	for i := range n {
		root := math.Sqrt(w[i])
		for j := range k {
			phi.Set(i, j, root*phi.At(i, j))
		}
		r := make([]float64, n)
		for j := range r {
			r[j] = math.Abs(x[i] - x[j])
		}
		m.Kernel.Cov(r, r)
		for j := range r {
			cov.Set(i, j, root*math.Sqrt(w[j])*r[j])
		}
		v.SetVec(i, root*(y[i]-centre))
		logW += math.Log(w[i])
	}
	var qr mat.QR
	qr.Factorize(phi)
	var q mat.Dense
	qr.QTo(&q)
	omega := q.Slice(0, n, 0, k)
	var z mat.VecDense
	z.MulVec(omega.T(), v)
	var half, whole mat.Dense
	half.Mul(cov, omega)
	whole.Mul(omega.T(), &half)
	a := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			a.SetSym(i, j, whole.At(i, j))
		}
		a.SetSym(i, i, a.At(i, i)+m.Noise)
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) {
		t.Fatal("not positive definite")
	}
	var b mat.VecDense
	if err := factor.SolveVecTo(&b, &z); err != nil {
		t.Fatal(err)
	}
	value := 0.5 * (mat.Dot(&z, &b) + factor.LogDet() + float64(k)*math.Log(2*math.Pi))
	dof := float64(n - k)
	tau := m.Noise + (mat.Trace(cov)-mat.Trace(&whole))/dof
	energy := mat.Dot(v, v) - mat.Dot(&z, &z)
	return value + 0.5*(dof*math.Log(2*math.Pi*tau)+energy/tau-logW)
}

// TestSumsProjectedRefusals wants errors that say what is resolved.
func TestSumsProjectedRefusals(t *testing.T) {
	x, y, _ := testsums.Series(10, 200)
	s := testsums.New(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Longest: 5, Centre: 3, Largest: 5})
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 201} {
		if _, err := sumsResidual(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}, s, 3, k); err == nil ||
			!strings.Contains(err.Error(), "want 1 ≤ k ≤ 200") {
			t.Errorf("k = %d: %v", k, err)
		}
	}
	for _, c := range []struct {
		kernel gppl.Kernel
		want   string
	}{
		{gppl.SE{Variance: 1, Lengthscale: 1}, ""},
		{gppl.SE{Variance: 1, Lengthscale: 0.1}, "SE lengthscales from 0.5 to 5"},
		{gppl.SE{Variance: 1, Lengthscale: 50}, "SE lengthscales from 0.5 to 5"},
		{gppl.Matern32{Variance: 1, Lengthscale: 1}, "these sums"},
		{gppl.White{Variance: 1}, "white noise"},
		{gppl.Add(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.Laplace{Variance: 1, Lengthscale: 3}), "its spectrum does not fall"},
	} {
		m := gppl.Model{Kernel: c.kernel, Noise: 0.1}
		loss, err := sumsResidual(t.Context(), m, s, 3, 20)
		if err == nil {
			_, err = loss.ValueGrad(t.Context(), nil, m.Values())
		}
		var refusal *gppl.Refusal
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.kernel, err, c.want)
		}
		if _, err := m.Periodogram(t.Context(), gppl.SumsData(s, 0)); strings.Contains(c.want, "spectrum") && !errors.As(err, &refusal) {
			t.Errorf("%v: the periodogram: %v, want a refusal", c.kernel, err)
		}
	}
}

// TestSumsProjectedFewWaves wants fewer projections where the observations do not tell more apart, and finite values.
func TestSumsProjectedFewWaves(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 4}, Noise: 0.2}
	for name, c := range map[string]struct {
		at    func(i int) float64
		y     func(i int) float64
		waves int // largest number
	}{
		"one time":          {func(int) float64 { return 50 }, func(i int) float64 { return 3 + float64(i%3) }, 3},
		"two times":         {func(i int) float64 { return 20 + 40*float64(i%2) }, func(i int) float64 { return float64(i % 5) }, 2},
		"a short stretch":   {func(i int) float64 { return 50 + 1e-3*float64(i) }, func(i int) float64 { return 3 + float64(i%2) }, 40},
		"constant y":        {func(i int) float64 { return float64(i) }, func(int) float64 { return 3 }, 40},
		"ends of the range": {func(i int) float64 { return 100 * float64(i%2) }, func(i int) float64 { return float64(i % 7) }, 2},
	} {
		s := testsums.New(t, testsums.Plain)
		for i := range 100 {
			if err := s.Add([]float64{c.at(i)}, []float64{c.y(i)}); err != nil {
				t.Fatal(err)
			}
		}
		loss, err := sumsResidual(t.Context(), m, s, s.Mean(), 40)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, _, frequency, _ := gppl.SumsWaves(s, loss)
		grad := make([]float64, len(m.Params()))
		v, err := loss.ValueGrad(t.Context(), grad, m.Values())
		if err != nil || len(frequency) > c.waves || !numeric.IsFinite(v) {
			t.Errorf("%s: %d waves, %v nats, %v", name, len(frequency), v, err)
		}
		exact, err := gppl.NewExact(t.Context(), m, gppl.SumsData(s, s.Mean()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.ValueGrad(t.Context(), nil, m.Values())
		if err != nil {
			t.Fatal(err)
		}
		if c.waves <= 3 && math.Abs(v-want) > 1e-6*math.Abs(want) { // the waves span all that the data can tell
			t.Errorf("%s: %v nats, exactly %v", name, v, want)
		}
		t.Logf("%s: %d waves, %v nats, exactly %v", name, len(frequency), v, want)
	}
}

// sumsResidual is NewResidual of the observations in sums, less centre, on k waves.
func sumsResidual(
	ctx context.Context, m gppl.Model, s *sums.Sums, centre float64, k int, opts ...gppl.Option,
) (*gppl.Projected, error) {
	d := gppl.SumsData(s, centre)
	p, err := d.Projection(ctx, k)
	if err != nil {
		return nil, err
	}
	return gppl.NewResidual(ctx, m, d, p, opts...)
}
