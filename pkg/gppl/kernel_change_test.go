package gppl_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/gppltest"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// changeCases are kernels with a change point, alone and in combinations, on a series of
// n inputs in [−5, 15].
func changeCases() map[string]gppl.Kernel {
	change := gppl.ChangePoint{Before: gppl.SE{Variance: 1.3, Lengthscale: 0.6},
		After: gppl.Matern32{Variance: 0.4, Lengthscale: 0.9}, Location: 3.1, Width: 0.7}
	return map[string]gppl.Kernel{
		"change": change,
		"change, negative": gppl.ChangePoint{Before: gppl.Laplace{Variance: 1, Lengthscale: 0.5},
			After: gppl.SE{Variance: 2, Lengthscale: 0.4}, Location: -1.2, Width: 0.05},
		"sum": gppl.Add(change, gppl.SE{Variance: 0.3, Lengthscale: 1.1}, gppl.White{Variance: 0.1}),
		"product": gppl.Mul(change, gppl.Add(gppl.SE{Variance: 1.2, Lengthscale: 2},
			gppl.Laplace{Variance: 0.5, Lengthscale: 3})),
		"two changes": gppl.ChangePoint{Before: change, After: gppl.Add(gppl.SE{Variance: 0.8, Lengthscale: 0.3},
			gppl.Matern52{Variance: 0.5, Lengthscale: 1}),
			Location: 9, Width: 1.5},
	}
}

// placedCovariance is k(a, b) by the formulas.
func placedCovariance(k gppl.Kernel, a, b float64) (v float64) {
	switch k := k.(type) {
	case gppl.Sum:
		for _, t := range k.Terms() {
			v += placedCovariance(t, a, b)
		}
		return v
	case gppl.Product:
		v = 1
		for _, f := range k.Factors() {
			v *= placedCovariance(f, a, b)
		}
		return v
	case gppl.ChangePoint:
		s := func(x float64) float64 { return 1 / (1 + math.Exp(-(x-k.Location)/k.Width)) }
		return (1-s(a))*(1-s(b))*placedCovariance(k.Before, a, b) + s(a)*s(b)*placedCovariance(k.After, a, b)
	}
	r := []float64{math.Abs(a - b)}
	k.Cov(r, r)
	return r[0]
}

func changeData(n int) gppl.Data {
	rnd := rand.New(rand.NewPCG(8, uint64(n)))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = -5 + 20*rnd.Float64()
		y[i] = math.Sin(x[i]) + 0.3*rnd.NormFloat64()
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}
}

// TestFixedPlaces: a place at 0 or below may be fixed, and tied, as it may be trained.
func TestFixedPlaces(t *testing.T) {
	d := changeData(40)
	k := gppl.Add(changeCases()["change, negative"], gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 1},
		After: gppl.SE{Variance: 1, Lengthscale: 2}, Location: 0, Width: 1})
	free := gppl.Model{Kernel: k, Noise: 0.2}
	want, _ := valueAt(t, testkit.Must(gppl.NewExact(t.Context(), free, d))(t))
	fixed := testkit.Must(gppl.NewExact(t.Context(), free.Fix("ChangePoint1.location", "ChangePoint2.location"), d))(t)
	if got, _ := valueAt(t, fixed); got != want {
		t.Errorf("with both places fixed %v, with both free %v", got, want)
	}
	r := testkit.Must(gppl.Fit(t.Context(), fixed, nil, gppl.Settings{MaxEvaluations: 3}))(t)
	path := filepath.Join(t.TempDir(), "fixed.json")
	if err := store.Save(path, r); err != nil {
		t.Fatal(err)
	}
	if loaded := testkit.Must(store.Load(path))(t); loaded.Model.String() != r.Model.String() {
		t.Errorf("saved %v, read %v", r.Model, loaded.Model)
	}
	tied := testkit.Must(gppl.Tie(testkit.Must(gppl.NewExact(t.Context(), free, d))(t), []string{"ChangePoint1.location", "ChangePoint2.location"}))(t)
	gppltest.CheckLoss(t, tied)

	z := gppl.Scalars([]float64{-4, 0, 5, 11})
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.2}
	bound, _ := valueAt(t, testkit.Must(gppl.NewVFE(t.Context(), m, d, z, gppl.VFEOptions{}))(t))
	stays := testkit.Must(gppl.NewVFE(t.Context(), m, d, z, gppl.VFEOptions{FixInducing: true}))(t)
	if got, _ := valueAt(t, stays); got != bound {
		t.Errorf("with inducing inputs fixed %v, with them free %v", got, bound)
	}
}

