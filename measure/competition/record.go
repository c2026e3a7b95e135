package competition

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/numeric"
)

// The files of a folder of records.
const (
	summaryFile   = "results.json"   // []Summary
	wholeFile     = "whole.json"     // []Summary, each over all series of a group
	rivalFile     = "rivals.json"    // []Rival
	publishedFile = "published.json" // []Published
	detailFile    = "series.jsonl"   // each line holds a Detail
)

// Poor is the coverage of 95 % bands below which a forecast counts as failed: the verdict should have warned.
const Poor = 0.7

// Scores are the scores of one forecast, or their means over many. CRPS and widths are divided by the scale of MASE.
type Scores struct {
	MASE    float64 `json:"mase"`
	SMAPE   float64 `json:"smape"`
	CRPS    float64 `json:"crps"`
	Cover80 float64 `json:"coverage_80"`
	Cover95 float64 `json:"coverage_95"`
	Width80 float64 `json:"width_80"`
	Width95 float64 `json:"width_95"`
}

// Summary is the result of a group.
type Summary struct {
	Group  string `json:"group"`
	Half   string `json:"half"`
	Seed   uint64 `json:"seed"`
	Series int    `json:"series"`
	Failed int    `json:"failed"`
	Own    Scores `json:"gppl"`
	Naive  Scores `json:"seasonal_naive"`
	// WQL and NaiveWQL are weighted quantile losses: Σ q / Σ |y| over all steps of all series, where q is the mean of 2·pinball at
	// the levels 0.1, 0.2, …, 0.9.
	WQL      float64     `json:"wql,omitempty"`
	NaiveWQL float64     `json:"seasonal_naive_wql,omitempty"`
	Words    []wordCount `json:"words"`
	// Low is the number of forecasts whose 95 % bands held less than Poor of the test part.
	Low            int     `json:"coverage_below_70"`
	Seconds        float64 `json:"seconds"`         // wall-clock time of the whole group
	MedianSeconds  float64 `json:"seconds_median"`  // median over the series
	LongestSeconds float64 `json:"seconds_longest"` // the longest time of a series
}

// Rival is the result on a group of a model that is not ours.
type Rival struct {
	Group          string  `json:"group"`
	Model          string  `json:"model"`
	Half           string  `json:"half"`
	Seed           uint64  `json:"seed"`
	Series         int     `json:"series"`
	Failed         int     `json:"failed"`
	Scores         Scores  `json:"scores"`
	Low            int     `json:"coverage_below_70"`
	MedianSeconds  float64 `json:"seconds_median"`
	LongestSeconds float64 `json:"seconds_longest"`
}

// Published is the result of a model on all series of a group as others published it, with their MASE and WQL.
type Published struct {
	Group  string  `json:"group"`
	Model  string  `json:"model"`
	Kind   string  `json:"kind"`   // "zero-shot" or "pretrained", as its publisher says, or "statistical"
	Leaked bool    `json:"leaked"` // the publisher says that the model was trained on these series
	MASE   float64 `json:"mase"`
	WQL    float64 `json:"wql"`
	Source string  `json:"source"` // repository, commit and file
}

// Naive reports whether p is the seasonal naive forecast.
func (p Published) Naive() bool {
	return strings.EqualFold(strings.ReplaceAll(p.Model, "_", "-"), "seasonal-naive")
}

// Detail is the result for one series. An error that cannot be scaled is −1.
type Detail struct {
	Group   string  `json:"group"`
	ID      string  `json:"id"`
	N       int     `json:"n"`
	Error   string  `json:"error,omitempty"`
	Model   string  `json:"model,omitempty"`
	MASE    float64 `json:"mase"`
	CRPS    float64 `json:"crps"`
	Cover95 float64 `json:"coverage_95"`
	Naive   float64 `json:"naive_mase"`
	// Word and the fields below describe the backtest, as judge.Trust does.
	Word     string   `json:"word,omitempty"`
	Against  string   `json:"against,omitempty"`
	Separate float64  `json:"separate_tests"`
	Past     float64  `json:"past_coverage_95"`
	Relative float64  `json:"past_relative_error"`
	Chance   float64  `json:"past_p_no_worse"`
	Spread   float64  `json:"past_spread"`
	Late     float64  `json:"past_late"`
	Narrow   int      `json:"past_origins_too_narrow"`
	Reasons  []string `json:"reasons,omitempty"`
}

