package series

import (
	"strings"
	"testing"
)

// TestBoundsErrors names a value beyond the bounds, and bounds that are none.
func TestBoundsErrors(t *testing.T) {
	s := share(t, false)
	if err := s.Bound(0, 50); err == nil || !strings.Contains(err.Error(), "is beyond the bounds, 0 and 50") || s.Bounds != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "3", "100,0", "0,x", "1,1", "0,NaN"} {
		if b, err := ParseBounds(text); err == nil {
			t.Errorf("%q: %+v", text, b)
		}
	}
}
