package dataset

import (
	"math"
	"slices"
	"strings"
)

// Long tables have the rows of several series below one another, and columns whose texts tell them apart.

// keyColumn numbers the texts of a column.
type keyColumn struct {
	at     int // from 0
	ids    map[string]int32
	texts  []string
	asked  bool // CSVOptions.Keys names it; otherwise it is watched, as it may tell series apart
	filled bool // an empty cell is a problem
}

// number returns the number of a text; a watched column with too many texts has 0 for further ones.
func (k *keyColumn) number(text string) (id int32, wrong *CSVProblem) {
	const longest, most, mostWatched = 200, 200_000, 10_000 // bytes, and different texts
	id, met := k.ids[text]
	switch {
	case met:
		return id, nil
	case k.filled && text == "":
		return 0, problem("an empty cell tells no series apart").hint("if cells are merged, write the text in each row")
	case k.asked && (len(text) > longest || len(k.texts) >= most):
		return 0, problem("%s is a long text, or one of more than %d", quoted(text), most).
			hint("%s names the column that tells series apart", Setting{Field: "Keys"})
	case !k.asked && len(k.texts) >= mostWatched:
		return 0, nil
	}
	id, text = int32(len(k.texts)), strings.Clone(text)
	k.ids[text], k.texts = id, append(k.texts, text)
	return id, nil
}

// watch notes the columns of CSVOptions.Keys or, without these, those that may tell series apart: words or whole numbers that
// repeat in the sample, y among them if no option names it.
func (t *table) watch(rows []row) {
	const most = 6
	for _, at := range t.rep.Also.KeyColumns {
		t.keys = append(t.keys, keyColumn{at: at, ids: map[string]int32{}, asked: true, filled: at != t.rep.Y})
	}
	for at := 0; at < t.width && t.whole && len(t.rep.Also.KeyColumns) == 0 && len(t.keys) < most; at++ {
		texts := map[string]bool{}
		for _, row := range rows {
			if cell := row.at(at); isWhole(cell) || t.sortOf(cell) == word {
				texts[cell] = true
			} else {
				texts = nil
				break
			}
		}
		if texts != nil && t.free(at) && 2*len(texts) <= len(rows) {
			t.keys = append(t.keys, keyColumn{at: at, ids: map[string]int32{}})
		}
	}
}

func isWhole(text string) bool { return strings.Trim(text, "0123456789") == "" }

// CSVSeveral are the columns that tell the series of a long table apart.
type CSVSeveral struct {
	Columns []int    // from 0; nil if there are none
	Texts   []string // some of the first
	Series  int
	Repeats int // values of x that occur more than once
	Values  int // different values of x
}

// collect takes the rows of a file with y as a series. Further columns are in the report, with open rows apart.
func (t *table) collect(b *CSVBlock) (s Series) {
	m := &t.rep.Also
	m.Values, m.OpenValues = make([][]float64, len(b.also)), make([][]float64, len(b.also))
	m.Keys, m.OpenKeys = make([][]int32, len(b.keys)), make([][]int32, len(b.keys))
	for _, k := range t.keys {
		m.KeyTexts = append(m.KeyTexts, k.texts)
	}
	if len(b.also)+len(b.keys) == 0 { // rows without y have been skipped
		m.Lines = b.Lines
		return Series{X: b.X, Y: b.Y}
	}
	for i, y := range b.Y {
		x, lines, values, keys := &s.X, &m.Lines, m.Values, m.Keys
		if math.IsNaN(y) {
			x, lines, values, keys = &m.OpenX, &m.OpenLines, m.OpenValues, m.OpenKeys
		} else {
			s.Y = append(s.Y, y)
		}
		*x, *lines = append(*x, b.X[i]), append(*lines, b.Lines[i])
		for j := range values {
			values[j] = append(values[j], b.also[j][i])
		}
		for j := range keys {
			keys[j] = append(keys[j], b.keys[j][i])
		}
	}
	return s
}

// several looks, if more than a tenth of the x repeat, for the column, or the two, that tell the rows of an x apart: words rather
// than whole numbers.
func (t *table) several(x []float64) {
	if len(t.rep.Also.KeyColumns) > 0 || len(t.keys) == 0 {
		return
	}
	s, ids, sorted := &t.rep.Several, t.rep.Also.Keys, slices.Sorted(slices.Values(x))
	t.rep.Also.Keys, t.rep.Also.OpenKeys, t.rep.Also.KeyTexts = nil, nil, nil
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			s.Values++
		} else if i == 1 || v != sorted[i-2] {
			s.Repeats++
		}
	}
	if 10*s.Repeats <= s.Values {
		return
	}
	least := math.MaxInt
	for a := range t.keys {
		for b := a; b < len(t.keys); b++ {
			cost := min(b-a, 1) // for a pair, and 2 for numbers
			if isWhole(strings.Join(slices.Concat(t.keys[a].texts, t.keys[b].texts), "")) {
				cost += 2
			}
			if series := apart(x, ids[a], ids[b], s.Values); series > 1 && cost < least {
				least, s.Series, s.Columns = cost, series, slices.Compact([]int{t.keys[a].at, t.keys[b].at})
				s.Texts = t.keys[a].texts[:min(len(t.keys[a].texts), 3)]
			}
		}
	}
}

// apart returns how many series two columns tell apart, by the numbers of their texts; 0 if rows of a series share an x, or if
// series have a few rows, or a few of the different x.
func apart(x []float64, a, b []int32, different int) int {
	const fewest, share, repeats = 3, 0.3, 0.02 // rows of a series; its part of the x; rows with the x of another
	series, rows := map[[2]int32]bool{}, map[[3]uint64]bool{}
	for i, v := range x {
		series[[2]int32{a[i], b[i]}] = true
		rows[[3]uint64{uint64(a[i]), uint64(b[i]), math.Float64bits(v)}] = true
	}
	n, mean := float64(len(x)), float64(len(x))/float64(len(series))
	if mean < max(fewest, share*float64(different)) || n-float64(len(rows)) > repeats*n {
		return 0
	}
	return len(series)
}
