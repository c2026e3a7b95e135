package ledger

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

//go:embed article.md.tmpl
var articleText string

//go:embed errata.md.tmpl
var errataText string

// Article is docs/reproduction.md, with the verdicts and numbers of the rows.
func Article(rows []Row) (string, error) { return page(articleText, rows) }

// ErrataPage is docs/errata.md.
func ErrataPage(rows []Row) (string, error) { return page(errataText, rows) }

// page fills a template in.
func page(text string, rows []Row) (string, error) {
	t, err := template.New("page").Funcs(template.FuncMap{
		"summary": func() string { return Summary(rows) },
		"claims":  func() string { return claimTable(rows) },
		"numbers": func(group, unit string) string { return numberTable(rows, group, unit) },
		"counts":  func(group string) string { return counts(ofGroup(rows, group)) },
		"errata":  func(section string) string { return errataTable(rows, section) },
		"status": func(id string) (string, error) {
			for _, r := range rows {
				if r.ID == id {
					return string(r.Status), nil
				}
			}
			return "", fmt.Errorf("ledger: there is no row %q", id)
		},
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, nil)
	return out.String(), err
}

// ofGroup returns the rows of a group.
func ofGroup(rows []Row, group string) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Group != group })
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

func claimTable(rows []Row) string {
	var out strings.Builder
	out.WriteString("| claim | verdict | evidence, and why |\n|---|---|---|\n")
	for _, r := range rows {
		if r.Group == Claims {
			ours, _, _ := strings.Cut(r.Ours, "; ")
			fmt.Fprintf(&out, "| %s *(%s)* | **%s** `%s` | %s |\n", cell(r.Claim), cell(r.Published), r.Status, r.ID,
				cell(sentences(ours, r.Why)))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// numberTable has the numbers of a group, with their unit in its head.
func numberTable(rows []Row, group, unit string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "| number | published%[1]s | ours%[1]s | verdict |\n|---|---|---|---|\n", unit)
	for _, r := range rows {
		if r.Group == group {
			ours, _, _ := strings.Cut(r.Ours, "; ")
			text := fmt.Sprintf("| %s | %s | %s | %s |\n", cell(r.Claim), cell(r.Published), cell(ours), r.Status)
			out.WriteString(strings.ReplaceAll(text, " nats", ""))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

func errataTable(rows []Row, section string) string {
	of := map[string]string{}
	for _, x := range errata {
		of[x.ID] = x.Section
	}
	var out strings.Builder
	out.WriteString("| where | printed, or done | correction | effect | row |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		if r.Group == Errata && of[r.ID] == section {
			fmt.Fprintf(&out, "| %s | %s | %s | %s | `%s`%s |\n", cell(r.Published), cell(r.Claim), cell(r.Why), cell(r.Ours), r.ID,
				map[bool]string{true: "", false: ": " + string(r.Status)}[r.Status == Corrected])
		}
	}
	return strings.TrimRight(out.String(), "\n")
}
