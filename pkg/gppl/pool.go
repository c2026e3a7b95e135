package gppl

import "sync"

// pool keeps values that were used for others to use, so that what works on
// many goroutines allocates as often as it has run at once. Unlike a sync.Pool it
// keeps them across garbage collections: a factor may hold gigabytes, and to
// make it again costs more than it saves. The zero value is empty.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

// get returns one that is free, or a new zero value.
func (p *pool[T]) get() *T {
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

// put gives one back; its memory may be used again. It is not to be deferred: what a panic, of
// a kernel or because a context has ended, leaves half done must not come back.
func (p *pool[T]) put(v *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, v)
}
