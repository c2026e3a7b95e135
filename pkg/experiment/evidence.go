package experiment

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
)

// Evidence is everything stored at full scale. The ledger derives its verdicts from it.
type Evidence struct {
	E1, E2, Sunspots, EEG []Outcome
	Accurate              []Outcome
	Theory                theory.Results
	Published             Published
}

// LoadEvidence reads the stored results in a folder. Results that were never computed are absent, and the ledger reports them
// as such.
func LoadEvidence(dir string) (*Evidence, error) {
	e := &Evidence{}
	var err error
	if e.Published, err = LoadPublished(); err != nil {
		return nil, fmt.Errorf("experiment: published.json: %w", err)
	}
	for _, from := range []struct {
		name string
		to   *[]Outcome
	}{{"e1", &e.E1}, {"e1-notebook", &e.E1}, {"e2", &e.E2}, {"sunspots", &e.Sunspots}, {"eeg", &e.EEG}, {"accurate", &e.Accurate}} {
		store, err := OpenStore(filepath.Join(dir, from.name+".jsonl"))
		if err != nil {
			return nil, err
		}
		trials, _ := Named(from.name, scales.Full)
		*from.to = append(*from.to, ofTrials(store.Outcomes(), trials)...)
	}
	e.Theory, err = theory.Load(filepath.Join(dir, "theory.json"))
	return e, err
}

// ofTrials returns the latest outcome of each trial, in the order of the outcomes. Others in the store, such as outcomes of an
// older revision, are dropped.
func ofTrials(outcomes []Outcome, trials []Trial) (kept []Outcome) {
	at := map[Trial]int{} // index in kept
	for _, t := range trials {
		at[t] = -1
	}
	for _, o := range outcomes {
		switch i, listed := at[o.Trial]; {
		case !listed:
		case i < 0:
			at[o.Trial] = len(kept)
			kept = append(kept, o)
		case o.When > kept[i].When:
			kept[i] = o
		}
	}
	return kept
}

//go:embed published.json
var publishedJSON []byte

// Published holds the figures printed in the paper and in the outputs of the authors' notebooks.
type Published struct {
	E1       map[string]map[string]Figure `json:"E1_paper_table_1"` // optimiser, method
	E2       []E2Figure                   `json:"E2_authors_notebook"`
	Sunspots map[string]map[string]Figure `json:"E3_sunspots_paper_table_2"` // kernel, method
	Notebook map[string]map[string]Figure `json:"E3_sunspots_authors_notebook"`
	EEG      map[string]map[string]Figure `json:"E3_eeg_paper_table_3"`
	Initial  struct {
		NLL map[string]float64 `json:"NLL"`
	} `json:"initial_losses_authors_notebook"`

	// Numbers that the authors' notebooks print beside their tables.
	NotebookDigits map[string]float64 `json:"E3_sunspots_authors_notebook_PL_digits"`
	Logs           Logs               `json:"authors_notebook_logs"`
	Seed55         Seed55             `json:"authors_code_run_by_itself"`
}

// Logs are the numbers in the outputs of the authors' notebooks that are not in the tables.
type Logs struct {
	E1 map[string]struct {
		Start float64   `json:"start"` // the loss at the first step
		Stop  int       `json:"stop"`  // the step that ended training, 0 if none did
		Theta []float64 `json:"theta"`
	} `json:"E1_BFGS"`
	E2Start map[string]float64            `json:"E2_start_NLL"` // keyed by n
	Stops   map[string]map[string]int     `json:"E3_sunspots_stop"`
	EEG     map[string]map[string]float64 `json:"E3_eeg_NLL"`

	EEGNorms  map[string]map[string]float64 `json:"E3_eeg_residual_norm"`    // ‖μ − y‖ over the 2000 held-out points
	E1Seconds map[string]Figure             `json:"E1_BFGS_NLL_and_seconds"` // keyed by method, as the notebook prints them
	E2Failed  map[string]int                `json:"E2_VFE_150_failed_factorisations"`
	// k-means with m = 150 and repulsion, which the authors' times leave out; keyed by n
	E2Setup map[string]map[string]float64 `json:"E2_setup_seconds"`
}

