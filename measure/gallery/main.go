// Command gallery makes the gallery of docs/gallery. It simulates the files, runs the commands that the pages name, draws their
// figures, and writes the output and the Go of examples_test.go into the pages:
//
//	go run ./measure/gallery docs/gallery
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/text"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./measure/gallery FOLDER")
	}
	if err := write(context.Background(), os.Args[1]); err != nil {
		log.Fatalf("gallery: %v", err)
	}
}

// write makes the gallery in its folder.
func write(ctx context.Context, folder string) error {
	for name, text := range simulated() {
		if err := files.WriteBytes(context.Background(), filepath.Join(folder, name), []byte(text)); err != nil {
			return err
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	m, err := newMaker(ctx, folder)
	if err != nil {
		return err
	}
	defer m.remove()
	for _, page := range pages {
		text, figures, err := m.page(ctx, page)
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		for name, figure := range figures {
			if err := figure.SaveImages(filepath.Join(folder, name)); err != nil {
				return err
			}
		}
		if err := files.WriteBytes(context.Background(), page, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// maker runs commands in its own folder, with gppl built once.
type maker struct {
	folder   string            // holds the files and gppl
	examples map[string]string // the Go code of each page
}

func newMaker(ctx context.Context, gallery string) (made *maker, err error) {
	folder, err := os.MkdirTemp("", "gppl-gallery-")
	if err != nil {
		return nil, err
	}
	m := &maker{folder: folder}
	defer func() {
		if err != nil {
			m.remove()
		}
	}()
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(folder, "gppl"),
		"github.com/projected-likelihood/gppl/cmd/gppl")
	build.Dir = gallery
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	for name, text := range simulated() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	m.examples, err = examples(filepath.Join(gallery, "examples_test.go"))
	return m, err
}

// remove removes the folder; failing to do so is harmless.
func (m *maker) remove() { _ = os.RemoveAll(m.folder) }

var (
	command = regexp.MustCompile("(?s)```sh\n(gppl [^\n]*)\n```\n\n(```\n.*?```\n|(?:\\|[^\n]*\n)+)")
	snippet = regexp.MustCompile("(?s)```go\n.*?```")
	picture = regexp.MustCompile(`srcset="([\w-]+)-narrow\.svg"><img src="([\w-]+)\.svg"`)
	drawing = regexp.MustCompile(`--forecast (\d+) --figure "?([\w{}-]+)\.svg"?$`)
)

// page returns a page with the present output of its command, its figures, and the Go code of its example.
func (m *maker) page(ctx context.Context, path string) (text string, figures map[string]*viz.Figure, err error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	text = string(before)
	at := command.FindStringSubmatchIndex(text)
	if at == nil {
		return text, nil, nil // the page has no command, such as the list of pages
	}
	drawn := drawing.FindStringSubmatch(text[at[2]:at[3]])
	if drawn == nil {
		return "", nil, errors.New("its command does not end with --forecast STEPS --figure NAME.svg")
	}
	steps, err := strconv.Atoi(drawn[1])
	if err != nil {
		return "", nil, err
	}
	printed, err := m.run(ctx, text[at[2]:at[3]], "--model", drawn[2]+".json")
	if err != nil {
		return "", nil, err
	}
	text = text[:at[4]] + printed + text[at[5]:]
	example, ok := m.examples[strings.TrimSuffix(filepath.Base(path), ".md")]
	if !ok {
		return "", nil, fmt.Errorf("examples_test.go has no example of this name")
	}
	text = snippet.ReplaceAllLiteralString(text, "```go\n"+example+"```")
	figures = map[string]*viz.Figure{}
	for _, found := range picture.FindAllStringSubmatch(text, -1) {
		if found[1] != found[2] {
			return "", nil, fmt.Errorf("%s shows another figure on a phone", found[0])
		}
		if figures[found[2]+".svg"], err = m.figure(found[2], steps); err != nil {
			return "", nil, err
		}
	}
	return text, figures, nil
}

// figure draws the forecast of a model that a command saved. The page shows the same figure as the command, but in a wide and a
// narrow file that are dark on a dark page; the command writes one file that stays light.
func (m *maker) figure(name string, steps int) (*viz.Figure, error) {
	model, err := forecast.Load(filepath.Join(m.folder, name+".json"))
	if err != nil {
		return nil, err
	}
	ahead, err := model.Forecast(context.Background(), steps)
	if err != nil {
		return nil, err
	}
	figure, err := report.Forecast(model, ahead)
	if err != nil {
		return nil, err
	}
	of, err := os.ReadFile(filepath.Join(m.folder, name+".svg"))
	if err != nil {
		return nil, err
	}
	var drawn bytes.Buffer
	if err := figure.Encode(&drawn, ".svg"); err != nil {
		return nil, err
	}
	if !bytes.Equal(of, drawn.Bytes()) {
		return nil, fmt.Errorf("%s.svg is not the forecast of the model that the same command saves", name)
	}
	return figure, nil
}

var word = regexp.MustCompile(`"[^"]*"|\S+`)

// run runs a command, with more words appended, and returns the part of its output that a page shows.
func (m *maker) run(ctx context.Context, line string, more ...string) (string, error) {
	var words []string
	for _, w := range word.FindAllString(line, -1) {
		words = append(words, strings.Trim(w, `"`))
	}
	c := exec.CommandContext(ctx, filepath.Join(m.folder, "gppl"), append(append(words[1:], more...), "--quiet")...)
	c.Dir = m.folder
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", line, err, &problems)
	}
	if strings.HasPrefix(out.String(), "name,") {
		return columns(out.String(), "name", "model", "use", "coverage_95", "relative_error")
	}
	first, _, _ := strings.Cut(out.String(), "\n\n") // the sentences come before the first empty line
	return "```\n" + fold(first) + "…\n```\n", nil
}

// fold breaks lines at spaces where they exceed the width of a page.
func fold(lines string) string {
	const width = 84 // characters
	var b strings.Builder
	for line := range strings.Lines(lines) {
		at := 0
		for i, w := range text.UnbrokenFields(line) {
			n := utf8.RuneCountInString(w)
			switch {
			case i > 0 && at+1+n > width:
				b.WriteString("\n")
				at = 0
			case i > 0:
				b.WriteString(" ")
				at++
			}
			b.WriteString(w)
			at += n
		}
		b.WriteString("\n")
	}
	return b.String()
}

// columns returns some columns of a csv file as a table.
func columns(text string, names ...string) (string, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, row := range rows {
		var cells []string
		for j, name := range rows[0] {
			if slices.Contains(names, name) {
				cells = append(cells, row[j])
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
		}
	}
	return b.String(), nil
}

// examples returns the bodies of the functions Example_name of a file, by name, with the comment that states their output.
func examples(path string) (map[string]string, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, source, 0)
	if err != nil {
		return nil, err
	}
	bodies := map[string]string{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		name := ""
		if ok {
			name, ok = strings.CutPrefix(f.Name.Name, "Example_")
		}
		if !ok {
			continue
		}
		body := string(source[fset.Position(f.Body.Lbrace).Offset+2 : fset.Position(f.Body.Rbrace).Offset])
		body = strings.ReplaceAll("\n"+body, "\n\t", "\n")[1:]
		bodies[name] = body
	}
	return bodies, nil
}
