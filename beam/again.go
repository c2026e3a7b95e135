package gpplbeam

import (
	"context"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Again says how a job is sent again that ended because a worker was lost, as on prism, which does not repeat what a worker was at.
// Nothing is written by such a job, and a repeated one has the same bits.
type Again struct {
	Attempts int // in all; less than 2 is one
	// Lost is told of every lost worker after which the job is sent again, once Wait is over.
	Lost func(attempt int, err error)
	// Wait waits before the next attempt, for the workers to be replaced; nil waits for 2 s after the first and twice as long after each.
	Wait func(ctx context.Context, attempt int) error
}

// Run runs the pipeline that build makes by run, such as beamx.RunWithMetrics, and again as long as a worker was lost. An error of the
// pipeline itself, such as a file that cannot be read, ends it at once.
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

// lostWorker reports whether a job failed, but not because a step of the pipeline returned an error, which names its DoFn. The runner
// sends text only.
func lostWorker(err error) bool {
	text := err.Error()
	return strings.Contains(text, "failed:") && strings.HasPrefix(text, "job ") && !strings.Contains(text, "DoFn[")
}
