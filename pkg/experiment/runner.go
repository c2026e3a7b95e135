package experiment

import (
	"context"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// paperSurvey returns the survey that runs trials of the paper's experiments by Trial.Run and stores the outcomes. Outcomes
// stored before since are computed again. Trials that keep accepts are never computed: they are taken from the store whatever
// their age. Trials without a recording are taken from the store too, with an error if it lacks them.
func paperSurvey(store *Store, trials []Trial, since time.Time, keep func(Trial) bool) Survey[Trial, Outcome] {
	return Survey[Trial, Outcome]{
		Compute: func(ctx context.Context, t Trial) (Outcome, error) { return t.Run(ctx) },
		records: outcomes{store, since, keep},
		alone:   alone(trials),
		class:   func(t Trial) any { return t.class() },
		left: func(t Trial) (Outcome, bool) {
			return Outcome{Trial: t, Error: "not run: done only with GPPL_SLOW=1"}, keep(t)
		},
	}
}

// outcomes is a store whose outcomes are used only if they are new enough.
type outcomes struct {
	*Store
	since time.Time
	keep  func(Trial) bool
}

func (s outcomes) get(t Trial) (Outcome, bool) {
	o, ok := s.Get(t)
	return o, ok && (s.keep(t) || o.When >= s.since.Unix() || t.Source.unavailable() != nil)
}

func (s outcomes) put(_ Trial, o Outcome, workers int) (Outcome, error) {
	o.Workers = workers
	o = o.rounded() // the values that a reader of the file gets
	return o, s.Put(o)
}

// alone selects the trials that run alone, after all others: those that measure a dense evaluation, and those whose times are
// compared with a dense training on the same data.
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

// class returns the trial without the settings that hardly change how long it takes.
func (t Trial) class() Trial {
	return Trial{Source: Source{Name: t.Source.Name, N: t.Source.N}, Kernel: t.Kernel, Loss: t.Loss,
		Optimiser: Optimiser{Method: t.Optimiser.Method}, Order: t.Order}
}
