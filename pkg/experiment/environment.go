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

// StorePath returns the file of an experiment's outcomes, relative to the folder notebooks. Results at full scale are in the
// folder results, which is committed; smoke results are in out, which is not.
func StorePath(s scales.Scale, notebooks, name string) string {
	if s == scales.Smoke {
		return filepath.Join(notebooks, "out", "smoke-"+name+".jsonl")
	}
	return filepath.Join(notebooks, "results", name+".jsonl")
}

// RunNamed runs trials of a named experiment at GPPL_SCALE. The current folder must contain the notebooks.
//
// GPPL_FRESH, a time in Unix seconds, recomputes outcomes stored before it (1: before now). GPPL_SLOW=1 includes trials that
// take hours. Recordings are downloaded if possible; where one is unavailable, its stored results are used. progress is called
// as by a Survey; if it is nil, a bar is shown. Afterwards the store begins with these trials, in their order, followed by its
// other outcomes.
//
// RunNamed returns an error if a trial is not one of the experiment: run your own trials by a Survey.
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

// slow reports whether a trial is run only with GPPL_SLOW=1: on the EEG, VFE with m = 500, RQ (its exact likelihood is dense
// at n = 8000) and all samples but the first; by the authors' code, VFE with 100 or more inducing inputs and, in single
// precision, PL with 100 or more projections; and ML with LocPer from random starts. They take minutes each.
func (t Trial) slow() bool {
	if t.Loss == ML && t.Start > 0 && t.Kernel == "LocPer" {
		return true
	}
	if t.Optimiser.Method == TorchAdam && t.Order >= 100 && (t.Loss == VFE || t.Authors.Float32) {
		return true
	}
	if t.Source.Name != "eeg" || t.Source.N < 8000 {
		return false
	}
	return t.Loss == VFE || t.Kernel == "RQ" || t.Source.Seed > 1
}

// openNamed opens the store of a named experiment at GPPL_SCALE. At smoke scale, outcomes of unavailable recordings come from
// results/smoke, which scripts/reproduce.sh --numbers accept stores; at full scale the store itself has all outcomes.
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
