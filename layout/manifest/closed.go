package manifest

import (
	"cmp"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
)

// maxEpochs is of how many epochs a manifest tells what is closed; of earlier
// ones everything is.
const maxEpochs = 64

// IsClosed reports whether a batch that is not in Consumed comes too late: it
// is packed already and forgotten, or its name was given once more by a Redis
// that went back in time. It is never packed, so that no page is packed twice
// under one version.
func (m *Manifest) IsClosed(batch layout.Version) bool {
	i, found := m.closed(batch.Epoch)
	if !found {
		return i == 0 && len(m.Closed) == maxEpochs
	}
	return batch.Token <= m.Closed[i].Token
}

// Close closes all batches of an epoch up to this one.
func (m *Manifest) Close(batch layout.Version) {
	i, found := m.closed(batch.Epoch)
	switch {
	case m.IsClosed(batch):
	case found:
		m.Closed[i] = batch
	default:
		m.Closed = slices.Insert(m.Closed, i, batch)
		m.Closed = m.Closed[max(0, len(m.Closed)-maxEpochs):]
	}
}

func (m *Manifest) closed(epoch uint64) (int, bool) {
	return slices.BinarySearchFunc(m.Closed, epoch, func(v layout.Version, epoch uint64) int {
		return cmp.Compare(v.Epoch, epoch)
	})
}
