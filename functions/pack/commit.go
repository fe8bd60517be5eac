package pack

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/message"
	"github.com/bucketsearch/bucketsearch/functions/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// commit lists packages and a book, if there is one, which were put since a
// moment, the pages that are gone by it, and the batches that all was made of as
// consumed. It fails with
// errAgain when any of these was consumed since, or closed, or more is forgotten
// now, or a key is taken: the sweep may have condemned what no generation listed
// yet, and long ago have deleted it.
func (f *Function) commit(ctx context.Context, p layout.Partition, s *settings.Settings, since time.Time, batches []layout.Version, packages []manifest.Package, learnt *manifest.Book, gone []manifest.Gone) (manifest.Manifest, error) {
	return manifest.Commit(ctx, f.Bucket, p, f.Now, func(m *manifest.Manifest) error {
		if m.Forgotten > s.Takedowns.Version || f.Now().Sub(since) >= manifest.Fresh {
			return errAgain
		}
		at := f.Now().UTC().Truncate(time.Millisecond)
		for _, batch := range batches {
			if m.HasConsumed(batch) || m.IsClosed(batch) {
				return errAgain
			}
			m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch, At: at})
		}
		for _, listed := range packages {
			if taken(m, listed.Key) {
				return errAgain
			}
			m.Add(listed)
		}
		m.AddGone(gone...)
		if learnt == nil {
			return nil
		}
		if taken(m, learnt.Key) {
			return errAgain
		}
		m.Books = append(m.Books, *learnt)
		return f.learn(ctx, s, m, learnt.Key)
	})
}

// taken reports whether no commit may list a new package or book under a key:
// it is condemned, so that the sweep deletes it at any time and without
// looking, or a package has it or had it.
func taken(m *manifest.Manifest, key string) bool {
	return m.Package(key) != nil || m.IsCondemned(key)
}

// learn tells the frontiers of the commit that is about to bring a book, and
// names it. The name holds for this base alone, as frontier.Learning asks for.
func (f *Function) learn(ctx context.Context, s *settings.Settings, m *manifest.Manifest, key string) error {
	next := fmt.Sprintf("%s@%d", key, m.Generation+1)
	for _, crawl := range s.Crawl.Partitions() {
		if err := frontier.New(f.Redis, crawl).Learning(ctx, m.Partition, m.Learnt, next); err != nil {
			return err
		}
	}
	m.Learnt = next
	return nil
}

// raise sends the events of new packages once more: the bucket's own often
// come before the commit, when no generation lists the package.
func (f *Function) raise(ctx context.Context, packages []manifest.Package) error {
	for _, listed := range packages {
		event := message.S3Event("", listed.Key, listed.Bytes, f.Now())
		if err := f.Sender.Send(ctx, task.Index, event, 0); err != nil {
			return fmt.Errorf("cannot raise the event of %s: %w", listed.Key, err)
		}
	}
	return nil
}
