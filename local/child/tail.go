package child

import (
	"bytes"
	"sync"
)

// tailSize is the maximum number of bytes that a tail keeps.
const tailSize = 2 << 10

// tail is an io.Writer that keeps the last tailSize bytes written to it.
type tail struct {
	mu   sync.Mutex
	last []byte // last bytes that were written, at most tailSize; protected by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-tailSize):]...)
	if over := len(t.last) - tailSize; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}

// quote returns the bytes in t.last as a clause to be added to a message, such as "; it said:
// out of memory"; "" if there are none.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := bytes.TrimSpace(t.last)
	if len(last) == 0 {
		return ""
	}
	return "; it said: " + string(last)
}
