package forecast

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/internal/lists"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/internal/words"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Channels are series of a long table that observe one function (gppl.Channel): instruments, or a velocity and activity indices.
type Channels struct {
	Series *Series  // the observations of all channels
	Column string   // that says which channel a row belongs to, "series" if there is one channel
	Names  []string // in the order in which they are met
	Of     []int    // the channel of each observation
	// Exposure is how long each observation averages about its x, in the unit of the axis; nil for instantaneous observations.
	Exposure []float64
}

// mostChannels bounds the number of channels, and fewestOf the observations of each.
const mostChannels, fewestOf = 64, 3

// ReadChannels reads the observations of a long table. column, a name or a number from 1, says to which channel a row belongs; ""
// if all rows belong to one. exposure is how long each observation averages about its x: a number in the unit of x (in seconds
// for dates) or the name of a column of such numbers; "" for instantaneous observations. The options are those of Read but for
// By, Regressors, Future, Holidays, Likelihood, Size and Bounds, which channels do not have.
func ReadChannels(path, column, exposure string, o ReadOptions) (*Channels, error) {
	o.By, o.Regressors, o.Future, o.Holidays, o.Size, o.Bounds, o.Likelihood = nil, nil, "", "", "", nil, "gaussian"
	if column != "" {
		o.By = []string{column}
	}
	one, err := dataset.ParseNumber(exposure)
	if err != nil {
		o.Size = exposure // a further column of numbers
	}
	shown := dataset.Shown(path)
	s, rep, failed := read(path, o)
	if failed == nil {
		failed = o.checkRoles(shown, rep)
	}
	if failed != nil {
		return nil, failed
	}
	rows := timeline.Ascending(s.X)
	dropped := 0
	if o.Last > 0 && len(rows) > o.Last {
		dropped = len(rows) - o.Last
		rows, o.Last = rows[dropped:], 0
	}
	part, partial := partOf(s, rep, rows, nil)
	partial.Rows, partial.Skipped, partial.Also.KeyColumns = rep.Rows, rep.Skipped, nil
	c := &Channels{}
	at := o.sizeColumn()
	o.Size = ""
	if c.Series, failed = o.series(shown, part, partial); failed != nil {
		return nil, failed
	}
	c.Series.Source.Dropped, c.Series.Duplicates = dropped, nil // channels may be observed at the same time
	if exposure != "" {
		values := slices.Repeat([]float64{one}, len(rows))
		name, lines := "", []int(nil)
		if err != nil {
			name, values, lines = partial.Also.Names[at], partial.Also.Values[at], partial.Also.Lines
		}
		if err := c.setExposure(values, name, lines); err != nil {
			return nil, fmt.Errorf("forecast: %s: %w", shown, err)
		}
	}
	if column == "" {
		c.Column, c.Names, c.Of = "series", []string{c.Series.YName}, make([]int, len(rows))
		return c, nil
	}
	key := rep.Also.KeyColumns[0]
	c.Column = cmp.Or(rep.Columns[key], fmt.Sprintf("column %d", key+1))
	number := map[int32]int{}
	for _, id := range timeline.Pick(rep.Also.Keys[0], rows) {
		at, known := number[id]
		if !known {
			at = len(c.Names)
			number[id] = at
			c.Names = append(c.Names, rep.Also.KeyTexts[0][id])
		}
		c.Of = append(c.Of, at)
	}
	switch n := len(c.Names); {
	case n == 1:
		return nil, fmt.Errorf("forecast: %s: column %q has one text, %q, in all rows, and channels are two at least",
			shown, c.Column, c.Names[0])
	case n > mostChannels:
		return nil, fmt.Errorf("forecast: %s: column %q has %d different texts, and there are at most %d channels",
			shown, c.Column, n, mostChannels)
	}
	for i, n := range c.Counts() {
		if n < fewestOf {
			return nil, fmt.Errorf("forecast: %s: channel %q has %s, and at least %d are needed",
				shown, c.Names[i], words.Count(n, "observation"), fewestOf)
		}
	}
	return c, nil
}

// setExposure sets exposures, checked, in the unit of the axis.
func (c *Channels) setExposure(values []float64, name string, lines []int) error {
	unit := 1.
	if a := c.Series.Axis; a.Dates {
		if a.Day > 0 {
			return fmt.Errorf("exposures of a series by calendar months: write x as numbers")
		}
		unit = unitSeconds[a.Unit]
	}
	c.Exposure = make([]float64, len(values))
	for i, v := range values {
		if !(v >= 0 && v <= largest) {
			where := ""
			if lines != nil {
				where = fmt.Sprintf("line %d: ", lines[i])
			}
			what := fmt.Sprint(v)
			if v != v {
				what = "missing"
			}
			return fmt.Errorf("%sthe exposure%s is %s: want a length of time from 0",
				where, map[bool]string{true: " (" + name + ")"}[name != ""], what)
		}
		c.Exposure[i] = v / unit
	}
	return nil
}

// Data returns the observations, with their errors.
func (c *Channels) Data() gppl.Data {
	d := gppl.Data{X: gppl.Scalars(c.Series.X), Y: c.Series.Y}
	if c.Series.Relative {
		d.Relative = c.Series.Errors
	} else {
		d.Errors = c.Series.Errors
	}
	return d
}

// rowsOf returns the observations of a channel.
func (c *Channels) rowsOf(channel int) (rows []int) {
	return lists.Places(c.Of, func(of int) bool { return of == channel })
}

// Counts returns how many observations each channel has.
func (c *Channels) Counts() []int {
	counts := make([]int, len(c.Names))
	for _, of := range c.Of {
		counts[of]++
	}
	return counts
}