// failed reports whether a forecast was worse than seasonal naive, or its 95 % bands held less than the share Poor of the test
// part.
func (d Detail) failed() bool { return d.Cover95 < Poor || d.MASE > d.Naive }

// wordCount is the number of forecasts about which the verdict said a word, and the number of these that failed.
type wordCount struct {
	Word   string `json:"word"`
	Said   int    `json:"said"`
	Failed int    `json:"failed"`
}

// Share returns the share that failed, with Wilson's 95 % interval; NaN if the word was never said.
func (w wordCount) Share() (share, lo, hi float64) {
	const z = 1.959963984540054
	n := float64(w.Said)
	share = float64(w.Failed) / n
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return share, max(0, middle-half), min(1, middle+half)
}

// Words counts the words of the verdicts on some series, in the order given.
func Words(all []Detail, words ...string) (counts []wordCount) {
	for _, word := range words {
		c := wordCount{Word: word}
		for _, d := range all {
			if d.Error == "" && d.Word == word {
				c.Said++
				if d.failed() {
					c.Failed++
				}
			}
		}
		counts = append(counts, c)
	}
	return counts
}

// Record is the contents of a folder of records.
type Record struct {
	Groups    []Summary
	Rivals    []Rival
	Series    []Detail
	Whole     []Summary
	Published []Published
}

// Models returns the names of the rivals, in the order of their results.
func (r *Record) Models() (names []string) {
	for _, one := range r.Rivals {
		if !slices.Contains(names, one.Model) {
			names = append(names, one.Model)
		}
	}
	return names
}

// Rival returns the result of a rival on a group, and whether there is one.
func (r *Record) Rival(group, model string) (Rival, bool) {
	i := slices.IndexFunc(r.Rivals, func(one Rival) bool { return one.Group == group && one.Model == model })
	if i < 0 {
		return Rival{}, false
	}
	return r.Rivals[i], true
}

// Standing is the place of the policy among pretrained models on all series of a group, by one score.
type Standing struct {
	Group        string
	Series       int
	Own, Naive   float64
	Models       int // number of models not trained on the test parts; 0 if the series are not the publisher's
	Better       int // number of these models with a better score
	Median, Best float64
	BestModel    string
	Note         string // says why nothing is compared
}

// sameNaive is the relative difference allowed between two MASE of seasonal naive for the same series: gluonts treats constant
// series differently.
const sameNaive = 0.02

// Standings compares the policy with published results by "MASE" or "WQL". Models whose publishers say that they were trained on
// the test parts do not count. Seasonal naive checks that series and metric are the same: if its two MASE differ by more than
// 2 %, nothing is compared.
func (r *Record) Standings(score string) (all []Standing, err error) {
	of := map[string]func(Published) float64{
		"MASE": func(p Published) float64 { return p.MASE }, "WQL": func(p Published) float64 { return p.WQL },
	}[score]
	if of == nil {
		return nil, fmt.Errorf("competition: no published score %q: MASE or WQL", score)
	}
	for _, g := range r.Whole {
		s := Standing{Group: g.Group, Series: g.Series, Own: g.Own.MASE, Naive: g.Naive.MASE}
		if score == "WQL" {
			s.Own, s.Naive = g.WQL, g.NaiveWQL
		}
		naive := math.NaN()
		var scores []float64
		for _, p := range r.Published {
			if p.Group != g.Group {
				continue
			}
			if p.Naive() {
				naive = p.MASE
			}
			if p.Kind == "statistical" || p.Leaked {
				continue
			}
			v := of(p)
			if len(scores) == 0 || v < s.Best {
				s.Best, s.BestModel = v, p.Model
			}
			if v < s.Own {
				s.Better++
			}
			scores = append(scores, v)
		}
		if len(scores) == 0 {
			continue
		}
		if s.Models, s.Median = len(scores), numeric.Median(scores); math.Abs(naive/g.Naive.MASE-1) > sameNaive {
			s = Standing{Group: s.Group, Series: s.Series, Own: s.Own, Naive: s.Naive, Note: fmt.Sprintf("%s: seasonal naive has a MASE "+
				"of %.3f here and %.3f there, so the series are not the same.", g.Group, g.Naive.MASE, naive)}
		}
		all = append(all, s)
	}
	return all, nil
}

