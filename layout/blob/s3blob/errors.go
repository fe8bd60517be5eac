package s3blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// fail returns the package's error for an error of minio-go, with the operation and the
// key. An error without an answer of the store counts as a failure of the network,
// which may be retried.
func (b *Bucket) fail(ctx context.Context, op, key string, err error) error {
	what := fmt.Sprintf("cannot %s %s", op, key)
	if key == "" {
		what = fmt.Sprintf("cannot %s bucket %s", op, b.name)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	var response minio.ErrorResponse
	if !errors.As(err, &response) {
		if err == io.EOF { // of a connection that broke the error says more
			return b.damaged(op, key, "status 200 and no content")
		}
		return fmt.Errorf("%s: %w: %w", what, blob.ErrRetryable, err)
	}
	switch status := response.StatusCode; {
	case response.Code == minio.NoSuchBucket:
		return fmt.Errorf("%s: there is no bucket %s at %s: create it, or name another", what, b.name, b.core.EndpointURL())
	case response.Code == minio.NoSuchKey:
		return fmt.Errorf("%s: %w", what, blob.ErrAbsent)
	case status == http.StatusPreconditionFailed:
		return fmt.Errorf("%s: %w", what, blob.ErrExists)
	case status == http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%s: %w", what, blob.ErrRange)
	case status == http.StatusNotImplemented:
		return fmt.Errorf("%s: the store at %s lacks what this needs: %w", what, b.core.EndpointURL(), err)
	case status == http.StatusForbidden:
		return fmt.Errorf("%s: the store at %s refuses the credentials: %w", what, b.core.EndpointURL(), err)
	case retryable(status):
		return fmt.Errorf("%s: %w: status %d: %w", what, blob.ErrRetryable, status, err)
	}
	return fmt.Errorf("%s: status %d: %w", what, response.StatusCode, err)
}

// retryable reports whether a status may be retried. 409 may: S3 answers it while another
// request on the same key is under way.
func retryable(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status == 0 || status >= 500
}

// etagOfNothing is the MD5 of no bytes, by which a store names an empty object.
const etagOfNothing = "d41d8cd98f00b204e9800998ecf8427e"

// damaged returns the error of a success answer that cannot be right, from a broken store
// or proxy. It may be retried, since proxies often recover; its content is not used.
func (b *Bucket) damaged(op, key, what string) error {
	return fmt.Errorf("cannot %s %s: the answer of the store at %s is damaged: %s: %w", op, key, b.core.EndpointURL(), what, blob.ErrRetryable)
}

// empty fails unless the object really has no bytes: by the ETag of the answer, or else by
// the store's list, because a file may have been cut off behind the store's back.
func (b *Bucket) empty(ctx context.Context, op, key string, info minio.ObjectInfo) error {
	if info.ETag == etagOfNothing {
		return nil
	}
	for object, err := range b.List(ctx, key, "") {
		if err == nil && object.Key == key && object.Size == 0 {
			return nil
		}
		break
	}
	return b.damaged(op, key, fmt.Sprintf("status 200 and no content, for an object of ETag %q, which is not that of an empty one", info.ETag))
}

// checkRange fails unless the Content-Range of an answer of size bytes is the requested
// range (RFC 9110, 14.4), cut at the end of the object.
func checkRange(r blob.Range, size int64, header string) error {
	if r == (blob.Range{}) {
		return nil
	}
	var first, last, total int64
	if n, err := fmt.Sscanf(strings.TrimSpace(header), "bytes %d-%d/%d", &first, &last, &total); err != nil || n != 3 {
		return fmt.Errorf("asked for a part, it does not say which it sends: Content-Range %q", header)
	}
	from, to := r.Offset, total
	if from < 0 {
		from = max(0, total+from)
	}
	if r.Length > 0 {
		to = min(to, from+r.Length)
	}
	if from+r.Length < from { // beyond all numbers
		to = total
	}
	if first != from || last != to-1 || size != to-from {
		return fmt.Errorf("asked for %+v, it sends %d bytes as %q", r, size, header)
	}
	return nil
}
