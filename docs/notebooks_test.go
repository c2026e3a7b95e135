package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	importBlock = regexp.MustCompile(`(?ms)^import (?:\((.*?)^\)|(\S+))\n?`)
	importPath  = regexp.MustCompile(`(?m)^\s*(\w+ )?"([^"]+)"`)
	version     = regexp.MustCompile(`/v\d+$`) // ends a path, and is not the name of the package
	// implied are packages that GoNB's goimports adds where a cell uses them.
	implied = []string{"bytes", "cmp", "context", "errors", "fmt", "io", "math", "os", "slices", "sort", "strconv", "strings", "time"}
)

// program puts the cells of a notebook together as GoNB does: the declarations of all cells, what follows %% in a cell as one function,
// and of the imports those that are used.
func program(pkg string, cells []string) string {
	var body strings.Builder
	imports := map[string]string{} // the line of an import by the name it has in the program
	for _, name := range implied {
		imports[name] = strconv.Quote(name)
	}
	for i, cell := range cells {
		for _, block := range importBlock.FindAllStringSubmatch(cell, -1) {
			for _, m := range importPath.FindAllStringSubmatch(block[1]+block[2], -1) {
				name := strings.TrimSpace(m[1])
				if name == "" {
					name = path.Base(version.ReplaceAllString(m[2], ""))
				}
				imports[name] = m[1] + `"` + m[2] + `"`
			}
		}
		cell = importBlock.ReplaceAllString(cell, "")
		declarations, main, runs := strings.Cut("\n"+cell, "\n%%")
		for line := range strings.Lines(declarations) {
			if !strings.HasPrefix(line, "%") && !strings.HasPrefix(line, "!") {
				body.WriteString(line)
			}
		}
		if runs {
			fmt.Fprintf(&body, "\nfunc cell%d() {\n%s\n}\n", i, main)
		}
	}
	text := "package " + pkg + "\n"
	for name, line := range imports {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(body.String()) {
			text += "import " + line + "\n"
		}
	}
	return text + body.String()
}

// notebook returns the code cells of a notebook, and the place of each by its id.
func notebook(t *testing.T, file string) (cells []string, at map[string]int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Cells []struct {
			ID     string   `json:"id"`
			Kind   string   `json:"cell_type"`
			Source []string `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatal(err)
	}
	at = map[string]int{}
	for _, c := range content.Cells {
		if c.Kind == "code" {
			at[c.ID] = len(cells)
			cells = append(cells, strings.Join(c.Source, ""))
		}
	}
	return cells, at
}

// build compiles programs, by the names of their folders, as if they were packages of this module. What is built of one is at the
// path that it returns.
func build(t *testing.T, programs map[string]string) (path string) {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	scratch, overlay := t.TempDir(), map[string]map[string]string{"Replace": {}}
	for folder, text := range programs {
		file := filepath.Join(scratch, folder+".go")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][filepath.Join(top, "internal", "notebooks", folder, "cells.go")] = file
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "-overlay", file, "./internal/notebooks/..."}
	if len(programs) == 1 { // of several, go build keeps nothing
		path = filepath.Join(scratch, "program")
		args = slices.Insert(args, 1, "-o", path)
	}
	command := exec.Command("go", args...)
	command.Dir = top
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestNotebooksCompile compiles the cells of every notebook, and the cell in the guide. Otherwise faults show only when notebooks
// run.
func TestNotebooksCompile(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("%d notebooks, %v", len(paths), err)
	}
	programs := map[string]string{}
	for _, file := range paths {
		cells, _ := notebook(t, file)
		programs["n"+strings.TrimSuffix(filepath.Base(file), ".ipynb")] = program("notebook", cells)
	}
	_, own, _ := strings.Cut(documents(t)["docs/guide.md"], "## Your own notebook")
	cell := blocks(own, "text")
	if len(cell) == 0 || !strings.Contains(cell[0], "%%") {
		t.Fatal("the guide shows no cell below \"Your own notebook\"")
	}
	programs["guide"] = program("notebook", cell[:1])
	build(t, programs)
}
