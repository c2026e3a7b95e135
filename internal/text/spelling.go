package text

import "strings"

// head returns the part of a name that is compared.
func head(name string) string {
	const most = 64
	return name[:min(len(name), most)]
}

// Distance returns the number of insertions, deletions and replacements of bytes that make b of a (Levenshtein), of their
// first 64 bytes.
func Distance(a, b string) int {
	a, b = head(a), head(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the name that contains spec or, if none does, the one that the smallest number of changes makes of it, whatever
// their case. Of several it returns the first; of none "".
func Nearest(spec string, names []string) (nearest string) {
	spec = strings.ToLower(spec)
	least := -1
	for _, name := range names {
		lower := strings.ToLower(name)
		apart := Distance(spec, lower)
		if strings.Contains(lower, spec) {
			apart = 0
		}
		if least < 0 || apart < least {
			nearest, least = name, apart
		}
	}
	return nearest
}
