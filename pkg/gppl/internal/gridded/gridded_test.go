package gridded

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// gaussian is v·exp(−τ²/2l²) and its coefficients on a period.
type gaussian struct{ v, l float64 }

func (k gaussian) at(tau float64) float64 { return k.v * math.Exp(-0.5*tau*tau/(k.l*k.l)) }

func (k gaussian) coefficient(m int, period float64) float64 {
	u := 2 * math.Pi * float64(m) * k.l / period
	c := k.v * math.Sqrt(2*math.Pi) * k.l / period * math.Exp(-0.5*u*u)
	if m > 0 {
		c *= 2
	}
	return c
}

// mixture is a sum of two.
type mixture [2]gaussian

func (k mixture) at(tau float64) float64 { return k[0].at(tau) + k[1].at(tau) }

func (k mixture) coefficient(m int, period float64) float64 {
	return k[0].coefficient(m, period) + k[1].coefficient(m, period)
}

type function interface {
	at(tau float64) float64
	coefficient(m int, period float64) float64
}

// problem is data with their sums.
type problem struct {
	t, y   []float64
	k      function
	noise  float64
	period float64
	origin float64
	m      int
	points Points
	sums   []float64
	yy     float64
}

// newProblem makes the sums on a period with so much room at both ends, up to the
// frequency where roots fall to Floor.
func newProblem(t []float64, k function, room, noise float64) *problem {
	lo, hi := slices.Min(t), slices.Max(t)
	q := &problem{t: t, k: k, noise: noise, period: hi - lo + 2*room, origin: lo - room}
	for c, top := 1.0, 0.0; c > 1e-31*top; q.m++ {
		c = k.coefficient(q.m, q.period)
		top = max(top, c)
	}
	r := rand.New(rand.NewPCG(uint64(len(t)), 11))
	for _, v := range t {
		q.y = append(q.y, math.Sin(v/(0.3*room))+math.Sqrt(noise)*r.NormFloat64())
	}
	points := fourier.NewPoints(t, q.origin, q.period)
	q.points = Points{len(t), (lo - q.origin) / q.period, (hi - q.origin) / q.period, points.Moments(2*q.m, 1e-15)}
	q.sums = make([]float64, 2*(q.m+1))
	points.Sums(column(q.sums), column(q.y), 0, 1e-15)
	q.yy = blas64.Dot(dense.Vec(q.y), dense.Vec(q.y))
	return q
}

func column(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

func (q *problem) coefficients() []float64 {
	c := make([]float64, q.m+1)
	for m := range c {
		c[m] = q.k.coefficient(m, q.period)
	}
	return c
}

// result is a likelihood without its constant, ½log|A| + ½yᵀA⁻¹y, and derivatives with
// respect to log σ² and to the function along given directions.
type result struct {
	value, quadratic, noise float64
	along                   []float64
}

// grid evaluates by the package; directions are directions in the coefficients.
func (q *problem) grid(tol float64, directions [][]float64, f *Factor, w *Workspace) (result, error) {
	c := q.coefficients()
	if err := f.Factorise(c, q.points, q.noise, tol, w); err != nil {
		return result{}, err
	}
	beta := make([]float64, f.Size())
	f.Project(column(beta), column(q.sums), w)
	h := slices.Clone(beta)
	f.Solve(column(h))
	r := result{quadratic: f.Quadratic(q.yy, beta, h)}
	r.value = 0.5 * (f.LogDet() + r.quadratic)
	dst := make([]float64, len(c))
	r.noise = q.noise * f.Gradient(dst, column(q.sums), column(h), f.Quadratic(q.yy, beta, h), w)
	for _, d := range directions {
		r.along = append(r.along, blas64.Dot(dense.Vec(d), dense.Vec(dst)))
	}
	return r, nil
}

type densely struct {
	result
	alpha, diagonal []float64 // A⁻¹y and the diagonal of A⁻¹
	chol            mat.Cholesky
	// By how much its derivatives, sums over n² entries that cancel, miss the identity
	// ½tr((A⁻¹ − ααᵀ)A) = ½(n − yᵀA⁻¹y): what they err by is of that size.
	rounding float64
}

// dense evaluates densely; derivatives are functions of τ.
func (q *problem) dense(t testing.TB, derivatives []func(tau float64) float64) *densely {
	n := len(q.t)
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, q.k.at(q.t[i]-q.t[j]))
		}
		a.SetSym(i, i, a.At(i, i)+q.noise)
	}
	d := &densely{alpha: make([]float64, n), diagonal: make([]float64, n)}
	if !d.chol.Factorize(a) {
		t.Fatal("the dense matrix is not positive definite")
	}
	condition := func(err error) {
		if _, ok := err.(mat.Condition); err != nil && !ok {
			t.Fatal(err)
		}
	}
	condition(d.chol.SolveVecTo(mat.NewVecDense(n, d.alpha), mat.NewVecDense(n, q.y)))
	var inverse mat.SymDense
	condition(d.chol.InverseTo(&inverse))
	d.value = 0.5 * (d.chol.LogDet() + blas64.Dot(dense.Vec(q.y), dense.Vec(d.alpha)))
	d.quadratic = blas64.Dot(dense.Vec(q.y), dense.Vec(d.alpha))
	d.along = make([]float64, len(derivatives))
	var variance float64
	for i := range n {
		d.diagonal[i] = inverse.At(i, i)
		d.noise += 0.5 * q.noise * (inverse.At(i, i) - d.alpha[i]*d.alpha[i])
		for j := range i + 1 {
			v := inverse.At(i, j) - d.alpha[i]*d.alpha[j]
			if i == j {
				v *= 0.5
			}
			variance += v * q.k.at(q.t[i]-q.t[j])
			for k, f := range derivatives {
				d.along[k] += v * f(q.t[i]-q.t[j])
			}
		}
	}
	d.rounding = math.Abs(d.noise + variance - 0.5*(float64(n)-d.quadratic))
	return d
}

