package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxMessage is the greatest size of a message that is read by Serve, in bytes.
const maxMessage = 1 << 20

// exchange passes messages between a client and the SDK, one on each line, and counts the requests that are
// not answered yet. The SDK drops such requests when its input ends. So exchange reports the end of the
// input only when all requests are answered. Then a client may send its requests and close the input at
// once, as in
//
//	bucketsearch mcp < requests.jsonl
type exchange struct {
	ctx  context.Context // when it ends, or after patience, the input ends in any case
	in   *bufio.Reader
	out  io.Writer
	rest []byte // part of the last line read that was not passed on yet

	mu       sync.Mutex // protects the fields below
	open     int        // number of requests without an answer
	answered chan struct{}
}

func newExchange(ctx context.Context, in io.Reader, out io.Writer) *exchange {
	return &exchange{ctx: ctx, in: bufio.NewReaderSize(in, maxMessage), out: out, answered: make(chan struct{}, 1)}
}

// Read implements io.Reader, for the SDK.
func (e *exchange) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		line, err := e.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("a message is longer than %d bytes", maxMessage)
		}
		if len(line) == 0 {
			e.drain()
			return 0, err
		}
		if isRequest, _ := kindOf(line); isRequest {
			e.mu.Lock()
			e.open++
			e.mu.Unlock()
		}
		e.rest = line
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Write implements io.Writer, for the SDK, which writes one message at a time.
func (e *exchange) Write(p []byte) (int, error) {
	n, err := e.out.Write(p)
	if _, isAnswer := kindOf(p); isAnswer {
		e.mu.Lock()
		e.open = max(0, e.open-1)
		e.mu.Unlock()
		select {
		case e.answered <- struct{}{}:
		default: // drain has been told already
		}
	}
	return n, err
}

// Close implements io.Closer. It closes nothing, since input and output belong to the caller.
func (e *exchange) Close() error { return nil }

// drain waits until all requests are answered.
func (e *exchange) drain() {
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	for {
		e.mu.Lock()
		open := e.open
		e.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-e.answered:
		}
	}
}

// kindOf says whether a message of JSON-RPC 2.0 is a request that wants an answer, or an answer.
func kindOf(message []byte) (isRequest, isAnswer bool) {
	var fields struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(message, &fields) != nil || fields.ID == nil {
		return false, false
	}
	return fields.Method != "", fields.Method == ""
}
