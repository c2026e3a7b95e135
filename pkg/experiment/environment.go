package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// StorePath is the file of an experiment's outcomes, relative to the folder notebooks: results at full scale, which is committed;
// out at smoke scale, which is not.
func StorePath(s scales.Scale, notebooks, name string) string {
	if s == scales.Smoke {
		return filepath.Join(notebooks, "out", "smoke-"+name+".jsonl")
	}
	return filepath.Join(notebooks, "results", name+".jsonl")
}

// RunNamed runs trials of a named experiment at GPPL_SCALE. GPPL_FRESH, a time in Unix seconds, recomputes what was stored
// before it (1: before now). Recordings are downloaded if they can be; results of those that cannot are taken as they are
// stored. GPPL_SLOW=1 includes trials that take hours. The current folder must be that of the notebooks. progress is that of a
// Survey, and shows a bar if it is nil. Afterwards the store begins with these trials, in their order; what else it holds is
// kept behind them. It is an error if a trial is not one of the experiment: a Survey runs trials of your own.
func RunNamed(ctx context.Context, name string, trials []Trial, progress func(Progress[Trial])) error {
	scale := scales.FromEnvironment()
	list, _ := Named(name, scale)
	of := map[Trial]bool{}
	for _, t := range list {
		of[t] = true
	}
	for _, t := range trials {
		if !of[t] {
			return fmt.Errorf("experiment: %v is no trial of %q, whose results come with the project: run it by a Survey of another "+
				"name", t, name)
		}
	}
	store, err := openNamed(name)
	if err != nil {
		return err
	}
	download(ctx, trials)
	var since time.Time
	switch fresh := os.Getenv("GPPL_FRESH"); fresh {
	case "":
	case "1":
		since = time.Now()
	default:
		seconds, err := strconv.ParseInt(fresh, 10, 64)
		if err != nil {
			return fmt.Errorf("experiment: GPPL_FRESH=%q: want a time in Unix seconds", fresh)
		}
		since = time.Unix(seconds, 0)
	}
	slow := func(Trial) bool { return false }
	if scale == scales.Full && os.Getenv("GPPL_SLOW") == "" {
		slow = Trial.slow
	}
	survey := paperSurvey(store, trials, since, slow)
	survey.Name, survey.Progress = name, progress
	if _, err := survey.Run(ctx, trials); err != nil {
		return err
	}
	return store.Tidy(trials)
}

// Stored returns the stored outcomes of the trials, without computing any. It is an error if one is missing.
func Stored(name string, trials []Trial) ([]Outcome, error) {
	store, err := openNamed(name)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	for _, t := range trials {
		o, ok := store.Get(t)
		if !ok {
			if !t.slow() {
				return nil, fmt.Errorf("experiment: %v is not stored: run the cell that computes it first", t)
			}
			o = Outcome{Trial: t, Error: "not run"}
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// slow reports whether a trial is run only with GPPL_SLOW=1. These are the EEG by VFE with m = 500, by RQ (its exact likelihood
// is dense at n = 8000), and on all samples but the first; and trials of the authors' code with 100 or more inducing inputs or,
// in single precision, projections, which take minutes each.
func (t Trial) slow() bool {
	if t.Optimiser.Method == TorchAdam && t.Order >= 100 && (t.Loss == VFE || t.Authors.Float32) {
		return true
	}
	if t.Source.Name != "eeg" || t.Source.N < 8000 {
		return false
	}
	return t.Loss == VFE || t.Kernel == "RQ" || t.Source.Seed > 1
}

// openNamed opens the store of a named experiment at GPPL_SCALE in the folder of the notebooks. At smoke scale, outcomes of
// recordings that cannot be had are those in results/smoke, which scripts/reproduce.sh --numbers accept stores; at full scale all
// are in the store itself.
func openNamed(name string) (*Store, error) {
	scale := scales.FromEnvironment()
	s, err := OpenStore(StorePath(scale, ".", name))
	if err != nil || scale != scales.Smoke {
		return s, err
	}
	without, err := readLines[Outcome](filepath.Join("results", "smoke", name+".jsonl"))
	s.without = without.entries
	return s, err
}
