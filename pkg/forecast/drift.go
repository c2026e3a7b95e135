package forecast

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/text"
)

// Drift says whether the parameters of a model still hold. It tests the normal quantiles z of new observations in their
// predictions one step ahead (Arrivals.Z), which are independent and N(0, 1) if they do. Three tests look for different
// departures, each at a third of one per cent, so that a model that holds is doubted at most once in a hundred times. Single
// outliers hardly move any of them.
type Drift struct {
	N int `json:"n"`
	// Mean is the mean of z, clipped at ±2.5, and MeanP the probability of a mean at least as far from 0.
	Mean  float64 `json:"mean_z"`
	MeanP float64 `json:"mean_p"`
	// Within is the share of the observations in their 50 % bands, and WithinP the probability of a share at least as far from ½.
	Within  float64 `json:"within_50"`
	WithinP float64 `json:"within_50_p"`
	// Serial is the correlation of neighbouring z, clipped, and SerialP the probability of one at least as far from 0.
	Serial  float64 `json:"serial"`
	SerialP float64 `json:"serial_p"`
	Word    string  `json:"word"` // holds, learn again, or too few to tell
}

// driftLevel is the probability with which the tests together doubt a model that holds.
const driftLevel = 0.01

// driftWords are the outcomes of a test of drift: the parameters hold, the model needs a new fit, or observations are too few.
var driftWords = []string{"holds", "learn again", "too few to tell"}

const (
	leastDrift = 8                  // number of observations that a test needs
	driftClip  = 2.5                // |z| is clipped at this
	middleHalf = 0.6744897501960817 // Φ⁻¹(¾): half of all z are within it
)

// driftOf tests the normal quantiles z.
func driftOf(z []float64) Drift {
	n := len(z)
	d := Drift{N: n, MeanP: 1, WithinP: 1, SerialP: 1, Word: driftWords[2]}
	if n == 0 {
		return d
	}
	tail := 0.5 * math.Erfc(driftClip/math.Sqrt2)
	// variance is the variance of a clipped z; first and second are the sums of squares over neighbouring pairs.
	variance := 1 - 2*tail - 2*driftClip*math.Exp(-0.5*driftClip*driftClip)/math.Sqrt(2*math.Pi) + 2*driftClip*driftClip*tail
	inside, before, first, second := 0, 0.0, 0.0, 0.0
	for i, v := range z {
		if math.Abs(v) < middleHalf {
			inside++
		}
		v = min(max(v, -driftClip), driftClip)
		d.Mean += v / float64(n)
		if i > 0 {
			d.Serial += v * before
			first, second = first+before*before, second+v*v
		}
		before = v
	}
	d.Within = float64(inside) / float64(n)
	if n < leastDrift {
		d.Serial = 0
		return d
	}
	d.MeanP = math.Erfc(math.Abs(d.Mean) * math.Sqrt(float64(n)/variance) / math.Sqrt2)
	if d.Serial /= math.Sqrt(first * second); !(math.Abs(d.Serial) < 1) {
		d.Serial = 0 // all z are 0
	}
	free := float64(n - 2)
	d.SerialP = 2 * distuv.StudentsT{Sigma: 1, Nu: free}.Survival(math.Abs(d.Serial)*math.Sqrt(free/(1-d.Serial*d.Serial)))
	half := distuv.Binomial{N: float64(n), P: 0.5}
	d.WithinP = min(1, 2*half.CDF(float64(min(inside, n-inside))))
	if d.Word = driftWords[0]; min(d.MeanP, d.WithinP, d.SerialP) < driftLevel/3 {
		d.Word = driftWords[1]
	}
	return d
}

// Verdict says in a sentence whether the parameters still hold, and why not.
func (d Drift) Verdict() string {
	switch d.Word {
	case driftWords[2]:
		return fmt.Sprintf("%s too few to tell whether the parameters still hold: the check needs %d.",
			text.Count(d.N, "new observation")+" "+text.Are(d.N), leastDrift)
	case driftWords[0]:
		return fmt.Sprintf("The parameters still hold: nothing in %d new observations, "+
			"predicted one step ahead, speaks against them (level %g).",
			d.N, driftLevel)
	}
	var why []string
	add := func(p float64, format string, args ...any) {
		if p < driftLevel/3 {
			why = append(why, fmt.Sprintf(format+" (p = %.2g)", append(args, p)...))
		}
	}
	side := "above"
	if d.Mean < 0 {
		side = "below"
	}
	add(d.MeanP, "they are %.2g standard deviations %s their predictions on average", math.Abs(d.Mean), side)
	add(d.WithinP, "%.0f %% of them are in their 50 %% bands", 100*d.Within)
	add(d.SerialP, "neighbouring errors have a correlation of %.2g", d.Serial)
	return fmt.Sprintf("Learn again, by a fit of all rows: %d new observations, "+
		"predicted one step ahead, speak against the parameters: %s.",
		d.N, strings.Join(why, "; "))
}
