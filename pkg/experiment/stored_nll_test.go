package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestStoredNLLs computes the exact NLL of every training on a draw of SE again: at the stored parameters, and where training
// began. So it does with variances, which do not depend on the observations, and with the loss of VFE where its inducing inputs are
// stored. Draws are made by a factor in a band, since dense ones take seconds each. Quick tests take every tenth draw of notebook 09
// and of the learning curves, others each day.
func TestStoredNLLs(t *testing.T) {
	e := evidence(t)
	day, _ := ofDay()
	fromDraw := func(v float64) float64 { return 0.1 + 1e-4*math.Abs(v) } // see bandedDraw
	counts := map[string]int{}
	for _, all := range append(e.experiments(), curves(t)) {
		for _, o := range *all {
			paper := all == &e.E1 || all == &e.E2
			if o.Trial.Source.Name != "draw" || o.Trial.Kernel != "SE" || len(o.Theta) == 0 || o.Error != "" ||
				testkit.Quick() && !paper && o.Trial.Source.Seed%10 != day%10 {
				continue
			}
			same := func(what string, v, stored float64, near func(float64) float64) {
				if counts[what]++; !(math.Abs(v-stored) <= near(stored)) {
					t.Errorf("%v (%s): %s is %v, stored %v", o.Trial, o.Key, what, v, stored)
				}
			}
			o.Theta = o.learntTheta()
			s := Sample{Train: bandedSample(t, o.Trial.Source)}
			exact := testkit.Must(gppl.NewExact(context.Background(), gppl.PaperModel(gppl.SE{}), s.Train))(t)
			same("exact NLL", testkit.Must(exact.ValueGrad(context.Background(), nil, o.exactTheta()))(t), o.NLL, fromDraw)
			same("exact NLL at the start", testkit.Must(exact.ValueGrad(context.Background(), nil, o.Trial.startTheta()))(t), o.StartNLL,
				fromDraw)
			if o.Trial.Loss == VFE && len(o.Inducing) == 0 {
				continue
			}
			r := &gppl.Result{Model: gppl.PaperModel(gppl.SE{}).WithParams(o.Theta), Inducing: o.Inducing}
			if o.Variance > 0 {
				same("mean variance", testkit.Must(meanVariance(r, s))(t), o.Variance, permille)
			}
			if o.Trial.inFigure2() {
				v, figure, err := figure2Variances(r, s)
				if err != nil {
					t.Error(err)
				}
				same("variance of observations", v, o.Exact, permille)
				same("variance of Figure 2", figure, o.Figure2, permille)
			}
			torch := o.Trial.Optimiser.Method == TorchAdam || o.Trial.Optimiser.Method == TorchLBFGS // see recomputed
			if o.Trial.Loss == VFE && !torch {
				same("loss of VFE", testkit.Must(lossAt(o.Trial, s, append(o.Theta, o.Inducing...)))(t), o.Value, fromDraw)
			}
		}
	}
	if counts["exact NLL"] < 1500 || counts["mean variance"] < 500 {
		t.Errorf("only %v were computed", counts)
	}
	t.Logf("%v, of day %d", counts, day)
}

var bandedDraws sync.Map // Source with N = 0 → func() (Sample, error)

// bandedSample is Source.Load of a draw of SE by bandedDraw.
func bandedSample(t *testing.T, s Source) gppl.Data {
	whole := s
	whole.N = 0
	all := testkit.Must(once(&bandedDraws, whole, func() (gppl.Data, error) {
		x, y := bandedDraw(s)
		return gppl.NewData(gppl.Scalars(x), y)
	}))(t)
	x, y := make([]float64, s.N), make([]float64, s.N)
	for i, at := range slices.Sorted(slices.Values(rand.New(rand.NewPCG(s.Seed, 5)).Perm(s.Of)[:s.N])) {
		x[i], y[i] = all.X.At(at)[0], all.Y[at]
	}
	return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
}

// bandedDraw returns the times and observations of Source.draw: y = Lz + ε with LLᵀ = K + 10⁻¹²I. Beyond its reach SE is below
// 1e-16, so that L is a band, in O(Of·b²) for b times within the reach. Rounding differs from dense arithmetic's by up to a
// thousandth in y, since K is nearly singular.
func bandedDraw(s Source) (x, y []float64) {
	const jitter = 1e-12
	reach := math.Sqrt(2*math.Log(1e16)) * s.Lengthscale
	x, y = make([]float64, s.Of), make([]float64, s.Of)
	at, function, noise := rand.New(rand.NewPCG(s.Seed, 4)), rand.New(rand.NewPCG(s.Seed, 2)), rand.New(rand.NewPCG(s.Seed, 3))
	for i := range x {
		x[i] = 1000 * at.Float64()
	}
	slices.Sort(x)
	z, rows, first := make([]float64, s.Of), make([][]float64, s.Of), make([]int, s.Of) // rows of L from their first column
	for i := range x {
		z[i] = function.NormFloat64()
		first[i] = first[max(0, i-1)]
		for x[i]-x[first[i]] > reach {
			first[i]++
		}
		rows[i] = make([]float64, i-first[i]+1)
		for j := first[i]; j <= i; j++ {
			from, r := max(first[i], first[j]), (x[i]-x[j])/s.Lengthscale
			rest := math.Exp(-0.5*r*r) - floats.Dot(rows[i][from-first[i]:j-first[i]], rows[j][from-first[j]:j-first[j]])
			if j < i {
				rows[i][j-first[i]] = rest / rows[j][j-first[j]]
			} else {
				rows[i][j-first[i]] = math.Sqrt(rest + jitter)
			}
		}
		y[i] = floats.Dot(rows[i], z[first[i]:i+1]) + math.Sqrt(s.Truth().Noise)*noise.NormFloat64()
	}
	return x, y
}

// TestBandedDraw compares a draw by bandedDraw with the one that the experiments use.
func TestBandedDraw(t *testing.T) {
	s := draw(20, 2000, 1000, 3)
	dense := testkit.Must(s.Load())(t).Train
	banded := bandedSample(t, s)
	for i, y := range dense.Y {
		if banded.X.At(i)[0] != dense.X.At(i)[0] || math.Abs(banded.Y[i]-y) > 1e-3 {
			t.Fatalf("observation %d is %v at %v, want %v at %v", i, banded.Y[i], banded.X.At(i), y, dense.X.At(i))
		}
	}
}
