package sealed

import (
	"bytes"
	"encoding/json"
	"testing"
)

type object struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
	More   *object   `json:"more,omitempty"`
}

// TestEveryByte: a file with any of its bytes changed, in any way, is refused or has the same contents. A file with other white
// space has the same contents.
func TestEveryByte(t *testing.T) {
	want := object{"α <b> {\"checksum\":1}", []float64{1, -0.5, 1e-300}, &object{Name: "}"}}
	plain, _ := json.Marshal(want)
	indented, _ := json.MarshalIndent(want, "", "  ")
	cells := 0
	for _, text := range [][]byte{append(Seal(plain), '\n'), append(Seal(indented), '\n')} {
		read := func(text []byte) ([]byte, error) {
			opened, err := Open(text)
			if err != nil {
				return nil, err
			}
			var o object
			if err := Strict(opened, &o); err != nil {
				return nil, err
			}
			return json.Marshal(o)
		}
		var blanks bytes.Buffer
		json.Indent(&blanks, text, "\t", " ")
		for _, same := range [][]byte{text, blanks.Bytes(), plain} {
			if got, err := read(same); err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("%s is read as %s: %v", same, got, err)
			}
		}
		for i := range text {
			for b := range 256 {
				changed := bytes.Clone(text)
				changed[i] = byte(b)
				if got, err := read(changed); err == nil && !bytes.Equal(got, plain) {
					t.Errorf("%s is read as %s", changed, got)
				}
				cells++
			}
		}
	}
	t.Logf("%d changes", cells)
}

// TestChecksumDamaged: numbers that changed together with their checksum are refused even if it is no checksum any more. A member
// of that name in an inner object is no checksum.
func TestChecksumDamaged(t *testing.T) {
	sealed := Seal([]byte(`{"name":"a","values":[1]}`))
	at := bytes.LastIndex(sealed, []byte(begin)) + len(begin)
	for _, sum := range []string{string(sealed[at:at+15]) + "g", string(sealed[at : at+15]), ""} {
		damaged := bytes.Replace([]byte(string(sealed[:at])+sum+`"}`), []byte("[1]"), []byte("[2]"), 1)
		if got, err := Open(damaged); err == nil {
			t.Errorf("%s is read as %s", damaged, got)
		}
	}
	inner := []byte(`{"file":{"name":"a","checksum":"0123"}}`)
	for _, text := range [][]byte{inner, Seal(inner)} {
		if got, err := Open(text); err != nil || !bytes.Equal(got, inner) {
			t.Errorf("%s is read as %s: %v", text, got, err)
		}
	}
}
