// Command optima compares what auto.Fit finds with the best of many random restarts, for 30 kinds of series and 8 kernels:
//
//	go run ./measure/optima
//	go run ./measure/optima -quick -seed 3
//	go run ./measure/optima -named
//
// With -named it compares what gppl fit --kernel finds (forecast.Fit) for the kernels with a season, with the better of auto.Fit and the
// restarts, and marks ! what loses more than ten nats without a doubt.
//
// It prints how many nats auto.Fit ends above the best of the restarts, pair by pair, marked ? where auto.Fit calls its result
// doubtful and ! where it loses more than a nat and calls it converged. The reference trains the exact likelihood from starts
// that are log-uniform in a wide box, without any knowledge of the series but its range, its spacing and its power. Nothing is
// stored: all is computed anew, from seeds. It exits with 1 if any pair is marked !.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

func main() {
	var (
		quick    = flag.Bool("quick", false, "a quarter of the pairs, 10 restarts")
		seed     = flag.Uint64("seed", 1, "of the series and of the restarts")
		restarts = flag.Int("restarts", 30, "random starts of the reference")
		atOnce   = flag.Int("workers", runtime.NumCPU(), "pairs at the same time")
		verbose  = flag.Bool("v", false, "print both models of every pair that loses more than a nat")
		named    = flag.Bool("named", false, "the path of named kernels, for kernels with a season")
		only     = flag.String("only", "", "only pairs whose name, \"kind × kernel\", contains this")
	)
	flag.Parse()
	pairs := allPairs(*seed, *named)
	if *quick {
		pairs = quarter(pairs)
		*restarts = min(*restarts, 10)
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool { return !strings.Contains(p.String(), *only) })
	outcomes := make([]outcome, len(pairs))
	workers.Each(*atOnce, len(pairs), func(i int) {
		outcomes[i] = pairs[i].compare(*restarts)
		fmt.Fprintf(os.Stderr, "%s: %v\n", pairs[i], outcomes[i])
	})
	silent := table(os.Stdout, pairs, outcomes, *named, *verbose)
	if silent > 0 {
		os.Exit(1)
	}
}

// A pair is a kernel to be trained on a series.
type pair struct {
	kind, kernel string
	family       gppl.Kernel
	of           kind
	seed         uint64
	named        bool // trained as a named kernel of the command
}

func (p pair) String() string { return p.kind + " × " + p.kernel }

// families are the kernels, under the names that the table gives them; seasonal those with a season.
func families(seasonal bool) (names []string, kernels []gppl.Kernel) {
	if seasonal {
		return []string{"Periodic", "LocPer", "SpectralMixture", "SE + Periodic", "SE + LocPer"},
			[]gppl.Kernel{gppl.Periodic{}, gppl.LocPer{}, gppl.SpectralMixture{}, gppl.Add(gppl.SE{}, gppl.Periodic{}), gppl.Add(gppl.SE{}, gppl.LocPer{})}
	}
	return []string{"SE", "Laplace", "Matern32", "Matern52", "RQ", "Periodic", "LocPer", "SE+Periodic"},
		[]gppl.Kernel{gppl.SE{}, gppl.Laplace{}, gppl.Matern32{}, gppl.Matern52{}, gppl.RQ{}, gppl.Periodic{}, gppl.LocPer{}, gppl.Add(gppl.SE{}, gppl.Periodic{})}
}

// allPairs lists them kind by kind.
func allPairs(seed uint64, named bool) (pairs []pair) {
	names, kernels := families(named)
	for i, k := range kinds() {
		for j, name := range names {
			pairs = append(pairs, pair{kind: k.name, kernel: name, family: kernels[j], of: k, seed: seed*1000 + uint64(i), named: named})
		}
	}
	return pairs
}

// quarter keeps every kind and every kernel, but not every pair.
func quarter(pairs []pair) (some []pair) {
	names, _ := families(pairs[0].named)
	for i, p := range pairs {
		if (i/len(names)+i%len(names))%4 == 0 {
			some = append(some, p)
		}
	}
	return some
}

// An outcome says what both found.
type outcome struct {
	err      error
	found    *gppl.Result
	text     fmt.Stringer // of the whole result
	exact    float64      // the exact likelihood at what auto.Fit found
	best     float64      // of the restarts
	bestAt   string
	agree    int // restarts that ended within 0.1 nats of the best
	lost     float64
	silent   bool
	doubtful bool
}

func (o outcome) String() string {
	if o.err != nil {
		return o.err.Error()
	}
	return fmt.Sprintf("lost %.2f nats, %s", o.lost, o.found.Status)
}

