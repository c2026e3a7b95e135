package analysis

import (
	"strings"
	"testing"
)

// TestDoubt: less is known of what is short, and of what goes away from where it was.
func TestDoubt(t *testing.T) {
	if a, b := doubtOf(15, 0, 1, 0.5), doubtOf(100, 0, 1, 0.5); !(a > 0.2 && a < 0.4 && b < 0.08) {
		t.Errorf("the doubt is %v of 15 observations and %v of 100", a, b)
	}
	if a, b := doubtOf(50, 0, 3, 0.5), doubtOf(50, 0, 0.1, 0.5); a < 1.4*b {
		t.Errorf("the doubt is %v far away and %v near by", a, b)
	}
	if a, b := doubtOf(50, 0, 1, 2), doubtOf(50, 0, 1, 0); a < 1.4*b {
		t.Errorf("the doubt is %v if models disagree and %v if not", a, b)
	}
}

// TestCare: a doubt advises against a forecast, or to use it with care, unless the past was forecast well.
func TestCare(t *testing.T) {
	for name, test := range map[string]struct {
		doubt, relative float64
		use, care       bool
	}{
		"small":             {0.9 * worthCare, 0.8, true, false},
		"worth care":        {1.1 * worthCare, 0.8, true, true},
		"too large":         {1.1 * tooDoubtful, 0.8, false, false},
		"with a good past":  {1.1 * worthCare, 0.9 * provenError, true, false},
		"with a great past": {2 * tooDoubtful, 0.9 * provenError, true, false},
	} {
		v := &Trust{Horizon: 6, Origins: 5, N: 30, Season: 1, Coverage: 0.95, Relative: test.relative, Late: 1, Widen: 1, Doubt: test.doubt}
		v.judge(60, 6)
		if v.Use != test.use || (v.Care != "") != test.care || v.Warned() != (!test.use || test.care) {
			t.Errorf("%s: %+v", name, v)
		}
		if got := strings.Contains(v.Verdict, "Use this forecast with care: on other series the bands failed for one in "); got != test.care {
			t.Errorf("%s: the verdict is %q", name, v.Verdict)
		}
	}
}
