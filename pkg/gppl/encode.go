package gppl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// Models and results are written as versioned JSON. A kernel is its type, its
// parameters by name, and for a sum or a product its parts:
//
//	{"type": "SE", "parameters": {"variance": 1, "lengthscale": 20}}
//	{"type": "Sum", "parts": [ … ]}

var resultHeader = sealed.Header{Format: "gppl result", Version: 1}

var kernelTypes = typed.NewRegistry[Kernel](SE{}, Laplace{}, Matern32{}, Matern52{}, RQ{}, Periodic{}, LocPer{}, SpectralMixture{}, SHO{}, DampedTrend{}, Rotation{}, Cosine{}, White{})

// RegisterKernel makes a kernel's type known to LoadResult, under the name of
// its Go type. A user's own kernel registers its zero value in an init
// function. It panics if the name is taken by another type.
func RegisterKernel(zero Kernel) { kernelTypes.Register("gppl: RegisterKernel", zero) }

type kernelJSON struct {
	Type       string             `json:"type"`
	Parameters map[string]float64 `json:"parameters,omitempty"`
	Parts      []kernelJSON       `json:"parts,omitempty"`
}

func encodeKernel(k Kernel) kernelJSON {
	j := kernelJSON{Type: typed.Name(k), Parameters: map[string]float64{}}
	own := k.Params() // after those of the parts
	for _, p := range partsOf(k) {
		j.Parts, own = append(j.Parts, encodeKernel(p)), own[len(p.Params()):]
	}
	for _, p := range own {
		j.Parameters[p.Name] = p.Value
	}
	return j
}

// maxDepth bounds how deep sums and products may be nested in a file.
const maxDepth = 32

// decodeParts returns what kernels, or means, are made of: of a type, that many levels deep in others.
func decodeParts[J, T any](what, of string, from []J, depth int, decode func(J, int) (T, error)) ([]T, error) {
	if len(from) == 0 {
		return nil, fmt.Errorf("a %s without parts", of)
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("%s nested deeper than %d", what, maxDepth)
	}
	parts := make([]T, len(from))
	for i, p := range from {
		var err error
		if parts[i], err = decode(p, depth+1); err != nil {
			return nil, fmt.Errorf("part %d of a %s: %w", i, of, err)
		}
	}
	return parts, nil
}

func decodeKernel(j kernelJSON, depth int) (Kernel, error) {
	if j.Type == "Sum" || j.Type == "Product" || j.Type == "ChangePoint" {
		parts, err := decodeParts("kernels", j.Type, j.Parts, depth, decodeKernel)
		switch {
		case err != nil:
			return nil, err
		case j.Type == "Sum":
			return Add(parts...), nil
		case j.Type == "ChangePoint":
			return decodeChangePoint(j, parts)
		}
		return Mul(parts...), nil
	}
	zero, known := kernelTypes.Find(j.Type)
	if !known {
		return nil, fmt.Errorf("unknown kernel type %q (a kernel of your own needs RegisterKernel)", j.Type)
	}
	params := zero.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		v, ok := j.Parameters[p.Name]
		if !ok {
			return nil, fmt.Errorf("kernel %s lacks parameter %q", j.Type, p.Name)
		}
		theta[i] = v
	}
	if len(j.Parameters) != len(params) {
		return nil, fmt.Errorf("kernel %s has %d parameters, want %d", j.Type, len(j.Parameters), len(params))
	}
	return zero.WithParams(theta), nil
}

// decodeChangePoint returns the change point of j between two parts.
func decodeChangePoint(j kernelJSON, parts []Kernel) (Kernel, error) {
	location, ok := j.Parameters["location"]
	width, wide := j.Parameters["width"]
	if len(parts) != 2 || len(j.Parameters) != 2 || !ok || !wide {
		return nil, fmt.Errorf("a ChangePoint has two parts, a location and a width")
	}
	return ChangePoint{parts[0], parts[1], location, width}, nil
}

type transformJSON struct {
	Kind  string  `json:"kind"`
	Floor float64 `json:"floor,omitempty"`
	Span  float64 `json:"span,omitempty"`
}

func encodeTransform(t Transform) (transformJSON, error) {
	switch t := t.(type) {
	case nil:
		return transformJSON{Kind: "log"}, nil
	case Log, Fixed, Free:
		return transformJSON{Kind: fmt.Sprint(t)}, nil
	case Softplus:
		return transformJSON{Kind: "softplus", Floor: t.Floor}, nil
	case Cycles:
		return transformJSON{Kind: "cycles", Span: t.Span}, nil
	}
	return transformJSON{}, fmt.Errorf("gppl: transform %v (%T) cannot be saved", t, t)
}

