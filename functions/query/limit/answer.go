package limit

import (
	"bytes"
	"net/http"
)

// maxHeld is the greatest part of an answer, in bytes, that is held back in memory before the answer is
// sent.
const maxHeld = 1 << 20

// answer is the ResponseWriter of a request that is worked on. It holds the answer back in memory until the
// answer is complete, is longer than maxHeld, or is flushed. At that moment the place in the queue is given
// up (finished), and the answer is sent. So a client that reads slowly takes no place from others.
type answer struct {
	http.ResponseWriter
	finished func() // called before the answer is sent; may be called again
	status   int    // 0 before WriteHeader
	held     bytes.Buffer
	begun    bool // whether the header has been sent
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	switch {
	case status < 200: // an interim answer, such as 103 Early Hints
		a.ResponseWriter.WriteHeader(status)
	case a.status == 0:
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(content []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.begun && a.held.Len()+len(content) <= maxHeld {
		return a.held.Write(content)
	}
	if err := a.begin(); err != nil {
		return 0, err
	}
	return a.ResponseWriter.Write(content)
}

// begin sends the header and what was held back, if this was not done before.
func (a *answer) begin() error {
	if a.begun {
		return nil
	}
	a.begun = true
	a.finished()
	a.ResponseWriter.WriteHeader(a.status)
	_, err := a.ResponseWriter.Write(a.held.Bytes())
	a.held = bytes.Buffer{}
	return err
}

// send sends what was held back. The handler has returned.
func (a *answer) send() {
	if a.status != 0 {
		_ = a.begin() // fails when the client has gone
	}
}

// FlushError sends all that has been written so far. It is called by http.ResponseController.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if err := a.begin(); err != nil {
		return err
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
