// Command gallery draws one of each thing that package viz can show, on made-up data, into a folder: SVG, PNG and PDF files
// and a page with all of them. It is for looking at a change of style:
//
//	go run ./pkg/viz/internal/gallery -o gallery
package main

import (
	"flag"
	"fmt"
	"html/template"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/viz"
)

func main() {
	out := flag.String("o", "gallery", "folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang="en" class="gppl"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
		`<title>viz</title><style>` + string(viz.CSS()) + `</style><body style="max-width:860px;margin:1em auto;padding:0 1em;font-family:sans-serif">`)
	for _, f := range []struct {
		name string
		make func() (*viz.Figure, error)
	}{
		{"series", single}, {"overlay", overlay}, {"panels", panels}, {"loss", loss}, {"losstime", lossTime},
		{"variance", variance}, {"spectrum", spectrum}, {"spectra", spectra},
		{"designs", designs}, {"times", times}, {"figure3", figure3}, {"strips", strips}, {"stripslog", stripsLog}, {"kernels", kernels},
	} {
		fig, err := f.make()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		for _, ext := range []string{".svg", ".png", ".pdf"} {
			if err := fig.Save(filepath.Join(out, f.name+ext)); err != nil {
				return err
			}
		}
		h, err := fig.HTML()
		if err != nil {
			return err
		}
		page.WriteString(string(h))
	}
	for _, t := range tables() {
		h, err := t.HTML()
		if err != nil {
			return err
		}
		page.WriteString(string(h))
		page.WriteString("<pre>" + template.HTMLEscapeString(t.String()) + "</pre>")
	}
	bar := viz.NewProgress("gallery", 50)
	for i := range 50 {
		bar.Message("step %d", i+1)
		bar.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
	bar.Done()
	page.WriteString("<script>" + string(viz.Script()) + "</script>")
	return os.WriteFile(filepath.Join(out, "index.html"), []byte(page.String()), 0o644)
}

func truth(x float64) float64 {
	return 60 + 55*math.Sin(2*math.Pi*x/11)*(0.6+0.4*math.Sin(2*math.Pi*x/90)) + 15*math.Sin(2*math.Pi*x/47)
}

// sunspots makes 3000 observations, and a posterior that knows them up to 2020.
func sunspots(name string, bias, sd float64) (viz.Points, viz.Prediction) {
	rng := rand.New(rand.NewPCG(1, 2))
	var obs viz.Points
	for range 3000 {
		x := 1770 + 250*rng.Float64()
		obs.X = append(obs.X, x)
		obs.Y = append(obs.Y, truth(x)+18*rng.NormFloat64())
	}
	p := viz.Prediction{Name: name}
	for i := range 1200 {
		x := 1770 + 275*float64(i)/1199
		far := 1 - math.Exp(-math.Max(0, x-2020)/6)
		vf := sd*sd + far*35*35
		p.X = append(p.X, x)
		p.Mean = append(p.Mean, (truth(x)+bias*math.Sin(x/5))*(1-far)+60*far)
		p.LatentVar = append(p.LatentVar, vf)
		p.NoisyVar = append(p.NoisyVar, vf+18*18)
	}
	return obs, p
}

func single() (*viz.Figure, error) {
	obs, p := sunspots("PL, k = 100", 0, 4)
	return viz.Series(viz.SeriesOptions{
		Frame: viz.Frame{
			Title:   "A hundred projections recover the sunspot cycle, and know where they know nothing",
			Caption: "3000 made-up monthly observations, the posterior learnt from projections, and a forecast of 25 years.",
			XLabel:  "year", YLabel: "sunspot number",
		},
		Observed: obs, Predictions: []viz.Prediction{p},
		Spans: []viz.Span{{From: 2020, To: math.Inf(1), Label: "forecast"}},
	})
}

func overlay() (*viz.Figure, error) {
	obs, p := sunspots("ML", 0, 4)
	_, q := sunspots("VFE, m = 100", 12, 9)
	_, r := sunspots("PL, k = 100", 2, 5)
	for _, p := range []*viz.Prediction{&p, &q, &r} {
		p.NoisyVar = nil
	}
	var o viz.SeriesOptions
	for i, x := range obs.X {
		if x > 1950 {
			o.Observed.X, o.Observed.Y = append(o.Observed.X, x), append(o.Observed.Y, obs.Y[i])
		}
	}
	for _, p := range []viz.Prediction{p, q, r} {
		n := 0
		for p.X[n] < 1950 {
			n++
		}
		p.X, p.Mean, p.LatentVar = p.X[n:], p.Mean[n:], p.LatentVar[n:]
		o.Predictions = append(o.Predictions, p)
	}
	o.Frame = viz.Frame{Title: "PL follows ML; VFE smooths the maxima away", XLabel: "year", YLabel: "sunspot number"}
	return viz.Series(o)
}

func panels() (*viz.Figure, error) {
	obs, p := sunspots("SE", 0, 4)
	_, q := sunspots("Laplace", 8, 9)
	_, r := sunspots("RQ", 2, 5)
	_, s := sunspots("LocPer", 1, 3)
	return viz.Series(viz.SeriesOptions{
		Frame:    viz.Frame{Title: "Four kernels on one record", XLabel: "year", YLabel: "sunspot number", Height: 560},
		Observed: obs, Predictions: []viz.Prediction{p, q, r, s}, Panels: true, Cols: 2,
		Spans: []viz.Span{{From: 2020, To: math.Inf(1), Label: "forecast"}},
	})
}

func trace(n int, from, to, rate float64) (y []float64) {
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	for i := range n {
		y = append(y, to+(from-to)*math.Exp(-rate*float64(i))+(from-to)*0.004*rng.NormFloat64()*math.Exp(-rate*float64(i)/3))
	}
	return y
}

func traces() []viz.Curve {
	return []viz.Curve{
		{Name: "ML, exact", Y: trace(430, 3900, 1468.565, 0.02)},
		{Name: "VFE, m = 100", Y: trace(800, 4300, 1685.7, 0.011)},
		{Name: "PL, k = 100", Y: trace(600, 3500, 1471.2, 0.03)},
		{Name: "PL + residual", Y: trace(300, 3300, 1468.9, 0.05)},
	}
}

func loss() (*viz.Figure, error) {
	return viz.Loss(viz.CurvesOptions{
		Frame:  viz.Frame{Title: "Three of four methods end at the same loss", XLabel: "evaluations", YLabel: "exact NLL (nats)"},
		Curves: traces(),
		Rules:  []viz.Rule{{Y: 1440, Name: "at the true parameters"}},
	})
}

func lossTime() (*viz.Figure, error) {
	cs := traces()
	for i, c := range cs {
		for j := range c.Y {
			cs[i].X = append(cs[i].X, float64(j+1)*[]float64{0.29, 0.05, 0.0006, 0.0007}[i])
			cs[i].Y[j] -= 1440
		}
	}
	return viz.Loss(viz.CurvesOptions{
		Frame:  viz.Frame{Title: "PL is there before ML has made its first step", XLabel: "time (s)", YLabel: "excess NLL (nats)"},
		Curves: cs, LogX: true, LogY: true,
	})
}

func variance() (*viz.Figure, error) {
	var cs []viz.Curve
	for j, name := range []string{"ML", "VFE, m = 50", "PL, k = 50"} {
		c := viz.Curve{Name: name}
		for i := range 600 {
			x := float64(i) / 6
			v := 1e-3 * (1 + 0.5*math.Sin(x/3)) * []float64{1, 3, 1.05}[j]
			if x > 60 && x < 75 {
				v += (0.3 + 0.2*float64(j)) * math.Pow(math.Sin((x-60)*math.Pi/15), 4)
			}
			c.X, c.Y = append(c.X, x), append(c.Y, v)
		}
		cs = append(cs, c)
	}
	return viz.Variance(viz.CurvesOptions{
		Frame:  viz.Frame{Title: "Posterior variance of f: all three see the gap", XLabel: "time (s)", YLabel: "variance (µV²)"},
		Curves: cs, Spans: []viz.Span{{From: 60, To: 75, Label: "no data"}},
	})
}

func eigen(l float64, n int) (y []float64) {
	for i := range n {
		y = append(y, 900/l*math.Exp(-math.Pow(float64(i)*l/400, 2)*18)+1e-14)
	}
	return y
}

func spectrum() (*viz.Figure, error) {
	return viz.Spectrum(viz.CurvesOptions{
		Frame: viz.Frame{Title: "What projections leave unseen", XLabel: "index", YLabel: "eigenvalue"},
		Curves: []viz.Curve{
			{Name: "K", Y: eigen(3, 400)},
			{Name: "Σ, k = 50", Y: eigen(6, 400)},
			{Name: "Σ, k = 100", Y: eigen(9, 400)},
			{Name: "Σ, k = 200", Y: eigen(14, 400)},
		},
	})
}

func spectra() (*viz.Figure, error) {
	var figs []*viz.Figure
	for _, d := range []string{"Sphere", "Repulsive", "Localised", "One-hot"} {
		f, err := viz.Spectrum(viz.CurvesOptions{
			Frame:  viz.Frame{Title: d, XLabel: "index", YLabel: "eigenvalue"},
			Curves: []viz.Curve{{Name: "K", Y: eigen(3, 400)}, {Name: "Σ, k = 50", Y: eigen(6, 400)}, {Name: "Σ, k = 200", Y: eigen(14, 400)}},
		})
		if err != nil {
			return nil, err
		}
		figs = append(figs, f)
	}
	return viz.Grid(2, 2, viz.GridOptions{
		Frame:  viz.Frame{Title: "Eigenvalues of K and of the conditional covariance Σ", XLabel: "index", YLabel: "eigenvalue"},
		ShareX: true, ShareY: true,
	}, figs...)
}

func times() (*viz.Figure, error) {
	n := []float64{500, 1000, 1500, 2000, 2500, 3000, 3500, 4000}
	var ml, pl []float64
	for _, v := range n {
		ml, pl = append(ml, 2e-10*v*v*v), append(pl, 0.0006+1e-8*v)
	}
	return viz.Curves(viz.CurvesOptions{
		Frame: viz.Frame{Title: "Time of one evaluation", XLabel: "observations n", YLabel: "time (s)"},
		LogX:  true, LogY: true,
		Curves: []viz.Curve{{Name: "exact, dense", X: n, Y: ml, Mark: viz.LineAndDots}, {Name: "PL, spectral", X: n, Y: pl, Mark: viz.LineAndDots}},
	})
}

// designs is the largest grid that a page of a laptop's width is to hold: six designs by three k.
func designs() (*viz.Figure, error) {
	var figs []*viz.Figure
	for _, k := range []int{50, 100, 200} {
		for i, d := range []string{"Sphere", "Repulsive", "Localised", "One-hot", "Spectral", "Eigen"} {
			f, err := viz.Spectrum(viz.CurvesOptions{
				Frame:  viz.Frame{Title: fmt.Sprintf("%s, k = %d", d, k), XLabel: "index", YLabel: "eigenvalue"},
				Curves: []viz.Curve{{Name: "K", Y: eigen(3, 2000)}, {Name: "Σ", Y: eigen(3+float64(k)/30*(1+0.2*float64(i)), 2000)}},
			})
			if err != nil {
				return nil, err
			}
			figs = append(figs, f)
		}
	}
	return viz.Grid(3, 6, viz.GridOptions{
		Frame:  viz.Frame{Title: "Six designs by three k", XLabel: "index", YLabel: "eigenvalue", Width: 940, Height: 560},
		ShareX: true, ShareY: true,
	}, figs...)
}

// figure3 is E2 as the paper has it: loss against time, a panel for each n, with published points beside.
func figure3() (*viz.Figure, error) {
	rng := rand.New(rand.NewPCG(5, 6))
	var figs []*viz.Figure
	for _, n := range []float64{500, 1000, 1500, 2000, 3000, 4000} {
		ml := 150 + 0.31*n
		group := func(name string, m viz.Marker, slot int, speed, penalty float64, hollow bool) viz.PointGroup {
			g := viz.PointGroup{Name: name, Marker: m, Slot: slot, Hollow: hollow}
			for _, k := range []float64{50, 100, 150} {
				t := speed * n * k * (0.7 + 0.6*rng.Float64()) / 3e4
				y := ml * (1 + penalty*math.Exp(-k/60)*(0.6+0.8*rng.Float64()))
				p := viz.Point{X: t, Y: y, Label: fmt.Sprint(k)}
				if !hollow {
					p.XLo, p.XHi, p.YLo, p.YHi = t*0.8, t*1.3, ml+(y-ml)*0.7, ml+(y-ml)*1.5
				}
				g.Points = append(g.Points, p)
			}
			return g
		}
		f, err := viz.Scatter(viz.ScatterOptions{
			Frame: viz.Frame{Title: fmt.Sprintf("n = %g", n), XLabel: "time (s)", YLabel: "exact NLL (nats)"},
			LogX:  true, LogY: true,
			Groups: []viz.PointGroup{
				group("VFE, published", viz.Square, viz.Vermillion, 6, 1.6, true),
				group("PL, published", viz.Triangle, viz.Blue, 4, 1.5, true),
				{Name: "ML, published", Marker: viz.Star, Slot: viz.Orange, Hollow: true, Points: []viz.Point{{X: n * n / 3e4, Y: ml * 1.02}}},
				group("VFE", viz.Square, viz.Vermillion, 2, 1.4, false),
				group("PL", viz.Triangle, viz.Blue, 0.2, 1.3, false),
				{Name: "ML", Marker: viz.Star, Slot: viz.Orange, Points: []viz.Point{{X: n * n / 6e4, Y: ml, XLo: n * n / 7e4, XHi: n * n / 5e4}}},
			},
			Rules: []viz.Rule{{Y: ml, Slot: viz.Orange}},
		})
		if err != nil {
			return nil, err
		}
		figs = append(figs, f)
	}
	return viz.Grid(2, 3, viz.GridOptions{Frame: viz.Frame{
		Title: "PL comes within a few nats of ML at a hundredth of the time", XLabel: "time (s)", YLabel: "exact NLL (nats)",
		Caption: "Exact NLL against time, set-up included, with k or m beside each point: medians of ten seeds with quartiles, and published points, pale. Made-up numbers.",
		Height:  600,
	}}, figs...)
}

// runs makes n values that are at least from, most of them near it.
func runs(seed uint64, n int, from, scale, tail float64) (v []float64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		v = append(v, from+scale*math.Exp(tail*rng.NormFloat64()))
	}
	return v
}

