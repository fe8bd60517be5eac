package s3blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// fail returns the contract's error for one of minio-go, with the operation
// and the key. What the store did not say is taken for a failure of the
// network, and may be tried again.
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

// retryable includes 409, by which S3 says that another request on the same
// key was under way and that this one should be sent again.
func retryable(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return status == 0 || status >= 500
}
