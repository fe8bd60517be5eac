package s3

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/versity/versitygw/s3response"
)

// reporter writes messages to the parent process, which has started this server. It is safe for
// concurrent use.
type reporter struct {
	mu  sync.Mutex
	out *json.Encoder // encoder that writes to the parent; protected by mu
}

func (r *reporter) report(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.out.Encode(m) // fails when the parent has died, which ends this process too
}

// reporting is a durable backend that reports every stored object of one bucket to the parent.
type reporting struct {
	durable
	bucket string // name of the bucket whose objects are reported
	*reporter
}

// PutObject implements backend.Backend. It reports the object after it is on disk and before
// the client gets the answer.
func (r reporting) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	out, err := r.durable.PutObject(ctx, in)
	if err != nil && in.Body != nil {
		_, _ = io.Copy(io.Discard, in.Body) // otherwise the connection is closed before the client has read the answer
	}
	if err == nil && *in.Bucket == r.bucket {
		m := message{Key: *in.Key}
		if out.Size != nil {
			m.Size = *out.Size
		}
		r.report(m)
	}
	return out, err
}
