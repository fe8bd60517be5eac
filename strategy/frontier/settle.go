package frontier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/run"
)

// Settlement holds the outcomes of one batch. It also says how long the batch's host gets no further
// request, and how many of its last requests have failed.
type Settlement struct {
	Version layout.Version // version of the batch
	Host    string         // host of the batch
	Ended   time.Time      // end of the last response
	Delay   time.Duration  // least time from Ended to the next request
	Rest    time.Time      // before this time no request may be sent to the host; zero if there is no such time
	// Failures is the number of failed requests to the host since the last one that did not fail. A
	// request has failed if it got status 429 or 503, or no answer. Requests of earlier batches
	// count, too.
	Failures uint16
	Outcomes []Result
}

// Result is the outcome of a request for one URL of a batch.
type Result struct {
	ID       layout.Identity
	Place    layout.Place // of the URL
	State    book.State
	Attempts uint8    // number of requests since the last final outcome, this one included; used if State is Retry
	Tallies  []string // names of the tallies (counts of stored URLs) that include the URL while it is stored
}

// Settled says what a call of Settle has changed in the frontier.
type Settled struct {
	Decided int  // number of URLs that have a new final state
	Waiting int  // number of URLs that were leased and wait again
	Ended   bool // this call has ended the lease; false if it had ended before
}

// Settle applies a batch's outcomes to the frontier. Calls may be repeated, late or out of
// order. In the table, "still leased" means: leased as part of this batch.
//
//	outcome of a URL    effect on the URL
//	final               it gets the final state, unless it has one of the same or a
//	                    higher version; an unknown URL becomes known
//	Retry               if it is still leased, it waits at the end of its band's queue;
//	                    if not, its number of attempts is raised to that of the outcome
//	NotAsked, or none   if it is still leased, it waits at the front of its band's queue
//
// Settle ends the batch's lease. If s.Ended is the lease's deadline or later, the lease
// counts as expired, as if Expire had ended it before the call.
//
// Settle sets the host's number of failures to s.Failures. But if the lease had ended before
// the call, the call can only raise this number. Settle also sets the time before which the
// host gets no request: to s.Ended + s.Delay or to s.Rest, whichever is later. If an earlier
// call has set a still later time, that time stays.
func (f *Frontier) Settle(ctx context.Context, s Settlement) (Settled, error) {
	var settled Settled
	outcomes := s.Outcomes
	for {
		part := outcomes[:min(chunk, len(outcomes))]
		outcomes = outcomes[len(part):]
		args, urls, err := s.arguments(part, len(outcomes) == 0)
		var n []int64
		if err == nil {
			n, err = f.over(ctx, always(urls), settleScript, args...).Int64Slice()
		}
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

// arguments returns the arguments of the script settle for some outcomes of the batch, and the names of their URLs in
// runs. If last is true, no further outcomes of the batch follow, and the script ends the lease.
func (s Settlement) arguments(part []Result, last bool) (args []any, urls []run.URL, err error) {
	earliest := max(ceilMillis(s.Ended.Add(s.Delay)), ceilMillis(s.Rest), 0)
	var finals, retries []any
	for _, r := range part {
		name, err := named(r.Place, r.ID)
		if err != nil {
			return nil, nil, err
		}
		urls = append(urls, name)
		if value, final := finalState(r.State, s.Version, name.Site, r.Tallies); final {
			finals = append(finals, string(r.ID[:]), value)
		} else if r.State == book.Retry {
			retries = append(retries, string(r.ID[:]), string([]byte{r.Attempts}))
		}
	}
	args = []any{s.Version.String(), s.Host, s.Ended.UnixMilli(), earliest, last, s.Failures, Alone, encodeVersion(s.Version), len(finals) / 2}
	return append(append(args, finals...), retries...), urls, nil
}

// ceilMillis returns a time in milliseconds since 1970, rounded up.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }

// Known is a URL with a final state, to be entered in a frontier by Mark.
type Known struct {
	ID      layout.Identity
	Place   layout.Place   // of the URL
	Version layout.Version // version of the batch with the final outcome
	State   book.State     // Stored, Unchanged, Skipped or Failed
	Tallies []string       // names of the tallies (counts of stored URLs) that include the URL while it is stored
}

// Mark sets the final states of URLs while a frontier is rebuilt; at other times Settle sets
// them. A URL that has a final state of the same or a higher version keeps it. Mark may be
// called before Open.
func (f *Frontier) Mark(ctx context.Context, known []Known) error {
	for part := range slices.Chunk(known, chunk) {
		args, urls := make([]any, 0, 2*len(part)), make([]run.URL, 0, len(part))
		for _, k := range part {
			name, err := named(k.Place, k.ID)
			if err != nil {
				return f.failed("mark in", err)
			}
			value, final := finalState(k.State, k.Version, name.Site, k.Tallies)
			if !final {
				return f.failed("mark in", fmt.Errorf("%s: state %q is not final", k.ID, k.State))
			}
			args, urls = append(args, string(k.ID[:]), value), append(urls, name)
		}
		if err := f.over(ctx, always(urls), markScript, args...).Err(); err != nil {
			return f.failed("mark in", err)
		}
	}
	return nil
}
