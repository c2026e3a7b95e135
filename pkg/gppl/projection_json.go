package gppl

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/finite"
	"github.com/projected-likelihood/gppl/internal/sealed"
)

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
