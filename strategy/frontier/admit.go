package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Admitted tells what an admission met.
type Admitted struct {
	Added   int               // URLs that were unknown
	Lacking []layout.Identity // of pages that are stored, do not count on the Tally of their entry and do not wait again yet; see also Counts
}

// Admit lets unknown URLs wait. Known ones stay as they are, but one that waits
// for the first time moves up if it was now found at a smaller depth, or with a
// weight that is asked for sooner: it takes the smaller depth, the weight of
// the lower band and the rest of this entry, and keeps its attempts. One that
// is parked does the same, and waits once more, wherever it was found. With a
// Tally, all is that of this entry, for the other may be of another collection;
// so one that waits does not move if it would be asked for later. One that has
// moved up sixteen times stays, too. What is missed by either, Counts tells. It
// works before Open too.
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

// add adds what the script answered.
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
