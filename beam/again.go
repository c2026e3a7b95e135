package gpplbeam

import (
	"context"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Again says how to repeat a job that ended because a worker was lost, as on prism, which does not repeat the work of a lost worker.
// The lost job wrote nothing, and the repeated one has the same bits.
type Again struct {
	Attempts int // in all; less than 2 is one
	// Lost is called for every lost worker after which the job is sent again, once Wait is over.
	Lost func(attempt int, err error)
	// Wait waits before the next attempt, for the workers to be replaced; nil waits for 2 s after the first and twice as long after each.
	Wait func(ctx context.Context, attempt int) error
}

// Run builds the pipeline with build and runs it with run, such as beamx.RunWithMetrics, again after each lost worker, up to Attempts
// times. An error of the pipeline itself, such as a file that cannot be read, ends it at once.
func (a Again) Run(ctx context.Context, run func(context.Context, *beam.Pipeline) (beam.PipelineResult, error), build func() *beam.Pipeline) (beam.PipelineResult, error) {
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

// lostWorker reports whether a job failed for another reason than an error of a step of the pipeline, whose text names its DoFn. The
// runner sends errors as text only.
func lostWorker(err error) bool {
	text := err.Error()
	return strings.Contains(text, "failed:") && strings.HasPrefix(text, "job ") && !strings.Contains(text, "DoFn[")
}
