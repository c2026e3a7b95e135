// Command peers times gppl's exact likelihood on given series, and its draws, for scripts/peers.py. The script times other
// libraries on the same series:
//
//	go run ./measure/peers < cases.json
//
// It reads one JSON object a line (type request) and writes one for each (type answer): the negative log likelihood, its gradient
// in the logs of the kernel's parameters and of the noise variance, and the median time in seconds that they take.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// request is a series and a model of it.
type request struct {
	Kernel string // a name in kernels
	X, Y   []float64
	Theta  []float64 // the kernel's parameters and the noise variance
	Draw   string    // what is timed: "" for value and gradient; prior or posterior for one draw at X, set-up included
}

var kernels = map[string]gppl.Kernel{"SE": gppl.SE{}, "Matern32": gppl.Matern32{}, "SHO": gppl.SHO{}, "Rotation": gppl.Rotation{}}

// answer is the result of an evaluation.
type answer struct {
	Value   float64
	Grad    []float64 // derivatives in log Theta
	Seconds float64   // median time of an evaluation, or of a draw
	First   float64   // time of the first evaluation in seconds, set-up included
	Engine  string
	Bound   float64 // largest error of Value, in nats
}

const (
	leastRuns = 5
	longest   = 2 * time.Second // no more runs begin after this time, except the first leastRuns
)

func main() {
	log.SetFlags(0)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var r request
		err := in.Decode(&r)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		a, err := measure(r)
		if err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(a); err != nil {
			log.Fatal(err)
		}
	}
}

func measure(r request) (answer, error) {
	kernel, ok := kernels[r.Kernel]
	if !ok {
		return answer{}, fmt.Errorf("no kernel %q: there are %v", r.Kernel, slices.Sorted(maps.Keys(kernels)))
	}
	theta := r.Theta
	if got, want := len(theta), len(kernel.Params())+1; got != want {
		return answer{}, fmt.Errorf("%d parameters of %s and its noise, want %d", got, r.Kernel, want)
	}
	last := len(theta) - 1
	m := gppl.Model{Kernel: kernel.WithParams(theta[:last]), Noise: theta[last]}
	data, err := gppl.NewData(gppl.Scalars(r.X), r.Y)
	if err != nil {
		return answer{}, err
	}
	if r.Draw != "" {
		return measureDraw(r.Draw, m, data)
	}
	start := time.Now()
	loss, err := gppl.NewExact(context.Background(), m, data)
	if err != nil {
		return answer{}, err
	}
	a := answer{Grad: make([]float64, len(theta))}
	if a.Value, err = loss.ValueGrad(context.Background(), a.Grad, theta); err != nil {
		return answer{}, err
	}
	a.First = time.Since(start).Seconds()
	a.Seconds, err = median(func() error {
		a.Value, err = loss.ValueGrad(context.Background(), a.Grad, theta)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	floats.Mul(a.Grad, theta)
	report := loss.Report()
	a.Engine, a.Bound = report.Engine, report.LastBound
	return a, nil
}

// measureDraw times a draw from the prior at the inputs of data, or from the posterior at them with all that it is computed from.
func measureDraw(from string, m gppl.Model, data gppl.Data) (a answer, err error) {
	ctx, seed := context.Background(), uint64(0)
	draw := func() (d gppl.Draw, err error) {
		seed++
		if from == "prior" {
			return m.Sample(ctx, data.X, seed)
		}
		loss, err := gppl.NewExact(ctx, m, data)
		if err != nil {
			return gppl.Draw{}, err
		}
		post, err := loss.Posterior(ctx, m.Values())
		if err != nil {
			return gppl.Draw{}, err
		}
		draws, err := post.Sample(ctx, data.X, 1, seed)
		if err != nil {
			return gppl.Draw{}, err
		}
		return draws[0], nil
	}
	a.Seconds, err = median(func() error {
		d, err := draw()
		a.Engine, a.Bound = d.Engine, d.Bound
		return err
	})
	return a, err
}

// median returns the median time in seconds of several runs.
func median(run func() error) (seconds float64, err error) {
	var times []float64
	for begin := time.Now(); len(times) < leastRuns || time.Since(begin) < longest; {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	return numeric.Median(times), nil
}