// TestChangePoint: likelihood and posterior against the formulas, and the gradient against
// differences, by each engine that takes the kernel.
func TestChangePoint(t *testing.T) {
	t.Parallel()
	const noise = 0.2
	n := testkit.Size(70, 150, 150)
	d := changeData(n)
	at := []float64{-30, -5.5, -1.3, 2.9, 3.3, 8, 14.9, 15.2, 40}
	for name, k := range changeCases() {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, placedCovariance(k, d.X.At(i)[0], d.X.At(j)[0]))
			}
			a.SetSym(i, i, a.At(i, i)+noise+capability.Nugget(k))
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			t.Fatal("not positive definite")
		}
		y := mat.NewVecDense(n, d.Y)
		var alpha mat.VecDense
		if err := chol.SolveVecTo(&alpha, y); err != nil {
			t.Fatal(err)
		}
		want := 0.5 * (mat.Dot(y, &alpha) + chol.LogDet() + float64(n)*math.Log(2*math.Pi))
		for _, engine := range []string{gppl.EngineDense, gppl.EngineBanded, ""} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				c := meanCase{model: gppl.Model{Kernel: k, Noise: noise}, data: d}
				if got := valueOf(t, c, engine); !(math.Abs(got-want) <= 1e-8*float64(n)) {
					t.Errorf("%.12g, by the formulas %.12g", got, want)
				}
				l, err := gppl.NewExact(t.Context(), c.model, d, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				checkDifferences(t, l, 1e-6)
				p, err := gppl.NewPosterior(t.Context(), c.model, d, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				mean, variances := testkit.Must2(p.Latent(t.Context(), gppl.Scalars(at)))(t)
				for i, x := range at {
					k1 := mat.NewVecDense(n, nil)
					for j := range n {
						k1.SetVec(j, placedCovariance(k, x, d.X.At(j)[0]))
					}
					var solved mat.VecDense
					if err := chol.SolveVecTo(&solved, k1); err != nil {
						t.Fatal(err)
					}
					m, v := mat.Dot(k1, &alpha), placedCovariance(k, x, x)+capability.Nugget(k)-mat.Dot(k1, &solved)
					if !(math.Abs(mean[i]-m) <= 1e-8*(1+math.Abs(m))) || !(math.Abs(variances[i]-v) <= 1e-8*(1+v)) {
						t.Errorf("x = %v: %.10g ± √%.10g, by the formulas %.10g ± √%.10g", x, mean[i], variances[i], m, v)
					}
				}
				blocks := [][]int{{0}, {5}, {7, 8, 9}}
				got, v, err := gppl.LeaveOut(t.Context(), c.model, d, blocks, gppl.WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				comparedWithRefits(t, c, blocks, got, v)
			})
		}
	}
}

// TestChangePointFar: far on either side of it, a change point is the kernel of that side.
func TestChangePointFar(t *testing.T) {
	d := changeData(100)
	before, after := gppl.SE{Variance: 1.3, Lengthscale: 0.6}, gppl.Matern32{Variance: 0.4, Lengthscale: 0.9}
	for location, want := range map[float64]gppl.Kernel{500: before, -500: after} {
		k := gppl.ChangePoint{Before: before, After: after, Location: location, Width: 1}
		got := valueOf(t, meanCase{model: gppl.Model{Kernel: k, Noise: 0.2}, data: d}, gppl.EngineDense)
		if want := valueOf(t, meanCase{model: gppl.Model{Kernel: want, Noise: 0.2}, data: d},
			gppl.EngineDense); !(math.Abs(got-want) <= 1e-8*100) {
			t.Errorf("location %v: %.12g, the kernel of that side %.12g", location, got, want)
		}
	}
	// At zero, where derivatives in logs are of no use.
	c := meanCase{model: gppl.Model{Kernel: gppl.ChangePoint{Before: before, After: after, Width: 1}, Noise: 0.2}, data: d}
	l, err := gppl.NewExact(t.Context(), c.model, c.data)
	if err != nil {
		t.Fatal(err)
	}
	_, grad := evaluated(t, l)
	for i, g := range grad {
		if !numeric.IsFinite(g) {
			t.Errorf("derivative %d at location 0: %v", i, g)
		}
	}
}

