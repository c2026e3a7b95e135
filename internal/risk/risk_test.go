package risk

import "testing"

// TestOf: less is known of what is short, and of what goes away from where it was.
func TestOf(t *testing.T) {
	of := func(n int, away, apart float64) float64 { return Of(Predictors{N: n, Away: away, Apart: apart}) }
	if a, b := of(15, 1, 0.5), of(100, 1, 0.5); !(a > 0.2 && a < 0.4 && b < 0.08) {
		t.Errorf("the risk is %v of 15 observations and %v of 100", a, b)
	}
	if a, b := of(50, 3, 0.5), of(50, 0.1, 0.5); a < 1.4*b {
		t.Errorf("the risk is %v far away and %v near by", a, b)
	}
	if a, b := of(50, 1, 2), of(50, 1, 0); a < 1.4*b {
		t.Errorf("the risk is %v if models disagree and %v if not", a, b)
	}
	if y, log := of(50, 1, 1), Of(Predictors{N: 50, Log: 1, Away: 1, Apart: 1}); log >= y {
		t.Errorf("the risk is %v of y and %v of log y, whose bands are wider", y, log)
	}
}
