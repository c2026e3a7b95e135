package judge

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestJudge: one rule alone suffices, and a result that may be due to chance is no reason.
func TestJudge(t *testing.T) {
	fine := Trust{Horizon: 8, Origins: 5, Known: 20, Separate: 4, Against: "repeating the last year", Season: 4, Coverage: 0.95,
		Relative: 0.6, Chance: 1, Late: 1, Widen: 1}
	for name, test := range map[string]struct {
		change func(*Trust)
		n      int
		want   string
		word   Word
	}{
		"fine": {func(*Trust) {}, 400, "Tested five times, 8 steps ahead: 95 % of the values fell inside the 95 % band, " +
			"and the error was 60 % of the error of repeating the last year.", Use},
		"half": {func(t *Trust) { t.Relative, t.Origins = 0.51, 2 }, 400, "Tested twice, 8 steps ahead: 95 % of the values fell inside " +
			"the 95 % band, and the error was half that of repeating the last year.", Use},
		"knew": {func(t *Trust) { t.Knew = "structure and parameters" }, 400,
			" These tests knew the structure and parameters of all observations, which flatters them.", Use},
		"narrow": {func(t *Trust) { t.Coverage, t.Narrow = 0.5, 2 }, 400,
			"50 % of the values fell inside the 95 % band, and the error was 60 % of the error of repeating the last year." +
				" Do not rely on this forecast: its bands were far too narrow.", DoNotUse},
		"two narrow": {func(t *Trust) { t.Coverage, t.Narrow = 0.72, 2 }, 400,
			" Do not rely on this forecast: its bands, even widened, held less than 70 % of the values in 2 of the tests.", DoNotUse},
		"one narrow": {func(t *Trust) { t.Coverage, t.Narrow = 0.8, 1 }, 400, " The bands may be too narrow.", Use},
		"as good": {func(t *Trust) { t.Relative, t.Coverage = 1.02, 0.8 }, 400,
			"and the error was as large as that of repeating the last year. The bands may be too narrow.", Use},
		"wrong": {func(t *Trust) { t.Relative, t.Chance = 2, 0.01 }, 400, "and the error was twice that of repeating the last year." +
			" Do not rely on this forecast: repeating the last year did better.", DoNotUse},
		"by chance": {func(t *Trust) { t.Relative, t.Chance = 1.4, 0.2 }, 400,
			"and the error was 1.4 times that of repeating the last year. That may be chance: compare the two.", Use},
		"far": {func(t *Trust) { t.Relative, t.Chance = 2, 0.2 }, 400, "Do not rely on this forecast: repeating the last year did better.",
			DoNotUse},
		"one far": {func(t *Trust) {
			t.Relative, t.Chance, t.Past = 2, 0.2, []PastForecast{{MAE: 9, Naive: 2}, {MAE: 1, Naive: 2}, {MAE: 1, Naive: 2}}
		}, 400, "twice that of repeating the last year. But it was closer in most of these tests: compare the two.", Use},
		"suspect": {func(t *Trust) { t.suspect = "values may be wrong" }, 400, " That says little, since values may be wrong.", Untested},
		"suspect, far": {func(t *Trust) { t.suspect, t.Relative = "values may be wrong", 2 }, 400,
			"Do not rely on this forecast: repeating the last year did better.", DoNotUse},
		"suspect, few": {func(t *Trust) { t.suspect, t.Relative, t.Chance = "values may be wrong", 2, 0.01 }, 149,
			" That says little, since values may be wrong.", Untested},
		"few, high": {func(t *Trust) { t.Relative, t.Chance = 2, 0.2 }, 149, "That may be chance: compare the two. " + baseRate, Use},
		"few":       {func(*Trust) {}, 149, "60 % of the error of repeating the last year. " + baseRate, Use},
		"absurd": {func(t *Trust) { t.Relative, t.Chance = 1e6, 0.2 }, 400,
			"the error was more than 1000 times that of repeating the last year", DoNotUse},
		"few, absurd": {func(t *Trust) { t.Relative, t.Chance = 15, 0.2 }, 97,
			"the error was 15 times that of repeating the last year. Do not rely on this forecast: repeating the last year did better.",
			DoNotUse},
		"no matter": {func(t *Trust) { t.Relative, t.Chance = 1.05, 0.001 }, 400, "1.1 times that of repeating the last year.", Use},
		"exact": {func(t *Trust) { t.Relative, t.Chance = math.MaxFloat64, 0 }, 400,
			"and repeating the last year had no error. Do not rely on this forecast: repeating the last year had no error at all, and the" +
				" forecast had one.", DoNotUse},
		"checks": {func(t *Trust) { t.broken = "the model misses structure in time" }, 400,
			" Do not rely on this forecast: the model misses structure in time.", DoNotUse},
		"short": {func(t *Trust) { t.Separate, t.Coverage = 1.9, 0.5 }, 40,
			" 40 observations are too few to test a forecast of 8 steps.", Untested},
		"unlearnt": {func(t *Trust) { t.Known = 5 }, 40, " 40 observations are too few", Untested},
		"one origin": {func(t *Trust) { t.Origins, t.Separate, t.Relative = 1, 1, 0.3 }, 400,
			"Tested once, 8 steps ahead: 95 % of the values fell inside the 95 % band, and the error was 30 % of the error of repeating the" +
				" last year. One test does not tell skill from luck.", Untested},
		"still short": {func(t *Trust) { t.Coverage, t.Widen, t.Widened = 0.5, 1.1, 0.5 }, 100,
			" The bands were widened by 10 % after these tests; so wide, they would have held 50 %.", Untested},
		"wider": {func(t *Trust) { t.Widen, t.Widened = 1.4, 0.9 }, 400,
			" The bands were widened by 40 % after these tests; so wide, they would have held 90 %.", Use},
		"as many":    {func(t *Trust) { t.Widen, t.Widened = 1.1, t.Coverage }, 400, " The bands were widened by 10 % after these tests.", Use},
		"few, wrong": {func(t *Trust) { t.Relative, t.Chance = 2, 0.01 }, 149, "repeating the last year. " + baseRate, Untested},
	} {
		v := fine
		test.change(&v)
		v.judge(test.n, 8)
		if !strings.Contains(v.Verdict, test.want) || v.Word != test.word {
			t.Errorf("%s: %s, %q", name, v.Word, v.Verdict)
		}
	}
}

