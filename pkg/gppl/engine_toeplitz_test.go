package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// regularData is n places of a constant step, from lo, without the missing ones.
func regularData(tb testing.TB, n int, lo, step float64, missing ...int) Data {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(uint64(n), 9))
	var x, y []float64
	for i := range n {
		v := math.Sin(float64(i)/7) + 0.3*rnd.NormFloat64()
		if len(missing) > 0 && missing[0] == i {
			missing = missing[1:]
			continue
		}
		x, y = append(x, lo+step*float64(i)), append(y, v)
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// TestToeplitzPromise takes the bound of the engine at its word: for values and
// gradients, over noise and steps that are off by rounding or by more.
func TestToeplitzPromise(t *testing.T) {
	for _, k := range []Kernel{SE{1, 3}, Laplace{2, 20}, RQ{1, 4, 0.7}, Periodic{1, 0.8, 11}, Add(Matern32{1, 5}, White{0.1}),
		Mul(SE{1, 40}, Periodic{1, 1, 12})} {
		for _, noise := range []float64{1e-6, 1e-2, 3} {
			for _, jiggle := range []float64{0, 1e-12, 1e-9} {
				d := regularData(t, 151, 1e3, 1, 5, 77, 78)
				rnd := rand.New(rand.NewPCG(1, 1))
				for i := range d.X.at[1 : d.Len()-1] {
					d.X.at[i+1] += jiggle * (rnd.Float64() - 0.5)
				}
				name := fmt.Sprintf("%v, noise %g, off by %g", k, noise, jiggle)
				m := Model{Kernel: k, Noise: noise}
				got, grad, bound := evaluated(t, m, d, EngineToeplitz)
				want, wantGrad, rounding := evaluated(t, m, d, EngineDense)
				if off := math.Abs(got - want); off > bound+rounding {
					t.Errorf("%s: value off by %g, promised %g", name, off, bound)
				}
				for p := range grad {
					if off := math.Abs(grad[p] - wantGrad[p]); off > 30*(bound+rounding)+1e-12*math.Abs(wantGrad[p]) {
						t.Errorf("%s: derivative %d = %g, dense %g, promised %g", name, p, grad[p], wantGrad[p], bound)
					}
				}
			}
		}
	}
}

// TestToeplitzOffGrid is TestToeplitzPromise for random kernels, steps and noise, with inputs that are off a grid by as little as
// the rounding of dates or as much as a hundredth of a step, and observations that the model may have made.
func TestToeplitzOffGrid(t *testing.T) {
	rnd := rand.New(rand.NewPCG(26, 11))
	compared := 0
	for range testkit.Size(200, 500, 5000) {
		n, step := 30+rnd.IntN(200), math.Exp(3*rnd.NormFloat64())
		off := 0.01 * step * math.Exp(-25*rnd.Float64())
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)*step + off*(2*rnd.Float64()-1)
		}
		length := func() float64 { return step * math.Exp(2*rnd.NormFloat64()) }
		positive := func() float64 { return math.Exp(2 * rnd.NormFloat64()) }
		k := []Kernel{
			SE{positive(), length()}, Laplace{positive(), length()}, Matern32{positive(), length()},
			LocPer{positive(), 30 * length(), length(), positive()},
			Add(SE{positive(), length()}, LocPer{positive(), 30 * length(), length(), positive()}),
			Add(Matern52{positive(), length()}, RQ{positive(), length(), positive()}),
			Add(Laplace{positive(), length()}, Periodic{positive(), positive(), length()}),
		}[rnd.IntN(7)]
		m := Model{Kernel: k, Noise: math.Exp(-1 + 2*rnd.NormFloat64())}
		d := drawFrom(t, m, Scalars(x), rnd)
		l, err := NewExact(t.Context(), m, d, WithEngine(EngineToeplitz))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.ValueGrad(t.Context(), nil, m.Values()); errors.As(err, new(*Refusal)) {
			continue // so far off that it is no grid
		}
		compared++
		got, grad, bound := evaluated(t, m, d, EngineToeplitz)
		want, wantGrad, rounding := evaluated(t, m, d, EngineDense)
		bound += rounding
		if off := math.Abs(got - want); off > bound {
			t.Errorf("%v, n=%d, off by %.1g of a step: value off by %g, promised %g", m, n, off/step, off, bound)
		}
		steepest := 1. // see LossReport.LastBound
		slopes := make([]float64, len(grad)-1)
		for _, lag := range x {
			clear(slopes)
			k.Contract(slopes, []float64{1}, []float64{math.Abs(lag - x[0])})
			for _, s := range slopes {
				steepest = max(steepest, math.Abs(s)/variance(k))
			}
		}
		for p := range grad {
			if off := math.Abs(grad[p] - wantGrad[p]); off > 20*steepest*bound {
				t.Errorf("%v, n=%d, off by %.1g of a step: derivative %d = %g, dense %g, promised %g",
					m, n, off/step, p, grad[p], wantGrad[p], bound)
			}
		}
	}
	if least := testkit.Size(150, 400, 4000); compared < least {
		t.Errorf("%d cases compared, want %d", compared, least)
	}
}

// TestToeplitzDates: the days of years that are written as decimal years are off a grid by rounding, and still take this engine.
func TestToeplitzDates(t *testing.T) {
	const n, year, day = 2000, 2015, 1 / 365.25
	x := make([]float64, n)
	for i := range x {
		x[i] = year + day*float64(i)
	}
	rnd := rand.New(rand.NewPCG(20, 15))
	y := make([]float64, n)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	m := Model{Kernel: Add(SE{0.15, 1.8 * day}, LocPer{0.64, 1580 * day, 7 * day, 0.53}), Noise: 0.13}
	l, err := NewExact(t.Context(), m, Data{X: Scalars(x), Y: y})
	if err != nil {
		t.Fatal(err)
	}
	if engine, seconds := l.Cost(m.Values()); engine != EngineToeplitz {
		t.Errorf("%v takes %s, %v s an evaluation\n%s", m, engine, seconds, l.Explain())
	}
}

