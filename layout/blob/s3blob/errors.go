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

// fail returns the error of a failed call; the parameter err is the error of minio-go. The result
// names the operation and the key. If package blob has an error for the same problem, such as
// blob.ErrAbsent for a missing key, the result wraps this error. If the store did not answer, it
// wraps blob.ErrRetryable: the network may have failed.
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
		if err == io.EOF { // the answer had no body; a broken connection gives another error
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
	case status == http.StatusInsufficientStorage:
		return fmt.Errorf("%s: %w: the store at %s is full; make room there and try again: %w", what, blob.ErrRetryable, b.core.EndpointURL(), err)
	case retryable(status):
		return fmt.Errorf("%s: %w: status %d: %w", what, blob.ErrRetryable, status, err)
	}
	return fmt.Errorf("%s: status %d: %w", what, response.StatusCode, err)
}

// retryable reports whether a request may be repeated after an answer with this HTTP status. This
// includes status 409, which S3 returns while another request for the same key is under way.
func retryable(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status == 0 || status >= 500
}

// etagOfNothing is the ETag of an empty object: the MD5 of no bytes.
const etagOfNothing = "d41d8cd98f00b204e9800998ecf8427e"

// damaged returns an error for an answer that claims success but contradicts itself, as one from a
// broken store or proxy may do. The parameter what is a text that says what is wrong with the answer.
// The error wraps blob.ErrRetryable, since proxies often recover.
func (b *Bucket) damaged(op, key, what string) error {
	return fmt.Errorf("cannot %s %s: the answer of the store at %s is damaged: %s: %w", op, key, b.core.EndpointURL(), what, blob.ErrRetryable)
}

// empty checks an answer without content. It returns nil if the object really is empty: the answer's
// ETag says so, or else the store's listing. Otherwise it returns an error, because the store may
// have lost the content of the object.
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

// checkRange returns an error if an answer does not have the requested range r. The
// range may be cut at the end of the object. The parameter size is the number of bytes
// in the answer; header is the value of its Content-Range (RFC 9110, 14.4).
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
	if from+r.Length < from { // overflow
		to = total
	}
	if first != from || last != to-1 || size != to-from {
		return fmt.Errorf("asked for %+v, it sends %d bytes as %q", r, size, header)
	}
	return nil
}
