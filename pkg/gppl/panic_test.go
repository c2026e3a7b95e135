package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// A fuse does something at the k-th call of a kernel that carries it.
type fuse struct {
	calls atomic.Int64
	at    int64
	burn  func()
}

func (f *fuse) lit() {
	if f.calls.Add(1) == f.at {
		f.burn()
	}
}

// arm makes the fuse burn at call k from now on, never if k is 0. It returns the calls until now.
func (f *fuse) arm(k int64, burn func()) (calls int64) {
	f.at, f.burn = k, burn
	return f.calls.Swap(0)
}

// Fused kernels carry a fuse, and have all that engines ask for.
type fusedSE struct {
	gppl.SE
	fuse *fuse
}

func (k fusedSE) WithParams(theta []float64) gppl.Kernel {
	k.SE = k.SE.WithParams(theta).(gppl.SE)
	return k
}
func (k fusedSE) Cov(dst, r []float64)          { k.fuse.lit(); k.SE.Cov(dst, r) }
func (k fusedSE) Contract(grad, w, r []float64) { k.fuse.lit(); k.SE.Contract(grad, w, r) }
func (k fusedSE) Density(dst, f []float64)      { k.fuse.lit(); k.SE.Density(dst, f) }
func (k fusedSE) ContractDensity(grad, w, f []float64) {
	k.fuse.lit()
	k.SE.ContractDensity(grad, w, f)
}

type fusedMatern struct {
	gppl.Matern32
	fuse *fuse
}

func (k fusedMatern) WithParams(theta []float64) gppl.Kernel {
	k.Matern32 = k.Matern32.WithParams(theta).(gppl.Matern32)
	return k
}
func (k fusedMatern) Cov(dst, r []float64)          { k.fuse.lit(); k.Matern32.Cov(dst, r) }
func (k fusedMatern) Contract(grad, w, r []float64) { k.fuse.lit(); k.Matern32.Contract(grad, w, r) }
func (k fusedMatern) Processes(dst []capability.Process) []capability.Process {
	k.fuse.lit()
	return k.Matern32.Processes(dst)
}

// fusedCase is a computation with a kernel that carries a fuse. The numbers that run returns do not depend on earlier calls.
type fusedCase struct {
	name string
	run  func(ctx context.Context) ([]float64, error)
}

