package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// maxRounds is how often a run looks for what was committed while it erased.
const maxRounds = 5

// errMore says that there are objects that nobody has looked into.
var errMore = errors.New("more has been listed")

// forgets reports whether something is forgotten of which the partition may
// still hold anything.
func (p *partition) forgets() bool { return p.manifest.Forgotten < p.settings.Takedowns.Version }

// forget erases what is forgotten from all that the partition lists, one
// commit an object, and commits that nothing is left. Pack and index, whose
// settings may be older, list nothing from then on that they have not freed
// from it. What the objects were before is condemned, and deleted by collect.
//
// Books come first, so that no place in them leads to a page that is erased.
// Segments are built anew by index, and masked by query until then.
func (p *partition) forget(ctx context.Context) error {
	if !p.forgets() || unbuilt(&p.manifest) { // what is erased already has to be indexed first
		return nil
	}
	if err := p.clearQuarantine(ctx); err != nil {
		return err
	}
	clean := make(map[string]bool) // keys of objects that hold nothing of it
	for range maxRounds {
		err := p.eraseAll(ctx, clean)
		if err == nil {
			err = p.commitForgotten(ctx, clean)
		}
		if !errors.Is(err, errMore) {
			return err
		}
		if p.manifest, err = manifest.Read(ctx, p.Bucket, p.id); err != nil {
			return err
		}
	}
	return nil // the next sweep goes on
}

// eraseAll makes clean what is listed. What is damaged keeps nothing else from
// being erased.
func (p *partition) eraseAll(ctx context.Context, clean map[string]bool) error {
	var errs []error
	try := func(key string, erase func() (string, error)) (goOn bool) {
		if clean[key] {
			return true
		}
		now, err := erase()
		if err == nil {
			clean[now] = true
			return true
		}
		errs = append(errs, fmt.Errorf("cannot forget what is in %s: %w", key, err))
		return ctx.Err() == nil && !errors.Is(err, blob.ErrRetryable)
	}
	m := p.manifest
	for _, listed := range m.Books {
		if !try(listed.Key, func() (string, error) { return p.cleanBook(ctx, listed) }) {
			return errors.Join(errs...)
		}
	}
	dirty, err := p.dirtyPackages(ctx, m.Packages, clean)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, listed := range dirty {
		if !try(listed.Key, func() (string, error) { return p.cleanPackage(ctx, listed) }) {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, p.clearConsumed(ctx, m.Consumed, clean))...)
}

// commitForgotten commits that nothing is left, if that is so in the very
// generation on which it commits.
func (p *partition) commitForgotten(ctx context.Context, clean map[string]bool) error {
	version := p.settings.Takedowns.Version
	err := p.commit(ctx, func(m *manifest.Manifest) error {
		keys := consumedKeys(p.id, m.Consumed)
		for _, b := range m.Books {
			keys = append(keys, b.Key)
		}
		for _, pkg := range m.Packages {
			keys = append(keys, pkg.Key)
		}
		if slices.ContainsFunc(keys, func(key string) bool { return !clean[key] }) {
			return errMore
		}
		if unbuilt(m) || m.Forgotten >= version {
			return manifest.ErrUnchanged
		}
		m.Forgotten = version
		return nil
	})
	if err == nil && !p.forgets() {
		p.Log.InfoContext(ctx, "nothing is left of what is forgotten", "partition", p.id, "generation", p.manifest.Generation, "takedowns", version)
	}
	return err
}

// unbuilt reports whether a segment still serves that a package is about to be
// indexed in place of.
func unbuilt(m *manifest.Manifest) bool {
	pending := make(map[uint32]bool)
	for _, pkg := range m.Packages {
		pending[pkg.ID] = !pkg.Indexed
	}
	return slices.ContainsFunc(m.Segments, func(s manifest.Segment) bool {
		return slices.ContainsFunc(s.Packages, func(id uint32) bool { return pending[id] })
	})
}

// clearConsumed deletes spool objects that are packed, before their time.
func (p *partition) clearConsumed(ctx context.Context, consumed []manifest.Consumed, clean map[string]bool) error {
	spooled, err := p.list(ctx, layout.SpoolPrefix(p.id))
	if err != nil {
		return err
	}
	packed := consumedKeys(p.id, consumed)
	var keys []string
	for _, object := range spooled {
		if slices.Contains(packed, object.Key) {
			keys = append(keys, object.Key)
		}
	}
	if err := p.deleteAll(ctx, keys); err != nil {
		return err
	}
	for _, key := range packed {
		clean[key] = true
	}
	return nil
}

func consumedKeys(id layout.Partition, consumed []manifest.Consumed) (keys []string) {
	for _, c := range consumed {
		keys = append(keys, layout.SpoolKey(id, c.Batch))
	}
	return keys
}

// clearQuarantine deletes all that the partition has in quarantine: damaged
// bytes cannot be searched for what they hold.
func (p *partition) clearQuarantine(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, kind := range []string{layout.Spool, layout.Packages, layout.Books, layout.Segments} {
		group.Go(func() error {
			kept, err := p.list(ctx, layout.QuarantineKey(kind+p.id.String()+"/"))
			if err != nil {
				return err
			}
			var keys []string
			for _, object := range kept {
				p.Log.WarnContext(ctx, "deleted from quarantine, for it may hold what is forgotten", "partition", p.id, "generation", p.manifest.Generation, "key", object.Key)
				keys = append(keys, object.Key)
			}
			return p.deleteAll(ctx, keys)
		})
	}
	return group.Wait()
}
