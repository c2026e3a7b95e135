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

// StorePath is where the outcomes of an experiment are, from the folder notebooks: those of full scale are kept with the project,
// in results; those of smoke scale are not, in out.
func StorePath(s scales.Scale, notebooks, name string) string {
	if s == scales.Smoke {
		return filepath.Join(notebooks, "out", "smoke-"+name+".jsonl")
	}
	return filepath.Join(notebooks, "results", name+".jsonl")
}

// RunNamed does the trials of a named experiment as the environment asks: at GPPL_SCALE; with GPPL_FRESH, a time in Unix seconds,
// computing anew what was stored before that time (1: before now); and with GPPL_SLOW=1 even what takes hours. The current folder is that of the
// notebooks. The store is left with these trials alone, in their order.
func RunNamed(ctx context.Context, name string, trials []Trial, progress func(Progress)) error {
	scale := scales.FromEnvironment()
	store, err := OpenStore(StorePath(scale, ".", name))
	if err != nil {
		return err
	}
	r := Runner{Store: store, Progress: progress}
	switch fresh := os.Getenv("GPPL_FRESH"); fresh {
	case "":
	case "1":
		r.Since = time.Now()
	default:
		seconds, err := strconv.ParseInt(fresh, 10, 64)
		if err != nil {
			return fmt.Errorf("experiment: GPPL_FRESH=%q: want a time in Unix seconds", fresh)
		}
		r.Since = time.Unix(seconds, 0)
	}
	if scale == scales.Full && os.Getenv("GPPL_SLOW") == "" {
		r.Keep = Trial.slow
	}
	if _, err := r.Run(ctx, trials); err != nil {
		return err
	}
	return store.Tidy(trials)
}

// Stored returns the outcomes of the trials that RunNamed left, without computing any. It is an error if one is missing.
func Stored(name string, trials []Trial) ([]Outcome, error) {
	store, err := OpenStore(StorePath(scales.FromEnvironment(), ".", name))
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

// slow reports whether a trial takes so long that it is done only with GPPL_SLOW=1: the EEG by VFE with m = 500, by RQ, whose
// exact likelihood is dense at n = 8000, and on all samples but the first; and what the authors' code did with 100 inducing inputs or more, or with
// as many projections in single precision, which takes minutes for each trial.
func (t Trial) slow() bool {
	if t.Optimiser.Method == TorchAdam && t.Order >= 100 && (t.Loss == VFE || t.Authors.Float32) {
		return true
	}
	if t.Source.Name != "eeg" || t.Source.N < 8000 {
		return false
	}
	return t.Loss == VFE || t.Kernel == "RQ" || t.Source.Seed > 1
}
