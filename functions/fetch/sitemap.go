package fetch

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// sitemap asks for a target that is a sitemap, reads it as it comes, and records
// what it lists as links.
func (r *run) sitemap(ctx context.Context, i int, agent string, delay time.Duration) {
	t := r.batch.Targets[i]
	claiming := r.behalf.settings.ClaimingSitemap(r.targets[i])
	collections := together(t.Collections, append(r.behalf.kept(t), claiming...)...)
	l := r.newListing(i, collections)
	l.known = confirmable(t, claiming)
	a, asked := r.ask(ctx, request{url: r.targets[i].URL, agent: agent, limit: sitemap.MaxBytes, lenient: true, stream: l.read, unless: l.known}, delay)
	if !asked {
		return
	}
	o := r.answered(i, a)
	if isRedirect(a) {
		conclude(o, t, r.redirect(i, a))
		return
	}
	v := l.judge(a, o.Attempts)
	conclude(o, t, v)
	switch {
	case l.isSame(a):
		o.ETag, o.Modified = validators(a, l.known)
		o.Body, o.Collections, o.Exponent = l.known.Body, l.known.Collections, later(o.Exponent)
		return
	case v.reason == membership.Sitemap:
		o.Collections, o.Exponent = collections, l.exponent()
		if a.err == nil { // else the rest would be missed for good
			o.ETag, o.Modified = validators(a, nil)
			o.Body = l.sum
		}
	}
	r.links[i] = l.links
	r.received += l.size
}

// keep has a sitemap that was read before, and could not be had this time, be
// asked for again when it is due.
func keep(o *book.Outcome, last batch.Look) {
	o.State, o.Detail = book.Skipped, sentence(o.Reason+": "+o.Detail)
	o.Reason, o.ETag, o.Modified = membership.Sitemap, last.ETag, last.Modified
	o.Body, o.Collections = last.Body, last.Collections
}

// isSame reports whether the sitemap lists what it did at the last look.
func (l *listing) isSame(a answer) bool {
	return l.known != nil && (a.status == http.StatusNotModified || a.err == nil && a.status/100 == 2 && l.sum != 0 && l.sum == l.known.Body)
}

// judge returns the verdict on the answer, of which what was read is the body. A
// sitemap that was cut is asked for again in the hope of the rest.
func (l *listing) judge(a answer, attempts uint8) verdict {
	if a.err != nil && l.broken != nil {
		if v := judge(a.err); l.entries == 0 || v.state == book.Retry && attempts < MaxAttempts {
			return v
		}
	}
	if l.isSame(a) {
		return verdict{book.Skipped, membership.Sitemap, "not modified"}
	}
	if v, final := judgeStatus(a, nil); final {
		return v
	}
	switch {
	case l.broken == nil:
		return verdict{book.Skipped, membership.Sitemap, l.leftOut()}
	case l.entries == 0:
		return verdict{book.Failed, "no sitemap", l.broken.Error()}
	}
	return verdict{book.Skipped, membership.Sitemap, l.broken.Error()}
}

// newListing returns the one to read a target into that is a sitemap of the
// collections.
func (r *run) newListing(i int, collections []string) *listing {
	l := &listing{address: r.targets[i], outcome: r.ledger.Outcomes[i], now: r.now(), broken: errNothing}
	if last := r.batch.Targets[i].Last; last != nil {
		l.last = last.Time
	}
	l.admits = func(link book.Link, to address.Address) bool {
		way := membership.Way{Kind: link.Kind, Depth: link.Depth, Weight: link.Weight}
		return slices.ContainsFunc(collections, func(name string) bool {
			way.Collection = name
			return r.behalf.settings.Decide(way, to) == ""
		})
	}
	l.weigh = func(e sitemap.Entry) uint8 { return priorityWeight(e.Priority) }
	if t := r.behalf.topicOf(collectionOf(l.outcome)); t != nil {
		l.weigh = func(e sitemap.Entry) uint8 { return weight(t.Link("", "", e.Address.URL, 0)) }
	}
	return l
}
