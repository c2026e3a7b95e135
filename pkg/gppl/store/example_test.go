package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// A saved result holds the model, its transforms and all about training.
// Kernels of one's own must be known to RegisterKernel.
func Example() {
	ctx := context.Background()
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i] = 0.2 * float64(i)
		y[i] = math.Sin(x[i]) + 0.1*math.Sin(77*float64(i*i))
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewExact(ctx, gppl.PaperModel(gppl.SE{}), data)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(ctx, loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.json")
	if err := store.Save(path, result); err != nil {
		log.Fatal(err)
	}
	again, err := store.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Model.String() == result.Model.String(), again.Status)
	// Output:
	// true converged
}

// Settling is a mean of one's own, a change that levels off: exp(−x/Time).
type Settling struct{ Time float64 }

func (m Settling) Columns() []gppl.Column {
	return []gppl.Column{{Name: "settling", Variance: math.Inf(1)}}
}

func (m Settling) Basis(x gppl.Inputs) (*mat.Dense, error) {
	h := mat.NewDense(x.Len(), 1, nil)
	for i := range x.Len() {
		h.Set(i, 0, math.Exp(-x.At(i)[0]/m.Time))
	}
	return h, nil
}

func (m Settling) Check() error {
	if !(m.Time > 0) {
		return fmt.Errorf("Settling with Time %v", m.Time)
	}
	return nil
}

func (m Settling) String() string { return fmt.Sprintf("Settling(%v)", m.Time) }

// Exponential is a prior of one's own, Rate·exp(−Rate·θ).
type Exponential struct{ Rate float64 }

func (p Exponential) LogDensity(theta float64) (value, slope float64) {
	if theta < 0 {
		return math.Inf(-1), 0
	}
	return math.Log(p.Rate) - p.Rate*theta, -p.Rate
}

func (p Exponential) Check() error {
	if !(p.Rate > 0) {
		return fmt.Errorf("Exponential with Rate %v", p.Rate)
	}
	return nil
}

func (p Exponential) String() string { return fmt.Sprintf("Exponential(%v)", p.Rate) }

func init() { // in the program that loads as well
	store.RegisterMean(Settling{})
	store.RegisterPrior(Exponential{})
}

// A model with a mean of one's own is written and read like any other.
func ExampleRegisterMean() {
	model := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1,
		Mean: gppl.AddMeans(gppl.Intercept{}, Settling{Time: 3})}
	written, err := json.Marshal(store.Model{Model: model})
	if err != nil {
		log.Fatal(err)
	}
	var again store.Model
	if err := json.Unmarshal(written, &again); err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Mean)
	// Output:
	// intercept + Settling(3)
}

// So is a prior of one's own.
func ExampleRegisterPrior() {
	written, err := json.Marshal(store.Prior{ParamPrior: gppl.ParamPrior{Role: gppl.RoleLengthscale, Prior: Exponential{Rate: 0.5}}})
	if err != nil {
		log.Fatal(err)
	}
	var again store.Prior
	if err := json.Unmarshal(written, &again); err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Role, "~", again.ParamPrior.Prior)
	// Output:
	// lengthscale ~ Exponential(0.5)
}
