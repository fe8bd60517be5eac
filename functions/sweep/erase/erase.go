// Package erase erases from a storage partition the pages, outcomes and links of forgotten URLs.
// Operators name these URLs in takedowns.
//
//	books       are written anew without these outcomes and links, before packages, so that no
//	            outcome points to an erased page
//	packages    are written anew without these pages
//	segments    get the documents of these pages marked as dead, and are written anew by merge
//	            without them
//
// The old objects are condemned (marked for deletion), and later deleted by the collector. So are
// all objects that the newest manifest does not list, because they may hold forgotten data, too.
// When nothing forgotten is left, the manifest records the version of the takedowns (Forgotten).
// From then on, pack and index commit only objects to which that version was applied. A process
// that still has older settings must read them anew.
package erase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/census"
	"github.com/bucketsearch/bucketsearch/functions/shared/collect"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// maxRounds is the greatest number of rounds of Run. A round clears all objects that are listed
// when it begins. Other processes may list new objects during the round; then another round
// follows.
const maxRounds = 5

// errMore means that the newest manifest lists objects that this run has not yet searched for URLs
// that takedowns forget.
var errMore = errors.New("more has been listed")

// Eraser erases from one partition all data about URLs that takedowns forget.
type Eraser struct {
	*partition.Partition
	Bucket    blob.Bucket
	Sender    task.Sender
	Now       func() time.Time
	Takedowns takedown.Set
	Collector *collect.Collector // collector of the same partition
	Memory    *Memory
	Log       *slog.Logger
}

// Forgets reports whether the partition may still hold data about URLs that takedowns forget: its
// manifest does not yet record the present version of the takedowns.
func (e *Eraser) Forgets() bool { return e.Manifest().Forgotten < e.Takedowns.Version }

// Run erases the data about URLs that takedowns forget from all listed objects, with one commit for
// each object. If other processes have listed new objects meanwhile, another round follows, up to
// maxRounds rounds in all. When nothing is left, Run records this by committing the version of the
// takedowns. If something is left after the last round, Run returns nil without this commit, and
// the next sweep continues.
func (e *Eraser) Run(ctx context.Context) error {
	awaited := erasedKeys(e.Manifest())
	clean := e.Memory.of(e.ID(), e.Takedowns.Version)
	for range maxRounds {
		err := errors.Join(e.eraseAll(ctx, clean), e.Collector.Forgotten(ctx))
		if err == nil {
			err = e.commitForgotten(ctx, clean)
		}
		if err == nil {
			e.warnUnmerged(ctx, awaited)
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

// warnUnmerged logs a warning for each segment with forgotten documents that merge has not written
// anew for a long time: the segment was already waiting for merge when this sweep began, and is
// still waiting. The parameter awaited has the keys of the segments that waited at the beginning.
func (e *Eraser) warnUnmerged(ctx context.Context, awaited []string) {
	for _, key := range erasedKeys(e.Manifest()) {
		if slices.Contains(awaited, key) {
			e.Log.WarnContext(ctx, "a segment still holds what is forgotten, until it is written anew",
				"partition", e.ID(), "generation", e.Manifest().Generation, "segment", key, "takedowns", e.Takedowns.Version)
		}
	}
}

// erasedKeys returns the keys of the segments that merge is to write anew without
// their forgotten documents.
func erasedKeys(m *manifest.Manifest) (keys []string) {
	for _, s := range m.Segments {
		if s.Erase {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// eraseAll erases the data about URLs that takedowns forget from all listed objects (see cleanBook,
// cleanPackage and cleanSegment). It records the keys of objects without such data in the parameter
// clean. If it cannot read an object, it continues with the others, and returns the errors at the
// end. If the object store fails, it stops.
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
	m, goOn := e.Manifest(), true
	var written []census.Merged // the books that are written anew
	for _, listed := range m.Books {
		goOn = goOn && try(listed.Key, func() (string, error) {
			key, erased, err := e.cleanBook(ctx, listed, clean)
			if err == nil && key != listed.Key {
				written = append(written, census.Merged{Books: []string{listed.Key}, Into: key, Changed: erased})
			}
			return key, err
		})
	}
	if err := census.Rename(ctx, e.Bucket, written...); err != nil || !goOn {
		return errors.Join(append(errs, err)...)
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

// commitForgotten records in the manifest that the takedowns are complete: it commits their version
// as Manifest.Forgotten. It does so only if all objects that the newest manifest lists are clean,
// that is, hold no data about URLs that these takedowns forget. If some may not be clean, it
// returns errMore. While segments wait to be written anew by the function merge, it commits nothing
// and returns nil.
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

// clearConsumed deletes the spool objects of packed batches at once, because they may hold
// forgotten data. (Otherwise the collector would delete them later.) It adds their keys to the
// parameter clean, the keys of all objects without forgotten data.
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

// consumedKeys returns the keys of the spool objects of packed batches.
func consumedKeys(id layout.Partition, consumed []manifest.Consumed) (keys []string) {
	for _, c := range consumed {
		keys = append(keys, layout.SpoolKey(id, c.Batch))
	}
	return keys
}

// Memory holds the keys of objects that this process has searched for forgotten data (data about
// URLs that takedowns forget) and found free of them. The next sweeps need not search these objects
// again, as long as other objects still have to be searched or erased. Objects are immutable, so
// they stay free of these data.
type Memory struct {
	mu         sync.Mutex
	partitions map[layout.Partition]*cleanKeys
}

// cleanKeys holds the keys of a partition's clean objects: these hold no data about URLs that one
// version of the takedowns forgets. It is safe for concurrent use.
type cleanKeys struct {
	version uint64

	mu         sync.Mutex
	keys       map[string]bool
	everywhere bool // whether books are clean only if they were searched for links to forgotten URLs everywhere (see cleanBook)
}

// of returns the set of the objects in a partition that are known to be clean: they hold no data
// about URLs that the given version of the takedowns forgets. Each call with the same partition and
// version returns the same set, to which callers may add keys. When the version changes, of returns
// a new, empty set, and drops the old one.
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

// searchesEverywhere reports whether books must be searched for links to forgotten URLs everywhere.
func (c *cleanKeys) searchesEverywhere() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.everywhere
}

// searchEverywhere makes books be searched everywhere from now on. No object counts as clean any more.
func (c *cleanKeys) searchEverywhere() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.everywhere = true
	clear(c.keys)
}
