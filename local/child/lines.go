package child

import "bytes"

// maxLine is the length in bytes at which a line is split.
const maxLine = 64 << 10

// Lines passes on a child's output in whole lines. Its Write never fails, because an
// error would end the child.
type Lines struct {
	Each func(lines []byte) // gets one or more lines, each with its end; valid until it returns
	rest []byte             // begin of a line
}

// Write implements io.Writer. The child waits while Each does.
func (l *Lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if whole := bytes.LastIndexByte(l.rest, '\n') + 1; whole > 0 {
		l.Each(l.rest[:whole])
		l.rest = append(l.rest[:0], l.rest[whole:]...)
	}
	if len(l.rest) >= maxLine {
		l.Flush()
	}
	return len(p), nil
}

// Flush passes on a line that has no end. Call it when the child has ended.
func (l *Lines) Flush() {
	if len(l.rest) > 0 {
		l.Each(append(l.rest, '\n'))
		l.rest = nil
	}
}
