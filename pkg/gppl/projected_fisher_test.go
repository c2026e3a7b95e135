package gppl

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testsize"
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
			l, err := NewProjected(m, c.data(t), c.projection())
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Information(Values(m.Params()))
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

// TestInformationOfEngines compares I_Z by each engine with the dense route of
// Information, which has no differences. Of a Periodic kernel on many periods,
// central differences of the gradient were 7e-6 off.
func TestInformationOfEngines(t *testing.T) {
	t.Parallel()
	d := benchData(t, 150)
	for i, k := range []Kernel{
		Periodic{0.7, 1, 11}, Periodic{1, 0.7, 90}, SE{1.2, 30}, LocPer{1, 200, 20, 0.9}, Laplace{1, 30}, Matern32{1, 60}, RQ{1, 60, 1.3},
		Add(SE{1, 200}, Periodic{0.5, 1, 25}), Add(Matern52{1, 40}, White{0.3}), Mul(SE{1, 300}, Periodic{1, 1, 40}),
	} {
		if testsize.Quick() && i%2 == 1 {
			continue
		}
		m := Model{Kernel: k, Noise: 0.1}
		dense, err := NewInformation(m, d.X)
		if err != nil {
			t.Fatal(err)
		}
		for _, design := range []Design{Sphere{}, Raw{Sphere{}}} {
			p, err := NewProjection(design, d.X, 30, 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := dense.Projected(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range append(Engines(), "") {
				l, err := NewProjected(m, d, p, WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				got, err := l.Information(Values(m.Params()))
				if err != nil {
					if engine == "" {
						t.Error(err)
					}
					continue
				}
				var off float64
				for a := range m.Params() {
					for b := range m.Params() {
						off = max(off, math.Abs(got.At(a, b)-want.At(a, b))/math.Sqrt(want.At(a, a)*want.At(b, b)))
					}
				}
				t.Logf("%v, %v, %s: %.1e", k, design, l.Report().Engine, off)
				if !(off <= 1e-9) {
					t.Errorf("%v, %v, %s: I_Z is off by %.2g", k, design, l.Report().Engine, off)
				}
			}
		}
	}
}
