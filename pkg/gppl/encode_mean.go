package gppl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A mean is written as its type with its fields, and for a sum or a prior its parts:
//
//	{"type": "Trend", "fields": {"Degree": 1, "Lo": 0, "Hi": 10}}
//	{"type": "MeanSum", "parts": [ … ]}
//	{"type": "GaussianBeta", "variances": [1, null], "parts": [ … ]}    null is a flat prior

// meanTypes maps a type's name to a value of it, for decoding.
var meanTypes = struct {
	sync.RWMutex
	m map[string]Mean
}{m: map[string]Mean{}}

func init() {
	for _, m := range []Mean{Intercept{}, Trend{}, Linear{}, Fourier{}, Step{}, Kink{}, Regressor{}} {
		RegisterMean(m)
	}
}

// RegisterMean makes a mean's type known to LoadResult, under the name of its Go type.
// A user's own mean registers its zero value in an init function; its exported fields
// are what is saved. It panics if the name is taken by another type.
func RegisterMean(zero Mean) {
	meanTypes.Lock()
	defer meanTypes.Unlock()
	name := typed.Name(zero)
	if other, taken := meanTypes.m[name]; taken && reflect.TypeOf(other) != reflect.TypeOf(zero) {
		panic(fmt.Sprintf("gppl: RegisterMean: %q is %T already, not %T", name, other, zero))
	}
	meanTypes.m[name] = zero
}

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
	if depth > maxDepth {
		return nil, fmt.Errorf("means nested deeper than %d", maxDepth)
	}
	if j.Type == "MeanSum" || j.Type == "GaussianBeta" {
		if len(j.Parts) == 0 {
			return nil, fmt.Errorf("a %s without parts", j.Type)
		}
		if j.Fields != nil {
			return nil, fmt.Errorf("a %s with fields", j.Type)
		}
		var parts []Mean
		for i, p := range j.Parts {
			m, err := decodeMean(p, depth+1)
			if err != nil {
				return nil, fmt.Errorf("part %d of a %s: %w", i, j.Type, err)
			}
			parts = append(parts, m)
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
	meanTypes.RLock()
	zero, known := meanTypes.m[j.Type]
	meanTypes.RUnlock()
	if !known {
		return nil, fmt.Errorf("unknown mean type %q (a mean of your own needs RegisterMean)", j.Type)
	}
	m, err := typed.Read(zero, j.Fields)
	if err != nil {
		return nil, fmt.Errorf("mean %s: %w", j.Type, err)
	}
	return m, nil
}
