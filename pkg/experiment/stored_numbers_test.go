package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// storedNumber is a number of an outcome.
type storedNumber struct {
	name string
	get  func(*Outcome) float64  // NaN if the outcome has none
	near func(v float64) float64 // tolerance for the recomputed number
}

// Parameters are stored with ten digits, and an engine keeps 1e-8 nats for each observation.
func nats(v float64) float64     { return 1e-3 + 1e-6*math.Abs(v) }
func permille(v float64) float64 { return 1e-3 * math.Abs(v) }

// plainNumber is a number of an outcome that is zero if the outcome does not have it.
func plainNumber(name string, at func(*Outcome) *float64, near func(float64) float64) storedNumber {
	return storedNumber{name, func(o *Outcome) float64 {
		if v := *at(o); v != 0 {
			return v
		}
		return math.NaN()
	}, near}
}

// validated is a number of the predictions of held-back data.
func validated(name string, of func(*Outcome) **Validation, at func(*Validation) *float64) storedNumber {
	return storedNumber{name, func(o *Outcome) float64 {
		if v := *of(o); v != nil {
			return *at(v)
		}
		return math.NaN()
	}, permille}
}

var trainedLoss = plainNumber("trained loss", func(o *Outcome) *float64 { return &o.Value }, nats)

var storedNumbers = []storedNumber{
	plainNumber("exact NLL", func(o *Outcome) *float64 { return &o.NLL }, nats),
	plainNumber("exact NLL at the start", func(o *Outcome) *float64 { return &o.StartNLL }, nats),
	trainedLoss,
	plainNumber("mean variance", func(o *Outcome) *float64 { return &o.Variance }, permille),
	plainNumber("of observations", func(o *Outcome) *float64 { return &o.Exact }, permille),
	plainNumber("as Figure 2 has it", func(o *Outcome) *float64 { return &o.Figure2 }, permille),
	validated("NMSE", func(o *Outcome) **Validation { return &o.MSE }, func(v *Validation) *float64 { return &v.NMSE }),
	validated("NMSE without the overlap", func(o *Outcome) **Validation { return &o.MSE },
		func(v *Validation) *float64 { return &v.Fresh }),
	validated("RMSE", func(o *Outcome) **Validation { return &o.MSE }, func(v *Validation) *float64 { return &v.RMSE }),
}

// recomputed returns the outcome with all numbers computed again that follow from its trial and from the learnt parameters
// without training, and NaN for the others. The trained loss of VFE, and predictions by its posterior, need inducing inputs,
// which are not stored for all; PyTorch's optimisers report the loss before their last step.
func recomputed(o Outcome) (Outcome, error) {
	s, err := o.Trial.Source.Load()
	if err != nil {
		return o, err
	}
	again := o
	if o.Trial.Optimiser.Method == Evaluate {
		again.Value, err = lossAt(o.Trial, s, nil)
		if off, _ := trainedLoss.off(&o, &again); off && err == nil { // the costs stored first are at the start, not at the truth
			again.Value, err = lossAt(o.Trial, s, startOf(o.Trial))
		}
		return again, err
	}
	again.Theta = o.learntTheta()
	r := &gppl.Result{Model: gppl.PaperModel(Kernels[o.Trial.Kernel]).WithParams(again.Theta), Inducing: o.Inducing}
	exact, err := gppl.NewExact(context.Background(), r.Model, s.Train)
	if err != nil {
		return o, err
	}
	if err := again.judge(exact, s, r); err != nil {
		return o, err
	}
	if again.Error != "" {
		return o, fmt.Errorf("%v: %s", o.Trial, again.Error)
	}
	unknown := o.Trial.Loss == VFE && len(o.Inducing) == 0
	if unknown {
		again.Variance, again.Figure2 = math.NaN(), math.NaN()
	}
	if o.Trial.Optimiser.Method == TorchAdam || o.Trial.Optimiser.Method == TorchLBFGS || o.Trial.Loss == Auto ||
		o.Trial.Loss == AutoProjected || o.Trial.Authors.Float32 || unknown {
		again.Value = math.NaN()
		return again, nil
	}
	again.Value, err = lossAt(o.Trial, s, append(slices.Clone(again.Theta), o.Inducing...))
	return again, err
}

// startOf is where every training begins, apart from inducing inputs.
func startOf(t Trial) []float64 { return gppl.PaperModel(Kernels[t.Kernel]).Values() }

