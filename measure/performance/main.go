// Command performance measures the time and memory of the engines, and writes the figures and the generated parts of
// docs/performance.md:
//
//	go run ./measure/performance -out docs
//
// It takes some minutes on a machine that does nothing else; -quick is a trial in less than one. Everything is measured through
// the exported API in one run, so that ratios are reliable even if times are not. GPPL_DATA names the folder of
// SN_m_tot_V2.0.csv; without it a synthetic series is used.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "docs", "folder of performance.md and its figures")
	quick := flag.Bool("quick", false, "small sizes and few repetitions: less than a minute")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *quick); err != nil {
		log.Fatal(err)
	}
}

// plan has the sizes of the measurements.
type plan struct {
	quick          bool
	sizes          []float64 // n of the sweep against n
	lengthscales   []float64 // l of the sweep against l
	denseAt        []float64 // the few l at which the dense engine is timed, since its time does not depend on l
	n              int       // number of observations in the sweep against l
	rows           int       // number of observations in the table
	limit          float64   // largest predicted seconds of an evaluation
	settle, repeat time.Duration
}

func planFor(quick bool) plan {
	if quick {
		return plan{
			quick: true, sizes: []float64{1000, 4000, 16000}, lengthscales: []float64{0.05, 0.5, 5, 50, 500},
			denseAt: []float64{0.05, 500},
			n:       1000, rows: 1000, limit: 0.35, settle: 3 * time.Second, repeat: 100 * time.Millisecond,
		}
	}
	return plan{
		sizes:        []float64{1000, 2000, 4000, 8000, 20000, 50000, 100000},
		lengthscales: []float64{0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500}, denseAt: []float64{0.05, 5, 500},
		n: 4000, rows: 3319, limit: 4, settle: 40 * time.Second, repeat: 300 * time.Millisecond,
	}
}

func run(out string, quick bool) error {
	start := time.Now()
	if err := os.MkdirAll(out, 0o755); err != nil { // a wrong folder fails now rather than after all measurements
		return err
	}
	p := planFor(quick)
	m := ratesNow()
	log.Printf("%s: Gemm %.1f GF/s, triad %.1f GB/s", m.cpu, m.gemm, m.triad)

	againstN, err := sweepN(p)
	if err != nil {
		return err
	}
	againstL, err := sweepL(p)
	if err != nil {
		return err
	}
	rows, source, err := besideDense(p)
	if err != nil {
		return err
	}
	explained, err := explain(p)
	if err != nil {
		return err
	}
	end := ratesNow() // again, to detect that the machine changed its speed
	m.gemmEnd, m.triadEnd = end.gemm, end.triad

	if err := drawN(againstN, filepath.Join(out, "performance-n.svg")); err != nil {
		return err
	}
	if err := drawL(againstL, p.n, filepath.Join(out, "performance-lengthscale.svg")); err != nil {
		return err
	}
	took := time.Since(start)
	blocks := []block{
		{"machine", m.text(p, took)},
		{"explain", explained},
		{"against n", textN(againstN)},
		{"model", textModel(append(append([]sweep(nil), againstN...), againstL...))},
		{"beside dense", textCompare(rows, source)},
	}
	if err := update(filepath.Join(out, "performance.md"), blocks); err != nil {
		return err
	}
	log.Printf("done in %v", took.Round(time.Second))
	return nil
}

// progress prints a line to standard error.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
