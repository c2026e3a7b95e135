package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpenStore reads a store with arbitrary contents. What can be read must still be there after the next Put, with the outcome
// that was put.
func FuzzOpenStore(f *testing.F) {
	line, err := json.Marshal(outcome("a", 1))
	if err != nil {
		f.Fatal(err)
	}
	whole := string(line)
	for _, text := range []string{
		"", "\n", whole + "\n", whole + "\n" + whole + "\n", whole + "\r\n\n" + whole, whole + "\n" + whole[:len(whole)/2],
		"nonsense\n" + whole,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "store.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(path)
		if err != nil {
			return
		}
		if err := s.Put(outcome("the next", 2)); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(s.Outcomes())
		if err != nil {
			t.Fatal(err)
		}
		again, err := OpenStore(path)
		if err != nil {
			t.Fatalf("after Put: %v", err)
		}
		got, err := json.Marshal(again.Outcomes())
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("read again:\n%s\nwant\n%s", got, want)
		}
	})
}
