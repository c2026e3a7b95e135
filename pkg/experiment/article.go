package experiment

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed article.md.tmpl
var articleText string

// Article is docs/reproduction.md: an article in the form of ReScience C, with the verdicts and numbers of the rows filled in.
func Article(rows []Row) (string, error) {
	row := func(id string) (Row, error) {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id })
		if i < 0 {
			return Row{}, fmt.Errorf("experiment: the article names row %q, which is not in the ledger", id)
		}
		return rows[i], nil
	}
	t, err := template.New("article").Funcs(template.FuncMap{
		"summary": func() string { return Summary(rows) },
		"share":   func() string { return shareOf(rows) },
		"counts":  func() string { return countsOf(rows) },
		"distinct": func() string {
			d := distinctClaims(rows)
			return fmt.Sprintf("%d distinct claims: %s", len(d), countsOf(d))
		},
		"claims": func(statuses ...string) string {
			return list(rows, func(r Row) bool { return inWords[r.Group] && slices.Contains(statuses, string(r.Status)) })
		},
		"numbers": func(statuses ...string) string {
			return list(rows, func(r Row) bool {
				return !inWords[r.Group] && r.Group != GroupBetter && slices.Contains(statuses, string(r.Status))
			})
		},
		"groups": func() string { return groupTable(rows) },
		"row": func(id string) (string, error) {
			r, err := row(id)
			return strings.TrimRight(r.Ours, ". "), err
		},
		"status": func(id string) (string, error) {
			r, err := row(id)
			return string(r.Status), err
		},
	}).Parse(articleText)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = t.Execute(&text, nil)
	return text.String(), err
}

// list prints the chosen rows as bullet points.
func list(rows []Row, chosen func(Row) bool) string {
	var text strings.Builder
	for _, r := range rows {
		if !chosen(r) {
			continue
		}
		fmt.Fprintf(&text, "- **%s** (paper: %s; %s", strings.TrimRight(r.Claim, "."), r.Published, r.Status)
		if r.Of != "" {
			fmt.Fprintf(&text, "; a further case of `%s`", r.Of)
		}
		text.WriteString(")")
		before := ": "
		for _, s := range []string{r.Ours, r.Why} {
			if s = strings.TrimRight(s, ". "); s != "" {
				text.WriteString(before + s + ".")
				before = " Remark: "
			}
		}
		fmt.Fprintf(&text, " Row `%s`.\n", r.ID)
	}
	return strings.TrimRight(text.String(), "\n")
}

// groupTable has a line for each group of the ledger.
func groupTable(rows []Row) string {
	var groups []string
	of := map[string][]Row{}
	for _, r := range rows {
		if of[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		of[r.Group] = append(of[r.Group], r)
	}
	var text strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&text, "| %s | %d | %s |\n", g, len(of[g]), countsOf(of[g]))
	}
	return strings.TrimRight(text.String(), "\n")
}
