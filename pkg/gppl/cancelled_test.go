package gppl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// engineModels have a kernel that the named engine takes, and inputs with a constant step.
func engineModels() map[string]gppl.Kernel {
	return map[string]gppl.Kernel{
		gppl.EngineDense:      gppl.SE{Variance: 1, Lengthscale: 6},
		gppl.EngineBanded:     gppl.SE{Variance: 1, Lengthscale: 2},
		gppl.EngineStateSpace: gppl.Matern32{Variance: 1, Lengthscale: 6},
		gppl.EngineToeplitz:   gppl.RQ{Variance: 1, Lengthscale: 6, Alpha: 1.5},
		gppl.EngineGridded:    gppl.SE{Variance: 1, Lengthscale: 6},
		gppl.EngineSpectral:   gppl.SE{Variance: 1, Lengthscale: 60},
		gppl.EngineMixed:      gppl.Add(gppl.Periodic{Variance: 1, Period: 30, Lengthscale: 1}, gppl.Matern32{Variance: 1, Lengthscale: 6}),
	}
}

// posteriorCalls are calls about n observations and m further inputs or observations. If n and m are large, each takes long
// unless it is cancelled.
func posteriorCalls(tb testing.TB, n, m int) (calls []testkit.Call) {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(1, 7))
	series := func(from, count int, by float64) gppl.Data {
		x, y := make([]float64, count), make([]float64, count)
		for i := range x {
			x[i] = float64(from) + by*float64(i)
			y[i] = math.Sin(x[i]/5) + 0.3*rnd.NormFloat64()
		}
		return gppl.Data{X: gppl.Scalars(x), Y: y}
	}
	data, after, among := series(0, n, 1), series(n, m, 1), series(0, m, float64(n)/float64(m+1))
	add := func(name string, run func(ctx context.Context) error) {
		calls = append(calls, testkit.Call{Name: name, Run: run})
	}
	for engine, kernel := range engineModels() {
		model := gppl.Model{Kernel: kernel, Noise: 0.1}
		p, err := gppl.NewPosterior(tb.Context(), model, data, gppl.WithEngine(engine))
		if err != nil {
			tb.Fatal(engine, err)
		}
		add("Posterior.Latent, "+engine, func(ctx context.Context) error {
			_, _, err := p.Latent(ctx, among.X)
			return err
		})
		add("Posterior.Sample, "+engine, func(ctx context.Context) error {
			_, err := p.Sample(ctx, among.X, 2, 1)
			return err
		})
		add("Posterior.Joint, "+engine, func(ctx context.Context) error {
			_, _, err := p.Joint(ctx, among.X)
			return err
		})
		add("Posterior.Gradient, "+engine, func(ctx context.Context) error {
			_, _, err := p.Gradient(ctx, among.X)
			return err
		})
		add("Posterior.OneStep, "+engine, func(ctx context.Context) error {
			_, _, err := p.OneStep(ctx, after)
			return err
		})
		blocks := [][]int{nil, nil}
		for i := range n {
			blocks[2*i/n] = append(blocks[2*i/n], i)
		}
		add("LeaveBlockOut, "+engine, func(ctx context.Context) error {
			_, _, err := gppl.LeaveOut(ctx, model, data, blocks, gppl.WithEngine(engine))
			return err
		})
		add("LeaveOneOut, "+engine, func(ctx context.Context) error {
			_, _, err := gppl.LeaveOut(ctx, model, data, nil, gppl.WithEngine(engine))
			return err
		})
		if engine != gppl.EngineStateSpace {
			continue
		}
		add("Posterior.Update", func(ctx context.Context) error {
			_, err := p.Update(ctx, after)
			return err
		})
		add("Posterior.Latent before an update", func(ctx context.Context) error {
			u, err := p.Update(ctx, series(n, 3, 1))
			if err == nil {
				_, _, err = u.Latent(ctx, among.X)
			}
			return err
		})
	}
	smooth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 6}, Noise: 0.1}
	add("Model.Sample", func(ctx context.Context) error {
		_, err := smooth.Sample(ctx, among.X, 1)
		return err
	})
	z := gppl.Scalars(testkit.Must(data.X.KMeans(tb.Context(), n/4, 1))(tb).Coordinate(0))
	sparse := testkit.Must(gppl.NewVFE(tb.Context(), smooth, data, z, gppl.VFEOptions{}))(tb)
	add("VFE.Posterior", func(ctx context.Context) error {
		_, err := sparse.Posterior(ctx, gppl.Values(sparse.Params()))
		return err
	})
	whittle := testkit.Must(gppl.NewWhittle(tb.Context(), smooth, data, gppl.WhittleOptions{}))(tb)
	add("Whittle.Posterior", func(ctx context.Context) error {
		_, err := whittle.Posterior(ctx, smooth.Values())
		return err
	})
	add("Whittle.Information", func(ctx context.Context) error {
		_, err := whittle.Information(ctx, smooth.Values())
		return err
	})
	add("Whittle.ScoreCovariance", func(ctx context.Context) error {
		_, err := whittle.ScoreCovariance(ctx, smooth.Values())
		return err
	})
	vfe := testkit.Must(gppl.VFEPosterior(tb, smooth, data, z))(tb)
	add("Posterior.Sample, VFE", func(ctx context.Context) error {
		_, err := vfe.Sample(ctx, among.X, 2, 1)
		return err
	})
	channels := gppl.Model{Kernel: gppl.Matern52{Variance: 1, Lengthscale: 6},
		Channels: []gppl.Channel{{Name: "a", Value: 1, Noise: 0.1}, {Name: "b", Value: 0.5, Noise: 0.1}}}
	of := make([]int, n)
	for i := range of {
		of[i] = i % 2
	}
	cp := testkit.Must(gppl.NewPosterior(tb.Context(), channels, viewed(data, of, nil)))(tb)
	add("NewPosterior of channels", func(ctx context.Context) error {
		_, err := gppl.NewPosterior(ctx, channels, viewed(data, of, nil))
		return err
	})
	add("Posterior.Latent, channels", func(ctx context.Context) error {
		_, _, err := cp.Latent(ctx, among.X)
		return err
	})
	add("Posterior.Derivative", func(ctx context.Context) error {
		_, _, err := cp.Derivative(ctx, among.X)
		return err
	})
	add("Posterior.Channel", func(ctx context.Context) error {
		_, _, err := cp.Channel(ctx, 1, among.X)
		return err
	})
	return calls
}

