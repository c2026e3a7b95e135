package gppl

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"

	"gonum.org/v1/gonum/mat"
)

// withOmega returns p as a matrix alone, so that losses have to use it.
func withOmega(p *Projection) *Projection {
	q := ProjectionOf(p.formed(context.Background()))
	q.Orthonormal = p.Orthonormal
	return q
}

// waveInputs are n inputs of a kind that waves have to cope with.
func waveInputs(kind string, n int, rnd *rand.Rand) Inputs {
	x := make([]float64, n)
	for i := range x {
		switch kind {
		case "grid":
			x[i] = float64(i)
		case "clusters":
			x[i] = 100*float64(rnd.IntN(10)) + 60*rnd.Float64()
		case "duplicates":
			x[i] = float64(rnd.IntN(n))
		case "seconds":
			x[i] = 1.7e9 + 1e6*rnd.Float64()
		default:
			x[i] = 1000 * rnd.Float64()
		}
	}
	return Scalars(x)
}

// TestWavesAgainstOmega compares the projected likelihood by moments with the likelihood of
// the same Ω as a matrix, by the same engine and densely: values within what both
// promise, gradients and information within the tolerance.
func TestWavesAgainstOmega(t *testing.T) {
	t.Parallel()
	cases, most := testkit.Size(15, 30, 100), testkit.Size(60, 200, 200)
	var byWaves int
	var worstValue, worstGrad, worstInfo, worstPromise float64
	for i := range cases {
		rnd := rand.New(rand.NewPCG(uint64(i), 12))
		kind := []string{"uniform", "grid", "clusters", "duplicates", "seconds"}[i%5]
		k := 5 + rnd.IntN(most)
		x := waveInputs(kind, 2*k+rnd.IntN(most*3/2), rnd)
		lo, hi := x.Range(0)
		l := (hi - lo) * math.Exp(-4.5*rnd.Float64())
		v, noise := math.Exp(3*rnd.NormFloat64()), math.Exp(3*rnd.NormFloat64())
		kernel := []Kernel{
			SE{Variance: v, Lengthscale: l}, RQ{Variance: v, Lengthscale: l, Alpha: 2},
			Add(SE{Variance: v, Lengthscale: l}, SE{Variance: v, Lengthscale: l / 3}),
			LocPer{Variance: v, Lengthscale: l, Period: l / 3, PeriodicLengthscale: 1},
		}[rnd.IntN(4)]
		m := Model{Kernel: kernel, Noise: noise}
		p, err := SpectralProjection(t.Context(), x, k)
		if err != nil {
			t.Fatal(err)
		}
		if p.waves == nil {
			continue
		}
		byWaves++
		y := make([]float64, x.Len())
		for j := range y {
			y[j] = math.Sqrt(v)*math.Sin(6*(x.at[j]-lo)/l) + math.Sqrt(noise)*rnd.NormFloat64()
		}
		d, err := NewData(x, y)
		if err != nil {
			t.Fatal(err)
		}
		theta := Values(m.Params())
		for name, build := range map[string]func(context.Context, Model, Data, *Projection, ...Option) (*Projected, error){"PL": NewProjected,
			"residual": NewResidual} {
			at := func(p *Projection, opts ...Option) (*Projected, float64, []float64, *mat.SymDense, error) {
				loss, err := build(t.Context(), m, d, p, opts...)
				if err != nil {
					return nil, 0, nil, nil, err
				}
				grad := make([]float64, len(theta))
				value, err := loss.ValueGrad(t.Context(), grad, theta)
				if err != nil {
					return nil, 0, nil, nil, err
				}
				for j := range grad {
					grad[j] *= theta[j]
				}
				info, err := loss.Information(t.Context(), theta)
				return loss, value, grad, info, err
			}
			waves, value, grad, info, err := at(p, WithEngine(EngineSpectral))
			if err != nil {
				continue // refused
			}
			if waves.data.Waves == nil {
				t.Fatal("not by waves")
			}
			for _, engine := range []string{EngineSpectral, EngineDense} {
				other, want, wantGrad, wantInfo, err := at(withOmega(p), WithEngine(engine))
				if err != nil && engine == EngineSpectral {
					continue // the series has another period
				}
				if err != nil {
					t.Fatal(err)
				}
				where := fmt.Sprintf("case %d: %s, %s n = %d, k = %d, v/σ² = %.2g, %v, %s",
					i, name, kind, x.Len(), p.k, v/noise, kernel, engine)
				a, _ := promised(waves)
				b, _ := promised(other)
				off := math.Abs(value - want)
				if off > a+b {
					t.Errorf("%s: value %v, by Ω %v, off by %.2g, promised %.2g and %.2g", where, value, want, off, a, b)
				}
				worstPromise = max(worstPromise, off/(a+b))
				scale := float64(x.Len())
				worstValue = max(worstValue, off/max(math.Abs(want), scale))
				var diff, norm float64
				for j := range grad {
					diff, norm = math.Hypot(diff, grad[j]-wantGrad[j]), math.Hypot(norm, wantGrad[j])
				}
				worstGrad = max(worstGrad, diff/max(norm, float64(p.k)))
				if diff > 1e-7*max(norm, float64(p.k)) {
					t.Errorf("%s: gradient %v, by Ω %v", where, grad, wantGrad)
				}
				for a := range theta {
					for b := range theta {
						e := math.Abs(info.At(a, b)-wantInfo.At(a, b)) / math.Sqrt(wantInfo.At(a, a)*wantInfo.At(b, b))
						worstInfo = max(worstInfo, e)
						if e > 1e-7 {
							t.Errorf("%s: information[%d][%d] %v, by Ω %v", where, a, b, info.At(a, b), wantInfo.At(a, b))
						}
					}
				}
			}
		}
	}
	if byWaves < cases/3 {
		t.Errorf("only %d of %d cases by waves", byWaves, cases)
	}
	t.Logf("%d cases by waves: value %.2g relative, %.2g of what is promised; gradient %.2g; information %.2g",
		byWaves, worstValue, worstPromise, worstGrad, worstInfo)
}