func decodeTransform(j transformJSON) (Transform, error) {
	switch j.Kind {
	case "softplus":
		if !(j.Floor >= 0) || math.IsInf(j.Floor, 0) {
			return nil, fmt.Errorf("softplus floor %v", j.Floor)
		}
		return Softplus{j.Floor}, nil
	case "cycles":
		if !(j.Span > 0) || math.IsInf(j.Span, 0) {
			return nil, fmt.Errorf("cycles over %v", j.Span)
		}
		return Cycles{j.Span}, nil
	}
	for _, plain := range []Transform{Log{}, Fixed{}, Free{}} {
		if plain.String() == j.Kind {
			return plain, nil
		}
	}
	return nil, fmt.Errorf("unknown transform %q", j.Kind)
}

type modelJSON struct {
	Kernel     kernelJSON      `json:"kernel"`
	Mean       *meanJSON       `json:"mean,omitempty"`
	Noise      float64         `json:"noise_variance"`
	Transforms []transformJSON `json:"transforms"` // one per parameter, noise last
}

// MarshalJSON writes the mean, the kernel, the noise variance and the transforms.
func (m Model) MarshalJSON() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	j := modelJSON{Kernel: encodeKernel(m.Kernel), Noise: m.Noise}
	if m.Mean != nil {
		mean, err := encodeMean(m.Mean)
		if err != nil {
			return nil, err
		}
		j.Mean = &mean
	}
	for _, p := range m.Params() {
		t, err := encodeTransform(p.Transform)
		if err != nil {
			return nil, err
		}
		j.Transforms = append(j.Transforms, t)
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (m *Model) UnmarshalJSON(b []byte) error {
	var j modelJSON
	if err := sealed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: model: %w", err)
	}
	k, err := decodeKernel(j.Kernel, 0)
	if err != nil {
		return fmt.Errorf("gppl: model: %w", err)
	}
	read := Model{Kernel: k, Noise: j.Noise}
	if j.Mean != nil {
		if read.Mean, err = decodeMean(*j.Mean, 0); err != nil {
			return fmt.Errorf("gppl: model: %w", err)
		}
	}
	params := read.Params()
	if len(j.Transforms) != len(params) {
		return fmt.Errorf("gppl: model: %d transforms for %d parameters", len(j.Transforms), len(params))
	}
	for i, t := range j.Transforms {
		transform, err := decodeTransform(t)
		if err != nil {
			return fmt.Errorf("gppl: model: parameter %q: %w", params[i].Name, err)
		}
		if transform != transformOf(params[i]) {
			read = read.WithTransform(params[i].Name, transform)
		}
	}
	if err := read.Check(); err != nil {
		return err
	}
	*m = read
	return nil
}

// resultJSON is a Result as it is written: what is of another form stands beside it, under the same name where it has one.
type resultJSON struct {
	sealed.Header
	plainResult
	Params       []paramJSON
	SetupSeconds float64
	FitSeconds   float64
	Starts       []startJSON
	Trace        traceJSON
	Auto         json.RawMessage `json:",omitempty"` // what an auto.Result adds; a Result leaves it out
}

// plainResult is a Result without its methods.
type plainResult Result

// paramJSON is what a FittedParam adds to the model's parameter of that name.
type paramJSON struct {
	Name        string
	Start       float64
	StdErrLog   typed.Float `json:",omitempty"` // left out where it is NaN
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
	StartResult
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

// MarshalJSON writes the result in the versioned format of Save.
func (r *Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.encode()) }

// known returns a standard error, or 0, which is left out, if it is not known.
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

func (r *Result) encode() *resultJSON {
	j := &resultJSON{
		Header: resultHeader, plainResult: plainResult(*r),
		SetupSeconds: r.SetupTime.Seconds(), FitSeconds: r.FitTime.Seconds(),
	}
	for _, p := range r.Params {
		j.Params = append(j.Params, paramJSON{p.Name, p.Start, known(p.StdErrLog), p.stdErrPlace, p.AtBound, p.Negligible, p.TiedTo})
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
	out := Result(j.plainResult)
	out.SetupTime, out.FitTime = durationOf(j.SetupSeconds), durationOf(j.FitSeconds)
	for i, p := range j.Params {
		if p.Name != params[i].Name {
			return fmt.Errorf("gppl: result: parameter %d is %q, the model's is %q", i, p.Name, params[i].Name)
		}
		out.Params = append(out.Params, FittedParam{params[i], p.Start, orUnknown(p.StdErrLog), p.AtBound, p.Negligible, p.TiedTo, p.StdErrPlace})
	}
	for i, v := range j.Trace.Value {
		out.Trace = append(out.Trace, TracePoint{j.Trace.Start[i], j.Trace.Evaluation[i], j.Trace.Seconds[i], float64(v)})
	}
	for _, s := range j.Starts {
		s.StartResult.Value = float64(s.Value)
		out.Starts = append(out.Starts, s.StartResult)
	}
	*r = out
	return nil
}

func durationOf(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// Save writes the result to a file with a checksum, completely or not at all: it writes a temporary
// file beside it, and renames that.
func (r *Result) Save(path string) error { return sealed.Save(path, r) }

// LoadResult reads a result that Save wrote, or the Result of an auto.Result.
func LoadResult(path string) (*Result, error) { return sealed.Load[Result](path) }
