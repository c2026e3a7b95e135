// Package docs_test holds the documents to the code: what they quote, link to,
// call and name must be there.
package docs_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const root = ".."

// documents are all pages of prose, by their paths from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/gallery/*.md", "data/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.ToSlash(name)] = string(text)
		}
	}
	return pages
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// blocks returns the fenced blocks of a page in the given language.
func blocks(text, language string) (found []string) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// anchors returns the fragments that a page's headings give, as GitHub makes them.
func anchors(text string) (found []string) {
	text = fence.ReplaceAllString(text, "")
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.+)$`).FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return found
}

var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// brokenLinks returns the links of a page that lead nowhere, but for those to other sites.
func brokenLinks(name, text string, pages map[string]string) (broken []string) {
	for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		path, fragment, _ := strings.Cut(m[1], "#")
		target := name
		if path != "" {
			target = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
		}
		page, isPage := pages[target]
		_, err := os.Stat(filepath.Join(root, target))
		if err != nil || fragment != "" && (!isPage || !slices.Contains(anchors(page), fragment)) {
			broken = append(broken, m[1])
		}
	}
	return broken
}

func TestLinks(t *testing.T) {
	pages := documents(t)
	for name, text := range pages {
		for _, l := range brokenLinks(name, text, pages) {
			t.Errorf("%s: %s leads nowhere", name, l)
		}
	}
	if got := brokenLinks("docs/x.md", "[a](no.md) [b](engines.md#no) [c](engines.md) [d](https://go.dev)", pages); len(got) != 2 {
		t.Errorf("of two broken links %v are found", got)
	}
	for name := range pages {
		folder, page := path.Split(name)
		if list := folder + "README.md"; strings.HasPrefix(name, "docs/") && name != list && !strings.Contains(pages[list], "("+page+")") {
			t.Errorf("%s does not list %s", list, page)
		}
	}
}

// declared are the exported names of a package, with fields and methods as Type.Name.
func declared(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names, holders := map[string]bool{}, map[string][]string{} // holders lists, for each type, the structs that embed it
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil || paths == nil {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					base := d.Recv.List[0].Type
					if star, ok := base.(*ast.StarExpr); ok {
						base = star.X
					}
					if id, ok := base.(*ast.Ident); ok {
						name = id.Name + "." + name
					}
				}
				names[name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names[id.Name] = true
						}
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						members(s, names)
						for _, e := range embedded(s) {
							holders[e] = append(holders[e], s.Name.Name)
						}
					}
				}
			}
		}
	}
	for name := range maps.Clone(names) {
		of, member, _ := strings.Cut(name, ".")
		for _, holder := range holders[of] {
			if member != "" {
				names[holder+"."+member] = true
			}
		}
	}
	return names
}

// embedded returns the types of the package that a struct embeds.
func embedded(s *ast.TypeSpec) (types []string) {
	if typ, ok := s.Type.(*ast.StructType); ok {
		for _, f := range typ.Fields.List {
			if id, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 {
				types = append(types, id.Name)
			}
		}
	}
	return types
}

// members adds the fields of a struct, or the methods of an interface.
func members(s *ast.TypeSpec, names map[string]bool) {
	var list *ast.FieldList
	switch typ := s.Type.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return
	}
	for _, f := range list.List {
		for _, id := range f.Names {
			names[s.Name.Name+"."+id.Name] = true
		}
	}
}

var packages = map[string]string{
	"gppl": "pkg/gppl", "auto": "pkg/gppl/auto", "fisher": "pkg/gppl/fisher", "store": "pkg/gppl/store", "sums": "pkg/gppl/sums", "gppltest": "pkg/gppl/gppltest", "dataset": "pkg/dataset", "experiment": "pkg/experiment",
	"theory": "pkg/experiment/theory", "forecast": "pkg/forecast", "viz": "pkg/viz",
}

// TestNames: a name such as gppl.Fit or dataset.Options.Path, in prose or in a block of Go, is declared.
func TestNames(t *testing.T) {
	known := map[string]map[string]bool{}
	for name, dir := range packages {
		known[name] = declared(t, dir)
	}
	if !known["gppl"]["Settings.Starts"] || !known["auto"]["Result.Save"] || known["gppl"]["Settings.Begin"] {
		t.Error("the test does not tell a name that is declared from one that is not")
	}
	names := regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*(?:\.[A-Z]\w*)?)`)
	count := 0
	for page, text := range documents(t) {
		for _, m := range names.FindAllStringSubmatch(text, -1) {
			if known[m[1]] == nil {
				continue
			}
			count++
			if !known[m[1]][m[2]] {
				t.Errorf("%s names %s, which is not declared", page, m[0])
			}
		}
	}
	if count < 50 {
		t.Errorf("%d names are found: the pattern misses some", count)
	}
}

