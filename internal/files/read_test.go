package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReadWithin reads files up to a limit, and also input that never ends.
func TestReadWithin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, fits := range map[int64]bool{-7: false, 0: false, 4: false, 5: true, 6: true, 1 << 62: true} {
		b, err := ReadWithin(path, "123", most)
		if large := (*LargeError)(nil); fits != (err == nil) || !fits && (!errors.As(err, &large) || large.Bytes != 5) || fits &&
			string(b) != "12345" {
			t.Errorf("at most %d: %q, %v", most, b, err)
		}
	}
	if b, err := ReadWithin(path, "9", 3); err != nil || string(b) != "1" {
		t.Errorf("a large file that begins otherwise: %q, %v", b, err)
	}
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err == nil {
		for _, begins := range []string{"", "\x00"} {
			large := (*LargeError)(nil)
			if b, err := ReadWithin(endless, begins, 1000); !errors.As(err, &large) || large.Bytes != 1001 {
				t.Errorf("%s: %d bytes, %v", endless, len(b), err)
			}
		}
		if b, err := ReadWithin(endless, "12", 1<<40); err != nil || string(b) != "\x00\x00" {
			t.Errorf("%s: %q, %v", endless, b, err)
		}
	}
	if b, err := ReadWithin(os.DevNull, "12", 0); err != nil || len(b) != 0 {
		t.Errorf("nothing: %q, %v", b, err)
	}
	if _, err := ReadWithin(path+".none", "", 9); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
