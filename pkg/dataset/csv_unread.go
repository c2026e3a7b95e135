package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// unread gathers, block by block, the rows that could not be read. It tells totals between the rows, and what stands below the
// table, from those that are wrong.
type unread struct {
	bad        CSVRowsError
	totals     []CSVRowError
	spans      []span // of the rows between the totals
	rows, last int    // those that were read, and the line of the last
	waiting    map[int]unread
	next       int // block
}

// span is the range of the x of some rows.
type span struct{ lo, hi float64 }

var noSpan = span{math.Inf(1), math.Inf(-1)}

func (a span) with(b span) span { return span{min(a.lo, b.lo), max(a.hi, b.hi)} }

// unreadOf is that of a block. It does not keep the block.
func unreadOf(b *CSVBlock) (u unread) {
	from := 0
	rows := func(before int) { // a line
		all := noSpan
		for ; from < len(b.X) && b.Lines[from] < before; from++ {
			if x := b.X[from]; x < all.lo { // min and max take longer
				all.lo = x
			}
			if x := b.X[from]; x > all.hi {
				all.hi = x
			}
		}
		u.spans = append(u.spans, all)
	}
	for _, row := range b.Bad {
		if total.MatchString(row.words) {
			u.totals = append(u.totals, row)
			rows(row.Line)
		} else {
			u.bad.Add(row)
		}
	}
	rows(math.MaxInt)
	if u.rows = len(b.X) - b.open; len(b.X) > 0 {
		u.last = b.Lines[len(b.X)-1]
	}
	return u
}

// Wrong returns the first bad row of a block that is sure to be wrong: neither a total nor below all rows of the table.
func (b *CSVBlock) Wrong() (row CSVRowError, found bool) {
	i := slices.IndexFunc(b.Bad, func(r CSVRowError) bool { return !total.MatchString(r.words) })
	if i < 0 || len(b.Lines) == 0 || b.Bad[i].Line > b.Lines[len(b.Lines)-1] {
		return row, false
	}
	return b.Bad[i], true
}

// add takes the blocks in any order. Totals beyond mostLine are bad rows, so that memory is bounded.
func (u *unread) add(block int, of unread) {
	if u.waiting == nil {
		u.waiting, u.spans = map[int]unread{}, []span{noSpan}
	}
	u.waiting[block] = of
	for of, is := u.waiting[u.next]; is; of, is = u.waiting[u.next] {
		delete(u.waiting, u.next)
		u.next++
		u.spans[len(u.spans)-1] = u.spans[len(u.spans)-1].with(of.spans[0])
		if len(u.totals)+len(of.totals) <= mostLine {
			u.totals, u.spans = append(u.totals, of.totals...), append(u.spans, of.spans[1:]...)
		} else {
			u.bad.Add(of.totals...)
		}
		u.bad.Add(of.bad.Rows...)
		u.bad.More += of.bad.More
		u.rows, u.last = u.rows+of.rows, max(u.last, of.last)
	}
}

// again reports whether some rows between totals have x of the range of others: the table begins once more.
func (u *unread) again() bool {
	spans := slices.DeleteFunc(slices.Clone(u.spans), func(s span) bool { return s == noSpan })
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	for i := 1; i < len(spans); i++ {
		if spans[i].lo <= spans[i-1].hi {
			return true
		}
	}
	return false
}

// settle writes into rep what is below the table, how many totals are between its rows, unless each ends a table, and what is
// wrong. err is that of the file.
func (u *unread) settle(rep *CSVReport, tables bool, err error) error {
	if !tables {
		rep.Totals, _ = slices.BinarySearchFunc(u.totals, u.last, func(r CSVRowError, line int) int { return r.Line - line })
	}
	u.bad.Add(u.totals[rep.Totals:]...)
	if err == nil {
		below, wrong := u.bad.below(u.rows, u.last)
		if wrong != nil {
			return wrong
		}
		if below {
			rep.Below = u.bad.Rows
			return nil
		}
	}
	rep.Bad = u.bad
	return err
}

// tableBelowError is that of another table below the one that is read.
type tableBelowError struct{ error }

// below reports whether all are lines of words below the last of some rows; or, where rows are many more, the lines of another
// table, of which the first is words. Another table is an error where they are not.
func (e *CSVRowsError) below(rows, last int) (below bool, err error) {
	const most = 2 // rows for each line of another table
	if rows == 0 || len(e.Rows) == 0 || e.Rows[0].Line <= last || e.Rows[0].words == "" {
		return false, nil
	}
	lines := len(e.Rows) + e.More
	switch words := !slices.ContainsFunc(e.Rows, func(r CSVRowError) bool { return r.words == "" }); {
	case words && e.More == 0:
		return true, nil
	case lines < mostBad: // some may be rows of this table
		return false, nil
	case most*lines > rows:
		err = fmt.Errorf("another table seems to begin at line %d, with %s: write each table to a file of its own",
			e.Rows[0].Line, quoted(e.Rows[0].words))
		return false, tableBelowError{err}
	}
	return true, nil
}