func strips() (*viz.Figure, error) {
	failed := runs(4, 20, 337, 25, 0.9)
	failed[3], failed[7] = math.NaN(), math.Inf(1)
	return viz.Strips(viz.StripsOptions{
		Frame: viz.Frame{
			Title:  "Over twenty seeds PL is worse than published, PL with the residual as good as ML",
			XLabel: "method, optimiser", YLabel: "exact NLL (nats)", Caption: "Made-up numbers.",
		},
		Strips: []viz.Strip{
			{Name: "ML, BFGS", Values: runs(1, 20, 337.3, 0.3, 0.4), Marks: []float64{337.4}, Slot: viz.Orange},
			{Name: "VFE, BFGS", Values: runs(2, 20, 340, 16, 0.3), Marks: []float64{358.5}, Slot: viz.Vermillion},
			{Name: "PL, BFGS", Values: failed, Marks: []float64{349.4}, Slot: viz.Blue},
			{Name: "PL, Adam", Values: runs(3, 20, 337, 18, 0.9), Marks: []float64{347}, Slot: viz.Blue},
			{Name: "PL + residual, L-BFGS", Values: runs(5, 20, 337.3, 0.5, 0.4), Slot: viz.Green},
		},
		Rules: []viz.Rule{{Y: 337.4, Name: "published ML"}}, YRange: [2]float64{330, 420},
	})
}

