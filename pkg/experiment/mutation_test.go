package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// storedNumber is a number of an outcome.
type storedNumber struct {
	name string
	get  func(*Outcome) float64 // NaN if the outcome has none
	set  func(*Outcome, float64)
	near func(v float64) float64 // tolerance for the recomputed number; nil if it takes training to recompute it
	move func(v float64) float64 // the least spread to assume
}

// Parameters are stored with ten digits, and an engine keeps 1e-8 nats for each observation. What decides whether an optimum is
// the published one is 0.02 nats.
func nats(v float64) float64      { return 1e-3 + 1e-6*math.Abs(v) }
func decisive(float64) float64    { return optimumTolerance }
func permille(v float64) float64  { return 1e-3 * math.Abs(v) }
func hundredth(v float64) float64 { return 1e-2 * math.Abs(v) }

// plainNumber is a number of an outcome that is zero if the outcome does not have it.
func plainNumber(name string, at func(*Outcome) *float64, near, move func(float64) float64) storedNumber {
	return storedNumber{name, func(o *Outcome) float64 {
		if v := *at(o); v != 0 {
			return v
		}
		return math.NaN()
	}, func(o *Outcome, v float64) { *at(o) = v }, near, move}
}

// validated is a number of the predictions of held-back data.
func validated(name string, of func(*Outcome) **Validation, at func(*Validation) *float64) storedNumber {
	return storedNumber{name, func(o *Outcome) float64 {
		if v := *of(o); v != nil {
			return *at(v)
		}
		return math.NaN()
	}, func(o *Outcome, x float64) {
		v := **of(o)
		*at(&v) = x
		*of(o) = &v
	}, permille, hundredth}
}

// counted is a count, which only training can reproduce.
func counted(name string, at func(*Outcome) *int) storedNumber {
	return storedNumber{name, func(o *Outcome) float64 { return float64(*at(o)) }, func(o *Outcome, v float64) { *at(o) = int(v) },
		nil, func(v float64) float64 { return max(1, 0.1*v) }}
}

// theNLL is the number that an outcome is about.
const theNLL = "exact NLL"

var trainedLoss = plainNumber("trained loss", func(o *Outcome) *float64 { return &o.Value }, nats, decisive)

var storedNumbers = []storedNumber{
	plainNumber(theNLL, func(o *Outcome) *float64 { return &o.NLL }, nats, decisive),
	plainNumber("exact NLL at the start", func(o *Outcome) *float64 { return &o.StartNLL }, nats, decisive),
	trainedLoss,
	plainNumber("mean variance", func(o *Outcome) *float64 { return &o.Variance }, permille, hundredth),
	plainNumber("of observations", func(o *Outcome) *float64 { return &o.Exact }, permille, hundredth),
	plainNumber("as Figure 2 has it", func(o *Outcome) *float64 { return &o.Figure2 }, permille, hundredth),
	validated("NMSE", func(o *Outcome) **Validation { return &o.MSE }, func(v *Validation) *float64 { return &v.NMSE }),
	validated("NMSE without the overlap", func(o *Outcome) **Validation { return &o.MSE },
		func(v *Validation) *float64 { return &v.Fresh }),
	validated("RMSE", func(o *Outcome) **Validation { return &o.MSE }, func(v *Validation) *float64 { return &v.RMSE }),
	plainNumber("seconds", func(o *Outcome) *float64 { return &o.Fit }, nil, hundredth),
	counted("evaluations", func(o *Outcome) *int { return &o.Evaluations }),
	counted("failed factorisations", func(o *Outcome) *int { return &o.Retries }),
}

// recomputed returns the outcome with all numbers computed again that follow from its trial and from the learnt parameters
// without training, and NaN for the others. The trained loss of VFE, and predictions by its posterior, need inducing inputs,
// which are stored only for first draws; PyTorch's optimisers report the loss before their last step.
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
	if n.near == nil || math.IsNaN(a) || math.IsNaN(b) {
		return false, false
	}
	return !(math.Abs(a-b) <= n.near(b)), true
}

// like returns the trial without what distinguishes draws.
func like(t Trial) Trial {
	t.Seed, t.Source.Seed = 0, 0
	return t
}

// spread returns, for each outcome, the standard deviation of a number over outcomes that are like it; for the exact NLL, that of
// its excess over the optimum.
func (n storedNumber) spread(all []Outcome) []float64 {
	v := Values(all, func(o Outcome) float64 { return n.get(&o) })
	if n.name == theNLL {
		v = Excess(all, all)
	}
	groups := map[Trial][]float64{}
	for i, o := range all {
		if numeric.IsFinite(v[i]) {
			groups[like(o.Trial)] = append(groups[like(o.Trial)], v[i])
		}
	}
	out := make([]float64, len(all))
	for i, o := range all {
		out[i] = n.move(n.get(&all[i]))
		if g := groups[like(o.Trial)]; len(g) > 1 {
			out[i] = max(out[i], stat.StdDev(g, nil))
		}
	}
	return out
}