// TestGo: blocks of Go are statements or declarations that parse.
func TestGo(t *testing.T) {
	for page, text := range documents(t) {
		for _, code := range blocks(text, "go") {
			_, statements := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {\n"+code+"\n}", 0)
			_, declarations := parser.ParseFile(token.NewFileSet(), "", "package p\n"+code, 0)
			if statements != nil && declarations != nil {
				t.Errorf("%s: %v in\n%s", page, statements, code)
			}
		}
	}
}

// TestCommands: the programs, scripts, packages and tests that blocks of shell name exist, and so do their flags.
func TestCommands(t *testing.T) {
	all := 0
	for page, text := range documents(t) {
		for _, block := range blocks(text, "sh") {
			for _, line := range strings.Split(block, "\n") {
				line, _, _ = strings.Cut(line, " #")
				for _, command := range strings.Split(line, "&&") {
					command, _, _ = strings.Cut(command, " -- --") // what follows is for another program
					all++
					if err := checkCommand(strings.Fields(command)); err != nil {
						t.Errorf("%s: %s: %v", page, strings.TrimSpace(command), err)
					}
				}
			}
		}
	}
	if all < 30 {
		t.Errorf("%d commands are found: the pattern misses some", all)
	}
	for _, wrong := range []string{
		"go run ./internal/nothing", "scripts/nothing.sh", "go test ./pkg/gppl -run TestNothingAtAll", "scripts/reproduce.sh --quick",
		"go run ./cmd/gppl fit a.csv --speed 3", "go run ./measure/ledger -yaml",
	} {
		if checkCommand(strings.Fields(wrong)) == nil {
			t.Errorf("%q passes", wrong)
		}
	}
}

func checkCommand(words []string) error {
	for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
		words = words[1:] // variables
	}
	if len(words) == 0 {
		return nil
	}
	var source string // source is the file or folder that declares the flags
	switch {
	case words[0] == "go" && len(words) > 2 && words[1] == "run":
		source = strings.TrimPrefix(words[2], "../")
	case words[0] == "go" && len(words) > 4 && words[1] == "-C" && words[3] == "run":
		source = "./" + filepath.Join(words[2], words[4])
		words = words[2:] // -C is a flag of go
	case words[0] == "go" && len(words) > 2 && words[1] == "test":
		return checkTest(words[2:])
	case strings.HasPrefix(words[0], "scripts/e2e/"):
		source = "scripts/e2e"
	case words[0] == "scripts/reproduce.sh":
		source = "scripts/report"
	case words[0] == "gppl":
		source = "cmd/gppl"
	case strings.Contains(words[0], "/") && !strings.HasPrefix(words[0], ".env/"):
		source = words[0]
	default:
		return nil // another program's
	}
	for _, path := range []string{source, words[0]} {
		if strings.Contains(path, "/") {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				return fmt.Errorf("there is no %s", path)
			}
		}
	}
	for _, w := range words[1:] {
		if name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "="); strings.HasPrefix(w, "-") && name != "" && name != "help" && name != "no-browser" {
			flag := regexp.MustCompile(`["` + "`" + `](--)?` + regexp.QuoteMeta(name) + `["` + "`" + `]`)
			shared := inFiles(filepath.Join(root, source), regexp.MustCompile(`/cmd/sumflags"`)) && inFiles(filepath.Join(root, "cmd/sumflags"), flag)
			if !shared && !inFiles(filepath.Join(root, source), flag) {
				return fmt.Errorf("%s has no flag %s", source, w)
			}
		}
	}
	return nil
}

