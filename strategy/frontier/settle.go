package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Settlement holds the outcomes of one batch, and the limits that follow from them for the batch's
// host.
type Settlement struct {
	Version layout.Version // version of the batch
	Host    string         // host of the batch
	Ended   time.Time      // end of the last response
	Delay   time.Duration  // least time from Ended to the next request
	Rest    time.Time      // before this time no request may be sent to the host; zero if there is no such time
	// Failures is the number of the last requests to the host, in a row, that got status
	// 429 or 503 or no answer; a row that began in an earlier batch is counted in full.
	Failures uint16
	Outcomes []Result
}

// Result is the outcome of a request for one URL of a batch.
type Result struct {
	ID       layout.Identity
	State    book.State
	Depth    uint16   // number of links from a seed to the URL; used if State is final
	Attempts uint8    // number of requests since the last final outcome, this one included; used if State is Retry
	Tallies  []string // names of the tallies (see doc.go) that count the URL while it is stored
}

// Settled says what a call of Settle has changed in the frontier.
type Settled struct {
	Decided int  // number of URLs that have a new final state
	Waiting int  // number of URLs that were leased and wait again
	Ended   bool // this call has ended the lease; false if it had ended before
}

// Settle applies a batch's outcomes to the frontier. Calls may be repeated, late or out
// of order.
//
//	outcome         effect on the URL
//	final           it gets the final state, unless it has one of the same or a
//	                higher version; an unknown URL becomes known
//	Retry           if it is still on this lease, it waits at the end of its band; if
//	                not, its number of attempts is raised to that of the outcome
//	NotAsked, none  if it is still on this lease, it waits at the front of its band
//
// Settle ends the batch's lease. If the batch ended at the lease's deadline or later,
// the lease counts as expired (see Expire), because the fetch may have died. For the host,
// Settle sets the number of failures to s.Failures, and the time before which no request is
// allowed to s.Ended + s.Delay or s.Rest, whichever is later; a later time that was set
// before stays. If the lease had ended already, Settle never lowers the number of failures.
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

// arguments returns the arguments of the script settle for the outcomes in part. If last is
// true, no further outcomes of the batch follow, and the script ends the lease.
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