func TestCancelledPosterior(t *testing.T) { testkit.TestCancelled(t, posteriorCalls(t, 160, 150)) }

// TestMemoryJointly: joint predictions and draws are refused before anything is allocated.
func TestMemoryJointly(t *testing.T) {
	const many = 60000 // 14 GB for a triangle
	x := make([]float64, many)
	for i := range x {
		x[i] = float64(i)
	}
	all := gppl.Data{X: gppl.Scalars(x), Y: make([]float64, many)}
	few := all.Pick([]int{0, 1, 2, 5, 8, 13, 21, 34, 55, 89})
	calls := map[string]func() error{
		"Model.Sample": func() error {
			_, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 1}.Sample(t.Context(), all.X, 1, gppl.WithEngine(gppl.EngineDense))
			return err
		},
		"NewProjection, Eigen": func() error {
			_, err := gppl.NewProjection(t.Context(), gppl.Eigen{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}}, all.X, 3, 1)
			return err
		},
		"NewVFE": func() error {
			l, err := gppl.NewVFE(t.Context(), gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 3, Alpha: 1}, Noise: 1}, all, all.X, gppl.VFEOptions{})
			if err == nil {
				_, err = l.ValueGrad(t.Context(), nil, gppl.Values(l.Params()))
			}
			return err
		},
		"VFE.Posterior": func() error {
			_, err := gppl.VFEPosterior(t, gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 3, Alpha: 1}, Noise: 1}, all, all.X)
			return err
		},
		"Posterior.Sample": func() error { // draws from inducing inputs, jointly
			p, err := gppl.VFEPosterior(t, gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 1}, few, few.X)
			if err != nil {
				return err
			}
			_, err = p.Sample(t.Context(), all.X, 1, 1)
			return err
		},
		"LeaveBlockOut": func() error {
			whole := make([]int, many)
			for i := range whole {
				whole[i] = i
			}
			_, _, err := gppl.LeaveOut(t.Context(), gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 1}, all, [][]int{whole}, gppl.WithEngine(gppl.EngineBanded))
			return err
		},
	}
	for engine, kernel := range engineModels() {
		for _, limit := range []float64{12e9, 1e8} {
			p, err := gppl.NewPosterior(t.Context(), gppl.Model{Kernel: kernel, Noise: 0.1}, few, gppl.WithEngine(engine), gppl.WithMemory(limit))
			if errors.As(err, new(*gppl.Refusal)) {
				continue // few are not the inputs of every engine
			} else if err != nil {
				t.Fatal(engine, err)
			}
			n := many
			if limit < 1e9 {
				n = 5000 // 100 MB for a triangle
			}
			calls[fmt.Sprintf("Posterior.Joint, %s, %d", engine, n)] = func() error {
				_, _, err := p.Joint(t.Context(), all.X.Slice(0, n))
				return err
			}
			calls[fmt.Sprintf("Posterior.OneStep, %s, %d", engine, n)] = func() error {
				some := all.Pick([]int{7, 6, 5, 4, 3}) // older than the last
				for len(some.Y) < n {
					some = gppl.Data{X: gppl.Scalars(append(some.X.Coordinate(0), x[:n-len(some.Y)]...)), Y: make([]float64, n)}
				}
				_, _, err := p.OneStep(t.Context(), some)
				return err
			}
		}
	}
	for name, call := range calls {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := call()
		runtime.ReadMemStats(&after)
		if memory := (*gppl.MemoryError)(nil); !errors.As(err, &memory) || !(memory.Needed > memory.Limit) {
			t.Errorf("%s: %v", name, err)
		}
		if grown := float64(after.TotalAlloc - before.TotalAlloc); grown > 2e8 {
			t.Errorf("%s allocates %.0f MB before it refuses", name, grown/1e6)
		}
	}
}

