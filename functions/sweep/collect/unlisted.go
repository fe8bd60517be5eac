package sweep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/strategy/lease"
)

// clearOrphans condemns now and then what no generation lists. A takedown has
// that done by itself.
func (p *partition) clearOrphans(ctx context.Context) error {
	return p.once(ctx, fmt.Sprintf("orphans %s", p.id), func() error { return p.condemnUnlisted(ctx) })
}

// clearUnlisted clears away what may hold what is forgotten and that no
// generation leads to.
func (p *partition) clearUnlisted(ctx context.Context) error {
	return errors.Join(p.condemnUnlisted(ctx), p.clearQuarantine(ctx))
}

// condemnUnlisted condemns the objects that are neither listed nor condemned:
// somebody put them who was killed before the commit, or was refused. Whoever
// is still about to list one finds it condemned, and puts it under another
// name. Of overlays nobody is: see deleteOverlays.
func (p *partition) condemnUnlisted(ctx context.Context) error {
	// Objects before manifest: one that is put and listed in between is listed.
	var there []string
	for _, kind := range []string{layout.Packages, layout.Books, layout.Segments} {
		objects, err := p.list(ctx, kind+p.id.String()+"/")
		if err != nil {
			return err
		}
		for _, object := range objects {
			there = append(there, object.Key)
		}
	}
	var unlisted []string
	err := p.commit(ctx, func(m *manifest.Manifest) error {
		known := keysOf(m)
		for _, c := range m.Condemned {
			known[c.Key] = true
		}
		unlisted = nil
		for _, key := range there {
			if !known[key] {
				unlisted = append(unlisted, key)
			}
		}
		if unlisted == nil {
			return manifest.ErrUnchanged
		}
		listed := len(m.Condemned)
		m.Condemn(p.Now(), unlisted...)
		for i := range m.Condemned[listed:] {
			m.Condemned[listed+i].Erase = true // for no generation lists them
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range unlisted {
		p.Log.InfoContext(ctx, "condemned what nothing lists", "partition", p.id, "generation", p.manifest.Generation, "key", key)
	}
	return nil
}

// clearQuarantine deletes all that the partition has in quarantine. It is there
// for an operator to look at; but damaged bytes cannot be searched for what
// they hold, and of a page that is fetched today the links may lead to what was
// forgotten long ago. So as soon as anything is forgotten, nothing stays there
// for longer than the grace.
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

// once does what has to be done now and then: again when it has failed, and
// else after the grace. Whoever began to work before a takedown was known, and
// stores what it forgets afterwards, has done so by then. Should Redis forget about it, it is done more often; should the
// process be killed meanwhile, it is done after the grace.
func (f *Function) once(ctx context.Context, name string, do func() error) error {
	leases := lease.New(f.Redis, f.Worker+"/"+rand.Text())
	held, first, err := leases.Acquire(ctx, name, f.Now(), f.Limits.Grace)
	if err != nil || !first {
		return err
	}
	if err := do(); err != nil {
		return errors.Join(err, leases.Release(context.WithoutCancel(ctx), held))
	}
	return nil
}