// TestChangePointRefused: what knows distances alone says so.
func TestChangePointRefused(t *testing.T) {
	d := changeData(40)
	change := changeCases()["change"]
	m := gppl.Model{Kernel: gppl.Add(change, gppl.SE{Variance: 0.3, Lengthscale: 1.1}), Noise: 0.2}
	refuses := map[string]func() error{
		"Whittle":  func() error { _, err := gppl.NewWhittle(t.Context(), m, d, gppl.WhittleOptions{}); return err },
		"auto.Fit": func() error { _, err := auto.Fit(t.Context(), m, d, auto.Settings{}); return err },
	}
	for _, e := range []string{gppl.EngineSpectral, gppl.EngineToeplitz, gppl.EngineStateSpace, gppl.EngineGridded} {
		refuses[e] = func() error {
			l, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(e))
			if err != nil {
				return err
			}
			_, err = l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
			return err
		}
	}
	for name, f := range refuses {
		if err := f(); err == nil || !strings.Contains(err.Error(), "not on their distance alone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	white := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 1}, gppl.White{Variance: 1}),
		After: gppl.SE{Variance: 1, Lengthscale: 1}, Width: 1}, Noise: 1}
	if err := white.Check(); err == nil || !strings.Contains(err.Error(), "white noise") {
		t.Errorf("white noise before a change: %v", err)
	}
	if err := (gppl.Model{Kernel: gppl.ChangePoint{Width: 1}, Noise: 1}).Check(); err == nil {
		t.Error("a change between no kernels: no error")
	}
	if _, err := gppl.NewExact(t.Context(), m, gppl.Data{X: gppl.Vectors(make([]float64, 8), 2), Y: make([]float64, 4)}); err == nil {
		t.Error("a change point in two dimensions: no error")
	}
}

// TestChangePointFit: start values find a change of the kernel, training from them finds it
// better, whatever the units, and the result survives being saved.
func TestChangePointFit(t *testing.T) {
	t.Parallel()
	const where = 140.0
	truth := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 12},
		After: gppl.Laplace{Variance: 2, Lengthscale: 4}, Location: where, Width: 1}, Noise: 0.01}
	changed := drawnChange(t, truth, 200, 3)
	var first float64
	for _, unit := range []float64{1, 1e-3} {
		d := changed.in(unit, 100)
		family := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 1},
			After: gppl.Laplace{Variance: 1, Lengthscale: 1}, Width: 1}, Noise: 1}
		start := testkit.Must(auto.StartFrom(t.Context(), family, d))(t)
		if got := start.Kernel.(gppl.ChangePoint).Location/unit + 100; math.Abs(got-where) > 12 {
			t.Errorf("unit %v: the change starts at %v, it is at %v", unit, got, where)
		}
		l, err := gppl.NewExact(t.Context(), start, d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gppl.Fit(t.Context(), l, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		fitted := r.Model.Kernel.(gppl.ChangePoint)
		if got := fitted.Location/unit + 100; math.Abs(got-where) > 6 {
			t.Errorf("unit %v: the change is learnt at %v, it is at %v", unit, got, where)
		}
		if first == 0 {
			first = r.Value
		} else if math.Abs(r.Value-first) > 1e-3 {
			t.Errorf("in another unit of x the NLL is %v, not %v", r.Value, first)
		}
		file := filepath.Join(t.TempDir(), "result.json")
		if err := store.Save(file, r); err != nil {
			t.Fatal(err)
		}
		back, err := store.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(back.Model), fmt.Sprint(r.Model); got != want {
			t.Errorf("saved and loaded: %s, was %s", got, want)
		}
	}
}

