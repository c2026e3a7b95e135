package forecast

import (
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/risk"
)

// TestCare: a risk advises against a forecast, or to use it with care, unless the past was forecast well.
func TestCare(t *testing.T) {
	for name, test := range map[string]struct {
		level, relative float64
		use, care       bool
	}{
		"small":             {0.9 * risk.Care, 0.8, true, false},
		"worth care":        {1.1 * risk.Care, 0.8, true, true},
		"too large":         {1.1 * risk.Refuse, 0.8, false, false},
		"with a good past":  {1.1 * risk.Care, 0.9 * risk.ProvenError, true, false},
		"with a great past": {2 * risk.Refuse, 0.9 * risk.ProvenError, true, false},
	} {
		v := &Trust{Horizon: 6, Origins: 5, N: 30, Season: 1, Coverage: 0.95, Relative: test.relative, Late: 1, Widen: 1, Risk: test.level}
		v.judge(60, 6)
		if v.Use != test.use || (v.Care != "") != test.care || v.Warned() != (!test.use || test.care) {
			t.Errorf("%s: %+v", name, v)
		}
		if got := strings.Contains(v.Verdict, "Use this forecast with care: on other series the bands failed for one in "); got != test.care {
			t.Errorf("%s: the verdict is %q", name, v.Verdict)
		}
	}
}
