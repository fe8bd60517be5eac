package s3blob

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// idle is the number of connections that are kept open between requests.
	idle = 128
	// continueSize is a size in bytes. A body of this size or more is sent only after the store
	// has answered 100 Continue. The reason: a store may refuse a Create as soon as it has read
	// the headers, and close the connection. If the client were still sending the body then, it
	// would lose the answer.
	continueSize = 256 << 10
)

// newTransport returns minio-go's transport with more open connections, and with
// limits on the time of every request (see bounded). If the function conn is not nil,
// each new connection is passed to it, and the result is used in its place.
func newTransport(secure bool, stall, timeout time.Duration, conn func(net.Conn) net.Conn) (http.RoundTripper, error) {
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idle, idle
	transport.ExpectContinueTimeout = time.Second
	if dial := transport.DialContext; conn != nil {
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return conn(c), nil
		}
	}
	return &bounded{transport, stall, timeout}, nil
}

// bounded is a RoundTripper with two time limits. It ends a request if no byte is sent
// or received for the duration stall. It also ends a request that takes longer than
// timeout, from its start to the last byte of its answer. Both limits are longer for a request with a large body, which
// the store writes to its disks before it answers: by a second for each 8 MiB.
//
// The body of a request is not read any more after the answer's body was closed, or after RoundTrip has failed.
type bounded struct {
	inner          http.RoundTripper
	stall, timeout time.Duration
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	w := b.watch(request.Context(), time.Duration(max(0, request.ContentLength)/(8<<20))*time.Second)
	request = request.Clone(w.ctx)
	if request.ContentLength >= continueSize {
		request.Header.Set("Expect", "100-continue")
	}
	end := w.end
	if request.ContentLength > 0 {
		sent := make(chan struct{})
		request.Body = &watchedBody{request.Body, w, sync.OnceFunc(func() { close(sent) })} // the answer is still to come
		end = func() {
			w.end()
			<-sent
		}
	}
	response, err := b.inner.RoundTrip(request)
	if err != nil {
		defer end()
		return nil, w.explain(err)
	}
	w.moved()
	response.Body = &watchedBody{response.Body, w, end}
	return response, nil
}

// watch limits the time of one request; its methods are called while the request runs.
type watch struct {
	ctx   context.Context // context of the request; ends when a limit is exceeded
	end   func()          // cancels ctx; must be called when the request has ended
	timer *time.Timer     // ends ctx when no byte was sent or received for bounded.stall
	stall time.Duration
}

// watch starts the time limits of a request whose context is ctx. They are longer by the duration more.
func (b *bounded) watch(ctx context.Context, more time.Duration) *watch {
	stall, timeout := b.stall+more, b.timeout+more
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %v", timeout))
	ctx, cancel := context.WithCancelCause(ctx)
	stalled := fmt.Errorf("no byte moved for %v", stall)
	timer := time.AfterFunc(stall, func() { cancel(stalled) })
	return &watch{ctx: ctx, timer: timer, stall: stall, end: func() {
		timer.Stop()
		cancel(nil)
		cancelTimeout()
	}}
}

// moved must be called when a byte was sent or received. It restarts the time limit w.stall, after
// which the request ends if no further byte has moved.
func (w *watch) moved() {
	if w.ctx.Err() == nil {
		w.timer.Reset(w.stall)
	}
}

// explain returns err, the error of a request. If a time limit ended the request, it adds the name
// of the limit.
func (w *watch) explain(err error) error {
	if cause := context.Cause(w.ctx); err != nil && err != io.EOF && cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// watchedBody is the body of a request or of an answer. It tells its watch when bytes are
// transferred.
type watchedBody struct {
	io.ReadCloser
	watch *watch
	end   func() // function to be called when the body has been closed
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.moved()
	}
	return n, b.watch.explain(err)
}

func (b *watchedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
