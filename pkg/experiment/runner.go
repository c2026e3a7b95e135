package experiment

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A Runner runs many trials and stores each as soon as it is done.
type Runner struct {
	Store    *Store
	Workers  int              // trials at once, except those whose times are compared, which run alone; 0 is one per processor
	Since    time.Time        // recompute outcomes stored before it
	Keep     func(Trial) bool // trials to take from the store whatever their age, and not to compute; nil: none
	Progress func(Progress)   // called, one call at a time, as trials begin and end
}

// Progress is the state of a Runner.
type Progress struct {
	Done, Total int
	Stored      int // of Done, taken from the store
	Running     []Trial
	Left        time.Duration // estimated, 0 while nothing is known
}

func (p Progress) String() string {
	s := fmt.Sprintf("%d of %d", p.Done, p.Total)
	if p.Stored > 0 {
		s += fmt.Sprintf(" (%d stored)", p.Stored)
	}
	if p.Left > 0 {
		s += fmt.Sprintf(", about %v left", p.Left.Round(time.Second))
	}
	if len(p.Running) > 0 {
		s += fmt.Sprintf(": %v", p.Running[len(p.Running)-1])
	}
	return s
}

// Run returns the outcomes of the trials in their order, from the store if they are there. One whose recording cannot be had is
// taken from the store whatever its age, and is an error if it is not there. When ctx ends or a trial cannot be run, it waits
// for those that are running and returns the error with the outcomes so far. The next Run continues from there.
func (r Runner) Run(ctx context.Context, trials []Trial) ([]Outcome, error) {
	p := &pass{runner: r, trials: trials, outcomes: make([]Outcome, len(trials)), spent: map[Trial]*cost{}}
	for i, t := range trials {
		kept := r.Keep != nil && r.Keep(t)
		o, ok := r.Store.Get(t)
		switch {
		case ok && (kept || o.When >= r.Since.Unix() || t.Source.unavailable() != nil):
			p.outcomes[i] = o
			p.progress.Done++
			p.progress.Stored++
		case !kept:
			p.todo = append(p.todo, i)
		default:
			p.outcomes[i] = Outcome{Trial: t, Error: "not run: done only with GPPL_SLOW=1"}
			p.progress.Done++
		}
	}
	p.progress.Total = len(trials)
	p.tell(func() {})
	workers := r.Workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.alone = alone(trials)
	var shared, timed []int
	for _, i := range p.todo {
		if p.alone(trials[i]) {
			timed = append(timed, i)
		} else {
			shared = append(shared, i)
		}
	}
	p.workers = min(workers, max(1, len(shared)))
	p.each(ctx, cancel, shared, p.workers)
	p.each(ctx, cancel, timed, 1)
	return p.outcomes, context.Cause(ctx)
}

// alone returns which trials run alone, after all others: those that measure a dense evaluation, and those whose times are
// compared with that of a dense training on the same data.
func alone(trials []Trial) func(Trial) bool {
	compared := map[Source]bool{}
	for _, t := range trials {
		if t.Protocol == GPPL && t.Engine == gppl.EngineDense {
			compared[t.Source] = true
		}
	}
	return func(t Trial) bool {
		return t.Optimiser.Method == Evaluate || t.Protocol == GPPL && compared[t.Source]
	}
}

// each runs the trials todo, atOnce at a time.
func (p *pass) each(ctx context.Context, cancel context.CancelCauseFunc, todo []int, atOnce int) {
	parallel.Each(atOnce, len(todo), func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := p.do(ctx, todo[i], atOnce); err != nil {
			cancel(err)
		}
	})
}

// pass is one call of Run.
type pass struct {
	runner   Runner
	trials   []Trial
	outcomes []Outcome
	todo     []int // indices of trials to compute
	alone    func(Trial) bool
	workers  int // trials at once, except those that run alone

	mu       sync.Mutex
	progress Progress
	spent    map[Trial]*cost // by class
}

// class returns the trial without the settings that hardly change how long it takes.
func (t Trial) class() Trial {
	return Trial{Source: Source{Name: t.Source.Name, N: t.Source.N}, Kernel: t.Kernel, Loss: t.Loss,
		Optimiser: Optimiser{Method: t.Optimiser.Method}, Order: t.Order}
}

type cost struct {
	seconds float64
	trials  int
}

func (p *pass) do(ctx context.Context, i, workers int) error {
	t := p.trials[i]
	p.tell(func() { p.progress.Running = append(p.progress.Running, t) })
	began := time.Now()
	o, err := t.Run(ctx)
	if err == nil {
		o.Workers = workers
		o = o.rounded() // as it will be read back
		err = p.runner.Store.Put(o)
	}
	took := time.Since(began).Seconds()
	p.tell(func() {
		at := slices.Index(p.progress.Running, t)
		p.progress.Running = slices.Delete(slices.Clone(p.progress.Running), at, at+1)
		if err != nil {
			return
		}
		p.outcomes[i] = o
		p.progress.Done++
		c := p.spent[t.class()]
		if c == nil {
			c = &cost{}
			p.spent[t.class()] = c
		}
		c.seconds += took
		c.trials++
		p.progress.Left = p.left()
	})
	if err != nil {
		return fmt.Errorf("%v: %w", t, err)
	}
	return nil
}

// left estimates the time left: for each trial the mean of those of its class that have ended, else the mean of all.
func (p *pass) left() time.Duration {
	var all cost
	for _, c := range p.spent {
		all.seconds += c.seconds
		all.trials += c.trials
	}
	var left float64
	for _, i := range p.todo {
		if p.outcomes[i].When != 0 {
			continue
		}
		at := all
		if c := p.spent[p.trials[i].class()]; c != nil {
			at = *c
		}
		took := at.seconds / float64(at.trials)
		if !p.alone(p.trials[i]) {
			took /= float64(p.workers)
		}
		left += took
	}
	return time.Duration(left * float64(time.Second))
}

// tell applies change to the progress and reports it.
func (p *pass) tell(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	if p.runner.Progress != nil {
		p.runner.Progress(p.progress)
	}
}
