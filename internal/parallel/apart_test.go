package parallel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// TestApart: a call returns, panics as it would alone, and is abandoned once its context ends.
func TestApart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	set := 0
	parallel.Apart(ctx, func() { set = 1 })
	if set != 1 {
		t.Error("the call was not made")
	}
	func() {
		defer func() {
			p, ok := recover().(*parallel.Panic)
			if !ok || p.Value != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		parallel.Apart(ctx, func() { panic("boom") })
	}()
	block := make(chan struct{})
	defer close(block)
	err := func() (err error) {
		defer parallel.Stopped(&err)
		parallel.Apart(ctx, func() {
			cancel()
			<-block
		})
		return nil
	}()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	err = func() (err error) {
		defer parallel.Stopped(&err)
		parallel.Apart(ctx, func() { t.Error("called after the end") })
		return nil
	}()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
