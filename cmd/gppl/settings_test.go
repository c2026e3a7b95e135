package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func TestWord(t *testing.T) {
	for want, s := range map[string]dataset.Setting{
		"--missing":                   {Field: "Missing"},
		"--missing -99.9":             {Field: "Missing", Value: "-99.9"},
		"--by none":                   {Field: "Pooled"},
		`--shifts "2020-01-13 13:00"`: {Field: "Shifts", Value: "2020-01-13 13:00"},
		"CSVOptions.Memory":           {Field: "Memory"}, // it has no flag
	} {
		if got := sumflags.Word(s); got != want {
			t.Errorf("%v becomes %q, want %q", s, got, want)
		}
	}
}

// TestSettings walks through all settings that the packages can name: each is a field of the options, and a flag of the command.
// No message names a setting in its text. Only messages of pkg/forecast/report, whose readers have the command, may name flags.
func TestSettings(t *testing.T) {
	options := map[string][]reflect.Type{
		"dataset": {reflect.TypeFor[dataset.CSVOptions]()},
		"forecast": {reflect.TypeFor[series.ReadOptions](), reflect.TypeFor[forecast.Options](),
			reflect.TypeFor[struct{ Range, Header any }]()}, // sums.Range and sums.Header
	}
	var _ = []any{sums.Range{}, sums.Header{}}
	flags := flagNames(command(nil, nil))
	for _, c := range command(nil, nil).Commands {
		flags = append(flags, flagNames(c)...)
	}
	inText := regexp.MustCompile(`\b(CSV|Read)?Options\.[A-Z]`)
	flag := regexp.MustCompile(`(^|[\s(,;:])--[a-z]`)
	seen := map[string]bool{}
	err := filepath.WalkDir("../../pkg", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		setting := func(l *ast.CompositeLit) {
			where, field := files.Position(l.Pos()), ""
			for _, e := range l.Elts {
				if pair, is := e.(*ast.KeyValueExpr); is {
					if pair.Key.(*ast.Ident).Name != "Field" {
						continue
					}
					e = pair.Value
				}
				if text, is := e.(*ast.BasicLit); is {
					field, _ = strconv.Unquote(text.Value)
				}
				break
			}
			seen[field] = true
			if types, known := options[file.Name.Name]; known && !slices.ContainsFunc(types, func(of reflect.Type) bool {
				_, exists := of.FieldByName(field)
				return exists
			}) {
				t.Errorf("%v: %q is no field of the options", where, field)
			}
			if field == "SkipMissing" { // the command always sets it
				return
			}
			found := false
			for _, word := range strings.Fields(sumflags.Word(dataset.Setting{Field: field})) {
				if name, is := strings.CutPrefix(strings.TrimSuffix(word, ","), "--"); is {
					found = true
					if !slices.Contains(flags, name) {
						t.Errorf("%v: %s is said as --%s, which is no flag", where, field, name)
					}
				}
			}
			if !found {
				t.Errorf("%v: %s has no flag", where, field)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // a panic is for programmers
				f, is := n.Fun.(*ast.Ident)
				return !is || f.Name != "panic"
			case *ast.CompositeLit:
				switch of := n.Type.(type) {
				case *ast.Ident, *ast.SelectorExpr:
					if isSetting(of) {
						setting(n)
					}
				case *ast.ArrayType:
					for _, e := range n.Elts {
						if l, is := e.(*ast.CompositeLit); is && l.Type == nil && isSetting(of.Elt) {
							setting(l)
						}
					}
				}
			case *ast.BasicLit:
				text, err := strconv.Unquote(n.Value)
				if n.Kind != token.STRING || err != nil {
					return true
				}
				if inText.MatchString(text) && !strings.HasPrefix(text, "remove the file to have it downloaded anew") { // it has no flag
					t.Errorf("%v names a setting in its text: %q", files.Position(n.Pos()), text)
				}
				if flag.MatchString(text) && !strings.Contains(path, "forecast/report") && !strings.Contains(text, "scripts/") &&
					!strings.Contains(text, "--gppl-") { // --gppl-… is a property of CSS
					t.Errorf("%v names a flag: %q", files.Position(n.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 15 {
		t.Errorf("%d settings were found: the search misses some", len(seen))
	}
}

// isSetting reports whether a type is dataset.Setting.
func isSetting(of ast.Expr) bool {
	if s, is := of.(*ast.SelectorExpr); is {
		of = s.Sel
	}
	name, is := of.(*ast.Ident)
	return is && name.Name == "Setting"
}
