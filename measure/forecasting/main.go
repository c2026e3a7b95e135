// Command forecasting compares the automatic policy of package forecast, which gppl fit uses, with seasonal naive. The series
// come from the competitions M3 and M4 (Makridakis and Hibon 2000; Makridakis, Spiliotis and Assimakopoulos 2020) and from
// the tourism competition (Athanasopoulos et al. 2011):
//
//	GPPL_DATA=… go run ./measure/forecasting -sample -store measure/forecasting    # the results of docs/forecasts.md
//	GPPL_DATA=… go run ./measure/forecasting -group m3-monthly,m4-hourly -half test -limit 60 -out results.json
//	GPPL_DATA=… go run ./measure/forecasting -half all -whole measure/forecasting  # all series, as others publish scores
//	GPPL_DATA=… go run ./measure/forecasting -wander -limit 20 -prices prices.csv  # long series against the last value
//
// Each series is learnt from its training part alone and forecast over its test part. The policy is developed on the even series
// of M3 and M4 (-half dev) and reported on the odd ones (-half test) and on the tourism series. Series whose training part is
// constant are counted and left out. If an error cannot be scaled (MASE), the mean leaves that series out.
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
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/measure/competition"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
)

// endOn ends the program if err is not nil.
func endOn(err error) {
	if err != nil {
		log.Fatal("forecasting: ", err)
	}
}

func main() {
	log.SetFlags(0)
	names := flag.String("group", strings.Join(competition.Developed(), ","),
		"groups, separated by commas, of "+strings.Join(competition.Names(), ","))
	var which selection
	flag.IntVar(&which.limit, "limit", 0, "series of each group at most, chosen at random; 0 means all")
	flag.Uint64Var(&which.seed, "seed", 1, "of the choice")
	flag.StringVar(&which.half, "half", "test", "dev, the even series; test, the odd ones; all")
	workers := flag.Int("workers", runtime.NumCPU(), "series at a time")
	flag.BoolVar(&which.sample, "sample", false, "the series that the stored results are of, in place of -limit: 60 yearly, "+
		"quarterly and monthly, all other and weekly, and 16 hourly ones")
	store := flag.String("store", "", "put the results in their places in the records of this folder, measure/forecasting: "+
		"results.json and series.jsonl")
	whole := flag.String("whole", "", "put the results, which must be of -half all, in their places in whole.json of this folder")
	out := flag.String("out", "", "write the results to this file as JSON")
	verbose := flag.Bool("v", false, "a line for each series")
	backtest := flag.Bool("trust", true, "backtest each series, to see what the verdict warns of")
	details := flag.String("details", "", "write what became of each series to this file, one line of JSON each")
	shifts := flag.String("shifts", "", "what becomes of changes of level that the series show, as of "+
		"gppl fit: auto, use, report or never")
	wander := flag.Bool("wander", false, "series of at least 1000 observations beside the last value, from four origins, 100 "+
		"steps ahead: those of M4 Weekly, of -prices, and simulated walks")
	prices := flag.String("prices", "", "with -wander, a csv file: each column is one more series, under "+
		"its name and the oldest value first")
	exportTo := flag.String("export", "", "write the series of the one group to this file, for scripts/rivals.py, and do no more")
	rivals := flag.String("score", "", "score the forecasts in this file, as scripts/rivals.py writes them, and add them to -out")
	flag.Parse()
	if *whole != "" && which.half != "all" {
		log.Fatal("forecasting: -whole is for -half all")
	}
	folder := os.Getenv("GPPL_DATA")
	if folder == "" {
		log.Fatal("forecasting: set GPPL_DATA to the folder that has forecast/m3.csv and the M4 files")
	}
	folder = filepath.Join(folder, "forecast")
	if *exportTo != "" || *rivals != "" {
		endOn(meetRivals(folder, *names, which, *exportTo, *rivals, *out))
		return
	}
	if *wander {
		*names = "m4-weekly"
	}
	loaded, err := competition.Load(folder, strings.Split(*names, ","))
	endOn(err)
	if *wander {
		loaded, err = wandering(loaded, *prices)
		endOn(err)
	}
	for i := range loaded {
		endOn(which.choose(&loaded[i]))
		if *wander {
			loaded[i] = atOrigins(loaded[i])
		}
	}
	var results []competition.Summary
	var each []competition.Detail
	fmt.Println(header)
	for _, g := range loaded {
		s, found := judged(context.Background(), g, forecast.Options{Periods: g.Periods, Shifts: *shifts}, *workers,
			*backtest, *verbose)
		each = append(each, found...)
		s.Half, s.Seed = which.half, which.seed
		fmt.Println(line(s))
		if *wander {
			reportWander(os.Stdout, found)
		}
		results = append(results, s)
		if *whole != "" {
			endOn(competition.StoreWhole(*whole, s))
		}
	}
	if *wander {
		reportKnown(os.Stdout)
	}
	printWords(each, words...)
	printWords(reworded(each, inShort), wouldWarn, wouldNot)
	printWords(reworded(each, byPast), useLow, useHigh, useFar)
	if *out != "" {
		endOn(competition.WriteJSON(*out, results))
	}
	if *store != "" {
		endOn(competition.StoreResults(*store, results, each))
	}
	if *details != "" {
		endOn(competition.WriteDetails(*details, each))
	}
}

