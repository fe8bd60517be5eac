package sweep

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// parallelDeletes is how many spool objects are deleted at once.
const parallelDeletes = 8

// sweepPartition raises again the events of what is undone in a storage
// partition, and deletes the spool objects that were packed long enough ago.
func (f *Function) sweepPartition(ctx context.Context, p layout.Partition, out map[layout.Version]bool) error {
	spooled, err := f.list(ctx, layout.SpoolPrefix(p))
	if err != nil {
		return err
	}
	m, err := manifest.Read(ctx, f.Bucket, p)
	if err == nil && m.Generation == 0 {
		m, err = manifest.Begin(ctx, f.Bucket, p, f.Now)
	}
	if err != nil {
		return err
	}
	if err := f.raiseSpooled(ctx, p, &m, spooled, out); err != nil {
		return err
	}
	for _, listed := range m.Packages {
		if listed.Indexed {
			continue
		}
		if err := f.raise(ctx, task.Index, blob.Object{Key: listed.Key, Size: listed.Bytes}); err != nil {
			return err
		}
	}
	return f.forgetConsumed(ctx, p, &m)
}

// raiseSpooled has settled what is not: a batch that waits to be packed, or is
// packed, is settled unless its lease is still out.
func (f *Function) raiseSpooled(ctx context.Context, p layout.Partition, m *manifest.Manifest, spooled []blob.Object, out map[layout.Version]bool) error {
	waiting, err := frontier.NewInbox(f.Redis, p).List(ctx)
	if err != nil {
		return err
	}
	settled := make(map[layout.Version]bool, len(waiting))
	for _, w := range waiting {
		settled[w.Batch] = true
	}
	for _, object := range spooled {
		_, batch, err := layout.ParseSpoolKey(object.Key)
		if err != nil {
			f.Log.WarnContext(ctx, "foreign object in the spool", "error", err)
			continue
		}
		if !out[batch] && (settled[batch] || m.HasConsumed(batch)) {
			continue
		}
		if err := f.raise(ctx, task.Pack, object); err != nil {
			return err
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return task.Send(ctx, f.Sender, task.Pack, task.Gather{Storage: p}, 0)
}

// raise sends the event of an object again.
func (f *Function) raise(ctx context.Context, queue string, object blob.Object) error {
	event := message.S3Event("", object.Key, object.Size, f.Now())
	if err := f.Sender.Send(ctx, queue, event, 0); err != nil {
		return fmt.Errorf("cannot raise the event of %s: %w", object.Key, err)
	}
	return nil
}

// forgetConsumed deletes spool objects first and commits that they are gone
// then. Should the batch be fetched once more, its pages have the version of
// those that are packed, and nothing changes.
func (f *Function) forgetConsumed(ctx context.Context, p layout.Partition, m *manifest.Manifest) error {
	gone := make(map[layout.Version]bool)
	deletes, ctxDelete := errgroup.WithContext(ctx)
	deletes.SetLimit(parallelDeletes)
	for _, c := range m.Consumed {
		if f.Now().Sub(c.At) < f.Keep {
			continue
		}
		gone[c.Batch] = true
		deletes.Go(func() error { return f.Bucket.Delete(ctxDelete, layout.SpoolKey(p, c.Batch)) })
	}
	if err := deletes.Wait(); err != nil {
		return fmt.Errorf("cannot delete packed spool: %w", err)
	}
	if len(gone) == 0 {
		return nil
	}
	_, err := manifest.Commit(ctx, f.Bucket, p, f.Now, func(m *manifest.Manifest) error {
		before := len(m.Consumed)
		m.Consumed = slices.DeleteFunc(m.Consumed, func(c manifest.Consumed) bool { return gone[c.Batch] })
		if len(m.Consumed) == before {
			return manifest.ErrUnchanged
		}
		return nil
	})
	return err
}

func (f *Function) list(ctx context.Context, prefix string) ([]blob.Object, error) {
	var objects []blob.Object
	for object, err := range f.Bucket.List(ctx, prefix, "") {
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", prefix, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
