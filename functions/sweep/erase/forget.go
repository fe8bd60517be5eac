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
// Segments are written anew by merge, which leaves nothing of dead documents,
// and masked by query until then. What no generation lists is condemned before
// it counts as forgotten, and looked for again later. What only earlier
// generations list goes then too.
func (p *partition) forget(ctx context.Context) error {
	if p.settings.Takedowns.Version == 0 {
		return nil
	}
	if !p.forgets() {
		return p.once(ctx, fmt.Sprintf("forget %s", p.id), func() error { return p.clearUnlisted(ctx) })
	}
	awaited := erased(&p.manifest)
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

// warnOf tells of the segments that an earlier sweep has asked merge to write
// anew and that are still there: nothing but them is left of what is forgotten.
func (p *partition) warnOf(ctx context.Context, awaited []string) {
	for _, key := range erased(&p.manifest) {
		if slices.Contains(awaited, key) {
			p.Log.WarnContext(ctx, "a segment still holds what is forgotten, until it is written anew",
				"partition", p.id, "generation", p.manifest.Generation, "segment", key, "takedowns", p.settings.Takedowns.Version)
		}
	}
}

// erased returns the keys of the segments that merge is to write anew without
// what is forgotten.
func erased(m *manifest.Manifest) (keys []string) {
	for _, s := range m.Segments {
		if s.Erase {
			keys = append(keys, s.Key)
		}
	}
	return keys
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
	for _, listed := range p.manifest.Segments {
		if listed.Erase {
			continue
		}
		if !try(listed.Key, func() (string, error) { return p.cleanSegment(ctx, listed) }) {
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
		for _, s := range m.Segments {
			if !s.Erase {
				keys = append(keys, s.Key)
			}
		}
		if slices.ContainsFunc(keys, func(key string) bool { return !clean.has(key) }) {
			return errMore
		}
		if erased(m) != nil || m.Forgotten >= version {
			return manifest.ErrUnchanged
		}
		m.Erase()
		m.Forgotten = version
		return nil
	})
	if err == nil && !p.forgets() {
		p.Log.InfoContext(ctx, "nothing is left of what is forgotten", "partition", p.id, "generation", p.manifest.Generation, "takedowns", version)
	}
	return err
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
