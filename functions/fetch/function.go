package fetch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Bucket is what fetch needs of the object store. blob.Bucket has it.
type Bucket interface {
	Head(ctx context.Context, key string) (int64, error)
	Create(ctx context.Context, key string, content []byte) error
}

// Function fetches batches. It is safe for concurrent use if its parts are.
type Function struct {
	Bucket    Bucket
	Settings  *settings.Cache
	Transport http.RoundTripper // see Transport
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error // fails when ctx ends
	Agent     string                                           // the User-Agent where a collection has none
	Worker    string                                           // names this instance in its vital signs
	Limits    Limits
	Log       *slog.Logger

	survived    survived // batches that Run failed with
	topics      topics
	crowds      crowds
	decoders    decoders
	buffers     sync.Pool // *bytes.Buffer
	compressors sync.Pool // *webobject.Compressor
}

// Handle runs the batches of an SQS event, all at the same time, for each asks
// a host of its own, and returns the messages that must come again.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Together(ctx, f.Log, event, f.receive), nil
}

// receive runs the batch of a message.
func (f *Function) receive(ctx context.Context, record events.SQSMessage) error {
	var b batch.Batch
	if err := message.Decode(record.Body, &b); err != nil {
		return err
	}
	if f.tooLate(b) && receives(record) > 1 {
		return f.bury(ctx, b)
	}
	return f.Run(ctx, b)
}

// Run fetches a batch and puts its spool object. It does nothing if the
// batch's deadline has passed or the object exists. It fails if the bucket
// does, be it for the settings, or if ctx is cancelled; then nothing was put,
// and the batch may be run again. That it failed is remembered: it did not die.
func (f *Function) Run(ctx context.Context, b batch.Batch) error {
	err := f.run(ctx, b)
	if err != nil {
		f.survived.add(b.Version)
	}
	return err
}

func (f *Function) run(ctx context.Context, b batch.Batch) error {
	if f.tooLate(b) {
		f.Log.InfoContext(ctx, "batch dropped: its deadline has passed", "partition", b.Storage, "crawl", b.Crawl, "batch", b.Version, "host", b.Host)
		return nil
	}
	key := layout.SpoolKey(b.Storage, b.Version)
	if _, err := f.Bucket.Head(ctx, key); err == nil {
		return nil
	} else if !errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("cannot look for %s: %w", key, err)
	}
	r, err := f.newRun(ctx, b)
	if err != nil {
		return err
	}
	object := r.fetch(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("batch %s was interrupted: %w", b.Version, context.Cause(ctx))
	}
	return f.put(ctx, key, object)
}

func (f *Function) tooLate(b batch.Batch) bool { return !f.Now().Before(b.Deadline) }

// put stores a spool object, unless another did.
func (f *Function) put(ctx context.Context, key string, object spool.Spool) error {
	content, err := spool.Encode(object)
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", key, err)
	}
	if err := f.Bucket.Create(ctx, key, content); err != nil && !errors.Is(err, blob.ErrExists) {
		return fmt.Errorf("cannot put %s: %w", key, err)
	}
	return nil
}
