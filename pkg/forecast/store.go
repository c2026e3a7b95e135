package forecast

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// ErrModelAlone is the error of reading a saved result without the observations that it was learnt from, such as one of sums.
var ErrModelAlone = errors.New("this is a model alone, without observations")

const (
	format  = "gppl analysis"
	version = 2
	// whole is the previous version. Its models have the standardisation of the whole series, whatever they were trained on.
	whole = 1
)

// stored is an analysis in a file. It contains the observations, so that it predicts without the csv file, and the name and
// checksum of that file, so that its origin is known.
type stored struct {
	sealed.Header
	series.Series
	Candidates []storedCandidate `json:"candidates"`
	Result     *store.Result     `json:"result"`
	// Trained is the number of latest observations on which the models were trained.
	Trained int `json:"trained_on,omitempty"`
	// Older files lack the fields that follow.
	Log bool `json:"log,omitempty"`
	// Weak says that parameters have weak priors, and that models are standardised by the observations on which they were trained.
	// It is false in older files of named kernels: their candidates were ranked by BIC, and the first alone is the forecast.
	Weak    bool           `json:"weak_priors,omitempty"`
	Members []storedMember `json:"members,omitempty"`
	Widen   float64        `json:"widen,omitempty"`
	Effort  string         `json:"effort,omitempty"`
	Noise   *NoiseSeason   `json:"noise_season,omitempty"`
	// Priors are the given ones; older files of named kernels have them in the result.
	Priors []store.Prior `json:"priors,omitempty"`
	// Periods are the given ones; older files lack them.
	Periods []float64 `json:"periods,omitempty"`
	// Projections is in some older files of named kernels, which were compared by so many projections.
	Projections int `json:"projections,omitempty"`
	// Shared is in files of series that were fitted with --share: the priors that they shared, which no prediction needs.
	Shared json.RawMessage `json:"shared,omitempty"`
}

// storedCandidate is a candidate. Search and Doubts are in older files of named kernels: how they were searched, and with what
// doubts.
type storedCandidate struct {
	search.Candidate
	Search string   `json:"search,omitempty"`
	Doubts []string `json:"doubts,omitempty"`
}

// storedMember is one of the models that forecasts average.
type storedMember struct {
	Weight float64     `json:"weight"`
	Log    bool        `json:"log,omitempty"`
	Model  store.Model `json:"model"`
	// Draws are models with parameters drawn from their posterior, equally weighted.
	Draws []store.Model `json:"draws,omitempty"`
	Shape float64       `json:"shape,omitempty"` // shape parameter of the likelihood of counts
}

// Save writes the analysis to a file, whole or not at all.
func (a *Analysis) Save(path string) error { return files.Write(context.Background(), path, a.Encode) }

// Encode writes the analysis as Load reads it, with a checksum. The observations are written piece by piece: a single text would
// take several times the memory of the series.
func (a *Analysis) Encode(w io.Writer) error {
	s := a.Series
	var candidates []storedCandidate
	for _, c := range a.Candidates {
		candidates = append(candidates, storedCandidate{Candidate: c})
	}
	var members []storedMember
	if !a.whole {
		for _, m := range a.members {
			of := storedMember{Weight: m.Weight, Log: m.Log, Model: store.Model{Model: m.Model}, Shape: m.Shape}
			for _, drawn := range m.Draws {
				of.Draws = append(of.Draws, store.Model{Model: drawn})
			}
			members = append(members, of)
		}
	}
	plain := *s
	plain.X, plain.Y = []float64{}, []float64{} // writeStored writes them
	b, err := json.Marshal(stored{
		Header: sealed.Header{Format: format, Version: version}, Series: plain,
		Candidates: candidates, Result: &store.Result{Result: a.Result}, Trained: a.trained,
		Log: a.Log, Weak: !a.whole, Members: members, Widen: a.Widen, Effort: a.Effort, Noise: a.Noise,
		Priors: store.Priors(a.given), Periods: a.Periods,
	})
	if err == nil {
		err = writeStored(sealed.NewWriter(w), b, s.X, s.Y)
	}
	if err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	return nil
}

// writeStored writes an object whose members x and y are empty, with these numbers in them.
func writeStored(w *sealed.Writer, object []byte, x, y []float64) error {
	const empty = `"x":[],"y":[]` // no text within the object has it: quotation marks in texts are escaped
	before, after, ok := bytes.Cut(object, []byte(empty))
	if !ok {
		return errors.New("the object has no empty x and y")
	}
	out := bufio.NewWriter(w) // keeps its first error
	out.Write(before)
	for i, opening := range []string{`"x":[`, `],"y":[`} {
		out.WriteString(opening)
		if err := writeNumbers(out, [][]float64{x, y}[i]); err != nil {
			return err
		}
	}
	out.WriteString("]")
	out.Write(bytes.TrimSuffix(after, []byte("}")))
	if err := out.Flush(); err != nil {
		return err
	}
	return w.Close()
}

