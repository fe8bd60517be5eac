// Package census counts the URLs of a bucket by their states, as the command status shows them.
//
// The state of a URL follows from all books (see package account), and to read all of them takes time and
// requests. So the numbers that were counted last are kept in the bucket, in the hint layout.Census. They are numbers
// for parts of the hash space, each of which has whole sites. When the URLs are counted again, only some parts are
// read in the books; the numbers of all others still hold. The numbers of a part do not hold any more if
//
//   - a URL of one of its sites has an outcome, or is the target of a link, in a book or spool object that was not
//     counted;
//   - the settings have changed what holds for URLs of the part (see settings.Difference), or
//   - there are numbers that depend on the time, and could be wrong by now (see Due).
//
// None holds if a counted book is not listed any more; but a book that was merged from counted books counts as
// counted (see Rename).
//
// # Format
//
// The hint is JSON with a sum (see layout.Seal):
//
//	{"format": 3, "settings": "<fingerprint>", "versions": {"takedowns": 3, "collections": {"docs": 1}},
//	 "books": ["books/0000/<content hash>.book", ...], "next": 4294967296,
//	 "parts": [{"from": 0, "to": 4294967296, "time": "2026-11-26T15:00:00Z", "last": "2026-11-26T14:02:10Z",
//	            "all": {"discovered": 9, "stored": 7, "failed": {"http 404": 2}},
//	            "collections": {"docs": {"discovered": 9, "stored": 7, "failed": {"http 404": 2},
//	                                     "due": [{"at": "2026-11-27T14:02:11Z", "urls": 7}]}},
//	            "silent": [{"host": "a.example", "failures": 3, "pending": ["docs"]}]}, ...],
//	 "sum": "<hash>"}
//
// The range of a part goes from the place "from" up to the place "to", without it; "to" is 0 at the end of the
// space. Parts may be missing: their URLs were not counted. Members that are 0 or empty are left out. "next" is there
// if URLs from this place on are still to be counted, by the next step of a count that is made in several steps.
//
//	format  since       what is new
//	1       2026-11-26
//	2       2026-11-26  "next" and "last"; mail addresses are skipped for a reason of their own
//	3       2026-11-27  "due" has failed URLs, too; those that a crawl tries again are failed, and not pending
//
// A program that gets other numbers from the same books and settings, because it judges URLs in another way, needs a
// new format, too: numbers of an unknown format are not used.
package census

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Census has the numbers of a bucket's URLs. The zero Census has none.
type Census struct {
	Format   int               `json:"format"`
	Settings string            `json:"settings"`       // fingerprint of the settings under which the URLs were counted
	Versions settings.Versions `json:"versions"`       // of these settings
	Books    []string          `json:"books"`          // keys of the books that were counted
	Next     *layout.Place     `json:"next,omitempty"` // place from which on URLs are still to be counted; nil if there is none
	Parts    []Part            `json:"parts"`          // sorted by their places; no two overlap
}

// Part has the numbers of the URLs in a range of the hash space.
type Part struct {
	layout.Range
	Time        time.Time             `json:"time"`                  // when they were counted
	Last        time.Time             `json:"last,omitzero"`         // of the latest final outcome of a URL; zero if there is none
	All         Counts                `json:"all"`                   // of all URLs
	Collections map[string]Collection `json:"collections,omitempty"` // by the name of the collection
	Silent      []Silent              `json:"silent,omitempty"`      // hosts with pending URLs that do not answer
}

// The sizes of parts, in bytes of the books: a part is about as large as one of maxParts equal parts of all books, but
// not smaller than minPart. A part with one large site can be larger.
const maxParts = 2048

var minPart int64 = 128 << 10 // tests set it to a few bytes

// passBytes is about how many bytes of the books are read in one pass, which counts several parts. With a pass for each
// part, most blocks of the books would be read several times, since each book has only a small share of a part. The
// hosts of all URLs of a pass are in memory at the same time.
var passBytes int64 = 16 << 20 // tests set it to a few bytes

// onePass returns how many of the first ranges are counted in one pass: adjacent ones with about so many bytes of the
// books as the parameter most says, but at least one. It also returns about how many bytes these are.
func onePass(books *account.Bucket, ranges []layout.Range, most int64) (n int, bytes int64) {
	for n == 0 || n < len(ranges) && ranges[n].From == ranges[n-1].To && bytes < most {
		bytes += minPart * int64(len(books.Divide(ranges[n], minPart)))
		n++
	}
	return n, bytes
}

// Extent says which URLs Update counts. The zero Extent stands for all whose numbers do not hold any more.
type Extent struct {
	From  layout.Place      // none below this place; if it is above 0, all books of the earlier census must still be listed
	Bytes int64             // after about so many bytes of the books, no further part is counted; 0: there is no limit
	Again func(*Part) bool  // parts whose URLs are counted although the numbers hold; nil: none
	Each  func(account.URL) // is called for every URL that is counted, unless it is nil
	Saved bool              // no parts that Save leaves out
}