func uniform(n int, span float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	t := make([]float64, n)
	for i := range t {
		t[i] = span * r.Float64()
	}
	t[0], t[n-1] = 0, span
	return t
}

func cases() []struct {
	name string
	t    []float64
	k    gaussian
	s2   float64
} {
	const n = 600
	clusters := append(uniform(n/2, 5, 1), uniform(n/2, 10, 2)...)
	for i := n / 2; i < n; i++ {
		clusters[i] += 300
	}
	clusters = append(clusters, 499, 500)
	double := uniform(n/4, 500, 3)
	double = append(double, double...)
	double = append(double, double...)
	return []struct {
		name string
		t    []float64
		k    gaussian
		s2   float64
	}{
		{"uniform", uniform(n, 1000, 4), gaussian{1, 5}, 0.1},
		{"long", uniform(n, 1000, 4), gaussian{1, 80}, 0.1},
		{"v/s2=1e3", uniform(n, 1000, 5), gaussian{30, 5}, 0.03},
		{"v/s2=1e6", uniform(n, 1000, 5), gaussian{1, 5}, 1e-6},
		{"clusters", clusters, gaussian{1, 5}, 0.1},
		{"sparse", uniform(250, 1000, 6), gaussian{1, 1}, 0.1},
		{"duplicates", double, gaussian{2, 5}, 0.1},
		{"far", append(uniform(300, 20, 7), 2000), gaussian{1, 5}, 0.1},
		{"two", []float64{3, 4}, gaussian{1, 1}, 0.1},
		{"same", []float64{3, 3, 3}, gaussian{1, 1}, 0.1},
		{"one", []float64{-7}, gaussian{1, 1}, 0.1},
	}
}

// TestDense compares with dense code over the cases of the prototype. Both sides err by
// as much as Bound.
func TestDense(t *testing.T) {
	var f Factor
	var w Workspace
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
			directions := [][]float64{q.coefficients(), nil}
			for m, v := range directions[0] {
				u := 2 * math.Pi * float64(m) * c.k.l / q.period
				directions[1] = append(directions[1], v*(1-u*u)) // ∂/∂log l
			}
			got, err := q.grid(Floor, directions, &f, &w)
			if err != nil {
				t.Fatal(err)
			}
			want := q.dense(t, []func(float64) float64{
				c.k.at,
				func(tau float64) float64 { return c.k.at(tau) * tau * tau / (c.k.l * c.k.l) },
			})
			bound := Bound(len(c.t), c.k.v, c.s2, Floor) + 1e-14*math.Abs(want.value)
			check := func(what string, got, want, bound float64) {
				t.Helper()
				e := math.Abs(got - want)
				if !(e <= bound) {
					t.Errorf("%s: %v, densely %v: differs by %.2g, want %.2g", what, got, want, e, bound)
				} else {
					t.Logf("%s: differs by %.2g, at most %.2g", what, e, bound)
				}
			}
			check("value", got.value, want.value, bound)
			check("∂log noise", got.noise, want.noise, bound)
			check("∂log variance", got.along[0], want.along[0], bound)
			check("∂log lengthscale", got.along[1], want.along[1], bound)
			// ½tr((A⁻¹ − ααᵀ)A) = ½(n − yᵀA⁻¹y), which holds better than that the dense
			// derivatives do.
			check("∂log noise + ∂log variance", got.noise+got.along[0], 0.5*(float64(len(c.t))-got.quadratic), bound)
			t.Logf("p = %d, band %d, reach %d", f.p, f.band, f.reach)
		})
	}
}

