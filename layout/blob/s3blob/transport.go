package s3blob

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// idle is how many connections are kept open between requests.
	idle = 128
	// patient is the size of a body that is sent only once the store has asked
	// for it. A store that refuses a create from its headers alone closes the
	// connection on such a body, and its answer would be lost.
	patient = 256 << 10
)

// newTransport returns minio-go's transport with room for many workers and a
// bound on the time of every request.
func newTransport(secure bool, timeout time.Duration) (http.RoundTripper, error) {
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idle, idle
	transport.ExpectContinueTimeout = time.Second
	return &bounded{transport, timeout}, nil
}

// bounded ends a request that takes longer than the timeout from its start to
// the last byte of its answer.
type bounded struct {
	inner   http.RoundTripper
	timeout time.Duration
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(request.Context(), b.timeout)
	request = request.Clone(ctx)
	if request.ContentLength >= patient {
		request.Header.Set("Expect", "100-continue")
	}
	response, err := b.inner.RoundTrip(request)
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = &boundedBody{response.Body, cancel}
	return response, nil
}

type boundedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