// checkTest checks the packages of a go test, and that -run, -bench and -fuzz find something in them.
func checkTest(words []string) error {
	var dirs []string
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "./"):
			dir := filepath.Join(root, strings.TrimSuffix(w, "/..."))
			if _, err := os.Stat(dir); err != nil {
				return fmt.Errorf("there is no %s", w)
			}
			dirs = append(dirs, dir)
		case (w == "-run" || w == "-bench" || w == "-fuzz") && i+1 < len(words):
			name := strings.Split(strings.Trim(words[i+1], "'^$"), "/")[0]
			if name == "none" || name == "." {
				continue
			}
			for _, one := range strings.Split(name, "|") {
				found := regexp.MustCompile(`func \w*` + strings.TrimSuffix(one, "$") + `\w*\(`)
				if !slices.ContainsFunc(dirs, func(dir string) bool { return inFiles(dir, found) }) {
					return fmt.Errorf("no test is called %s", one)
				}
			}
		}
	}
	return nil
}

// inFiles reports whether the pattern is in a source below path.
func inFiles(path string, pattern *regexp.Regexp) (found bool) {
	filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); ext == ".go" || ext == ".py" || ext == ".sh" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found = found || pattern.Match(text)
		}
		return nil
	})
	return found
}

// TestOutputs: a block of text below a comment such as <!-- output: pkg/gppl ExampleFit --> is the output of that example, which
// go test holds it to.
func TestOutputs(t *testing.T) {
	claimed := regexp.MustCompile("(?s)<!-- output: (\\S+) (Example\\w+) -->\n+```text\n(.*?)```")
	count := 0
	for page, text := range documents(t) {
		for _, m := range claimed.FindAllStringSubmatch(text, -1) {
			count++
			if got := output(t, m[1], strings.TrimPrefix(m[2], "Example")); strings.TrimSpace(got) != strings.TrimSpace(m[3]) {
				t.Errorf("%s: %s in %s prints\n%s", page, m[2], m[1], got)
			}
		}
	}
	if count < 3 {
		t.Errorf("%d outputs are found: the pattern misses some", count)
	}
}

func output(t *testing.T, dir, name string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples(file) {
			if e.Name == name {
				return e.Output
			}
		}
	}
	return "nothing: there is no such example"
}

// TestVariables: an environment variable of this project's that a page names is read somewhere.
func TestVariables(t *testing.T) {
	names := regexp.MustCompile(`\bGPPL_[A-Z]+\b`)
	read := map[string]bool{}
	for page, text := range documents(t) {
		for _, name := range names.FindAllString(text, -1) {
			used, seen := read[name]
			if !seen {
				for _, dir := range []string{"pkg", "scripts", "cmd"} {
					used = used || inFiles(filepath.Join(root, dir), regexp.MustCompile(`\b`+name+`\b`))
				}
				read[name] = used
			}
			if !used {
				t.Errorf("%s: nothing reads %s", page, name)
			}
		}
	}
	if len(read) < 4 {
		t.Errorf("%d variables are found: the pattern misses some", len(read))
	}
}

// TestNoPaths: no file of the project names a path of the machine it was written on.
func TestNoPaths(t *testing.T) {
	local := regexp.MustCompile(`(^|[\s"'(=:` + "`" + `])/(root|work|home|Users)/\w`)
	if !local.MatchString("cd /home/me") || local.MatchString("pkg/home/x") {
		t.Error("the test does not tell a path of a machine from others")
	}
	listed, err := exec.Command("git", "-C", root, "ls-files", "*.md", "*.cff", "*.go", "*.sh", "*.py", "*.ipynb").Output()
	if err != nil {
		t.Skip("this is no checkout: ", err)
	}
	for _, name := range append(strings.Fields(string(listed)), "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) || strings.HasSuffix(name, "docs_test.go") {
			continue // removed, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if m := local.Find(text); m != nil {
			t.Errorf("%s names %q", name, m)
		}
	}
}

