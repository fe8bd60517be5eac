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

// load is a range that is being read, for one or more calls of Read.
type load struct {
	id      rangeID
	waiters int      // number of calls of Read that wait for the range; guarded by Cache.mu
	request *request // the request for the range; nil if there is none yet; guarded by Cache.mu

	done    chan struct{} // closed when the fields below are set
	content []byte
	err     error
	asked   bool // whether the range was requested from the bucket; false if it was on disk
}

// request is one Get to the bucket. Its range contains the ranges of one or more loads.
type request struct {
	blob.Range
	loads  []*load
	cancel context.CancelFunc
}

// fetch starts requests to the bucket for the ranges of some loads, and does not wait for the
// answers. All loads are of the same object. Neighbouring ranges share a request. Each request is a
// branch of fork, so that the meter in the caller's context counts it. A request goes on when this
// context ends, because other calls of Read may need its answer, too. Only stopWaiting cancels the
// request, when no call needs it any more.
func (c *Cache) fetch(fork meter.Fork, key string, loads []*load) {
	if len(loads) == 0 {
		return
	}
	ranges := make([]blob.Range, len(loads))
	for i, f := range loads {
		ranges[i] = f.id.Range
	}
	for _, s := range join(ranges) {
		ctx, cancel := context.WithCancel(context.WithoutCancel(fork.Branch()))
		r := &request{Range: s.Range, cancel: cancel}
		c.mu.Lock()
		for _, i := range s.members {
			loads[i].request, loads[i].asked = r, true
			r.loads = append(r.loads, loads[i])
		}
		c.stats.Misses += int64(len(r.loads))
		c.mu.Unlock()
		c.work.Go(func() {
			defer cancel()
			c.run(ctx, key, r)
		})
	}
}

// run sends a request to the bucket. It ends each of the request's loads: it gives the
// load its part of the content, or the error, and so wakes the calls of Read that wait
// for it. Then run writes the ranges to disk, if there is a cache on disk.
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
	for _, f := range r.loads {
		f.content, f.err = content, err
		if err == nil && len(r.loads) > 1 {
			f.content, f.err = partOf(content, r.Range, f.id)
		}
	}
	c.complete(r.loads...)
	if c.disk == nil {
		return
	}
	for _, f := range r.loads {
		if f.err == nil {
			c.disk.put(f.id, f.content)
		}
	}
}

// partOf returns the bytes of one of the ranges that share a request. The parameter content is the
// answer, the bytes of the whole requested range; id has the wanted range. The result is a copy,
// because a slice of content would keep all of content in memory.
func partOf(content []byte, joined blob.Range, id rangeID) ([]byte, error) {
	from := id.Offset - joined.Offset
	if from >= int64(len(content)) {
		return nil, fmt.Errorf("cannot get %s: offset %d of %d bytes: %w", id.key, id.Offset, joined.Offset+int64(len(content)), blob.ErrRange)
	}
	return bytes.Clone(content[from:min(from+id.Length, int64(len(content)))]), nil
}

// complete ends loads: it keeps their contents in memory, and wakes the calls of Read
// that wait for the loads. Each load must have its content or err set already.
func (c *Cache) complete(loads ...*load) {
	c.mu.Lock()
	for _, f := range loads {
		c.unlist(f)
		if f.err == nil {
			c.keep(f.id, f.content)
		}
	}
	c.mu.Unlock()
	for _, f := range loads {
		close(f.done)
	}
}

// stopWaiting records that a call of Read no longer waits for the ranges in waits. If
// no other call waits for a request, it cancels the request, and later calls make a
// new one. The caller does not hold c.mu.
func (c *Cache) stopWaiting(waits []wait) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range waits {
		w.load.waiters--
		if r := w.load.request; r != nil && !slices.ContainsFunc(r.loads, func(f *load) bool { return f.waiters > 0 }) {
			for _, f := range r.loads {
				c.unlist(f)
			}
			r.cancel()
		}
	}
}

