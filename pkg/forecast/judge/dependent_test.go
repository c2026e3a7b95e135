package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestVerdictLags checks that the text counts the lags that the figure shows, and states the level.
func TestVerdictLags(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	e := make([]float64, 400)
	for i := range e {
		e[i] = rnd.NormFloat64()
	}
	r := checkWhite(e)
	outside := 0
	for _, rho := range r.Autocorrelation {
		if math.Abs(rho) > r.Band {
			outside++
		}
	}
	text := strings.Join(r.Verdict(), " ")
	for _, want := range []string{fmt.Sprintf("%d of %d autocorrelations", outside, len(r.Autocorrelation)), "level of 1 %",
		fmt.Sprintf("over %d lags", r.LjungBoxLags)} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}
