package experiment

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestTorch trains one loss by PyTorch's optimisers and compares with the numbers of PyTorch: Adam is Adam, and if they run long
// enough both end where L-BFGS with a line search does.
func TestTorch(t *testing.T) {
	sample, err := draw(20, 240, 120, 1).Load()
	if err != nil {
		t.Fatal(err)
	}
	model := gppl.PaperModel(gppl.SE{})
	exact, err := gppl.NewExact(t.Context(), model, sample.Train)
	if err != nil {
		t.Fatal(err)
	}
	best, err := gppl.Fit(context.Background(), exact, nil, gppl.Settings{NoStandardErrors: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Optimiser{{Method: TorchAdam, Rate: 0.1, Iterations: 3000, Tolerance: 1e-9},
		{Method: TorchLBFGS, Rate: 0.05, Iterations: 300, Tolerance: 1e-9}} {
		r, start, err := o.asAuthors(context.Background(), exact, 3)
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.ValueGrad(t.Context(), nil, []float64{1, 1, math.Ln2 + 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(start-want) > 1e-9 || math.Abs(r.Value-best.Value) > 1e-4 {
			t.Errorf("%s: from %v to %v, want from %v to %v", o.Method, start, r.Value, want, best.Value)
		}
		if o.Method == TorchLBFGS && r.Evaluations < 10*r.Iterations {
			t.Errorf("%d steps of L-BFGS took %d evaluations, want about 20 each", r.Iterations, r.Evaluations)
		}
	}
	// The first step of Adam is the rate times the sign of the gradient, up to ε.
	r, _, err := Optimiser{Method: TorchAdam, Rate: 0.25, Iterations: 1}.asAuthors(context.Background(), exact, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Abs(math.Log(r.Params[1].Value)); math.Abs(got-0.25) > 1e-6 {
		t.Errorf("the first step moves the log lengthscale by %v, want 0.25", got)
	}
}

// recorded is a loss that keeps what it returned.
type recorded struct {
	gppl.Loss
	values *[]float64
}

func (l recorded) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	v, err := l.Loss.ValueGrad(context.Background(), grad, theta)
	*l.values = append(*l.values, v)
	return v, err
}

// TestTorchFixture repeats, evaluation by evaluation, the results of the authors' code and PyTorch on small data, written by
// scripts/authors_run.py --fixture.
func TestTorchFixture(t *testing.T) {
	text, err := os.ReadFile("testdata/torch.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Order int
		X, Y  []float64
		Runs  []struct {
			Loss, Optimiser            string
			Rate                       float64
			Steps                      int
			Values, First, Last, Theta []float64
			NLL                        float64
		}
	}
	if err := json.Unmarshal(text, &fixture); err != nil {
		t.Fatal(err)
	}
	d, err := gppl.NewData(gppl.Scalars(fixture.X), fixture.Y)
	if err != nil {
		t.Fatal(err)
	}
	model := gppl.PaperModel(gppl.SE{})
	for _, run := range fixture.Runs {
		var loss gppl.Loss
		near := 1e-9
		switch run.Loss {
		case ML:
			loss, err = gppl.NewExact(t.Context(), model, d, gppl.WithEngine(gppl.EngineDense))
			loss = onDiagonal{loss, MLDiagonal, 2}
			near = 2e-8 // steps of L-BFGS without a search reach 1488 nats and magnify rounding; fused products differ by 4e-9
		case PL:
			omega, wrong := gppl.NewProjection(t.Context(), legacySphere{notebookSeed}, d.X, fixture.Order, 0)
			if wrong != nil {
				t.Fatal(wrong)
			}
			loss, err = gppl.NewProjected(t.Context(), model, d, omega)
			loss = onDiagonal{loss, PLDiagonal, 2}
		case VFE:
			loss, err = gppl.NewVFE(t.Context(), model, d, gppl.Scalars(run.First[3:]), gppl.VFEOptions{})
			loss = repelled{loss, 3}
			near = 2e-3 // their 1e-6 on the diagonals of K_uu and A is not in ours: 2e-5 nats, which a step of L-BFGS may enlarge
		}
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		o := Optimiser{Method: run.Optimiser, Rate: run.Rate, Iterations: run.Steps}
		r, start, err := o.asAuthors(context.Background(), recorded{loss, &values}, 3)
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, got, want []float64) {
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= near*max(1, math.Abs(b)) }) {
				t.Errorf("%s by %s: %s are %v, PyTorch has %v", run.Loss, run.Optimiser, what, got, want)
			}
		}
		same("losses", values, run.Values)
		same("the loss at the start", []float64{start}, run.Values[:1])
		theta := make([]float64, 3)
		for i, p := range r.Params {
			theta[i] = p.Value
		}
		same("parameters", theta, run.Theta)
		same("inducing inputs", r.Inducing, run.Last[3:])
	}
	if len(fixture.Runs) != 6 {
		t.Errorf("%d trainings, want 6", len(fixture.Runs))
	}
}

// TestRepulsion compares the formula with the authors' loops, at two points and at a hundred.
func TestRepulsion(t *testing.T) {
	if got, want := repulsion(nil, []float64{0, 0.5}), 1000*2*math.Exp(-0.5); math.Abs(got-want) > 1e-9 {
		t.Errorf("of two points: %v, want %v", got, want)
	}
	far := floats.Span(make([]float64, 100), 0, 1000)
	far[1] = far[0] + 0.5
	if got, want := repulsion(nil, far), 4000/(100*99.0)*math.Exp(-0.5); math.Abs(got-want) > 1e-9 {
		t.Errorf("of a pair among a hundred: %v, want %v", got, want)
	}
}

// TestPool compares the shortcut with the authors' loop on n×400 matrices, here n×n for a small n, and checks that the span of
// the first k differs from Sphere's.
func TestPool(t *testing.T) {
	const n, k = 30, 4
	x := gppl.Scalars(Grid(0, 1, n))
	got, err := gppl.NewProjection(t.Context(), gppl.Raw{Design: repulsivePool{}}, x, k, 3)
	if err != nil {
		t.Fatal(err)
	}
	start, err := gppl.NewProjection(t.Context(), gppl.Raw{Design: gppl.Sphere{}}, x, n, 3)
	if err != nil {
		t.Fatal(err)
	}
	w := testkit.Must(start.Omega(t.Context()))(t)
	for range poolSteps {
		var g, f mat.Dense
		g.Mul(w.T(), w)
		for i := range n {
			g.Set(i, i, 0)
		}
		f.Mul(w, &g)
		f.Scale(-poolRate, &f)
		w.Add(w, &f)
		for j := range n {
			norm := mat.Norm(w.ColView(j), 2)
			for i := range n {
				w.Set(i, j, w.At(i, j)/norm)
			}
		}
	}
	if !mat.EqualApprox(testkit.Must(got.Omega(t.Context()))(t), w.Slice(0, n, 0, k), 1e-9) {
		t.Error("the first vectors of the pool are not those of the authors' loop")
	}
	sphere, err := gppl.NewProjection(t.Context(), gppl.Sphere{}, x, k, 3)
	if err != nil {
		t.Fatal(err)
	}
	q, err := gppl.NewProjection(t.Context(), repulsivePool{}, x, k, 3)
	if err != nil {
		t.Fatal(err)
	}
	var inside mat.Dense
	inside.Mul(testkit.Must(sphere.Omega(t.Context()))(t).T(), testkit.Must(q.Omega(t.Context()))(t))
	if kept := mat.Norm(&inside, 2) / math.Sqrt(k); kept > 0.99 {
		t.Errorf("the span of k of the pool is that of Sphere: %v", kept)
	}
}

func TestAuthorsNoise(t *testing.T) {
	if want := softplus(math.Log(0.1)) + 1e-4 + 2e-6; math.Abs(AuthorsNoise-want) > 1e-15 {
		t.Errorf("the noise variance of the authors' data is %v, want %v", AuthorsNoise, want)
	}
}
