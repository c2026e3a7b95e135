package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// known holds the fingerprints of the recordings behind notebooks/results: SN_m_tot_V2.0.csv up to July 2025, and
// eeg_burst_eg.edf. They find a stored result on a machine without the recording. TestKnownRecordings compares them with the
// results and, where available, with the recordings.
var known = map[Source]string{
	{Name: "sunspots", N: 3319}:     "e9930f786bb958eb",
	{Name: "sunspots", N: 240}:      "606473980b346956", // at smoke scale, as the last entry
	{Name: "eeg", N: 8000, Seed: 1}: "4e72aa0bba22e4ce",
	{Name: "eeg", N: 8000, Seed: 2}: "6805c44ef19ddc98",
	{Name: "eeg", N: 8000, Seed: 3}: "e069fe2f4c999487",
	{Name: "eeg", N: 200, Seed: 1}:  "245027ee7cc4706a",
}

// sourceFiles lists the recordings of a source; one of them suffices.
var sourceFiles = map[string][]dataset.File{
	"sunspots": {dataset.SunspotsFile},
	"eeg":      {dataset.EEGFile, dataset.EEGBurstFile},
}

// unavailable returns why the data of a source are unavailable, or nil. A draw is always available.
func (s Source) unavailable() error {
	_, err := s.fingerprint()
	return err
}

// download asks the publishers for recordings of the trials that are not on this machine. A failed download is no error here:
// the stored results are shown instead.
func download(ctx context.Context, trials []Trial) {
	asked := map[string]bool{}
	for _, t := range trials {
		if name := t.Source.Name; !asked[name] {
			asked[name] = true
			one := func(opt dataset.Options) (found bool) {
				for _, f := range sourceFiles[name] {
					_, err := dataset.Find(ctx, f, opt)
					if found = err == nil; found {
						return true
					}
				}
				return false
			}
			if !one(dataset.Options{Offline: true}) {
				one(dataset.Options{Log: io.Discard})
			}
		}
	}
}

// NotRecomputed returns a line that says which outcomes are shown as stored, because their recording is unavailable or differs
// from the recording behind the outcome, and which command computes them. It is empty if there are none. notebook is the
// number of the notebook that shows them.
func NotRecomputed(notebook string, all []Outcome) string {
	lost, other := 0, 0
	var names []string
	state := "here"
	for _, o := range all {
		key, err := o.Trial.Key()
		switch {
		case err != nil:
			lost++
			for _, f := range sourceFiles[o.Trial.Source.Name] {
				if !slices.Contains(names, f.Name) {
					names = append(names, f.Name)
				}
			}
			if !errors.Is(err, fs.ErrNotExist) {
				state = "a file that can be read"
			}
		case o.Key != "" && o.Key != key:
			other++
		}
	}
	scale, command := "", fmt.Sprintf("scripts/reproduce.sh --only %s --fresh", notebook)
	if scales.FromEnvironment() == scales.Smoke {
		scale, command = "GPPL_SCALE=smoke ", fmt.Sprintf("scripts/reproduce.sh --only %s", notebook)
	}
	switch {
	case lost > 0:
		reason := strings.Join(names, "") + " is not " + state
		if len(names) > 1 {
			reason = "neither " + strings.Join(names, " nor ") + " is " + state
		}
		return fmt.Sprintf("Not recomputed: %d of %d results are shown as they are stored, because %s. With the file in a FOLDER, "+
			"%sGPPL_DATA=FOLDER %s computes them.", lost, len(all), reason, scale, command)
	case other > 0:
		return fmt.Sprintf("Not recomputed: %d of %d results are shown as they are stored, which is of another recording than the one "+
			"here. %s%s computes them from this one.", other, len(all), scale, command)
	}
	return ""
}

// Kept returns what figures need of a recording: the result of compute if the recording is available, else what is stored
// under the name. In the folder of the notebooks a computed result is stored beside the outcomes; at full scale only if
// nothing is stored yet or GPPL_FRESH is set. If nothing is stored, Kept returns compute's error.
func Kept[T any](name string, scale scales.Scale, compute func() (T, error)) (T, error) {
	stored := filepath.Join("results", name+".json")
	target := stored
	if scale == scales.Smoke {
		stored, target = filepath.Join("results", "smoke", name+".json"), filepath.Join("out", "smoke-"+name+".json")
	}
	v, err := compute()
	if err != nil {
		return keptIn[T](stored, err)
	}
	if info, err := os.Stat("results"); err != nil || !info.IsDir() {
		return v, nil
	}
	if _, err := os.Stat(target); err != nil || scale == scales.Smoke || os.Getenv("GPPL_FRESH") != "" {
		return v, keep(target, v)
	}
	return v, nil
}

func keep(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("experiment: %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return files.WriteBytes(context.Background(), path, append(text, '\n'))
}

// keptIn reads what keep wrote. If there is no such file, it returns why, the error that prevented computing it.
func keptIn[T any](path string, why error) (v T, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, why
	}
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return v, fmt.Errorf("experiment: %s: %w", path, err)
	}
	return v, nil
}

// Numbers are values of a figure, stored with six digits.
type Numbers []float64

// MarshalJSON writes each value with six digits.
func (n Numbers) MarshalJSON() ([]byte, error) {
	var rounded []float64 // stays nil, which is written as null, for no values
	for _, v := range n {
		rounded = append(rounded, text.Rounded(v, 6))
	}
	return json.Marshal(rounded)
}
