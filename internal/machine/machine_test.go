package machine

import (
	"runtime"
	"testing"
)

func TestModel(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2: GHz\nmodel name\t: other\n": "Some CPU @ 2: GHz",
		"processor\t: 0\nBogoMIPS\t: 50.00\n":                                                   runtime.GOARCH,
		"":                                                                                      runtime.GOARCH,
	} {
		if got := model(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if CPU() == "" {
		t.Error("this processor has no name")
	}
}