// evaluated returns value and gradient by the named engine, and what it promises.
func evaluated(t *testing.T, m Model, d Data, engine string) (value float64, grad []float64, bound float64) {
	t.Helper()
	l, err := NewExact(t.Context(), m, d, WithEngine(engine))
	if err != nil {
		t.Fatal(err)
	}
	theta := Values(l.Params())
	grad = make([]float64, len(theta))
	if value, err = l.ValueGrad(t.Context(), grad, theta); err != nil {
		t.Fatalf("%v by %s: %v", m, engine, err)
	}
	for p := range grad {
		grad[p] *= theta[p]
	}
	bound = l.Report().LastBound
	return value, grad, bound
}

func TestToeplitzChecks(t *testing.T) {
	d := regularData(t, 200, 0, 1, 50)
	var f *toeplitzFactor
	if _, err := nllBy(newToeplitzExact(lineOf(d.X.at, d.Y), options{Limits: choice.Limits{Memory: choice.DefaultMemory}}),
		make([]float64, 3), SE{1, 4}, 0.1, d.Len(),
		func(any exactFactor) { f = any.(*toeplitzFactor) }); err != nil {
		t.Fatal(err)
	}
	f.factor.CombinedSums(f.sums, &f.Solutions, blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}, &f.work)
	other := verify.Pick(len(f.sums), f.noise)
	checkSums := func() error { return f.factor.VerifySums(f.sums, f.Combined, other) }
	if err := checkSums(); err != nil {
		t.Fatal(err)
	}
	right := slices.Clone(f.sums)
	looked := map[int]bool{} // the lags that the check looks at
	for d := range f.sums {
		f.sums[d] += 1e-4 * (1 + math.Abs(right[0]))
		if err := checkSums(); errors.As(err, new(verify.Failed)) {
			looked[d] = true
		}
		f.sums[d] = right[d]
	}
	if len(looked) != 2 || !looked[0] || !looked[other] {
		t.Errorf("the check looks at lags %v, want 0 and %d", looked, other)
	}
	for _, name := range []string{"wrong sign", "factor 1.001", "dropped"} {
		faults[name](f.sums, 0)
		if err := checkSums(); !errors.As(err, new(verify.Failed)) {
			t.Errorf("%s: %v", name, err)
		}
		copy(f.sums, right)
	}
	if err := f.factor.Verify(&f.Solutions, f.c); err != nil {
		t.Fatal(err)
	}
	f.Rest.Data[3] += 1e-3
	if err := f.factor.Verify(&f.Solutions, f.c); !errors.As(err, new(verify.Failed)) {
		t.Errorf("the solution is wrong: %v", err)
	}
}

func TestToeplitzPosterior(t *testing.T) {
	d := regularData(t, 130, 5, 0.5, 20, 21)
	var at []float64
	for i := range 60 {
		at = append(at, -20+2.3*float64(i))
	}
	x := Scalars(at)
	for _, k := range []Kernel{SE{1, 4}, Periodic{1, 1, 9}, Add(RQ{1, 3, 1}, White{0.2})} {
		m := Model{Kernel: k, Noise: 0.05}
		got, err := NewPosterior(t.Context(), m, d, WithEngine(EngineToeplitz))
		if err != nil {
			t.Fatal(err)
		}
		want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
		if err != nil {
			t.Fatal(err)
		}
		mean, v := testkit.Must2(got.Latent(t.Context(), x))(t)
		wantMean, wantV := testkit.Must2(want.Latent(t.Context(), x))(t)
		for i := range at {
			if math.Abs(mean[i]-wantMean[i]) > 1e-9 || math.Abs(v[i]-wantV[i]) > 1e-9 {
				t.Errorf("%v at %v: %v, %v, dense %v, %v", k, at[i], mean[i], v[i], wantMean[i], wantV[i])
			}
		}
		joint, wantJoint := dense.NewLower(len(at)), dense.NewLower(len(at))
		if err := got.predictor.joint(context.Background(), dense.AsColumn(mean), joint, x); err != nil {
			t.Fatal(err)
		}
		if err := want.predictor.joint(context.Background(), dense.AsColumn(wantMean), wantJoint, x); err != nil {
			t.Fatal(err)
		}
		for i, c := range joint.At(0, 0).Data {
			if math.Abs(c-wantJoint.At(0, 0).Data[i]) > 1e-9 {
				t.Errorf("%v: covariance %d = %v, dense %v", k, i, c, wantJoint.At(0, 0).Data[i])
			}
		}
	}
}

// TestToeplitzPosteriorAllocations: predicting at many inputs allocates less than a
// vector of n for each.
func TestToeplitzPosteriorAllocations(t *testing.T) {
	const n, inputs = 3000, 20
	d := regularData(t, n, 0, 1)
	p, err := NewPosterior(t.Context(), Model{Kernel: SE{1, 4}, Noise: 0.1}, d, WithEngine(EngineToeplitz))
	if err != nil {
		t.Fatal(err)
	}
	x, means, variances := d.X.Slice(0, inputs), dense.New(inputs, 1), make([]float64, inputs)
	if bytes := leastAllocated(func() {
		if err := p.predictor.latent(context.Background(), means, variances, x); err != nil {
			t.Fatal(err)
		}
	}); bytes > 8*n {
		t.Errorf("%d bytes for %d inputs", bytes, inputs)
	}
}
