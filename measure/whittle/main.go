// Command whittle compares the debiased Whittle likelihood with the exact and the projected one over draws of a known model: bias
// and spread of the estimates, how often intervals of 95 % cover the truth, and the processor time of a training from the truth.
// What it computes is stored in notebooks/results/whittle-bias.jsonl, which notebook 17 shows, and not computed again.
//
//	go run ./measure/whittle                               # prints what is stored
//	go run ./measure/whittle -draws 500                    # computes all kernels and lengths: hours
//	go run ./measure/whittle -draws 500 -n 512 -kernel SE  # computes one of them
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// truths are the models, by name, from which series with a step of 1 are drawn.
var truths = map[string]gppl.Model{
	"SE":       {Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1},
	"Matern32": {Kernel: gppl.Matern32{Variance: 1, Lengthscale: 5}, Noise: 0.1},
	"LocPer":   {Kernel: gppl.LocPer{Variance: 1, Lengthscale: 30, Period: 12, PeriodicLengthscale: 1}, Noise: 0.1},
}

// projections is the k of PL, with Sphere as the paper draws it.
const projections = 100

// methods make a loss of the data.
var methods = map[string]func(ctx context.Context, m gppl.Model, d gppl.Data, seed uint64) (gppl.Loss, error){
	"exact": func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewExact(ctx, m, d)
	},
	"Whittle": func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{})
	},
	"Whittle NW=4": func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Taper: 4})
	},
	"Whittle 1953": func(ctx context.Context, m gppl.Model, d gppl.Data, _ uint64) (gppl.Loss, error) {
		return gppl.NewWhittle(ctx, m, d, gppl.WhittleOptions{Density: true})
	},
	"PL": func(ctx context.Context, m gppl.Model, d gppl.Data, seed uint64) (gppl.Loss, error) {
		p, err := gppl.NewProjection(ctx, gppl.Sphere{}, d.X, min(projections, d.Len()/2), seed)
		if err != nil {
			return nil, err
		}
		return gppl.NewProjected(ctx, m, d, p)
	},
}

// trial is a method on draws 0, 1, … of a series with N places, some of them empty.
type trial struct {
	Kernel string  `json:"kernel"`
	N      int     `json:"n"`
	Gaps   float64 `json:"gaps"`
	Method string  `json:"method"`
	Draws  int     `json:"draws"`
}

func (t trial) String() string {
	return fmt.Sprintf("%s, n = %d, %g %% empty, %s", t.Kernel, t.N, 100*t.Gaps, t.Method)
}

// summary is the result of a method for each parameter, over the draws that did not diverge.
type summary struct {
	Bias    []float64 `json:"bias"`    // bias of the log of each parameter
	Spread  []float64 `json:"spread"`  // standard deviation of the log
	Covered []int     `json:"covered"` // intervals of 95 % that contain the truth
	Known   []int     `json:"known"`   // intervals

	Diverged int     `json:"diverged,omitempty"` // draws with a parameter beyond 100 times the truth or a hundredth of it
	Training float64 `json:"training_ms"`        // median processor time of a training from the truth, set-up included
	Errors   float64 `json:"errors_ms"`          // and of the standard errors
	Machine  string  `json:"machine"`
}

func main() {
	log.SetFlags(0)
	draws := flag.Int("draws", 0, "number of draws for each row; 0 prints what is stored")
	lengths := flag.String("n", "128,512,2048,8192", "places of the series, separated by commas")
	kernels := flag.String("kernel", "SE,Matern32,LocPer", "kernels, separated by commas")
	gaps := flag.String("gaps", "0,0.2", "shares of places that are empty, separated by commas")
	of := flag.String("method", "exact,Whittle,PL", "methods, separated by commas: also Whittle NW=4 and Whittle 1953")
	folder := flag.String("folder", "notebooks/results", "folder of whittle-bias.jsonl")
	flag.Parse()
	var trials []trial
	for _, kernel := range strings.Split(*kernels, ",") {
		for _, n := range strings.Split(*lengths, ",") {
			for _, share := range strings.Split(*gaps, ",") {
				for _, method := range strings.Split(*of, ",") {
					t := trial{Kernel: kernel, Method: method, Draws: *draws}
					var err, wrong error
					t.N, err = strconv.Atoi(n)
					t.Gaps, wrong = strconv.ParseFloat(share, 64)
					if err := cmp.Or(err, wrong); err != nil {
						log.Fatal(err)
					}
					if truths[kernel].Kernel == nil || methods[method] == nil {
						log.Fatalf("whittle: no kernel %q or no method %q", kernel, method)
					}
					trials = append(trials, t)
				}
			}
		}
	}
	stored := experiment.Survey[trial, summary]{Name: "whittle-bias", Folder: *folder, Compute: compute, Workers: 1,
		Progress: func(p experiment.Progress[trial]) { fmt.Fprintf(os.Stderr, "%v\n", p) }}
	if *draws > 0 {
		if _, err := stored.Run(machine.UntilSignal(), trials); err != nil {
			log.Fatal(err)
		}
	}
	rows, results, err := stored.Stored()
	if err != nil {
		log.Fatal(err)
	}
	table(rows, results)
}

