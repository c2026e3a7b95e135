package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/measure/competition"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func fields(s *competition.Scores) []*float64 {
	return []*float64{&s.MASE, &s.SMAPE, &s.CRPS, &s.Cover80, &s.Cover95, &s.Width80, &s.Width95}
}

// outcome is the result for one series.
type outcome struct {
	id         string
	err        error
	model      string
	n          int
	own, naive competition.Scores
	loss       [2]float64 // numerators of WQL: own forecast, naive forecast
	size       float64    // Σ|y|
	trust      *judge.Trust
	seconds    float64
}

func (o outcome) String() string {
	if o.err != nil {
		return fmt.Sprintf("%-6s failed: %v", o.id, o.err)
	}
	var past, word string
	if t := o.trust; t != nil {
		word = string(t.Word)
		past = fmt.Sprintf("past: %.2f, error %.2f, spread %.2f, late %.2f, %d×%d", t.Coverage, t.Relative, t.Spread, t.Late,
			t.Origins,
			t.Horizon)
	}
	return fmt.Sprintf("%-6s n=%-5d MASE %6.2f (naive %6.2f) sMAPE %6.2f (%6.2f) CRPS %6.3f (%6.3f) 95 %% %4.2f %-10s %5.2f "+
		"s %s; %s",
		o.id, o.n, o.own.MASE, o.naive.MASE, o.own.SMAPE, o.naive.SMAPE, o.own.CRPS, o.naive.CRPS,
		o.own.Cover95, word, o.seconds, o.model, past)
}

// words are all words of verdicts.
var words = []string{string(judge.Use), string(judge.Untested), string(judge.DoNotUse)}

// levels are the levels of the quantiles from which the CRPS is computed.
var levels = func() []float64 {
	p := make([]float64, 100)
	for k := range p {
		p[k] = (float64(k) + 0.5) / 100
	}
	return p
}()

// score compares quantiles with the test part. The point forecast is the median.
func score(quantile func(p float64) []float64, train, test []float64, season int) (s competition.Scores) {
	scale := judge.Scale(train, season)
	point := quantile(0.5)
	s.MASE = judge.MAE(test, point) / scale
	s.SMAPE = judge.SMAPE(test, point)
	lo, hi := quantile(0.1), quantile(0.9)
	s.Cover80, s.Width80 = judge.Coverage(test, lo, hi), judge.Width(lo, hi)/scale
	lo, hi = quantile(0.025), quantile(0.975)
	s.Cover95, s.Width95 = judge.Coverage(test, lo, hi), judge.Width(lo, hi)/scale
	for _, v := range judge.CRPSQuantiles(test, quantile, levels) {
		s.CRPS += v / scale / float64(len(test))
	}
	return s
}

// deciles are the levels of WQL.
var deciles = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// quantileLoss sums 2·pinball over the steps, averaged over deciles.
func quantileLoss(quantile func(p float64) []float64, test []float64) (sum float64) {
	for _, p := range deciles {
		q := quantile(p)
		for i, y := range test {
			sum += 2 * judge.Pinball(y, q[i], p) / float64(len(deciles))
		}
	}
	return sum
}

// seriesOf returns the training part of a series; x counts steps.
func seriesOf(s competition.Series) (*series.Series, error) {
	return series.NewSeries(series.Axis{Name: "step"}, timeline.Steps(len(s.Train)), s.Train)
}

