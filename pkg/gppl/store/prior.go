package store

import (
	"encoding/json"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A prior is written as its type with its fields, beside the parameter that it is on:
//
//	{"name": "SE.lengthscale", "role": "lengthscale", "type": "Gamma", "fields": {"Shape": 2, "Rate": 1}}

var priorTypes = typed.NewRegistry[gppl.Prior](prior.LogNormal{}, prior.HalfNormal{}, prior.Gamma{}, prior.InverseGamma{},
	prior.Uniform{})

// RegisterPrior makes a prior's type known to Load, under the name of its Go type. Register the zero value of your own prior
// in an init function; its exported fields are saved. RegisterPrior panics if the name is taken by another type.
func RegisterPrior(zero gppl.Prior) { priorTypes.Register("gppl: store.RegisterPrior", zero) }

type paramPriorJSON struct {
	Name   string          `json:"name,omitempty"`
	Role   string          `json:"role"`
	Type   string          `json:"type"`
	Fields json.RawMessage `json:"fields"`
}

// Prior is a prior of a parameter that encoding/json can write and read.
type Prior struct{ gppl.ParamPrior }

// Priors converts priors of parameters for encoding/json.
func Priors(of []gppl.ParamPrior) (all []Prior) {
	for _, p := range of {
		all = append(all, Prior{p})
	}
	return all
}

// ParamPriors converts priors back.
func ParamPriors(of []Prior) (all []gppl.ParamPrior) {
	for _, p := range of {
		all = append(all, p.ParamPrior)
	}
	return all
}

// MarshalJSON writes the parameter, the type of the prior and its fields.
func (p Prior) MarshalJSON() ([]byte, error) {
	if p.ParamPrior.Prior == nil {
		return nil, fmt.Errorf("gppl: the prior of %q is nil", p.Name)
	}
	fields, err := json.Marshal(p.ParamPrior.Prior)
	if err != nil {
		return nil, fmt.Errorf("gppl: the prior %v cannot be saved: %w", p.ParamPrior.Prior, err)
	}
	return json.Marshal(paramPriorJSON{p.Name, p.Role.String(), typed.Name(p.ParamPrior.Prior), fields})
}

// UnmarshalJSON reads what MarshalJSON wrote and checks it.
func (p *Prior) UnmarshalJSON(b []byte) error {
	var j paramPriorJSON
	if err := sealed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: prior: %w", err)
	}
	read := gppl.ParamPrior{Name: j.Name, Role: -1}
	for r := gppl.RoleUnknown; r <= gppl.RoleCoefficient; r++ {
		if r.String() == j.Role {
			read.Role = r
		}
	}
	if read.Role < 0 {
		return fmt.Errorf("gppl: prior: unknown role %q", j.Role)
	}
	zero, known := priorTypes.Find(j.Type)
	if !known {
		return fmt.Errorf("gppl: prior: unknown type %q (a prior of your own needs store.RegisterPrior)", j.Type)
	}
	prior, err := typed.Read(zero, j.Fields)
	if err != nil {
		return fmt.Errorf("gppl: prior %s: %w", j.Type, err)
	}
	if err := prior.Check(); err != nil {
		return err
	}
	read.Prior = prior
	p.ParamPrior = read
	return nil
}
