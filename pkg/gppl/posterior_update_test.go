package gppl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// updateCase is a model with data in order of x.
func updateCase(number int) (m Model, d Data) {
	rnd := rand.New(rand.NewPCG(uint64(number), 91))
	n := 3 + rnd.IntN(60)
	x, y, errs := make([]float64, n), make([]float64, n), make([]float64, n)
	at := 1000 * rnd.NormFloat64()
	for i := range x {
		if gap := rnd.ExpFloat64(); rnd.IntN(8) > 0 { // else one at the same x
			at += gap
		}
		x[i], y[i], errs[i] = at, 3+rnd.NormFloat64(), 0.1+rnd.ExpFloat64()
	}
	l := func() float64 { return 0.3 + 10*rnd.ExpFloat64() }
	kernels := []Kernel{
		Laplace{1, l()}, Matern32{0.7, l()}, Matern52{1.2, l()}, Add(Matern32{1, l()}, Laplace{0.3, l()}, White{0.1}),
		Add(Matern52{1, l()}, Matern52{0.4, l()}),
		SHO{1, l(), 3}, SHO{1, l(), 0.4}, Add(Matern32{1, l()}, Rotation{0.8, l(), 1, 0.5, 0.4}), Rotation{1, l(), 2, 0.1, 0.2},
		Add(Mul(Matern32{1, l()}, Cosine{1, l()}), Matern52{0.3, l()}), Mul(Periodic{1, 1, l()}, Laplace{1, 5 * l()}),
	}
	means := []Mean{nil, Intercept{}, AddMeans(Intercept{}, Linear{at}), GaussianBeta{AddMeans(Intercept{}, Linear{at},
		Regressor{"errs"}), []float64{2, 1, 0.5}}}
	m = Model{Kernel: kernels[number%len(kernels)], Noise: math.Exp(-2 + rnd.NormFloat64()), Mean: means[rnd.IntN(len(means))]}
	d, err := NewData(Scalars(x).WithColumn("errs", errs), y)
	if kind := rnd.IntN(3); kind == 1 && err == nil {
		d, err = d.WithErrors(errs)
	} else if kind == 2 && err == nil {
		d, err = d.WithRelativeErrors(errs)
	}
	if err != nil {
		panic(err)
	}
	return m, d
}