// TestRandom holds values and derivatives to Bound over random numbers of points, ranges,
// noise, tolerances and clusters.
func TestRandom(t *testing.T) {
	count := 200
	if testkit.Quick() {
		count = 40
	}
	var f Factor
	var w Workspace
	worst := map[string]float64{}
	r := rand.New(rand.NewPCG(21, 1))
	for i := range count {
		n := 1 + r.IntN(120)
		span := math.Pow(10, 3*r.Float64()-1)
		x := make([]float64, n)
		for j := range x {
			x[j] = span * math.Pow(r.Float64(), 1+3*float64(i%3)) // the more, the closer to zero
		}
		k := gaussian{math.Pow(10, 2*r.Float64()-1), 0.5 + r.Float64()}
		noise, tol := k.v*math.Pow(10, 1-8*r.Float64()), math.Pow(10, -15+6*r.Float64()*float64(i%2))
		q := newProblem(x, k, 6.5*k.l, noise)
		d := [][]float64{q.coefficients(), nil}
		for m, v := range d[0] {
			u := 2 * math.Pi * float64(m) * k.l / q.period
			d[1] = append(d[1], v*(1-u*u))
		}
		got, err := q.grid(tol, d, &f, &w)
		if err != nil {
			t.Errorf("case %d: %v", i, err)
			continue
		}
		want := q.dense(t, []func(float64) float64{k.at, func(tau float64) float64 { return k.at(tau) * tau * tau / (k.l * k.l) }})
		bound := Bound(n, k.v, noise, tol) + 1e-14*(math.Abs(want.value)+q.yy/noise)
		for what, v := range map[string][2]float64{
			"value": {got.value, want.value}, "∂log noise": {got.noise, want.noise},
			"∂log variance": {got.along[0], want.along[0]}, "∂log lengthscale": {got.along[1], want.along[1]},
		} {
			e, bound := math.Abs(v[0]-v[1]), bound
			if what != "value" && what != "∂log noise" {
				e -= 2 * want.rounding
			}
			if what == "∂log lengthscale" {
				bound *= 32
			}
			worst[what] = max(worst[what], e/bound)
			if !(e <= bound) {
				t.Errorf("case %d, n=%d, span %.3g, variance over noise %.2g, tolerance %.1g: %s: %v, densely %v: %.2g, want %.2g",
					i, n, span/k.l, k.v/noise, tol, what, v[0], v[1], e, bound)
			}
		}
		// Without dense code: value and derivatives fit each other.
		e := math.Abs(got.noise + got.along[0] - 0.5*(float64(n)-got.quadratic))
		worst["identity"] = max(worst["identity"], e/bound)
		if !(e <= bound) {
			t.Errorf("case %d: ½(n − yᵀA⁻¹y) and the derivatives differ by %.2g, want %.2g", i, e, bound)
		}
	}
	for what, e := range worst {
		t.Logf("%s: %.2g of the bound at worst", what, e)
	}
}

// TestMixture tries a sum of two scales: its root reaches further than both of them.
func TestMixture(t *testing.T) {
	for _, s2 := range []float64{0.1, 1e-5} {
		k := mixture{{1, 6}, {0.3, 2}}
		q := newProblem(uniform(500, 400, 8), k, 200, s2)
		var f Factor
		var w Workspace
		got, err := q.grid(Floor, [][]float64{q.coefficients()}, &f, &w)
		if err != nil {
			t.Fatal(err)
		}
		want := q.dense(t, []func(float64) float64{k.at})
		bound := Bound(len(q.t), k.at(0), s2, Floor)
		for what, v := range map[string][2]float64{
			"value": {got.value, want.value}, "noise": {got.noise, want.noise}, "variance": {got.along[0], want.along[0]},
		} {
			if e := math.Abs(v[0] - v[1]); !(e <= bound) {
				t.Errorf("noise %g: %s: %v, densely %v, differs by %.2g, want %.2g", s2, what, v[0], v[1], e, bound)
			}
		}
		t.Logf("p = %d, band %d, reach %d", f.p, f.band, f.reach)
	}
}

