package experiment

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/projected-likelihood/gppl/internal/quantile"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/experiment/theory"
)

// Evidence is all that was stored, at full scale: what the ledger's verdicts follow from.
type Evidence struct {
	E1, E2, Sunspots, EEG []Outcome
	Accurate              []Outcome
	Theory                theory.Results
	Published             Published
}

// LoadEvidence reads the stored results in a folder. What has not been computed is absent from it; the ledger says so.
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
		*from.to = append(*from.to, store.Outcomes()...)
	}
	e.Theory, err = theory.Load(filepath.Join(dir, "theory.json"))
	return e, err
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

	// What the authors' notebooks print beside their tables.
	NotebookDigits map[string]float64 `json:"E3_sunspots_authors_notebook_PL_digits"`
	Logs           Logs               `json:"authors_notebook_logs"`
	Seed55         Seed55             `json:"authors_code_run_by_itself"`
}

// Logs are what the outputs of the authors' notebooks hold beside the numbers of the tables.
type Logs struct {
	E1 map[string]struct {
		Start float64   `json:"start"` // the loss at the first step
		Stop  int       `json:"stop"`  // the step that ended training, 0 if none did
		Theta []float64 `json:"theta"`
	} `json:"E1_BFGS"`
	E2Start map[string]float64            `json:"E2_start_NLL"` // by n
	Stops   map[string]map[string]int     `json:"E3_sunspots_stop"`
	EEG     map[string]map[string]float64 `json:"E3_eeg_NLL"`

	EEGNorms  map[string]map[string]float64 `json:"E3_eeg_residual_norm"`    // ‖μ − y‖ over the 2000 held-out points
	E1Seconds map[string]Figure             `json:"E1_BFGS_NLL_and_seconds"` // by method, as the notebook prints them
	E2Failed  map[string]int                `json:"E2_VFE_150_failed_factorisations"`
	E2Setup   map[string]map[string]float64 `json:"E2_setup_seconds"` // what is not timed: k-means with m = 150, repulsion; by n
}

