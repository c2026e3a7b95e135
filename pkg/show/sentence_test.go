package show

import "testing"

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "no data": "No data.", "It ends.": "It ends.", "ω is 1": "Ω is 1."} {
		if got := sentence(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
