package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Settlement is the outcomes of one batch.
type Settlement struct {
	Version  layout.Version // the batch
	Host     string         // politeness key of its lease
	Ended    time.Time      // end of the last response
	Delay    time.Duration  // from then to the next request
	Rest     time.Time      // no request to the host before this time; zero: only Delay counts
	Failures uint16         // number of the host's last answers in a row that were failures, also in earlier batches
	Outcomes []Result
}

// Result is the outcome of one URL.
type Result struct {
	ID       layout.Identity
	State    book.State
	Depth    uint16   // of a final state
	Attempts uint8    // of a Retry, this one included
	Tallies  []string // on which the URL counts while it is stored, see Tallies
}

// Settled counts what a settlement changed.
type Settled struct {
	Decided int  // URLs that have a new final state
	Waiting int  // URLs that wait again
	Ended   bool // it ended the lease
}

// Settle enters a batch's outcomes into the frontier. Calls may be repeated, late or
// out of order.
//
//	outcome         effect on the URL
//	final           it takes the final state, unless it has one of a higher or the
//	                same version; an unknown URL becomes known
//	Retry           while this batch leases it, it waits at the end of its band;
//	                later only its attempts count, if they are more
//	NotAsked, none  while this batch leases it, it waits at the front of its band
//
// Settle ends the batch's lease. If the batch ended at the lease's deadline or later,
// the lease counts as expired (see Expire), because the fetch may have died. The host
// may be asked again at the latest of Ended + Delay, Rest and the time set before; its
// next lease has its Failures. If the lease had ended already, Settle still raises
// that time and the failures, but never lowers them.
func (f *Frontier) Settle(ctx context.Context, s Settlement) (Settled, error) {
	var settled Settled
	outcomes := s.Outcomes
	for {
		part := outcomes[:min(chunk, len(outcomes))]
		outcomes = outcomes[len(part):]
		n, err := f.run(ctx, settleScript, s.arguments(part, len(outcomes) == 0)...).Int64Slice()
		if err == nil && len(n) != 3 {
			err = fmt.Errorf("unexpected answer %v", n)
		}
		if err != nil {
			return settled, f.failed("settle in", fmt.Errorf("batch %s of host %s: %w", s.Version, s.Host, err))
		}
		settled.Decided += int(n[0])
		settled.Waiting += int(n[1])
		settled.Ended = settled.Ended || n[2] == 1
		if len(outcomes) == 0 {
			return settled, nil
		}
	}
}

// arguments returns the arguments of the settle script for some of the outcomes.
func (s Settlement) arguments(part []Result, last bool) []any {
	earliest := max(ceilMillis(s.Ended.Add(s.Delay)), ceilMillis(s.Rest), 0)
	var finals, retries []any
	for _, r := range part {
		if value, final := finalState(r.State, r.Depth, s.Version, r.Tallies); final {
			finals = append(finals, string(r.ID[:]), value)
		} else if r.State == book.Retry {
			retries = append(retries, string(r.ID[:]), string([]byte{r.Attempts}))
		}
	}
	args := []any{s.Version.String(), s.Host, s.Ended.UnixMilli(), earliest, last, s.Failures, Alone, len(finals) / 2}
	return append(append(args, finals...), retries...)
}

// ceilMillis returns a time in milliseconds since 1970, rounded up.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
