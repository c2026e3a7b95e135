package gppl

import (
	"encoding/json"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestOracleInformation compares I_Z with the oracle's, which was computed
// densely by automatic differentiation, for directions that are not orthonormal.
func TestOracleInformation(t *testing.T) {
	b, err := os.ReadFile("testdata/oracle-small.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Cases []struct {
			Fisher struct {
				IZ [][]float64 `json:"I_Z"`
			} `json:"fisher_log"`
		}
	}
	if err := json.Unmarshal(b, &oracle); err != nil {
		t.Fatal(err)
	}
	for i, c := range readOracle(t) {
		t.Run(c.Kernel, func(t *testing.T) {
			m := c.model(t)
			l, err := NewProjected(t.Context(), m, c.data(t), c.projection())
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Information(t.Context(), Values(m.Params()))
			if err != nil {
				t.Fatal(err)
			}
			var g, want []float64
			for a, row := range oracle.Cases[i].Fisher.IZ {
				g, want = append(g, mat.Row(nil, a, got)...), append(want, row...)
			}
			nearVector(t, "I_Z", g, want, 1e-9)
		})
	}
}