// helperCalls are the calls of other kinds, on n inputs.
func helperCalls(tb testing.TB, n int) (calls []testkit.Call) {
	tb.Helper()
	x := uniform(n, 100, 3)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(x.At(i)[0])
	}
	d := testkit.Must(gppl.NewData(x, y))(tb)
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 3, Alpha: 1}, Noise: 0.1}
	exact := testkit.Must(gppl.NewExact(tb.Context(), m, d))(tb)
	plane := gppl.Vectors(append(x.Coordinate(0), y...), 2)
	// As many regressors as make a least-squares fit of them long.
	columns, with := make([]gppl.Mean, n/30), m
	regressed := d
	rnd := rand.New(rand.NewPCG(1, 8))
	for j := range columns {
		column := make([]float64, n)
		for i := range column {
			column[i] = rnd.NormFloat64()
		}
		regressor := gppl.Regressor{Name: fmt.Sprint("regressor ", j)}
		columns[j], regressed.X = regressor, regressed.X.WithColumn(regressor.Name, column)
	}
	with.Mean = gppl.AddMeans(columns...)
	return []testkit.Call{
		{Name: "Model.SubtractMean", Run: func(ctx context.Context) error {
			_, err := with.SubtractMean(ctx, regressed)
			return err
		}},
		{Name: "CheckBasis", Run: func(ctx context.Context) error {
			return with.CheckBasis(ctx, regressed.X)
		}},
		{Name: "DefaultPriors", Run: func(ctx context.Context) error {
			_, err := with.DefaultPriors(ctx, regressed)
			return err
		}},
		{Name: "NewExact with regressors", Run: func(ctx context.Context) error {
			_, err := gppl.NewExact(ctx, with, regressed)
			return err
		}},
		{Name: "Model.Periodogram", Run: func(ctx context.Context) error {
			_, err := with.Periodogram(ctx, regressed)
			return err
		}},
		{Name: "KMeans", Run: func(ctx context.Context) error {
			_, err := plane.KMeans(ctx, n/4, 1)
			return err
		}},
		{Name: "Covariance", Run: func(ctx context.Context) error {
			return gppl.Covariance(ctx, make([]float64, n*n), m.Kernel, x, x)
		}},
		{Name: "QuadLogDet", Run: func(ctx context.Context) error {
			_, err := exact.QuadLogDet(ctx, make([]float64, 3), make([]float64, 3), m, []float64{0.1, 0.2, 0.3}, false)
			return err
		}},
	}
}

