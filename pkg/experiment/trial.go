package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A Trial is one training run, as a value: equal Trials give equal numbers, except for times.
type Trial struct {
	Protocol  string    `json:"protocol"` // Paper or GPPL
	Source    Source    `json:"source"`
	Kernel    string    `json:"kernel"`             // a key of Kernels
	Loss      string    `json:"loss"`               // ML, VFE, PL, Residual, Whittle, Auto or AutoProjected
	Design    string    `json:"design,omitempty"`   // design of the projections: a key of Designs
	Order     int       `json:"order,omitempty"`    // k projections, or m inducing inputs
	Optimiser Optimiser `json:"optimiser,omitzero"` // zero for Auto, which chooses its own
	Seed      uint64    `json:"seed,omitempty"`     // seed of the projections, or of k-means
	Authors   Authors   `json:"authors,omitzero"`
	Engine    string    `json:"engine,omitempty"` // forced; "" is the automatic choice
	Taper     float64   `json:"taper,omitempty"`  // taper of Whittle's likelihood
	Start     uint64    `json:"start,omitempty"`  // seed of a random start (randomStart); 0 is the paper's start
}

// The two protocols.
const (
	Paper = "paper" // the authors' settings
	GPPL  = "gppl"  // L-BFGS to a vanishing gradient, by the fastest engine
)

// The losses.
const (
	ML  = "ML"  // the exact negative log likelihood
	VFE = "VFE" // the variational free energy
	PL  = "PL"  // the projected likelihood

	Residual      = "PL + residual"   // PL with the residual energy
	Whittle       = "Whittle"         // the debiased Whittle likelihood
	Auto          = "auto"            // auto.Fit
	AutoProjected = "auto, projected" // auto.Fit restricted to projections
)

// Optimiser says how a trial is trained.
type Optimiser struct {
	Method     string  `json:"method"`               // Adam, BFGS, L-BFGS, TorchAdam, TorchLBFGS, or Evaluate
	Rate       float64 `json:"rate,omitempty"`       // rate of Adam and of PyTorch's optimisers
	Iterations int     `json:"iterations,omitempty"` // at most; 0 is no limit
	Tolerance  float64 `json:"tolerance,omitempty"`  // of the paper's stopping rule; 0: stop where the gradient vanishes
}

// Evaluate is the method of a trial that trains nothing: it measures the time of one evaluation of value and gradient, the
// shortest of three.
const Evaluate = "evaluate"

// Authors are details of the authors' code that the paper does not mention.
type Authors struct {
	NoiseInGram bool    `json:"noise_in_gram,omitempty"` // VFE: K_uu + σ²I for K_uu
	Repel       bool    `json:"repel,omitempty"`         // VFE: the repulsion between inducing inputs
	Diagonal    float64 `json:"diagonal,omitempty"`      // added to the diagonal of K while training
	Float32     bool    `json:"float32,omitempty"`       // single precision, with x² + z² − 2xz for squared distances
}

// What the authors' code adds to the diagonal of K while training, for Authors.Diagonal: 1e-4 for PL, and 1e-6 to any matrix that
// it factorises.
const (
	PLDiagonal = 1e-4 + 1e-6
	MLDiagonal = 1e-6
)

// Kernels are the paper's, with all parameters 1.
var Kernels = map[string]gppl.Kernel{"SE": gppl.SE{}, "Laplace": gppl.Laplace{}, "RQ": gppl.RQ{}, "LocPer": gppl.LocPer{}}

// Designs lists the designs of projections.
var Designs = map[string]gppl.Design{
	"Sphere": gppl.Sphere{}, "Repulsive": gppl.Repulsive{}, "Localised": gppl.Localised{}, "One-hot": gppl.OneHot{},
	"Spectral":     gppl.Spectral{},
	NotebookDesign: legacySphere{notebookSeed}, PoolDesign: repulsivePool{},
}

// String names the trial in a line.
func (t Trial) String() string {
	s := fmt.Sprintf("%s %s %s", t.Source, t.Kernel, t.Loss)
	if t.Order > 0 {
		s += fmt.Sprintf(" %d", t.Order)
	}
	return fmt.Sprintf("%s, %s, seed %d", s, t.Optimiser.Method, t.Seed)
}

// Revision is the version of the code that computed the stored results. Raise it by hand whenever a change moves the numbers:
// TestStoredResults repeats some of the stored trials and fails if the results differ.
const Revision = 1

