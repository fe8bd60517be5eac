package frontier

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Admit lets unknown URLs wait, and returns how many there were. Known ones
// stay as they are, but one that waits for the first time moves up if it was
// now found at a smaller depth, or with a weight that is asked for sooner: it
// takes the smaller depth, the weight of the lower band and the rest of this
// entry, and keeps its attempts. It works before Open too.
func (f *Frontier) Admit(ctx context.Context, now time.Time, entries []Entry) (added int, err error) {
	byHost := slices.Clone(entries) // so that a chunk touches few queues
	slices.SortStableFunc(byHost, func(a, b Entry) int { return strings.Compare(a.Host, b.Host) })
	for part := range slices.Chunk(byHost, chunk) {
		args := make([]any, 0, 1+2*len(part))
		args = append(args, now.UnixMilli())
		for _, e := range part {
			element, err := e.element("")
			if err != nil {
				return added, f.failed("admit to", err)
			}
			args = append(args, e.Host, element)
		}
		n, err := f.run(ctx, admitScript, args...).Int()
		if err != nil {
			return added, f.failed("admit to", err)
		}
		added += n
	}
	return added, nil
}
