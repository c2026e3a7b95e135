// Command peers times gppl's exact likelihood on given series, for scripts/peers.py, which times other libraries on the same:
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
}

var kernels = map[string]gppl.Kernel{"SE": gppl.SE{}, "Matern32": gppl.Matern32{}, "SHO": gppl.SHO{}, "Rotation": gppl.Rotation{}}

// answer is the result of an evaluation.
type answer struct {
	Value   float64
	Grad    []float64 // with respect to log Theta
	Seconds float64   // median time of an evaluation
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
	var times []float64
	for begin := time.Now(); len(times) < leastRuns || time.Since(begin) < longest; {
		start := time.Now()
		if a.Value, err = loss.ValueGrad(context.Background(), a.Grad, theta); err != nil {
			return answer{}, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	a.Seconds = numeric.Median(times)
	floats.Mul(a.Grad, theta)
	report := loss.Report()
	a.Engine, a.Bound = report.Engine, report.LastBound
	return a, nil
}