// TestWavesMemory sets PL up and evaluates it at n = 250 000 and k = 100, where Ω would
// take 200 MB. It counts all that is allocated, whether or not it is freed.
func TestWavesMemory(t *testing.T) {
	if testkit.Quick() {
		t.Skip("takes some seconds")
	}
	const n, k, limit = 250_000, 100, 60 << 20
	rnd := rand.New(rand.NewPCG(1, 13))
	x, y := waveInputs("uniform", n, rnd), make([]float64, n)
	for i := range y {
		y[i] = math.Sin(x.at[i]/50) + 0.3*rnd.NormFloat64()
	}
	d, err := NewData(x, y)
	if err != nil {
		t.Fatal(err)
	}
	m := Model{Kernel: SE{Variance: 1, Lengthscale: 25}, Noise: 0.1}
	for _, c := range []struct {
		name  string
		build func(context.Context, Model, Data, *Projection, ...Option) (*Projected, error)
	}{{"PL", NewProjected}, {"residual", NewResidual}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := NewProjection(t.Context(), Spectral{}, x, k, 1)
		if err != nil {
			t.Fatal(err)
		}
		loss, err := c.build(t.Context(), m, d, p)
		if err != nil {
			t.Fatal(err)
		}
		theta := Values(m.Params())
		if _, err := loss.ValueGrad(t.Context(), make([]float64, len(theta)), theta); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > limit {
			t.Errorf("%s: %d MB were allocated, limit %d MB", c.name, got>>20, limit>>20)
		} else {
			t.Logf("%s: %d MB were allocated", c.name, got>>20)
		}
		if p.omega != nil {
			t.Errorf("%s: Ω was formed", c.name)
		}
	}
}