// TestGradient compares the derivative with respect to each coefficient with central
// differences.
func TestGradient(t *testing.T) {
	q := newProblem(uniform(60, 30, 9), gaussian{1, 2}, 13, 0.1)
	var f Factor
	var w Workspace
	c := q.coefficients()
	value := func(c []float64, noise float64) float64 {
		if err := f.Factorise(c, q.points, noise, Floor, &w); err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, f.Size())
		f.Project(column(beta), column(q.sums), &w)
		h := slices.Clone(beta)
		f.Solve(column(h))
		return 0.5 * (f.LogDet() + f.Quadratic(q.yy, beta, h))
	}
	value(c, q.noise)
	beta := make([]float64, f.Size())
	f.Project(column(beta), column(q.sums), &w)
	h := slices.Clone(beta)
	f.Solve(column(h))
	dst := make([]float64, len(c))
	noise := f.Gradient(dst, column(q.sums), column(h), f.Quadratic(q.yy, beta, h), &w)
	const step = 1e-5
	// A smooth change: a coefficient alone would leave a root that does not die out.
	for degree := range 4 {
		along := func(m int) float64 { return c[m] * math.Pow(float64(m)/10, float64(2*degree)) }
		up, down := slices.Clone(c), slices.Clone(c)
		var got float64
		for m := range c {
			up[m] += step * along(m)
			down[m] -= step * along(m)
			got += dst[m] * along(m)
		}
		want := (value(up, q.noise) - value(down, q.noise)) / (2 * step)
		if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("degree %d: %v, by differences %v", degree, got, want)
		}
	}
	want := (value(c, q.noise+step) - value(c, q.noise-step)) / (2 * step)
	if math.Abs(noise-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("noise: %v, by differences %v", noise, want)
	}
}

// TestTolerance wants the error to follow the tolerance, and so the cost.
func TestTolerance(t *testing.T) {
	c := cases()[0]
	q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
	var f Factor
	var w Workspace
	exact, err := q.grid(Floor, nil, &f, &w)
	if err != nil {
		t.Fatal(err)
	}
	size := f.Size()
	for _, tol := range []float64{1e-13, 1e-11, 1e-9, 1e-7} {
		got, err := q.grid(tol, nil, &f, &w)
		if err != nil {
			t.Fatal(err)
		}
		e, most := math.Abs(got.value-exact.value), Bound(len(q.t), c.k.v, c.s2, tol)
		if !(e <= most) {
			t.Errorf("tolerance %g: error %.2g, want at most %.2g", tol, e, most)
		}
		if e := math.Abs(got.noise - exact.noise); !(e <= most) {
			t.Errorf("tolerance %g: error of the derivative %.2g, want at most %.2g", tol, e, most)
		}
		if f.Size() >= size {
			t.Errorf("tolerance %g: %d grid points, %d at the one before", tol, f.Size(), size)
		}
		size = f.Size()
		t.Logf("tolerance %g: error %.2g of %.2g, p = %d, band %d", tol, e, most, f.Size(), f.Band())
	}
}