// TestCovariance: between inputs, of kernels that depend on where they are and of others.
func TestCovariance(t *testing.T) {
	a, b := []float64{-5, 1, 3.5}, []float64{2, 9}
	kernels := changeCases()
	kernels["stationary"] = gppl.Add(gppl.SE{Variance: 1, Lengthscale: 2}, gppl.White{Variance: 1})
	for name, k := range kernels {
		got := make([]float64, 6)
		if err := gppl.Covariance(t.Context(), got, k, gppl.Scalars(a), gppl.Scalars(b)); err != nil {
			t.Fatal(err)
		}
		for i, x := range a {
			for j, y := range b {
				if want := placedCovariance(k, x, y); !(math.Abs(got[2*i+j]-want) <= 1e-14) {
					t.Errorf("%s: k(%v, %v) = %v, want %v", name, x, y, got[2*i+j], want)
				}
			}
		}
	}
}

// TestChangePointStandardError: the place of a change has the standard error of the curvature in
// the place itself and the logs of the others, in any unit and whatever its sign.
func TestChangePointStandardError(t *testing.T) {
	t.Parallel()
	const where = 90.0
	truth := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 12},
		After: gppl.SE{Variance: 2, Lengthscale: 3}, Location: where, Width: 2}, Noise: 0.05}
	changed := drawnChange(t, truth, 150, 4)
	for i, view := range []struct{ unit, origin float64 }{{1, 0}, {1, 200}, {1, where}, {1e3, 0}, {1e-3, 95}} {
		if testkit.Quick() && i%2 == 1 {
			continue
		}
		start := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 12 * view.unit},
			After:    gppl.SE{Variance: 2, Lengthscale: 3 * view.unit},
			Location: view.unit * (where - view.origin), Width: 2 * view.unit}, Noise: 0.05}
		l, err := gppl.NewExact(t.Context(), start, changed.in(view.unit, view.origin))
		if err != nil {
			t.Fatal(err)
		}
		r, err := gppl.Fit(t.Context(), l, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p := r.Params[4]
		if p.Role != gppl.RoleLocation || !math.IsNaN(p.StdErrLog) {
			t.Fatalf("%+v is not the place, or has a standard error of its logarithm", p)
		}
		want := placeError(t, l, r, 4, view.unit)
		if got := p.StdErr(); !(math.Abs(got-want) <= 1e-2*want) || got < 1e-3*view.unit || got > 20*view.unit {
			t.Errorf("unit %v, origin %v: the place %v has a standard error of %v, want %v: %v",
				view.unit, view.origin, p.Value, got, want, r.Warnings)
		}
		if text := fmt.Sprintf("± %.2g", p.StdErr()); !strings.Contains(r.String(), text) {
			t.Errorf("%s is not in %v", text, r)
		}
		file := filepath.Join(t.TempDir(), "result.json")
		if err := store.Save(file, r); err != nil {
			t.Fatal(err)
		}
		if back, err := store.Load(file); err != nil || back.Params[4].StdErr() != p.StdErr() {
			t.Errorf("saved and loaded: %v", err)
		}
	}
}

