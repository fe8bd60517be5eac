package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Admitted counts what an admission changed.
type Admitted struct {
	Added   int               // URLs that were unknown
	Lacking []layout.Identity // stored pages that do not wait again and do not count on the Tally of their entry
}

// Admit puts URLs into the queues of their hosts. It works before Open, too.
//
//	known URL                   effect
//	none                        waits
//	waits for the first time    moves up if the entry has a smaller depth, or a
//	                            weight of an earlier band: it takes the smaller
//	                            depth, the weight of the earlier band and all
//	                            else from the entry, and keeps its attempts
//	is parked                   the same, and waits again in any case
//	any other                   stays as it is
//
// An entry with a Tally replaces depth and weight, too, because the known URL may
// belong to another collection; a waiting URL that would be leased later by that
// does not move. A URL moves up at most sixteen times. Counts.Missed reports that a
// collection was passed over for one of these two reasons.
func (f *Frontier) Admit(ctx context.Context, now time.Time, entries []Entry) (Admitted, error) {
	var admitted Admitted
	byHost := slices.Clone(entries) // so that a chunk touches few queues
	slices.SortStableFunc(byHost, func(a, b Entry) int { return strings.Compare(a.Host, b.Host) })
	for part := range slices.Chunk(byHost, chunk) {
		args := make([]any, 0, 1+3*len(part))
		args = append(args, now.UnixMilli())
		for _, e := range part {
			element, err := e.element("")
			if err != nil {
				return admitted, f.failed("admit to", err)
			}
			wanted := ""
			if e.Tally != "" {
				wanted = mark(e.Tally)
			}
			if e.Claimed {
				wanted += "+"
			}
			args = append(args, e.Host, element, wanted)
		}
		answer, err := f.run(ctx, admitScript, args...).Slice()
		if err == nil {
			err = admitted.add(answer)
		}
		if err != nil {
			return admitted, f.failed("admit to", err)
		}
	}
	return admitted, nil
}

// add adds one answer of the script to the totals: to Added its first number, the
// number of URLs that were unknown until now, and to Lacking the identities behind it.
func (a *Admitted) add(answer []any) error {
	added, ok := int64(0), len(answer) > 0
	if ok {
		added, ok = answer[0].(int64)
	}
	if !ok {
		return fmt.Errorf("unexpected answer %v", answer)
	}
	a.Added += int(added)
	for _, item := range answer[1:] {
		id, _ := item.(string)
		if len(id) != len(layout.Identity{}) {
			return fmt.Errorf("unexpected identity %q in an answer", item)
		}
		a.Lacking = append(a.Lacking, layout.Identity([]byte(id)))
	}
	return nil
}