// Seed55 is the result of an independent run of the authors' code on the sunspots, with more digits than their notebook prints.
type Seed55 struct {
	Of map[string]struct {
		Start float64   `json:"start"` // PL before the first step
		NLL   float64   `json:"nll"`   // exact NLL after the last step
		Stop  int       `json:"stop"`
		Theta []float64 `json:"theta"`
	} `json:"PL"`
	VFE map[string]struct { // the initial centres depend on the version of k-means
		NLL  float64 `json:"nll"`
		Stop int     `json:"stop"`
	} `json:"VFE"`
}

// Figure is a published result: an NLL or a normalised mean square error (which the paper calls RMSE), and seconds.
type Figure struct {
	NLL     float64 `json:"nll"`
	NMSE    float64 `json:"rmse"`
	Seconds float64 `json:"s"`
}

// E2Figure is a published result of E2.
type E2Figure struct {
	N       int     `json:"n"`
	Order   int     `json:"order"`
	Method  string  `json:"method"`
	NLL     float64 `json:"nll"`
	Seconds float64 `json:"s"`
}

// Above returns how far a published NLL of E2 lies above ML's, in nats, or NaN if it was not published.
func (p Published) Above(n int, method string, order int) float64 {
	of := map[string]float64{method: math.NaN(), ML: math.NaN()}
	for _, f := range p.E2 {
		if f.N == n && (f.Method == ML || f.Method == method && f.Order == order) {
			of[f.Method] = f.NLL
		}
	}
	return of[method] - of[ML]
}

// Where returns the outcomes whose trial matches.
func Where(all []Outcome, match func(Trial) bool) (some []Outcome) {
	for _, o := range all {
		if match(o.Trial) {
			some = append(some, o)
		}
	}
	return some
}

// Values applies number to each outcome.
func Values(all []Outcome, number func(Outcome) float64) []float64 {
	values := make([]float64, len(all))
	for i, o := range all {
		values[i] = number(o)
	}
	return values
}

// NLLs returns the exact NLL of each outcome, +Inf for a trial that ended in an error.
func NLLs(all []Outcome) []float64 {
	return Values(all, func(o Outcome) float64 {
		if o.Error != "" {
			return math.Inf(1)
		}
		return o.NLL
	})
}

// Optimum returns the minimum of the exact NLL for the data and kernel of a trial: the lowest at which trainings of the exact
// likelihood by this project end, from all their starts, or NaN if there are none.
func Optimum(all []Outcome, t Trial) float64 {
	if optimum, ok := optima(all)[Trial{Source: t.Source, Kernel: t.Kernel}]; ok {
		return optimum
	}
	return math.NaN()
}

// ExactFits returns the trainings of the exact likelihood by this project, from all their starts.
func ExactFits(all []Outcome) (fits []Outcome) {
	for _, o := range all {
		if o.isExactFit() {
			fits = append(fits, o)
		}
	}
	return fits
}

func (o *Outcome) isExactFit() bool {
	t := &o.Trial
	return (t.Loss == ML || t.Loss == Auto) && t.Protocol == GPPL && t.Optimiser.Method != Evaluate && o.Error == ""
}

// optima returns the optimum of each source and kernel.
func optima(all []Outcome) map[Trial]float64 {
	lowest := map[Trial]float64{}
	for i := range all {
		o := &all[i]
		if !o.isExactFit() {
			continue
		}
		of := Trial{Source: o.Trial.Source, Kernel: o.Trial.Kernel}
		if before, ok := lowest[of]; !ok || o.NLL < before {
			lowest[of] = o.NLL
		}
	}
	return lowest
}

// Excess returns how far the exact NLL of each outcome lies above the optimum of the same data (see [Optimum]), in nats.
// Values below 1e-6 nats become 0.
func Excess(all, some []Outcome) []float64 {
	optima := optima(all)
	v := NLLs(some)
	for i, o := range some {
		optimum, ok := optima[Trial{Source: o.Trial.Source, Kernel: o.Trial.Kernel}]
		if !ok {
			optimum = math.NaN()
		}
		v[i] -= optimum
		if math.Abs(v[i]) < 1e-6 {
			v[i] = 0
		}
	}
	return v
}

