package flagwords_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]string{
		"name it as one: CSVOptions.Missing; else":    "name it as one: --missing; else",
		"CSVOptions.X and CSVOptions.Y choose others": "--x and --y choose others",
		`say ReadOptions.Time: "dmy" (day first)`:     "say --time dmy (day first)",
		"set ReadOptions.Missing: -99.9.":             "set --missing -99.9.",
		`Options.Shifts: "2020-01-13 13:00" gives it`: `--shifts "2020-01-13 13:00" gives it`,
		"if ReadOptions.Memory allows it, Options.Budget and CSVOptions do": "if ReadOptions.Memory allows it, Options.Budget and" +
			" CSVOptions do",
	} {
		if got := flagwords.Of(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestMessages: settings that messages of the packages name are fields of options; no message of a package names a flag, but of the
// project's scripts, and of those of pkg/forecast/report, whose readers have the command.
func TestMessages(t *testing.T) {
	options := map[string][]reflect.Type{
		"CSVOptions": {reflect.TypeFor[dataset.CSVOptions]()}, "ReadOptions": {reflect.TypeFor[forecast.ReadOptions]()},
		"Options": {reflect.TypeFor[forecast.Options](), reflect.TypeFor[dataset.Options]()},
	}
	named, flag := regexp.MustCompile(`\b(CSVOptions|ReadOptions|Options)\.([A-Z]\w*)`), regexp.MustCompile(`(^|[\s(,;:])--[a-z]`)
	seen := 0
	check := func(where token.Position, text string) {
		if flag.MatchString(text) && !strings.Contains(where.Filename, "forecast/report") && !strings.Contains(text, "scripts/") && !strings.Contains(text, "--gppl-") { // a property of CSS
			t.Errorf("%v names a flag: %q", where, text)
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			seen++
			if !slices.ContainsFunc(options[m[1]], func(of reflect.Type) bool { _, exists := of.FieldByName(m[2]); return exists }) {
				t.Errorf("%v: %s is no field: %q", where, m[0], text)
			}
		}
	}
	err := filepath.WalkDir("../../pkg", func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					check(files.Position(l.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("%d settings are named: the pattern misses some", seen)
	}
}