// lossAt evaluates the loss of a trial by the cheapest engine; without parameters, where the trial evaluates it.
func lossAt(t Trial, s Sample, theta []float64) (float64, error) {
	t.Engine = ""
	loss, err := t.loss(context.Background(), gppl.PaperModel(Kernels[t.Kernel]), s.Train)
	if err != nil {
		return 0, err
	}
	if theta == nil {
		theta = t.evaluatedAt(loss)
	}
	theta = append(theta, gppl.Values(loss.Params()[len(theta):])...) // inducing inputs where k-means puts them
	return loss.ValueGrad(context.Background(), nil, theta)
}

// learntTheta returns the stored parameters. A noise variance that was stored at its floor, rounded, is just above it.
func (o Outcome) learntTheta() []float64 {
	const floor = 1e-6
	theta := slices.Clone(o.Theta)
	if noise := &theta[len(theta)-1]; *noise <= floor {
		*noise = floor * (1 + 1e-9)
	}
	return theta
}

// off reports whether a stored number differs from the recomputed one, and whether it could be recomputed.
func (n storedNumber) off(stored, again *Outcome) (off, known bool) {
	a, b := n.get(stored), n.get(again)
	if math.IsNaN(a) || math.IsNaN(b) {
		return false, false
	}
	return !(math.Abs(a-b) <= n.near(b)), true
}

// sampled returns the outcomes that are computed again: all if a test may take minutes, and otherwise all of one draw of each kind of
// data, at random. Of what takes seconds each, quick tests take few.
func sampled(all []Outcome, rnd *rand.Rand) (some []Outcome) {
	kindOf := func(o Outcome) Source {
		kind := o.Trial.Source
		kind.Seed, kind.N = 0, 0 // data of several n are parts of one draw
		return kind
	}
	var kinds []Source
	seeds := map[Source][]uint64{}
	for _, o := range all {
		kind, seed := kindOf(o), o.Trial.Source.Seed
		if seeds[kind] == nil {
			kinds = append(kinds, kind)
		}
		if !slices.Contains(seeds[kind], seed) {
			seeds[kind] = append(seeds[kind], seed)
		}
	}
	chosen := map[Source]uint64{}
	for _, kind := range kinds {
		chosen[kind] = seeds[kind][rnd.IntN(len(seeds[kind]))]
	}
	for _, o := range all {
		eeg := o.Trial.Source.Name == "eeg"
		long := o.Trial.Kernel == "RQ" || eeg && o.Trial.Kernel == "LocPer" // dense, or as long as that
		switch {
		case o.Trial.Start > 0 && o.Failed(): // a random start ran away: ten digits of a period no longer determine the loss
		case o.Error != "", o.Trial.Source.Name == "sunspots" && !haveSunspots(), eeg && !haveEEG(), !testkit.Long() && chosen[kindOf(o)] != o.Trial.Source.Seed:
		case testkit.Quick() && long && rnd.IntN(40) > 0, !testkit.Long() && long && eeg:
		default:
			some = append(some, o)
		}
	}
	return some
}

// ofDay returns the number of the day, and random numbers that choose its sample.
func ofDay() (uint64, *rand.Rand) {
	day := uint64(time.Now().Unix() / (24 * 60 * 60))
	return day, rand.New(rand.NewPCG(day, 67))
}

// TestStoredNumbers computes stored numbers again at the stored parameters, without training, and checks that they equal the stored ones:
// of the outcomes of one draw of each kind of data, another each day, or of all. What is computed again would notice a change of the number by its
// tolerance. Times and counts cannot be computed again without training.
//
//	GPPL_LONG=1 go test ./pkg/experiment -run '^TestStoredNumbers$' -v      all outcomes
func TestStoredNumbers(t *testing.T) {
	day, rnd := ofDay()
	e := evidence(t)
	outcomes, of := 0, 0
	counts := map[string]int{}
	for _, at := range append(e.experiments(), curves(t)) {
		all := *at
		of += len(all)
		for _, stored := range sampled(all, rnd) {
			again, err := recomputed(stored)
			if err != nil {
				t.Errorf("%v: %v", stored.Trial, err)
				continue
			}
			outcomes++
			for _, n := range storedNumbers {
				off, known := n.off(&stored, &again)
				if off {
					t.Errorf("%v: %s is %v, stored %v (sample of day %d)", stored.Trial, n.name, n.get(&again), n.get(&stored), day)
				}
				if known {
					counts[n.name]++
				}
			}
		}
	}
	t.Logf("sample of day %d: %d of %d outcomes, numbers computed again %v", day, outcomes, of, counts)
}

// haveEEG reports whether the recording that the stored outcomes are of is on this machine.
func haveEEG() bool {
	r, err := Recording()
	return err == nil && strings.HasSuffix(r.Source, dataset.EEGBurstFile.Name)
}
