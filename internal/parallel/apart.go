package parallel

import "context"

// Apart calls f, which cannot look at ctx, in a goroutine of its own, and returns or panics as f does. Once ctx has ended it
// panics with a Stop (see Look) without waiting: f runs on in vain, so nothing that f sets may be read then.
func Apart(ctx context.Context, f func()) {
	Look(ctx)
	if ctx == nil || ctx.Done() == nil {
		f()
		return
	}
	var first First
	done := make(chan struct{})
	go func() {
		defer close(done)
		first.Call(f)
	}()
	select {
	case <-done:
		first.Raise()
	case <-ctx.Done():
		Look(ctx)
	}
}
