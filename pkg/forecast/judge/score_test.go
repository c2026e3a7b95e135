package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) || got == want {
		return
	}
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.12g, want %.12g", what, got, want)
	}
}

// scores returns the scores of Gaussian forecasts, with a central interval at one level.
func scores(y, mu, variance, train []float64, season int, level float64) judge.Scores {
	s, err := judge.ScoresOf(judge.Gaussian{Mu: mu, Variance: variance}, y, train, season, []float64{level})
	if err != nil {
		panic(err)
	}
	return s
}

// TestScoresByHand compares scores with values that were computed by hand.
func TestScoresByHand(t *testing.T) {
	y, f, ones := []float64{1, 2, 4}, []float64{1, 4, 3}, []float64{1, 1, 1}
	train := []float64{1, 5, 2, 7, 2, 6} // season 2: |2−1|, |7−5|, |2−2|, |6−7|
	s := scores(y, f, ones, train, 1, 0.8)
	near(t, "RMSE", s.RMSE, math.Sqrt(5./3), 1e-15) // errors 0, −2, 1
	near(t, "MAE of the scores", s.MAE, 1, 1e-15)
	near(t, "MAE", judge.MAE(y, f), 1, 1e-15)
	near(t, "Scale", judge.Scale(train, 2), 1, 1e-15)
	near(t, "Scale, season 1", judge.Scale(train, 1), 21./5, 1e-15) // 4, 3, 5, 5, 4
	near(t, "MASE", s.MASE, 5./21, 1e-15)
	near(t, "sMAPE", judge.SMAPE([]float64{100, 0, -1}, []float64{110, 0, 1}), (2000./210+0+200)/3, 1e-12)
	two := scores([]float64{0, 3}, []float64{0, 1}, []float64{1, 4}, train, 1, 0.8)
	near(t, "NLPD", two.NLPD, 0.5*math.Log(2*math.Pi)+0.5*(math.Log(2)+0.5), 1e-15)
	one := scores([]float64{0}, []float64{0}, []float64{1}, train, 1, 0.8)
	near(t, "CRPS of N(0, 1) at 0", one.CRPS, (math.Sqrt2-1)/math.Sqrt(math.Pi), 1e-15)
	near(t, "CRPS of a point", judge.Gaussian{Mu: []float64{1}, Variance: []float64{0}}.CRPS([]float64{3})[0], 2, 0)
	near(t, "pinball", judge.Pinball(3, 1, 0.9), 1.8, 1e-15)
	near(t, "pinball", judge.Pinball(1, 3, 0.9), 0.2, 1e-15)
	lo, hi := []float64{0, 0, 5}, []float64{1, 1, 9}
	near(t, "coverage", judge.Coverage(y, lo, hi), 1./3, 1e-15)
	near(t, "width", judge.Width(lo, hi), 2, 1e-15)
	half := distuv.UnitNormal.Quantile(0.9) // the intervals are f ± half, and y is off by 0, 2 and 1
	near(t, "interval score", s.Intervals[0].Score, 2*half+10*(2-half)/3, 1e-12)

	nan := math.NaN()
	for what, got := range map[string]float64{
		"MAE of nothing":    judge.MAE(nil, nil),
		"Scale":             judge.Scale(train, 6),
		"MAE of NaN":        judge.MAE([]float64{nan}, []float64{1}),
		"sMAPE of NaN":      judge.SMAPE([]float64{nan}, []float64{0}),
		"Coverage of NaN":   judge.Coverage([]float64{nan}, []float64{0}, []float64{1}),
		"Coverage, no ends": judge.Coverage([]float64{0}, []float64{nan}, []float64{1}),
	} {
		near(t, what, got, nan, 0)
	}
	for what, f := range map[string]func(){
		"lengths": func() { judge.MAE(y, f[:2]) },
		"season":  func() { judge.Scale(train, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			f()
		}()
	}
}

// TestCRPSByDefinition: the closed form equals the integral, and a CRPS from quantiles tends to it.
func TestCRPSByDefinition(t *testing.T) {
	d := distuv.Normal{Mu: 0.4, Sigma: 1.7}
	const levels = 2000
	p := make([]float64, levels)
	for k := range levels {
		p[k] = (float64(k) + 0.5) / levels
	}
	quantile := func(p float64) []float64 { return []float64{d.Quantile(p)} }
	for _, y := range []float64{-3, 0.4, 1, 6} {
		below := quad.Fixed(func(u float64) float64 { return d.CDF(u) * d.CDF(u) }, -20, y, 500, nil, 0)
		above := quad.Fixed(func(u float64) float64 { return d.Survival(u) * d.Survival(u) }, y, 20, 500, nil, 0)
		want := below + above
		got := scores([]float64{y}, []float64{d.Mu}, []float64{d.Sigma * d.Sigma}, []float64{1, 2}, 1, 0.5)
		near(t, "CRPS", got.CRPS, want, 1e-8)
		near(t, "CRPSQuantiles", judge.CRPSQuantiles([]float64{y}, quantile, p)[0], want, 1e-3)
		near(t, "NLPD", got.NLPD, -d.LogProb(y), 1e-12)
	}
}

// TestGaussianIntervals: the interval score is least at the true quantiles, and coverage
// is the level.
func TestGaussianIntervals(t *testing.T) {
	const n = 40000
	rnd := rand.New(rand.NewPCG(3, 4))
	y, g := make([]float64, n), judge.Gaussian{Mu: make([]float64, n), Variance: make([]float64, n)}
	for i := range y {
		g.Mu[i], g.Variance[i] = float64(i%7), 1+float64(i%3)
		y[i] = g.Mu[i] + math.Sqrt(g.Variance[i])*rnd.NormFloat64()
	}
	lo, hi := g.Quantile(0.025), g.Quantile(0.975)
	near(t, "quantile of N(0, 1)", g.Quantile(0.975)[0], 1.959963984540054, 1e-12)
	near(t, "coverage", judge.Coverage(y, lo, hi), 0.95, 0.005)
	train := []float64{1, 2}
	best := scores(y, g.Mu, g.Variance, train, 1, 0.95)
	for _, c := range []float64{0.8, 1.25} {
		wide := judge.Gaussian{Mu: g.Mu, Variance: make([]float64, n)}
		for i, v := range g.Variance {
			wide.Variance[i] = c * c * v
		}
		s := scores(y, wide.Mu, wide.Variance, train, 1, 0.95)
		if s.Intervals[0].Score <= best.Intervals[0].Score {
			t.Errorf("intervals %v times as wide have the score %v, the true ones %v", c, s.Intervals[0].Score, best.Intervals[0].Score)
		}
		if s.CRPS <= best.CRPS {
			t.Errorf("a standard deviation of %v times the true one has a lower CRPS: %v", c, s.CRPS)
		}
	}
}

func TestSeasonalNaive(t *testing.T) {
	g, err := judge.SeasonalNaive([]float64{1, 5, 2, 7, 2, 6}, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	square := (1. + 4 + 0 + 1) / 4
	for i, want := range []float64{2, 6, 2, 6, 2} {
		near(t, "mean", g.Mu[i], want, 0)
		near(t, "variance", g.Variance[i], square*float64(1+i/2), 1e-15)
	}
	if _, err := judge.SeasonalNaive([]float64{1, 2}, 2, 3); err == nil {
		t.Error("two values, a season of two: no error")
	}
}

// TestZeroVariance: a forecast without variance has the scores of the limit of small variances.
func TestZeroVariance(t *testing.T) {
	inf, train := math.Inf(1), []float64{1, 2}
	got := judge.Gaussian{Mu: []float64{1, 1, 1}, Variance: []float64{0, 0, 1}}.LogDensity([]float64{1, 2, 1})
	if got[0] != inf || got[1] != -inf || math.Abs(got[2]+0.5*math.Log(2*math.Pi)) > 1e-15 {
		t.Errorf("log densities %v", got)
	}
	for _, c := range []struct{ y, mu, v, want float64 }{{1, 1, 0, -inf}, {2, 1, 0, inf}, {2, 1, 1e-300, 5e299}} {
		got := scores([]float64{c.y}, []float64{c.mu}, []float64{c.v}, train, 1, 0.5).NLPD
		if got != c.want && !(math.Abs(got/c.want-1) < 1e-12) {
			t.Errorf("NLPD of %v by N(%v, %v): %v, want %v", c.y, c.mu, c.v, got, c.want)
		}
	}
	if got := scores([]float64{1, 2, 0}, []float64{1, 1, 0}, []float64{0, 0, 1}, train, 1, 0.5).NLPD; got != inf {
		t.Errorf("an exact forecast and a wrong one without variance: NLPD %v, want +Inf", got)
	}
	if got := scores([]float64{math.NaN()}, []float64{1}, []float64{0}, train, 1, 0.5).NLPD; !math.IsNaN(got) {
		t.Errorf("NLPD of NaN: %v", got)
	}
}
