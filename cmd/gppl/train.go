package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// announced is the shortest predicted time of a search with its tests of the past that is announced, in seconds.
const announced = 3

// learnFile reads the file of the argument and trains by the flags. past, unless it is nil, shows later tests of the past.
func learnFile(ctx context.Context, c *cli.Command, past *pastBar) (*forecast.Analysis, error) {
	path, err := argument(c, "csv file")
	if err != nil {
		return nil, err
	}
	if err := oneSeries(c); err != nil {
		return nil, err
	}
	s, settings, err := prepare(ctx, c, task{path: path, y: yColumn(c)})
	if err != nil {
		return nil, err
	}
	if past != nil {
		settings.Progress = past.show
	}
	return trainSeries(ctx, c, s, settings, true)
}

// pastBar shows how many origins of the test of the past are done, from its first report to its end.
type pastBar struct {
	begin func(origins int) *viz.Progress

	mu    sync.Mutex // guards the rest: after an interrupt the test may go on and report
	bar   *viz.Progress
	ended bool
}

func newPastBar(c *cli.Command) *pastBar {
	return &pastBar{begin: func(origins int) *viz.Progress { return progress(c, "tests of the past", origins) }}
}

// show takes reports about the test, as forecast.Options.Progress.
func (b *pastBar) show(p forecast.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	if b.bar == nil {
		b.bar = b.begin(p.Count)
	}
	b.bar.Set(p.Index)
}

// end ends the bar, with the error that ended the test early.
func (b *pastBar) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.bar.Fail(err)
}

// trainSeries learns a model of the series. If tell is set, it shows its progress; settings.Progress takes the reports of later
// tests of the past.
func trainSeries(
	ctx context.Context, c *cli.Command, s *series.Series, settings forecast.Options, tell bool,
) (*forecast.Analysis, error) {
	planner, err := search.NewPlanner(ctx, s, settings)
	if err != nil {
		return nil, err
	}
	plan := planner.Plan()
	if tests, _, none := testOptions(c, forecastSteps(c, len(s.X))); !none {
		plan = judge.WithTests(ctx, plan, s, settings, tests)
	}
	if tell && !c.Bool("quiet") && (plan.Seconds+plan.Tests >= announced || plan.Over) {
		say(c, "%v.", plan)
	}
	if !tell {
		return interruptible(ctx, func() (*forecast.Analysis, error) { return fitWithin(ctx, c, s, settings) })
	}
	const shares = 100 // the bar counts hundredths of the work
	bar := progress(c, "models", shares)
	var drawing sync.Mutex // guards the bar, which is not drawn once ctx has ended, though training may go on
	tests := settings.Progress
	settings.Progress = func(p forecast.Progress) {
		if p.Stage == search.TestOfPast {
			if tests != nil {
				tests(p)
			}
			return
		}
		drawing.Lock()
		defer drawing.Unlock()
		if ctx.Err() == nil {
			bar.Set(p.Index * shares / max(1, p.Count))
			at := ""
			if !math.IsInf(p.Best, 1) {
				at = fmt.Sprintf("%.2f nats, ", p.Best)
			}
			bar.Message("%s, %s: %s%d evaluations", p.Candidate, p.Stage, at, p.Evaluations)
		}
	}
	a, err := interruptible(ctx, func() (*forecast.Analysis, error) { return fitWithin(ctx, c, s, settings) })
	drawing.Lock()
	defer drawing.Unlock()
	if ctx.Err() != nil {
		bar.Fail(context.Cause(ctx))
	} else {
		bar.Fail(err)
	}
	return a, err
}

// fitWithin calls forecast.Fit, and names the flags that raise its limits.
func fitWithin(ctx context.Context, c *cli.Command, s *series.Series, settings forecast.Options) (*forecast.Analysis, error) {
	if ownProcess(ctx) {
		machine.CollectFor(len(s.X))
	}
	a, err := forecast.Fit(ctx, s, settings)
	return a, memoryHint(c, err)
}
