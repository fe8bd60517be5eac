// Package settings reads what the operator and the strategist have published:
// the strategies, collections, takedowns and controls in force. Everyone
// follows them straight from the bucket, so that all goes on without whoever
// published them.
package settings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

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
	membership.Members // strategies in force, collections, takedowns and what is crawled for now
	Control            control.Document
	// Warnings say in a sentence each what is wrong with what was published, and
	// keeps nobody from going on.
	Warnings []string

	storages []rules.Document // every version of the storage strategy
}

// Reader reads settings time and again, and what never changes once. The zero
// Reader is ready; it is for one bucket, and safe for concurrent use.
type Reader struct{ crawls, storages rules.Kept }

// Read returns what is in force at a time, for those who ask once.
func Read(ctx context.Context, bucket blob.Reader, now time.Time) (*Settings, error) {
	return new(Reader).Read(ctx, bucket, now)
}

// Read returns what is in force at a time, of all that can be read: five
// listings at once, and a GET for each document; of the storage strategy every
// version is one. What damage means is told in damaged.go.
func (r *Reader) Read(ctx context.Context, bucket blob.Reader, now time.Time) (*Settings, error) {
	var s Settings
	var unread unreadDocuments
	var crawls, storages rules.History
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
		crawls, err = rules.LoadInForce(ctx, bucket, rules.Crawl, now, &r.crawls)
		return unread.strategy(&crawls.InForce, rules.Crawl, err)
	})
	read("storage strategy", func(ctx context.Context) (err error) {
		storages, err = rules.LoadAll(ctx, bucket, rules.Storage, now, &r.storages)
		return unread.strategy(&storages.InForce, rules.Storage, err)
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
	s.Crawl, s.Storage, s.storages = crawls.InForce, storages.InForce, storages.Versions
	if len(s.storages) == 0 { // all are damaged
		s.storages = []rules.Document{s.Storage}
	}
	s.Warnings = slices.Concat(crawls.Warnings, storages.Warnings)
	unread.add(s.Takedowns.Damaged)
	unread.judge(&s)
	s.Only = s.Control.Only
	return &s, s.Prepare()
}

// Fingerprint changes when a strategy, a collection or the takedowns do, or what
// is crawled for now. The frontier remembers under which it was built.
func (s *Settings) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "crawl %d storage %d takedowns %d", s.Crawl.Version, s.Storage.Version, s.Takedowns.Version)
	for _, c := range s.Collections {
		fmt.Fprintf(&b, " %s %d", c.Name, c.Version)
	}
	if s.Only != nil {
		fmt.Fprintf(&b, " only %v", *s.Only)
	}
	return b.String()
}

// Cache keeps settings for a while, so that no function lists on its hot path.
// It is safe for concurrent use.
type Cache struct {
	Bucket blob.Reader
	Now    func() time.Time
	Age    time.Duration // how long settings are used

	reader Reader
	mu     sync.Mutex // protects the fields below
	last   *Settings
	read   time.Time
}

// Get returns settings that are at most Age old.
func (c *Cache) Get(ctx context.Context) (*Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if age := now.Sub(c.read); c.last != nil && age >= 0 && age < c.Age {
		return c.last, nil
	}
	return c.renew(ctx, now)
}

// Renew returns settings as they are now, however young those at hand are.
func (c *Cache) Renew(ctx context.Context) (*Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renew(ctx, c.Now())
}

func (c *Cache) renew(ctx context.Context, now time.Time) (*Settings, error) {
	fresh, err := c.reader.Read(ctx, c.Bucket, now)
	if err != nil {
		return nil, err
	}
	c.last, c.read = fresh, now
	return fresh, nil
}
