package series

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Event has an effect on the mean at known times, such as a lockdown or several sales of one kind.
type Event struct {
	Name string `json:"name"`
	// Spans are its times, in seconds since 1970 on an axis of dates. A span of dates excludes its second number; a span of
	// numbers includes it.
	Spans [][2]float64 `json:"spans"`
}

const (
	EventPrefix = "event: " // precedes the names of columns of the mean
	// EventScale is the prior standard deviation of an effect, in standard deviations of y.
	EventScale = 2
)

// ParseEvents reads events written FROM..TO or NAME=FROM..TO. Both ends are included: if TO is a day, a month or a year, the
// event ends with it. Spans with the same name are one event, with one effect.
func (a Axis) ParseEvents(texts []string) (events []Event, err error) {
	for _, one := range texts {
		name, span, named := strings.Cut(one, "=")
		if !named {
			name, span = "", one
		}
		first, last, ok := strings.Cut(span, "..")
		first, last, name = strings.TrimSpace(first), strings.TrimSpace(last), strings.TrimSpace(name)
		if !ok || named && name == "" {
			return nil, fmt.Errorf("the event %q: write FROM..TO or NAME=FROM..TO, such as lockdown=2020-03-15..2020-06-30", one)
		}
		var ends [2]float64
		for k, text := range []string{first, last} {
			if ends[k], err = a.eventEnd(text, k == 1); err != nil {
				return nil, fmt.Errorf("the event %q: %w", one, err)
			}
		}
		if !(ends[0] < ends[1] || !a.Dates && ends[0] == ends[1]) {
			return nil, fmt.Errorf("the event %q ends before it begins", one)
		}
		if name == "" {
			name = first + " to " + last
		}
		if i := slices.IndexFunc(events, func(e Event) bool { return e.Name == name }); i >= 0 {
			events[i].Spans = append(events[i].Spans, ends)
		} else {
			events = append(events, Event{name, [][2]float64{ends}})
		}
	}
	return events, nil
}

// wholeDate matches a year, a month or a day.
var wholeDate = regexp.MustCompile(`^\d{4}(-\d{2})?(-\d{2})?$`)

// eventEnd reads one end of a span: a number, or a date in seconds since 1970. If last is set it returns the end of the date,
// which the span excludes.
func (a Axis) eventEnd(text string, last bool) (float64, error) {
	x, err := a.Parse(text)
	if err != nil || !a.Dates {
		return x, err
	}
	at := a.Time(x)
	switch {
	case !last:
	case !wholeDate.MatchString(text):
		at = at.Add(time.Microsecond)
	case len(text) == len("2006"):
		at = at.AddDate(1, 0, 0)
	case len(text) == len("2006-01"):
		at = at.AddDate(0, 1, 0)
	default:
		at = at.AddDate(0, 0, 1)
	}
	return sinceEpoch(at), nil
}

// WithEvents returns the series with the effects of events. It is an error if no observation is within an event, or all are.
func (s *Series) WithEvents(events []Event) (*Series, error) {
	out := *s
	out.Events = events
	for _, e := range events {
		switch column := e.column(s.Axis, s.X); {
		case slices.Max(column) <= 0:
			return nil, fmt.Errorf("no observation is within the event %s: they are from %s to %s",
				e.Name, s.Axis.Text(s.X[0]), s.Axis.Text(s.X[len(s.X)-1]))
		case slices.Min(column) >= EventScale:
			return nil, fmt.Errorf("all observations are within the event %s, so that nothing shows its effect", e.Name)
		}
	}
	return &out, nil
}

// knownEvents returns the events that contain some, but not all, of the observations.
func (s *Series) knownEvents(events []Event) (known []Event) {
	for _, e := range events {
		if column := e.column(s.Axis, s.X); slices.Min(column) < slices.Max(column) {
			known = append(known, e)
		}
	}
	return known
}

// column returns the event at each x, in units of its prior standard deviation. A month, quarter or year counts by the share of
// it that is within the event.
func (e Event) column(a Axis, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		from, to := v, v
		if a.Dates {
			from = sinceEpoch(a.Time(v))
			if to = from; a.Months > 0 {
				from, to = a.period(v)
			}
		}
		for _, span := range e.Spans {
			switch {
			case to > from:
				out[i] += EventScale * max(0, min(to, span[1])-max(from, span[0])) / (to - from)
			case from >= span[0] && (from < span[1] || !a.Dates && from == span[1]):
				out[i] = EventScale
			}
		}
		out[i] = min(out[i], EventScale)
	}
	return out
}

// period returns the ends, in seconds since 1970, of the months, quarter or year that an x of a calendar axis stands for. They
// begin with the month of x; if x is the last day of a month they end with it.
func (a Axis) period(x float64) (from, to float64) {
	at := a.Time(x)
	first := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	if at.Day() > 1 && at.AddDate(0, 0, 1).Day() == 1 {
		first = first.AddDate(0, 1-a.Months, 0)
	}
	return sinceEpoch(first), sinceEpoch(first.AddDate(0, a.Months, 0))
}

// withEventColumns adds the columns of the events at x.
func (s *Series) withEventColumns(in gppl.Inputs, x []float64) gppl.Inputs {
	for _, e := range s.Events {
		in = in.WithColumn(EventPrefix+e.Name, e.column(s.Axis, x))
	}
	return in
}

// eventNames returns the names of events.
func eventNames(events []Event) (names []string) {
	for _, e := range events {
		names = append(names, e.Name)
	}
	return names
}

// eventNote describes the events of a model.
func eventNote(events []Event) string {
	return fmt.Sprintf("The model has an effect of %s: %s.",
		text.Count(len(events), "event"), strings.Join(eventNames(events), ", "))
}

// checkEvents returns an error for impossible events.
func checkEvents(events []Event) error {
	for i, e := range events {
		if e.Name == "" || len(e.Spans) == 0 || slices.Contains(eventNames(events[:i]), e.Name) {
			return fmt.Errorf("the event %q is incomplete", e.Name)
		}
		for _, span := range e.Spans {
			if !(span[0] <= span[1]) || math.IsInf(span[0], 0) || math.IsInf(span[1], 0) {
				return errors.New("an event ends before it begins")
			}
		}
	}
	return nil
}
