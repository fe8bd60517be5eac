package frontier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Due describes a URL that has a final state, and must be requested again.
type Due struct {
	Entry
	Version layout.Version // version of the batch with the last final outcome
}

// Renew puts URLs with a final state back into the queues of their hosts, and returns their number. A
// URL keeps its final state until it has an outcome of a higher version. Renew leaves out a URL in two
// cases:
//
//   - The URL's final state has a higher version than Due.Version: the caller's Due is outdated.
//   - Too many outdated records of the URL are in queues. (A URL that moves to another queue leaves
//     such a record behind.) Then Renew sets Counts.Missed.
//
// Renew may be called before Open.
func (f *Frontier) Renew(ctx context.Context, now time.Time, renewals []Due) (renewed int, err error) {
	byHost := slices.Clone(renewals) // so that a chunk touches few queues
	slices.SortStableFunc(byHost, func(a, b Due) int { return strings.Compare(a.Host, b.Host) })
	for part := range slices.Chunk(byHost, chunk) {
		args := make([]any, 0, 1+2*len(part))
		args = append(args, now.UnixMilli())
		for _, d := range part {
			element, err := d.element(encodeVersion(d.Version))
			if err != nil {
				return renewed, f.failed("renew in", err)
			}
			args = append(args, d.Host, element)
		}
		urls := func(string) ([]run.URL, error) { return urlsOf(part, func(d Due) string { return d.URL }) }
		n, err := f.over(ctx, urls, renewScript, args...).Int()
		if err != nil {
			return renewed, f.failed("renew in", err)
		}
		renewed += n
	}
	return renewed, nil
}