func one(ctx context.Context, g competition.Group, s competition.Series, options forecast.Options, backtest bool) (o outcome) {
	began := time.Now()
	o.id, o.n = s.ID, len(s.Train)
	naive, err := judge.SeasonalNaive(s.Train, g.Season, len(s.Test))
	if err != nil {
		o.err = err
		return o
	}
	o.naive = score(naive.Quantile, s.Train, s.Test, g.Season)
	o.loss[1] = quantileLoss(naive.Quantile, s.Test)
	for _, y := range s.Test {
		o.size += math.Abs(y)
	}
	o.err = func() error {
		data, err := seriesOf(s)
		if err != nil {
			return err
		}
		machine.CollectFor(len(data.X)) // gppl fit does the same
		a, err := forecast.Fit(ctx, data, options)
		if err != nil {
			return err
		}
		if backtest {
			if o.trust, err = judge.TestPast(ctx, a, judge.BacktestOptions{Horizon: len(s.Test)}); err != nil {
				return err
			}
			o.trust.Calibrate(a)
		}
		f, err := a.Forecast(ctx, len(s.Test))
		if err != nil {
			return err
		}
		o.model = a.Name()
		o.own = score(judge.PredictiveOf(f).Quantile, s.Train, s.Test, g.Season)
		o.loss[0] = quantileLoss(judge.PredictiveOf(f).Quantile, s.Test)
		return nil
	}()
	o.seconds = time.Since(began).Seconds()
	return o
}

const header = "group          series failed |  MASE  naive | sMAPE  naive | CRPS  naive |    WQL  naive | 80 %  95 % naive | " +
	"width95 naive | low | use (failed) untested (failed) do not use (failed) | seconds longest"

func line(s competition.Summary) string {
	var words string
	for _, w := range s.Words {
		words += fmt.Sprintf(" %d (%d)", w.Said, w.Failed)
	}
	return fmt.Sprintf("%-14s %6d %6d | %5.3f %6.3f | %5.2f %6.2f | %5.3f %5.3f | %6.4f %6.4f | %4.1f %5.1f %5.1f | %6.2f %6.2f | "+
		"%3d |%s | %6.1f %6.2f",
		s.Group, s.Series, s.Failed, s.Own.MASE, s.Naive.MASE, s.Own.SMAPE, s.Naive.SMAPE, s.Own.CRPS, s.Naive.CRPS, s.WQL, s.NaiveWQL,
		100*s.Own.Cover80, 100*s.Own.Cover95, 100*s.Naive.Cover95, s.Own.Width95, s.Naive.Width95,
		s.Low, words, s.Seconds, s.LongestSeconds)
}

func summarise(g competition.Group, outcomes []outcome) competition.Summary {
	s := competition.Summary{Group: g.Name, Series: len(outcomes)}
	var own, naive []competition.Scores
	var seconds []float64
	var size float64
	for _, o := range outcomes {
		if o.err != nil {
			s.Failed++
			continue
		}
		own, naive = append(own, o.own), append(naive, o.naive)
		seconds = append(seconds, o.seconds)
		size += o.size
		s.WQL += o.loss[0]
		s.NaiveWQL += o.loss[1]
		if o.own.Cover95 < competition.Poor {
			s.Low++
		}
	}
	s.Own, s.Naive = average(own), average(naive)
	if size > 0 {
		s.WQL /= size
		s.NaiveWQL /= size
	}
	s.Words = competition.Words(detailsOf(g, outcomes), words...)
	s.MedianSeconds, s.LongestSeconds = medianAndLongest(seconds)
	return s
}

// medianAndLongest returns the median and the largest of some times, 0 if there are none.
func medianAndLongest(seconds []float64) (median, longest float64) {
	if len(seconds) == 0 {
		return 0, 0
	}
	slices.Sort(seconds)
	return seconds[len(seconds)/2], seconds[len(seconds)-1]
}

func average(all []competition.Scores) (m competition.Scores) {
	for f, to := range fields(&m) {
		values := make([]float64, len(all))
		for i := range values {
			values[i] = *fields(&all[i])[f]
		}
		*to = finiteMean(values)
	}
	return m
}

// finiteMean returns the mean of the finite values, 0 if there are none.
func finiteMean(v []float64) float64 {
	var sum, n float64
	for _, x := range numeric.OnlyFinite(v) {
		sum += x
		n++
	}
	return sum / max(n, 1)
}