// writeNumbers writes numbers as package json does, with commas between them.
func writeNumbers(w io.Writer, all []float64) error {
	const piece = 1 << 14
	for from := 0; from < len(all); from += piece {
		text, err := json.Marshal(all[from:min(from+piece, len(all))])
		if err != nil {
			return err
		}
		text[0] = ',' // this replaces the bracket
		if text = text[:len(text)-1]; from == 0 {
			text = text[1:]
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Load reads what Save wrote, and checks it.
func Load(path string) (*Analysis, error) { return LoadWithin(path, math.Inf(1)) }

// LoadWithin does as Load with a limit on its predicted memory, in bytes: beyond it the error is a [*gppl.MemoryError].
func LoadWithin(path string, memory float64) (*Analysis, error) {
	b, err := readStored(path, memory)
	if err != nil {
		return nil, err
	}
	a, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	return a, nil
}

// readStored reads a file that a model was saved in, if the predicted memory is within the limit.
func readStored(path string, memory float64) ([]byte, error) {
	b, err := files.ReadWithin(path, "{", int64(min((memory-series.ProgramBytes)/loadFactor, 1<<62)))
	if large := (*files.LargeError)(nil); errors.As(err, &large) {
		return nil, &gppl.MemoryError{What: "the model " + path,
			Needed: series.ProgramBytes + loadFactor*float64(large.Bytes), Limit: memory}
	}
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return b, nil
}

func decode(b []byte) (*Analysis, error) {
	var head sealed.Header
	if err := json.Unmarshal(b, &head); err != nil {
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) && syntax.Offset < 2 {
			return nil, errors.New("this is not a saved analysis, but some other file")
		}
		return nil, fmt.Errorf("this is not a saved analysis: %w", err)
	}
	b, err := sealed.Open(b)
	if err != nil {
		return nil, err
	}
	switch head.Format {
	case format:
	case "gppl result":
		return nil, ErrModelAlone
	case "gppl channels":
		return nil, errors.New("this is a model of channels or exposures, which gppl fit no longer makes: gppl.Data.WithChannels and " +
			"WithExposures of the library do (notebook 14)")
	default:
		return nil, fmt.Errorf("format %q, want %q: this is not a saved analysis", head.Format, format)
	}
	if head.Version != version && head.Version != whole {
		return nil, fmt.Errorf("version %d, this program reads version %d", head.Version, version)
	}
	var j stored
	if err := sealed.Strict(b, &j); err != nil {
		return nil, err
	}
	if j.Version == whole {
		j.Trained = len(j.X)
		if j.Weak {
			j.Effort = cmp.Or(j.Effort, "standard")
		}
	}
	s := new(series.Series)
	*s = j.Series
	if err := s.Restore(); err != nil {
		return nil, err
	}
	if err := cmp.Or(j.check(), j.Noise.check(s.Axis)); err != nil {
		return nil, err
	}
	a := &Analysis{
		Series: s, Result: j.Result.Result, trained: j.Trained, Log: j.Log,
		Widen: j.Widen, Effort: j.Effort, Noise: j.Noise, given: store.ParamPriors(j.Priors), Periods: j.Periods,
		whole: !j.Weak, computed: new(computed),
	}
	v, err := a.scale(j.Log)
	if err != nil {
		return nil, err
	}
	a.Scaling = v.Scaling
	if a.whole { // the other candidates, ranked by BIC, had no part in the forecast
		j.Candidates = j.Candidates[:1]
	}
	for _, c := range j.Candidates {
		a.Candidates = append(a.Candidates, c.Candidate)
	}
	search.Restore(a.Candidates)
	for i, m := range j.Members { // the averaged candidates come first, in the order of the members
		of := &member{Averaged: a.Candidates[i].Averaged(m.Model.Model, m.Log, m.Weight)}
		of.Shape = m.Shape
		for _, drawn := range m.Draws {
			of.Draws = append(of.Draws, drawn.Model)
		}
		a.members = append(a.members, of)
	}
	if len(j.Members) == 0 {
		a.members = a.alone()
	}
	return a, nil
}

// check returns an error for contents that no analysis can have.
func (j *stored) check() error {
	for _, p := range j.Periods {
		if !(p > 0 && p <= series.Largest) {
			return fmt.Errorf("a period of %v", p)
		}
	}
	if j.Trained < 2 {
		return fmt.Errorf("trained on %d observations", j.Trained)
	}
	if j.Result == nil || len(j.Candidates) == 0 {
		return errors.New("there is no model in it")
	}
	if len(j.Members) > len(j.Candidates) {
		return fmt.Errorf("%d members of %d candidates", len(j.Members), len(j.Candidates))
	}
	var total float64
	for i, m := range j.Members {
		if !(m.Weight > 0 && m.Weight <= 1) {
			return fmt.Errorf("the weight of member %d is %v", i, m.Weight)
		}
		if m.Log && j.Bounds == nil && !(slices.Min(j.Y) > 0) {
			return fmt.Errorf("member %d is a model of the logarithm, and not all y are positive", i)
		}
		total += m.Weight
	}
	if !(j.Widen >= 0 && j.Widen <= 100) {
		return fmt.Errorf("bands are widened %v times", j.Widen)
	}
	if len(j.Members) > 0 && math.Abs(total-1) > 1e-6 {
		return fmt.Errorf("the weights of the members add up to %v", total)
	}
	return nil
}
