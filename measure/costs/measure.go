package main

import (
	"context"
	"math"
	"slices"
	"syscall"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// timing is the time of one engine for a cell.
type timing struct {
	Cell    cell
	Engine  string
	Seconds float64 // a value and gradient, a share of the set-up included as Cost has it
	Once    bool    // timed only once: it is far slower than another
}

// processor returns the seconds of processor time that this process has had.
func processor() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) * 1e-9
}

const (
	ahead   = 30               // evaluations over which gppl.Exact.Cost spreads the set-up
	retimed = 4                // times the best engine's seconds, beyond which one evaluation is timed
	timeout = 40 * time.Second // longest evaluation, by the clock
	longest = 20.              // seconds of an evaluation that are too many to try
)

// measure times all engines that take a cell, those that are predicted to be fast first.
func (c cell) measure(ctx context.Context) (times []timing, err error) {
	data, err := c.data()
	if err != nil {
		return nil, err
	}
	var predicted []timing
	for _, engine := range engines {
		if loss, theta, err := c.loss(ctx, data, engine); err == nil {
			if _, s := loss.Cost(theta); s < longest {
				predicted = append(predicted, timing{Cell: c, Engine: engine, Seconds: s})
			}
		}
	}
	slices.SortFunc(predicted, func(a, b timing) int { return int(math.Copysign(1, a.Seconds-b.Seconds)) })
	best := math.Inf(1)
	for _, t := range predicted {
		if t.Seconds > 100*best {
			continue
		}
		if t.Seconds, t.Once, err = c.time(ctx, data, t.Engine, best); err != nil {
			continue // an engine that refuses after all
		}
		best = min(best, t.Seconds)
		times = append(times, t)
	}
	return times, ctx.Err()
}

func (c cell) loss(ctx context.Context, data gppl.Data, engine string) (loss *gppl.Exact, theta []float64, err error) {
	var options []gppl.Option
	if engine != "" {
		options = append(options, gppl.WithEngine(engine))
	}
	loss, err = gppl.NewExact(ctx, gppl.Model{Kernel: c.kernel(), Noise: c.noise()}, data, options...)
	if err != nil {
		return nil, nil, err
	}
	return loss, gppl.Values(loss.Params()), nil
}

// time returns the least time of several runs of an engine. Its set-up is the additional time of the first evaluation. An engine
// that takes many times best is timed once.
func (c cell) time(ctx context.Context, data gppl.Data, engine string, best float64) (seconds float64, once bool, err error) {
	var grad []float64
	first, again := math.Inf(1), math.Inf(1)
	for range 3 {
		loss, theta, err := c.loss(ctx, data, engine)
		if err != nil {
			return 0, false, err
		}
		grad = slices.Grow(grad[:0], len(theta))[:len(theta)]
		evaluate := func() (float64, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			start := processor()
			_, err := loss.ValueGrad(ctx, grad, theta)
			return processor() - start, err
		}
		s, err := evaluate()
		if err != nil {
			return 0, false, err
		}
		first = min(first, s)
		if s > 5 && s > retimed*best {
			return s, true, nil
		}
		runs := 0
		for start := processor(); runs < 3 || runs < 20 && processor()-start < 0.02; runs++ {
			if s, err = evaluate(); err != nil {
				return 0, false, err
			}
			again = min(again, s)
			if s > 1 || s > 0.05 && s > retimed*best {
				break
			}
		}
		if once = again > retimed*best; once || again > 0.3 {
			break
		}
	}
	return again + max(0, first-again)/ahead, once, nil
}

// engines lists the engines that an exact likelihood may choose.
var engines = []string{gppl.EngineDense, gppl.EngineStateSpace, gppl.EngineSpectral, gppl.EngineGridded, gppl.EngineToeplitz,
	gppl.EngineMixed, gppl.EngineBanded}
