package frontier

import (
	"context"
	"fmt"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/book"
)

// Settlement is what one batch came to.
type Settlement struct {
	Version  layout.Version // the batch
	Host     string         // politeness key of its lease
	Ended    time.Time      // end of the last response
	Delay    time.Duration  // from then to the next request
	Rest     time.Time      // the host is left alone until then; zero: no longer than the delay
	Failures uint16         // answers in a row that were failures, of the host, those of batches before included
	Outcomes []Result
}

// Result is what a batch learnt about one URL.
type Result struct {
	ID       layout.Identity
	State    book.State
	Depth    uint16   // of a final state
	Attempts uint8    // of a Retry, this one included
	Tallies  []string // on which the URL counts while it is stored, see Tallies
}

// Settled tells what a settlement changed.
type Settled struct {
	Decided int  // URLs that took the final state that it brought
	Waiting int  // URLs that wait again
	Ended   bool // it ended the lease
}

// Settle folds a batch's outcomes into the frontier, once, however often, late
// or out of order it is called. A final state wins over waiting and leased, but
// over a final state, asked again or not, of a lower version only; and it makes
// an unknown URL known. The rest counts only while the URL is leased by this
// very batch: Retry puts it, as it was leased, at the back of its band,
// NotAsked and URLs of the lease without an outcome at the front. But the
// attempts of a Retry count later too, if they are more than is known of a URL
// that is pending, or asked again since a lower version. If the lease is still
// out it ends: the host may be asked again at the latest of Ended + Delay, Rest,
// and the time known before, and its next lease tells the failures. If it has
// ended, that holds too where it is later than what is known, but for failures
// that are fewer.
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

// arguments are those of the settle script, for a part of the outcomes.
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
	args := []any{s.Version.String(), s.Host, earliest, last, s.Failures, len(finals) / 2}
	return append(append(args, finals...), retries...)
}

// ceilMillis returns the first millisecond since 1970 that is no earlier.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
