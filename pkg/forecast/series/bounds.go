package series

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds are limits that the values of a series cannot leave, such as 0 and 100 for per cent. Models are then of the log odds of
// y between the bounds instead of log y.
type Bounds struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	// Beyond is the distance outside the bounds at which the log odds are infinite: 0 or, if values lie at a bound or so near to one
	// that their log odds are odd, the one at which the log odds are likeliest to be normal.
	Beyond float64 `json:"beyond,omitempty"`
}

// ParseBounds reads LO,HI.
func ParseBounds(text string) (*Bounds, error) {
	low, high, ok := strings.Cut(text, ",")
	lo, errLo := strconv.ParseFloat(strings.TrimSpace(low), 64)
	hi, errHi := strconv.ParseFloat(strings.TrimSpace(high), 64)
	b := &Bounds{Lo: lo, Hi: hi}
	if !ok || errLo != nil || errHi != nil || b.check() != nil {
		return nil, fmt.Errorf("the bounds %q: write two numbers, the lower first, such as 0,100", text)
	}
	return b, nil
}

func (b *Bounds) check() error {
	if !(b.Lo < b.Hi) || math.Abs(b.Lo) > Largest || math.Abs(b.Hi) > Largest || !(b.Beyond >= 0 && b.Beyond <= b.Hi-b.Lo) {
		return fmt.Errorf("bounds of %v and %v", b.Lo, b.Hi)
	}
	return nil
}

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
