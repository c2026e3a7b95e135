package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/measure/competition"
)

// forecasts runs gppl fit --json on the files of the gallery, with the options of their pages, and on the first series of M3's
// reporting half (those with odd numbers). A line is a number of its answer: of the forecast, the model and the candidates.
func forecasts(ctx context.Context) (lines []string, err error) {
	folder, err := os.MkdirTemp("", "gppl-digest-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "gppl")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/gppl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	runs, err := gallery()
	if err != nil {
		return nil, err
	}
	m3, err := m3(folder)
	if err != nil {
		return nil, err
	}
	for _, r := range append(runs, m3...) {
		answer, err := r.run(ctx, program)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		lines = append(lines, answer...)
	}
	return lines, nil
}

// fit is one call of gppl fit, in a folder.
type fit struct {
	name, folder string
	args         []string
}

var (
	command = regexp.MustCompile(`(?m)^gppl fit (.*?)( --figure \S+)?$`)
	word    = regexp.MustCompile(`"[^"]*"|\S+`)
)

// gallery returns the calls that the pages of docs/gallery show, without their figures.
func gallery() (runs []fit, err error) {
	const folder = "docs/gallery"
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		for _, found := range command.FindAllSubmatch(text, -1) {
			var args []string
			for _, w := range word.FindAllString(string(found[1]), -1) {
				args = append(args, strings.Trim(w, `"`))
			}
			runs = append(runs, fit{name: filepath.Base(page), folder: folder, args: args})
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s has no page with a call of gppl fit: run it in the project's folder", folder)
	}
	return runs, nil
}

// m3 writes the first series of each of three groups to files, and returns their calls.
func m3(folder string) (runs []fit, err error) {
	const series = 20
	data := os.Getenv("GPPL_DATA")
	groups, err := competition.Load(filepath.Join(data, "forecast"), []string{"m3-yearly", "m3-quarterly", "m3-monthly"})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; GPPL_DATA is the folder that has forecast/m3.csv", err)
	}
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		for i := 0; i < 2*series; i += 2 { // index 0 is series 1, which is in the reporting half
			s := g.Series[i]
			text := "t,y\n"
			for t, y := range s.Train {
				text += fmt.Sprintf("%d,%v\n", t+1, y)
			}
			file := s.ID + ".csv"
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o666); err != nil {
				return nil, err
			}
			args := []string{file, "--x", "t", "--y", "y", "--forecast", strconv.Itoa(len(s.Test))}
			for _, p := range g.Periods {
				args = append(args, "--period", fmt.Sprint(p))
			}
			runs = append(runs, fit{name: s.ID, folder: folder, args: args})
		}
	}
	return runs, nil
}

// run returns the numbers of an answer in JSON. An error of the call is a line too.
func (f fit) run(ctx context.Context, program string) (lines []string, err error) {
	c := exec.CommandContext(ctx, program, append(append([]string{"fit"}, f.args...), "--json", "--quiet")...)
	c.Dir = f.folder
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return []string{f.name + ": " + strings.TrimSpace(problems.String())}, nil
	}
	var answer any
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, err
	}
	return numbers(f.name, answer, nil), nil
}

// unhashed are the members that a change of form may move: times, counts of evaluations, and sentences.
var unhashed = []string{"seconds", "evaluations", "notes", "verdict", "sha256", "model"}

// numbers appends a line for each number and word of v, in the order of the members' names.
func numbers(path string, v any, lines []string) []string {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !slices.Contains(unhashed, name) {
				lines = numbers(path+"."+name, v[name], lines)
			}
		}
	case []any:
		for i, each := range v {
			lines = numbers(fmt.Sprintf("%s[%d]", path, i), each, lines)
		}
	default:
		lines = append(lines, fmt.Sprintf("%s %v", path, v))
	}
	return lines
}
