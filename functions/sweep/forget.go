package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
// Segments are built anew by index, and masked by query until then. What no
// generation lists is condemned before it counts as forgotten, and looked for
// again later.
func (p *partition) forget(ctx context.Context) error {
	if p.settings.Takedowns.Version == 0 {
		return nil
	}
	if !p.forgets() {
		return p.once(ctx, fmt.Sprintf("forget %s", p.id), func() error { return p.clearUnlisted(ctx) })
	}
	awaited := unbuilt(&p.manifest)
	clean := p.clean.of(p.id, p.settings.Takedowns.Version)
	for range maxRounds {
		err := errors.Join(p.eraseAll(ctx, clean), p.clearUnlisted(ctx))
		if err == nil {
			err = p.commitForgotten(ctx, clean)
		}
		if err == nil {
			p.warnOf(ctx, awaited)
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

// warnOf tells of the packages that an earlier sweep has erased pages from and
// that nobody has indexed since: nothing but their segments is left of what is
// forgotten.
func (p *partition) warnOf(ctx context.Context, awaited []string) {
	for _, key := range unbuilt(&p.manifest) {
		if slices.Contains(awaited, key) {
			p.Log.WarnContext(ctx, "a segment still holds what is forgotten, until its package is indexed again",
				"partition", p.id, "generation", p.manifest.Generation, "package", key, "takedowns", p.settings.Takedowns.Version)
		}
	}
}

// eraseAll makes clean what is listed. What is damaged keeps nothing else from
// being erased.
func (p *partition) eraseAll(ctx context.Context, clean *cleanKeys) error {
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
func (p *partition) commitForgotten(ctx context.Context, clean *cleanKeys) error {
	version := p.settings.Takedowns.Version
	err := p.commit(ctx, func(m *manifest.Manifest) error {
		keys := consumedKeys(p.id, m.Consumed)
		for _, b := range m.Books {
			keys = append(keys, b.Key)
		}
		for _, pkg := range m.Packages {
			keys = append(keys, pkg.Key)
		}
		if slices.ContainsFunc(keys, func(key string) bool { return !clean.has(key) }) {
			return errMore
		}
		if unbuilt(m) != nil || m.Forgotten >= version {
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

// unbuilt returns the keys of packages that are about to be indexed in place of
// segments that still serve.
func unbuilt(m *manifest.Manifest) (keys []string) {
	serving := make(map[uint32]bool)
	for _, s := range m.Segments {
		for _, id := range s.Packages {
			serving[id] = true
		}
	}
	for _, pkg := range m.Packages {
		if !pkg.Indexed && serving[pkg.ID] {
			keys = append(keys, pkg.Key)
		}
	}
	return keys
}

// clearConsumed deletes spool objects that are packed, before their time.
func (p *partition) clearConsumed(ctx context.Context, consumed []manifest.Consumed, clean *cleanKeys) error {
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
	clean.add(packed...)
	return nil
}

func consumedKeys(id layout.Partition, consumed []manifest.Consumed) (keys []string) {
	for _, c := range consumed {
		keys = append(keys, layout.SpoolKey(id, c.Batch))
	}
	return keys
}
