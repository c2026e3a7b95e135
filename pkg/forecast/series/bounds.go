package series

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds are limits that the values of a series cannot leave, such as 0 and 100 for per cent, or 0 and +Inf for amounts. Models
// then describe the log odds of y between the bounds instead of log y. If Censored, they describe y as if it had no bounds, and a
// value at a bound only tells that y lies there or beyond.
type Bounds struct {
	Lo, Hi float64 // ±Inf for none
	// Beyond is the distance outside the bounds at which the log odds are infinite. It is 0 unless values lie at a bound, or so
	// close that their log odds are outliers; it is then chosen so that the log odds are likeliest to be normal.
	Beyond float64
	// Censored says that values at a bound are censored. Models of amounts, which have no upper bound, may also describe a Root
	// of the distance from the lower bound: the second, third or fourth one, whichever makes the values likeliest to be normal; 0
	// for none.
	Censored bool
	Root     int
	// Because is the reason why bounds were set although nobody asked for them; "" if somebody did.
	Because string
}

// boundsJSON has the form of Bounds in a file: JSON has no infinite numbers.
type boundsJSON struct {
	Lo       *float64 `json:"lo,omitempty"`
	Hi       *float64 `json:"hi,omitempty"`
	Beyond   float64  `json:"beyond,omitempty"`
	Censored bool     `json:"censored,omitempty"`
	Root     int      `json:"root,omitempty"`
	Because  string   `json:"because,omitempty"`
}

// MarshalJSON leaves out infinite bounds.
func (b Bounds) MarshalJSON() ([]byte, error) {
	out := boundsJSON{Beyond: b.Beyond, Censored: b.Censored, Root: b.Root, Because: b.Because}
	if !math.IsInf(b.Lo, 0) {
		out.Lo = &b.Lo
	}
	if !math.IsInf(b.Hi, 0) {
		out.Hi = &b.Hi
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *Bounds) UnmarshalJSON(text []byte) error {
	var in boundsJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*b = Bounds{Lo: math.Inf(-1), Hi: math.Inf(1), Beyond: in.Beyond, Censored: in.Censored, Root: in.Root, Because: in.Because}
	if in.Lo != nil {
		b.Lo = *in.Lo
	}
	if in.Hi != nil {
		b.Hi = *in.Hi
	}
	return nil
}

// ParseBounds reads LO,HI; one of them may be empty.
func ParseBounds(text string) (*Bounds, error) {
	low, high, ok := strings.Cut(text, ",")
	number := func(text string, none int) (float64, error) {
		if text = strings.TrimSpace(text); text == "" {
			return math.Inf(none), nil
		}
		return strconv.ParseFloat(text, 64)
	}
	lo, errLo := number(low, -1)
	hi, errHi := number(high, 1)
	b := &Bounds{Lo: lo, Hi: hi}
	b.Censored = b.open()
	if !ok || errLo != nil || errHi != nil || b.check() != nil {
		return nil, fmt.Errorf(
			"the bounds %q: write two numbers, the lower first, such as 0,100, or one of them, such as 0, for amounts", text)
	}
	return b, nil
}

// open reports whether a bound is infinite, so that there are no log odds.
func (b *Bounds) open() bool { return math.IsInf(b.Lo, 0) || math.IsInf(b.Hi, 0) }

func (b *Bounds) check() error {
	within := func(v float64, none int) bool { return math.Abs(v) <= Largest || math.IsInf(v, none) }
	const mostRoot = 4
	if !(b.Lo < b.Hi) || !within(b.Lo, -1) || !within(b.Hi, 1) || math.IsInf(b.Lo, 0) && math.IsInf(b.Hi, 0) ||
		!(b.Beyond >= 0 && b.Beyond <= b.Hi-b.Lo) || b.open() && !b.Censored ||
		b.Root != 0 && (b.Root < 2 || b.Root > mostRoot || !b.Censored || math.IsInf(b.Lo, 0)) {
		return fmt.Errorf("bounds of %v and %v", b.Lo, b.Hi)
	}
	return nil
}

// At reports whether a value is at a bound.
func (b *Bounds) At(y float64) bool { return y == b.Lo || y == b.Hi }

// Censored reports whether values at a bound are censored.
func (s *Series) Censored() bool { return s.Bounds != nil && s.Bounds.Censored }

// Approximated reports whether the observations are Gaussian only by an approximation at a model. Counts and censored values are.
func (s *Series) Approximated() bool { return s.Counting != nil || s.Censored() }

// holds returns an error for a value beyond the bounds.
func (b *Bounds) holds(y float64) error {
	if !(y >= b.Lo && y <= b.Hi) {
		return fmt.Errorf("%v is beyond the bounds, %v and %v", y, b.Lo, b.Hi)
	}
	return nil
}

// checkAll returns an error if bounds are invalid or a value is beyond them; nil means no bounds.
func (b *Bounds) checkAll(y []float64) error {
	if b == nil {
		return nil
	}
	if err := b.check(); err != nil {
		return err
	}
	for i, v := range y {
		if err := b.holds(v); err != nil {
			return fmt.Errorf("observation %d: %w", i, err)
		}
	}
	return nil
}