// fusedCases are every loss with every engine, posteriors, leaving out, information and training.
func fusedCases(t *testing.T, f *fuse) (cases []fusedCase) {
	t.Helper()
	n := 300
	if testkit.Quick() {
		n = 150
	}
	x := make([]float64, n)
	y := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
		y[i] = math.Sin(x[i]/7) + 0.3*math.Sin(5*x[i]*x[i])
	}
	data := gppl.Data{X: gppl.Scalars(x), Y: y}
	at := gppl.Scalars([]float64{-3, 0.5, 17.2, 150.7, 310})
	p := testkit.Must(gppl.NewProjection(t.Context(), gppl.Spectral{}, data.X, 24, 1))(t)
	dense := testkit.Must(gppl.NewProjection(t.Context(), gppl.Sphere{}, data.X, 24, 1))(t)
	add := func(name string, run func(ctx context.Context) ([]float64, error)) {
		cases = append(cases, fusedCase{name, run})
	}
	for _, kernel := range []gppl.Kernel{fusedSE{gppl.SE{Variance: 1, Lengthscale: 6}, f},
		fusedMatern{gppl.Matern32{Variance: 1, Lengthscale: 4}, f}} {
		m := gppl.Model{Kernel: kernel, Noise: 0.1}
		loss := func(name string, l gppl.Loss, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			theta := make([]float64, len(l.Params()))
			for i, q := range l.Params() {
				theta[i] = q.Value
			}
			value := func(ctx context.Context) ([]float64, error) {
				grad := make([]float64, len(theta))
				v, err := l.ValueGrad(ctx, grad, theta)
				return append(grad, v), err
			}
			if _, err := value(t.Context()); errors.As(err, new(*gppl.Refusal)) {
				return
			}
			add(fmt.Sprintf("%T/%s", kernel, name), value)
		}
		for _, engine := range append(gppl.Engines(), "") {
			with := gppl.WithEngine(engine)
			exact, err := gppl.NewExact(t.Context(), m, data, with)
			loss("exact "+engine, exact, err)
			projected, err := gppl.NewProjected(t.Context(), m, data, p, with)
			loss("PL "+engine, projected, err)
			projected, err = gppl.NewProjected(t.Context(), m, data, dense, with)
			loss("PL of a matrix "+engine, projected, err)
			residual, err := gppl.NewResidual(t.Context(), m, data, p, with)
			loss("residual "+engine, residual, err)
			vfe, err := gppl.NewVFE(t.Context(), m, data, gppl.Scalars(x[:20]), gppl.VFEOptions{})
			loss("VFE "+engine, vfe, err)
			if engine == "" {
				whittle, err := gppl.NewWhittle(t.Context(), m, data, gppl.WhittleOptions{})
				loss("Whittle", whittle, err)
			}
			posterior := func(ctx context.Context) (*gppl.Posterior, error) {
				return gppl.NewPosterior(ctx, m, data, with)
			}
			if _, err := posterior(t.Context()); errors.As(err, new(*gppl.Refusal)) {
				continue
			}
			add(fmt.Sprintf("%T/posterior %s", kernel, engine), func(ctx context.Context) ([]float64, error) {
				post, err := posterior(ctx)
				if err != nil {
					return nil, err
				}
				mean, variances, err := post.Latent(ctx, at)
				return append(mean, variances...), err
			})
			add(fmt.Sprintf("%T/sample %s", kernel, engine), func(ctx context.Context) ([]float64, error) {
				post, err := posterior(ctx)
				if err != nil {
					return nil, err
				}
				draws, err := post.Sample(ctx, at, 1, 1)
				if err != nil {
					return nil, err
				}
				return draws[0].F, nil
			})
			add(fmt.Sprintf("%T/leave out %s", kernel, engine), func(ctx context.Context) ([]float64, error) {
				mean, variances, err := gppl.LeaveOut(ctx, m, data, nil, with)
				return append(mean, variances...), err
			})
		}
		add(fmt.Sprintf("%T/information", kernel), func(ctx context.Context) ([]float64, error) {
			i, err := fisher.New(ctx, m, data.X)
			if err != nil {
				return nil, err
			}
			seen, err := i.Projected(ctx, dense)
			if err != nil {
				return nil, err
			}
			return mat.DenseCopyOf(seen).RawMatrix().Data, nil
		})
		add(fmt.Sprintf("%T/auto.Fit", kernel), func(ctx context.Context) ([]float64, error) {
			r, err := auto.Fit(ctx, m, gppl.Data{X: gppl.Scalars(x[:80]), Y: y[:80]}, auto.Settings{})
			if err != nil {
				return nil, err
			}
			return []float64{r.Value}, nil
		})
	}
	return cases
}

// TestKernelPanics: a kernel that panics, at whatever call and in whatever goroutine, panics where the library was called.
// Goroutines do not remain, and the same objects go on to give the answers that they gave.
func TestKernelPanics(t *testing.T) {
	f := &fuse{}
	for _, c := range fusedCases(t, f) {
		t.Run(c.name, func(t *testing.T) {
			f.arm(0, nil)
			want, err := c.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			calls := f.arm(0, nil)
			if calls == 0 {
				t.Skip("it does not call the kernel")
			}
			goroutines := runtime.NumGoroutine()
			for i, k := range []int64{calls / 2, calls, 1, 2, calls / 3, calls - 1} {
				if k < 1 || testkit.Quick() && i > 1 {
					continue
				}
				f.arm(k, func() { panic("the kernel's own") })
				value := testkit.Recover(func() { _, err = c.run(t.Context()) })
				if value == nil && f.calls.Load() >= k || value != nil && !strings.Contains(fmt.Sprint(value), "the kernel's own") {
					t.Fatalf("call %d of %d: recovered %v, error %v", k, calls, value, err)
				}
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
			for range 6000 { // those that ended may take a moment to go, on a busy machine a long one
				if runtime.NumGoroutine() <= goroutines {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		})
	}
}
