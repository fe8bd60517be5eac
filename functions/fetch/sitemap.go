package fetch

import (
	"context"
	"net/http"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// sitemap asks for a target that is a sitemap, reads it as it comes, and records
// what it lists as links.
func (r *run) sitemap(ctx context.Context, i int, agent string, delay time.Duration) {
	t := r.batch.Targets[i]
	l := r.newListing(i)
	question := request{url: r.targets[i].URL, agent: agent, limit: sitemap.MaxBytes, lenient: true, stream: l.read}
	if t.Last != nil {
		question.etag, question.modified = t.Last.ETag, t.Last.Modified
	}
	a, asked := r.ask(ctx, question, delay)
	if !asked {
		return
	}
	o := &r.ledger.Outcomes[i]
	o.Attempts, o.Status, o.Time = once(o.Attempts), uint16(a.status), millisecond(a.ended)
	if isRedirect(a) {
		conclude(o, t, r.redirect(i, a))
		for j := range r.links[i] {
			r.links[i][j].Kind = book.Sitemap // what it leads to is read as one, too
		}
		return
	}
	r.links[i] = l.links
	r.received += l.size
	v := l.judge(a, o.Attempts)
	conclude(o, t, v)
	switch {
	case v.reason != settings.Sitemap:
	case a.status == http.StatusNotModified:
		o.ETag, o.Modified = validators(a, t.Last)
		o.Exponent = later(o.Exponent)
	default:
		o.Exponent = l.exponent()
		if a.err == nil { // else the rest would be missed for good
			o.ETag, o.Modified = validators(a, nil)
		}
	}
}

// keep has a sitemap that was read before, and could not be had this time, be
// asked for again when it is due.
func keep(o *book.Outcome, last batch.Look) {
	o.State, o.Detail = book.Skipped, sentence(o.Reason+": "+o.Detail)
	o.Reason, o.ETag, o.Modified = settings.Sitemap, last.ETag, last.Modified
}

// judge returns the verdict on the answer, of which what was read is the body. A
// sitemap that was cut is asked for again in the hope of the rest.
func (l *listing) judge(a answer, attempts uint8) verdict {
	if a.err != nil && l.broken != nil {
		if v := judge(a.err); l.entries == 0 || v.state == book.Retry && attempts < MaxAttempts {
			return v
		}
	}
	if a.status == http.StatusNotModified && !l.last.IsZero() {
		return verdict{book.Skipped, settings.Sitemap, "not modified"}
	}
	if v, final := judgeStatus(a, false); final {
		return v
	}
	switch {
	case l.broken == nil:
		return verdict{book.Skipped, settings.Sitemap, l.leftOut()}
	case l.entries == 0:
		return verdict{book.Failed, "no sitemap", l.broken.Error()}
	}
	return verdict{book.Skipped, settings.Sitemap, l.broken.Error()}
}

// newListing returns the one to read a target into.
func (r *run) newListing(i int) *listing {
	l := &listing{address: r.targets[i], outcome: r.ledger.Outcomes[i], now: r.now(), broken: errNothing}
	if last := r.batch.Targets[i].Last; last != nil {
		l.last = last.Time
	}
	l.admits = func(link book.Link, to address.Address) bool {
		way := settings.Way{Collection: link.Collection, Kind: link.Kind, Depth: link.Depth, Weight: link.Weight}
		return r.behalf.settings.Decide(way, to) == ""
	}
	l.weigh = func(e sitemap.Entry) uint8 { return priorityWeight(e.Priority) }
	if t := r.behalf.topicOf(collectionOf(l.outcome)); t != nil {
		l.weigh = func(e sitemap.Entry) uint8 { return weight(t.Link("", "", e.Address.URL, 0)) }
	}
	return l
}
