package simulation

import "sync"

// once keeps what the first test that needs it has found, for all others.
type once[T any] struct {
	mu    sync.Mutex // protects the fields below
	found bool
	value T
}

func (o *once[T]) get(find func() T) T {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.found {
		o.value = find()
		o.found = true
	}
	return o.value
}
