package machine

import "testing"

// TestProcessorSeconds: work takes processor time.
func TestProcessorSeconds(t *testing.T) {
	before, sum := ProcessorSeconds(), 0.
	for i := range 50_000_000 {
		sum += float64(i & 3)
	}
	if after := ProcessorSeconds(); !(after > before) || sum == 0 {
		t.Errorf("%v s before and %v s after 50 million additions", before, after)
	}
}
