// Package settings reads the published documents in force: strategies, collections, takedowns and
// controls. It lists the versions of the curation of searches, but does not read them. Every function of
// the search engine reads these documents from the bucket itself; no central program distributes them.
package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Settings are the documents in force at one time. They never change.
type Settings struct {
	membership.Members // strategies, collections, takedowns, and the collections to which the crawl is limited
	Control            control.Document
	// Curations are the versions of the curation of searches, in ascending order. They are not read,
	// since only the query engine needs them (see curation.Among).
	Curations []blob.Object
	// Warnings are sentences about faults of published documents, such as one that cannot
	// be read. They do not make Read fail.
	Warnings []string

	storages    []rules.Document // every version of the storage strategy
	fingerprint string           // result of Fingerprint
}

// ErrUnpublished means that nothing is published: the bucket has no strategy and no collection, like that of a new
// system. Functions that clocks start have nothing to do then. It is also a blob.ErrAbsent.
var ErrUnpublished = fmt.Errorf("nothing is published: no strategy and no collection: %w", blob.ErrAbsent)

// Reader reads settings repeatedly. It reads each version of a strategy only once. Of
// all other documents, it reads the newest version each time. The zero Reader is ready
// to use, for one bucket. It is safe for concurrent use.
type Reader struct{ crawls, storages rules.Kept }

// Read returns the settings that are in force at the given time, for callers that read them once.
func Read(ctx context.Context, bucket blob.Reader, now time.Time) (*Settings, error) {
	return new(Reader).Read(ctx, bucket, now)
}

// Read returns the settings that are in force at the given time. It takes five LIST requests, which
// are sent at once, and a GET for each document and for each version of the storage strategy. For
// damaged documents see the table at unreadDocuments.
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
		var faults numbered.Faults
		s.Collections, faults, err = collection.Find(ctx, bucket)
		unread.add(faults)
		return err
	})
	read("takedowns", func(ctx context.Context) (err error) { s.Takedowns, err = takedown.Load(ctx, bucket); return err })
	read("controls", func(ctx context.Context) error {
		found, curations, err := control.Find(ctx, bucket)
		s.Control, s.Curations = found.Document, curations
		unread.add(found.Faults)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := unread.absent(len(s.Collections) == 0); err != nil {
		return nil, err
	}
	s.Crawl, s.Storage, s.storages = crawls.InForce, storages.InForce, storages.Versions
	if len(s.storages) == 0 { // no version can be read
		s.storages = []rules.Document{s.Storage}
	}
	s.Warnings = slices.Concat(crawls.Warnings, storages.Warnings)
	unread.add(s.Takedowns.Faults)
	unread.judge(&s)
	s.Only = s.Control.Only
	s.fingerprint = s.fingerprintOf()
	return &s, s.Prepare()
}

// Cache caches the settings for some time, so that functions do not read them for each
// message. It reads them by one GET of their hint (see package numbered). It is safe for concurrent use.
type Cache struct {
	Bucket blob.Reader
	Now    func() time.Time
	Age    time.Duration // maximum age of cached settings; older ones are read again
	// Empty is true for those who answer also while nothing is published, as searches do: Get then returns empty
	// settings, and not ErrUnpublished.
	Empty bool

	reader Reader
	hint   numbered.Hint
	mu     sync.Mutex // protects the fields below
	last   *Settings
	read   time.Time
}

// Get returns settings that were read less than Age ago.
func (c *Cache) Get(ctx context.Context) (*Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if age := now.Sub(c.read); c.last != nil && age >= 0 && age < c.Age {
		return c.last, nil
	}
	return c.renew(ctx, now)
}

// Renew reads the settings again, whatever the age of the cached ones.
func (c *Cache) Renew(ctx context.Context) (*Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renew(ctx, c.Now())
}

// renew reads the settings from their hint, or, if that fails, from the versions of the documents.
func (c *Cache) renew(ctx context.Context, now time.Time) (*Settings, error) {
	from, damage := c.hint.Reader(ctx, c.Bucket)
	if damage != nil && !errors.Is(damage, numbered.ErrDamaged) {
		return nil, damage
	}
	var fresh *Settings
	err := damage
	if from != nil {
		fresh, err = c.reader.Read(ctx, from, now)
	}
	if from == nil || err != nil { // the hint may name a version that is deleted
		fresh, err = c.reader.Read(ctx, c.Bucket, now)
	}
	if c.Empty && errors.Is(err, ErrUnpublished) {
		fresh, err = new(Settings), nil
	}
	if err != nil {
		return nil, err
	}
	if damage != nil {
		fresh.Warnings = append(fresh.Warnings, damage.Error())
	}
	c.last, c.read = fresh, now
	return fresh, nil
}
