package gppl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostUpward is the allowed number of pairs of files in which the first uses a declaration of a layer further down in the table
// of docs/architecture.md.
const mostUpward = 0

// layers returns the layer of each file, lowest first, as docs/architecture.md lists them.
func layers(t *testing.T) map[string]int {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Layers")
	table, _, _ = strings.Cut(table, "\n## ")
	of := map[string]int{}
	for layer, row := range regexp.MustCompile(`(?m)^\| [^|]+ \| .+ \|$`).FindAllString(table, -1) {
		for _, file := range regexp.MustCompile("`([a-z_]+\\.go)`").FindAllStringSubmatch(row, -1) {
			if _, twice := of[file[1]]; twice {
				t.Errorf("%s is in two layers", file[1])
			}
			of[file[1]] = layer
		}
	}
	return of
}

// noPackages imports packages without what they declare: what files of this package use of one another is known without.
type noPackages struct{}

func (noPackages) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

// references returns, for each file of this package but its tests, the files that declare what it uses, with one example each.
func references(t *testing.T) map[string]map[string]string {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noPackages{}, Error: func(error) {}}
	pkg, _ := config.Check("gppl", fset, files, info) // errors are of other packages
	uses := map[string]map[string]string{}
	for _, f := range files {
		uses[fset.Position(f.Pos()).Filename] = map[string]string{}
	}
	for use, declared := range info.Uses {
		if declared.Pkg() != pkg || !declared.Pos().IsValid() {
			continue
		}
		from, to := fset.Position(use.Pos()).Filename, fset.Position(declared.Pos()).Filename
		if known := uses[from][to]; from != to && (known == "" || declared.Name() < known) {
			uses[from][to] = declared.Name()
		}
	}
	return uses
}

// TestLayers: files refer to their own layer and to those below it.
func TestLayers(t *testing.T) {
	of, uses := layers(t), references(t)
	for file := range of {
		if uses[file] == nil {
			t.Errorf("docs/architecture.md lists %s, which does not exist", file)
		}
	}
	var upward []string
	all := 0
	for from, files := range uses {
		if _, known := of[from]; !known {
			t.Errorf("%s is in no layer of docs/architecture.md", from)
		}
		for to, name := range files {
			all++
			if of[to] > of[from] {
				upward = append(upward, from+" uses "+name+" of "+to)
			}
		}
	}
	t.Logf("%d of %d pairs of files refer upwards", len(upward), all)
	if all < 400 {
		t.Errorf("only %d references between %d files are seen", all, len(slices.Collect(maps.Keys(uses))))
	}
	if len(upward) > mostUpward {
		slices.Sort(upward)
		t.Errorf("%d references upwards, at most %d:\n%s", len(upward), mostUpward, strings.Join(upward, "\n"))
	}
}
