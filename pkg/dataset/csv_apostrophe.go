package dataset

import (
	"bufio"
	"bytes"
	"strings"
)

// apostrophes returns a reader of a table that has no apostrophes around its fields: '2020-01-01';'1,5' is 2020-01-01;"1,5".
// Other tables, in which no two lines after one another have a number or a date in such a field, stay as they are.
func apostrophes(r *bufio.Reader) *bufio.Reader {
	head, _ := r.Peek(headSize) // an error is met again by the first read
	before := false
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, newline)
		head = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		has := hasApostrophe(line)
		if has && before {
			return bufio.NewReaderSize(&lineEditor{lines: r, edit: plainFields}, headSize)
		}
		before = has
	}
	return r
}

// hasApostrophe reports whether a line has a number or a date in a field with apostrophes.
func hasApostrophe(line []byte) bool {
	if bytes.IndexByte(line, '\'') < 0 {
		return false
	}
	for i, field := range strings.FieldsFunc(string(line), func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(field), "'"); ok && !(i == 0 && isShortYear(text)) {
			if text = strings.TrimSuffix(text, "'"); text != "" && (isNumber(text) || dateFormat(text) != TimeAuto) {
				return true
			}
		}
	}
	return false
}

// isShortYear reports whether what follows an apostrophe, in the first field, makes it a year: '90.
func isShortYear(text string) bool { return len(text) == 2 && isDigits(text) }

// fieldText is the field that a line begins with.
func fieldText(line []byte) string {
	if end := bytes.IndexAny(line, separators+"\n"); end >= 0 {
		line = line[:end]
	}
	return strings.TrimSpace(string(line))
}

// separators are those of fields in which apostrophes matter: blanks are none.
const separators = ",;\t|"

// plainFields returns a line without apostrophes around its fields.
func plainFields(line []byte) (out []byte) {
	open := false // a field before was not closed
	for at := 0; at < len(line); {
		if line[at] == '\'' {
			text, size, closed := apostropheText(line[at+1:], open)
			if open = open || !closed; closed {
				if bytes.ContainsAny(text, separators+"\"") {
					out = append(append(append(out, '"'), bytes.ReplaceAll(text, []byte(`"`), []byte(`""`))...), '"')
				} else {
					out = append(out, text...)
				}
				at += 1 + size
			} else if at+1 < len(line) && line[at+1]-'0' <= 9 && !(at == 0 && isShortYear(fieldText(line[1:]))) {
				at++
			}
		}
		quoted := 0
		if at < len(line) && line[at] == '"' {
			quoted = bytes.IndexByte(line[at+1:], '"') + 2
		}
		end := quoted + bytes.IndexAny(line[min(at+quoted, len(line)):], separators) + 1
		if end == quoted {
			return append(out, line[at:]...)
		}
		out = append(out, line[at:at+end]...)
		at += end
	}
	return out
}

// apostropheText is a field that an apostrophe opened, and the bytes up to behind the one that closes it. Two stand for one
// within. open says that a field before was not closed: what follows the apostrophes that this one begins with was searched then,
// in vain.
func apostropheText(field []byte, open bool) (text []byte, size int, closed bool) {
	for i := 0; i < len(field); i++ {
		if field[i] != '\'' {
			if open {
				break
			}
			text = append(text, field[i])
			continue
		}
		if i+1 == len(field) || field[i+1] == '\n' || bytes.IndexByte([]byte(separators), field[i+1]) >= 0 {
			return text, i + 1, true
		}
		if field[i+1] == '\'' {
			i++
		}
		text = append(text, '\'')
	}
	return nil, 0, false
}
