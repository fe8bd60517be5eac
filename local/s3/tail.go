package s3

import (
	"bytes"
	"sync"
)

// tailSize is how much of the standard error of the child is kept.
const tailSize = 2 << 10

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	last []byte // guarded by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p[max(0, len(p)-tailSize):]...)
	t.last = t.last[max(0, len(t.last)-tailSize):]
	return len(p), nil
}

// quote returns what was written last as the end of an error message.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := bytes.TrimSpace(t.last)
	if len(last) == 0 {
		return ""
	}
	return "; it said: " + string(last)
}
