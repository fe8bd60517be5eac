package fetch

import (
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// listing is what is read of a sitemap.
type listing struct {
	address address.Address
	outcome book.Outcome // of the sitemap, so far
	now     time.Time
	last    time.Time   // of the last look, zero on the first
	known   *batch.Look // what it may stay as, see confirmable
	admits  func(book.Link, address.Address) bool
	weigh   func(sitemap.Entry) uint8

	links  []book.Link
	size   int64  // bytes that they take
	sum    uint64 // book.Outcome.Body, 0 when not all came
	broken error  // where the reading ended before the sitemap did

	entries  int
	sitemaps int // among the entries
	foreign  int // of sites that nobody wants
	news     int // changed since the last look
	undated  int
}

var errNothing = errors.New("nothing was sent")

// read makes links of the entries. A sitemap that breaks the parser fails
// alone.
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

// add makes a link of an entry, unless it is of another site, which must be
// admitted for what its pages are. One that changed since the last look tells
// when.
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

// exponent returns the expiry class of the sitemap after this look, which was
// not the first: one with undated entries does not tell whether it changed.
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

// leftOut says which entries became no link although they might.
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

// priorityWeight returns the weight of a link to a page of a priority from 0 to
// 1: the usual one, ½, is asked for as if a seed linked to it, the highest as a
// seed itself, the lowest as from three links further.
func priorityWeight(p float32) uint8 {
	band := math.Round(2 * (1 - float64(p)))
	if p < sitemap.DefaultPriority {
		band = 1 + math.Round(6*(sitemap.DefaultPriority-float64(p)))
	}
	return uint8(15-band)*16 + 8
}