func stripsLog() (*viz.Figure, error) {
	return viz.Strips(viz.StripsOptions{
		Frame: viz.Frame{Title: "A hundred seeds each: PL run to its minimum loses the noise", XLabel: "training", YLabel: "excess NLL over ML (nats)"},
		LogY:  true, Each: "one seed",
		Strips: []viz.Strip{
			{Name: "PL, stopped early", Values: runs(1, 100, 0, 30, 1), Slot: viz.Blue},
			{Name: "PL, converged", Values: runs(2, 100, 0, 300, 2.5), Slot: viz.Sky},
			{Name: "PL + residual", Values: runs(5, 100, -0.05, 0.4, 1), Slot: viz.Green},
		},
	})
}

// kernels are strips in panels on one axis.
func kernels() (*viz.Figure, error) {
	var figs []*viz.Figure
	for i, k := range []string{"SE", "Laplace", "RQ", "LocPer"} {
		f, err := viz.Strips(viz.StripsOptions{
			Frame: viz.Frame{Title: k, XLabel: "method", YLabel: "exact NLL (nats)"},
			Strips: []viz.Strip{
				{Name: "VFE", Values: runs(uint64(i), 10, 1650, 40, 0.5), Marks: []float64{1765}, Slot: viz.Vermillion},
				{Name: "PL", Values: runs(uint64(i+9), 10, 1500, 60, 0.7), Marks: []float64{1588.7}, Slot: viz.Blue},
				{Name: "PL + residual", Values: runs(uint64(i+19), 10, 1500, 1, 0.2), Slot: viz.Green},
			},
		})
		if err != nil {
			return nil, err
		}
		figs = append(figs, f)
	}
	return viz.Grid(1, 4, viz.GridOptions{
		Frame:  viz.Frame{Title: "Four kernels on the sunspots", XLabel: "method", YLabel: "exact NLL (nats)", Height: 360},
		ShareY: true,
	}, figs...)
}