// TestPairedChance: the probability is Student's for separate origins. If two forecasts are equally good, the test has its level.
// It needs two separate tests.
func TestPairedChance(t *testing.T) {
	worse := []float64{1, 2, 3, 4, 5}
	if got, want := pairedChance(worse, 5, 0), (distuv.StudentsT{Sigma: 1,
		Nu: 4}).Survival(3/math.Sqrt(0.5)); math.Abs(got-want) > 1e-12 {
		t.Errorf("the chance is %v, want %v", got, want)
	}
	if few, many := pairedChance(worse, 2.2, 0), pairedChance(worse, 5, 0); few < 2*many {
		t.Errorf("the chance is %v where origins overlap, and %v where they do not", few, many)
	}
	for name, got := range map[string]float64{
		"one": pairedChance(worse[:1], 5, 0), "not separate": pairedChance(worse, 1.9, 0),
		"better": pairedChance([]float64{-1, -2}, 5, 0), "unseen": pairedChance([]float64{1e-9, 1e-9}, 5, 1e-6),
	} {
		if got != 1 {
			t.Errorf("%s: the chance is %v", name, got)
		}
	}
	if got := pairedChance([]float64{1, 1, 1}, 3, 0); got != 0 {
		t.Errorf("a constant loss has a chance of %v", got)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	draws, below := testkit.Size(2000, 10_000, 100_000), 0
	for range draws {
		d := make([]float64, 5)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		if pairedChance(d, 5, 0) < beyondChance {
			below++
		}
	}
	if share, sd := float64(below)/float64(draws), math.Sqrt(beyondChance*(1-beyondChance)/float64(draws)); math.Abs(share-beyondChance) > 4*sd {
		t.Errorf("equal forecasts are told apart in %.3f of cases", share)
	}
}

// TestBroken: innovations that are too large or repeat themselves break the model; white innovations, and a small number of them,
// do not.
func TestBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	draw := func(n int, sd, again float64) *Residuals {
		e := make([]float64, n)
		for i := range e {
			if e[i] = sd * rng.NormFloat64(); i > 0 {
				e[i] += again * e[i-1]
			}
		}
		return checkWhite(e)
	}
	spikes := draw(300, 0.5, 0.9).E
	spikes[100], spikes[200] = 60, -50 // spikes that would hide the autocorrelation of the others
	spiked := checkWhite(spikes)
	spiked.SD = 1
	for name, test := range map[string]struct {
		of   *Residuals
		want string
	}{
		"spikes":     {spiked, "errors one step ahead repeat themselves (autocorrelation 0."},
		"white":      {draw(300, 1, 0), ""},
		"large":      {draw(300, 2, 0), "errors one step ahead are "},
		"repeating":  {draw(300, 0.5, 0.9), "errors one step ahead repeat themselves (autocorrelation 0."},
		"a little":   {draw(1000, 1, 0.2), ""},
		"few, large": {draw(149, 2, 0), ""},
	} {
		if got := test.of.broken(); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestVerdicts: series of known kinds have the right verdicts. A verdict can always be written as JSON.
func TestVerdicts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	white := func(int) float64 { return rng.NormFloat64() }
	level := math.Log(100)
	price := func(int) float64 { level += 0.01 * rng.NormFloat64(); return math.Exp(level) }
	for _, test := range []struct {
		name    string
		n       int
		y       func(i int) float64
		periods []float64
		horizon int
		word    Word
	}{
		{"white noise", 200, white, nil, 24, Use},
		{"ten points", 10, white, nil, 2, Untested},
		{"two years of months", 24, func(i int) float64 { return 10 + 5*math.Sin(float64(i)*math.Pi/6) + 0.3*rng.NormFloat64() },
			[]float64{12}, 12, Untested},
		{"a price", 3000, price, nil, 100, Use}, // learnt as a level to which it returns, its bands held 56 % of what came
		{"a trend that breaks at the end", 120, func(i int) float64 { return float64(min(i, 200-i)) + 0.3*rng.NormFloat64() }, nil, 12,
			Use},
		{"a season that ends", 216, func(i int) float64 {
			if i < 156 {
				return 20*math.Sin(float64(i)*math.Pi/6) + 0.1*rng.NormFloat64()
			}
			return 0.1 * rng.NormFloat64()
		}, []float64{12}, 12, DoNotUse},
		{"a constant with one jump", 100, func(i int) float64 { return math.Floor(float64(i) / 90) }, nil, 12, Untested},
		// which nothing before foretold
	} {
		a := automatic(t, testseries.Steps(t, test.n, 0, test.y), forecast.Options{Periods: test.periods})
		v, err := TestPast(t.Context(), a, BacktestOptions{Horizon: test.horizon})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		t.Logf("%s: %s; %s", test.name, a.Name(), v.Verdict)
		if _, err := json.Marshal(v); err != nil || v.Word != test.word {
			t.Errorf("%s: %q (%v)", test.name, v.Verdict, err)
		}
	}
}

// TestExactSeason: of 200 values that repeat themselves exactly, tiny residuals and an error that a naive forecast does not have
// are no reasons against a forecast.
func TestExactSeason(t *testing.T) {
	if testing.Short() {
		t.Skip("without noise, training takes dense algebra")
	}
	a := automatic(t, testseries.Steps(t, 200, 0, func(i int) float64 { return 1.5 * float64(i%13) }),
		forecast.Options{Log: "never", Trend: "none", Periods: []float64{13}, Budget: time.Second})
	trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 26})
	if err != nil {
		t.Fatal(err)
	}
	if trust.Word != Use {
		t.Error(trust.Verdict)
	}
}
