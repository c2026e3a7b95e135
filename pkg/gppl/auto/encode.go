package auto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// A Result is written like the gppl.Result in it, with one more member, "Auto", so that LoadResult reads both.

// member names the additional member, which gppl's Result.UnmarshalJSON ignores.
const member = "Auto"

// addedJSON holds the fields of a Result beside the gppl.Result in it.
type addedJSON struct {
	Exact      bool
	Projection *gppl.Projection `json:",omitempty"`
	Kept       []typed.Float
	Why        string
	Search     Search
	Steps      []stepJSON
}

// stepJSON is a Step whose numbers need not be finite: a standard error is +Inf where a parameter is not identified.
type stepJSON struct {
	plainStep
	Value, Gain, Seconds   typed.Float
	Theta, StdErrLog, Kept []typed.Float
}

type plainStep Step

// MarshalJSON writes all of the result, in the versioned format of Save.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Result == nil {
		return nil, errors.New("gppl: a Result without a Result cannot be saved")
	}
	a := addedJSON{Exact: r.Exact, Projection: r.Projection, Kept: typed.Converted[typed.Float](r.Kept), Why: r.Why,
		Search: r.Search}
	for _, s := range r.Steps {
		a.Steps = append(a.Steps, stepJSON{
			plainStep: plainStep(s), Value: typed.Float(s.Value), Gain: typed.Float(s.Gain), Seconds: typed.Float(s.Seconds),
			Theta: typed.Converted[typed.Float](s.Theta), StdErrLog: typed.Converted[typed.Float](s.StdErrLog),
			Kept: typed.Converted[typed.Float](s.Kept),
		})
	}
	result, err := json.Marshal(store.Result{Result: r.Result})
	if err != nil {
		return nil, err
	}
	added, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `%s,%q:%s}`, bytes.TrimSuffix(result, []byte("}")), member, added), nil
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (r *Result) UnmarshalJSON(b []byte) error {
	var result store.Result
	if err := json.Unmarshal(b, &result); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	if members[member] == nil {
		return errors.New("gppl: result: it is not one of auto.Fit; store.Load reads it")
	}
	var a addedJSON
	if err := sealed.Strict(members[member], &a); err != nil {
		return fmt.Errorf("gppl: result: %w", err)
	}
	out := Result{Result: result.Result, Exact: a.Exact, Projection: a.Projection, Kept: typed.Converted[float64](a.Kept),
		Why: a.Why, Search: a.Search}
	for _, s := range a.Steps {
		step := Step(s.plainStep)
		step.Value, step.Gain, step.Seconds = float64(s.Value), float64(s.Gain), float64(s.Seconds)
		step.Theta, step.StdErrLog, step.Kept = typed.Converted[float64](s.Theta), typed.Converted[float64](s.StdErrLog),
			typed.Converted[float64](s.Kept)
		out.Steps = append(out.Steps, step)
	}
	*r = out
	return nil
}

// Save writes the whole result to a file, either completely or not at all; LoadResult reads it. The projection takes 11 bytes
// for each entry of Ω.
func (r *Result) Save(path string) error { return sealed.Save(path, r) }

// LoadResult reads a result that Result.Save wrote.
func LoadResult(path string) (*Result, error) { return sealed.Load[Result](path) }