// TestWavesDeterminism wants the same digits on any number of processors, and from
// losses made one after the other.
func TestWavesDeterminism(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 13))
	x := waveInputs("seconds", 3000, rnd)
	y := make([]float64, x.Len())
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	d, err := NewData(x, y)
	if err != nil {
		t.Fatal(err)
	}
	m := Model{Kernel: Add(SE{Variance: 1, Lengthscale: 5e4}, RQ{Variance: 1, Lengthscale: 2e5, Alpha: 2}), Noise: 0.1}
	run := func(procs int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		p, err := NewProjection(t.Context(), Spectral{}, x, 101, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out string
		for range 2 {
			loss, err := NewResidual(t.Context(), m, d, p, WithEngine(EngineSpectral))
			if err != nil {
				t.Fatal(err)
			}
			theta := Values(m.Params())
			grad := make([]float64, len(theta))
			v, err := loss.ValueGrad(t.Context(), grad, theta)
			if err != nil {
				t.Fatal(err)
			}
			next := fmt.Sprintf("%x %x", v, grad)
			if out != "" && next != out {
				t.Errorf("%d processors: a second loss gives %s, the first %s", procs, next, out)
			}
			out = next
		}
		return fmt.Sprintf("%s %x", out, testkit.Must(p.Omega(t.Context()))(t).RawMatrix().Data[:1000])
	}
	one := run(1)
	for _, procs := range []int{2, 3} {
		if more := run(procs); more != one {
			t.Errorf("%d processors give other digits than one", procs)
		}
	}
}

// TestWavesExtend checks that waves are extended by waves, that Ω keeps its first
// columns, that z is Ωᵀy whether or not there is Ω, and that a projection that was
// saved goes on as the one that was not.
func TestWavesExtend(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 13))
	x := waveInputs("seconds", 700, rnd)
	part, err := SpectralProjection(t.Context(), x, 61)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	loaded := new(Projection)
	if err := json.Unmarshal(b, loaded); err != nil {
		t.Fatal(err)
	}
	more, err := part.Extend(t.Context(), x, 101)
	if err != nil {
		t.Fatal(err)
	}
	again, err := loaded.Extend(t.Context(), x, 101)
	if err != nil {
		t.Fatal(err)
	}
	if part.waves == nil || more.waves == nil || again.waves == nil {
		t.Fatal("not by waves")
	}
	omega := testkit.Must(more.Omega(t.Context()))(t)
	if !mat.Equal(omega.Slice(0, 700, 0, 61), testkit.Must(part.Omega(t.Context()))(t)) {
		t.Error("Extend changed the columns that were there")
	}
	if !mat.Equal(omega, testkit.Must(again.Omega(t.Context()))(t)) {
		t.Error("a projection that was saved is extended to other columns")
	}
	var gram mat.Dense
	gram.Mul(omega.T(), omega)
	if !mat.EqualApprox(&gram, mat.NewDiagDense(101, slices.Repeat([]float64{1}, 101)), 1e-13) {
		t.Error("Ω is not orthonormal")
	}
	y := make([]float64, 700)
	for i := range y {
		y[i] = rnd.NormFloat64()
	}
	for j, z := range more.Project(y) {
		if want := mat.Dot(omega.ColView(j), mat.NewVecDense(700, y)); math.Abs(z-want) > 1e-8 {
			t.Errorf("z[%d] = %v, by Ω %v", j, z, want)
		}
	}

	// Inputs other than the waves' have Ω alone.
	d, err := NewData(waveInputs("grid", 700, rnd), y)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := NewProjected(t.Context(), Model{Kernel: SE{Variance: 1, Lengthscale: 30}, Noise: 0.1}, d, part)
	if err != nil {
		t.Fatal(err)
	}
	if loss.data.Waves != nil {
		t.Error("waves at other inputs than their own")
	}
}