// Read reads a folder of records. It is an error if there is none; only results.json and series.jsonl have to be there.
func Read(folder string) (*Record, error) {
	r := &Record{}
	for _, f := range []struct {
		name string
		to   any
	}{{summaryFile, &r.Groups}, {rivalFile, &r.Rivals}, {wholeFile, &r.Whole}, {publishedFile, &r.Published}} {
		text, err := os.ReadFile(filepath.Join(folder, f.name))
		if f.name != summaryFile && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, f.to)
		}
		if err != nil {
			return nil, fmt.Errorf("competition: %s: %w", f.name, err)
		}
	}
	var err error
	r.Series, err = readDetails(filepath.Join(folder, detailFile))
	return r, err
}

// readDetails reads the file that WriteDetails wrote.
func readDetails(path string) (all []Detail, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("competition: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var one Detail
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("competition: %s: %w", path, err)
		}
		all = append(all, one)
	}
}

// WriteJSON writes v to a file, completely or not at all.
func WriteJSON(path string, v any) error {
	return files.Write(context.Background(), path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// WriteDetails writes a line for each Detail.
func WriteDetails(path string, all []Detail) error {
	return files.Write(context.Background(), path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, d := range all {
			if err := e.Encode(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// Digits rounds to four decimals, which a record keeps; it returns −1 if v is not finite.
func Digits(v float64) float64 {
	if !numeric.IsFinite(v) {
		return -1
	}
	return math.Round(1e4*v) / 1e4
}

// StoreResults puts the results of some groups in their places in a folder of records, both in the summary and for each series.
// The results of other groups in the folder stay.
func StoreResults(folder string, groups []Summary, series []Detail) error {
	var old Record
	if _, err := os.Stat(filepath.Join(folder, summaryFile)); err == nil {
		r, err := Read(folder)
		if err != nil {
			return err
		}
		old = *r
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ran := map[string]bool{}
	for _, s := range groups {
		ran[s.Group] = true
	}
	groups = append(slices.Clone(groups), slices.DeleteFunc(old.Groups, func(s Summary) bool { return ran[s.Group] })...)
	slices.SortStableFunc(groups, func(a, b Summary) int { return byGroup(a.Group, b.Group) })
	series = append(slices.Clone(series), slices.DeleteFunc(old.Series, func(d Detail) bool { return ran[d.Group] })...)
	slices.SortStableFunc(series, func(a, b Detail) int { return byGroup(a.Group, b.Group) })
	if err := WriteJSON(filepath.Join(folder, summaryFile), groups); err != nil {
		return err
	}
	return WriteDetails(filepath.Join(folder, detailFile), series)
}

// StoreRival puts a result in its place in a file: by group in the order of Names, then by model.
func StoreRival(path string, r Rival) error {
	return put(path, r, func(a, b Rival) int { return cmp.Or(byGroup(a.Group, b.Group), strings.Compare(a.Model, b.Model)) })
}

// StoreWhole puts the results on all series of a group in their place in the folder's whole.json, in the order of Names.
func StoreWhole(folder string, s Summary) error {
	return put(filepath.Join(folder, wholeFile), s, func(a, b Summary) int { return byGroup(a.Group, b.Group) })
}

// byGroup orders groups as Names does.
func byGroup(a, b string) int {
	names := Names()
	return slices.Index(names, a) - slices.Index(names, b)
}

// put stores v in the ordered list of a file, in place of an element that compare finds equal. The file need not exist.
func put[T any](path string, v T, order func(a, b T) int) error {
	var all []T
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("competition: %s: %w", path, err)
	}
	all = append(slices.DeleteFunc(all, func(o T) bool { return order(o, v) == 0 }), v)
	slices.SortStableFunc(all, order)
	return WriteJSON(path, all)
}