// printWords prints how often the verdicts gave each word, and how many of these forecasts failed.
func printWords(all []competition.Detail, words ...string) {
	for _, w := range competition.Words(all, words...) {
		if w.Said == 0 {
			continue
		}
		share, lo, hi := w.Share()
		fmt.Printf("%q was said of %d of %d, and %d failed: %.0f %% (95 %% interval %.0f to %.0f)\n", w.Word, w.Said, len(all),
			w.Failed, 100*share, 100*lo, 100*hi)
	}
}

const (
	// short is the number of observations below which no verdict advises against a forecast. wouldWarn and wouldNot say what the
	// rules would say there.
	short               = 150
	wouldWarn, wouldNot = "do not use, if the series were not short", "nothing against it, short"
	// high and far are ratios of the past error to the error of the best naive forecast. A verdict may still be "use" above them
	// if chance explains the error.
	high, far               = 1.15, 1.5
	useLow, useHigh, useFar = "use, at most 1.15 times the naive error in the past", "use, 1.15 to 1.5 times",
		"use, more than 1.5 times"
)

// inShort returns what the rules would say about a short series; "" for a longer one.
func inShort(d competition.Detail) string {
	switch {
	case d.N >= short || d.Word == "":
		return ""
	case len(d.Reasons) > 0:
		return wouldWarn
	}
	return wouldNot
}

// byPast says in words how the past error of a forecast that can be used compares with the naive error; "" for other forecasts.
func byPast(d competition.Detail) string {
	switch {
	case d.Word != string(judge.Use):
		return ""
	case d.Relative > far:
		return useFar
	case d.Relative > high:
		return useHigh
	}
	return useLow
}

// reworded replaces the word of each series, and leaves out a series whose new word is "".
func reworded(all []competition.Detail, word func(competition.Detail) string) (some []competition.Detail) {
	for _, d := range all {
		if d.Word = word(d); d.Word != "" {
			some = append(some, d)
		}
	}
	return some
}

// meetRivals exports the single group in names, or scores the forecasts in a file.
func meetRivals(folder, names string, which selection, exportTo, forecasts, out string) error {
	var r rivalForecasts
	if forecasts != "" {
		text, err := os.ReadFile(forecasts)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return err
		}
		names = r.Group
	}
	loaded, err := competition.Load(folder, []string{names})
	if err != nil {
		return err
	}
	g := loaded[0]
	if err := which.choose(&g); err != nil {
		return err
	}
	if exportTo != "" {
		return export(exportTo, g)
	}
	result, err := scoreRival(g, r)
	if err != nil {
		return err
	}
	result.Half, result.Seed = which.half, which.seed
	fmt.Println(rivalLine(result))
	if out == "" {
		return nil
	}
	return competition.StoreRival(out, result)
}

// selection chooses the series of a group that are judged.
type selection struct {
	half   string // "dev", "test" or "all"
	limit  int    // largest number of series, which are chosen at random; 0 means all
	sample bool   // limit is the number of series in the stored results
	seed   uint64 // seed of the random choice
}

// choose keeps the series of the selection in their order.
func (s selection) choose(g *competition.Group) error {
	limit := s.limit
	if s.sample {
		limit = g.Sample
	}
	if s.half == "dev" && slices.Contains(competition.Names(), g.Name) && !slices.Contains(competition.Developed(), g.Name) {
		return fmt.Errorf("nothing is developed on %s: -half test or all", g.Name)
	}
	var all []competition.Series
	for i, series := range g.Series {
		switch odd := i%2 == 0; s.half { // index 0 is series 1
		case "all":
		case "dev":
			if odd {
				continue
			}
		case "test":
			if !odd {
				continue
			}
		default:
			return fmt.Errorf("-half %q: dev, test or all", s.half)
		}
		all = append(all, series)
	}
	g.Series = all
	if limit == 0 || limit >= len(all) {
		return nil
	}
	chosen := rand.New(rand.NewPCG(s.seed, 0)).Perm(len(all))[:limit]
	slices.Sort(chosen)
	g.Series = nil
	for _, i := range chosen {
		g.Series = append(g.Series, all[i])
	}
	return nil
}

// judged forecasts the series of a group, atOnce at a time, and returns the scores.
func judged(ctx context.Context, g competition.Group, options forecast.Options, atOnce int, backtest,
	verbose bool) (competition.Summary, []competition.Detail) {
	began := time.Now()
	outcomes := make([]outcome, len(g.Series))
	parallel.Each(atOnce, len(g.Series), func(i int) {
		outcomes[i] = one(ctx, g, g.Series[i], options, backtest)
		if verbose {
			fmt.Fprintln(os.Stderr, outcomes[i])
		}
	})
	s := summarise(g, outcomes)
	s.Seconds = time.Since(began).Seconds()
	return s, detailsOf(g, outcomes)
}