// TestChangePointUnits: the unit and the origin of x change neither the training of a change point, nor
// the draws around it.
func TestChangePointUnits(t *testing.T) {
	t.Parallel()
	truth := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 12},
		After: gppl.SE{Variance: 2, Lengthscale: 3}, Location: 60, Width: 6}, Noise: 0.05}
	changed := drawnChange(t, truth, 120, 2)
	type outcome struct{ value, at, stdErr, mean, spread, k float64 }
	learn := func(unit, origin float64) (o outcome) {
		d := changed.in(unit, origin)
		family := gppl.Model{Kernel: gppl.ChangePoint{Before: gppl.SE{Variance: 1, Lengthscale: 1},
			After: gppl.SE{Variance: 1, Lengthscale: 1}, Width: 6 * unit}, Noise: 1}
		l, err := gppl.NewExact(t.Context(), testkit.Must(auto.StartFrom(t.Context(), family.Fix("width"), d))(t), d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := gppl.Fit(t.Context(), l, nil, gppl.Settings{})
		if err != nil || r.Status != gppl.Converged {
			t.Fatalf("unit %v, origin %v: %v %v", unit, origin, r, err)
		}
		u, err := draws.NewUncertain(t.Context(), l, r, draws.UncertainSettings{Seed: 1})
		if err != nil || u.Fallback != "" {
			t.Fatalf("unit %v, origin %v: %v %v", unit, origin, u, err)
		}
		place := func(m gppl.Model) float64 { return m.Kernel.(gppl.ChangePoint).Location/unit + origin }
		var square float64
		for _, m := range u.Models {
			o.mean += place(m) / float64(len(u.Models))
		}
		for _, m := range u.Models {
			square += (place(m) - o.mean) * (place(m) - o.mean) / float64(len(u.Models))
		}
		o.value, o.at, o.stdErr, o.spread, o.k = r.Value, place(r.Model), r.Params[4].StdErr()/unit, math.Sqrt(square), u.K
		return o
	}
	want := learn(1, 0)
	if !(want.spread > 0.5*want.stdErr && want.spread < 2*want.stdErr) {
		t.Errorf("draws of the place spread by %v, its standard error is %v", want.spread, want.stdErr)
	}
	// The last: hours in seconds since 1970.
	for i, view := range []struct{ unit, origin float64 }{{1e-9, 50}, {1e12, 0}, {3600, -4.7e5}} {
		if testkit.Quick() && i != 1 {
			continue
		}
		got := learn(view.unit, view.origin)
		if !(math.Abs(got.value-want.value) <= 1e-6) || !(math.Abs(got.at-want.at) <= 1e-3) ||
			!(math.Abs(got.stdErr/want.stdErr-1) <= 1e-2) ||
			!(math.Abs(got.mean-want.mean) <= 0.05*want.spread) || !(math.Abs(got.spread/want.spread-1) <= 0.05) ||
			!(math.Abs(got.k-want.k) <= 0.02) {
			t.Errorf("unit %v, origin %v: %+v, want %+v", view.unit, view.origin, got, want)
		}
	}
}

// changedSeries is a draw at the times 0, 1, …
type changedSeries struct{ x, y []float64 }

func drawnChange(t *testing.T, m gppl.Model, n int, seed uint64) (s changedSeries) {
	s.x = make([]float64, n)
	for i := range s.x {
		s.x[i] = float64(i)
	}
	s.y = testkit.Must(m.Sample(t.Context(), gppl.Scalars(s.x), seed))(t).Y
	return s
}

// in returns the series in another unit of x, counted from origin.
func (s changedSeries) in(unit, origin float64) gppl.Data {
	at := make([]float64, len(s.x))
	for i, x := range s.x {
		at[i] = unit * (x - origin)
	}
	return gppl.Data{X: gppl.Scalars(at), Y: s.y}
}

// placeError is the standard error of parameter number place by the inverse of the second
// derivatives, differences of gradients, in its unit and the logs of the others.
func placeError(t *testing.T, l gppl.Loss, r *gppl.Result, place int, unit float64) float64 {
	const h = 1e-3
	theta := r.Theta()
	p := len(theta)
	curvature := mat.NewDense(p, p, nil)
	grad := make([]float64, p)
	for a := range p {
		for _, side := range []float64{h, -h} {
			at := slices.Clone(theta)
			if a == place {
				at[a] += side * unit
			} else {
				at[a] *= math.Exp(side)
			}
			if _, err := l.ValueGrad(t.Context(), grad, at); err != nil {
				t.Fatal(err)
			}
			for b, g := range grad {
				if b == place {
					g *= unit
				} else {
					g *= at[b]
				}
				curvature.Set(a, b, curvature.At(a, b)+g/(math.Copysign(2*h, side)))
			}
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(curvature); err != nil {
		t.Fatal(err)
	}
	return unit * math.Sqrt(inverse.At(place, place))
}
