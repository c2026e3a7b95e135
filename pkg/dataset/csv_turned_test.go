package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// turningFile writes times, from a row on with the month first, with values.
func turningFile(times []time.Time, turn int, first, then string) string {
	text := "date,y\n"
	for i, t := range times {
		layout := first
		if i >= turn {
			layout = then
		}
		text += fmt.Sprintf("%s,%d\n", t.Format(layout), i)
	}
	return text
}

// TestTurned refuses dates that turn from day first to month first, or back, where each row could be either, and names the row.
func TestTurned(t *testing.T) {
	const dmy, mdy = "02/01/2006 15:04", "01/02/2006 15:04"
	spring := time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC)
	every := func(n int, step time.Duration) (all []time.Time) {
		for i := range n {
			all = append(all, spring.Add(time.Duration(i)*step))
		}
		return all
	}
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		times       []time.Time
		turn        int
		first, then string
	}{
		"days":                {every(43, day), 31, dmy, mdy},
		"days, back":          {every(43, day), 31, mdy, dmy},
		"the last three":      {every(34, day), 31, dmy, mdy},
		"hours":               {every(43*24, time.Hour), 31 * 24, dmy, mdy},
		"days that go on":     {every(60, day), 31, dmy, mdy}, // the 13th is no month
		"every second day":    {every(22, 2*day), 16, dmy, mdy},
		"quarters of an hour": {every(36*96, 15*time.Minute), 31 * 96, mdy, dmy},
	} {
		text := turningFile(c.times, c.turn, c.first, c.then)
		want := fmt.Sprintf("line %d, column 1 (\"date\"): from this row on, dates seem to have the", c.turn+2)
		_, _, err := readCSV(strings.NewReader(text), CSVOptions{Seconds: true})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		_, _, bad, _, err := streamed(strings.NewReader(text), CSVOptions{Seconds: true}, 2, blockSize)
		if err != nil || len(bad) == 0 || !strings.Contains(bad[0].Error(), want) {
			t.Errorf("%s, streamed: %v %v", name, bad, err)
		}
	}
	asked := CSVOptions{Seconds: true, Time: TimeDMY}
	if s, _, err := readCSV(strings.NewReader(turningFile(every(43, day), 31, dmy, mdy)), asked); err != nil || s.Len() != 43 {
		t.Errorf("asked for: %v", err)
	}
}

// TestNotTurned reads dates that are all written in one way: with gaps, in any order, and several series below one another.
func TestNotTurned(t *testing.T) {
	const n = 80
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2020, 12, 20, 0, 0, 0, 0, time.UTC)
	for range 100 {
		var times []time.Time
		at, step := begin, time.Duration(1+random.IntN(30))*6*time.Hour
		for range n {
			switch at = at.Add(step); random.IntN(20) {
			case 0:
				at = at.AddDate(0, random.IntN(4), random.IntN(9))
			case 1:
				at = begin.AddDate(0, random.IntN(6), random.IntN(20)) // the next series
			}
			times = append(times, at)
		}
		times = append(times, time.Date(2021, 5, 20, 0, 0, 0, 0, time.UTC)) // which can be read in one way only
		s, _, err := readCSV(strings.NewReader(turningFile(times, len(times), "02/01/2006 15:04", "")), CSVOptions{Seconds: true})
		if err != nil || s.Len() != n+1 {
			t.Fatal(err)
		}
	}
}
