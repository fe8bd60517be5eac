package s3blob

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// idle is how many connections are kept open between requests.
	idle = 128
	// patient is the size from which a body is sent only after the store's 100
	// Continue. A store that refuses a create by its headers closes the connection,
	// and its answer would be lost behind such a body.
	patient = 256 << 10
)

// newTransport returns minio-go's transport for many workers, with limits on the time of
// every request.
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

// bounded ends a request in which no byte moves for stall, and one that takes longer than
// timeout from its start to the last byte of its answer.
type bounded struct {
	inner          http.RoundTripper
	stall, timeout time.Duration
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	w := b.watch(request.Context())
	request = request.Clone(w.ctx)
	if request.ContentLength >= patient {
		request.Header.Set("Expect", "100-continue")
	}
	if request.ContentLength > 0 {
		request.Body = &watchedBody{request.Body, w, func() {}} // its answer is still to come
	}
	response, err := b.inner.RoundTrip(request)
	if err != nil {
		defer w.end()
		return nil, w.explain(err)
	}
	w.moved()
	response.Body = &watchedBody{response.Body, w, w.end}
	return response, nil
}

// watch limits the time of one request.
type watch struct {
	ctx   context.Context // ends with the request
	end   func()
	timer *time.Timer // ends it when it stalls
	stall time.Duration
}

func (b *bounded) watch(ctx context.Context) *watch {
	ctx, cancelTimeout := context.WithTimeoutCause(ctx, b.timeout, fmt.Errorf("not done after %v", b.timeout))
	ctx, cancel := context.WithCancelCause(ctx)
	stalled := fmt.Errorf("no byte moved for %v", b.stall)
	timer := time.AfterFunc(b.stall, func() { cancel(stalled) })
	return &watch{ctx: ctx, timer: timer, stall: b.stall, end: func() {
		timer.Stop()
		cancel(nil)
		cancelTimeout()
	}}
}

func (w *watch) moved() {
	if w.ctx.Err() == nil {
		w.timer.Reset(w.stall)
	}
}

// explain returns the reason for which the request was ended, if it was.
func (w *watch) explain(err error) error {
	if cause := context.Cause(w.ctx); err != nil && err != io.EOF && cause != nil {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// watchedBody reports every byte of a body that moves.
type watchedBody struct {
	io.ReadCloser
	watch *watch
	end   func() // called by Close
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