// TestPredictor compares means and variances with dense ones: between points, at points, in
// gaps and beyond the ends, however far; and A⁻¹y and the diagonal of A⁻¹.
func TestPredictor(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
			var f Factor
			var w Workspace
			if err := f.Factorise(q.coefficients(), q.points, q.noise, Floor, &w); err != nil {
				t.Fatal(err)
			}
			h := make([]float64, f.Size())
			f.Project(column(h), column(q.sums), &w)
			f.Solve(column(h))
			z, err := f.Predictor(&w)
			if err != nil {
				t.Fatal(err)
			}
			d := q.dense(t, nil)
			point := z.Point()
			bound := Bound(len(q.t), c.k.v, c.s2, Floor) * max(1, c.k.v)
			lo, hi := slices.Min(q.t), slices.Max(q.t)
			at := []float64{lo, hi, 0.5 * (lo + hi), q.t[len(q.t)/3], lo - 3*c.k.l, hi + 3*c.k.l,
				lo - 6*c.k.l, hi + 6.49*c.k.l, lo - 7*c.k.l, hi + 8*c.k.l, lo - 12*c.k.l, hi + 20*c.k.l, hi + 1e4*c.k.l}
			at = append(at, uniform(20, hi-lo+2*c.k.l, 12)...)
			n := len(q.t)
			for _, s := range at {
				cross := mat.NewVecDense(n, nil)
				for i, v := range q.t {
					cross.SetVec(i, c.k.at(s-v))
				}
				var solved mat.VecDense
				if err := d.chol.SolveVecTo(&solved, cross); err != nil {
					if _, ok := err.(mat.Condition); !ok {
						t.Fatal(err)
					}
				}
				mean, variance := mat.Dot(cross, mat.NewVecDense(n, d.alpha)), c.k.v-mat.Dot(cross, &solved)
				phase := (s - q.origin) / q.period
				if got := meanAt(point, phase, h); !(math.Abs(got-mean) <= bound) {
					t.Errorf("mean at %v: %v, densely %v: differs by %.2g, want %.2g", s, got, mean, math.Abs(got-mean), bound)
				}
				if got := point.Variance(); !(math.Abs(got-variance) <= bound) {
					t.Errorf("variance at %v: %v, densely %v: differs by %.2g, want %.2g", s, got, variance, math.Abs(got-variance), bound)
				}
			}
			for i, s := range q.t {
				phase := (s - q.origin) / q.period
				if got := (q.y[i] - meanAt(point, phase, h)) / q.noise; !(math.Abs(got-d.alpha[i]) <= bound/q.noise) {
					t.Errorf("A⁻¹y, entry %d: %v, densely %v", i, got, d.alpha[i])
				}
				if got := (1 - point.Variance()/q.noise) / q.noise; !(math.Abs(got-d.diagonal[i]) <= bound/(q.noise*q.noise)) {
					t.Errorf("diagonal of A⁻¹, entry %d: %v, densely %v", i, got, d.diagonal[i])
				}
			}
		})
	}
}

// TestWeights compares K + σ²·diag(1/w), from weighted sums, with dense code.
func TestWeights(t *testing.T) {
	const n = 300
	k := gaussian{1, 3}
	q := newProblem(uniform(n, 200, 13), k, 6.5*k.l, 0.2)
	r := rand.New(rand.NewPCG(4, 4))
	w, wy := make([]float64, n), make([]float64, n)
	var logW, wyy float64
	a := mat.NewSymDense(n, nil)
	for i := range n {
		w[i] = math.Exp(r.NormFloat64())
		wy[i] = w[i] * q.y[i]
		wyy += w[i] * q.y[i] * q.y[i]
		logW += math.Log(w[i])
		for j := range i + 1 {
			a.SetSym(i, j, k.at(q.t[i]-q.t[j]))
		}
		a.SetSym(i, i, a.At(i, i)+q.noise/w[i])
	}
	points := fourier.NewPoints(q.t, q.origin, q.period)
	q.points.Moments = make([]float64, 2*(2*q.m+1))
	points.Sums(column(q.points.Moments), column(w), 0, 1e-15)
	points.Sums(column(q.sums), column(wy), 0, 1e-15)
	q.yy = wyy
	var f Factor
	var space Workspace
	got, err := q.grid(Floor, nil, &f, &space)
	if err != nil {
		t.Fatal(err)
	}
	var chol mat.Cholesky
	var alpha mat.VecDense
	var inverse mat.SymDense
	if !chol.Factorize(a) || chol.SolveVecTo(&alpha, mat.NewVecDense(n, q.y)) != nil || chol.InverseTo(&inverse) != nil {
		t.Fatal("dense code fails")
	}
	value, noise := 0.5*(chol.LogDet()+mat.Dot(&alpha, mat.NewVecDense(n, q.y))), 0.0
	for i, v := range w {
		noise += 0.5 * q.noise / v * (inverse.At(i, i) - alpha.AtVec(i)*alpha.AtVec(i))
	}
	bound := Bound(n, 1, q.noise, Floor) * 10 // the largest weight is about 15
	if e := math.Abs(got.value - 0.5*logW - value); !(e <= bound) {
		t.Errorf("value off by %.2g, want %.2g", e, bound)
	}
	if e := math.Abs(got.noise - noise); !(e <= bound) {
		t.Errorf("derivative off by %.2g, want %.2g", e, bound)
	}
}

