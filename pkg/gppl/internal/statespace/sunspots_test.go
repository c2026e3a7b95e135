package statespace

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// sunspots returns years and standardised numbers of SILSO's monthly file. It
// reads the file itself: dataset imports gppl, which imports this package.
func sunspots(t *testing.T) (x, y []float64) {
	t.Helper()
	const name = "SN_m_tot_V2.0.csv"
	var b []byte
	for _, folder := range append(filepath.SplitList(os.Getenv("GPPL_DATA")), "../../../../data") {
		var err error
		if b, err = os.ReadFile(filepath.Join(folder, name)); err == nil {
			break
		}
	}
	if b == nil {
		t.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	for line := range strings.Lines(string(b)) {
		if len(x) == 3319 { // the file grows by a row a month
			break
		}
		cells := strings.Split(line, ";")
		for i, dst := range []*[]float64{&x, &y} {
			v, err := strconv.ParseFloat(strings.TrimSpace(cells[2+i]), 64)
			if err != nil {
				t.Fatal(err)
			}
			*dst = append(*dst, v)
		}
	}
	mean, sd := stat.MeanStdDev(y, nil)
	for i := range y {
		y[i] = (y[i] - mean) / sd
	}
	return x, y
}

// TestOracleSunspots compares with values and gradients that were computed
// densely with automatic differentiation, apart from this project.
func TestOracleSunspots(t *testing.T) {
	x, y := sunspots(t)
	b, err := os.ReadFile("../../testdata/oracle-sunspots.json")
	if err != nil {
		t.Fatal(err)
	}
	var oracle struct {
		Cases []struct {
			Kernel     string
			Parameters []float64
			NLL        struct {
				Value   float64
				GradLog []float64 `json:"grad_log"`
			}
		}
	}
	if err := json.Unmarshal(b, &oracle); err != nil {
		t.Fatal(err)
	}
	f := NewFilter(x, nil)
	cases := 0
	for _, c := range oracle.Cases {
		order, ok := map[string]int{"Laplace": 0, "Matern32": 1, "Matern52": 2}[c.Kernel]
		if !ok {
			continue
		}
		cases++
		grad := make([]float64, 3)
		got, err := f.NLL(grad, y, []component{{order, c.Parameters[0], c.Parameters[1]}}, c.Parameters[2])
		if err != nil {
			t.Fatal(err)
		}
		dv, dg := math.Abs(got-c.NLL.Value)/math.Abs(c.NLL.Value), maxDiff(grad, c.NLL.GradLog)/maxNorm(c.NLL.GradLog)
		t.Logf("%s %v: NLL %.9f, off by %.1e, gradient by %.1e", c.Kernel, c.Parameters, got, dv, dg)
		if !(dv <= 1e-12) || !(dg <= 1e-10) {
			t.Errorf("%s %v: NLL %v, %v, want %v, %v", c.Kernel, c.Parameters, got, grad, c.NLL.Value, c.NLL.GradLog)
		}
	}
	if cases != 6 {
		t.Errorf("%d cases, want 6", cases)
	}
}
