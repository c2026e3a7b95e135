package dataset

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// Long tables have the rows of several series below one another, and columns whose texts tell them apart.

// textColumn numbers the texts of a column.
type textColumn struct {
	at    int // index of the column
	ids   map[string]int32
	texts []string
}

func newTextColumn(at int) textColumn { return textColumn{at: at, ids: map[string]int32{}} }

func (c *textColumn) number(text string) int32 {
	id, met := c.ids[text]
	if !met {
		id, text = int32(len(c.texts)), strings.Clone(text)
		c.ids[text], c.texts = id, append(c.texts, text)
	}
	return id
}

// mostWatched is the largest number of columns that are watched.
const mostWatched = 6

// Watch finds out whether the rows of a table belong to several series. It keeps the texts of the columns that may tell series
// apart, with the x of their rows: all of up to 2¹⁸ rows, and of a longer table the rows of every x whose hash ends in a
// sufficient number of zeros. So memory is bounded, and the order of the rows does not matter. [ReadCSVReport] and [StreamCSV]
// watch by themselves.
type Watch struct {
	columns []textColumn
	rows    []watchedRow
	zeros   int
	mu      sync.Mutex
}

type watchedRow struct {
	row int
	x   float64
	ids [mostWatched]int32 // numbers of the texts
}

// NewWatch watches the columns with these indices, at most six.
func NewWatch(columns ...int) *Watch {
	w := new(Watch)
	for _, at := range columns {
		w.columns = append(w.columns, newTextColumn(at))
	}
	return w
}

// Add adds a row: its number, its x, and the text of each watched column. Several goroutines may add rows, in any order.
func (w *Watch) Add(row int, x float64, text func(column int) string) {
	const most, mostTexts = 1 << 18, 10_000 // numbers of rows, and of different texts of a column
	passed := func(r watchedRow) bool {
		h := math.Float64bits(r.x + 0) // −0 and 0 have one hash
		h = (h ^ h>>31) * 0x9e3779b97f4a7c15
		return bits.TrailingZeros64(h^h>>32) < w.zeros
	}
	if len(w.columns) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := watchedRow{row: row, x: x}
	if passed(r) {
		return
	}
	for j := range w.columns {
		if c := &w.columns[j]; len(c.texts) < mostTexts {
			r.ids[j] = c.number(text(c.at))
		}
	}
	for w.rows = append(w.rows, r); len(w.rows) > most; {
		w.zeros++
		w.rows = slices.DeleteFunc(w.rows, passed)
	}
}

// CSVSeveral holds the columns that tell the series of a long table apart. Its counts are from a sample of the x if there are
// more than 2¹⁸ rows.
type CSVSeveral struct {
	Columns []int    // indices of the columns; nil if there are none
	Texts   []string // up to three texts of the first column
	Series  int
	Repeats int // number of values of x that occur more than once
	Values  int // number of different values of x
}

// Several returns the column, or the two columns, that tell rows with the same x apart. It looks for them only if more than a
// tenth of the x repeat, and prefers words to whole numbers, and one column to two.
func (w *Watch) Several() (s CSVSeveral) {
	slices.SortFunc(w.rows, func(a, b watchedRow) int { return cmp.Compare(a.x, b.x) })
	for i, r := range w.rows {
		if i == 0 || r.x != w.rows[i-1].x {
			s.Values++
		} else if i == 1 || r.x != w.rows[i-2].x {
			s.Repeats++
		}
	}
	for cost := 0; 10*s.Repeats > s.Values && cost < 4; cost++ {
		for a := range w.columns {
			for b := a; b < len(w.columns); b++ {
				of := min(b-a, 1) // 1 is for a pair, and 2 for numbers
				if isWhole(strings.Join(slices.Concat(w.columns[a].texts, w.columns[b].texts), "")) {
					of += 2
				}
				if of != cost {
					continue
				}
				if s.Series = w.apart(a, b, s.Values); s.Series > 1 {
					s.Columns = slices.Compact([]int{w.columns[a].at, w.columns[b].at})
					s.Texts = w.firstTexts(a)
					return s
				}
			}
		}
	}
	return s
}

// firstTexts returns the first three texts of a column, or fewer, in the order of their first rows.
func (w *Watch) firstTexts(j int) (texts []string) {
	first := map[int32]int{}
	for _, r := range w.rows {
		if row, met := first[r.ids[j]]; !met || r.row < row {
			first[r.ids[j]] = r.row
		}
	}
	ids := slices.SortedFunc(maps.Keys(first), func(a, b int32) int { return cmp.Compare(first[a], first[b]) })
	for _, id := range ids[:min(len(ids), 3)] {
		texts = append(texts, w.columns[j].texts[id])
	}
	return texts
}

// apart returns how many series two columns tell apart. It is 0 if rows of a series share an x, or if series have hardly any rows
// or too small a share of the different x.
func (w *Watch) apart(a, b, different int) int {
	const (
		least   = 3    // rows that a series has at least
		share   = 0.3  // share of the x that a series has at least
		repeats = 0.02 // share of rows that may have the x of another row of their series
	)
	last := map[[2]int32]float64{} // latest x of each series
	most, same := float64(len(w.rows))/max(least, share*float64(different)), 0.0
	for _, r := range w.rows {
		series := [2]int32{r.ids[a], r.ids[b]}
		if x, met := last[series]; met && x == r.x {
			same++
		}
		last[series] = r.x
		if float64(len(last)) > most || same > repeats*float64(len(w.rows)) {
			return 0
		}
	}
	return len(last)
}
