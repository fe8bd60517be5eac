package rangecache

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
)

// flight is a range on its way to all calls that wait for it.
type flight struct {
	id
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

// fetch sends the requests for flights of one object. They do not end with
// the fork's context, but when nobody waits for them.
func (c *Cache) fetch(fork meter.Fork, key string, flights []*flight) {
	if len(flights) == 0 {
		return
	}
	ranges := make([]blob.Range, len(flights))
	for i, f := range flights {
		ranges[i] = f.Range
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

// run makes a request, lands its flights and keeps what they bring on disk.
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
			f.content, f.err = part(content, r.Range, f.id)
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

// part returns a copy of what an id selects of a joined range's content; a
// part of the content itself would hold all of it in memory.
func part(content []byte, joined blob.Range, id id) ([]byte, error) {
	from := id.Offset - joined.Offset
	if from >= int64(len(content)) {
		return nil, fmt.Errorf("cannot get %s: offset %d of %d bytes: %w", id.key, id.Offset, joined.Offset+int64(len(content)), blob.ErrRange)
	}
	return bytes.Clone(content[from:min(from+id.Length, int64(len(content)))]), nil
}

// land gives flights, whose content or error is set, to all that wait.
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

// leave ends the waiting of a call. A request that nobody waits for any more
// is cancelled, and later calls do not join it. c.mu is not held.
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

// forget takes a flight off the list, unless another of its range has begun.
// c.mu is held.
func (c *Cache) forget(f *flight) {
	if c.flights[f.id] == f {
		delete(c.flights, f.id)
	}
}
