package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A mean is written as its type with its fields, and for a sum or a prior its parts:
//
//	{"type": "Trend", "fields": {"Degree": 1, "Lo": 0, "Hi": 10}}
//	{"type": "MeanSum", "parts": [ … ]}
//	{"type": "GaussianBeta", "variances": [1, null], "parts": [ … ]}    null is a flat prior

var meanTypes = typed.NewRegistry[gppl.Mean](gppl.Intercept{}, gppl.Trend{}, gppl.Linear{}, gppl.Fourier{}, gppl.Step{},
	gppl.Kink{}, gppl.Regressor{})

// RegisterMean makes a mean's type known to Load, under the name of its Go type. Register the zero value of your own mean in
// an init function; its exported fields are saved. RegisterMean panics if the name is taken by another type.
func RegisterMean(zero gppl.Mean) { meanTypes.Register("gppl: store.RegisterMean", zero) }

type meanJSON struct {
	Type      string          `json:"type"`
	Fields    json.RawMessage `json:"fields,omitempty"`
	Variances []orInf         `json:"variances,omitempty"`
	Parts     []meanJSON      `json:"parts,omitempty"`
}

func encodeMean(m gppl.Mean) (meanJSON, error) {
	j := meanJSON{Type: typed.Name(m)}
	var parts []gppl.Mean
	switch m := m.(type) {
	case gppl.MeanSum:
		parts = m.Parts()
	case gppl.GaussianBeta:
		parts = []gppl.Mean{m.Of}
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

func decodeMean(j meanJSON, depth int) (gppl.Mean, error) {
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
			return gppl.AddMeans(parts...), nil
		}
		if len(parts) != 1 {
			return nil, fmt.Errorf("a GaussianBeta of %d means, want 1", len(parts))
		}
		var variances []float64
		for _, v := range j.Variances {
			variances = append(variances, float64(v))
		}
		return gppl.GaussianBeta{Of: parts[0], Variances: variances}, nil
	}
	if j.Parts != nil || j.Variances != nil {
		return nil, fmt.Errorf("a mean %s with parts or variances", j.Type)
	}
	zero, known := meanTypes.Find(j.Type)
	if !known {
		return nil, fmt.Errorf("unknown mean type %q (a mean of your own needs store.RegisterMean)", j.Type)
	}
	m, err := typed.Read(zero, j.Fields)
	if err != nil {
		return nil, fmt.Errorf("mean %s: %w", j.Type, err)
	}
	return m, nil
}
