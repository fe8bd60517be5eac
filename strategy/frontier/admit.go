package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Admitted is the result of Admit: the number of entries whose URLs were new to the frontier, and
// the URLs that are stored already, but perhaps not for the collection of the entry.
type Admitted struct {
	Added int // number of URLs that the frontier did not know before
	// URLs whose pages are stored, but perhaps not for the entry's collection, because the entry's
	// Tally does not count them. URLs that wait for another request are left out.
	Lacking []layout.Identity
}

// Admit adds URLs to the frontier, or moves up those that wait in it. It may be called before Open.
// The effect of an entry depends on the state of its URL:
//
//	unknown                     the URL waits
//	waits for the first time    it moves up if the entry has a smaller depth, or a
//	                            weight of an earlier band: it takes the smaller
//	                            depth, the weight of the earlier band and all
//	                            else from the entry, and keeps its attempts
//	parked                      the same, and the URL waits in any case
//	any other                   nothing changes
//
// If the entry has a Tally, there are several collections. The URL may then wait for another one,
// whose depths cannot be compared with the entry's. So it takes depth and weight together from the
// entry. A waiting URL that this would put into a later band stays as it is.
//
// Each move leaves an outdated element in a queue. A waiting URL with sixteen of these does not
// move up.
//
// Counts.Missed reports two cases in which a collection may lack a page until the frontier is
// rebuilt:
//
//   - An entry with a Tally is for a URL that waits, is leased, is parked or was skipped, perhaps
//     on behalf of another collection. If Claimed is set, only some of these URLs count.
//   - A URL does not move up because of its outdated elements.
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

// add adds an answer of the script admit to a. The answer is the number of URLs that the frontier
// did not know, followed by the identities for a.Lacking.
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
