package simulation

import "sync"

// once holds a value for all tests. The first test that needs it computes it.
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
