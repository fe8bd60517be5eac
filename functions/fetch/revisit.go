package fetch

import (
	"cmp"
	"context"
	"net/netip"
	"sync"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// Bounds of the expiry class of a page that is revisited: from 1.5 hours to 64
// days.
const (
	minExponent = -4
	maxExponent = 6
)

// conclude writes a verdict on a target into its outcome. A page that is stored
// already is kept when it could not be had, the first time that the server says
// that it is gone, and when robots.txt forbids it to the agent of a collection
// that lacks it: then the outcome is unchanged with a reason.
func conclude(o *book.Outcome, t batch.Target, v verdict) {
	settle(o, v)
	last := had(t)
	if last == nil {
		return
	}
	forbidden := o.Reason == membership.Robots && confirmable(t, nil) == nil // to a collection that lacks it
	switch {
	case t.Sitemap:
		if forbidden || o.State == book.Failed && v.state == book.Retry {
			keep(o, *last)
		}
	case o.State == book.Stored:
		switch {
		case o.Digest == last.Digest: // it is stored for one more collection
		case sameWords(o.Digest, last.Digest):
			o.Exponent = later(o.Exponent)
		default:
			o.Exponent = sooner(o.Exponent)
		}
	case o.State == book.Unchanged:
		o.Digest, o.Body = last.Digest, cmp.Or(o.Body, last.Body)
		o.Collections, o.Exponent = together(o.Collections, last.Collections...), later(o.Exponent) // first the one for which it is so deep
	case o.State == book.Skipped && !forbidden, o.State == book.Failed && missing(*o) && last.Missing:
		o.Digest = last.Digest // tells that a page is gone
	case o.State == book.Failed, forbidden:
		o.State, o.Collections = book.Unchanged, last.Collections
		o.ETag, o.Modified, o.Digest, o.Body = last.ETag, last.Modified, last.Digest, last.Body
		if missing(*o) {
			o.Exponent = bounded(min(o.Exponent, 0) - 2)
		}
	}
}

// missing reports whether the server says that there is no such page.
func missing(o book.Outcome) bool { return o.Status/100 == 4 && o.Status != 429 }

// sooner and later return the class of what has changed since the last look,
// and of what has not.
func sooner(exponent int16) int16 { return bounded(exponent - 1) }
func later(exponent int16) int16  { return bounded(exponent + 1) }

func bounded(exponent int16) int16 { return max(minExponent, min(exponent, maxExponent)) }

// validators returns those of an answer, or if it has none, those of the last.
func validators(a answer, last *batch.Look) (etag, modified string) {
	etag, modified = validator(a, "ETag"), validator(a, "Last-Modified")
	if etag == "" && modified == "" && last != nil {
		return last.ETag, last.Modified
	}
	return etag, modified
}

// validator returns a field of the header, or "" if it is too long for an
// outcome or could not be sent back.
func validator(a answer, name string) string {
	value := a.header.Get(name)
	if len(value) > book.MaxValidator {
		return ""
	}
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return value
}

// crowds lets so many requests at a time go to one IP address, at which many
// hosts may live. The zero value is ready to use.
type crowds struct {
	mu sync.Mutex
	at map[netip.Addr]*crowd // while somebody is there or waits
}

type crowd struct {
	places chan struct{} // one is put in by whoever has a place
	users  int           // who have a place or wait for one
}

// enter waits for a place at the address, which leave gives back. It fails when
// ctx ends before. Anybody may go to the zero address, of a host whose address
// is not known yet.
func (c *crowds) enter(ctx context.Context, a netip.Addr) (leave func(), err error) {
	if !a.IsValid() {
		return func() {}, nil
	}
	here := c.join(a)
	select {
	case here.places <- struct{}{}:
		return func() {
			<-here.places
			c.part(a)
		}, nil
	case <-ctx.Done():
		c.part(a)
		return nil, context.Cause(ctx)
	}
}

func (c *crowds) join(a netip.Addr) *crowd {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[netip.Addr]*crowd)
	}
	here := c.at[a]
	if here == nil {
		here = &crowd{places: make(chan struct{}, maxCrowd)}
		c.at[a] = here
	}
	here.users++
	return here
}

func (c *crowds) part(a netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[a].users--; c.at[a].users == 0 {
		delete(c.at, a)
	}
}
