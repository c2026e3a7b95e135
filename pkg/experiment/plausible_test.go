package experiment

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestPlausible checks of every stored outcome what holds whatever was learnt, without computing anything again and without the
// recordings: a number that was changed by itself contradicts another.
func TestPlausible(t *testing.T) {
	e := evidence(t)
	for _, all := range append(e.experiments(), curves(t)) {
		lowest, reached := optima(*all), map[Trial]int{}
		type begin struct {
			source Source
			kernel string
			noise  float64
		}
		starts, energies := map[begin]float64{}, map[Source]float64{}
		for _, o := range *all {
			wrong := func(what string, v, want float64) {
				t.Errorf("%v (%s): %s: %v beside %v", o.Trial, o.Key, what, v, want)
			}
			if len(o.Theta) == 0 || o.Error != "" {
				continue
			}
			if o.Evaluations < 1 || !(o.Fit > 0) || o.Setup < 0 {
				t.Errorf("%v (%s): %d evaluations in %v s after %v s", o.Trial, o.Key, o.Evaluations, o.Fit, o.Setup)
			}
			data := Trial{Source: o.Trial.Source, Kernel: o.Trial.Kernel}
			const same = 0.02 // nats within which trainings to the optimum end
			if best, ok := lowest[data]; ok && o.NLL < best-same {
				wrong("the exact NLL is below the optimum", o.NLL, best)
			}
			if o.Trial.Protocol == GPPL && (o.Trial.Loss == ML || o.Trial.Loss == Auto) && o.NLL < lowest[data]+same {
				reached[data]++
			}
			theta := o.Trial.startTheta()
			at := begin{o.Trial.Source, o.Trial.Kernel, theta[len(theta)-1]}
			if first, ok := starts[at]; !ok {
				starts[at] = o.StartNLL
			} else if math.Abs(o.StartNLL-first) > nats(first) {
				wrong("the exact NLL at the start of the same data and kernel", o.StartNLL, first)
			}
			switch {
			case o.Trial.Authors != Authors{}:
			case o.Trial.Loss == ML && math.Abs(o.Value-o.NLL) > nats(o.NLL):
				wrong("the loss of ML and the exact NLL", o.Value, o.NLL)
			case o.Trial.Loss == VFE && o.Value < o.NLL-nats(o.NLL):
				wrong("the loss of VFE is a bound, and below the exact NLL", o.Value, o.NLL)
			}
			// VFE's variance as their code predicts it is larger by two slips, which make it less than twice as large.
			if o.Figure2 != o.Exact && o.Trial.Loss != VFE || o.Figure2 < o.Exact*(1-1e-9) || o.Figure2 > 2*o.Exact {
				wrong("the variance of Figure 2 and by the exact posterior", o.Figure2, o.Exact)
			}
			for _, v := range []*Validation{o.MSE, o.VMSE} {
				if v == nil {
					continue
				}
				// NMSE = Σ(μ − y)²/Σy² and RMSE² = Σ(μ − y)²/n, so the ratio Σy²/n depends on the data alone.
				energy := v.RMSE * v.RMSE / v.NMSE
				if first, ok := energies[o.Trial.Source]; !ok {
					energies[o.Trial.Source] = energy
				} else if math.Abs(energy/first-1) > 1e-9 {
					wrong("RMSE²/NMSE of the same held-out data", energy, first)
				}
				if v.NMSE > 1 || v.Fresh < v.NMSE || v.Fresh > 1.5*v.NMSE {
					wrong("NMSE without the points that were trained on, and with them", v.Fresh, v.NMSE)
				}
			}
		}
		for data, trainings := range reached {
			if all == &e.Sunspots && trainings < 2 {
				t.Errorf("%s of %v: only one training ends at the lowest NLL, %v", data.Kernel, data.Source, lowest[data])
			}
		}
	}
}

// TestStoredKeys: every outcome is stored under the key of its trial, so that the ledger, which goes by trials, sees what the
// notebooks see, which go by keys.
func TestStoredKeys(t *testing.T) {
	for _, name := range []string{"e1", "e1-notebook", "e2", "sunspots", "eeg", "accurate", "curves"} {
		for _, o := range testkit.Must(OpenStore(filepath.Join(results, name+".jsonl")))(t).Outcomes() {
			if !slices.Contains(o.Trial.keys(), o.Key) {
				t.Errorf("%s: %v is stored under the key %s of another trial", name, o.Trial, o.Key)
			}
		}
	}
}