func tables() []*viz.Table {
	few := runs(9, 20, 1468, 30, 0.5)
	few[2] = math.NaN()
	return []*viz.Table{{
		Caption: "Spreads and verdicts",
		Columns: []viz.Column{
			{Name: "kernel"}, {Name: "method"}, {Name: "published", Unit: "nats", Format: viz.Fixed(1)},
			{Name: "ours", Unit: "nats", Format: viz.Fixed(1), Best: viz.Min}, {Name: "time", Format: viz.Seconds, Best: viz.Min}, {Name: "verdict"},
		},
		Rows: [][]any{
			{"LocPer", "ML", 1510.357, 1468.565, 127.0, viz.Better},
			{"LocPer", "VFE, m = 100", 1769.835, viz.SpreadOf(runs(1, 20, 1680, 4, 0.5), viz.Min), viz.SpreadOf(runs(2, 20, 3, 1, 1), viz.Min), viz.Corrected},
			{"LocPer", "PL, k = 100", 1547.013, viz.SpreadOf(few, viz.Min), viz.SpreadOf(runs(3, 20, 0.3, 0.1, 1), viz.Min), viz.Contradicted},
			{"SE", "ML", 1549.12, 1549.119, 190.0, viz.Reproduced},
			{"SE", "PL, k = 100", 1584.565, nil, nil, viz.NotRun},
			{"SE", "VFE, m = 100", nil, 1686.2, 6.5, viz.NotComparable},
		},
		Notes: []string{"Made-up numbers."},
	}, {
		Caption: "Sunspots: exact NLL at what each method learnt",
		Columns: []viz.Column{
			{Name: "kernel"}, {Name: "method"}, {Name: "NLL", Unit: "nats", Format: viz.Fixed(1), Best: viz.Min},
			{Name: "NMSE", Format: viz.Digits(3), Best: viz.Min}, {Name: "σ²"}, {Name: "evaluations"}, {Name: "time", Best: viz.Min},
		},
		Rows: [][]any{
			{"LocPer", "ML", 1468.565, 0.1021, 0.0712, 430, 127 * time.Second},
			{"LocPer", "VFE, m = 100", 1685.71, 0.1534, 0.113, 800, 41200 * time.Millisecond},
			{"LocPer", "PL, k = 100", 1471.2, 0.1033, 0.0698, 600, 361 * time.Millisecond},
			{"SE", "PL, k = 100", math.NaN(), nil, -2.1e-7, 12, 5 * time.Microsecond},
		},
		Notes: []string{"NMSE: ‖μ − y‖² / ‖y‖². Times include set-up."},
	}}
}
