package report

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
)

// JSON is an analysis for programs. Fields of results that were not requested are left out.
type JSON struct {
	File       string               `json:"file"`
	SHA256     string               `json:"sha256"`
	N          int                  `json:"n"`
	Trust      *judge.Trust         `json:"trust,omitempty"`
	Lead       string               `json:"lead,omitempty"` // what a reader must know first: values that may stand for missing ones
	Notes      []string             `json:"notes"`
	Kernel     string               `json:"kernel"`
	Status     string               `json:"status"`               // how training of the best model ended, as in Candidates
	Log        bool                 `json:"log,omitempty"`        // the best model is of log y
	Likelihood string               `json:"likelihood,omitempty"` // distribution of y if it is not normal, with its learnt shape
	Exact      bool                 `json:"exact_likelihood"`     // true for every analysis
	Parameters []ParameterJSON      `json:"parameters"`
	LogLik     float64              `json:"log_likelihood"` // log likelihood of y in nats, without the priors
	LogPrior   float64              `json:"log_prior,omitempty"`
	Priors     []forecast.Belief    `json:"priors,omitempty"`
	Regressors []forecast.Effect    `json:"regressors,omitempty"`
	Shifts     []forecast.ShiftSize `json:"shifts,omitempty"` // all changes of level and of slope
	Outliers   *forecast.Outliers   `json:"outliers,omitempty"`
	Candidates []search.Candidate   `json:"candidates"`
	Residuals  *ResidualsJSON       `json:"residuals,omitempty"`
	Forecast   []PointJSON          `json:"forecast,omitempty"`
	Warnings   []string             `json:"warnings,omitempty"`
}

// ParameterJSON is a parameter of the best model: Value and StdErrLog, the standard error of its logarithm, for the standardised
// series, InUnits and StdErr in the unit of the file. Unknown standard errors are left out; a location has no StdErrLog.
type ParameterJSON struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	StdErrLog float64 `json:"std_err_log,omitempty"`
	InUnits   float64 `json:"value_in_units"`
	StdErr    float64 `json:"std_err_in_units,omitempty"`
	Unit      string  `json:"unit,omitempty"`
}

// ResidualsJSON holds the results of the checks of the innovations.
type ResidualsJSON struct {
	N           int      `json:"n"`
	SD          float64  `json:"sd"`
	LjungBoxP   float64  `json:"ljung_box_p"`
	Lags        int      `json:"lags"`
	JarqueBeraP float64  `json:"jarque_bera_p"`
	Verdict     []string `json:"verdict"`
}

// PointJSON is one step of a forecast. Mean is the point forecast: the median or, for counts, the expected count.
type PointJSON struct {
	X             string  `json:"x"`
	Mean          float64 `json:"mean"`
	SDLatent      float64 `json:"sd_latent"`
	SDObservation float64 `json:"sd_observation"`
	Lower         float64 `json:"lower_95"`
	Upper         float64 `json:"upper_95"`
	// Median is given for counts and censored values, with the probabilities of 0 and of the lower and the upper bound.
	Median  *float64 `json:"median,omitempty"`
	Zero    *float64 `json:"p_zero,omitempty"`
	Lowest  *float64 `json:"p_lowest,omitempty"`
	Highest *float64 `json:"p_highest,omitempty"`
}

// Describe returns the analysis for a program, with the forecast, the residual checks and the backtest if they are not nil. word
// writes a setting in the sentences about the series, as a flag for instance.
func Describe(
	a *forecast.Analysis, f *forecast.Forecast, r *judge.Residuals, trust *judge.Trust, word func(dataset.Setting) string,
) JSON {
	lead, notes := messages(a.Series, word)
	j := JSON{
		File: a.Series.Source.File, SHA256: a.Series.Source.SHA256, N: len(a.Series.X),
		Lead: lead, Notes: notes,
		Kernel: a.Kernel(), Status: a.Candidates[0].Status,
		Exact: true, Candidates: a.Candidates, Warnings: warnings(a),
		Trust: trust, Log: a.Log, Likelihood: a.Likelihood(), LogLik: -a.NLL(), LogPrior: a.Result.LogPrior, Priors: a.Beliefs(),
	}
	for _, p := range a.Params() {
		value, se, unit := inUnits(a, p)
		j.Parameters = append(j.Parameters, ParameterJSON{p.Name, p.Value, knownError(p.StdErrLog), value, se, unit})
	}
	if effects, err := a.Effects(context.Background()); err == nil { // an error of conditioning is reported with the forecast
		j.Regressors = effects
	}
	var err error
	if j.Shifts, err = a.Shifts(context.Background()); err != nil {
		j.Warnings = append(j.Warnings, unsought("Changes of level", err))
	}
	if outliers, err := a.Outliers(context.Background()); err != nil {
		j.Warnings = append(j.Warnings, unsought("Outliers", err))
	} else if len(outliers.List) > 0 {
		j.Outliers = outliers
	}
	if r != nil {
		j.Residuals = &ResidualsJSON{len(r.E), r.SD, r.LjungBoxP, r.LjungBoxLags, r.JarqueBeraP, r.Verdict()}
	}
	if f != nil {
		j.Forecast = Points(f)
	}
	return j
}

// Points returns the steps of a forecast for programs.
func Points(f *forecast.Forecast) (points []PointJSON) {
	for i, when := range f.When {
		points = append(points, PointJSON{
			X: when, Mean: f.Point()[i], SDLatent: math.Sqrt(f.LatentVar[i]), SDObservation: math.Sqrt(f.NoisyVar[i]),
			Lower: f.Lower[i], Upper: f.Upper[i],
		})
	}
	if f.Expected == nil {
		return points
	}
	bounds := f.AtBounds()
	for i := range points {
		median := f.Median[i]
		points[i].Median = &median
		for _, b := range bounds {
			switch p := &b.P[i]; b.Name {
			case "p_zero":
				points[i].Zero = p
			case "p_lowest":
				points[i].Lowest = p
			case "p_highest":
				points[i].Highest = p
			}
		}
	}
	return points
}
