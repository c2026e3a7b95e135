package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	library "github.com/projected-likelihood/gppl/pkg/gppl"
)

// result is the row of a series in the table of a batch. Unknown values are left out.
type result struct {
	Name     string     `json:"name"`
	File     string     `json:"file"`
	Y        string     `json:"y,omitempty"`
	By       []string   `json:"by,omitempty"`
	N        int        `json:"n,omitempty"`
	Kernel   string     `json:"kernel,omitempty"`
	Model    string     `json:"model,omitempty"` // names kernel, trend and scale
	Use      judge.Word `json:"use,omitempty"`
	Coverage *float64   `json:"coverage_95,omitempty"`
	Relative *float64   `json:"relative_error,omitempty"`
	NLL      *float64   `json:"nll,omitempty"`
	Score    *float64   `json:"evidence,omitempty"`
	BIC      *float64   `json:"bic,omitempty"`
	Seconds  float64    `json:"seconds"`
	Verdict  string     `json:"verdict,omitempty"`
	Notes    []string   `json:"notes,omitempty"`
	Error    string     `json:"error,omitempty"`

	short bool // the fit needed more memory than it had
}

// place stands for the name of a series in the file names of a batch.
const place = "{name}"

// extensions are the endings of the files that a flag writes into a folder.
var extensions = map[string]string{"report": ".html", "model": ".json", "out": ".csv", "components": ".csv", "figure": ".svg"}

// fitBatch fits several series, and writes one table with a row for each. A series that fails does not end the others.
func fitBatch(ctx context.Context, c *cli.Command, files, columns []string) error {
	// An error in the flags concerns all series: report it once, before any work.
	if _, err := trainOptions(c); err != nil {
		return err
	}
	if _, err := readOptions(c); err != nil {
		return err
	}
	if len(columns) > 1 && slices.Contains(files, dataset.StandardInput) || c.String("future") == dataset.StandardInput {
		return usageError{errors.New("fit: - stands for standard input, which can be read only once, " +
			"and each series reads it: write it to a file")}
	}
	tasks, err := batchSeries(ctx, c, files, columns)
	if err != nil {
		return err
	}
	names, err := nameFiles(c, tasks, len(columns) > 1)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, held{}, heldBy(tasks))
	rows := make([]result, len(tasks))
	bar := progress(c, "series", len(tasks))
	var mu sync.Mutex
	done := 0
	atOnce := min(len(tasks), runtime.GOMAXPROCS(0))
	among := context.WithValue(ctx, sharers{}, atOnce)
	var later []int // indices of tasks that need more than their share of the memory
	parallel.Each(atOnce, len(tasks), func(i int) {
		row := tasks[i].row(among, c, names[i])
		mu.Lock()
		defer mu.Unlock()
		if rows[i] = row; row.short && atOnce > 1 {
			later = append(later, i)
			return
		}
		tasks[i].series = nil
		if done++; ctx.Err() == nil {
			bar.Set(done)
		}
	})
	slices.Sort(later)
	for _, i := range later { // they run one by one, each with all of the memory
		rows[i] = tasks[i].row(ctx, c, names[i])
		if done++; ctx.Err() == nil {
			bar.Set(done)
		}
	}
	bar.Fail(ctx.Err())
	write := writeRows
	if c.Bool("json") {
		write = func(w io.Writer, rows []result) error { return indented(w, rows) }
	}
	// Finished rows are written after an interrupt too.
	if err := write(c.Root().Writer, rows); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return failures(rows)
}

