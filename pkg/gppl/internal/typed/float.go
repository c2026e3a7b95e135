package typed

import (
	"encoding/json"
	"fmt"
	"math"
)

// Float is a float64 that is a string in JSON where it is not finite.
type Float float64

func (v Float) MarshalJSON() ([]byte, error) {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
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

// Converted returns x in another type of number; nil for nil.
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