// compare trains both ways.
func (p pair) compare(restarts int) (o outcome) {
	d, err := p.of.series(p.seed)
	if err != nil {
		return outcome{err: err}
	}
	found, err := auto.Fit(context.Background(), gppl.Model{Kernel: p.family}, d, auto.Settings{})
	if err != nil {
		return outcome{err: err}
	}
	o.found, o.text = found.Result, found
	exact, err := gppl.NewExact(o.found.Model, d)
	if err != nil {
		return outcome{err: err}
	}
	if o.exact, o.err = exact.ValueGrad(nil, o.found.Model.Values()); o.err != nil {
		return o
	}
	o.best, o.bestAt, o.agree = reference(p, d, restarts)
	most := 1.0
	if p.named {
		most = 10
		if o.exact < o.best {
			o.best, o.bestAt, o.agree = o.exact, o.found.Model.String(), 1
		}
		var x []float64
		for i := range d.Len() {
			x = append(x, d.X.At(i)[0])
		}
		a, err := forecast.Fit(context.Background(), &forecast.Series{X: x, Y: d.Y, Step: span / points},
			forecast.Options{Kernels: []string{p.kernel}, Trend: "none", Log: "never"})
		if err != nil {
			return outcome{err: err}
		}
		o.found, o.text, o.exact = a.Result, a.Result, a.NLL()+float64(d.Len())*math.Log(a.Scaling.Scale)
	}
	o.lost = o.exact - o.best
	o.doubtful = o.found.Status != gppl.Converged && o.found.Status != gppl.Stopped
	o.silent = o.lost > most && !o.doubtful
	return o
}

// reference returns the best of many trainings of the exact likelihood from random starts, and how many of them ended there.
func reference(p pair, d gppl.Data, restarts int) (best float64, at string, agree int) {
	lo, hi := d.X.Range(0)
	spacing := (hi - lo) / float64(d.Len())
	var power float64
	for _, v := range d.Y {
		power += v * v / float64(d.Len())
	}
	box := func(p gppl.Param) (from, to float64) {
		switch {
		case p.Name == gppl.NoiseName:
			return 1e-4 * power, power
		case p.Unit == "y²":
			return 1e-2 * power, 1e2 * power
		case p.Role == gppl.RolePeriod:
			return 2 * spacing, hi - lo
		case p.Unit == "x":
			return spacing / 2, 2 * (hi - lo)
		}
		return 0.1, 10
	}
	rnd := rand.New(rand.NewPCG(p.seed, 12))
	m := gppl.Model{Kernel: p.family}
	var ends []float64
	best = math.Inf(1)
	for range restarts {
		var theta []float64
		for _, q := range m.Params() {
			from, to := box(q)
			theta = append(theta, from*math.Pow(to/from, rnd.Float64()))
		}
		loss, err := gppl.NewExact(m.WithParams(theta), d)
		if err != nil {
			continue
		}
		r, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{NoStandardErrors: true, MaxEvaluations: 200, GradientTolerance: 1e-3})
		if err != nil {
			continue // a start where the likelihood cannot be computed
		}
		ends = append(ends, r.Value)
		if r.Value < best {
			best, at = r.Value, r.Model.String()
		}
	}
	for _, v := range ends {
		if v < best+0.1 {
			agree++
		}
	}
	return best, at, agree
}

// table prints the losses and returns the number of silent ones.
func table(to io.Writer, pairs []pair, outcomes []outcome, named, verbose bool) (silent int) {
	names, _ := families(named)
	what := "auto.Fit"
	if named {
		what = "the named kernel"
	}
	lost := make(map[[2]string]string)
	var rows []string
	var large, doubtful, better, failed int
	for i, p := range pairs {
		o := outcomes[i]
		cell := fmt.Sprintf("%.1f", o.lost)
		switch {
		case o.err != nil:
			cell, failed = "error!", failed+1
		case o.silent:
			cell, silent = cell+"!", silent+1
		case o.doubtful:
			cell, doubtful = cell+"?", doubtful+1
		}
		if o.err != nil || o.lost > 1 {
			large++
		}
		if o.lost < -1 {
			better++
		}
		lost[[2]string{p.kind, p.kernel}] = cell
		if !slices.Contains(rows, p.kind) {
			rows = append(rows, p.kind)
		}
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "nats above the best\t%s\t\n", strings.Join(names, "\t"))
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t", row)
		for _, name := range names {
			fmt.Fprintf(w, "%s\t", lost[[2]string{row, name}])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Fprintf(to, "%d pairs: %d lose more than 1 nat, %d of them silently; %d doubtful in all; %s is more than 1 nat better in %d; %d errors\n",
		len(pairs), large, silent, doubtful, what, better, failed)
	if verbose {
		for i, p := range pairs {
			if o := outcomes[i]; o.err != nil {
				fmt.Fprintf(to, "\n%s: %v\n", p, o.err)
			} else if o.lost > 1 {
				fmt.Fprintf(to, "\n%s: best %.3f by %d restarts: %v\n%v\n", p, o.best, o.agree, o.bestAt, o.text)
			}
		}
	}
	return silent + failed
}
