package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Admitted is the result of Admit.
type Admitted struct {
	Added   int               // number of URLs that the frontier did not know before
	Lacking []layout.Identity // entries' URLs that are stored, do not wait again, and are not counted by the entry's Tally
}

// Admit puts URLs into the queues of their hosts. It works before Open, too. What it
// does with an entry depends on the state of the URL:
//
//	unknown                     the URL waits
//	waits for the first time    it moves up if the entry has a smaller depth, or a
//	                            weight of an earlier band: it takes the smaller
//	                            depth, the weight of the earlier band and all
//	                            else from the entry, and keeps its attempts
//	parked                      the same, and the URL waits in any case
//	any other                   nothing changes
//
// If the entry has a Tally, the URL may have been found for another collection, and takes
// both depth and weight from the entry; but if this would put it into a later band,
// nothing changes. A URL moves up at most sixteen times. For both reasons the page may not
// be stored for the entry's collection; Counts.Missed reports this.
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

// add adds one answer of the script admit to a: the number of URLs that the frontier did not
// know, followed by the identities for Lacking.
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
