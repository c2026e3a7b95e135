package timeline

// Cycles is a series on a constant step that is observed at the same places of every cycle: the opening hours of a day, the
// working days of a week.
type Cycles struct {
	Regular
	Length  int   // steps of a cycle, which begins at the first observation
	Open    []int // the places of a cycle that are observed, ascending from 0
	Count   int   // cycles, the last perhaps not complete
	Row     []int // place of each observation among the Len open places
	Holes   []int // open places without an observation, ascending
	Columns int   // about the number of columns that a factor is solved for, in place of one for each missing place of Regular
}

// Len returns the number of open places.
func (c *Cycles) Len() int { return c.Count * len(c.Open) }

// At returns the step of an open place.
func (c *Cycles) At(row int) int { return row/len(c.Open)*c.Length + c.Open[row%len(c.Open)] }

const (
	// longestCycle is the number of steps up to which cycles are looked for: a week of half hours has 336.
	longestCycle = 400
	// mostClosed is the number of closed places to an observation that a series may have.
	mostClosed = 4
	// mostHoles is the share of open places that may have no observation, such as holidays, relative to the observations.
	mostHoles = 0.25
	// fewestCycles is the least number of cycles.
	fewestCycles = 4
)

// CyclesOf finds the cycle of an ascending series that makes its factor cheapest; ok is false if it has none, or none of its
// places is closed.
func CyclesOf(t []float64) (c Cycles, ok bool) {
	n := len(t)
	grid, ok := RegularWithin(t, mostClosed, offGrid)
	if !ok || len(grid.Missing) == 0 {
		return c, false
	}
	most := int((1 + mostHoles) * float64(n))
	var best int
	lastLength := make([]int, longestCycle+1) // the last length tried at which a place was observed
	for length := 2; length <= min(longestCycle, grid.N/fewestCycles); length++ {
		count := (grid.N + length - 1) / length
		open := 0
		for _, p := range grid.Place {
			if at := p % length; lastLength[at] != length {
				lastLength[at] = length
				if open++; open*count > most {
					break
				}
			}
		}
		if open*count > most || open == length {
			continue
		}
		if columns := 6*open + 2*(open*count-n); best == 0 || columns < c.Columns {
			c.Length, c.Count, c.Columns, best = length, count, columns, length
		}
	}
	if best == 0 {
		return c, false
	}
	c.Regular = grid
	c.arrange()
	return c, true
}

// arrange sets the open places, the rows and the holes.
func (c *Cycles) arrange() {
	rank := make([]int, c.Length)
	for _, p := range c.Place {
		rank[p%c.Length] = 1
	}
	for at, observed := range rank {
		if observed > 0 {
			rank[at] = len(c.Open)
			c.Open = append(c.Open, at)
		}
	}
	next := 0
	for _, p := range c.Place {
		row := p/c.Length*len(c.Open) + rank[p%c.Length]
		for ; next < row; next++ {
			c.Holes = append(c.Holes, next)
		}
		c.Row = append(c.Row, row)
		next++
	}
	for ; next < c.Len(); next++ {
		c.Holes = append(c.Holes, next)
	}
}
