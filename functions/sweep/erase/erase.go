// Package erase takes out of a storage partition what is forgotten. Pack and
// index, whose settings may be older, list nothing from then on that they have
// not freed from it. What the objects were before is condemned, and deleted by
// the collector.
//
// Books come first, so that no place in them leads to a page that is erased.
// Segments are written anew by merge, which leaves nothing of dead documents,
// and masked by query until then. What no generation lists is condemned before
// it counts as forgotten, and looked for again later. What only earlier
// generations list goes then too.
package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// maxRounds is how often a run looks for what was committed while it erased.
const maxRounds = 5

// errMore says that there are objects that nobody has looked into.
var errMore = errors.New("more has been listed")

// Eraser erases from one partition what is forgotten.
type Eraser struct {
	*partition.Partition
	Bucket    blob.Bucket
	Sender    task.Sender
	Now       func() time.Time
	Takedowns takedown.Set
	Collector *collect.Collector // of the same partition
	Memory    *Memory
	Log       *slog.Logger
}

// Forgets reports whether something is forgotten of which the partition may
// still hold anything.
func (e *Eraser) Forgets() bool { return e.Manifest().Forgotten < e.Takedowns.Version }

// Run erases what is forgotten from all that the partition lists, one commit an
// object, and commits that nothing is left.
func (e *Eraser) Run(ctx context.Context) error {
	awaited := erasedKeys(e.Manifest())
	clean := e.Memory.of(e.ID(), e.Takedowns.Version)
	for range maxRounds {
		err := errors.Join(e.eraseAll(ctx, clean), e.Collector.Forgotten(ctx))
		if err == nil {
			err = e.commitForgotten(ctx, clean)
		}
		if err == nil {
			e.warnOf(ctx, awaited)
		}
		if !errors.Is(err, errMore) {
			return err
		}
		if err := e.Reload(ctx); err != nil {
			return err
		}
	}
	return nil // the next sweep goes on
}

// warnOf tells of the segments that an earlier sweep has asked merge to write
// anew and that are still there: nothing but them is left of what is forgotten.
func (e *Eraser) warnOf(ctx context.Context, awaited []string) {
	for _, key := range erasedKeys(e.Manifest()) {
		if slices.Contains(awaited, key) {
			e.Log.WarnContext(ctx, "a segment still holds what is forgotten, until it is written anew",
				"partition", e.ID(), "generation", e.Manifest().Generation, "segment", key, "takedowns", e.Takedowns.Version)
		}
	}
}

// erasedKeys returns the keys of the segments that merge is to write anew without
// what is forgotten.
func erasedKeys(m *manifest.Manifest) (keys []string) {
	for _, s := range m.Segments {
		if s.Erase {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// eraseAll makes clean what is listed. What is damaged keeps nothing else from
// being erased.
func (e *Eraser) eraseAll(ctx context.Context, clean *cleanKeys) error {
	var errs []error
	try := func(key string, erase func() (string, error)) (goOn bool) {
		if clean.has(key) {
			return true
		}
		now, err := erase()
		if err == nil {
			clean.add(now)
			return true
		}
		errs = append(errs, fmt.Errorf("cannot forget what is in %s: %w", key, err))
		return ctx.Err() == nil && !errors.Is(err, blob.ErrRetryable)
	}
	m := e.Manifest()
	for _, listed := range m.Books {
		if !try(listed.Key, func() (string, error) { return e.cleanBook(ctx, listed) }) {
			return errors.Join(errs...)
		}
	}
	dirty, err := e.dirtyPackages(ctx, m.Packages, clean)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, listed := range dirty {
		if !try(listed.Key, func() (string, error) { return e.cleanPackage(ctx, listed) }) {
			return errors.Join(errs...)
		}
	}
	for _, listed := range e.Manifest().Segments {
		if listed.Erase {
			continue
		}
		if !try(listed.Key, func() (string, error) { return e.cleanSegment(ctx, listed) }) {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, e.clearConsumed(ctx, m.Consumed, clean))...)
}

// commitForgotten commits that nothing is left, if that is so in the very
// generation on which it commits.
func (e *Eraser) commitForgotten(ctx context.Context, clean *cleanKeys) error {
	version := e.Takedowns.Version
	err := e.Commit(ctx, func(edit *partition.Edit) error {
		m := edit.Manifest()
		keys := consumedKeys(e.ID(), m.Consumed)
		for _, b := range m.Books {
			keys = append(keys, b.Key)
		}
		for _, pkg := range m.Packages {
			keys = append(keys, pkg.Key)
		}
		for _, s := range m.Segments {
			if !s.Erase {
				keys = append(keys, s.Key)
			}
		}
		if slices.ContainsFunc(keys, func(key string) bool { return !clean.has(key) }) {
			return errMore
		}
		if erasedKeys(m) != nil || !edit.Forgot(version) {
			return partition.ErrUnchanged
		}
		return nil
	})
	if err == nil && !e.Forgets() {
		e.Log.InfoContext(ctx, "nothing is left of what is forgotten", "partition", e.ID(), "generation", e.Manifest().Generation, "takedowns", version)
	}
	return err
}

// clearConsumed deletes spool objects that are packed, before their time.
func (e *Eraser) clearConsumed(ctx context.Context, consumed []manifest.Consumed, clean *cleanKeys) error {
	spooled, err := blob.List(ctx, e.Bucket, layout.SpoolPrefix(e.ID()))
	if err != nil {
		return err
	}
	packed := consumedKeys(e.ID(), consumed)
	var keys []string
	for _, object := range spooled {
		if slices.Contains(packed, object.Key) {
			keys = append(keys, object.Key)
		}
	}
	if err := e.Collector.Delete(ctx, keys); err != nil {
		return err
	}
	clean.add(packed...)
	return nil
}

func consumedKeys(id layout.Partition, consumed []manifest.Consumed) (keys []string) {
	for _, c := range consumed {
		keys = append(keys, layout.SpoolKey(id, c.Batch))
	}
	return keys
}

// Memory is what a process remembers of objects that it has looked into, so
// that a takedown that waits for something is not looked for again and again
// in the same objects. It is never wrong, since no object ever changes.
type Memory struct {
	mu         sync.Mutex
	partitions map[layout.Partition]*cleanKeys
}

// cleanKeys are the keys of objects of a partition that hold nothing of what
// one version of the takedowns forgets. They are safe for concurrent use.
type cleanKeys struct {
	version uint64

	mu   sync.Mutex
	keys map[string]bool
}

// of returns what is known of a partition; nothing, when the version is
// another than before.
func (m *Memory) of(p layout.Partition, version uint64) *cleanKeys {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.partitions[p]; known != nil && known.version == version {
		return known
	}
	if m.partitions == nil {
		m.partitions = make(map[layout.Partition]*cleanKeys)
	}
	m.partitions[p] = &cleanKeys{version: version, keys: make(map[string]bool)}
	return m.partitions[p]
}

func (c *cleanKeys) has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[key]
}

func (c *cleanKeys) add(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		c.keys[key] = true
	}
}
