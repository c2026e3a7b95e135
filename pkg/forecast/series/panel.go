package series

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// Member is one of the series of a long table.
type Member struct {
	Key    []string // the texts of the columns of ReadOptions.By
	Series *Series  // nil if there is an error
	Err    error
}

// ReadPanel reads the series of a long table, which the columns of ReadOptions.By distinguish, in the order of their first rows.
// Each is read as Read reads a file with only its rows, except that all rows together show how numbers and dates are written.
// ReadOptions.Future has the same columns. Rows that do not form a series become a member with an error; the error of ReadPanel
// is about the file.
func ReadPanel(ctx context.Context, path string, o ReadOptions) ([]Member, error) {
	if len(o.By) == 0 {
		panic("series: ReadPanel: ReadOptions.By is empty")
	}
	shown := dataset.Shown(path)
	s, rep, err := read(ctx, path, o)
	if err == nil {
		err = o.checkRoles(shown, rep)
	}
	if err != nil {
		return nil, err
	}
	m := rep.Also
	rows, open := rowsOf(m.KeyTexts, m.Keys, s.Len()), rowsOf(m.KeyTexts, m.Open.Keys, len(m.Open.X))
	future := map[string]futureRows{}
	if o.Future != "" {
		all, err := o.futureOf(o.regressorNames(m), rep)
		if err != nil {
			return nil, err
		}
		future = all.split()
	}
	var members []Member
	for _, key := range append(rows.keys, slices.DeleteFunc(open.keys, func(key string) bool { return rows.of[key] != nil })...) {
		of := o
		if o.Future != "" {
			ahead := future[key]
			of.future = &ahead
		}
		part, partial := partOf(s, rep, rows.of[key], open.of[key])
		member := Member{Key: strings.Split(key, keySeparator)}
		member.Series, member.Err = of.series(fmt.Sprintf("%s, %s", shown, member.text(o.By)), part, partial)
		named, constant := member.Series, (*ConstantError)(nil)
		if errors.As(member.Err, &constant) {
			named = constant.Series
		}
		if named != nil {
			named.Source.Part = strings.Join(member.Key, ", ")
		}
		members = append(members, member)
	}
	return members, nil
}

// text writes the key in messages: store "north".
func (m Member) text(by []string) string {
	var parts []string
	for j, text := range m.Key {
		parts = append(parts, fmt.Sprintf("%s %q", by[j], text))
	}
	return strings.Join(parts, ", ")
}

// keySeparator separates the texts of several columns.
const keySeparator = "\x1f"

// keyAt returns the joined texts of row i.
func keyAt(texts [][]string, ids [][]int32, i int) string {
	key := make([]string, len(ids))
	for j := range key {
		key[j] = strings.ReplaceAll(texts[j][ids[j][i]], keySeparator, " ")
	}
	return strings.Join(key, keySeparator)
}

// keyRows has the rows of each key, and the keys in their order.
type keyRows struct {
	keys []string
	of   map[string][]int
}

func rowsOf(texts [][]string, ids [][]int32, n int) keyRows {
	r := keyRows{of: map[string][]int{}}
	for i := range n {
		key := keyAt(texts, ids, i)
		if r.of[key] == nil {
			r.keys = append(r.keys, key)
		}
		r.of[key] = append(r.of[key], i)
	}
	return r
}

// partOf returns some rows of a file, with a report as if the file had no others.
func partOf(s dataset.Series, rep dataset.CSVReport, rows, open []int) (dataset.Series, dataset.CSVReport) {
	some := func(r dataset.CSVRows, at []int) dataset.CSVRows {
		part := dataset.CSVRows{X: timeline.Pick(r.X, at), Lines: timeline.Pick(r.Lines, at)}
		for _, v := range r.Values {
			part.Values = append(part.Values, timeline.Pick(v, at))
		}
		return part
	}
	m := rep.Also
	rep.Also = dataset.CSVMore{Names: m.Names, Columns: m.Columns, CSVRows: some(m.CSVRows, rows), Open: some(m.Open, open)}
	rep.Rows, rep.Skipped = len(rows)+len(open), len(open)
	return s.Select(rows), rep
}

// split returns the rows of each key.
func (f futureRows) split() map[string]futureRows {
	out := map[string]futureRows{}
	for key, at := range f.of {
		part := futureRows{x: timeline.Pick(f.x, at), lines: timeline.Pick(f.lines, at), dates: f.dates}
		for _, v := range f.values {
			part.values = append(part.values, timeline.Pick(v, at))
		}
		out[key] = part
	}
	return out
}

// plainName matches the name of a column that needs no quotes in a shell.
var plainName = regexp.MustCompile(`^[\pL_][\pL\pN_.-]*$`)

// OneSeries returns an error if a table holds several series and is not Pooled: x repeat, and one or two columns distinguish the
// rows of an x. [Read] and [Stream] call it.
func (o ReadOptions) OneSeries(rep dataset.CSVReport) error {
	several := rep.Several
	if o.Pooled || several.Columns == nil {
		return nil // the notes mention the repeated x if there are any
	}
	var names []string
	var settings []any
	for _, at := range several.Columns {
		name := rep.Columns[at]
		if name == "" {
			names = append(names, strconv.Itoa(at+1))
		} else {
			names = append(names, fmt.Sprintf("%q", name))
		}
		if o.NoHeader || !plainName.MatchString(name) {
			name = strconv.Itoa(at + 1)
		}
		settings = append(settings, dataset.Setting{Field: "By", Value: name})
	}
	var texts []string
	for _, text := range several.Texts {
		texts = append(texts, strconv.Quote(text))
	}
	tell, what := "tells", "column"
	if len(several.Columns) > 1 {
		tell, what = "tell", "columns"
	}
	return message("there are %d series: %d of %d values of x are repeated, "+
		"and the %s %s %s their rows apart (%s, …). %v makes a series of each; %v takes all rows for one",
		several.Series, several.Repeats, several.Values,
		what, strings.Join(names, " and "), tell, strings.Join(texts, ", "), joined(settings), dataset.Setting{Field: "Pooled"})
}
