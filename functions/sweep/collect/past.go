package sweep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

const (
	// atOnce is the least time of which the generations are forgotten at once:
	// that is a commit too, and leaves one more generation to be forgotten.
	atOnce = 24 * time.Hour
	// maxPast is how many generations are read for that in a run.
	maxPast = 1000
)

// forgetPast has the generations deleted that nobody can ask for any more, and
// the overlays that only those listed. First it commits which is the oldest
// that is kept, so that nobody looks for the others, and for what only they
// listed, and sees to it that the hint leads to one that is kept. What stays
// because the sweep is killed then goes the next time. The generations go in
// their order: while one is there, so is the next.
func (p *partition) forgetPast(ctx context.Context) error {
	before := p.Now().Add(-p.Limits.Past - p.Limits.Grace)
	oldest, err := p.firstAfter(ctx, before)
	if err != nil || oldest == 0 {
		return err
	}
	err = p.commit(ctx, func(m *manifest.Manifest) error {
		if m.Oldest >= oldest {
			return manifest.ErrUnchanged
		}
		m.Oldest = oldest
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.leadHint(ctx); err != nil {
		return err
	}
	if err := p.deleteOverlays(ctx); err != nil {
		return err
	}
	old, err := p.below(ctx, layout.ManifestPrefix(p.id), func(key string) (bool, error) {
		_, generation, err := layout.ParseManifestKey(key)
		return generation < p.manifest.Oldest, err
	})
	if err != nil {
		return err
	}
	for _, key := range old {
		if err := p.Bucket.Delete(ctx, key); err != nil {
			return fmt.Errorf("cannot delete %s: %w", key, err)
		}
	}
	return nil
}

// leadHint replaces a hint that could not be replaced for so long that it is of
// a generation that is not kept. One that is lost or damaged misleads nobody.
func (p *partition) leadHint(ctx context.Context) error {
	hint, err := manifest.Hint(ctx, p.Bucket, p.id)
	if errors.Is(err, blob.ErrRetryable) {
		return err
	}
	if err != nil || hint.Generation >= p.manifest.Oldest {
		return nil
	}
	content, err := p.Bucket.Get(ctx, layout.ManifestKey(p.id, p.manifest.Generation), blob.Range{})
	if err != nil {
		return err
	}
	if err := p.Bucket.Replace(ctx, layout.HintKey(p.id), content); err != nil {
		return fmt.Errorf("cannot replace the hint, which is of generation %d, before older generations than %d are deleted: %w", hint.Generation, p.manifest.Oldest, err)
	}
	return nil
}

// firstAfter returns the generation that was in force at a moment, so that all
// before it can go; 0 when that is not worth a commit.
func (p *partition) firstAfter(ctx context.Context, moment time.Time) (first uint64, err error) {
	kept := max(p.manifest.Oldest, 1)
	for n := kept + 1; n <= min(p.manifest.Generation, kept+maxPast); n++ {
		g, err := manifest.At(ctx, p.Bucket, p.id, n)
		switch {
		case errors.Is(err, blob.ErrRetryable) || ctx.Err() != nil:
			return 0, err
		case err != nil: // it is damaged or lost, and tells no time
		case g.Time.After(moment), first == 0 && g.Time.After(moment.Add(-atOnce)):
			return first, nil
		default:
			first = n
		}
	}
	return first, nil
}

// deleteOverlays deletes the overlays that no generation lists that is kept. An
// overlay is listed first by the generation that it is named by, if ever, and
// by all from there to the last that lists it. So one that is named by an
// earlier generation than the oldest that is kept, and not listed by that, is
// listed by none.
func (p *partition) deleteOverlays(ctx context.Context) error {
	oldest, err := manifest.At(ctx, p.Bucket, p.id, p.manifest.Oldest)
	if err != nil {
		return err
	}
	listed := keysOf(&oldest)
	old, err := p.below(ctx, layout.OverlayPrefix(p.id), func(key string) (bool, error) {
		_, generation, err := layout.ParseOverlayKey(key)
		return generation < oldest.Generation && !listed[key], err
	})
	if err != nil {
		return err
	}
	return p.deleteAll(ctx, old)
}

// below returns the keys below a prefix that are old, in their order.
func (p *partition) below(ctx context.Context, prefix string, old func(key string) (bool, error)) (keys []string, err error) {
	objects, err := p.list(ctx, prefix)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		doomed, err := old(object.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot tidy %s: %w", prefix, err)
		}
		if doomed {
			keys = append(keys, object.Key)
		}
	}
	return keys, nil
}
