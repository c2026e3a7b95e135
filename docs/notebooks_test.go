package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	importBlock = regexp.MustCompile(`(?ms)^import (?:\((.*?)^\)|(\S+))\n?`)
	importPath  = regexp.MustCompile(`(?m)^\s*(\w+ )?"([^"]+)"`)
	// implied are packages that GoNB's goimports adds where a cell uses them.
	implied = []string{"bytes", "cmp", "context", "errors", "fmt", "io", "math", "os", "slices", "sort", "strconv", "strings", "time"}
)

// program puts the cells of a notebook together as GoNB does: the declarations of all cells, what follows %% in a cell as one function,
// and of the imports those that are used.
func program(cells []string) string {
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
					name = path.Base(m[2])
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
	text := "package notebook\n"
	for name, line := range imports {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(body.String()) {
			text += "import " + line + "\n"
		}
	}
	return text + body.String()
}

// TestNotebooksCompile compiles the cells of every notebook, which otherwise shows only when notebooks run.
func TestNotebooksCompile(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "notebooks", "*.ipynb"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d notebooks, %v", len(paths), err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	scratch, overlay := t.TempDir(), map[string]map[string]string{"Replace": {}}
	for i, notebook := range paths {
		data, err := os.ReadFile(notebook)
		if err != nil {
			t.Fatal(err)
		}
		var content struct {
			Cells []struct {
				Kind   string   `json:"cell_type"`
				Source []string `json:"source"`
			} `json:"cells"`
		}
		if err := json.Unmarshal(data, &content); err != nil {
			t.Fatal(err)
		}
		var cells []string
		for _, c := range content.Cells {
			if c.Kind == "code" {
				cells = append(cells, strings.Join(c.Source, ""))
			}
		}
		name := filepath.Join(scratch, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(name, []byte(program(cells)), 0o600); err != nil {
			t.Fatal(err)
		}
		folder := "n" + strings.TrimSuffix(filepath.Base(notebook), ".ipynb")
		overlay["Replace"][filepath.Join(top, "internal", "notebooks", folder, "cells.go")] = name
	}
	files, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(list, files, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", list, "./internal/notebooks/...")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