func TestErrors(t *testing.T) {
	q := newProblem(uniform(50, 100, 10), gaussian{1, 2}, 13, 0.1)
	var f Factor
	var w Workspace
	c := q.coefficients()
	near := q.points
	near.First = 0.8 * near.First
	var gap Gap
	if err := f.Factorise(c, near, 0.1, Floor, &w); !errors.As(err, &gap) || gap.Have != near.First || !(gap.Need > gap.Have) {
		t.Errorf("a short gap: error %v", err)
	}
	var cut Unresolved
	if err := f.Factorise(c[:len(c)/2], q.points, 0.1, Floor, &w); !errors.As(err, &cut) || !(cut.Tail > 1e-10) {
		t.Errorf("too few frequencies: error %v", err)
	}
	var bad Negative
	for _, v := range []float64{-1e-20, math.NaN(), math.Inf(1)} {
		d := slices.Clone(c)
		d[7] = v
		if err := f.Factorise(d, q.points, 0.1, Floor, &w); !errors.As(err, &bad) || bad.Frequency != 7 {
			t.Errorf("coefficient %v: error %v", v, err)
		}
	}
	// A pure cosine has a root that goes on for ever.
	d := make([]float64, len(c))
	d[5] = 1
	if err := f.Factorise(d, q.points, 0.1, Floor, &w); !errors.As(err, &gap) {
		t.Errorf("a cosine: error %v", err)
	}
}

// TestReuse wants the same digits from used memory on all processors as from new
// memory on one.
func TestReuse(t *testing.T) {
	var f Factor
	var w Workspace
	for _, i := range []int{0, 4, 8, 1, 0} {
		c := cases()[i]
		q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
		var f1 Factor
		var w1 Workspace
		d := [][]float64{q.coefficients()}
		got, err := q.grid(Floor, d, &f, &w)
		procs := runtime.GOMAXPROCS(1)
		want, err1 := q.grid(Floor, d, &f1, &w1)
		runtime.GOMAXPROCS(procs)
		if err != nil || err1 != nil || got.value != want.value || got.noise != want.noise || got.along[0] != want.along[0] {
			t.Errorf("%s: %v (%v) from used memory, %v (%v) from new on one processor", c.name, got, err, want, err1)
		}
	}
}

// TestConcurrent uses one factor from two goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	c := cases()[0]
	q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
	var f Factor
	var w Workspace
	want, err := q.grid(Floor, nil, &f, &w)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			var w Workspace
			for range 3 {
				beta, dst := make([]float64, f.Size()), make([]float64, q.m+1)
				f.Project(column(beta), column(q.sums), &w)
				h := slices.Clone(beta)
				f.Solve(column(h))
				if got := q.noise * f.Gradient(dst, column(q.sums), column(h), f.Quadratic(q.yy, beta, h), &w); got != want.noise {
					t.Errorf("derivative %v, alone %v", got, want.noise)
				}
			}
		})
	}
	group.Wait()
}

// TestNoAllocation takes a grid that package banded does not cut in halves: it allocates
// for those.
func TestNoAllocation(t *testing.T) {
	c := cases()[4]
	q := newProblem(c.t, c.k, 6.5*c.k.l, c.s2)
	var f Factor
	var w Workspace
	coefficients := q.coefficients()
	dst := make([]float64, len(coefficients))
	var beta, h []float64
	all := func() {
		if err := f.Factorise(coefficients, q.points, q.noise, Floor, &w); err != nil {
			t.Fatal(err)
		}
		beta, h = dense.Resize(beta, f.Size()), dense.Resize(h, f.Size())
		f.Project(column(beta), column(q.sums), &w)
		copy(h, beta)
		f.Solve(column(h))
		f.Gradient(dst, column(q.sums), column(h), f.Quadratic(q.yy, beta, h), &w)
	}
	all()
	if a := testing.AllocsPerRun(5, all); a > 0 {
		t.Errorf("%v allocations", a)
	}
}

func meanAt(p *Point, t float64, h []float64) float64 {
	var mean [1]float64
	p.Set(t)
	p.Means(mean[:], column(h))
	return mean[0]
}

