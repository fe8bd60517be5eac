package child

import "bytes"

// maxLine is the maximum length of a line, in bytes. A longer line is passed on as several lines.
const maxLine = 64 << 10

// Lines is an io.Writer for the output of a child. It passes the output on to the function Each
// in whole lines. Write never fails, because an error would end the child.
type Lines struct {
	Each func(lines []byte) // function that gets whole lines, each with its line feed; it must not keep the slice
	rest []byte             // beginning of a line whose end has not come yet
}

// Write implements io.Writer. It waits until the function Each has returned, so a slow Each makes
// the child wait.
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

// Flush passes on a last line that has no line feed, and adds one. Call it when the child has
// ended.
func (l *Lines) Flush() {
	if len(l.rest) > 0 {
		l.Each(append(l.rest, '\n'))
		l.rest = nil
	}
}
