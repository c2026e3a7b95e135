package dataset

import (
	"bufio"
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// comments looks at a table that begins with lines starting with #, or with %. Unless the first of them can only be the header,
// it makes them comments and, where the row after them has values only, the last of them the header.
func comments(r *bufio.Reader, opt *CSVOptions) {
	head, _ := r.Peek(headSize)
	sign := "#"
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("%")) {
		sign = "%"
	}
	mark := rune(sign[0])
	if opt.Comma == mark {
		return
	}
	var lines []string // that start with it
	first := ""
	for line := range headLines(r) {
		if text := strings.TrimSpace(string(line)); strings.HasPrefix(text, sign) {
			lines = append(lines, strings.TrimSpace(strings.TrimLeft(text, sign)))
		} else if first = text; first != "" {
			break
		}
	}
	if len(lines) == 0 || first == "" {
		return
	}
	if opt.NoHeader || !allValues(first, *opt) {
		opt.Comment = mark
		return
	}
	comma := opt.separatorOf(first)
	width := len(split(first, comma))
	opt.Comment, opt.NoHeader = mark, true
	for i, last := range slices.Backward(lines) {
		names := split(last, comma)
		if len(lines) == 1 && len(names) == width && comma != ' ' {
			opt.Comment, opt.NoHeader = 0, false
			return // the header, as it is
		}
		if len(names) != width {
			names = apart.Split(last, -1)
		}
		if len(names) == width && width > 1 {
			different := len(slices.Compact(slices.Sorted(slices.Values(names))))
			if above := split(lines[max(0, i-1)], comma); len(above) == width && different < width {
				names = above // of units, which repeat
			}
			for k, name := range names {
				names[k] = strings.Trim(name, ",;") // between blanks
			}
			opt.names = names
		}
		if opt.names != nil || i < len(lines)-mostEmpty {
			return
		}
	}
}

// mostEmpty is how far above the rows the comment with the names may stand: an empty one may follow it.
const mostEmpty = 2

// apart is what stands between names in a comment where they are not separated as the values are.
var apart = regexp.MustCompile(`\s*[,;|\t]\s*|\s{2,}`)

// separatorOf is the separator of a line of values.
func (opt CSVOptions) separatorOf(line string) rune {
	if opt.Comma != 0 {
		return opt.Comma
	}
	return separator(bufio.NewReader(strings.NewReader(line+"\n"+line+"\n")), opt)
}

func split(line string, comma rune) []string {
	if comma == ' ' {
		return strings.Fields(line)
	}
	return strings.Split(line, string(comma))
}

// allValues reports whether all fields of a line are numbers, dates, times of day or missing.
func allValues(line string, opt CSVOptions) bool {
	for _, field := range split(line, opt.separatorOf(line)) {
		field = strings.TrimSpace(field)
		number, _ := withoutFlag(field, "")
		_, ok := splitNumber(number)
		missing := slices.Contains([]string{"", "NA", "NaN", "---"}, field) || slices.Contains(opt.Missing, field)
		if !ok && !isDate(field) && !clock.MatchString(field) && !missing {
			return false
		}
	}
	return true
}