// failures returns the error of a batch in which some series failed; nil if none did.
func failures(rows []result) error {
	failed, first := 0, ""
	for _, r := range rows {
		if r.Error != "" {
			if failed++; failed == 1 {
				first = r.Name + ": " + r.Error
			}
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d series failed, as the column error says; the first was %s", failed, len(rows), first)
}

// row fits a series and describes it.
func (t task) row(ctx context.Context, c *cli.Command, name string) result {
	began := time.Now()
	r := result{Name: name, File: dataset.Shown(t.path), Y: t.y, By: t.key}
	if ctx.Err() != nil {
		r.Error = "interrupted"
		return r
	}
	o, err := t.fit(ctx, c)
	r.Seconds, r.Notes = time.Since(began).Seconds(), o.notes
	if err != nil {
		memory := (*library.MemoryError)(nil)
		r.Error, r.short = message(err), errors.As(err, &memory)
		if ctx.Err() != nil {
			r.Error = "interrupted"
		}
		return r
	}
	if s := o.constant; s != nil {
		r.Y, r.N, r.Kernel, r.Model = s.YName, len(s.Y), report.ConstantKernel, report.ConstantKernel
		r.Notes = append([]string{report.Constant(s)}, r.Notes...)
		return r
	}
	best := o.a.Candidates[0]
	r.Y, r.N, r.Kernel, r.Model = o.a.Series.YName, len(o.a.Series.X), best.Kernel, best.Name()
	r.NLL, r.Score, r.BIC = &best.NLL, &best.Score, &best.BIC
	if t := o.trust; t != nil {
		r.Use, r.Coverage, r.Relative, r.Verdict = t.Word, &t.Coverage, &t.Relative, t.Verdict
	}
	if lead, _ := o.a.Series.Messages(); lead.Format != "" {
		r.Notes = append([]string{lead.Words(sumflags.Word)}, r.Notes...)
	}
	if d := report.Doubt(o.a); d != "" {
		r.Notes = append(r.Notes, d)
	}
	if more, err := report.Notices(ctx, o.a, o.f); err == nil {
		r.Notes = append(r.Notes, more...)
	}
	return r
}

// writeRows writes the table as csv.
func writeRows(w io.Writer, rows []result) error {
	table := [][]string{{
		"name", "file", "y", "n", "kernel", "model", "use", "coverage_95", "relative_error",
		"nll", "evidence", "bic", "seconds", "verdict", "notes", "error",
	}}
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		if *v == math.MaxFloat64 { // the naive forecast had no error; JSON has this number
			return "inf"
		}
		return strconv.FormatFloat(*v, 'g', 6, 64)
	}
	by := slices.ContainsFunc(rows, func(r result) bool { return r.By != nil })
	if by {
		table[0] = slices.Insert(table[0], 3, "by")
	}
	for _, r := range rows {
		n := ""
		if r.N > 0 {
			n = strconv.Itoa(r.N)
		}
		row := []string{r.Name, r.File, r.Y, n, r.Kernel, r.Model, string(r.Use), number(r.Coverage), number(r.Relative),
			number(r.NLL), number(r.Score), number(r.BIC), strconv.FormatFloat(r.Seconds, 'f', 2, 64),
			r.Verdict, inOneLine(r.Notes), r.Error}
		if by {
			row = slices.Insert(row, 3, strings.Join(r.By, ", "))
		}
		table = append(table, row)
	}
	return series.WriteCSV(w, table)
}

// inOneLine joins notes in one line, with "; " between them in place of full stops.
func inOneLine(notes []string) string {
	plain := slices.Clone(notes)
	for i, n := range plain {
		plain[i] = strings.TrimSuffix(n, ".")
	}
	return strings.Join(plain, "; ")
}

// batchSeries returns a task for every column of every file. With --by it reads the files, and returns a task for every series in
// them.
func batchSeries(ctx context.Context, c *cli.Command, files, columns []string) (tasks []task, err error) {
	if len(columns) == 0 {
		columns = []string{""}
	}
	for _, file := range files {
		for _, y := range columns {
			one := task{path: file, y: y}
			if keyColumns(c) == nil {
				tasks = append(tasks, one)
				continue
			}
			o, err := seriesOptions(context.WithValue(ctx, held{}, heldBy(tasks)), c, y)
			if err != nil {
				return nil, err
			}
			members, err := interruptible(ctx, func() ([]series.Member, error) { return series.ReadPanel(ctx, file, o) })
			if err != nil {
				return nil, memoryHint(c, err)
			}
			for _, m := range members {
				one.key, one.series, one.failed = m.Key, m.Series, m.Err
				tasks = append(tasks, one)
			}
		}
	}
	return tasks, nil
}

// heldBy returns the memory, in bytes, of the series of tasks that were read before.
func heldBy(tasks []task) (bytes float64) {
	for _, t := range tasks {
		if t.series != nil {
			bytes += t.series.Bytes()
		}
	}
	return bytes
}

// batchName returns the name of a task in a form that a file name can have.
func (t task) batchName(columns bool) string {
	name := strings.TrimSuffix(filepath.Base(dataset.Shown(t.path)), filepath.Ext(t.path))
	if columns {
		name += "-" + t.y
	}
	for _, key := range t.key {
		name += "-" + key
	}
	return fileName(name)
}

// nameFiles names tasks, and the files that they write. columns says that there are several columns of y, which the names tell
// apart.
func nameFiles(c *cli.Command, tasks []task, columns bool) (names []string, err error) {
	taken := map[string]bool{}
	for i, t := range tasks {
		names = append(names, unique(t.batchName(columns), taken))
		tasks[i].files = map[string]string{}
	}
	folders := map[string]string{} // maps a flag to a folder
	for _, flag := range outputs {
		pattern := c.String(flag)
		if pattern == "" {
			continue
		}
		if err := batchPattern(flag, &pattern, len(tasks), columns); err != nil {
			return nil, err
		}
		folders[flag] = filepath.Dir(pattern)
		for i, name := range names {
			tasks[i].files[flag] = strings.ReplaceAll(pattern, place, name)
		}
	}
	paths := []map[string]string{outputFiles(c)} // a name without {name} gets one, and still may not name an input
	for _, t := range tasks {
		paths = append(paths, t.files)
	}
	err = apart(c, paths...)
	if conflict := (*files.ConflictError)(nil); errors.As(err, &conflict) && conflict.Input {
		return nil, usageError{fmt.Errorf("%v: that would overwrite the input file %v", conflict.Output, conflict.Other)}
	}
	if err != nil {
		return nil, err
	}
	for flag, dir := range folders {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, fmt.Errorf("--%s %s: %w", flag, c.String(flag), err)
		}
		if err := files.Check(tasks[0].files[flag]); err != nil {
			return nil, fmt.Errorf("--%s %s: %w", flag, c.String(flag), err)
		}
	}
	return names, nil
}

