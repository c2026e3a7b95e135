package store

import (
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A kernel is written as its type, its parameters by name, and for a sum or a product its parts:
//
//	{"type": "SE", "parameters": {"variance": 1, "lengthscale": 20}}
//	{"type": "Sum", "parts": [ … ]}
//	{"type": "Axes", "parts": [ … ], "axes": [0, 2]}
//	{"type": "Anisotropic", "parts": [ … ], "lengthscales": [1.5, 20]}

var kernelTypes = typed.NewRegistry[gppl.Kernel](gppl.SE{}, gppl.Laplace{}, gppl.Matern32{}, gppl.Matern52{}, gppl.RQ{},
	gppl.Periodic{}, gppl.LocPer{}, gppl.SpectralMixture{}, gppl.SHO{}, gppl.DampedTrend{}, gppl.Rotation{}, gppl.Cosine{},
	gppl.White{})

// RegisterKernel makes a kernel's type known to Load, under the name of its Go type. A user's own kernel registers its zero value
// in an init function. It panics if the name is taken by another type.
func RegisterKernel(zero gppl.Kernel) { kernelTypes.Register("gppl: store.RegisterKernel", zero) }

type kernelJSON struct {
	Type       string             `json:"type"`
	Parameters map[string]float64 `json:"parameters,omitempty"`
	Parts      []kernelJSON       `json:"parts,omitempty"`

	Axes         []int     `json:"axes,omitempty"`
	Lengthscales []float64 `json:"lengthscales,omitempty"`
}

func encodeKernel(k gppl.Kernel) kernelJSON {
	j := kernelJSON{Type: typed.Name(k), Parameters: map[string]float64{}}
	switch k := k.(type) {
	case gppl.Axes:
		j.Parts, j.Axes = []kernelJSON{encodeKernel(k.Kernel())}, k.Axes()
		return j
	case gppl.Anisotropic:
		j.Parts, j.Lengthscales = []kernelJSON{encodeKernel(k.Kernel())}, k.Lengthscales()
		return j
	}
	own := k.Params() // after the parameters of the parts
	if k, ok := k.(interface{ Parts() []gppl.Kernel }); ok {
		for _, p := range k.Parts() {
			j.Parts, own = append(j.Parts, encodeKernel(p)), own[len(p.Params()):]
		}
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

func decodeKernel(j kernelJSON, depth int) (gppl.Kernel, error) {
	switch j.Type {
	case "Sum", "Product", "ChangePoint", "Axes", "Anisotropic":
		parts, err := decodeParts("kernels", j.Type, j.Parts, depth, decodeKernel)
		switch {
		case err != nil:
			return nil, err
		case j.Type == "Sum":
			return gppl.Add(parts...), nil
		case j.Type == "ChangePoint":
			return decodeChangePoint(j, parts)
		case j.Type == "Axes":
			return decodeAxes(j, parts)
		case j.Type == "Anisotropic":
			return decodeAnisotropic(j, parts)
		}
		return gppl.Mul(parts...), nil
	}
	zero, known := kernelTypes.Find(j.Type)
	if !known {
		return nil, fmt.Errorf("unknown kernel type %q (a kernel of your own needs store.RegisterKernel)", j.Type)
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

// decodeAxes returns a kernel on the axes of j.
func decodeAxes(j kernelJSON, parts []gppl.Kernel) (gppl.Kernel, error) {
	for i, a := range j.Axes {
		if a < 0 || slices.Contains(j.Axes[:i], a) {
			return nil, fmt.Errorf("the axes of a kernel are %v, want different ones, from 0 on", j.Axes)
		}
	}
	if len(parts) != 1 || len(j.Axes) == 0 || len(j.Parameters) > 0 {
		return nil, fmt.Errorf("a kernel on axes has one part, and the axes that it is on")
	}
	return gppl.On(parts[0], j.Axes...), nil
}

// decodeAnisotropic returns a kernel with the lengthscales of j.
func decodeAnisotropic(j kernelJSON, parts []gppl.Kernel) (gppl.Kernel, error) {
	if len(parts) != 1 || len(j.Lengthscales) == 0 || len(j.Parameters) > 0 {
		return nil, fmt.Errorf("an Anisotropic has one part, and a lengthscale for each axis")
	}
	if (gppl.Model{Kernel: parts[0]}).IsPlaced() {
		return nil, fmt.Errorf("the part of an Anisotropic depends on more than the distance: %v", parts[0])
	}
	return gppl.ARD(parts[0], j.Lengthscales...), nil
}

// decodeChangePoint returns the change point of j between two parts.
func decodeChangePoint(j kernelJSON, parts []gppl.Kernel) (gppl.Kernel, error) {
	location, ok := j.Parameters["location"]
	width, wide := j.Parameters["width"]
	if len(parts) != 2 || len(j.Parameters) != 2 || !ok || !wide {
		return nil, fmt.Errorf("a ChangePoint has two parts, a location and a width")
	}
	return gppl.ChangePoint{Before: parts[0], After: parts[1], Location: location, Width: width}, nil
}
