package dataset

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// aligned writes tabulators between the columns of a table of blanks in which each stands below its name and some rows have blank cells: words do not
// tell these apart. A column ends where the first lines, the header among them, all have blanks. It is nil for other texts.
func aligned(r *bufio.Reader, opt CSVOptions) *bufio.Reader {
	const fewest = 5 // rows
	texts, starts, _ := tableLines(r, opt)
	if len(texts) <= fewest || opt.NoHeader || strings.ContainsAny(strings.Join(texts, ""), "\t;|,\"") {
		return nil
	}
	head, _ := r.Peek(headSize)
	var lines [][]byte
	for _, at := range starts {
		line, _, _ := bytes.Cut(head[at:], newline)
		lines = append(lines, bytes.TrimRight(line, " "))
	}
	names := len(strings.Fields(texts[0]))
	longest := len(slices.MaxFunc(lines, func(a, b []byte) int { return len(a) - len(b) }))
	var ends []int
	gap := 0 // where the blanks begin that all lines have
	for at := range longest {
		all := !slices.ContainsFunc(lines, func(line []byte) bool { return at < len(line) && line[at] != ' ' })
		if !all && gap > 0 && gap < at {
			ends = append(ends, gap)
		}
		if !all {
			gap = at + 1
		}
	}
	if len(ends) != names-1 || !slices.ContainsFunc(texts, func(text string) bool { return len(strings.Fields(text)) < names }) ||
		slices.ContainsFunc(strings.Split(string(tabbed(lines[0], ends)), "\t"), func(name string) bool { return len(strings.Fields(name)) != 1 }) {
		return nil
	}
	return bufio.NewReaderSize(&alignedReader{lines: r, ends: ends}, headSize)
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
