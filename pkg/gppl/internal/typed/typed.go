// Package typed reads and writes JSON values of an interface as the name of their type with its fields.
package typed

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sync"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/sealed"
)

// Name returns the name of the type of v, or of the type that v points to.
func Name(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// Read returns a value of the type of zero with the fields of a JSON object, which may be missing.
func Read[T any](zero T, fields json.RawMessage) (T, error) {
	t := reflect.TypeOf(zero)
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	read := reflect.New(t)
	if fields != nil {
		if err := sealed.Strict(fields, read.Interface()); err != nil {
			return zero, err
		}
	}
	if !pointer {
		read = read.Elem()
	}
	return read.Interface().(T), nil
}

// Float is a float64 that is a string in JSON where it is not finite.
type Float float64

func (v Float) MarshalJSON() ([]byte, error) {
	if f := float64(v); !numeric.IsFinite(f) {
		return json.Marshal(fmt.Sprint(f))
	}
	return json.Marshal(float64(v))
}

func (v *Float) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*v = Float(math.NaN())
	case `"+Inf"`:
		*v = Float(math.Inf(1))
	case `"-Inf"`:
		*v = Float(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(v))
	}
	return nil
}

// Converted returns x converted to another numeric type; nil for nil.
func Converted[To, From ~float64](x []From) []To {
	if x == nil {
		return nil
	}
	out := make([]To, len(x))
	for i, v := range x {
		out[i] = To(v)
	}
	return out
}

// A Registry finds values by the names of their types, for decoding. It is safe for concurrent use; its zero value is empty.
type Registry[T any] struct {
	mu   sync.RWMutex
	zero map[string]T
}

// NewRegistry returns a registry of the types of the given values.
func NewRegistry[T any](zero ...T) *Registry[T] {
	r := &Registry[T]{zero: map[string]T{}}
	for _, v := range zero {
		r.zero[Name(v)] = v
	}
	return r
}

// Register adds the type of zero. It panics, naming function, if the name is taken by another type.
func (r *Registry[T]) Register(function string, zero T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := Name(zero)
	if other, taken := r.zero[name]; taken && reflect.TypeOf(other) != reflect.TypeOf(zero) {
		panic(fmt.Sprintf("%s: %q is %T already, not %T", function, name, other, zero))
	}
	r.zero[name] = zero
}

// Find returns the registered value of the named type.
func (r *Registry[T]) Find(name string) (zero T, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	zero, known = r.zero[name]
	return zero, known
}