// Key returns the key under which a result is stored: a hash of the trial, of its data and of the Revision.
func (t Trial) Key() (string, error) {
	data, err := t.Source.fingerprint()
	if err != nil {
		return "", err
	}
	return t.keyOf(data)
}

// keyOf is the key of a result with the data of this fingerprint.
func (t Trial) keyOf(data string) (string, error) {
	text, err := json.Marshal(struct {
		Trial    Trial
		Data     string
		Revision int
	}{t, data, Revision})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// An Outcome is the result of a trial.
type Outcome struct {
	Key   string `json:"key"`
	Trial Trial  `json:"trial"`

	Error string `json:"error,omitempty"` // why there are no numbers, if there are none

	NLL      float64   `json:"nll"`                 // exact, at the learnt hyperparameters, in nats
	StartNLL float64   `json:"start_nll,omitempty"` // exact, where training began
	Start    float64   `json:"start,omitempty"`     // the loss before the first step, if trained as by the authors' code
	Value    float64   `json:"value"`               // value of the loss that was trained
	Theta    []float64 `json:"theta"`               // learnt, natural values, noise variance last
	StdErr   []float64 `json:"std_err,omitempty"`   // standard errors of log θ, where they are stated
	Inducing []float64 `json:"inducing,omitempty"`  // of VFE on a draw; early results have them for some draws only
	Floor    bool      `json:"floor,omitempty"`     // the noise variance was driven to its floor
	Status   string    `json:"status"`
	Inexact  float64   `json:"inexact,omitempty"` // bound on the error of the loss, where no engine kept its tolerance
	Warnings []string  `json:"warnings,omitempty"`

	Retries int `json:"retries,omitempty"` // factorisations in single precision that failed and were retried

	Variance float64 `json:"variance,omitempty"` // mean posterior variance of the function; VFE uses its own posterior
	// For trials with the settings of the authors' notebook, the variance of a noisy observation averaged over the range: by the
	// exact posterior at the learnt parameters, and as the code of their Figure 2 predicts it.
	Exact   float64 `json:"exact_variance,omitempty"`
	Figure2 float64 `json:"figure_2_variance,omitempty"`

	PaperRecording bool `json:"paper_recording,omitempty"` // the EEG is the paper's

	// Of Auto and AutoProjected:
	K     int       `json:"k,omitempty"`     // projections in the end, 0 for the exact likelihood
	Why   string    `json:"why,omitempty"`   // the reason for this loss and for adding no more projections
	Kept  []float64 `json:"kept,omitempty"`  // share of the information about each parameter, as estimated by the fit
	Steps []Step    `json:"steps,omitempty"` // the steps of the fit

	MSE  *Validation `json:"validation,omitempty"`     // only if the source holds data back
	VMSE *Validation `json:"vfe_validation,omitempty"` // the same by VFE's own posterior

	Evaluations int     `json:"evaluations"`
	Setup       float64 `json:"setup_s"` // seconds: projections, k-means, precomputation
	Fit         float64 `json:"fit_s"`   // seconds of training
	Engine      string  `json:"engine"`
	Workers     int     `json:"workers"`          // trials that ran at once
	Machine     string  `json:"machine"`          // processor and cores
	Commit      string  `json:"commit,omitempty"` // commit of the code, if known; "+" marks a tree with changes
	Go          string  `json:"go,omitempty"`     // version
	When        int64   `json:"when,omitempty"`   // Unix seconds
}

// Seconds is the time of training and set-up.
func (o Outcome) Seconds() float64 { return o.Setup + o.Fit }

// Failed reports whether training made things worse: it ended in an error, or the exact NLL at the learnt parameters is higher
// than at the start or is not finite.
func (o Outcome) Failed() bool {
	return o.Error != "" || !numeric.IsFinite(o.NLL) || o.NLL > o.StartNLL
}

// A Step is one round of an automatic fit.
type Step struct {
	K        int     `json:"k"`
	NLL      float64 `json:"nll"` // exact, at what the round learnt
	Seconds  float64 `json:"s"`
	Decision string  `json:"decision"`
}

// Validation is the error of predictions y* ≈ μ on data held back, in the unit of the standardised observations.
type Validation struct {
	RMSE float64 `json:"rmse"` // √(‖μ − y‖²/n)
	NMSE float64 `json:"nmse"` // ‖μ − y‖²/‖y‖², which the paper's Table 3 calls RMSE

	Seen  int     `json:"seen,omitempty"`  // held-out points that were also trained on
	Fresh float64 `json:"fresh,omitempty"` // NMSE of the others
}
