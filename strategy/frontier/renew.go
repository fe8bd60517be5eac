package frontier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Due is a URL with a final state that must be requested again.
type Due struct {
	Entry
	Version layout.Version // the batch of its last outcome
}

// Renew puts URLs back into the queues of their hosts if their final state is of
// the given version or a lower one, and returns their number. A URL keeps its final
// state until it has an outcome of a higher version. A URL with too many outdated
// elements is passed over, which Counts.Missed tells. It works before Open, too.
func (f *Frontier) Renew(ctx context.Context, now time.Time, renewals []Due) (renewed int, err error) {
	byHost := slices.Clone(renewals) // so that a chunk touches few queues
	slices.SortStableFunc(byHost, func(a, b Due) int { return strings.Compare(a.Host, b.Host) })
	for part := range slices.Chunk(byHost, chunk) {
		args := make([]any, 0, 1+2*len(part))
		args = append(args, now.UnixMilli())
		for _, d := range part {
			element, err := d.element(d.Version.String())
			if err != nil {
				return renewed, f.failed("renew in", err)
			}
			args = append(args, d.Host, element)
		}
		n, err := f.run(ctx, renewScript, args...).Int()
		if err != nil {
			return renewed, f.failed("renew in", err)
		}
		renewed += n
	}
	return renewed, nil
}
