package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(context.Background(), path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return errors.New("disk full")
	})
	left, _ := os.ReadDir(dir)
	text, _ := os.ReadFile(path)
	if err == nil || string(text) != "before" || len(left) != 1 {
		t.Errorf("%v; %q, %d files", err, text, len(left))
	}
}
