package forecast

import "sync"

// computed is what an Analysis computes of its models when it is first asked for. Copies of an Analysis share it; one with
// another series or other models has its own.
type computed struct {
	conditioned once[struct{}] // the members
	note        string         // why their posteriors are not exact; "" if they are. Guarded by the lock of conditioned
	windows     windowCache    // of the members
	factor      once[*factor]  // of the best model, the last that was asked for
	outliers    once[*Outliers]
	shifts      once[[]ShiftSize]
}

// once is a value that is computed when it is first asked for, and anew after an error. It is safe for concurrent use.
type once[T any] struct {
	mu    sync.Mutex
	done  bool
	value T
}

// get returns the value, and computes it if it is missing or if suits, unless nil, rejects the one that is there.
func (o *once[T]) get(suits func(T) bool, compute func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done && (suits == nil || suits(o.value)) {
		return o.value, nil
	}
	value, err := compute()
	if err == nil {
		o.value, o.done = value, true
	}
	return value, err
}
