package dataset

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// column returns the index of the column that spec names or, if no name fits, numbers from 1; an empty spec is the number
// otherwise.
func column(names []string, spec string, otherwise int) (int, error) {
	if spec == "" {
		if otherwise <= len(names) {
			return otherwise - 1, nil
		}
		spec = strconv.Itoa(otherwise)
	}
	if i := slices.Index(names, spec); i >= 0 {
		if slices.Index(names[i+1:], spec) >= 0 {
			return 0, fmt.Errorf("more than one column is named %s: choose it by number", quoted(spec))
		}
		return i, nil
	}
	if plain := bracketed.ReplaceAllString(spec, "$1"); plain != spec {
		return column(names, plain, otherwise)
	}
	if n, err := strconv.Atoi(spec); err == nil && 1 <= n && n <= len(names) {
		return n - 1, nil
	}
	return 0, noColumn(names, spec)
}

// noColumn lists the columns that there are: all if they are few, else those whose names are the most like spec.
func noColumn(names []string, spec string) error {
	const all, some = 6, 4
	list := timeline.Range(0, len(names))
	more := ""
	if len(names) > all {
		apart := make([]int, len(names))
		for i, name := range names {
			apart[i] = text.Distance(strings.ToLower(spec), strings.ToLower(name))
		}
		slices.SortStableFunc(list, func(a, b int) int { return apart[a] - apart[b] })
		list, more = list[:some], fmt.Sprintf(", and %d more", len(names)-some)
	}
	have := make([]string, len(list))
	for k, i := range list {
		have[k] = columnName(names, i)
	}
	switch {
	case len(names) == 1 && strings.ContainsAny(names[0], ",;\t|"):
		more = ": each line is one field between quotation marks; remove those around whole lines"
	case len(names) == 1:
		more = ", and x and y are two columns; awk '{print NR \";\" $0}' FILE puts numbers 1, 2, 3, … before the lines; " +
			"or remove lines above the header, or name the character between the fields: CSVOptions.Comma"
	}
	return fmt.Errorf("no column %s; there are %s%s", quoted(spec), strings.Join(have, ", "), more)
}

func columnName(names []string, i int) string {
	if names[i] == "" {
		return fmt.Sprintf("column %d", i+1)
	}
	return fmt.Sprintf("column %d (%s)", i+1, quoted(names[i]))
}

// cellText is the text of a cell; one that is not UTF-8 is read as Latin-1.
func cellText(cell []byte) string {
	if utf8.Valid(cell) {
		return string(cell)
	}
	return windows.Replace(oldLetter.ReplaceAllStringFunc(latin1(cell), oldLetters.Replace))
}

// windows has signs where Latin-1 has control characters, oldLetters those of DOS and old Macs, and a Polish one, within words.
var (
	windows    = strings.NewReplacer("\u0080", "€", "\u0092", "’", "\u0096", "–", "\u0097", "—")
	oldLetter  = regexp.MustCompile(`\pL[\x{80}-\x{9f}]\pL`)
	oldLetters = strings.NewReplacer("\u0081", "ü", "\u0082", "é", "\u0084", "ä", "\u008a", "ä", "\u008e", "é", "\u0094", "ö",
		"o\u0096t", "oût", "o\u009et", "oût", "\u009f", "ź")
)
