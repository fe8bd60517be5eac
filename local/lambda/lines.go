package lambda

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is the length in bytes at which a line is cut.
const maxLine = 64 << 10

// lines passes on what one process prints in whole lines, so that those of
// several processes do not mix. It never fails, which would end the process.
type lines struct {
	mu   *sync.Mutex // of to, which several share
	to   io.Writer
	rest []byte // begin of a line
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	whole := bytes.LastIndexByte(l.rest, '\n') + 1
	l.pass(l.rest[:whole])
	l.rest = append(l.rest[:0], l.rest[whole:]...)
	if len(l.rest) >= maxLine {
		l.flush()
	}
	return len(p), nil
}

// flush passes on a line that has no end.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.pass(append(l.rest, '\n'))
		l.rest = nil
	}
}

func (l *lines) pass(b []byte) {
	if len(b) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.to.Write(b) // a log that fails stops no function
}
