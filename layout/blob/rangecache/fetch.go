package rangecache

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// flight is a range being read, with the calls that wait for it.
type flight struct {
	id      rangeID
	waiters int      // calls that wait; guarded by Cache.mu
	request *request // that brings it, nil until there is one; guarded by Cache.mu

	done    chan struct{} // closed when what follows is set
	content []byte
	err     error
	asked   bool // the bucket was asked for it
}

// request is one Get for several flights.
type request struct {
	blob.Range
	flights []*flight
	cancel  context.CancelFunc
}

// fetch sends the requests for flights of one object. A request ends when no call waits
// for it any more, and not with the fork's context.
func (c *Cache) fetch(fork meter.Fork, key string, flights []*flight) {
	if len(flights) == 0 {
		return
	}
	ranges := make([]blob.Range, len(flights))
	for i, f := range flights {
		ranges[i] = f.id.Range
	}
	for _, s := range join(ranges) {
		ctx, cancel := context.WithCancel(context.WithoutCancel(fork.Branch()))
		r := &request{Range: s.Range, cancel: cancel}
		c.mu.Lock()
		for _, i := range s.members {
			flights[i].request, flights[i].asked = r, true
			r.flights = append(r.flights, flights[i])
		}
		c.stats.Misses += int64(len(r.flights))
		c.mu.Unlock()
		c.work.Go(func() {
			defer cancel()
			c.run(ctx, key, r)
		})
	}
}

// run makes a request, completes its flights and stores their contents on disk.
func (c *Cache) run(ctx context.Context, key string, r *request) {
	var (
		content []byte
		err     error
	)
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		content, err = c.reader.Get(ctx, key, r.Range)
	case <-ctx.Done():
		err = fmt.Errorf("cannot read %s: %w", key, ctx.Err())
	}
	for _, f := range r.flights {
		f.content, f.err = content, err
		if err == nil && len(r.flights) > 1 {
			f.content, f.err = partOf(content, r.Range, f.id)
		}
	}
	c.land(r.flights...)
	if c.disk == nil {
		return
	}
	for _, f := range r.flights {
		if f.err == nil {
			c.disk.put(f.id, f.content)
		}
	}
}

// partOf returns a copy of the part of a joined range's content that an id selects; a
// slice would keep the whole content in memory.
func partOf(content []byte, joined blob.Range, id rangeID) ([]byte, error) {
	from := id.Offset - joined.Offset
	if from >= int64(len(content)) {
		return nil, fmt.Errorf("cannot get %s: offset %d of %d bytes: %w", id.key, id.Offset, joined.Offset+int64(len(content)), blob.ErrRange)
	}
	return bytes.Clone(content[from:min(from+id.Length, int64(len(content)))]), nil
}

// land completes flights, whose content or error is set: it caches the contents, removes
// the flights from the pending ones, and wakes the calls that wait.
func (c *Cache) land(flights ...*flight) {
	c.mu.Lock()
	for _, f := range flights {
		c.forget(f)
		if f.err == nil {
			c.keep(f.id, f.content)
		}
	}
	c.mu.Unlock()
	for _, f := range flights {
		close(f.done)
	}
}

// leave ends the waiting of a call. A request without waiting calls is cancelled, and
// later calls do not join it. The caller does not hold c.mu.
func (c *Cache) leave(waits []wait) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range waits {
		w.flight.waiters--
		if r := w.flight.request; r != nil && !slices.ContainsFunc(r.flights, func(f *flight) bool { return f.waiters > 0 }) {
			for _, f := range r.flights {
				c.forget(f)
			}
			r.cancel()
		}
	}
}

// forget removes a flight from the list, unless another flight of its range has begun.
// The caller holds c.mu.
func (c *Cache) forget(f *flight) {
	if c.flights[f.id] == f {
		delete(c.flights, f.id)
	}
}

// The rule by which one request reads neighbouring ranges. A request costs $0.40 per
// million and 63 ms to the first byte; after that 80 MB arrive per second. Requests run
// in parallel, so reading over a gap costs time and saves only money: the price of a
// request is that of 30 ms of a function with 1 GB, in which 2.4 MB arrive. Gaps are
// limited by the time that a caller waits, and by the share of an object that is read.
const (
	// cheapGap is always read over: it arrives in 1.6 ms, a fortieth of the time to
	// the first byte.
	cheapGap = 128 << 10
	// fewRequests is the number of requests of a call, if reading over wider gaps
	// makes that possible: a query reads a tail and then makes two calls a segment,
	// and should stay below 8 requests.
	fewRequests = 3
	// mostGaps limits all gaps of a call. Divided among parallel requests, they arrive
	// in 11 ms, a sixth of the time to the first byte.
	mostGaps = 5 << 19
	// mostJoined limits a joined request: it arrives in 100 ms; beyond that, parallel
	// requests are faster.
	mostJoined = 8 << 20
)

// span is one request, with the ranges of a call that it answers.
type span struct {
	blob.Range
	members []int // numbers of the ranges
}

func (s *span) end() int64 { return s.Offset + s.Length }

// join returns the requests for ranges of one object. A range that depends on the
// object's size is a request of its own.
func join(ranges []blob.Range) []span {
	var spans, alone []span
	for i, r := range ranges {
		s := span{r, []int{i}}
		if r.Offset < 0 || r.Length == 0 || r.Offset+r.Length < 0 {
			alone = append(alone, s)
		} else {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.Offset, b.Offset) })
	overlapping := func(before *span, i int) bool { return spans[i].Offset < before.end() }
	return append(joinGaps(merge(spans, overlapping)), alone...)
}

// joinGaps joins sorted, disjoint spans by the rule, the closest first.
func joinGaps(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	gap := func(i int) int64 { return spans[i].Offset - spans[i-1].end() } // before span i
	order := make([]int, len(spans)-1)
	first, last := make([]int, len(spans)), make([]int, len(spans)) // of what the last, the first is joined to
	for i := range spans {
		first[i], last[i] = i, i
		if i > 0 {
			order[i-1] = i
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(gap(i), gap(j)) })
	requests, read := len(spans), int64(0)
	joined := make([]bool, len(spans)) // to the one before
	for _, i := range order {
		if read+gap(i) > mostGaps || gap(i) > cheapGap && requests <= fewRequests {
			break
		}
		from, to := first[i-1], last[i]
		if spans[to].end()-spans[from].Offset > mostJoined {
			continue
		}
		joined[i], last[from], first[to] = true, to, from
		requests--
		read += gap(i)
	}
	return merge(spans, func(_ *span, i int) bool { return joined[i] })
}

// merge joins each span for which toBe returns true to the span before it.
func merge(spans []span, toBe func(before *span, i int) bool) []span {
	var merged []span
	for i, s := range spans {
		if n := len(merged); n > 0 && toBe(&merged[n-1], i) {
			before := &merged[n-1]
			before.Length = max(before.end(), s.end()) - before.Offset
			before.members = append(before.members, s.members...)
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}