// Failures counts the outcomes that failed (see [Outcome.Failed]).
func Failures(all []Outcome) int {
	n := 0
	for _, o := range all {
		if o.Failed() {
			n++
		}
	}
	return n
}

// Floors counts the outcomes whose noise variance was driven to its floor.
func Floors(all []Outcome) int {
	n := 0
	for _, o := range all {
		if o.Floor {
			n++
		}
	}
	return n
}

// Evaluations returns the number of evaluations of each outcome.
func Evaluations(all []Outcome) []float64 {
	return Values(all, func(o Outcome) float64 { return float64(o.Evaluations) })
}

// plain reports whether a trial has none of the authors' options.
func plain(t Trial) bool { return t.Authors == Authors{} && t.Optimiser.Method != Evaluate }

// E1By selects the trials of E1 by one method, one loss and k = m = 100, as in the paper's text. Methods are the paper's "BFGS"
// and "Adam", and our "L-BFGS".
func E1By(method, loss string) func(Trial) bool {
	return func(t Trial) bool {
		return plain(t) && t.Optimiser.Method == method && t.Loss == loss && t.Source.Noise == 0
	}
}

// NotebookE1 selects the trials of E1 with all settings of the authors' notebook (k = m = 40 among them), by one optimiser
// ("BFGS" or "Adam") and one loss, on the first twenty draws.
func NotebookE1(optimiser, loss string) func(Trial) bool {
	settings := notebookSettings(optimiser, loss)
	return func(t Trial) bool { return t.Source.Seed <= notebookDraws && settings(t) }
}

func notebookSettings(optimiser, loss string) func(Trial) bool {
	return func(t Trial) bool {
		as := map[string]Authors{ML: {Diagonal: MLDiagonal}, VFE: {Repel: true}, PL: {Diagonal: PLDiagonal}}[loss]
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers[optimiser] && t.Loss == loss && t.Authors == as &&
			(loss != PL || t.Design == PoolDesign) && ofNotebook(t)
	}
}

// NotebookE1With selects, as [NotebookE1] does for Adam, the trials with other options: VFE, or PL with Sphere projections.
func NotebookE1With(loss string, a Authors) func(Trial) bool {
	return func(t Trial) bool {
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers["Adam"] && t.Loss == loss && t.Authors == a &&
			t.Design != PoolDesign && ofNotebook(t)
	}
}

// ofNotebook reports whether a trial of E1 has the k = m of the authors' notebook, or no order.
func ofNotebook(t Trial) bool {
	return t.Order == 0 || t.Order == NotebookOrder(scales.Full) || t.Order == NotebookOrder(scales.Smoke)
}

// NotebookE1Text selects the trials of VFE and PL by the authors' code with k = m = 100, as in the text, in single or double
// precision.
func NotebookE1Text(loss string, single bool) func(Trial) bool {
	return func(t Trial) bool {
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers["Adam"] && t.Loss == loss &&
			t.Authors.Float32 == single && !ofNotebook(t)
	}
}

// NestedExcess returns how far above the optimum PL with 40 Sphere projections ends: a group for each draw of the data, with
// several Ω in each.
func NestedExcess(all []Outcome) (groups [][]float64) {
	byDraw := map[uint64][]Outcome{}
	for _, o := range Where(all, NotebookE1With(PL, Authors{Diagonal: PLDiagonal})) {
		byDraw[o.Trial.Source.Seed] = append(byDraw[o.Trial.Source.Seed], o)
	}
	for _, seed := range slices.Sorted(maps.Keys(byDraw)) {
		groups = append(groups, Excess(all, byDraw[seed]))
	}
	return groups
}

// E2Single selects the trials of E2 by VFE in single precision.
func E2Single(n, order int) func(Trial) bool {
	return func(t Trial) bool {
		return t.Authors.Float32 && t.Loss == VFE && t.Source.N == n && t.Order == order
	}
}

