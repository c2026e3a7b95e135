package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// A Survey computes a result for each of many trials, on all processors, and stores it as soon as it is there, so that a run that
// was interrupted continues where it stopped:
//
//	results, err := experiment.Survey[trial, result]{Name: "short-lengthscales", Compute: train}.Run(ctx, trials)
//
// A trial is any value that JSON can write, and has everything that its result depends on: a result is stored under its trial,
// and found again by an equal one. So a trial that differs in a number is another trial, and results of other trials stay where
// they are. A survey does not notice that Compute has changed: give it another name then, or delete its file.
type Survey[T, R any] struct {
	// Name names the file, Folder/NAME.jsonl: letters, digits, and -, _ or . between them. The names of the paper's experiments
	// are taken.
	Name string
	// Compute returns the result of a trial, which JSON can write and read. It is called by several goroutines at once; an error
	// ends the survey.
	Compute  func(ctx context.Context, trial T) (R, error)
	Folder   string            // folder of the file; "" is the folder out in the current one
	Workers  int               // trials at once; 0 is one per processor
	Progress func(Progress[T]) // called, one call at a time, as trials begin and end; nil shows a bar

	// Of the paper's experiments:
	records archive[T, R]     // where results are stored; nil: as above
	alone   func(T) bool      // trials that run alone, after all others; nil: none
	class   func(T) any       // trials of one class take about as long; nil: all are one class
	left    func(T) (R, bool) // the result of a trial that is not computed now; nil: all are
}

// archive is where results are stored.
type archive[T, R any] interface {
	get(trial T) (result R, ok bool)
	put(trial T, result R, workers int) (R, error) // returns it as it will be read back
	size() int                                     // results that it has, of whatever trials
	where() string
}

// Progress is the state of a survey.
type Progress[T any] struct {
	Done, Total int
	Stored      int // number of the Done trials that were taken from the store
	Running     []T
	Left        time.Duration // estimated, 0 while nothing is known
	Others      int           // results of other trials in the store, which it keeps
	Where       string        // the file of the store
}

func (p Progress[T]) String() string {
	s := fmt.Sprintf("%d of %d", p.Done, p.Total)
	if p.Stored > 0 {
		s += fmt.Sprintf(" (%d stored)", p.Stored)
	}
	if p.Left > 0 {
		s += fmt.Sprintf(", about %v left", p.Left.Round(time.Second))
	}
	if len(p.Running) > 0 {
		s += fmt.Sprintf(": %v", p.Running[len(p.Running)-1])
	} else if p.Done == p.Total && p.Others > 0 {
		s += fmt.Sprintf("; %s keeps %d results of other trials", p.Where, p.Others)
	}
	return s
}

var surveyName = regexp.MustCompile(`^[A-Za-z0-9]+([._-][A-Za-z0-9]+)*$`)

// Run returns the results of the trials in their order: those that are stored, and the others computed now and stored. When ctx
// ends or a trial cannot be computed, it waits for those that are running and returns the error with the results so far; the next
// Run continues from there. It is an error if two trials are equal in JSON, as those are that differ in unexported fields alone.
func (s Survey[T, R]) Run(ctx context.Context, trials []T) ([]R, error) {
	if s.records == nil {
		if _, taken := Named(s.Name, ""); taken {
			return nil, fmt.Errorf("experiment: the name %q is that of the paper's trials, whose results come with the project: "+
				"give your survey another", s.Name)
		}
		if !surveyName.MatchString(s.Name) {
			return nil, fmt.Errorf("experiment: %q cannot be the name of a survey: use letters and digits, and -, _ or . between them",
				s.Name)
		}
		own, err := openRecords[T, R](s.path(), trials)
		if err != nil {
			return nil, err
		}
		s.records = own
	}
	if s.Progress == nil {
		bar := viz.NewProgress(s.Name, len(trials))
		s.Progress = func(p Progress[T]) {
			bar.Set(p.Done)
			bar.Message("%v", p)
		}
		results, err := s.pass(ctx, trials)
		bar.Fail(err)
		return results, err
	}
	return s.pass(ctx, trials)
}