// unlist removes the load f from c.loads, so that later calls of Read do not wait for it. It leaves
// alone another load of the same range that has taken its place. The caller holds c.mu.
func (c *Cache) unlist(f *load) {
	if c.loads[f.id] == f {
		delete(c.loads, f.id)
	}
}

// One request can read several ranges, together with the gaps between them. This saves requests,
// which cost money. But it takes longer than separate requests, which run in parallel and do not
// read the gaps. These limits bound how many bytes of gaps a caller reads, and how much longer it
// waits. They result from these prices and times:
//
//	a million requests          $0.40
//	first byte of an answer     after 63 ms
//	following bytes             80 MB per second
//	one request                 costs as much as 30 ms of a function with 1 GB of memory;
//	                            2.4 MB arrive in this time
const (
	// mostGaps is the greatest sum, in bytes, of the gaps that a request reads. They arrive in 26 ms. So even
	// if there is only one gap, reading it costs less than another request.
	mostGaps = 2 << 20
	// smallGap is the greatest size, in bytes, of a gap that is read although the gaps of a call have more than
	// mostGaps bytes together. It arrives in 7 ms, which cost a quarter of the price of a request.
	smallGap = 512 << 10
	// mostOfCall is the greatest sum, in bytes, of all gaps that a call reads. They arrive in 105 ms if the
	// requests of the call share one connection's speed, and otherwise at the same time.
	mostOfCall = 8 << 20
	// mostJoined is the greatest size, in bytes, of a request that is joined over gaps. The answer
	// of such a request arrives in 100 ms. For more bytes, several parallel requests are faster.
	mostJoined = 8 << 20
)

// span is the range of one request to the bucket. It covers one or more of the ranges in the
// argument of join.
type span struct {
	blob.Range
	members []int // indexes, in the argument of join, of the ranges that the span contains
}

func (s *span) end() int64 { return s.Offset + s.Length }

// join returns the ranges to request from the bucket, so that all the given ranges of one object
// are read. Ranges that overlap, or lie close together, share one request. Two kinds of ranges
// always have a request of their own: the last n bytes of the object, and all bytes from an offset
// on. Where they lie or end depends on the size of the object, which join is not told.
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

// joinGaps joins spans that have a gap between them, so that one request reads them and the gap. It
// begins with the smallest gaps, and stays within the limits above. The spans must be sorted by offset, and
// must not overlap.
func joinGaps(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	gap := func(i int) int64 { return spans[i].Offset - spans[i-1].end() } // before span i
	order := make([]int, len(spans)-1)
	// If i is the last of some spans that are joined so far, first[i] is the first of
	// them; if i is the first of some, last[i] is the last of them.
	first, last := make([]int, len(spans)), make([]int, len(spans))
	for i := range spans {
		first[i], last[i] = i, i
		if i > 0 {
			order[i-1] = i
		}
	}
	before := make([]int64, len(spans)+1) // sum of the sizes of the spans before each
	for i := range spans {
		before[i+1] = before[i] + spans[i].Length
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(gap(i), gap(j)) })
	read := int64(0)
	joined := make([]bool, len(spans)) // whether a span is joined to the one before
	for _, i := range order {
		if all := read + gap(i); all > mostOfCall || all > mostGaps && gap(i) > smallGap {
			break
		}
		from, to := first[i-1], last[i]
		size := spans[to].end() - spans[from].Offset
		if size > mostJoined || size-(before[to+1]-before[from]) > mostGaps {
			continue
		}
		joined[i], last[from], first[to] = true, to, from
		read += gap(i)
	}
	return merge(spans, func(_ *span, i int) bool { return joined[i] })
}

// merge joins neighbouring spans. For each span but the first, it calls the function toBe, which says
// whether to join the span to the one before it. The second argument of toBe is the span's index. The
// first is the span before it, which may have grown already because others were joined to it.
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
