package dataset

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

// Long tables have the rows of several series below one another, and columns whose texts tell them apart.

// number returns the number of a text; a watched column with too many texts has 0 for further ones.
func (k *keyColumn) number(text string) (id int32, wrong *CSVProblem) {
	const longest, most, mostUnasked = 200, 200_000, 10_000 // bytes, and different texts
	id, met := k.ids[text]
	switch {
	case met:
		return id, nil
	case k.filled && text == "":
		return 0, problem("an empty cell tells no series apart").hint("if cells are merged, write the text in each row")
	case k.asked && (len(text) > longest || len(k.texts) >= most):
		return 0, problem("%s is a long text, or one of more than %d", quoted(text), most).
			hint("%s names the column that tells series apart", Setting{Field: "Keys"})
	case !k.asked && (len(text) > longest || len(k.texts) >= mostUnasked):
		return 0, nil
	}
	id, text = int32(len(k.texts)), strings.Clone(text)
	k.ids[text], k.texts = id, append(k.texts, text)
	return id, nil
}

// Watch looks in the rows of a table for those of several series: it keeps the texts of the columns that may tell series apart,
// with the x of their rows: all of up to 2¹⁸ rows, and of a longer table the rows of every x whose hash ends in enough zeros. So
// memory is bounded, and the order of the rows does not matter. [ReadCSVReport] and [StreamCSV] watch by themselves.
type Watch struct {
	keys  []keyColumn
	x     []float64
	ids   [][]int32 // of each column, the number of its text in each row
	zeros int
}

// NewWatch watches the columns with these numbers.
func NewWatch(columns ...int) *Watch {
	w := &Watch{ids: make([][]int32, len(columns))}
	for _, at := range columns {
		w.keys = append(w.keys, keyColumn{at: at, ids: map[string]int32{}})
	}
	return w
}

// keeps reports whether the rows of an x are kept.
func (w *Watch) keeps(x float64) bool {
	h := math.Float64bits(x + 0) // of -0, too
	h = (h ^ h>>31) * 0x9e3779b97f4a7c15
	return bits.TrailingZeros64(h^h>>32) >= w.zeros
}

// Add adds a row: its x, and the text of each watched column.
func (w *Watch) Add(x float64, text func(column int) string) {
	const most = 1 << 18 // rows
	if len(w.keys) == 0 || !w.keeps(x) {
		return
	}
	w.x = append(w.x, x)
	for j := range w.keys {
		id, _ := w.keys[j].number(text(w.keys[j].at))
		w.ids[j] = append(w.ids[j], id)
	}
	for len(w.x) > most {
		w.zeros++
		n := 0
		for i, x := range w.x {
			if w.keeps(x) {
				w.x[n] = x
				for _, ids := range w.ids {
					ids[n] = ids[i]
				}
				n++
			}
		}
		w.x = w.x[:n]
		for j := range w.ids {
			w.ids[j] = w.ids[j][:n]
		}
	}
}

func isWhole(text string) bool { return strings.Trim(text, "0123456789") == "" }

// CSVSeveral are the columns that tell the series of a long table apart. Its counts are those of a sample of the x if there are
// more than 2¹⁸ rows.
type CSVSeveral struct {
	Columns []int    // from 0; nil if there are none
	Texts   []string // some of the first
	Series  int
	Repeats int // values of x that occur more than once
	Values  int // different values of x
}

// Several looks, if more than a tenth of the x repeat, for the column, or the two, that tell the rows of an x apart: words rather
// than whole numbers, and one column rather than two.
func (w *Watch) Several() (s CSVSeveral) {
	order := make([]int, len(w.x)) // of the rows by x
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(w.x[i], w.x[j]) })
	for k, i := range order {
		if k == 0 || w.x[i] != w.x[order[k-1]] {
			s.Values++
		} else if k == 1 || w.x[i] != w.x[order[k-2]] {
			s.Repeats++
		}
	}
	for cost := 0; 10*s.Repeats > s.Values && cost < 4; cost++ {
		for a := range w.keys {
			for b := a; b < len(w.keys); b++ {
				of := min(b-a, 1) // for a pair, and 2 for numbers
				if isWhole(strings.Join(slices.Concat(w.keys[a].texts, w.keys[b].texts), "")) {
					of += 2
				}
				if of != cost {
					continue
				}
				if s.Series = w.apart(order, a, b, s.Values); s.Series > 1 {
					s.Columns = slices.Compact([]int{w.keys[a].at, w.keys[b].at})
					s.Texts = w.keys[a].texts[:min(len(w.keys[a].texts), 3)]
					return s
				}
			}
		}
	}
	return s
}

// apart returns how many series two columns tell apart; 0 if rows of a series share an x, or if series have a few rows, or a few
// of the different x.
func (w *Watch) apart(order []int, a, b, different int) int {
	const fewest, share, repeats = 3, 0.3, 0.02 // rows of a series; its part of the x; rows with the x of another
	last := map[[2]int32]float64{}              // the x that each series had last
	most, same := float64(len(order))/max(fewest, share*float64(different)), 0.0
	for _, i := range order {
		series := [2]int32{w.ids[a][i], w.ids[b][i]}
		if x, met := last[series]; met && x == w.x[i] {
			same++
		}
		last[series] = w.x[i]
		if float64(len(last)) > most || same > repeats*float64(len(order)) {
			return 0
		}
	}
	return len(last)
}

// keyColumn numbers the texts of a column.
type keyColumn struct {
	at     int // from 0
	ids    map[string]int32
	texts  []string
	asked  bool // CSVOptions.Keys names it; otherwise it is watched
	filled bool // an empty cell is a problem
}
