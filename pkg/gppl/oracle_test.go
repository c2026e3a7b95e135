package gppl

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// oracleCase is one case of testdata/oracle-small.json, computed densely with
// automatic differentiation, apart from this project.
type oracleCase struct {
	Kernel         string
	Parameters     map[string]float64
	ParameterOrder []string `json:"parameter_order"`
	Noise          float64
	X, Y           []float64
	Omega          [][]float64
	Inducing       []float64
	XStar          []float64 `json:"x_star"`
	NLL, PL, ELBO  struct {
		Value        float64
		GradLog      []float64 `json:"grad_log"`
		GradInducing []float64 `json:"grad_inducing"`
	}
	PosteriorExact oraclePosterior `json:"posterior_exact"`
	PosteriorVFE   oraclePosterior `json:"posterior_vfe"`
}

type oraclePosterior struct {
	Mean      []float64
	VarLatent []float64 `json:"var_latent"`
}

func readOracle(t *testing.T) []oracleCase {
	t.Helper()
	b, err := os.ReadFile("testdata/oracle-small.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []oracleCase }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) != 7 {
		t.Fatalf("%d oracle cases, want 7", len(all.Cases))
	}
	return all.Cases
}

// kernelByName returns a kernel of the oracle's, with parameters in its order.
func kernelByName(t *testing.T, name string, theta []float64) Kernel {
	t.Helper()
	prototypes := map[string]Kernel{
		"SE": SE{}, "Laplace": Laplace{}, "Matern32": Matern32{}, "Matern52": Matern52{},
		"RQ": RQ{}, "Periodic": Periodic{}, "LocPer": LocPer{},
		"SE+Periodic":    Add(SE{}, Periodic{}),
		"Laplace+SE":     Add(Laplace{}, SE{}),
		"SE*Periodic":    Mul(SE{}, Periodic{}),
		"Matern32+White": Add(Matern32{}, White{}),
	}
	k, ok := prototypes[name]
	if !ok {
		t.Fatalf("no kernel %q", name)
	}
	return k.WithParams(theta)
}

func (c oracleCase) model(t *testing.T) Model {
	t.Helper()
	var theta []float64
	for _, name := range c.ParameterOrder[:len(c.ParameterOrder)-1] {
		theta = append(theta, c.Parameters[name])
	}
	return Model{Kernel: kernelByName(t, c.Kernel, theta), Noise: c.Noise}
}

func (c oracleCase) data(t *testing.T) Data {
	t.Helper()
	d, err := NewData(Scalars(c.X), c.Y)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (c oracleCase) projection() *Projection {
	o := mat.NewDense(len(c.Omega), len(c.Omega[0]), nil)
	for i, row := range c.Omega {
		o.SetRow(i, row)
	}
	return ProjectionOf(o) // not treated as orthonormal
}

// near fails unless got is within tol of want, relative to it.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %v, want %v, relative error %.2g > %.2g", what, got, want, math.Abs(got-want)/math.Abs(want), tol)
	}
}

// nearVector fails unless got is within tol of want, relative to its norm.
func nearVector(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	var diff, norm float64
	for i := range got {
		diff = math.Hypot(diff, got[i]-want[i])
		norm = math.Hypot(norm, want[i])
	}
	if !(diff <= tol*norm) {
		t.Errorf("%s: got %v, want %v, relative error %.2g > %.2g", what, got, want, diff/norm, tol)
	}
}

// logGrad evaluates loss at its own parameters; the gradient is in log θ for
// the first h of them.
func logGrad(t *testing.T, loss Loss, h int) (float64, []float64) {
	t.Helper()
	theta := Values(loss.Params())
	grad := make([]float64, len(theta))
	v, err := loss.ValueGrad(t.Context(), grad, theta)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h {
		grad[i] *= theta[i]
	}
	return v, grad
}

func TestOracleLosses(t *testing.T) {
	for _, c := range readOracle(t) {
		t.Run(c.Kernel, func(t *testing.T) {
			m, d := c.model(t), c.data(t)
			h := len(c.ParameterOrder)

			exact, err := NewExact(t.Context(), m, d)
			if err != nil {
				t.Fatal(err)
			}
			v, g := logGrad(t, exact, h)
			near(t, "NLL", v, c.NLL.Value, 1e-9)
			nearVector(t, "∂NLL", g, c.NLL.GradLog, 1e-7)

			pl, err := NewProjected(t.Context(), m, d, c.projection())
			if err != nil {
				t.Fatal(err)
			}
			v, g = logGrad(t, pl, h)
			near(t, "PL", v, c.PL.Value, 1e-9)
			nearVector(t, "∂PL", g, c.PL.GradLog, 1e-7)

			vfe, err := NewVFE(t.Context(), m, d, Scalars(c.Inducing), VFEOptions{})
			if err != nil {
				t.Fatal(err)
			}
			v, g = logGrad(t, vfe, h)
			near(t, "−ELBO", -v, c.ELBO.Value, 1e-9)
			for i := range g {
				g[i] = -g[i]
			}
			nearVector(t, "∂ELBO", g[:h], c.ELBO.GradLog, 1e-7)
			nearVector(t, "∂ELBO/∂Z", g[h:], c.ELBO.GradInducing, 1e-7)

			for _, l := range []Loss{exact, pl, vfe} {
				if j := l.Report().Jitter; j != 0 {
					t.Errorf("%v needed jitter %v", l, j)
				}
			}
		})
	}
}
