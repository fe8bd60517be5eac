package sweep

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// collect deletes what was condemned long enough ago and no generation lists
// that is kept, and commits that it is gone then. No later generation than the
// one that condemned a key lists it, so a sweep may delete it however old the
// generation is that it has read.
func (p *partition) collect(ctx context.Context) error {
	listed := keysOf(&p.manifest)
	gone := make(map[string]time.Time)
	var keys []string
	for _, c := range p.manifest.Condemned {
		if !p.manifest.Collectable(c, p.Now(), p.Limits.Grace) {
			continue
		}
		gone[c.Key] = c.At
		if listed[c.Key] {
			p.Log.ErrorContext(ctx, "a condemned object is listed, and stays", "partition", p.id, "key", c.Key, "generation", p.manifest.Generation)
			continue
		}
		keys = append(keys, c.Key)
	}
	if err := p.deleteAll(ctx, keys); err != nil || len(gone) == 0 {
		return err
	}
	return p.commit(ctx, func(m *manifest.Manifest) error {
		before := len(m.Condemned)
		m.Condemned = slices.DeleteFunc(m.Condemned, func(c manifest.Condemned) bool {
			at, found := gone[c.Key]
			return found && at.Equal(c.At)
		})
		if len(m.Condemned) == before {
			return manifest.ErrUnchanged
		}
		return nil
	})
}

// keysOf returns the keys of all objects that a generation lists.
func keysOf(m *manifest.Manifest) map[string]bool {
	keys := make(map[string]bool)
	for key := range m.Objects() {
		keys[key] = true
	}
	return keys
}