// sampled returns the indices of one outcome of each kind, where outcomes that differ by their draws are of one kind, or of all
// if a test may take minutes. Quick tests take only one of several that differ by order alone, on draws that take no time to
// make.
func sampled(all []Outcome) (some []int) {
	seen := map[Trial]bool{}
	for i, o := range all {
		kind := like(o.Trial)
		if testkit.Quick() {
			kind.Order = 0
		}
		switch {
		case o.Error != "" || seen[kind] && !testkit.Long():
		case testkit.Quick() && (o.Trial.Source.Of > 2000 || o.Trial.Source.Name == "eeg" || o.Trial.Kernel == "RQ"):
		case !testkit.Long() && (o.Trial.Source.Name == "eeg" || o.Trial.Source.Of > 2000) && o.Trial.Kernel == "RQ": // dense, minutes
		case o.Trial.Source.Name == "sunspots" && !haveSunspots():
		default:
			seen[kind] = true
			some = append(some, i)
		}
	}
	return some
}

// TestMutations computes stored numbers again at the stored parameters, without training, and checks that they equal the stored
// ones. Then it moves each by twice its spread, one at a time, and counts the changes that are detected: because the number is no
// longer the computed one, or because a verdict of the ledger changes. For the number that an outcome is about (its exact NLL or,
// if it trains nothing, its loss), 95 % of the changes must be detected. Times and counts cannot be computed again without
// training: only verdicts detect their changes.
//
//	GPPL_LONG=1 go test ./pkg/experiment -run '^TestMutations$' -v      all outcomes
func TestMutations(t *testing.T) {
	e := evidence(t)
	before := Ledger(e)
	counts, outcomes := map[string]*seen{}, seen{} // by number; of the one that an outcome is about
	for _, n := range storedNumbers {
		counts[n.name] = &seen{}
	}
	for _, at := range append(e.experiments(), curves(t)) {
		all := *at
		spreads := map[string][]float64{}
		for _, n := range storedNumbers {
			spreads[n.name] = n.spread(all)
		}
		for turn, i := range sampled(all) {
			stored := all[i]
			again, err := recomputed(stored)
			if err != nil {
				t.Errorf("%v: %v", stored.Trial, err)
				continue
			}
			for _, n := range storedNumbers {
				v := n.get(&stored)
				off, known := n.off(&stored, &again)
				if math.IsNaN(v) || !known && n.name != theNLL && (n.near != nil || turn%testkit.Size(1000, 20, 10) > 0) {
					continue // the ledger is remade only for changes that it alone could detect
				}
				if off {
					t.Errorf("%v: %s is %v, stored %v", stored.Trial, n.name, n.get(&again), v)
				}
				n.set(&all[i], v+2*spreads[n.name][i])
				moved, _ := n.off(&all[i], &again)
				count := []*seen{counts[n.name]}
				if n.name == theNLL || n.name == trainedLoss.name && stored.Trial.Optimiser.Method == Evaluate {
					count = append(count, &outcomes)
				}
				moved = moved || !known && !slices.EqualFunc(before, Ledger(e), sameStatus)
				for _, c := range count {
					c.add(known, moved)
				}
				all[i] = stored
			}
		}
		t.Logf("%-25s %v", "outcomes so far", &outcomes)
	}
	for _, n := range storedNumbers {
		t.Logf("%-25s %v", n.name, counts[n.name])
	}
	t.Logf("%-25s %v", "outcomes", &outcomes)
	if share := outcomes.share(); !(share >= 0.95) {
		t.Errorf("%.1f %% of the changes of an outcome are seen, want 95 %%", 100*share)
	}
}

// seen counts changes and how they were detected.
type seen struct{ of, computed, moved int }

func (c *seen) add(computed, moved bool) {
	c.of++
	if computed {
		c.computed++
	}
	if moved {
		c.moved++
	}
}

func (c *seen) share() float64 { return float64(c.moved) / float64(max(1, c.of)) }

func (c *seen) String() string {
	return fmt.Sprintf("%5d moved by twice their spread, %5d computed again, %5.1f %% seen", c.of, c.computed, 100*c.share())
}

func sameStatus(a, b Row) bool { return a.Status == b.Status }