// E2Double selects the same trials in double precision: same draws, same settings.
func E2Double(n, order int) func(Trial) bool {
	return func(t Trial) bool {
		return t.Authors == Authors{Repel: true} && t.Loss == VFE && t.Source.N == n && t.Order == order &&
			t.Optimiser.Method == TorchAdam
	}
}

// NotebookPL selects the trial of PL on the sunspots with the Ω of the authors' notebook.
func NotebookPL(kernel string) func(Trial) bool {
	return func(t Trial) bool { return t.Design == NotebookDesign && t.Kernel == kernel }
}

// E2By selects the trials of E2 by protocol, loss and order (0 for ML) at n observations, on data with the noise variance of the
// authors' data, ln 1.1.
func E2By(protocol, loss string, n, order int) func(Trial) bool {
	return e2(protocol, loss, n, order, false)
}

// E2Stated selects as [E2By] does, on data with the noise variance stated in the text, 0.1.
func E2Stated(protocol, loss string, n, order int) func(Trial) bool {
	return e2(protocol, loss, n, order, true)
}

func e2(protocol, loss string, n, order int, stated bool) func(Trial) bool {
	return func(t Trial) bool {
		return plain(t) && (t.Source.Noise == 0) == stated && t.Protocol == protocol && t.Loss == loss && t.Source.N == n &&
			t.Order == order
	}
}

// SunspotsBy selects the trials by protocol, kernel and loss, with the authors' options a. Under the paper's protocol they have
// the paper's own stopping rule.
func SunspotsBy(protocol, kernel, loss string, a Authors) func(Trial) bool {
	return func(t Trial) bool {
		return t.Optimiser.Method != Evaluate && t.Optimiser.Method != TorchAdam && t.Authors == a && t.Protocol == protocol &&
			t.Kernel == kernel && t.Loss == loss && t.Start == 0 &&
			(protocol != Paper || t.Optimiser.Tolerance == sunspotAdam.Tolerance)
	}
}

// NotebookVFE selects VFE on the sunspots trained as in the authors' notebook, with the noise in K_uu for all kernels but SE.
func NotebookVFE(kernel string) func(Trial) bool {
	return func(t Trial) bool { return t.Optimiser.Method == TorchAdam && t.Loss == VFE && t.Kernel == kernel }
}

// LooserStop selects PL on the sunspots with the tolerance of the paper's stopping rule multiplied by k/n.
func LooserStop(kernel string) func(Trial) bool {
	return func(t Trial) bool {
		return t.Kernel == kernel && t.Loss == PL && t.Protocol == Paper && t.Authors == Authors{} && t.Optimiser.Method == "Adam" &&
			t.Optimiser.Tolerance < sunspotAdam.Tolerance
	}
}

// DenseSeconds returns the time that the trial would have taken with the dense engine: its evaluations times the measured cost
// of one, or NaN without such a measurement. For trials that ran densely it is the measured time.
func DenseSeconds(all []Outcome, o Outcome) float64 {
	if o.Trial.Engine == "dense" {
		return o.Seconds()
	}
	for _, m := range all {
		if m.Trial.Optimiser.Method == Evaluate && m.Trial.Source.Name == o.Trial.Source.Name && m.Trial.Source.N == o.Trial.Source.N &&
			m.Trial.Kernel == o.Trial.Kernel && m.Trial.Loss == o.Trial.Loss && m.Trial.Order == o.Trial.Order {
			return o.Setup + float64(o.Evaluations)*m.Fit
		}
	}
	return math.NaN()
}

// SameSeeds gives outcomes of ML, which need no seed, the seed of their draw, so that [Pairs] can match them.
func SameSeeds(all []Outcome) []Outcome {
	all = slices.Clone(all)
	for i := range all {
		all[i].Trial.Seed = all[i].Trial.Source.Seed
	}
	return all
}

// LoadPublished returns the published figures.
func LoadPublished() (p Published, err error) {
	err = json.Unmarshal(publishedJSON, &p)
	return p, err
}