// TestColumns: the derivatives for several columns are the sum of those for each, with
// with ½log|A| counted once, and projections and means do not mix columns.
func TestColumns(t *testing.T) {
	const c = 3
	q := newProblem(uniform(300, 100, 10), gaussian{1, 3}, 20, 0.1)
	var f Factor
	var w Workspace
	if err := f.Factorise(q.coefficients(), q.points, q.noise, Floor, &w); err != nil {
		t.Fatal(err)
	}
	z, err := f.Predictor(&w)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(10, 10))
	sums := dense.Reshape(blas64.General{}, len(q.sums), c)
	beta, h := dense.Reshape(blas64.General{}, f.Size(), c), dense.Reshape(blas64.General{}, f.Size(), c)
	for i := range sums.Data {
		sums.Data[i] = q.sums[i/c] + r.NormFloat64()
	}
	f.Project(beta, sums, &w)
	copy(h.Data, beta.Data)
	f.Solve(h)
	one := func(j int) (s, b, x []float64) { // column j; zeros if there is none
		s, b, x = make([]float64, sums.Rows), make([]float64, f.Size()), make([]float64, f.Size())
		if j < c {
			blas64.Copy(dense.Column(sums, j), dense.Vec(s))
		}
		f.Project(column(b), column(s), &w)
		copy(x, b)
		f.Solve(column(x))
		return s, b, x
	}
	want, dst := make([]float64, q.m+1), make([]float64, q.m+1)
	var form, wantNoise float64
	point, means := z.Point(), make([]float64, c)
	point.Set(0.4)
	point.Means(means, h)
	for j := range c + 1 {
		s, b, x := one(j)
		yy, weight := 1000.0, 1.0
		if j == c {
			yy, weight = 0, 1-c
		} else if got := meanAt(point, 0.4, x); math.Abs(got-means[j]) > 1e-12*(1+math.Abs(got)) {
			t.Errorf("mean %d is %v, alone %v", j, means[j], got)
		}
		one := f.Quadratic(yy, b, x)
		form += one
		wantNoise += weight * f.Gradient(dst, column(s), column(x), one, &w)
		for m, v := range dst {
			want[m] += weight * v
		}
	}
	noise := f.Gradient(dst, sums, h, form, &w)
	if math.Abs(noise-wantNoise) > 1e-10*math.Abs(wantNoise) {
		t.Errorf("derivative in the noise %v, one by one %v", noise, wantNoise)
	}
	for m, v := range dst {
		if math.Abs(v-want[m]) > 1e-9*math.Abs(want[m])+1e-9 {
			t.Errorf("derivative %d: %v, one by one %v", m, v, want[m])
		}
	}
}

// BenchmarkGridded is a value and its derivatives, after the sums.
func BenchmarkGridded(b *testing.B) {
	for _, c := range []struct {
		n    int
		span float64 // in scales
		tol  float64
	}{{3319, 187, Floor}, {3319, 187, 1e-12}, {100000, 3333, Floor}, {1000000, 3333, Floor}, {1000000, 33333, Floor}} {
		b.Run(fmt.Sprintf("n=%d/span=%v/tol=%g", c.n, c.span, c.tol), func(b *testing.B) {
			q := newProblem(uniform(c.n, c.span, 1), gaussian{1, 1}, 6.5, 0.1)
			var f Factor
			var w Workspace
			coefficients := q.coefficients()
			dst := make([]float64, len(coefficients))
			var beta, h []float64
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Factorise(coefficients, q.points, q.noise, c.tol, &w); err != nil {
					b.Fatal(err)
				}
				beta, h = dense.Resize(beta, f.Size()), dense.Resize(h, f.Size())
				f.Project(column(beta), column(q.sums), &w)
				copy(h, beta)
				f.Solve(column(h))
				f.Gradient(dst, column(q.sums), column(h), f.Quadratic(q.yy, beta, h), &w)
			}
			b.ReportMetric(float64(f.Size()), "p")
			b.ReportMetric(float64(f.Band()), "band")
		})
	}
}

// Band returns how far H reaches to either side of its diagonal.
func (f *Factor) Band() int { return f.band }

// Quadratic returns yᵀA⁻¹z from yᵀz, β of y and h = H⁻¹β of z.
func (f *Factor) Quadratic(yz float64, beta, h []float64) float64 {
	return (yz - blas64.Dot(dense.Vec(beta), dense.Vec(h))/f.noise) / f.noise
}
