package dataset

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// aligned writes tabulators between the columns of a table of blanks in which some rows have blank cells or some names blanks: words do not
// tell these apart. A column ends where the first lines all have blanks: the header among them, if each column stands below its name, or the rows alone, if the header has a name for each of
// their columns. What stands above the header, but for its line ends, is left out: title is how many lines that is. It is nil for other texts.
func aligned(r *bufio.Reader, opt CSVOptions) (columns *bufio.Reader, title int) {
	const fewest = 5 // rows
	texts, starts, above := tableLines(r, opt)
	if len(texts) <= fewest || opt.NoHeader || strings.Contains(texts[len(texts)-1], ",") || strings.ContainsAny(strings.Join(texts, ""), "\t;|\"") {
		return nil, 0
	}
	value := func(text string) bool {
		word := strings.Fields(text)[0]
		return isNumber(word) || dateFormat(word) != TimeAuto
	}
	header := 0
	for header+fewest < len(texts) && slices.ContainsFunc(texts[header+1:header+1+fewest], func(text string) bool { return !value(text) }) {
		header++
	}
	if header+fewest >= len(texts) {
		header = 0 // rows begin with words
	}
	head, _ := r.Peek(headSize)
	var lines [][]byte
	for i, at := range starts[header:] {
		if i > fewest && header > 0 && !value(texts[header+i]) { // what is below the table
			break
		}
		line, _, _ := bytes.Cut(head[at:], newline)
		lines = append(lines, bytes.TrimRight(line, " "))
	}
	names := strings.Fields(texts[header])
	ends := gapsOf(lines)
	named := len(ends) == len(names)-1 && !slices.ContainsFunc(strings.Split(string(tabbed(lines[0], ends)), "\t"), func(name string) bool { return len(strings.Fields(name)) != 1 })
	if below, phrases := gapsOf(lines[1:]), apart.Split(texts[header], -1); !named || len(below) == len(phrases)-1 { // of several words, some
		ends, names = below, phrases
	}
	if len(ends) < 1 || len(ends) != len(names)-1 || strings.Contains(strings.Join(texts[header:], ""), ",") || value(texts[header]) || header > 0 && !startsWithWord.MatchString(texts[header]) ||
		!slices.ContainsFunc(texts[header:], func(text string) bool { return len(strings.Fields(text)) < len(names) }) && len(strings.Fields(texts[header])) == len(names) {
		return nil, 0
	}
	size, instead := starts[header]+bytes.IndexByte(head[starts[header]:], '\n')+1, strings.Repeat("\n", above[header])+strings.Join(names, "\t")+"\n"
	return bufio.NewReaderSize(&alignedReader{lines: cut(r, size, ""), left: []byte(instead), ends: ends}, headSize), above[header]
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

// alignedReader writes tabulators into each line.
type alignedReader struct {
	lines *bufio.Reader
	ends  []int
	left  []byte
}

func (a *alignedReader) Read(p []byte) (n int, err error) {
	if len(a.left) == 0 {
		line, err := a.lines.ReadBytes('\n')
		text := bytes.TrimSuffix(line, newline)
		if a.left = line; len(bytes.TrimSpace(text)) > 0 && !isRuler(text) {
			a.left = append(tabbed(text, a.ends), line[len(text):]...)
		}
		if len(a.left) == 0 {
			return 0, err
		}
	}
	n = copy(p, a.left)
	a.left = a.left[n:]
	return n, nil
}

var _ io.Reader = (*alignedReader)(nil)
