package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// writable returns an error, before any work is done, if a file of the flags cannot be written afterwards, or would overwrite one
// that the command reads or another that it writes.
func writable(c *cli.Command, flags ...string) error {
	paths := map[string]string{}
	for _, flag := range flags {
		path := c.String(flag)
		if path == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("--%s %s: there is no folder %s", flag, path, filepath.Dir(path))
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("--%s %s: that is a folder, not a file", flag, path)
		}
		paths[flag] = path
	}
	if err := apart(c, paths); err != nil {
		return err
	}
	for _, flag := range flags {
		if path := paths[flag]; path != "" {
			if err := files.Check(path); err != nil {
				return fmt.Errorf("--%s %s: %w", flag, path, err)
			}
		}
	}
	return nil
}

// apart returns an error if standard input is named twice, or if the command would write to a file that it also reads or writes
// for another purpose. written maps flags to the files to write, one map for each series.
func apart(c *cli.Command, written ...map[string]string) error {
	var read, write []files.Name
	standard := 0
	add := func(flag, path string, csv bool) {
		name := files.Name{Flag: flag, Path: path}
		if path == dataset.StandardInput && csv {
			name.File = os.Stdin
			standard++
		}
		read = append(read, name)
	}
	for _, path := range c.Args().Slice() {
		if _, err := os.Stat(path); err != nil && timeOfDay.MatchString(path) {
			return usageError{fmt.Errorf("%s is no file but a time of day: write a date and its time between quotation marks, "+
				"as --shifts \"2021-05-06 14:00\"", path)}
		}
		add("", path, slices.Contains(readsCSV, c.Name))
	}
	for _, flag := range inputFiles {
		add(flag, c.String(flag), flag == "future")
	}
	if standard > 1 {
		return usageError{fmt.Errorf("%s: - stands for standard input, which can be read only once", c.Name)}
	}
	for _, paths := range written {
		for _, flag := range outputs {
			write = append(write, files.Name{Flag: flag, Path: paths[flag]})
		}
	}
	for i, w := range []io.Writer{c.Root().Writer, c.Root().ErrWriter} {
		if first, ok := w.(*firstError); ok {
			w = first.Writer
		}
		if f, ok := w.(*os.File); ok { // >> may add to a file that is also an input
			write = append(write, files.Name{Path: []string{"standard output", "standard error"}[i], File: f})
		}
	}
	err := files.Apart(read, write)
	if conflict := (*files.ConflictError)(nil); errors.As(err, &conflict) && !conflict.Input {
		return usageError{err}
	}
	return err
}

// outputs are the flags of gppl fit that name files to write.
var outputs = []string{"report", "model", "out", "figure", "components"}

// outputFiles returns the files that outputs name, by flag; "" for one that is not requested.
func outputFiles(c *cli.Command) map[string]string {
	files := map[string]string{}
	for _, flag := range outputs {
		files[flag] = c.String(flag)
	}
	return files
}

// inputFiles are the flags of any command that name files to read.
var inputFiles = []string{"future", "like"}

// timeOfDay matches an argument that the shell makes of an unquoted date with a time.
var timeOfDay = regexp.MustCompile(`^\d{1,2}:\d{2}`)

// readsCSV are the commands whose arguments are csv files.
var readsCSV = []string{"fit", "compare", "backtest", "update", "sum"}

// otherFormats maps extensions that --report, --model and --out do not write to what to do instead.
var otherFormats = map[string]string{
	".pdf": "print the page of --report FILE.html to pdf, or draw the forecast with --figure FILE.pdf",
	".png": "--figure writes this format", ".svg": "--figure writes this format", ".jpg": "--figure writes .svg, .png and .pdf",
	".xlsx": "--out FILE.csv writes a file that spreadsheets read", ".xls": "--out FILE.csv writes a file that spreadsheets read",
	".docx": "--report FILE.html writes a page", ".parquet": "--out FILE.csv writes the forecast",
}

// formatKnown returns an error, before any work is done, if a name ends in a format that the flag does not write.
func formatKnown(flag, path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	switch instead, other := otherFormats[ext]; {
	case path == "":
	case flag == "figure" && !slices.Contains(viz.Extensions, ext):
		return usageError{fmt.Errorf("--figure %s: the name must end with one of %s", path, strings.Join(viz.Extensions, ", "))}
	case flag != "figure" && other:
		return usageError{fmt.Errorf("--%s %s: this flag does not write %s; %s", flag, path, ext, instead)}
	case flag == "out" && ext == ".json":
		return usageError{fmt.Errorf("--out %s: this flag writes csv; --json writes the forecast to standard output as JSON", path)}
	}
	return nil
}

// checkOutputs returns an error, before any work is done, if a file that a flag names cannot be written, or not in its format.
func checkOutputs(c *cli.Command, flags ...string) error {
	for _, flag := range flags {
		if err := formatKnown(flag, c.String(flag)); err != nil {
			return err
		}
	}
	return writable(c, flags...)
}

func outFlag() cli.Flag {
	return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the sums to `FILE.sums`", Category: "RESULTS"}
}

// outOf returns the file of --out, after a check that it can be written.
func outOf(c *cli.Command) (string, error) {
	out := c.String("out")
	if out == "" {
		return "", usageError{fmt.Errorf("%s: -o FILE.sums is missing", c.Name)}
	}
	return out, writable(c, "out")
}
