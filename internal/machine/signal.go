package machine

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signal is the cause of a context that a signal has cancelled.
type Signal struct{ os.Signal }

func (s Signal) Error() string {
	if s.Signal == os.Interrupt {
		return "interrupted"
	}
	return s.String()
}

// Code returns the exit code that shells give a program ended by the signal; 1 if the system does not number signals.
func (s Signal) Code() int {
	if number, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}

// UntilSignal returns a context that SIGINT or SIGTERM cancels. A second signal ends the process even if nothing looks at the
// context.
func UntilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		cancel(Signal{s})
	}()
	return ctx
}

// EndedBy returns the signal that has cancelled a context, if one has.
func EndedBy(ctx context.Context) (s Signal, ok bool) {
	ok = errors.As(context.Cause(ctx), &s)
	return s, ok
}
