package gppl_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// sunspots is the paper's series, standardised; the test is skipped where the
// file is not at hand.
func sunspots(t testing.TB) gppl.Data {
	t.Helper()
	s, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true, Log: io.Discard})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ = s.Standardize()
	return must[gppl.Data](t)(gppl.NewData(gppl.Scalars(s.X), s.Y))
}

// TestOracleSunspots compares exact NLL and PL with those that were computed
// apart from this project, for single, sum and product kernels.
func TestOracleSunspots(t *testing.T) {
	d := sunspots(t)
	var oracle struct {
		K     int
		Cases []struct {
			Kernel     string
			Parameters []float64
			NLL, PL    struct {
				Value   float64
				GradLog []float64 `json:"grad_log"`
			}
		}
	}
	b, err := os.ReadFile("testdata/oracle-sunspots.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &oracle); err != nil {
		t.Fatal(err)
	}
	omega := mat.NewDense(d.Len(), oracle.K, nil)
	for i := range d.Len() {
		for j := range oracle.K {
			omega.Set(i, j, math.Sin(0.7391*float64(i+1)*float64(j+1)))
		}
	}
	kernels := map[string]gppl.Kernel{
		"SE": gppl.SE{}, "Laplace": gppl.Laplace{}, "Matern32": gppl.Matern32{}, "Matern52": gppl.Matern52{},
		"RQ": gppl.RQ{}, "LocPer": gppl.LocPer{},
		"Sum(SE,Periodic)":           gppl.Add(gppl.SE{}, gppl.Periodic{}),
		"Product(Matern32,Periodic)": gppl.Mul(gppl.Matern32{}, gppl.Periodic{}),
	}
	for _, c := range oracle.Cases {
		t.Run(c.Kernel, func(t *testing.T) {
			last := len(c.Parameters) - 1
			m := gppl.Model{Kernel: kernels[c.Kernel].WithParams(c.Parameters[:last]), Noise: c.Parameters[last]}
			check := func(what string, l gppl.Loss, want float64, wantGrad []float64) {
				t.Helper()
				got, grad := valueAt(t, l)
				if math.Abs(got-want) > 1e-8*math.Abs(want) {
					t.Errorf("%s = %v, want %v", what, got, want)
				}
				var diff, norm float64
				for i, g := range grad {
					diff = math.Hypot(diff, g*c.Parameters[i]-wantGrad[i])
					norm = math.Hypot(norm, wantGrad[i])
				}
				if diff > 1e-6*norm {
					t.Errorf("∂%s = %v (not in logs), want %v in logs", what, grad, wantGrad)
				}
			}
			check("PL", must[*gppl.Projected](t)(gppl.NewProjected(m, d, &gppl.Projection{Omega: omega})), c.PL.Value, c.PL.GradLog)
			if !testing.Short() {
				check("NLL", must[*gppl.Exact](t)(gppl.NewExact(m, d)), c.NLL.Value, c.NLL.GradLog)
			}
		})
	}
}

// TestSunspotOptima trains the exact likelihood from the paper's start, in one
// go, by the engines that are chosen. GPPL_LONG=1 does the same densely, which
// takes minutes.
func TestSunspotOptima(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	engines := []string{""}
	if os.Getenv("GPPL_LONG") != "" {
		engines = append(engines, gppl.EngineDense)
	}
	d := sunspots(t)
	for _, engine := range engines {
		for _, c := range []struct {
			kernel gppl.Kernel
			want   float64
		}{
			{gppl.SE{}, 1549.119},
			{gppl.Laplace{}, 1432.675},
			{gppl.RQ{}, 1531.907},
			{gppl.LocPer{}, 1468.565},
		} {
			l := must[*gppl.Exact](t)(gppl.NewExact(gppl.PaperModel(c.kernel), d, gppl.WithEngine(engine)))
			r := must[*gppl.Result](t)(gppl.Fit(context.Background(), l, gppl.Settings{NoStandardErrors: true}))
			t.Log(r)
			if math.Abs(r.Value-c.want) > 0.01 || r.Status != gppl.Converged {
				t.Errorf("%v by %s: %v, %s; want %v", r.Model, r.Engine, r.Value, r.Status, c.want)
			}
		}
	}
}
