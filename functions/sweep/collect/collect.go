package sweep

import (
	"context"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// collect deletes what was condemned long enough ago and no generation lists
// that is kept, and commits that it is gone then. It stays condemned for another
// grace, within which nobody lists it again: so another sweep that has read an
// earlier generation may delete it once more.
func (p *partition) collect(ctx context.Context) error {
	if !slices.ContainsFunc(p.manifest.Condemned, func(c manifest.Condemned) bool { return p.over(c) || p.collectable(c) }) {
		return nil
	}
	var err error
	if p.manifest, err = manifest.Read(ctx, p.Bucket, p.id); err != nil {
		return err
	}
	listed := keysOf(&p.manifest)
	judged := make(map[string]time.Time) // when they were condemned
	var keys []string
	for _, c := range p.manifest.Condemned {
		if !p.collectable(c) {
			continue
		}
		judged[c.Key] = c.At
		if listed[c.Key] {
			p.Log.ErrorContext(ctx, "a condemned object is listed, and stays", "partition", p.id, "key", c.Key, "generation", p.manifest.Generation)
			continue
		}
		keys = append(keys, c.Key)
	}
	if err := p.deleteAll(ctx, keys); err != nil {
		return err
	}
	return p.commit(ctx, func(m *manifest.Manifest) error {
		before := slices.Clone(m.Condemned)
		for i := range m.Condemned {
			c := &m.Condemned[i]
			if at, found := judged[c.Key]; found && at.Equal(c.At) && c.Gone.IsZero() {
				c.Gone = p.Now().UTC().Truncate(time.Millisecond)
			}
		}
		m.Condemned = slices.DeleteFunc(m.Condemned, func(c manifest.Condemned) bool { return p.over(c) || listed[c.Key] && !c.Gone.IsZero() })
		if slices.Equal(m.Condemned, before) {
			return manifest.ErrUnchanged
		}
		return nil
	})
}

func (p *partition) collectable(c manifest.Condemned) bool {
	return p.manifest.Collectable(c, p.Now(), p.Limits.Grace)
}

// over reports whether nobody can be about to delete or to list a condemned
// object that is gone.
func (p *partition) over(c manifest.Condemned) bool {
	return !c.Gone.IsZero() && p.Now().Sub(c.Gone) >= p.Limits.Grace
}

// keysOf returns the keys of all objects that a generation lists.
func keysOf(m *manifest.Manifest) map[string]bool {
	keys := make(map[string]bool)
	for key := range m.Objects() {
		keys[key] = true
	}
	return keys
}
