package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// row compares one engine with the dense one, on the exact NLL.
type row struct {
	kernel, engine string
	chosen         bool
	seconds        float64
	ratio          float64 // time of the dense engine ÷ time of this engine
	held           float64 // bytes that the loss holds after an evaluation
	bound          float64 // the engine's error bound, in nats
	denseBound     float64 // the dense engine's error bound, in nats
	value, grad    float64 // difference from the dense engine's value, and distance from its gradient
}

// promises returns the largest value that the bounds allow.
func (r row) promises() float64 { return r.bound + r.denseBound }

// optima are models at the optimum of the exact NLL of the sunspots; the last two, which the paper does not have, are near it.
var optima = []struct {
	name  string
	model gppl.Model
}{
	{"SE", gppl.Model{Kernel: gppl.SE{Variance: 0.75016, Lengthscale: 1.47809}, Noise: 0.11747}},
	{"RQ", gppl.Model{Kernel: gppl.RQ{Variance: 0.91918, Lengthscale: 1.62394, Alpha: 0.91385}, Noise: 0.11251}},
	{"LocPer", gppl.Model{Kernel: gppl.LocPer{Variance: 0.65126, Lengthscale: 1.1595, PeriodicLengthscale: 1.09749, Period: 6.0013},
		Noise: 0.09633}},
	{"Laplace", gppl.Model{Kernel: gppl.Laplace{Variance: 0.92592, Lengthscale: 3.69201}, Noise: 0.06485}},
	{"Matérn 3/2", gppl.Model{Kernel: gppl.Matern32{Variance: 0.8, Lengthscale: 2.5}, Noise: 0.117}},
	{"Matérn 5/2", gppl.Model{Kernel: gppl.Matern52{Variance: 0.8, Lengthscale: 2}, Noise: 0.117}},
}

// series returns the sunspots, or a substitute for them, and says which.
func series(p plan) (gppl.Data, string, error) {
	s, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true, Log: io.Discard})
	source := "the sunspots"
	if errors.Is(err, fs.ErrNotExist) {
		source = "a synthetic series in the place of the sunspots, whose file was not at hand,"
		rnd := rand.New(rand.NewPCG(1, 1))
		s.X, s.Y = nil, nil
		for i := range 3319 {
			t := 1749 + float64(i)/12
			s.X = append(s.X, t)
			s.Y = append(s.Y, (1+0.5*math.Sin(t/14))*math.Sin(2*math.Pi*t/11)+0.4*rnd.NormFloat64())
		}
	} else if err != nil {
		return gppl.Data{}, "", err
	}
	s.X, s.Y = s.X[:p.rows], s.Y[:p.rows]
	s, _ = s.Standardize()
	d, err := gppl.NewData(gppl.Scalars(s.X), s.Y)
	return d, fmt.Sprintf("%s (n = %d)", source, d.Len()), err
}

// besideDense compares each engine that supports a kernel with the dense one.
func besideDense(p plan) (rows []row, source string, err error) {
	d, source, err := series(p)
	if err != nil {
		return nil, "", err
	}
	for _, o := range optima {
		build := exactMaker(o.model, d)
		auto, err := build("")
		if err != nil {
			return nil, "", err
		}
		if err := settle(auto, p); err != nil {
			return nil, "", err
		}
		choice := candidates(auto)
		auto = nil // otherwise its memory would be counted for the next
		dense, denseRow, err := besides(p, build, gppl.EngineDense)
		if err != nil {
			return nil, "", err
		}
		for _, c := range choice {
			if c.refused || c.seconds > p.limit && c.engine != gppl.EngineDense {
				continue
			}
			got, r := dense, denseRow
			if c.engine != gppl.EngineDense {
				if got, r, err = besides(p, build, c.engine); err != nil {
					progress("%s: %v", o.name, err)
					continue
				}
			}
			r.kernel, r.chosen, r.bound, r.denseBound = o.name, c.chosen, c.bound, choice[len(choice)-1].bound
			r.ratio = dense.seconds / got.seconds
			r.value, r.grad = math.Abs(got.value-dense.value), floats.Distance(got.grad, dense.grad, 2)
			rows = append(rows, r)
			progress("%s, %s: %s, dense %s, |ΔNLL| %.1g", o.name, c.engine, timeline.Seconds(r.seconds),
				timeline.Seconds(dense.seconds), r.value)
		}
	}
	return rows, source, nil
}

// besides measures the time and memory of one engine.
func besides(p plan, build maker, engine string) (point, row, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := build(engine)
	if err != nil {
		return point{}, row{}, err
	}
	got, err := timeLoss(l, p)
	if err != nil {
		return point{}, row{}, err
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(l)
	return got, row{engine: engine, seconds: got.seconds, held: max(0, float64(after.HeapAlloc)-float64(before.HeapAlloc))}, nil
}

// explain returns the output of Explain in two cases.
func explain(p plan) (string, error) {
	d, source, err := series(p)
	if err != nil {
		return "", err
	}
	exact, err := gppl.NewExact(context.Background(), optima[0].model, d)
	if err != nil {
		return "", err
	}
	if err := settle(exact, p); err != nil {
		return "", err
	}
	omega, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, d.X, k, 1)
	if err != nil {
		return "", err
	}
	rough := gppl.Model{Kernel: gppl.Laplace{Variance: 0.92592, Lengthscale: 3.69201}, Noise: 0.06485}
	projected, err := gppl.NewProjected(context.Background(), rough, d,
		omega)
	if err != nil {
		return "", err
	}
	if err := settle(projected, p); err != nil {
		return "", err
	}
	return fmt.Sprintf("The exact NLL of %s with SE:\n\n```\n%s```\n\nPL of the same with Laplace and k = %d, after some "+
		"evaluations near one another:\n\n```\n%s```\n",
		source, exact.Explain(), k, projected.Explain()), nil
}