// Update counts URLs of a bucket, and returns their numbers. It takes over the numbers of those parts of the earlier
// census c that still hold under the settings s at the time now. Of the other URLs, it counts those within the extent.
// If the count ends because of Extent.Bytes, Next of the result is the place from which on another call must count. In a
// bucket with more bytes of books, pages may be given as due up to an hour early (see Due). If Extent.From is above 0,
// books that the earlier census lacks do not become counted ones, because some of their URLs may be below. If objects are known to be lost or damaged (see account.Bucket.Faults), Update takes over nothing, and their URLs are
// not counted. If damage is found only while URLs are counted, the numbers that were taken over have the URLs of the
// damaged book, and the others have not.
func (c *Census) Update(ctx context.Context, bucket blob.Reader, books *account.Bucket, s *settings.Settings, now time.Time, e Extent) (*Census, error) {
	next := &Census{Format: format, Settings: s.Fingerprint(), Versions: s.Versions()}
	var bytes int64
	for _, m := range books.Manifests {
		for _, b := range m.Books {
			next.Books = append(next.Books, b.Key)
			bytes += b.Bytes
		}
	}
	var err error
	exact := e.Bytes == 0 || bytes <= e.Bytes
	if next.Parts, err = c.holding(ctx, bucket, books, s, now, exact); err != nil {
		return nil, err
	}
	if e.From > 0 {
		next.Books = slices.Clone(c.Books) // URLs of other books may be below this place, and are not counted
	}
	if e.Again != nil {
		next.Parts = slices.DeleteFunc(next.Parts, func(p Part) bool { return e.Again(&p) })
	}
	size := max(minPart, bytes/maxParts)
	var todo []layout.Range
	for _, gap := range next.gaps() {
		if gap.From = max(gap.From, e.From.SiteRange().From); gap.To == 0 || gap.From < gap.To {
			todo = append(todo, ofSites(books.Divide(gap, size))...)
		}
	}
	if e.Saved {
		unsaved, err := next.newSites(ctx, books, todo)
		if err != nil {
			return nil, err
		}
		todo = withNone(todo, unsaved)
	}
	for counted := int64(0); len(todo) > 0 && (e.Bytes == 0 || counted < e.Bytes); {
		most := passBytes
		if e.Bytes > 0 {
			most = min(most, e.Bytes-counted)
		}
		n, read := onePass(books, todo, most)
		counted += read
		parts, err := count(ctx, books, s, todo[:n], now, e.Each)
		if err != nil {
			return nil, err
		}
		next.Parts, todo = append(next.Parts, parts...), todo[n:]
	}
	slices.SortFunc(next.Parts, func(p, q Part) int { return cmp.Compare(p.From, q.From) })
	if len(todo) > 0 {
		next.Next = &todo[0].From
	}
	return next, nil
}

// Uncounted returns the share of the hash space whose URLs are not counted: 0 if all are counted, 1 if none is.
func (c *Census) Uncounted() (share float64) {
	for _, gap := range c.gaps() {
		share += gap.Width() / layout.Range{}.Width()
	}
	return share
}

// gaps returns the ranges of the hash space between the parts.
func (c *Census) gaps() (gaps []layout.Range) {
	from := layout.Place(0)
	for _, p := range c.Parts {
		if p.From > from {
			gaps = append(gaps, layout.Range{From: from, To: p.From})
		}
		if from = p.To; from == 0 {
			return gaps
		}
	}
	return append(gaps, layout.Range{From: from})
}

// ofSites moves the places between adjacent ranges so that each site is in one range only. It leaves out ranges
// that become empty. The first range must begin, and the last one end, between two sites.
func ofSites(ranges []layout.Range) (whole []layout.Range) {
	next := ranges[0]
	for _, r := range ranges[1:] {
		if site := r.From.SiteRange(); site.From > next.From {
			next.To = site.From
			whole, next = append(whole, next), layout.Range{From: site.From}
		}
	}
	next.To = ranges[len(ranges)-1].To
	return append(whole, next)
}

// withNone returns those ranges of whole sites that have none of the given sites.
func withNone(ranges []layout.Range, sites map[uint32]bool) (left []layout.Range) {
	sorted := slices.Sorted(maps.Keys(sites))
	for _, r := range ranges {
		if i, _ := slices.BinarySearch(sorted, r.From.Site()); i == len(sorted) || !r.Contains(layout.Place(sorted[i])<<32) {
			left = append(left, r)
		}
	}
	return left
}

// ranges returns the ranges of all parts.
func (c *Census) ranges() (all []layout.Range) {
	for _, p := range c.Parts {
		all = append(all, p.Range)
	}
	return all
}

// Counts returns the numbers of all URLs, or of those that belong to the named collection.
func (c *Census) Counts(collection string) Counts {
	sum := Counts{Skipped: make(map[string]int), Failed: make(map[string]int), Remarks: make(map[string]int)}
	for _, p := range c.Parts {
		if collection == "" {
			sum.join(p.All)
		} else {
			sum.join(p.Collections[collection].Counts)
		}
	}
	return sum
}

// Collection returns the numbers of the URLs that belong to a collection.
func (c *Census) Collection(name string) Collection {
	sum := Collection{Counts: c.Counts(name)}
	for _, p := range c.Parts {
		own := p.Collections[name]
		sum.OnTopic += own.OnTopic
		sum.Due = append(sum.Due, own.Due...)
	}
	return sum
}

// Silent returns the hosts that do not answer and have pending URLs, or pending URLs of the named collection. The
// hosts with the most failures come first.
func (c *Census) Silent(collection string) (hosts []Silent) {
	for _, p := range c.Parts {
		for _, h := range p.Silent {
			if collection == "" || slices.Contains(h.Pending, collection) {
				hosts = append(hosts, h)
			}
		}
	}
	slices.SortFunc(hosts, func(a, b Silent) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Host, b.Host))
	})
	return hosts
}
