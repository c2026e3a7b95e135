package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	began, never := make(chan bool), make(chan bool)
	go func() {
		<-began
		cancel()
	}()
	out := filepath.Join(t.TempDir(), "f.csv")
	err := writeFile(ctx, out, func(w io.Writer) error {
		io.WriteString(w, "half")
		close(began)
		<-never
		return nil
	})
	if left, _ := os.ReadDir(filepath.Dir(out)); !errors.Is(err, context.Canceled) || len(left) != 0 {
		t.Errorf("%v; %d files", err, len(left))
	}
	fails := func() (int, error) {
		var none []int
		return none[3], nil
	}
	inWorker := func() (int, error) {
		var group parallel.Group
		group.Go(func() { fails() })
		group.Wait()
		return 0, nil
	}
	again := func() (_ int, err error) {
		defer parallel.Stopped(&err)
		return fails()
	}
	for _, f := range []func() (int, error){fails, inWorker, again} {
		_, err = interruptible(context.Background(), f)
		if text := message(err); !strings.HasPrefix(text, "internal error: ") || !strings.Contains(text, " (interrupt_test.go:") ||
			strings.Contains(text, "\n") {
			t.Errorf("a panic becomes %q", text)
		}
	}
}

func TestMessage(t *testing.T) {
	text := message(errors.Join(errors.New("dataset: gppl: first\x1b[2J"), errors.New(strings.Repeat("é", 10000))))
	if !strings.HasPrefix(text, "first\uFFFD[2J; é") || len([]rune(text)) != 500 || !strings.HasSuffix(text, "é…") {
		t.Errorf("%q", text)
	}
}
