package gppl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/typed"
)

// A prior is written as its type with its fields, beside the parameter that it is on:
//
//	{"name": "SE.lengthscale", "role": "lengthscale", "type": "Gamma", "fields": {"Shape": 2, "Rate": 1}}

var priorTypes = struct {
	sync.RWMutex
	m map[string]Prior
}{m: map[string]Prior{}}

func init() {
	for _, p := range []Prior{LogNormal{}, HalfNormal{}, Gamma{}, InverseGamma{}, Uniform{}} {
		RegisterPrior(p)
	}
}

// RegisterPrior makes a prior's type known to LoadResult, under the name of its Go type.
// A user's own prior registers its zero value in an init function; its exported fields
// are what is saved. It panics if the name is taken by another type.
func RegisterPrior(zero Prior) {
	priorTypes.Lock()
	defer priorTypes.Unlock()
	name := typed.Name(zero)
	if other, taken := priorTypes.m[name]; taken && reflect.TypeOf(other) != reflect.TypeOf(zero) {
		panic(fmt.Sprintf("gppl: RegisterPrior: %q is %T already, not %T", name, other, zero))
	}
	priorTypes.m[name] = zero
}

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
	if err := typed.Strict(b, &j); err != nil {
		return fmt.Errorf("gppl: prior: %w", err)
	}
	read := ParamPrior{Name: j.Name, Role: -1}
	for r := RoleUnknown; r <= RoleLocation; r++ {
		if r.String() == j.Role {
			read.Role = r
		}
	}
	if read.Role < 0 {
		return fmt.Errorf("gppl: prior: unknown role %q", j.Role)
	}
	priorTypes.RLock()
	zero, known := priorTypes.m[j.Type]
	priorTypes.RUnlock()
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