func TestCancelledHelpers(t *testing.T) { testkit.TestCancelled(t, helperCalls(t, 300)) }

// TestCovarianceInParts: the covariances of many inputs, computed in parts, equal the ones computed input by input.
func TestCovarianceInParts(t *testing.T) {
	a, b := uniform(700, 50, 1), uniform(300, 50, 2)
	k := gppl.Matern52{Variance: 2, Lengthscale: 3}
	want, got := make([]float64, 700*300), make([]float64, 700*300)
	for i := range 700 {
		if err := gppl.Covariance(t.Context(), want[i*300:][:300], k, a.Slice(i, i+1), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := gppl.Covariance(t.Context(), got, k, a, b); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("entry %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// projectionCalls are the calls that make k projections of n observations, or of a tenth as many for those in O(n³), and losses on
// them.
func projectionCalls(tb testing.TB, n, k int) (calls []testkit.Call) {
	tb.Helper()
	x := uniform(n, 100, 3)
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Sin(x.At(i)[0])
	}
	d := testkit.Must(gppl.NewData(x, y))(tb)
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1, Mean: gppl.Linear{}}
	known := testkit.Must(d.WithErrors(slices.Repeat([]float64{0.1}, n)))(tb)
	add := func(name string, run func(ctx context.Context) error) {
		calls = append(calls, testkit.Call{Name: name, Run: run})
	}
	for _, design := range []gppl.Design{gppl.Sphere{}, gppl.Repulsive{}, gppl.Localised{}, gppl.Mixed{}, gppl.Raw{Design: gppl.Sphere{}},
		gppl.Spectral{Stretch: 3}, gppl.Spectral{}, gppl.Eigen{Kernel: m.Kernel}} {
		x, k := x, k
		switch design := design.(type) {
		case gppl.Spectral:
			if design.Stretch != 0 { // so many that they depend on one another
				k = 40
			} else if k = 150; n < 1000 {
				k = 20
			}
		case gppl.Eigen:
			x, k = x.Slice(0, n/10), k/10
		case gppl.Localised:
			k = 50
		}
		add("NewProjection, "+design.String(), func(ctx context.Context) error {
			_, err := gppl.NewProjection(ctx, design, x, k, 1)
			if errors.As(err, new(*gppl.DependentError)) {
				return nil
			}
			return err
		})
	}
	add("SpectralProjection", func(ctx context.Context) error {
		_, err := gppl.SpectralProjection(ctx, x, k)
		return err
	})
	some := testkit.Must(gppl.SpectralProjection(tb.Context(), x, k/2))(tb)
	add("Projection.Extend", func(ctx context.Context) error {
		_, err := some.Extend(ctx, x, k)
		return err
	})
	add("Projection.Omega", func(ctx context.Context) error {
		waves, err := gppl.NewProjection(ctx, gppl.Spectral{}, x, min(k, 150), 1)
		if err == nil {
			_, err = waves.Omega(ctx)
		}
		return err
	})
	raw := testkit.Must(gppl.NewProjection(tb.Context(), gppl.Raw{Design: gppl.Sphere{}}, x, k, 1))(tb)
	add("NewProjected", func(ctx context.Context) error {
		_, err := gppl.NewProjected(ctx, m, d, raw)
		return err
	})
	add("NewProjected, known errors", func(ctx context.Context) error {
		_, err := gppl.NewProjected(ctx, m, known, raw)
		return err
	})
	add("NewResidual", func(ctx context.Context) error {
		_, err := gppl.NewResidual(ctx, m, d, some)
		return err
	})
	return calls
}

func TestCancelledProjections(t *testing.T) { testkit.TestCancelled(t, projectionCalls(t, 400, 60)) }
