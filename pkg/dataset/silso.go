package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadSILSO reads a monthly sunspot file of WDC-SILSO, such as SN_m_tot_V2.0.csv: rows of seven fields separated by ';',
//
//	year; month; decimal year; sunspot number; standard deviation; observations; 1 definitive or 0 provisional
//
// with no header. X is the decimal year (the middle of the month), increasing; Y the sunspot number, which has no unit. Rows
// with number -1, SILSO's mark of a missing month, are left out. An error names the line and the field.
func ReadSILSO(r io.Reader) (Series, error) {
	months, err := readSILSO(r)
	if err != nil {
		return Series{}, fmt.Errorf("dataset: SILSO: %w", err)
	}
	return sunspotSeries(months), nil
}

// silsoMonth is one row of a monthly file.
type silsoMonth struct {
	year, month int
	x, y        float64
}

// before reports whether the month is earlier than the other year and month.
func (m silsoMonth) before(year, month int) bool {
	return m.year < year || m.year == year && m.month < month
}

func sunspotSeries(months []silsoMonth) Series {
	s := Series{
		Name:  "Monthly mean total sunspot number",
		X:     make([]float64, len(months)),
		Y:     make([]float64, len(months)),
		XName: "time", XUnit: "year",
		YName: "sunspot number",
	}
	for i, m := range months {
		s.X[i], s.Y[i] = m.x, m.y
	}
	return s
}

// readSILSO returns the months whose sunspot number is known, or an error if there are none.
func readSILSO(r io.Reader) ([]silsoMonth, error) {
	var months []silsoMonth
	text, err := decoded(r)
	if err != nil {
		return nil, err
	}
	scanner := bufio.NewScanner(text)
	line := 0
	for scanner.Scan() {
		line++
		text := strings.TrimSpace(scanner.Text())
		if text == "" {
			continue
		}
		m, err := parseSILSO(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if m.y == -1 {
			continue
		}
		if n := len(months); n > 0 && m.x <= months[n-1].x {
			return nil, fmt.Errorf("line %d: decimal year %g does not follow %g", line, m.x, months[n-1].x)
		}
		months = append(months, m)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	if len(months) == 0 {
		return nil, errors.New("no rows")
	}
	return months, nil
}

func parseSILSO(text string) (silsoMonth, error) {
	fields := strings.Split(text, ";")
	if len(fields) != 7 {
		return silsoMonth{}, fmt.Errorf("%d fields separated by ';', want 7: %s", len(fields), quoted(text))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	var m silsoMonth
	var err error
	if m.year, err = strconv.Atoi(fields[0]); err != nil {
		return m, fmt.Errorf("field 1 (year): %s is not an integer", quoted(fields[0]))
	}
	if m.month, err = strconv.Atoi(fields[1]); err != nil || m.month < 1 || m.month > 12 {
		return m, fmt.Errorf("field 2 (month): %s is not 1 to 12", quoted(fields[1]))
	}
	if m.x, err = ParseNumber(fields[2]); err != nil {
		return m, fmt.Errorf("field 3 (decimal year): %w", err)
	}
	if m.y, err = ParseNumber(fields[3]); err != nil {
		return m, fmt.Errorf("field 4 (sunspot number): %w", err)
	}
	if m.y < 0 && m.y != -1 {
		return m, fmt.Errorf("field 4 (sunspot number): %s is negative, and not the -1 of a missing month", quoted(fields[3]))
	}
	// The flag is not used, but it ends the row: without this a file cut within its last row would pass.
	if fields[6] != "0" && fields[6] != "1" {
		return m, fmt.Errorf("field 7 (definitive): %s is not 0 or 1", quoted(fields[6]))
	}
	return m, nil
}
