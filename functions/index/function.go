// Package index builds the segment of a package.
package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// leaseTime is how long the package of a build that died waits for another.
const leaseTime = 30 * time.Second

var (
	errNotListed = errors.New("no generation lists the package yet")
	errBusy      = errors.New("another is building its segment")
)

// Function is the index function.
type Function struct {
	Bucket blob.Bucket
	Redis  redis.UniversalClient
	Now    func() time.Time
	Worker string // who holds the leases
	Log    *slog.Logger
}

// Handle takes bucket events on packages/.
func (f *Function) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return message.Each(ctx, f.Log, event, func(ctx context.Context, body string) error {
		keys, err := message.S3Keys(body)
		if err != nil {
			return message.Terminal(err)
		}
		for _, key := range keys {
			if err := f.Run(ctx, key); err != nil {
				return fmt.Errorf("cannot index package %s: %w", key, err)
			}
		}
		return nil
	}), nil
}

// Run builds and commits the segment of one package. A package that is not
// listed yet, or in another's hands, is an error, so that the message comes
// back; one that is indexed is done.
func (f *Function) Run(ctx context.Context, key string) error {
	p, _, err := layout.ParsePackageKey(key)
	if err != nil {
		return message.Terminal(err)
	}
	m, err := manifest.Read(ctx, f.Bucket, p)
	if err != nil {
		return err
	}
	listed := m.Package(key)
	if listed == nil {
		return errNotListed
	}
	if listed.Indexed {
		return nil
	}
	worked, err := lease.New(f.Redis, f.Worker).Do(ctx, "index "+key, f.Now, leaseTime, func() error {
		return f.build(ctx, p, key)
	})
	if err == nil && !worked {
		err = errBusy
	}
	return err
}

func (f *Function) build(ctx context.Context, p layout.Partition, key string) error {
	began := f.Now()
	content, err := f.Bucket.Get(ctx, key, blob.Range{})
	if err != nil {
		return err
	}
	documents, err := extract(ctx, key, content)
	if err != nil {
		return err
	}
	extracted := f.Now()
	var built *manifest.Segment
	if len(documents) > 0 {
		if built, err = f.putSegment(ctx, p, documents); err != nil {
			return err
		}
	}
	m, err := manifest.Commit(ctx, f.Bucket, p, f.Now, func(m *manifest.Manifest) error {
		return list(m, key, built)
	})
	if err != nil {
		return err
	}
	f.Log.InfoContext(ctx, "indexed", "partition", p, "generation", m.Generation, "package", key, "documents", len(documents),
		"extract", extracted.Sub(began), "build", f.Now().Sub(extracted))
	return nil
}

func (f *Function) putSegment(ctx context.Context, p layout.Partition, documents []segment.Document) (*manifest.Segment, error) {
	content, err := segment.Build(documents)
	if err != nil {
		return nil, err
	}
	key := layout.SegmentKey(p, layout.ContentHash(content))
	if err := blob.CreateOnce(ctx, f.Bucket, key, content); err != nil {
		return nil, fmt.Errorf("cannot put segment %s: %w", key, err)
	}
	return &manifest.Segment{Key: key, Bytes: int64(len(content)), Documents: len(documents)}, nil
}

// list marks the package as indexed and lists its segment, if it has one. A
// package is indexed exactly once, whoever was faster.
func list(m *manifest.Manifest, key string, built *manifest.Segment) error {
	listed := m.Package(key)
	switch {
	case listed == nil:
		return errNotListed
	case listed.Indexed:
		return manifest.ErrUnchanged
	}
	listed.Indexed = true
	if built != nil {
		s := *built
		s.Packages = []uint32{listed.ID}
		m.Segments = append(m.Segments, s)
	}
	return nil
}
