// Command forecasting judges the automatic policy of package analysis, the one of gppl fit, on series of the competitions M3
// and M4 (Makridakis and Hibon 2000; Makridakis, Spiliotis and Assimakopoulos 2020), beside seasonal naive:
//
//	GPPL_DATA=… go run ./internal/forecasting -sample -store internal/forecasting             # what docs/forecasts.md tells of
//	GPPL_DATA=… go run ./internal/forecasting -group m3-monthly,m4-hourly -half test -limit 60 -out results.json
//
// Each series is learnt from its training part alone and forecast over its test part. The policy is developed on the even
// series (-half dev) and reported on the odd ones (-half test). Series whose training part is constant are counted and left
// out. Where an error cannot be scaled (MASE), the series does not count in that mean.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/competition"
)

func main() {
	log.SetFlags(0)
	names := flag.String("group", strings.Join(competition.Names(), ","), "groups, separated by commas")
	limit := flag.Int("limit", 0, "series of each group at most, chosen at random; 0 means all")
	seed := flag.Uint64("seed", 1, "of the choice")
	half := flag.String("half", "test", "dev, the even series; test, the odd ones; all")
	workers := flag.Int("workers", runtime.NumCPU(), "series at a time")
	sample := flag.Bool("sample", false, "the series that the stored results are of, in place of -limit: 60 of each group of M3, 16 of each of M4")
	store := flag.String("store", "", "put the results in their places in the records of this folder, internal/forecasting: results.json and series.jsonl")
	out := flag.String("out", "", "write the results to this file as JSON")
	verbose := flag.Bool("v", false, "a line for each series")
	backtest := flag.Bool("trust", true, "backtest each series, to see what is warned against")
	details := flag.String("details", "", "write what became of each series to this file, one line of JSON each")
	exportTo := flag.String("export", "", "write the series of the one group to this file, for scripts/rivals.py, and do no more")
	rivals := flag.String("score", "", "score the forecasts in this file, as scripts/rivals.py writes them, and add them to -out")
	flag.Parse()
	folder := os.Getenv("GPPL_DATA")
	if folder == "" {
		log.Fatal("forecasting: set GPPL_DATA to the folder that has forecast/m3.csv and the M4 files")
	}
	folder = filepath.Join(folder, "forecast")
	if *exportTo != "" || *rivals != "" {
		if err := meetRivals(folder, *names, *half, *limit, *seed, *exportTo, *rivals, *out); err != nil {
			log.Fatal("forecasting: ", err)
		}
		return
	}
	loaded, err := competition.Load(folder, strings.Split(*names, ","))
	if err != nil {
		log.Fatal("forecasting: ", err)
	}
	var results []competition.Summary
	var each []competition.Detail
	fmt.Println(header)
	for _, g := range loaded {
		if *sample {
			*limit = g.Sample
		}
		g.Series, err = choose(g.Series, *half, *limit, *seed)
		if err != nil {
			log.Fatal("forecasting: ", err)
		}
		s, found := judge(context.Background(), g, *workers, *backtest, *verbose)
		each = append(each, found...)
		s.Half, s.Seed = *half, *seed
		fmt.Println(line(s))
		results = append(results, s)
	}
	if *out != "" {
		if err := competition.WriteJSON(*out, results); err != nil {
			log.Fatal("forecasting: ", err)
		}
	}
	if *store != "" {
		if err := competition.StoreResults(*store, results, each); err != nil {
			log.Fatal("forecasting: ", err)
		}
	}
	if *details != "" {
		if err := competition.WriteDetails(*details, each); err != nil {
			log.Fatal("forecasting: ", err)
		}
	}
}

// meetRivals exports the one group that is named, or scores the forecasts in a file.
func meetRivals(folder, names, half string, limit int, seed uint64, exportTo, forecasts, out string) error {
	var r rivalForecasts
	if forecasts != "" {
		text, err := os.ReadFile(forecasts)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return err
		}
		names, limit = r.Group, r.Limit
	}
	loaded, err := competition.Load(folder, []string{names})
	if err != nil {
		return err
	}
	g := loaded[0]
	if g.Series, err = choose(g.Series, half, limit, seed); err != nil {
		return err
	}
	if exportTo != "" {
		return export(exportTo, g)
	}
	result, err := scoreRival(g, r)
	if err != nil {
		return err
	}
	result.Half, result.Seed = half, seed
	fmt.Println(rivalLine(result))
	if out == "" {
		return nil
	}
	return competition.StoreRival(out, result)
}

// choose returns the series of one half, at most limit of them, in their order.
func choose(all []competition.Series, half string, limit int, seed uint64) (out []competition.Series, err error) {
	for i, s := range all {
		switch half {
		case "all":
		case "dev":
			if i%2 == 0 { // the first is series 1
				continue
			}
		case "test":
			if i%2 == 1 {
				continue
			}
		default:
			return nil, fmt.Errorf("-half %q: dev, test or all", half)
		}
		out = append(out, s)
	}
	if limit > 0 && limit < len(out) {
		keep := make([]bool, len(out))
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(out))[:limit] {
			keep[i] = true
		}
		var some []competition.Series
		for i, s := range out {
			if keep[i] {
				some = append(some, s)
			}
		}
		out = some
	}
	return out, nil
}

// judge forecasts the series of a group, several at a time.
func judge(ctx context.Context, g competition.Group, workers int, backtest, verbose bool) (competition.Summary, []competition.Detail) {
	began := time.Now()
	outcomes := make([]outcome, len(g.Series))
	next := make(chan int)
	var wait sync.WaitGroup
	for range max(1, workers) {
		wait.Go(func() {
			for i := range next {
				outcomes[i] = one(ctx, g, g.Series[i], backtest)
				if verbose {
					fmt.Fprintln(os.Stderr, outcomes[i])
				}
			}
		})
	}
	for i := range g.Series {
		next <- i
	}
	close(next)
	wait.Wait()
	s := summarise(g, outcomes)
	s.Seconds = time.Since(began).Seconds()
	return s, detailsOf(g, outcomes)
}