// compute trains on each of the draws.
func compute(ctx context.Context, t trial) (s summary, err error) {
	truth := truths[t.Kernel]
	values := truth.Values()
	logs := make([][]float64, len(values))
	s = summary{Covered: make([]int, len(values)), Known: make([]int, len(values)),
		Machine: machine.CPU()}
	var training, errors []float64
	for i := range t.Draws {
		d, err := drawn(ctx, truth, t.N, t.Gaps, uint64(i))
		if err != nil {
			return s, err
		}
		r, took, err := fitted(ctx, t.Method, truth, d, uint64(i), gppl.Settings{NoStandardErrors: true})
		if err != nil {
			return s, fmt.Errorf("draw %d: %w", i, err)
		}
		training = append(training, took)
		if diverged(r, values) {
			s.Diverged++
			continue
		}
		if r, took, err = fitted(ctx, t.Method, r.Model, d, uint64(i), gppl.Settings{}); err != nil {
			return s, fmt.Errorf("draw %d, standard errors: %w", i, err)
		}
		errors = append(errors, took)
		for a, p := range r.Params {
			off := math.Log(p.Value / values[a])
			logs[a] = append(logs[a], off)
			if p.StdErrLog > 0 && !math.IsInf(p.StdErrLog, 1) {
				s.Known[a]++
				if math.Abs(off) < 1.96*p.StdErrLog {
					s.Covered[a]++
				}
			}
		}
	}
	for _, v := range logs {
		bias, spread := moments(v)
		s.Bias, s.Spread = append(s.Bias, text.Rounded(bias, 4)), append(s.Spread, text.Rounded(spread, 4))
	}
	s.Training, s.Errors = text.Rounded(1000*median(training), 3), text.Rounded(1000*median(errors), 3)
	return s, nil
}

// fitted trains a method from m, and returns the processor time.
func fitted(ctx context.Context, method string, m gppl.Model, d gppl.Data, seed uint64, s gppl.Settings) (*gppl.Result, float64,
	error) {
	began := machine.ProcessorSeconds()
	loss, err := methods[method](ctx, m, d, seed)
	if err != nil {
		return nil, 0, err
	}
	r, err := gppl.Fit(ctx, loss, nil, s)
	return r, machine.ProcessorSeconds() - began, err
}

// diverged reports whether a parameter is in a corner of the likelihood.
func diverged(r *gppl.Result, truth []float64) bool {
	for i, p := range r.Params {
		if !(math.Abs(math.Log(p.Value/truth[i])) < math.Log(100)) {
			return true
		}
	}
	return false
}

// drawn returns a draw of m at n places; a share of them is empty.
func drawn(ctx context.Context, m gppl.Model, n int, gaps float64, seed uint64) (gppl.Data, error) {
	rnd := rand.New(rand.NewPCG(seed, 18))
	var x []float64
	for i := range n {
		if i == 0 || i == n-1 || rnd.Float64() >= gaps {
			x = append(x, float64(i))
		}
	}
	draw, err := m.Sample(ctx, gppl.Scalars(x), seed)
	return gppl.Data{X: gppl.Scalars(x), Y: draw.Y}, err
}

func moments(v []float64) (mean, spread float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		spread += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(spread)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// table prints a row for each trial: of each parameter the bias and the spread of its log.
func table(rows []trial, results []summary) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kernel\tn\tempty\tmethod\tdraws\tdiverged\tcovered\ttraining ms\terrors ms\t"+
		"bias ± spread of the log of each parameter")
	order := timeline.Range(0, len(rows))
	slices.SortFunc(order, func(i, j int) int {
		a, b := rows[i], rows[j]
		return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.N, b.N), cmp.Compare(a.Gaps, b.Gaps),
			cmp.Compare(a.Method, b.Method), cmp.Compare(a.Draws, b.Draws))
	})
	for _, i := range order {
		t, s := rows[i], results[i]
		covered, known := 0, 0
		for a := range s.Known {
			covered, known = covered+s.Covered[a], known+s.Known[a]
		}
		fmt.Fprintf(w, "%s\t%d\t%g %%\t%s\t%d\t%d\t%.1f %%\t%.3g\t%.3g\t", t.Kernel, t.N, 100*t.Gaps, t.Method, t.Draws, s.Diverged,
			100*float64(covered)/float64(max(1, known)), s.Training, s.Errors)
		for a, p := range truths[t.Kernel].Params() {
			if len(s.Bias) > a && s.Diverged < t.Draws {
				fmt.Fprintf(w, "%s %+.3f ± %.3f  ", p.Name, s.Bias[a], s.Spread[a])
			}
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
}
