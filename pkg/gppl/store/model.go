package store

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

type transformJSON struct {
	Kind  string  `json:"kind"`
	Floor float64 `json:"floor,omitempty"`
	Span  float64 `json:"span,omitempty"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
}

func encodeTransform(t transform.Transform) (transformJSON, error) {
	switch t := t.(type) {
	case nil:
		return transformJSON{Kind: "log"}, nil
	case transform.Log, transform.Fixed, transform.Free:
		return transformJSON{Kind: fmt.Sprint(t)}, nil
	case transform.Softplus:
		return transformJSON{Kind: "softplus", Floor: t.Floor}, nil
	case transform.Cycles:
		return transformJSON{Kind: "cycles", Span: t.Span}, nil
	case transform.Interval:
		return transformJSON{Kind: "interval", Lo: t.Lo, Hi: t.Hi}, nil
	}
	return transformJSON{}, fmt.Errorf("gppl: transform %v (%T) cannot be saved", t, t)
}

func decodeTransform(j transformJSON) (transform.Transform, error) {
	switch j.Kind {
	case "softplus":
		if !(j.Floor >= 0) || math.IsInf(j.Floor, 0) {
			return nil, fmt.Errorf("softplus floor %v", j.Floor)
		}
		return transform.Softplus{Floor: j.Floor}, nil
	case "cycles":
		if !(j.Span > 0) || math.IsInf(j.Span, 0) {
			return nil, fmt.Errorf("cycles over %v", j.Span)
		}
		return transform.Cycles{Span: j.Span}, nil
	case "interval":
		if !(j.Lo < j.Hi) || math.IsInf(j.Hi-j.Lo, 0) {
			return nil, fmt.Errorf("interval from %v to %v", j.Lo, j.Hi)
		}
		return transform.Interval{Lo: j.Lo, Hi: j.Hi}, nil
	}
	for _, plain := range []transform.Transform{transform.Log{}, transform.Fixed{}, transform.Free{}} {
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
	Channels   []gppl.Channel  `json:"channels,omitempty"`
	Transforms []transformJSON `json:"transforms"` // one per parameter, in the order of Model.Params
}

// Model is a model that encoding/json can write and read.
type Model struct{ gppl.Model }

// MarshalJSON writes the mean, the kernel, the noise variance or the channels, and the transforms.
func (m Model) MarshalJSON() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	j := modelJSON{Kernel: encodeKernel(m.Kernel), Noise: m.Noise, Channels: m.Channels}
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
	read := gppl.Model{Kernel: k, Noise: j.Noise, Channels: j.Channels}
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
		stored, err := decodeTransform(t)
		if err != nil {
			return fmt.Errorf("gppl: model: parameter %q: %w", params[i].Name, err)
		}
		given := params[i].Transform
		if given == nil {
			given = transform.Log{}
		}
		if stored != given {
			read = read.WithTransform(params[i].Name, stored)
		}
	}
	if err := read.Check(); err != nil {
		return err
	}
	m.Model = read
	return nil
}