// Seed55 is what an independent run of the authors' code gives on the sunspots, to more digits than their notebook prints.
type Seed55 struct {
	Of map[string]struct {
		Start float64   `json:"start"` // PL before the first step
		NLL   float64   `json:"nll"`   // exact, after the last
		Stop  int       `json:"stop"`
		Theta []float64 `json:"theta"`
	} `json:"PL"`
	VFE map[string]struct { // from centres that depend on the version of k-means
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

// Where returns the outcomes whose trial matches.
func Where(all []Outcome, match func(Trial) bool) (some []Outcome) {
	for _, o := range all {
		if match(o.Trial) {
			some = append(some, o)
		}
	}
	return some
}

// Values returns a number of each outcome.
func Values(all []Outcome, number func(Outcome) float64) []float64 {
	v := make([]float64, len(all))
	for i, o := range all {
		v[i] = number(o)
	}
	return v
}

// NLLs are the exact NLL of each outcome; +Inf where the trial ended in an error.
func NLLs(all []Outcome) []float64 {
	return Values(all, func(o Outcome) float64 {
		if o.Error != "" {
			return math.Inf(1)
		}
		return o.NLL
	})
}

// Optimum returns the exact NLL at its minimum for the data and kernel of a trial: that of this project's ML in the same outcomes,
// NaN if it is not there.
func Optimum(all []Outcome, t Trial) float64 {
	for _, o := range all {
		if o.Trial.Loss == ML && o.Trial.Protocol == GPPL && o.Trial.Source == t.Source && o.Trial.Kernel == t.Kernel && o.Error == "" {
			return o.NLL
		}
	}
	return math.NaN()
}

// startAsAuthors is the NLL on the sunspots where the paper begins, with the 1e-6 that the authors' code adds to the diagonal of what
// it factorises.
func startAsAuthors(e *Evidence, kernel string) (float64, error) {
	for _, o := range Where(e.Sunspots, NotebookPL(kernel)) {
		return o.StartNLL, nil
	}
	return 0, errors.New("nothing is stored")
}

// Excess is how far the exact NLL of each outcome lies above the optimum of the same data (see [Optimum]), to a millionth of a nat.
func Excess(all, some []Outcome) []float64 {
	optima := map[Trial]float64{}
	for i := len(all) - 1; i >= 0; i-- { // the first counts
		if o := &all[i]; o.Trial.Loss == ML && o.Trial.Protocol == GPPL && o.Error == "" {
			optima[Trial{Source: o.Trial.Source, Kernel: o.Trial.Kernel}] = o.NLL
		}
	}
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

// count returns how many of all are so.
func count[T any](all []T, is func(T) bool) (n int) {
	for _, v := range all {
		if is(v) {
			n++
		}
	}
	return n
}

// Failures counts the outcomes that failed (see [Outcome.Failed]).
func Failures(all []Outcome) int { return count(all, Outcome.failed) }

// Floors counts the outcomes whose noise variance was driven to its floor.
func Floors(all []Outcome) int { return count(all, func(o Outcome) bool { return o.Floor }) }

// Evaluations are those that each outcome took.
func Evaluations(all []Outcome) []float64 {
	return Values(all, func(o Outcome) float64 { return float64(o.Evaluations) })
}

var median = quantile.Median

// plain is a trial without the authors' options.
func plain(t Trial) bool { return t.Authors == Authors{} && t.Optimiser.Method != Evaluate }

// E1By returns the trials of E1 by one method, one loss and k = m = 100, as the paper's text has it: "BFGS" and "Adam" of the paper,
// "L-BFGS" ours.
func E1By(method, loss string) func(Trial) bool {
	return func(t Trial) bool {
		return plain(t) && t.Optimiser.Method == method && t.Loss == loss && t.Source.Noise == 0
	}
}

// NotebookE1 returns the trials of E1 with all settings of the authors' notebook, k = m = 40 among them, by one optimiser ("BFGS" or
// "Adam") and one loss, on the first twenty draws.
func NotebookE1(optimiser, loss string) func(Trial) bool {
	settings := notebookSettings(optimiser, loss)
	return func(t Trial) bool { return t.Source.Seed <= notebookDraws && settings(t) }
}

// notebookE1Confirming tells the trials of ML and VFE with all settings of the notebook on further draws, which were made after the rule
// about Figure 2 had been chosen.
func notebookE1Confirming(t Trial) bool {
	return t.Source.Seed > notebookDraws && t.Loss != PL && (notebookSettings("BFGS", t.Loss)(t) || notebookSettings("Adam", t.Loss)(t))
}

func notebookSettings(optimiser, loss string) func(Trial) bool {
	return func(t Trial) bool {
		as := map[string]Authors{ML: {Diagonal: MLDiagonal}, VFE: {Repel: true}, PL: {Diagonal: PLDiagonal}}[loss]
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers[optimiser] && t.Loss == loss && t.Authors == as && (loss != PL || t.Design == PoolDesign) && ofNotebook(t)
	}
}

// NotebookE1With returns those by Adam with other options: of VFE, or of PL with Sphere projections.
func NotebookE1With(loss string, a Authors) func(Trial) bool {
	return func(t Trial) bool {
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers["Adam"] && t.Loss == loss && t.Authors == a && t.Design != PoolDesign && ofNotebook(t)
	}
}

// ofNotebook reports whether a trial of E1 has k = m of the authors' notebook, or none.
func ofNotebook(t Trial) bool {
	return t.Order == 0 || t.Order == NotebookOrder(scales.Full) || t.Order == NotebookOrder(scales.Smoke)
}

// NotebookE1Text returns the trials of VFE and of PL by the authors' code with the k = m = 100 of the text, in single precision or double.
func NotebookE1Text(loss string, single bool) func(Trial) bool {
	return func(t Trial) bool {
		return t.Source.Noise != 0 && t.Optimiser == notebookOptimisers["Adam"] && t.Loss == loss && t.Authors.Float32 == single && !ofNotebook(t)
	}
}

// notebookBest returns the trials of E1 on the data of the authors' notebook, k = m = 40, by L-BFGS to the optimum.
func notebookBest(loss string) func(Trial) bool {
	return func(t Trial) bool { return t.Source.Noise != 0 && t.Protocol == GPPL && t.Loss == loss }
}

// nestedExcess returns how far above the optimum PL with k = 40 Sphere projections ends, for each draw of the data over several Ω.
func nestedExcess(all []Outcome) (groups [][]float64) {
	byDraw := map[uint64][]Outcome{}
	for _, o := range Where(all, NotebookE1With(PL, Authors{Diagonal: PLDiagonal})) {
		byDraw[o.Trial.Source.Seed] = append(byDraw[o.Trial.Source.Seed], o)
	}
	for _, seed := range slices.Sorted(maps.Keys(byDraw)) {
		groups = append(groups, Excess(all, byDraw[seed]))
	}
	return groups
}

// E2Single returns the trials of E2 by VFE in single precision.
func E2Single(n, order int) func(Trial) bool {
	return func(t Trial) bool {
		return t.Authors.Float32 && t.Loss == VFE && t.Source.N == n && t.Order == order
	}
}

// E2Double returns their twins in double precision, on the same draws with the same settings.
func E2Double(n, order int) func(Trial) bool {
	return func(t Trial) bool {
		return t.Authors == Authors{Repel: true} && t.Loss == VFE && t.Source.N == n && t.Order == order && t.Optimiser.Method == TorchAdam
	}
}

// NotebookPL returns the trial of PL on the sunspots with the Ω of the authors' notebook.
func NotebookPL(kernel string) func(Trial) bool {
	return func(t Trial) bool { return t.Design == NotebookDesign && t.Kernel == kernel }
}

// E2By returns the trials of E2 by one protocol, loss and order (0 for ML) at n observations, on data with the noise variance of the
// authors' data, ln 1.1.
func E2By(protocol, loss string, n, order int) func(Trial) bool {
	return e2(protocol, loss, n, order, false)
}

// E2Stated returns those on data with the noise variance that the text states, 0.1.
func E2Stated(protocol, loss string, n, order int) func(Trial) bool {
	return e2(protocol, loss, n, order, true)
}

func e2(protocol, loss string, n, order int, stated bool) func(Trial) bool {
	return func(t Trial) bool {
		return plain(t) && (t.Source.Noise == 0) == stated && t.Protocol == protocol && t.Loss == loss && t.Source.N == n && t.Order == order
	}
}

// SunspotsBy returns the trials by one protocol, kernel and loss, with the authors' options a, under the paper's own stopping
// rule where the protocol is the paper's.
func SunspotsBy(protocol, kernel, loss string, a Authors) func(Trial) bool {
	return func(t Trial) bool {
		return t.Optimiser.Method != Evaluate && t.Optimiser.Method != TorchAdam && t.Authors == a && t.Protocol == protocol && t.Kernel == kernel && t.Loss == loss &&
			(protocol != Paper || t.Optimiser.Tolerance == sunspotAdam.Tolerance)
	}
}

// NotebookVFE returns VFE on the sunspots trained as the authors' notebook did, with the noise in K_uu for all kernels but SE.
func NotebookVFE(kernel string) func(Trial) bool {
	return func(t Trial) bool { return t.Optimiser.Method == TorchAdam && t.Loss == VFE && t.Kernel == kernel }
}

// LooserStop returns PL on the sunspots with the paper's stopping rule applied to the loss per number.
func LooserStop(kernel string) func(Trial) bool {
	return func(t Trial) bool {
		return t.Kernel == kernel && t.Loss == PL && t.Protocol == Paper && t.Authors == Authors{} && t.Optimiser.Method == "Adam" && t.Optimiser.Tolerance < sunspotAdam.Tolerance
	}
}

// DenseSeconds is what the trial would have taken by the dense engine: its evaluations times the measured cost of one; NaN if that
// was not measured. Trials that ran densely took what they took.
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

// denseTimes are the [DenseSeconds] of the outcomes whose trial matches.
func denseTimes(all []Outcome, match func(Trial) bool) []float64 {
	return Values(Where(all, match), func(o Outcome) float64 { return DenseSeconds(all, o) })
}

// sameSeeds gives outcomes of ML, which has no seed of its own, that of their draw, so that pairs can tell which belong together.
func sameSeeds(all []Outcome) []Outcome {
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
