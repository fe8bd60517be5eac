package fetch

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// sitemap requests target i, a sitemap, with the given User-Agent and delay. It reads the sitemap
// as a stream, and records its entries as links.
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
		if a.err == nil { // after an error, the whole sitemap must be read again next time
			o.ETag, o.Modified = validators(a, nil)
			o.Body = l.sum
		}
	}
	r.links[i] = l.links
	r.receive(l.size)
}

// keep completes the outcome of a sitemap that could not be read this time, but was read before. It
// sets the state Skipped, with the validators, checksum and collections of the last fetch. So the
// links of that fetch stay valid, and the sitemap is fetched again when it is next due.
func keep(o *book.Outcome, last batch.Look) {
	o.State, o.Detail = book.Skipped, sentence(o.Reason+": "+o.Detail)
	o.Reason, o.ETag, o.Modified = membership.Sitemap, last.ETag, last.Modified
	o.Body, o.Collections = last.Body, last.Collections
}

// isSame reports whether the sitemap is unchanged since its last fetch: the answer has the status
// 304 (Not Modified), or the same bytes as then.
func (l *listing) isSame(a answer) bool {
	return l.known != nil && (a.status == http.StatusNotModified || a.err == nil && a.status/100 == 2 && l.sum != 0 && l.sum == l.known.Body)
}

// judge returns the state and reason for the outcome of a sitemap. The parameter attempts is the
// number of requests for the sitemap so far, this one included.
//
// If the body broke off after some entries, and the cause may be temporary, the state is Retry
// while attempts is below MaxAttempts. Otherwise the sitemap counts as read, with these entries. A
// body that is not the XML or text of a sitemap fails as "no sitemap".
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

// newListing returns the listing for target i, a sitemap of which no entry is read yet. An entry of
// another site will become a link only if one of the named collections admits it.
func (r *run) newListing(i int, collections []string) *listing {
	l := &listing{address: r.targets[i], outcome: r.ledger.Outcomes[i], now: r.now(), broken: errNothing}
	if last := r.batch.Targets[i].Last; last != nil {
		l.last = last.Time
	}
	l.admits = func(link book.Link, to address.Address) bool {
		way := membership.Path{Kind: link.Kind, Depth: link.Depth, Weight: link.Weight}
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

// listing turns the entries of a sitemap into links, while the sitemap is read.
type listing struct {
	address address.Address // address of the sitemap
	outcome book.Outcome    // outcome of the sitemap before this answer was read
	now     time.Time
	last    time.Time // time of the last fetch of the sitemap; zero if there was none
	// result of the last fetch of the sitemap, if the request may be conditional (see confirmable);
	// else nil
	known  *batch.Look
	admits func(book.Link, address.Address) bool // function that reports whether a collection admits a link to an address
	weigh  func(sitemap.Entry) uint8             // function that returns the weight of the link to an entry

	links  []book.Link
	size   int64  // approximate bytes of memory of the links
	sum    uint64 // checksum of the sitemap (book.Outcome.Body); 0 if it was not read to its end
	broken error  // error that ended reading before the end of the sitemap; nil if there was none

	entries  int // number of all entries read
	sitemaps int // number of entries that name other sitemaps
	foreign  int // number of entries that get no link, because they are of other sites and no collection admits them
	news     int // number of entries that changed since the last fetch of the sitemap
	undated  int // number of entries without a date
}

// errNothing is the error in listing.broken if no body of the sitemap was read.
var errNothing = errors.New("nothing was sent")

// read parses a sitemap and adds a link for each entry. A panic of the parser becomes the error
// l.broken.
func (l *listing) read(from io.Reader) {
	defer func() {
		if cause := recover(); cause != nil {
			l.broken = fmt.Errorf("not parsable: %v", cause)
		}
	}()
	sum := crc64.New(sums)
	from = io.TeeReader(from, sum)
	l.broken = nil
	for e, err := range sitemap.Parse(from, l.address) {
		if err != nil {
			l.broken = err
			break
		}
		l.entries++
		l.add(e)
	}
	if _, err := io.CopyN(io.Discard, from, maxDrained); err == io.EOF {
		l.sum = max(sum.Sum64(), 1)
	}
}

// add adds a link for an entry of the sitemap, except in two cases: the entry is of another site
// and no collection admits it, or it names another sitemap and maxSitemaps such entries came before
// it. If the entry says that its page has changed since the last fetch of the sitemap, the link has
// the time of the change.
func (l *listing) add(e sitemap.Entry) {
	link := book.Link{
		Source: l.address.ID, Target: e.Address.URL, Place: e.Address.Place, Kind: book.Listed, Region: book.Text,
		Depth: 1, Weight: l.weigh(e), Collection: collectionOf(l.outcome),
	}
	if e.Address.Site != l.address.Site && !l.admits(link, e.Address) {
		l.foreign++
		return
	}
	if e.Index {
		if l.sitemaps++; l.sitemaps > maxSitemaps {
			return
		}
		link.Kind, link.Depth, link.Weight = book.Sitemap, more(l.outcome.Depth), 0
	}
	switch {
	case e.Modified.IsZero():
		l.undated++
	case l.last.IsZero():
	case e.Modified.Add(dateSlack).After(l.last):
		l.news++
		if link.Modified = e.Modified; link.Modified.After(l.now) {
			link.Modified = l.now
		}
		link.Modified = link.Modified.Truncate(time.Second)
	}
	l.links = append(l.links, link)
	l.size += int64(len(link.Target)) + linkSize
}

// exponent returns the expiry class of the sitemap after this fetch:
//
//	this is the first fetch                           unchanged
//	an entry has changed since the last fetch         one down: it is read again sooner
//	no entry has changed, and all have dates          one up
//	no entry has changed, some have no date           unchanged: it is not known whether they changed
func (l *listing) exponent() int16 {
	switch e := l.outcome.Exponent; {
	case l.last.IsZero():
		return e
	case l.news > 0:
		return sooner(e)
	case l.undated == 0:
		return later(e)
	default:
		return e
	}
}

// leftOut returns a text that says how many entries of the sitemap got no link: sitemaps beyond the
// first maxSitemaps, and addresses of other sites that no collection admits. The text is "" if
// there are none.
func (l *listing) leftOut() string {
	var parts []string
	if l.sitemaps > maxSitemaps {
		parts = append(parts, fmt.Sprintf("%d of %d sitemaps", l.sitemaps-maxSitemaps, l.sitemaps))
	}
	if l.foreign > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d addresses, of other sites", l.foreign, l.entries))
	}
	if parts == nil {
		return ""
	}
	return "left out: " + strings.Join(parts, "; ")
}

// priorityWeight converts the priority of a sitemap's entry, from 0 to 1, into the weight of the
// link to it:
//
//	priority   weight
//	1          that of a seed (depth 0)
//	0.5        that of a page at depth 1
//	0          that of a page at depth 4
func priorityWeight(p float32) uint8 {
	band := math.Round(2 * (1 - float64(p)))
	if p < sitemap.DefaultPriority {
		band = 1 + math.Round(6*(sitemap.DefaultPriority-float64(p)))
	}
	return uint8(15-band)*16 + 8
}
