package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Admitted is the result of Admit: how many URLs were new to the frontier, and which stored URLs the
// collection of an entry may lack.
type Admitted struct {
	Added int // number of URLs that the frontier did not know before
	// URLs that the entry's collection may lack: their pages are stored, but the entry's Tally (a
	// count of stored URLs) does not include them. URLs that wait for another request are left out.
	Lacking []layout.Identity
}

// Admit adds URLs to the frontier, or moves up URLs that wait in it. It may be called before Open.
// The effect of an entry depends on the state of its URL:
//
//	unknown                        the URL is put into a queue
//	waits for the first time       the URL moves up if the entry is better
//	parked (pending, in no queue)  the URL is put into a queue, even if the entry is no better
//	any other                      nothing changes
//
// An entry is better if it has a smaller depth than the URL, or a weight of an earlier band. (A band
// is a level of priority, see membership.Band.) The URL then has the smaller depth, and the weight of
// the earlier band. It keeps its attempts, and gets all else from the entry. When a URL moves up, its
// old record stays in the queue, outdated. A waiting URL with sixteen outdated records does not move
// up.
//
// An entry has a Tally if there are several collections. Then the URL may wait on behalf of another
// collection than the entry's, and depths of different collections cannot be compared. So the URL
// gets both the depth and the weight of such an entry, or neither. It gets neither if it waits and
// the entry's band is later than its own.
//
// The frontier knows only one of the collections for which a URL waits. So a collection may lack a
// page until the frontier is rebuilt. Admit sets Counts.Missed if that is possible:
//
//	the entry                       the URL
//	has a Tally, but not Claimed    waits, is leased, is parked or was skipped
//	has a Tally and Claimed         was skipped
//	has a Tally and Claimed         waits or is parked, and the entry moves it up or has a smaller depth
//	any                             cannot move up: it has too many outdated records
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
		urls := func(string) ([]run.URL, error) { return urlsOf(part, func(e Entry) string { return e.URL }) }
		answer, err := f.over(ctx, urls, admitScript, args...).Slice()
		if err == nil {
			err = admitted.add(answer)
		}
		if err != nil {
			return admitted, f.failed("admit to", err)
		}
	}
	return admitted, nil
}

// add adds an answer of the script admit to the result. The first item of the answer is the number of
// URLs that were new to the frontier; it is added to a.Added. All other items are identities, which
// are appended to a.Lacking.
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
