package gppl

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// NotIdentified is the error of StdErrLog where the information matrix is
// singular: the data, or their projections, do not determine some combinations of the
// parameters.
type NotIdentified struct {
	Params []Param    // the parameters without a standard error
	Null   *mat.Dense // q×r: orthonormal directions in the logs of all q parameters about which there is no information
}

func (e *NotIdentified) Error() string {
	var names []string
	for _, p := range e.Params {
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	q, r := e.Null.Dims()
	return fmt.Sprintf("gppl: the information is singular in %d of %d directions: %s not identified", r, q, strings.Join(names, ", "))
}

// singular is a lower bound on the smallest eigenvalue of an information matrix, scaled
// to a unit diagonal: below it, rounding of about 1e-13 in the matrix leaves at most
// two correct digits.
const singular = 1e-11

// StdErrLog returns the Cramér–Rao bounds √(I⁻¹)_pp on the standard errors of
// the logs of the parameters, from their information matrix (q×q); the standard error
// of a parameter θ itself is about θ times as large. A parameter that is not identified
// gets +Inf, and the error is then a *NotIdentified that names it; the other values are
// still correct. Parameters are not identified if the matrix, scaled to a unit
// diagonal, has an eigenvalue below 1e-11, or if a diagonal entry of the unscaled
// matrix is below 1e-20 of the largest. It panics if len(params) is not q. A matrix
// with entries that are not finite is an error.
func StdErrLog(info mat.Symmetric, params []Param) ([]float64, error) {
	q := info.SymmetricDim()
	if len(params) != q {
		panic(fmt.Sprintf("gppl: StdErrLog: len(params) = %d, want %d", len(params), q))
	}
	var largest float64
	for a := range q {
		for b := range q {
			if v := info.At(a, b); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("gppl: the information about %q and %q is %v", params[a].Name, params[b].Name, v)
			}
		}
		largest = max(largest, info.At(a, a))
	}
	scale := make([]float64, q) // 1/√I_pp; 0 where nothing is known, which leaves a row and a column of zeros
	for a := range q {
		if d := info.At(a, a); d > 1e-20*largest {
			scale[a] = 1 / math.Sqrt(d)
		}
	}
	scaled := mat.NewSymDense(q, nil)
	for a := range q {
		for b := range a + 1 {
			scaled.SetSym(a, b, info.At(a, b)*scale[a]*scale[b])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) {
		return nil, fmt.Errorf("gppl: the eigenvalues of the information matrix did not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	se := make([]float64, q)
	var null []float64 // the directions as rows
	err := &NotIdentified{}
	lost := make([]bool, q)
	for c, value := range e.Values(nil) {
		for a := range q {
			v := vectors.At(a, c)
			if value > singular {
				se[a] += v * v * scale[a] * scale[a] / value
				continue
			}
			lost[a] = lost[a] || math.Abs(v) > 1e-6 // less is rounding
			if scale[a] > 0 {
				v *= scale[a]
			}
			null = append(null, v)
		}
	}
	for a, p := range params {
		se[a] = math.Sqrt(se[a])
		if lost[a] {
			se[a] = math.Inf(1)
			err.Params = append(err.Params, p)
		}
	}
	if null == nil {
		return se, nil
	}
	err.Null = mat.DenseCopyOf(mat.NewDense(len(null)/q, q, null).T())
	orthonormalise(err.Null.RawMatrix())
	return se, err
}