// TestWhereToFind: the files of the table in architecture.md exist.
func TestWhereToFind(t *testing.T) {
	_, table, _ := strings.Cut(documents(t)["docs/architecture.md"], "## Where do I find")
	table, _, _ = strings.Cut(table, "\n## ")
	count := 0
	for _, row := range strings.Split(table, "\n|") {
		folder := ""
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			path := m[1]
			if strings.Contains(path, "/") {
				folder = filepath.Dir(path)
			} else {
				path = filepath.Join(folder, path)
			}
			found, err := filepath.Glob(filepath.Join("..", path))
			if count++; err != nil || len(found) == 0 {
				t.Errorf("%s is not there: %v", path, err)
			}
		}
	}
	if count < 20 {
		t.Errorf("%d files: the pattern misses some", count)
	}
}

// repositoryFiles returns the paths of all files from the root, but for what git keeps and what setup.sh installs.
func repositoryFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if e.IsDir() && (e.Name() == ".git" || e.Name() == ".env") {
			return filepath.SkipDir
		}
		if !e.IsDir() {
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Files of the repository, as pages name them: by name, by path from the root or from a folder above, or by a pattern; and
// folders.
var (
	fileNamed   = regexp.MustCompile("`([\\w./*-]+\\.(?:go|py|sh|js|css|ipynb|j2|tmpl|svg))`")
	folderNamed = regexp.MustCompile("`((?:pkg|cmd|internal|measure|scripts|notebooks|beam|tools)/[\\w./*-]*)`")
)

// isThere reports whether a file has the name, or lies in a folder of that name.
func isThere(name string, files []string) bool {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	return slices.ContainsFunc(files, func(file string) bool {
		of := strings.Split(file, "/")
		for from := 0; from+len(parts) <= len(of); from++ {
			if ok, _ := path.Match(strings.Join(parts, "/"), strings.Join(of[from:from+len(parts)], "/")); ok {
				return true
			}
		}
		return false
	})
}

// elsewhere are names of files that are not in this repository: files of the paper's code, and files that a run writes.
var elsewhere = map[string]bool{"gp.py": true, "notebooks/out/": true, "notebooks/results/NAME.jsonl": true}

// TestFiles: the files and folders that the pages name exist. The changelog tells of files that were.
func TestFiles(t *testing.T) {
	files := repositoryFiles(t)
	if !isThere("kernel_se.go", files) || !isThere("internal/choice", files) || !isThere("pkg/gppl/engine_*.go", files) || isThere("gppl/kernel_none.go", files) {
		t.Error("the test does not tell files that are there from others")
	}
	count := 0
	for page, text := range documents(t) {
		if page == "CHANGELOG.md" {
			continue
		}
		text = fence.ReplaceAllString(text, "")
		for _, named := range []*regexp.Regexp{fileNamed, folderNamed} {
			for _, m := range named.FindAllStringSubmatch(text, -1) {
				if count++; !elsewhere[m[1]] && !isThere(m[1], files) {
					t.Errorf("%s names %s, which does not exist", page, m[1])
				}
			}
		}
	}
	if count < 200 {
		t.Errorf("%d files: the pattern misses some", count)
	}
}

// TestLines: no line of a Go file without tests is longer than the 130 characters of CONTRIBUTING.md.
func TestLines(t *testing.T) {
	const most = 130
	count := 0
	for _, name := range repositoryFiles(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if count++; utf8.RuneCountInString(line) > most {
				t.Errorf("%s:%d has %d characters, of %d at most", name, i+1, utf8.RuneCountInString(line), most)
			}
		}
	}
	if count < 50000 {
		t.Errorf("only %d lines were looked at", count)
	}
}
