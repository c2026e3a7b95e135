// Package competition reads the series of M3, M4 and the tourism competition, and the forecasts of them that measure/forecasting
// stored.
package competition

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Series is one series of a competition, divided as the competition divides it.
type Series struct {
	ID          string
	Train, Test []float64
}

// Group is the series of one competition and frequency.
type Group struct {
	Name string
	// Season is the number of steps of the season in MASE and in the seasonal naive forecast, as in the competition.
	Season int
	// Periods are the periods, in steps, that a user who knows the calendar would give.
	Periods []float64
	// Sample is the number of series of each half in the stored results; 0 means all.
	Sample int
	Series []Series
}

// Names returns the names of the groups.
func Names() (names []string) {
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// groups lists the groups. In a table with the columns of the R package Mcomp, a group is the series with a period; in M4 it is
// the files of a frequency. The season of the weekly series of M4 is 1 in the competition; 52.18 weeks are offered as a period.
// The groups with apart set are for tests only: nothing was developed on them.
var groups = []struct {
	name, table, period, m4 string
	season                  int
	periods                 []float64
	sample                  int
	apart                   bool
}{
	{"m3-yearly", "m3.csv", "YEARLY", "", 1, nil, 60, false},
	{"m3-quarterly", "m3.csv", "QUARTERLY", "", 4, []float64{4}, 60, false},
	{"m3-monthly", "m3.csv", "MONTHLY", "", 12, []float64{12}, 60, false},
	{"m3-other", "m3.csv", "OTHER", "", 1, nil, 0, false},
	{"m4-weekly", "", "", "Weekly", 1, []float64{365.2425 / 7}, 0, false},
	{"m4-hourly", "", "", "Hourly", 24, []float64{24, 168}, 16, false},
	{"tourism-yearly", "tourism.csv", "YEARLY", "", 1, nil, 60, true},
	{"tourism-quarterly", "tourism.csv", "QUARTERLY", "", 4, []float64{4}, 60, true},
	{"tourism-monthly", "tourism.csv", "MONTHLY", "", 12, []float64{12}, 60, true},
}

// Developed returns the names of the groups whose even series are for development.
func Developed() (names []string) {
	for _, g := range groups {
		if !g.apart {
			names = append(names, g.name)
		}
	}
	return names
}

// Load reads the groups of the given names from a folder with m3.csv, the four files of M4, and tourism.csv, which
// scripts/tourism.py writes.
func Load(folder string, names []string) (out []Group, err error) {
	for _, name := range names {
		i := slices.Index(Names(), name)
		if i < 0 {
			return nil, fmt.Errorf("competition: no group %q; there are %s", name, strings.Join(Names(), ", "))
		}
		g := groups[i]
		read := Group{Name: name, Season: g.season, Periods: g.periods, Sample: g.sample}
		if g.table != "" {
			read.Series, err = readTable(filepath.Join(folder, g.table), g.period)
		} else {
			read.Series, err = readM4(folder, g.m4)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, read)
	}
	return out, nil
}

func rows(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err == nil && len(all) < 2 {
		err = fmt.Errorf("%s: no rows", path)
	}
	if err != nil {
		return nil, err
	}
	return all[1:], nil
}

// numbers reads cells up to the first empty one.
func numbers(cells []string) (v []float64, err error) {
	for _, c := range cells {
		c = strings.TrimSpace(c)
		if c == "" || c == "NA" {
			break
		}
		x, err := strconv.ParseFloat(c, 64)
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

// readTable reads the series of a period from a table with columns sn, period, x and xx, the last two separated by semicolons.
func readTable(path, period string) (out []Series, err error) {
	table, err := rows(path)
	if err != nil {
		return nil, err
	}
	for i, row := range table {
		if len(row) != 9 {
			return nil, fmt.Errorf("%s: row %d has %d columns, want 9", path, i+2, len(row))
		}
		if row[3] != period {
			continue
		}
		s := Series{ID: row[1]}
		if s.Train, err = numbers(strings.Split(row[7], ";")); err == nil {
			s.Test, err = numbers(strings.Split(row[8], ";"))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+2, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// readM4 reads the competition's two tables, a series in a row, its name first.
func readM4(folder, frequency string) (out []Series, err error) {
	train, err := rows(filepath.Join(folder, "m4-"+frequency+"-train.csv"))
	if err != nil {
		return nil, err
	}
	test, err := rows(filepath.Join(folder, "m4-"+frequency+"-test.csv"))
	if err != nil {
		return nil, err
	}
	after := map[string][]string{}
	for _, row := range test {
		after[row[0]] = row[1:]
	}
	for _, row := range train {
		s := Series{ID: row[0]}
		if s.Train, err = numbers(row[1:]); err == nil {
			s.Test, err = numbers(after[row[0]])
		}
		if err != nil {
			return nil, fmt.Errorf("M4 %s, %s: %w", frequency, row[0], err)
		}
		if len(s.Test) == 0 {
			return nil, fmt.Errorf("M4 %s: no test of %s", frequency, row[0])
		}
		out = append(out, s)
	}
	return out, nil
}