// batchPattern turns the name of a folder or, for several columns, of a file into a pattern with {name}, and checks that the flag
// writes files of such a name.
func batchPattern(flag string, pattern *string, count int, columns bool) error {
	given := *pattern
	info, err := os.Stat(given)
	folder := err == nil && info.IsDir() || strings.HasSuffix(given, "/") || filepath.Ext(given) == ""
	switch ext := filepath.Ext(given); {
	case strings.Contains(given, place):
	case folder:
		*pattern = filepath.Join(given, place+extensions[flag])
	case columns:
		*pattern = strings.TrimSuffix(given, ext) + "-" + place + ext
	default:
		return usageError{fmt.Errorf("--%s %s: there are %d series: name a folder, or write %s where their names go, as in %s%s",
			flag, given, count, place, place, ext)}
	}
	if err := formatKnown(flag, *pattern); err != nil {
		return err
	}
	if strings.Contains(filepath.Dir(*pattern), place) {
		return usageError{fmt.Errorf("--%s %s: %s is allowed in the name of the file only, not in that of a folder",
			flag, given, place)}
	}
	return nil
}

// longestName is the largest number of bytes that the name of a series takes in a file name, for which file systems allow 255.
const longestName = 200

// fileName turns the name of a series into a file name.
func fileName(name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), longestName)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, name)
}

// unique adds a number to a name that is taken.
func unique(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = fmt.Sprintf("%s-%d", name, i)
	}
	taken[out] = true
	return out
}
