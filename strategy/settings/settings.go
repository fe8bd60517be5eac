// Package settings reads what the operator and the strategist have published:
// the strategies, collections, takedowns and controls in force. Everyone
// follows them straight from the bucket, so that all goes on without whoever
// published them.
package settings

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// Settings is one consistent view. It is not changed after it was read.
type Settings struct {
	membership.Members // strategies, collections and takedowns
	Control            control.Document
	// Warnings say in a sentence each what is wrong with what was published, and
	// keeps nobody from going on.
	Warnings []string
}

// Read returns the newest of everything that can be read: five listings at
// once, and a GET for each document. What damage means is told in damaged.go.
func Read(ctx context.Context, bucket blob.Reader) (*Settings, error) {
	var s Settings
	var unread unread
	group, ctx := errgroup.WithContext(ctx)
	fork := meter.NewFork(ctx)
	read := func(what string, load func(context.Context) error) {
		group.Go(func() error {
			if err := load(fork.Branch()); err != nil {
				return fmt.Errorf("cannot read %s: %w", what, err)
			}
			return nil
		})
	}
	read("crawl strategy", func(ctx context.Context) (err error) {
		s.Crawl, err = rules.Load(ctx, bucket, rules.Crawl)
		return unread.strategy(&s.Crawl, rules.Crawl, err)
	})
	read("storage strategy", func(ctx context.Context) (err error) {
		s.Storage, err = rules.Load(ctx, bucket, rules.Storage)
		return unread.strategy(&s.Storage, rules.Storage, err)
	})
	read("collections", func(ctx context.Context) (err error) {
		var damaged []numbered.Damaged
		s.Collections, damaged, err = collection.Find(ctx, bucket)
		unread.add(damaged)
		return err
	})
	read("takedowns", func(ctx context.Context) (err error) { s.Takedowns, err = takedown.Load(ctx, bucket); return err })
	read("controls", func(ctx context.Context) error {
		found, err := control.Find(ctx, bucket)
		s.Control = found.Document
		unread.add(found.Damaged)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	unread.add(s.Takedowns.Damaged)
	unread.judge(&s)
	return &s, s.Prepare()
}

// Partitions returns the storage partitions that exist.
func (s *Settings) Partitions() []layout.Partition {
	var partitions []layout.Partition
	for _, p := range s.Storage.Partitions() {
		partitions = append(partitions, layout.Partition(p))
	}
	return partitions
}

// Fingerprint changes when a strategy, a collection or the takedowns do. The
// frontier remembers under which it was built.
func (s *Settings) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "crawl %d storage %d takedowns %d", s.Crawl.Version, s.Storage.Version, s.Takedowns.Version)
	for _, c := range s.Collections {
		fmt.Fprintf(&b, " %s %d", c.Name, c.Version)
	}
	return b.String()
}

// Cache keeps settings for a while, so that no function lists on its hot path.
// It is safe for concurrent use.
type Cache struct {
	Bucket blob.Reader
	Now    func() time.Time
	Age    time.Duration // how long settings are used

	mu   sync.Mutex // protects the fields below
	last *Settings
	read time.Time
}

// Get returns settings that are at most Age old.
func (c *Cache) Get(ctx context.Context) (*Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if age := now.Sub(c.read); c.last != nil && age >= 0 && age < c.Age {
		return c.last, nil
	}
	fresh, err := Read(ctx, c.Bucket)
	if err != nil {
		return nil, err
	}
	c.last, c.read = fresh, now
	return fresh, nil
}
