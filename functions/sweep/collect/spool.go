package sweep

import (
	"context"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// tidySpool deletes spool objects that were packed long enough ago, or at all
// while something is to be forgotten, and those that came when their batch was
// closed. Then it closes the batches whose spool objects are gone, in place of
// remembering each of them: should one be fetched once more, or its name be
// given again, pack refuses it.
func (p *partition) tidySpool(ctx context.Context) error {
	doomed, unpacked := p.judgeSpool()
	if err := p.deleteAll(ctx, doomed); err != nil {
		return err
	}
	if p.out == nil {
		return nil
	}
	for batch := range p.out {
		lower(unpacked, batch)
	}
	over := make(map[layout.Version]bool)
	for _, c := range p.manifest.Consumed {
		// Closing a batch closes all before it, which may yet be packed.
		lowest, found := unpacked[c.Batch.Epoch]
		if p.old(c) && !(found && c.Batch.Token >= lowest) {
			over[c.Batch] = true
		}
	}
	if len(over) == 0 {
		return nil
	}
	return p.commit(ctx, func(m *manifest.Manifest) error {
		before := len(m.Consumed)
		m.Consumed = slices.DeleteFunc(m.Consumed, func(c manifest.Consumed) bool {
			if over[c.Batch] {
				m.Close(c.Batch)
			}
			return over[c.Batch]
		})
		if len(m.Consumed) == before {
			return manifest.ErrUnchanged
		}
		return nil
	})
}

// judgeSpool returns the keys of the spool objects that nobody needs, and of
// each epoch the lowest batch that is not packed.
func (p *partition) judgeSpool() (doomed []string, unpacked map[uint64]uint64) {
	consumed := make(map[layout.Version]manifest.Consumed)
	for _, c := range p.manifest.Consumed {
		consumed[c.Batch] = c
	}
	unpacked = make(map[uint64]uint64)
	for _, object := range p.spooled {
		_, batch, err := layout.ParseSpoolKey(object.Key)
		if err != nil {
			continue
		}
		c, packed := consumed[batch]
		switch {
		case packed && (p.old(c) || p.forgets()), !packed && p.manifest.IsClosed(batch):
			doomed = append(doomed, object.Key)
		case !packed:
			lower(unpacked, batch)
		}
	}
	return doomed, unpacked
}

func (p *partition) old(c manifest.Consumed) bool { return p.Now().Sub(c.At) >= p.Limits.Keep }

func lower(lowest map[uint64]uint64, batch layout.Version) {
	if token, found := lowest[batch.Epoch]; !found || batch.Token < token {
		lowest[batch.Epoch] = batch.Token
	}
}
