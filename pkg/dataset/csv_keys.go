package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// Bounds of the texts of CSVOptions.Keys: bytes of one, and how many different ones there are in all columns.
const (
	longestKey = 200
	mostKeys   = 200_000
)

// noKey stands for a text beyond the bounds.
const noKey = -1

// keyColumn numbers the texts of a column.
type keyColumn struct {
	place int
	of    map[string]int32
	texts []string
}

// number returns that of a text; noKey if it is beyond the bounds, of which all is the number of texts so far.
func (k *keyColumn) number(text []byte, all *int) int32 {
	if id, ok := k.of[string(text)]; ok {
		return id
	}
	if len(text) > longestKey || *all >= mostKeys {
		return noKey
	}
	*all++
	id := int32(len(k.texts))
	k.of[string(text)] = id
	k.texts = append(k.texts, cellText(text))
	return id
}

// keyNumbers adds the numbers of the texts of a row to b. It is an error, of a place, if one is beyond the bounds, unless that
// may be.
func (s *csvStream) keyNumbers(b *CSVBlock, fields [][]byte) (place int, err error) {
	for j := range s.keys {
		k := &s.keys[j]
		text := trim(fields[k.place])
		id := k.number(text, &s.keysMet)
		if id == noKey && !s.keysMay {
			what := fmt.Sprintf("a text of %d bytes, and one that names a series has at most %d", len(text), longestKey)
			if len(text) <= longestKey {
				what = fmt.Sprintf("more than %d different texts", mostKeys)
			}
			return k.place, fmt.Errorf("%s (is this the column that tells series apart?)", what)
		}
		b.keys[j] = append(b.keys[j][:len(b.X)], id)
	}
	return 0, nil
}

// Bounds of the search for columns that tell series apart.
const (
	mostSearched = 16      // columns that are looked at
	mostSampled  = 100_000 // rows, of some x each, that are compared
	sampled      = 50_000  // rows that are wanted
	fewestRows   = 3       // of a series, in the mean
	wholeShare   = 0.3     // of all x that a series has, in the mean, if a column of whole numbers tells it
	fewRepeats   = 0.02    // rows with the x of another one of their series
	mostPaired   = 6       // columns of which pairs are tried
	mostTold     = 3       // texts of a column that are returned
)