// Stored returns the trials in the file of the survey, in the order in which they ended, and their results. It computes none.
func (s Survey[T, R]) Stored() (trials []T, results []R, err error) {
	own, err := openRecords[T, R](s.path(), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range own.order {
		r, _ := own.at(key)
		trials, results = append(trials, r.Trial), append(results, r.Result)
	}
	return trials, results, nil
}

// path returns the path of the file.
func (s Survey[T, R]) path() string {
	folder := s.Folder
	if folder == "" {
		folder = "out"
	}
	return filepath.Join(folder, s.Name+".jsonl")
}

// pass is one call of Run.
type pass[T, R any] struct {
	Survey[T, R]
	trials  []T
	results []R
	done    []bool
	workers int // trials at once, except those that run alone

	mu       sync.Mutex
	running  []int
	progress Progress[T]
	spent    map[any]*cost // time spent on each class
}

type cost struct {
	seconds float64
	trials  int
}

func (s Survey[T, R]) pass(ctx context.Context, trials []T) ([]R, error) {
	if s.alone == nil {
		s.alone = func(T) bool { return false }
	}
	if s.class == nil {
		s.class = func(T) any { return nil }
	}
	p := &pass[T, R]{Survey: s, trials: trials, results: make([]R, len(trials)), done: make([]bool, len(trials)),
		spent: map[any]*cost{}}
	var shared, timed []int
	stored := 0
	for i, t := range trials {
		if p.results[i], p.done[i] = s.records.get(t); p.done[i] {
			stored++
		} else if s.left != nil {
			p.results[i], p.done[i] = s.left(t)
		}
		switch {
		case p.done[i]:
			p.progress.Done++
		case s.alone(t):
			timed = append(timed, i)
		default:
			shared = append(shared, i)
		}
	}
	p.progress.Total, p.progress.Stored = len(trials), stored
	p.progress.Others, p.progress.Where = s.records.size()-stored, s.records.where()
	p.tell(func() {})
	workers := s.Workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	p.workers = min(workers, max(1, len(shared)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.each(ctx, cancel, shared, p.workers)
	p.each(ctx, cancel, timed, 1)
	return p.results, context.Cause(ctx)
}

// each computes the trials todo, atOnce at a time.
func (p *pass[T, R]) each(ctx context.Context, cancel context.CancelCauseFunc, todo []int, atOnce int) {
	parallel.Each(atOnce, len(todo), func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := p.do(ctx, todo[i], atOnce); err != nil {
			cancel(fmt.Errorf("%v: %w", p.trials[todo[i]], err))
		}
	})
}

func (p *pass[T, R]) do(ctx context.Context, i, workers int) error {
	p.tell(func() { p.running = append(p.running, i) })
	began := time.Now()
	r, err := p.Compute(ctx, p.trials[i])
	if err == nil {
		r, err = p.records.put(p.trials[i], r, workers)
	}
	took := time.Since(began).Seconds()
	p.tell(func() {
		p.running = slices.DeleteFunc(p.running, func(other int) bool { return other == i })
		if err != nil {
			return
		}
		p.results[i], p.done[i] = r, true
		p.progress.Done++
		class := p.class(p.trials[i])
		c := p.spent[class]
		if c == nil {
			c = &cost{}
			p.spent[class] = c
		}
		c.seconds += took
		c.trials++
		p.progress.Left = p.timeLeft()
	})
	return err
}

// timeLeft estimates the time left: each trial to come takes the mean time of ended trials of its class or, if none, of all.
func (p *pass[T, R]) timeLeft() time.Duration {
	var all cost
	for _, c := range p.spent {
		all.seconds += c.seconds
		all.trials += c.trials
	}
	var left float64
	for i, t := range p.trials {
		if p.done[i] {
			continue
		}
		at := all
		if c := p.spent[p.class(t)]; c != nil {
			at = *c
		}
		took := at.seconds / float64(at.trials)
		if !p.alone(t) {
			took /= float64(p.workers)
		}
		left += took
	}
	return time.Duration(left * float64(time.Second))
}

// tell applies change to the progress and reports it.
func (p *pass[T, R]) tell(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.progress.Running = make([]T, 0, len(p.running))
	for _, i := range p.running {
		p.progress.Running = append(p.progress.Running, p.trials[i])
	}
	p.Progress(p.progress)
}

// A record is a line of the file of a survey.
type record[T, R any] struct {
	Key    string `json:"key"`
	Trial  T      `json:"trial"`
	Result R      `json:"result"`
}

func (r record[T, R]) key() string { return r.Key }

// records are the results of a survey.
type records[T, R any] struct{ lines[record[T, R]] }

var _ archive[int, int] = (*records[int, int])(nil) // staticcheck does not see that through type parameters

// openRecords opens the file of a survey of the trials.
func openRecords[T, R any](path string, trials []T) (*records[T, R], error) {
	seen := map[string]int{}
	for i, t := range trials {
		key, err := recordKey(t)
		if err != nil {
			return nil, fmt.Errorf("experiment: trial %d: %w", i, err)
		}
		if other, twice := seen[key]; twice {
			return nil, fmt.Errorf("experiment: trials %d and %d are equal in JSON: %+v", other, i, t)
		}
		seen[key] = i
	}
	r := &records[T, R]{}
	return r, r.open(path)
}

// recordKey is a hash of the trial.
func recordKey(trial any) (string, error) {
	text, err := json.Marshal(trial)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

//lint:ignore U1000 archive has it
func (s *records[T, R]) get(trial T) (result R, ok bool) {
	key, err := recordKey(trial)
	if err != nil {
		return result, false
	}
	r, ok := s.at(key)
	return r.Result, ok
}

//lint:ignore U1000 archive has it
func (s *records[T, R]) put(trial T, result R, _ int) (R, error) {
	key, err := recordKey(trial)
	if err != nil {
		return result, err
	}
	r, err := s.add(record[T, R]{key, trial, result})
	return r.Result, err
}
