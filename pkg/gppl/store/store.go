// Package store writes models and results to files of JSON, with a format, a version and a checksum, and reads them again.
//
// Kernels, means and priors are written as their types with their contents. The types of package gppl are known; register a
// type of your own by RegisterKernel, RegisterMean or RegisterPrior in an init function, in the program that loads as well.
// Model, Prior and Result are fields for your own structs: encoding/json writes and reads them. (A gppl.Projection has only
// numbers, and writes itself.)
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

var resultHeader = sealed.Header{Format: "gppl result", Version: 1}

// resultJSON is a Result in its written form: fields that encoding/json writes differently replace the embedded ones of the
// same name.
type resultJSON struct {
	sealed.Header
	Model Model `json:"model"`
	plainResult
	Priors       []Prior `json:",omitempty"`
	Params       []paramJSON
	SetupSeconds float64
	FitSeconds   float64
	Starts       []startJSON
	Trace        traceJSON
	Auto         json.RawMessage `json:",omitempty"` // added by an auto.Result; a Result ignores it
}

// plainResult is a Result without its methods.
type plainResult gppl.Result

// paramJSON holds the fields of a FittedParam beyond the model's parameter of that name.
type paramJSON struct {
	Name        string
	Start       float64
	StdErrLog   typed.Float `json:",omitempty"` // left out if NaN
	StdErrPlace float64     `json:",omitempty"`
	AtBound     bool        `json:",omitempty"`
	Negligible  bool        `json:",omitempty"`
	TiedTo      string      `json:",omitempty"`
}

// traceJSON holds a trace by columns.
type traceJSON struct {
	Start      []int
	Evaluation []int
	Seconds    []float64
	Value      []orInf
}

// startJSON is a StartResult whose value may be +Inf.
type startJSON struct {
	Value orInf
	gppl.StartResult
}

// Result is a result that encoding/json can write and read.
type Result struct{ *gppl.Result }

// MarshalJSON writes the result in the versioned format of Save.
func (r Result) MarshalJSON() ([]byte, error) {
	if r.Result == nil {
		return nil, errors.New("gppl: a Result without a Result cannot be saved")
	}
	return json.Marshal(encode(r.Result))
}

// known returns a standard error, or 0, which JSON leaves out, if it is unknown.
func known(se float64) typed.Float {
	if math.IsNaN(se) {
		return 0
	}
	return typed.Float(se)
}

// orUnknown is the inverse of known.
func orUnknown(se typed.Float) float64 {
	if se == 0 {
		return math.NaN()
	}
	return float64(se)
}

func encode(r *gppl.Result) *resultJSON {
	j := &resultJSON{
		Header: resultHeader, Model: Model{r.Model}, plainResult: plainResult(*r), Priors: Priors(r.Priors),
		SetupSeconds: r.SetupTime.Seconds(), FitSeconds: r.FitTime.Seconds(),
	}
	for _, p := range r.Params {
		j.Params = append(j.Params, paramJSON{p.Name, p.Start, known(p.StdErrLog), p.StdErrPlace, p.AtBound, p.Negligible, p.TiedTo})
	}
	for _, t := range r.Trace {
		j.Trace.Start = append(j.Trace.Start, t.Start)
		j.Trace.Evaluation = append(j.Trace.Evaluation, t.Evaluation)
		j.Trace.Seconds = append(j.Trace.Seconds, t.Seconds)
		j.Trace.Value = append(j.Trace.Value, orInf(t.Value))
	}
	for _, s := range r.Starts {
		j.Starts = append(j.Starts, startJSON{orInf(s.Value), s})
	}
	return j
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it; from an auto.Result it reads the Result.
func (r *Result) UnmarshalJSON(b []byte) error {
	b, err := sealed.Open(b)
	if err != nil {
		return fmt.Errorf("gppl: result: %w", err)
	}
	var head sealed.Header
	if err = json.Unmarshal(b, &head); err == nil {
		err = head.Check(resultHeader)
	}
	var j resultJSON
	if err == nil {
		err = sealed.Strict(b, &j)
	}
	if err != nil {
		return fmt.Errorf("gppl: result: %w", err)
	}
	if j.Model.Kernel == nil {
		return errors.New("gppl: result: no model")
	}
	params := j.Model.Params()
	if len(j.Params) != len(params) {
		return fmt.Errorf("gppl: result: %d parameters for a model of %d", len(j.Params), len(params))
	}
	n := len(j.Trace.Value)
	if len(j.Trace.Start) != n || len(j.Trace.Evaluation) != n || len(j.Trace.Seconds) != n {
		return fmt.Errorf("gppl: result: the columns of the trace differ in length")
	}
	if len(j.Starts) > 0 && (j.Best < 0 || j.Best >= len(j.Starts)) {
		return fmt.Errorf("gppl: result: best start %d of %d", j.Best, len(j.Starts))
	}
	for _, s := range []float64{j.SetupSeconds, j.FitSeconds} {
		if s < 0 || s > math.MaxInt64/float64(2*time.Second) {
			return fmt.Errorf("gppl: result: a time of %v s", s)
		}
	}
	out := gppl.Result(j.plainResult)
	out.Model, out.Priors = j.Model.Model, ParamPriors(j.Priors)
	out.SetupTime, out.FitTime = durationOf(j.SetupSeconds), durationOf(j.FitSeconds)
	for i, p := range j.Params {
		if p.Name != params[i].Name {
			return fmt.Errorf("gppl: result: parameter %d is %q, the model's is %q", i, p.Name, params[i].Name)
		}
		out.Params = append(out.Params, gppl.FittedParam{
			Param: params[i], Start: p.Start, StdErrLog: orUnknown(p.StdErrLog), AtBound: p.AtBound,
			Negligible: p.Negligible, TiedTo: p.TiedTo, StdErrPlace: p.StdErrPlace,
		})
	}
	for i, v := range j.Trace.Value {
		out.Trace = append(out.Trace, gppl.TracePoint{Start: j.Trace.Start[i], Evaluation: j.Trace.Evaluation[i],
			Seconds: j.Trace.Seconds[i], Value: float64(v)})
	}
	for _, s := range j.Starts {
		s.StartResult.Value = float64(s.Value)
		out.Starts = append(out.Starts, s.StartResult)
	}
	r.Result = &out
	return nil
}

func durationOf(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// Save writes a result to a file with a checksum, completely or not at all: it writes a temporary file in the same folder, and
// renames it.
func Save(path string, r *gppl.Result) error { return sealed.Save(path, Result{r}) }

// Load reads a result that Save wrote, or the Result of an auto.Result.
func Load(path string) (*gppl.Result, error) {
	r, err := sealed.Load[Result](path)
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

// orInf is a float64 that is null in JSON where it is +Inf.
type orInf float64

func (v orInf) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(v), 1) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

func (v *orInf) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*v = orInf(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(v))
}
