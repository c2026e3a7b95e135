package series

import (
	"regexp"
	"strconv"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// ReadOptions say how Read reads a csv file. The zero value takes column 1 as x and column 2 as y.
type ReadOptions struct {
	X, Y         string // a column by its name in the header or by its number from 1
	XUnit, YUnit string // for axes and tables; dates need no XUnit
	Comma        rune   // the field separator; 0: detected
	// DecimalComma says that numbers are written 1.025,10, and DecimalPoint 1,025.10; without either, each column shows it.
	DecimalComma, DecimalPoint bool
	NoHeader                   bool
	Missing                    []string           // texts for a missing value, besides an empty cell, NA, NaN and null
	Time                       dataset.TimeFormat // how x is written; "": detected
	// Backward says that x counts back in time, as ages and years before present do. x is then read as −x, with − before its
	// name.
	Backward bool
	// Last keeps only this number of the latest observations; 0 keeps all.
	Last int
	// YError is a column of known standard deviations of the observations (error bars), in the unit of y; "" for none.
	YError string
	// RelativeErrors says that YError gives the errors up to a common scale, which is learnt.
	RelativeErrors bool
	// Regressors are columns that are known in advance and on which y depends linearly. Their future values stand in rows without
	// y, or in the file Future, which has the columns of x and of the regressors.
	Regressors []string
	Future     string
	// By are the columns whose texts distinguish the series of a long table, for ReadPanel. Pooled reads all rows as one series.
	By     []string
	Pooled bool
	// Holidays is the ISO 3166 code of the country whose holidays y may depend on (Series.LearnHolidays); "" for none.
	Holidays string
	// Memory bounds, in bytes, the predicted memory of Read: the error is then a *gppl.MemoryError. 0 means no limit.
	Memory float64
	// Likelihood is the distribution of y, one of Likelihoods; auto recognises plain counts, and values that are 0 or 1. Size is
	// a column of exposures of counts, or of numbers of trials.
	Likelihood, Size string
	Bounds           *Bounds // y cannot leave them; nil for none

	future *futureRows // future rows of one series of a panel; nil: all rows of Future
}

// isValue reports whether a name in the header is a number or a date.
func isValue(name string) bool {
	if _, err := strconv.ParseFloat(name, 64); err == nil {
		return true
	}
	_, err := dataset.ParseDate(name)
	return err == nil || slashDate.MatchString(name)
}

// futureRows are the regressors in a file of future values.
type futureRows struct {
	x      []float64 // in seconds since 1970 if they are dates
	lines  []int
	values [][]float64
	dates  bool
	of     map[string][]int // the rows of each key of ReadOptions.By
}

// also returns the further columns to read: first the errors, then the sizes, then the regressors.
func (o ReadOptions) also() (columns []string) {
	if o.YError != "" {
		columns = append(columns, o.YError)
	}
	if o.Size != "" {
		columns = append(columns, o.Size)
	}
	return append(columns, o.Regressors...)
}

// slashDate matches a date that may have the day or the month first, which ParseDate does not read.
var slashDate = regexp.MustCompile(`^\d{1,2}[-/.]\d{1,2}[-/.]\d{4}$`)
