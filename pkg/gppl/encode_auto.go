package gppl

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// An AutoResult is written as its Result is, with one member more, "Auto", so that LoadResult reads the Result of it.

// autoJSON is what an AutoResult adds to its Result.
type autoJSON struct {
	Exact      bool
	Projection *Projection `json:",omitempty"`
	Kept       []anyFloat
	Why        string
	Search     Search
	Steps      []autoStepJSON
}

// autoStepJSON is an AutoStep whose numbers need not be finite: a standard error is +Inf where a parameter is not identified.
type autoStepJSON struct {
	plainStep
	Value, Gain, Seconds   anyFloat
	Theta, StdErrLog, Kept []anyFloat
}

type plainStep AutoStep

// anyFloat is a float64 that is a string in JSON where it is not finite.
type anyFloat float64

func (v anyFloat) MarshalJSON() ([]byte, error) {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return json.Marshal(fmt.Sprint(f))
	}
	return json.Marshal(float64(v))
}

func (v *anyFloat) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*v = anyFloat(math.NaN())
	case `"+Inf"`:
		*v = anyFloat(math.Inf(1))
	case `"-Inf"`:
		*v = anyFloat(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(v))
	}
	return nil
}

// converted returns x in another type of number; nil for nil.
func converted[To, From ~float64](x []From) []To {
	if x == nil {
		return nil
	}
	out := make([]To, len(x))
	for i, v := range x {
		out[i] = To(v)
	}
	return out
}

// MarshalJSON writes all of the result, in the versioned format of Save.
func (r AutoResult) MarshalJSON() ([]byte, error) {
	if r.Result == nil {
		return nil, errors.New("gppl: an AutoResult without a Result cannot be saved")
	}
	a := autoJSON{Exact: r.Exact, Projection: r.Projection, Kept: converted[anyFloat](r.Kept), Why: r.Why, Search: r.Search}
	for _, s := range r.Steps {
		a.Steps = append(a.Steps, autoStepJSON{
			plainStep: plainStep(s), Value: anyFloat(s.Value), Gain: anyFloat(s.Gain), Seconds: anyFloat(s.Seconds),
			Theta: converted[anyFloat](s.Theta), StdErrLog: converted[anyFloat](s.StdErrLog), Kept: converted[anyFloat](s.Kept),
		})
	}
	j := r.Result.encode()
	var err error
	if j.Auto, err = json.Marshal(a); err != nil {
		return nil, err
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (r *AutoResult) UnmarshalJSON(b []byte) error {
	var result Result
	auto, err := result.decode(b)
	if err != nil {
		return err
	}
	if auto == nil {
		return errors.New("gppl: result: it is not one of FitAuto; LoadResult reads it")
	}
	var a autoJSON
	if err := typed.Strict(auto, &a); err != nil {
		return fmt.Errorf("gppl: result: %w", err)
	}
	out := AutoResult{Result: &result, Exact: a.Exact, Projection: a.Projection, Kept: converted[float64](a.Kept), Why: a.Why, Search: a.Search}
	for _, s := range a.Steps {
		step := AutoStep(s.plainStep)
		step.Value, step.Gain, step.Seconds = float64(s.Value), float64(s.Gain), float64(s.Seconds)
		step.Theta, step.StdErrLog, step.Kept = converted[float64](s.Theta), converted[float64](s.StdErrLog), converted[float64](s.Kept)
		out.Steps = append(out.Steps, step)
	}
	*r = out
	return nil
}

// Save writes all of the result to a file, whole or not at all; LoadAutoResult reads it. The projection takes 11 bytes for each
// entry of Ω.
func (r *AutoResult) Save(path string) error { return save(path, r) }

// LoadAutoResult reads a result that AutoResult.Save wrote.
func LoadAutoResult(path string) (*AutoResult, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("gppl: load: %w", err)
	}
	r := new(AutoResult)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("gppl: load %s: %w", path, err)
	}
	return r, nil
}

// projectionJSON holds Ω by rows, as little-endian float64, which encoding/json writes in base64: exact, and half as long as digits.
type projectionJSON struct {
	Observations int
	Projections  int
	Omega        []byte
	Orthonormal  bool
	Design       string
	Seed         uint64
	Drawn        int       `json:",omitempty"`
	Moments      []float64 `json:",omitempty"` // what Extend goes on from
}

// MarshalJSON writes all of the projection, Ω included.
func (p *Projection) MarshalJSON() ([]byte, error) {
	if p.k == 0 {
		return nil, errors.New("gppl: a projection without directions cannot be saved")
	}
	n, k := p.Dims()
	j := projectionJSON{Observations: n, Projections: k, Orthonormal: p.Orthonormal, Design: p.Design, Seed: p.Seed, Drawn: p.drawn, Moments: p.moment}
	omega := p.Omega()
	j.Omega = make([]byte, 0, 8*n*k)
	for i := range n {
		for _, v := range omega.RawRowView(i) {
			j.Omega = binary.LittleEndian.AppendUint64(j.Omega, math.Float64bits(v))
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it: entries must be finite, and orthonormal columns must have length 1.
func (p *Projection) UnmarshalJSON(b []byte) error {
	var j projectionJSON
	if err := typed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: projection: %w", err)
	}
	n, k := j.Observations, j.Projections
	// The second condition keeps n·k from overflowing.
	if n < 1 || k < 1 || k > n || n > len(j.Omega) || len(j.Omega) != 8*n*k || j.Drawn < 0 {
		return fmt.Errorf("gppl: projection: %d bytes for %d projections of %d observations", len(j.Omega), k, n)
	}
	entries := make([]float64, n*k)
	for i := range entries {
		entries[i] = math.Float64frombits(binary.LittleEndian.Uint64(j.Omega[8*i:]))
		if v := entries[i]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("gppl: projection: direction %d has entry %v at observation %d", i%k, v, i/k)
		}
	}
	if j.Orthonormal {
		const rounding = 1e-6 // far above what orthonormalisation leaves
		for c := range k {
			if length := blas64.Nrm2(blas64.Vector{N: n, Inc: k, Data: entries[c:]}); math.Abs(length-1) > rounding {
				return fmt.Errorf("gppl: projection: direction %d has length %v, not 1", c, length)
			}
		}
	}
	for i, v := range j.Moments {
		if !(math.Abs(v) <= 2*float64(n)) {
			return fmt.Errorf("gppl: projection: moment %d of %d observations is %v", i, n, v)
		}
	}
	*p = Projection{Orthonormal: j.Orthonormal, Design: j.Design, Seed: j.Seed, n: n, k: k, drawn: j.Drawn,
		omega: matrix{m: mat.NewDense(n, k, entries)}, moment: j.Moments}
	return nil
}
