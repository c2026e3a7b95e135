package gppl

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/finite"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A mean is written as its type with its fields, and for a sum or a prior its parts:
//
//	{"type": "Trend", "fields": {"Degree": 1, "Lo": 0, "Hi": 10}}
//	{"type": "MeanSum", "parts": [ … ]}
//	{"type": "GaussianBeta", "variances": [1, null], "parts": [ … ]}    null is a flat prior

var meanTypes = typed.NewRegistry[Mean](Intercept{}, Trend{}, Linear{}, Fourier{}, Step{}, Kink{}, Regressor{})

// RegisterMean makes a mean's type known to LoadResult, under the name of its Go type.
// A user's own mean registers its zero value in an init function; its exported fields
// are what is saved. It panics if the name is taken by another type.
func RegisterMean(zero Mean) { meanTypes.Register("gppl: RegisterMean", zero) }

type meanJSON struct {
	Type      string          `json:"type"`
	Fields    json.RawMessage `json:"fields,omitempty"`
	Variances []orInf         `json:"variances,omitempty"`
	Parts     []meanJSON      `json:"parts,omitempty"`
}

func encodeMean(m Mean) (meanJSON, error) {
	j := meanJSON{Type: typed.Name(m)}
	var parts []Mean
	switch m := m.(type) {
	case MeanSum:
		parts = m.parts
	case GaussianBeta:
		parts = []Mean{m.Of}
		for _, v := range m.Variances {
			j.Variances = append(j.Variances, orInf(v))
		}
	default:
		fields, err := json.Marshal(m)
		if err != nil {
			return j, fmt.Errorf("gppl: the mean %v cannot be saved: %w", m, err)
		}
		if !bytes.Equal(fields, []byte("{}")) {
			j.Fields = fields
		}
	}
	for _, p := range parts {
		part, err := encodeMean(p)
		if err != nil {
			return j, err
		}
		j.Parts = append(j.Parts, part)
	}
	return j, nil
}

func decodeMean(j meanJSON, depth int) (Mean, error) {
	if j.Type == "MeanSum" || j.Type == "GaussianBeta" {
		if j.Fields != nil {
			return nil, fmt.Errorf("a %s with fields", j.Type)
		}
		parts, err := decodeParts("means", j.Type, j.Parts, depth, decodeMean)
		if err != nil {
			return nil, err
		}
		if j.Type == "MeanSum" {
			if j.Variances != nil {
				return nil, errors.New("a MeanSum with variances")
			}
			return AddMeans(parts...), nil
		}
		if len(parts) != 1 {
			return nil, fmt.Errorf("a GaussianBeta of %d means, want 1", len(parts))
		}
		variances := make([]float64, len(j.Variances))
		for i, v := range j.Variances {
			variances[i] = float64(v)
		}
		return GaussianBeta{Of: parts[0], Variances: variances}, nil
	}
	if j.Parts != nil || j.Variances != nil {
		return nil, fmt.Errorf("a mean %s with parts or variances", j.Type)
	}
	zero, known := meanTypes.Find(j.Type)
	if !known {
		return nil, fmt.Errorf("unknown mean type %q (a mean of your own needs RegisterMean)", j.Type)
	}
	m, err := typed.Read(zero, j.Fields)
	if err != nil {
		return nil, fmt.Errorf("mean %s: %w", j.Type, err)
	}
	return m, nil
}

// A prior is written as its type with its fields, beside the parameter that it is on:
//
//	{"name": "SE.lengthscale", "role": "lengthscale", "type": "Gamma", "fields": {"Shape": 2, "Rate": 1}}

var priorTypes = typed.NewRegistry[Prior](LogNormal{}, HalfNormal{}, Gamma{}, InverseGamma{}, Uniform{})

// RegisterPrior makes a prior's type known to LoadResult, under the name of its Go type.
// A user's own prior registers its zero value in an init function; its exported fields
// are what is saved. It panics if the name is taken by another type.
func RegisterPrior(zero Prior) { priorTypes.Register("gppl: RegisterPrior", zero) }

type paramPriorJSON struct {
	Name   string          `json:"name,omitempty"`
	Role   string          `json:"role"`
	Type   string          `json:"type"`
	Fields json.RawMessage `json:"fields"`
}

// MarshalJSON writes the parameter, the type of the prior and its fields.
func (p ParamPrior) MarshalJSON() ([]byte, error) {
	if p.Prior == nil {
		return nil, fmt.Errorf("gppl: the prior of %q is nil", p.Name)
	}
	fields, err := json.Marshal(p.Prior)
	if err != nil {
		return nil, fmt.Errorf("gppl: the prior %v cannot be saved: %w", p.Prior, err)
	}
	return json.Marshal(paramPriorJSON{p.Name, p.Role.String(), typed.Name(p.Prior), fields})
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (p *ParamPrior) UnmarshalJSON(b []byte) error {
	var j paramPriorJSON
	if err := sealed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: prior: %w", err)
	}
	read := ParamPrior{Name: j.Name, Role: -1}
	for r := RoleUnknown; r <= RoleCoefficient; r++ {
		if r.String() == j.Role {
			read.Role = r
		}
	}
	if read.Role < 0 {
		return fmt.Errorf("gppl: prior: unknown role %q", j.Role)
	}
	zero, known := priorTypes.Find(j.Type)
	if !known {
		return fmt.Errorf("gppl: prior: unknown type %q (a prior of your own needs RegisterPrior)", j.Type)
	}
	prior, err := typed.Read(zero, j.Fields)
	if err != nil {
		return fmt.Errorf("gppl: prior %s: %w", j.Type, err)
	}
	if err := prior.Check(); err != nil {
		return err
	}
	read.Prior = prior
	*p = read
	return nil
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
	if err := sealed.Strict(b, &j); err != nil {
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
		if v := entries[i]; !finite.Is(v) {
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
		omega: mat.NewDense(n, k, entries), moment: j.Moments}
	return nil
}
