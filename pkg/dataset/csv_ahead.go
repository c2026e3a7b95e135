package dataset

import (
	"io"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// rowsAhead are the rows of a reader, which divides lines in a goroutine of its own while the rows before them are read.
type rowsAhead struct {
	batches, spare chan *rowBatch
	done           chan struct{}
	reading        parallel.Group
	now            *rowBatch
	taken          int // rows of now
	bytes          int // of text since they were last counted
}

// rowBatch are rows that follow one another, and what ended them.
type rowBatch struct {
	rows  []row
	cells []string // of all rows
	bytes int
	err   error
}

// readAhead begins to read; stop must follow.
func readAhead(r *rowReader) *rowsAhead {
	const ahead, rows = 2, 1024
	a := &rowsAhead{batches: make(chan *rowBatch, ahead), spare: make(chan *rowBatch, ahead+2), done: make(chan struct{}),
		now: new(rowBatch)}
	for range cap(a.spare) {
		a.spare <- new(rowBatch)
	}
	a.reading.Go(func() {
		defer close(a.batches)
		for {
			b := <-a.spare
			b.rows, b.cells = b.rows[:0], b.cells[:0]
			for len(b.rows) < rows && b.err == nil {
				var next row
				if next, b.err = r.next(); b.err == nil {
					from := len(b.cells)
					b.cells = append(b.cells, next.cells...)
					next.cells = b.cells[from:len(b.cells):len(b.cells)]
					b.rows = append(b.rows, next)
				}
			}
			b.bytes, r.bytes = r.bytes, 0
			select {
			case a.batches <- b:
			case <-a.done:
				return
			}
			if b.err != nil {
				return
			}
		}
	})
	return a
}

// next returns the next row, whose cells hold until the next call; io.EOF if there is none.
func (a *rowsAhead) next() (row, error) {
	for a.taken == len(a.now.rows) {
		if a.now.err != nil {
			return row{}, a.now.err
		}
		select {
		case a.spare <- a.now:
		default: // the first, which never was one of them
		}
		next, ok := <-a.batches
		if !ok {
			return row{}, io.ErrUnexpectedEOF // stop tells of the panic that ended the reading
		}
		a.now, a.taken = next, 0
		a.bytes += next.bytes
	}
	a.taken++
	return a.now.rows[a.taken-1], nil
}

// stop ends the reading.
func (a *rowsAhead) stop() {
	close(a.done)
	a.reading.Wait()
}
