package gpplbeam

import (
	"context"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Again says how to repeat a job that ended because a worker was lost. It is for runners such as prism, which do not repeat the
// work of a lost worker. The lost job wrote nothing, and the repeated one gives the same bits.
type Again struct {
	Attempts int // the largest number of runs, the first included; less than 2 means one
	// Lost is called for every lost worker before the job is sent again.
	Lost func(attempt int, err error)
	// Wait waits before the next attempt, for the workers to be replaced. nil waits for 2 s after the first attempt, and twice as
	// long after each further one.
	Wait func(ctx context.Context, attempt int) error
}

// Run builds the pipeline with build and runs it with run, such as beamx.RunWithMetrics; it repeats this after each lost worker,
// up to Attempts times. An error of the pipeline itself, such as a file that cannot be read, ends it at once.
func (a Again) Run(ctx context.Context, run func(context.Context, *beam.Pipeline) (beam.PipelineResult, error),
	build func() *beam.Pipeline) (beam.PipelineResult, error) {
	wait := a.Wait
	if wait == nil {
		wait = pause
	}
	for attempt := 1; ; attempt++ {
		result, err := run(ctx, build())
		if err == nil || attempt >= a.Attempts || ctx.Err() != nil || !lostWorker(err) {
			return result, err
		}
		if a.Lost != nil {
			a.Lost(attempt, err)
		}
		if err := wait(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, attempt int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second << (attempt - 1)):
		return nil
	}
}

// lostWorker reports whether a job failed for a reason other than an error of a step of the pipeline, whose text names its DoFn.
// The runner sends errors as text only.
func lostWorker(err error) bool {
	text := err.Error()
	return strings.Contains(text, "failed:") && strings.HasPrefix(text, "job ") && !strings.Contains(text, "DoFn[")
}