// TestUpdate: a posterior that took the last observations one by one, or together, agrees with a posterior of all of them,
// within and beyond the data, jointly too; the one before stays what it was.
func TestUpdate(t *testing.T) {
	t.Parallel()
	const within = 1e-8 // standard deviations of y
	for number := range testkit.Size(110, 1100, 20000) {
		m, d := updateCase(number)
		n := d.Len()
		first := n - rand.New(rand.NewPCG(uint64(number), 92)).IntN(n-2)
		first = max(first, 3)
		name := fmt.Sprintf("case %d, %v, %d of %d observations", number, m, first, n)
		p, err := NewPosterior(t.Context(), m, d.Pick(timeline.Range(0, first)), WithEngine(EngineStateSpace))
		if errors.As(err, new(*Refusal)) {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil {
			continue // no such regression on these few
		}
		end := d.X.at[n-1]
		at := []float64{end, end + 0.1, end + 3, end + 1e4, d.X.at[0] - 2, d.X.at[first-1], 0.5 * (d.X.at[first-1] + end), d.X.at[0]}
		regressor := []float64{1, 2, 3, 4, 5, 6, 7, 8}
		x := Scalars(at).WithColumn("errs", regressor)
		before, beforeVariances := testkit.Must2(p.Latent(t.Context(), x))(t)
		u := p
		for i := first; i < n && err == nil; {
			j := min(n, i+1+i%3)
			u, err = u.Update(t.Context(), d.Pick(timeline.Range(i, j)))
			i = j
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
		if err != nil {
			continue
		}
		for _, x := range []Inputs{x.Slice(0, 4), x} { // from the end on, and within
			mean, variances := testkit.Must2(u.Latent(t.Context(), x))(t)
			wantMean, wantVariances := testkit.Must2(want.Latent(t.Context(), x))(t)
			for i := range mean {
				if tol := within * (3 + math.Abs(wantMean[i])); !(math.Abs(mean[i]-wantMean[i]) <= tol &&
					math.Abs(variances[i]-wantVariances[i]) <= within*(1+wantVariances[i])) {
					t.Fatalf("%s at %v: N(%v, %v), all together N(%v, %v)", name, x.at[i], mean[i], variances[i], wantMean[i], wantVariances[i])
				}
			}
		}
		for _, x := range []Inputs{x.Slice(0, 4), x} {
			gotMean, gotCov, err := u.joint(t.Context(), x)
			wantMean, wantCov, wantErr := want.joint(t.Context(), x)
			if err != nil || wantErr != nil {
				t.Fatal(err, wantErr)
			}
			for i := range x.at {
				for j := range i + 1 {
					a, b := gotCov.At(0, 0), wantCov.At(0, 0)
					if v, w := a.Data[i*a.Stride+j], b.Data[i*b.Stride+j]; math.Abs(v-w) > within*(1+math.Abs(w)) ||
						math.Abs(gotMean[i]-wantMean[i]) > within*(3+math.Abs(wantMean[i])) {
						t.Fatalf("%s: covariance (%d, %d) %v, all together %v", name, i, j, v, w)
					}
				}
			}
		}
		for i, c := range u.Coefficients() {
			if w := want.Coefficients()[i]; math.Abs(c.Value-w.Value) > 1e-6*(w.StdErr+math.Abs(w.Value)) ||
				math.Abs(c.StdErr-w.StdErr) > 1e-6*w.StdErr {
				t.Fatalf("%s: coefficient %v, all together %v", name, c, w)
			}
		}
		if mean, variances, _ := p.Latent(t.Context(), x); !slices.Equal(mean, before) || !slices.Equal(variances, beforeVariances) {
			t.Fatalf("%s: Update changed the posterior that it began from", name)
		}
	}
}

// TestOneStep compares predictions one step ahead, of the state space and jointly by other engines, with conditioning anew for
// each.
func TestOneStep(t *testing.T) {
	t.Parallel()
	for number := range testkit.Size(22, 220, 2200) {
		m, d := updateCase(number)
		n := d.Len()
		first := max(4, n/2)
		if n <= first {
			continue
		}
		for _, engine := range []string{EngineStateSpace, EngineDense} {
			p, err := NewPosterior(t.Context(), m, d.Pick(timeline.Range(0, first)), WithEngine(engine))
			if err != nil {
				continue
			}
			mean, variances, err := p.OneStep(context.Background(), d.Pick(timeline.Range(first, n)))
			if err != nil {
				t.Fatal(err)
			}
			rows := d.rowNoise()
			noise := rows.Set(nil, n, m.Noise+capability.Nugget(m.Kernel))
			for i := first; i < n; i++ {
				want, err := NewPosterior(t.Context(), m, d.Pick(timeline.Range(0, i)), WithEngine(EngineDense))
				if err != nil {
					t.Fatal(err)
				}
				wm, wv := testkit.Must2(want.Latent(t.Context(), d.X.Slice(i, i+1)))(t)
				if v := wv[0] - capability.Nugget(m.Kernel) + noise[i]; math.Abs(mean[i-first]-wm[0]) > 1e-7*(3+math.Abs(wm[0])) ||
					math.Abs(variances[i-first]-v) > 1e-7*v {
					t.Fatalf("case %d, %s, %v: observation %d is predicted by N(%v, %v), conditioned anew by N(%v, %v)",
						number, engine, m, i, mean[i-first], variances[i-first], wm[0], v)
				}
			}
		}
	}
}

// TestUpdateRefuses: what Update cannot do is an error of one line that says what can.
func TestUpdateRefuses(t *testing.T) {
	d := regularData(t, 50, 0, 0.5)
	one := func(x float64) Data { return Data{X: Scalars([]float64{x}), Y: []float64{1}} }
	end := d.X.at[d.Len()-1]
	for _, c := range []struct {
		engine string
		kernel Kernel
		d      Data
		want   string
	}{
		{EngineStateSpace, Matern32{1, 5}, one(end - 0.1), "before the last observation"},
		{EngineDense, Matern32{1, 5}, one(end - 0.1), "before the last observation"},
		{EngineStateSpace, Matern32{1, 5}, one(math.NaN()), "not finite"},
		{EngineDense, SE{1, 5}, one(end + 1), "NewPosterior conditions on all"},
		{EngineToeplitz, SE{1, 5}, one(end + 1), "No state space does so in order"},
	} {
		p, err := NewPosterior(t.Context(), Model{Kernel: c.kernel, Noise: 0.1}, d, WithEngine(c.engine))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Update(t.Context(), c.d); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, x = %v: %v, want %q", c.engine, c.d.X.at, err, c.want)
		}
	}
}

// TestUpdateAnyNumber: a posterior takes further observations whatever their number was and whichever engine conditioned on them,
// and the answer equals that for all of them together.
func TestUpdateAnyNumber(t *testing.T) {
	t.Parallel()
	engines := map[string]int{}
	for number := range testkit.Size(22, 550, 5000) {
		m, d := updateCase(number)
		n := d.Len()
		for _, engine := range append(Engines(), "") {
			for _, first := range []int{1, 2, 3, n / 2, n - 1} {
				if first >= n || first < 1 || testkit.Quick() && engine != "" && first > 2 {
					continue
				}
				p, err := NewPosterior(t.Context(), m, d.Pick(timeline.Range(0, first)), WithEngine(engine), WithSeconds(0.01))
				if err != nil {
					continue // no such regression on these few, or the engine does not take the kernel
				}
				about := fmt.Sprintf("case %d, %q, %v, %d of %d", number, engine, m, first, n)
				u, err := p.Update(t.Context(), d.Pick(timeline.Range(first, n)))
				if err != nil {
					t.Errorf("%s: %v", about, err)
					continue
				}
				if again, err := p.Update(t.Context(), d.Pick([]int{first})); err != nil || again.Engine() != EngineStateSpace {
					t.Errorf("%s: a second update of the same: %v", about, err)
				}
				engines[p.Engine()]++
				want, err := NewPosterior(t.Context(), m, d, WithEngine(EngineDense))
				if err != nil {
					t.Fatal(err)
				}
				x := Scalars([]float64{d.X.at[0] - 1, d.X.at[n/2], d.X.at[n-1] + 0.5}).WithColumn("errs", []float64{1, 2, 3})
				mean, variances := testkit.Must2(u.Latent(t.Context(), x))(t)
				wantMean, wantVariances := testkit.Must2(want.Latent(t.Context(), x))(t)
				for i := range mean {
					if !(math.Abs(mean[i]-wantMean[i]) <= 1e-7*(3+math.Abs(wantMean[i])) &&
						math.Abs(variances[i]-wantVariances[i]) <= 1e-7*(1+wantVariances[i])) {
						t.Errorf("%s at %v: N(%v, %v), all together N(%v, %v)", about, x.at[i], mean[i], variances[i], wantMean[i],
							wantVariances[i])
					}
				}
			}
		}
	}
	t.Log(engines)
	if engines[EngineDense] == 0 || engines[EngineBanded] == 0 || engines[EngineStateSpace] == 0 {
		t.Errorf("engines: %v", engines)
	}
}

// BenchmarkUpdate is 10⁵ updates of a state of six numbers, each with a prediction one step ahead; the end equals conditioning on
// all.
func BenchmarkUpdate(b *testing.B) {
	const first, more = 100, 100_000
	rnd := rand.New(rand.NewPCG(5, 6))
	x, y := make([]float64, first+more), make([]float64, first+more)
	for i := range x {
		x[i], y[i] = float64(i)+0.3*rnd.Float64(), rnd.NormFloat64()
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		b.Fatal(err)
	}
	m := Model{Kernel: Add(Matern32{1, 40}, Rotation{0.8, 30, 2, 0.5, 0.4}), Noise: 0.2}
	start, err := NewPosterior(b.Context(), m, d.Pick(timeline.Range(0, first)), WithEngine(EngineStateSpace))
	if err != nil {
		b.Fatal(err)
	}
	ahead := Scalars([]float64{x[len(x)-1] + 1})
	want, err := NewPosterior(b.Context(), m, d, WithEngine(EngineStateSpace))
	if err != nil {
		b.Fatal(err)
	}
	wantMean, wantVariances := testkit.Must2(want.Latent(b.Context(), ahead))(b)
	b.ReportAllocs()
	for b.Loop() {
		p := start
		for i := first; i < first+more; i++ {
			if _, _, err := p.Latent(b.Context(), d.X.Slice(i, i+1)); err != nil {
				b.Fatal(err)
			}
			if p, err = p.Update(b.Context(), d.Pick(timeline.Range(i, i+1))); err != nil {
				b.Fatal(err)
			}
		}
		if mean, variances, _ := p.Latent(b.Context(), ahead); math.Abs(mean[0]-wantMean[0]) > 1e-9 || math.Abs(variances[0]-wantVariances[0]) > 1e-9 {
			b.Fatalf("N(%v, %v), all together N(%v, %v)", mean, variances, wantMean, wantVariances)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*more), "ns/update")
}

// TestUpdateInterrupted: an update that makes a state space first ends with its context, and the next one makes it anew.
func TestUpdateInterrupted(t *testing.T) {
	d := Data{X: Scalars([]float64{0, 1, 2, 3}), Y: []float64{1, 0, 1, 2}}
	p := testkit.Must(NewPosterior(t.Context(), Model{Kernel: Matern32{1, 5}, Noise: 0.1}, d, WithEngine(EngineDense)))(t)
	next := Data{X: Scalars([]float64{4}), Y: []float64{1}}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Update(ended, next); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "No state space") {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := p.Update(t.Context(), next); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