// KeyColumns looks for the one or two columns that tell the series of a long table apart: texts or whole numbers, each of which
// occurs several times, and hardly ever twice at the same x. It returns them, counted from 0, with some of their texts (and "…"
// for more), and the number of series; nil if there are none. rep is the report of the table, which had rows rows and distinct
// different x. Of the columns that will do, texts go before numbers, and fewer series before more; y is one of them only if opt
// names none and no others will do. It reads the file again, or looks at the first 4 MiB of what can be read once; it considers
// at most 16 columns, and compares some 50 000 rows.
func KeyColumns(path string, opt CSVOptions, rep CSVReport, rows, distinct int) (
	columns []int, texts []string, series int, err error) {
	var text io.Reader = bytes.NewReader(rep.Head)
	if rep.Head == nil {
		f, err := Open(path)
		if err != nil {
			return nil, nil, 0, err
		}
		defer f.Close()
		text = f
	}
	taken := append([]int{rep.X, rep.Y}, rep.Also.Columns...)
	var candidates []int
	if opt.Y == "" { // it was taken as the first column of numbers, as that of shops may be
		candidates = append(candidates, rep.Y)
	}
	opt.Also, opt.Keys, opt.MaxRows = nil, nil, 0
	for i := range rep.Columns {
		if !slices.Contains(taken, i) && len(candidates) < mostSearched {
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 || len(candidates) == 1 && candidates[0] == rep.Y {
		return nil, nil, 0, nil
	}
	sample := keySample{every: uint64(1 + rows/sampled), ids: make([][]int32, len(candidates))}
	stream := &csvStream{opt: opt, size: blockSize, keysMay: true, searched: candidates}
	stream.visit = func(_ int, b *CSVBlock) error { sample.add(b); return nil }
	if err := stream.run(text, 1); err != nil {
		return nil, nil, 0, err
	}
	found, series := sample.find(stream.keys, distinct, opt.Y == "")
	for _, j := range found {
		columns = append(columns, candidates[j])
		some := stream.keys[j].texts
		if texts = append(texts, some[:min(mostTold, len(some))]...); len(some) > mostTold {
			texts = append(texts, "…")
		}
	}
	return columns, texts, series, nil
}

// keySample is some of the rows: all of some x.
type keySample struct {
	every uint64
	x     []float64
	ids   [][]int32 // of each column
	rows  int       // of the table
}

// add takes the rows of a block whose x is drawn.
func (k *keySample) add(b *CSVBlock) {
	k.rows += len(b.X)
	for i, x := range b.X {
		const mix = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
		if len(k.x) >= mostSampled || (math.Float64bits(x)*mix>>32)%k.every != 0 {
			continue
		}
		k.x = append(k.x, x)
		for j := range k.ids {
			k.ids[j] = append(k.ids[j], b.keys[j][i])
		}
	}
}

// find returns the best column or pair of columns, and the number of their different values. withY says that the first is y: it
// is one of them only where others will not do, and where another column has numbers.
func (k *keySample) find(keys []keyColumn, distinct int, withY bool) (best []int, series int) {
	type candidate struct {
		columns []int
		whole   bool // numbers
		series  int
		y       bool
	}
	var all []candidate
	try := func(columns []int, whole bool, ids []int64) {
		n, repeats := k.count(ids)
		share := float64(k.rows) / float64(n)
		few := share < fewestRows || whole && share < wholeShare*float64(distinct)
		if n < 2 || few || float64(repeats) > fewRepeats*float64(len(k.x)) {
			return
		}
		all = append(all, candidate{columns, whole, n, withY && columns[0] == 0})
	}
	others := func(columns []int) bool { // numbers that may be y
		for j := range keys {
			if whole, ok := kindOf(keys[j].texts); !slices.Contains(columns, j) && (whole || !ok) && len(keys[j].texts) > 1 {
				return true
			}
		}
		return false
	}
	single := make([][]int64, len(keys))
	var useful []int
	kinds := make([]bool, len(keys))
	for j := range keys {
		kind, ok := kindOf(keys[j].texts)
		if !ok || len(keys[j].texts) < 2 || slices.Contains(k.ids[j], noKey) {
			continue
		}
		kinds[j] = kind
		for _, id := range k.ids[j] {
			single[j] = append(single[j], int64(id))
		}
		useful = append(useful, j)
		try([]int{j}, kind, single[j])
	}
	if len(all) == 0 {
		useful = useful[:min(len(useful), mostPaired)]
		for at, i := range useful {
			for _, j := range useful[at+1:] {
				pair := make([]int64, len(k.x))
				for r := range pair {
					pair[r] = single[i][r]<<32 | single[j][r]
				}
				try([]int{i, j}, kinds[i] || kinds[j], pair)
			}
		}
	}
	all = slices.DeleteFunc(all, func(c candidate) bool { return c.y && !others(c.columns) })
	if len(all) == 0 {
		return nil, 0
	}
	last := map[bool]int{true: 1}
	first := slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(last[a.y]-last[b.y], last[a.whole]-last[b.whole], a.series-b.series)
	})
	return first.columns, first.series
}

// count returns how many different values there are, and how many rows repeat the x and the value of another one.
func (k *keySample) count(ids []int64) (values, repeats int) {
	order := timeline.Range(0, len(ids))
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(ids[a], ids[b]), cmp.Compare(k.x[a], k.x[b])) })
	for i, at := range order {
		switch {
		case i == 0 || ids[order[i-1]] != ids[at]:
			values++
		case k.x[order[i-1]] == k.x[at]:
			repeats++
		}
	}
	return values, repeats
}

// kindOf tells whether texts are whole numbers; ok is false if they are numbers of another kind, which do not name anything.
func kindOf(texts []string) (whole, ok bool) {
	numbers := 0
	for _, text := range texts {
		w, isNumber := splitNumber(text)
		if !isNumber {
			continue
		}
		if numbers++; w.exponent != "" || w.unit != "" || strings.Trim(w.digits, "0123456789") != "" {
			return false, false
		}
	}
	return numbers > 0 && 2*numbers > len(texts), true
}
