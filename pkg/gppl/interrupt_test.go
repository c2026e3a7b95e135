package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// longLosses are losses on n observations, each with one engine, and one that takes a regular series.
func longLosses(tb testing.TB, n, k int) map[string]gppl.Loss {
	tb.Helper()
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
		y[i] = math.Sin(x[i]/7) + 0.3*math.Sin(5*x[i]*x[i])
	}
	data := gppl.Data{X: gppl.Scalars(x), Y: y}
	waves := testkit.Must(gppl.NewProjection(tb.Context(), gppl.Spectral{}, data.X, k, 1))(tb)
	matrix := testkit.Must(gppl.NewProjection(tb.Context(), gppl.Sphere{}, data.X, k, 1))(tb)
	losses := map[string]gppl.Loss{}
	for i, m := range []gppl.Model{
		{Kernel: gppl.SE{Variance: 1, Lengthscale: 6}, Noise: 0.1},
		{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 4}, Noise: 0.1},
		{Kernel: gppl.Add(gppl.Matern52{Variance: 1, Lengthscale: 4}, gppl.Laplace{Variance: 1, Lengthscale: 40}), Noise: 0.1},
		{Kernel: gppl.LocPer{Variance: 1, Lengthscale: float64(n), Period: 6, PeriodicLengthscale: 1}, Noise: 0.1},
	} {
		for j, engine := range gppl.Engines() {
			// The longest.
			if engine == gppl.EngineDense && n > 4000 || n < 1000 && !testkit.Long() &&
				(i == 2 && testkit.Quick() || i > 0 && j < 2+i/2) {
				continue
			}
			add := func(what string, l gppl.Loss, err error) {
				if err != nil {
					tb.Fatal(what, err)
				}
				if _, err := l.ValueGrad(tb.Context(), nil, gppl.Values(l.Params())); !errors.As(err, new(*gppl.Refusal)) {
					losses[fmt.Sprintf("%s %s, %v", what, engine, m.Kernel)] = l
				}
			}
			exact, err := gppl.NewExact(tb.Context(), m, data, gppl.WithEngine(engine))
			add("exact", exact, err)
			pl, err := gppl.NewProjected(tb.Context(), m, data, waves, gppl.WithEngine(engine))
			add("PL", pl, err)
			pl, err = gppl.NewProjected(tb.Context(), m, data, matrix, gppl.WithEngine(engine))
			add("PL of a matrix", pl, err)
			vfe, err := gppl.NewVFE(tb.Context(), m, data, gppl.Scalars(x[:k]), gppl.VFEOptions{}, gppl.WithEngine(engine))
			add("VFE", vfe, err)
			if engine == gppl.EngineDense || n > 4000 && j == 1 {
				whittle, err := gppl.NewWhittle(tb.Context(), m, data, gppl.WhittleOptions{})
				add("Whittle", whittle, err)
			}
		}
	}
	return losses
}

// TestInterrupted: an evaluation ends at the look at which its context does, in every engine; the loss then gives the values that
// it gave.
func TestInterrupted(t *testing.T) {
	for name, l := range longLosses(t, 700, 70) {
		t.Run(name, func(t *testing.T) {
			theta := gppl.Values(l.Params())
			grad := make([]float64, len(theta))
			want := testkit.Must(l.ValueGrad(t.Context(), grad, theta))(t)
			ctx := &testkit.Looked{Context: t.Context()}
			testkit.OnOneProcessor(func() { testkit.Must(l.ValueGrad(ctx, grad, theta))(t) })
			all := ctx.Looks.Load()
			if all < 3 {
				t.Fatalf("%d looks at an evaluation", all)
			}
			for i, end := range []int64{all / 2, all - 1, 1, 2, all / 4, 3 * all / 4} {
				if end < 1 || testkit.Quick() && i > 2 {
					continue
				}
				testkit.OnOneProcessor(func() {
					ctx := &testkit.Looked{Context: t.Context(), End: end}
					if _, err := l.ValueGrad(ctx, grad, theta); !errors.Is(err, context.Canceled) || ctx.Looks.Load() != end {
						t.Fatalf("look %d of %d: error %v after %d looks", end, all, err, ctx.Looks.Load())
					}
				})
				if testkit.Quick() && i > 0 {
					continue
				}
				if _, err := l.ValueGrad(&testkit.Looked{Context: t.Context(), End: end}, grad, theta); !errors.Is(err, context.Canceled) {
					t.Fatalf("look %d of %d, on all processors: error %v", end, all, err)
				}
				got, err := l.ValueGrad(t.Context(), grad, theta)
				if err != nil || math.Abs(got-want) > 1e-9*math.Abs(want) {
					t.Fatalf("after an interruption at look %d of %d: %v, %v, want %v", end, all, got, err, want)
				}
			}
		})
	}
}

// TestInterruptedByKernel: whatever calls a kernel stops calling it soon after one of the calls ends the context.
func TestInterruptedByKernel(t *testing.T) {
	f := &fuse{}
	for _, c := range fusedCases(t, f) {
		t.Run(c.name, func(t *testing.T) {
			f.arm(0, nil)
			want, err := c.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			calls := f.arm(0, nil)
			for i, k := range []int64{calls / 2, 1, calls - 1} {
				if k < 1 || testkit.Quick() && i > 0 {
					continue
				}
				ctx, cancel := context.WithCancel(t.Context())
				f.arm(k, cancel)
				testkit.OnOneProcessor(func() {
					_, err := c.run(ctx)
					// Information evaluates the kernel 128 times for a row of a tile, others for every observation.
					if after := f.calls.Load() - k; after > 400 {
						t.Errorf("call %d of %d: %d calls after it (error %v)", k, calls, after, err)
					}
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Errorf("call %d of %d: error %v", k, calls, err)
					}
				})
				cancel()
				f.arm(0, nil)
				got, err := c.run(t.Context())
				if err != nil {
					t.Fatalf("after call %d of %d: %v", k, calls, err)
				}
				for i := range want {
					if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
						t.Errorf("after call %d of %d: number %d is %v, was %v", k, calls, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// gaps is a context that measures the longest time between two looks at it.
type gaps struct {
	context.Context
	mu      sync.Mutex
	last    time.Time
	longest time.Duration
	where   []byte
	stack   bool
}

func (c *gaps) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if gap := now.Sub(c.last); !c.last.IsZero() && gap > c.longest {
		c.longest = gap
		if c.stack {
			c.where = make([]byte, 4096)
			c.where = c.where[:runtime.Stack(c.where, false)]
		}
	}
	c.last = now
	return nil
}

// BenchmarkInterruption reports how long the longest time between two looks at the context is.
func BenchmarkInterruption(b *testing.B) {
	for name, l := range longLosses(b, 20000, 200) {
		b.Run(name, func(b *testing.B) {
			theta := gppl.Values(l.Params())
			grad := make([]float64, len(theta))
			var longest time.Duration
			for b.Loop() {
				ctx := &gaps{Context: b.Context(), stack: testing.Verbose()}
				ctx.Err()
				if _, err := l.ValueGrad(ctx, grad, theta); err != nil {
					b.Fatal(err)
				}
				ctx.Err()
				longest = max(longest, ctx.longest)
				if testing.Verbose() {
					b.Logf("%v before %s", ctx.longest, ctx.where)
				}
			}
			b.ReportMetric(1e3*longest.Seconds(), "ms/look")
		})
	}
}
