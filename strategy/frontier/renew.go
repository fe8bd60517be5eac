package frontier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Due is a URL of a final state that is to be asked for again.
type Due struct {
	Entry
	Version layout.Version // the batch of its last outcome
}

// Renew lets URLs wait again whose final state is that of the version given, or
// of a lower one, and returns how many there were; but for one that has too many
// elements left behind, which is missed (see Counts). They keep that state
// meanwhile (see Counts), and until there is an outcome of a higher version than
// that of their state. All others are left alone. It works before Open too.
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
