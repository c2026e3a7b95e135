package dataset

import (
	"io"
	"slices"
	"strings"
)

// mostRows bounds the rows that are held until all columns prove how they are written.
const mostRows = 4 << 20

// prove finds how the columns are written by the rows of the head and, of a file that is read whole, by those that follow, until
// that is known. It returns all rows that were read. What the columns do not prove is one error.
func (t *table) prove(head []row, rest *rowReader) ([]row, error) {
	x := newTimeFinder(t.opt, t.rep.Columns[t.rep.X])
	finders := []*numberFinder{&x.numberFinder}
	for range t.numbers[1:] {
		finders = append(finders, &numberFinder{opt: t.opt})
	}
	most := mostRows
	if t.opt.MaxRows > 0 {
		most = min(most, t.opt.MaxRows+1)
	}
	for i, settled := 0, false; !settled && i < most && (i < len(head) || t.whole); i++ {
		if i == len(head) {
			row, err := rest.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			head = append(head, row)
		}
		if cell := head[i].at(t.rep.X); !t.missing(cell, false) {
			x.add(cell, head[i].line)
		}
		settled = x.settled()
		for k, f := range finders[1:] {
			if cell := head[i].at(t.numbers[k+1].at); !t.missing(cell, true) {
				f.add(cell, head[i].line)
			}
			settled = settled && f.proof != ""
		}
	}
	var wrong CSVError
	add := func(at int, p *CSVProblem) {
		if p != nil {
			p.Column = t.column(at)
			wrong.Add(*p)
		}
	}
	var p *CSVProblem
	t.rep.Time, t.rep.Numbers, p = x.format()
	add(t.rep.X, p)
	t.unit = unixUnits[t.rep.Time].perSecond
	if t.rep.Dates() {
		t.rep.Period = x.period
	}
	pointed := x.count == 0 && strings.Contains(x.example, ".") // dates with points
	file := ""
	if slices.ContainsFunc(finders, func(f *numberFinder) bool { return f.marks != "" && f.proof == "" }) {
		file = t.decimalSign(head)
	}
	for k, f := range finders {
		if k > 0 || f.count > 0 {
			t.numbers[k].style, p = f.style(file, pointed)
			add(t.numbers[k].at, p)
		}
	}
	if len(wrong.Problems) > 0 {
		return nil, &wrong
	}
	y := t.numbers[1].style
	t.rep.Unit, t.rep.DecimalComma = y.unit, y.comma && !t.opt.DecimalComma
	return head, nil
}

// decimalSign returns the decimal sign that cells of the columns prove, read or not: "" if none does, "both" if they differ.
func (t *table) decimalSign(rows []row) (sign string) {
	const most = 100 // columns that are looked at
	for at := range min(t.width, most) {
		f := numberFinder{opt: t.opt}
		for _, r := range rows[:min(len(rows), headRows)] {
			if cell := r.at(at); !t.missing(cell, true) {
				f.add(cell, r.line)
			}
		}
		switch {
		case f.proof == "" || f.proof == sign:
		case sign == "":
			sign = f.proof
		default:
			return "both"
		}
	}
	return sign
}
