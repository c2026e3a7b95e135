package dataset

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// aligned writes tabulators between the columns of a table of fixed width in which some cells are blank, or some names have
// several words: blanks alone do not tell its columns apart. What stands above the header, but for its line ends, is left out:
// title is how many lines that is. It is nil for other texts.
func aligned(r *bufio.Reader, opt CSVOptions) (columns *bufio.Reader, title int) {
	const fewest = 5 // rows
	texts, starts, above := tableLines(r, opt)
	others := func(text string) bool { return strings.ContainsAny(text, "\t;|\"") }
	if len(texts) <= fewest || opt.NoHeader || separates(texts[len(texts)-1]) || slices.ContainsFunc(texts, others) {
		return nil, 0
	}
	// The middle is in the table, whatever stands above and below.
	if middle := texts[len(texts)/2]; !strings.Contains(middle, " ") || separates(middle) {
		return nil, 0
	}
	isRow := func(text string) bool {
		word := strings.Fields(text)[0]
		return isNumber(word) || dateFormat(word) != TimeAuto
	}
	header := 0
	noRow := func(text string) bool { return !isRow(text) }
	for header+fewest < len(texts) && slices.ContainsFunc(texts[header+1:header+1+fewest], noRow) {
		header++
	}
	if header+fewest >= len(texts) {
		header = 0 // rows begin with words
	}
	head, _ := r.Peek(headSize)
	var lines [][]byte
	for i, at := range starts[header:] {
		if i > fewest && header > 0 && !isRow(texts[header+i]) { // what is below the table
			break
		}
		line, _, _ := bytes.Cut(head[at:], newline)
		lines = append(lines, bytes.TrimRight(line, " "))
	}
	texts, from := texts[header:], starts[header]
	if isRow(texts[0]) || header > 0 && !startsWithWord.MatchString(texts[0]) || slices.ContainsFunc(texts, separates) {
		return nil, 0
	}
	words := len(strings.Fields(texts[0]))
	names, ends := alignedNames(texts[0], lines)
	blank := slices.ContainsFunc(texts, func(text string) bool { return len(strings.Fields(text)) < len(names) })
	if len(ends) == 0 || len(ends) != len(names)-1 || !blank && words == len(names) {
		return nil, 0
	}
	instead := strings.Repeat("\n", above[header]) + strings.Join(names, "\t") + "\n"
	rows := cut(r, from+bytes.IndexByte(head[from:], '\n')+1, "")
	tabs := &lineEditor{lines: rows, left: []byte(instead), edit: func(line []byte) []byte {
		text := bytes.TrimSuffix(line, newline)
		if len(bytes.TrimSpace(text)) == 0 || isRuler(text) {
			return line
		}
		return append(tabbed(text, ends), line[len(text):]...)
	}}
	return bufio.NewReaderSize(tabs, headSize), above[header]
}

// alignedNames returns the names of columns and where all but the last of these end: at blanks that the header and the rows have,
// if each column then has a name of one word, or at those that the rows have, if these have as many columns as there are names.
func alignedNames(header string, lines [][]byte) (names []string, ends []int) {
	names, ends = strings.Fields(header), gapsOf(lines)
	named := strings.Split(string(tabbed(lines[0], ends)), "\t")
	others := func(name string) bool { return len(strings.Fields(name)) != 1 }
	oneWord := len(ends) == len(names)-1 && !slices.ContainsFunc(named, others)
	if below, phrases := gapsOf(lines[1:]), apart.Split(header, -1); !oneWord || len(below) == len(phrases)-1 {
		return phrases, below
	}
	return names, ends
}

// decimalComma is a number with one comma, between digits.
var decimalComma = regexp.MustCompile(`^[^,]*\d,\d[^,]*$`)

// separates reports whether a line has a comma that is no decimal sign.
func separates(text string) bool {
	return strings.Contains(text, ",") && slices.ContainsFunc(strings.Fields(text), func(word string) bool {
		return strings.Contains(word, ",") && !(decimalComma.MatchString(word) && isNumber(word))
	})
}

// gapsOf are the places at which blanks begin that all of some lines have.
func gapsOf(lines [][]byte) (ends []int) {
	longest := len(slices.MaxFunc(lines, func(a, b []byte) int { return len(a) - len(b) }))
	gap := 0
	for at := range longest {
		all := !slices.ContainsFunc(lines, func(line []byte) bool { return at < len(line) && line[at] != ' ' })
		if !all && gap > 0 && gap < at {
			ends = append(ends, gap)
		}
		if !all {
			gap = at + 1
		}
	}
	return ends
}

// tabbed writes a tabulator at each place. A line with a word there keeps it, and has a field less.
func tabbed(line []byte, places []int) []byte {
	line = slices.Clone(line)
	for _, at := range places {
		for len(line) <= at {
			line = append(line, ' ')
		}
		if line[at] == ' ' {
			line[at] = '\t'
		}
	}
	return line
}
