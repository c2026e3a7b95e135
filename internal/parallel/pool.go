package parallel

import "sync"

// Lanes is the number of fixed shares, each with its own accumulators, into which loops that add up are divided. It does not
// depend on the number of processors, so that results are the same to the last bit.
const Lanes = 16

// Pool keeps used values for others to use, so that work on many goroutines allocates as often as it has run at once. Unlike a
// sync.Pool it keeps them across garbage collections: a factor may hold gigabytes, and to make it again costs more than it saves.
// The zero value is empty.
type Pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

// Get returns a value that is free, or a new zero value.
func (p *Pool[T]) Get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	v := p.free[last]
	p.free = p.free[:last]
	return v
}

// Put gives a value back; its memory may be used again. It is not to be deferred: a value that a panic leaves half done, of a
// kernel or because a context has ended, must not come back.
func (p *Pool[T]) Put(v *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, v)
}
