package ledger

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

//go:embed *.tmpl
var templates embed.FS

// Article is docs/reproduction.md, with the verdicts and numbers of the rows.
func Article(rows []Row) (string, error) { return page("article.md.tmpl", rows) }

// ErrataPage is docs/errata.md.
func ErrataPage(rows []Row) (string, error) { return page("errata.md.tmpl", rows) }

// page fills a template in.
func page(name string, rows []Row) (string, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"summary":   func() string { return Summary(rows) },
		"rows":      func(group string) []Row { return ofGroup(rows, group) },
		"errata":    func(section string) []Row { return ofSection(rows, section) },
		"counts":    func(group string) string { return counts(ofGroup(rows, group)) },
		"cell":      cell,
		"first":     func(text string) string { first, _, _ := strings.Cut(text, "; "); return first },
		"plain":     func(text string) string { return strings.ReplaceAll(text, " nats", "") },
		"sentences": sentences,
		"status": func(id string) (Status, error) {
			i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
			if i < 0 {
				return "", fmt.Errorf("ledger: there is no row %q", id)
			}
			return rows[i].Status, nil
		},
	}).ParseFS(templates, name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.ExecuteTemplate(&out, name, nil)
	return out.String(), err
}

// ofSection returns the errata of a section of docs/errata.md.
func ofSection(rows []Row, section string) (some []Row) {
	for i, r := range ofGroup(rows, Errata) {
		if errata[i].Section == section {
			some = append(some, r)
		}
	}
	return some
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(strings.TrimRight(text, ". "), "|", `\|`) }

// sentences joins texts that are not empty.
func sentences(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t = strings.TrimRight(t, ". "); t != "" {
			first, size := utf8.DecodeRuneInString(t)
			all = append(all, string(unicode.ToUpper(first))+t[size:]+".")
		}
	}
	return strings.Join(all, " ")
}
