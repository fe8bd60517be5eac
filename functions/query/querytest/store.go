// Package querytest has what tests of the query function share: a bucket that they fill with pages,
// packages, books and segments, as the other functions of the search engine do.
package querytest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring"

	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// Noon is the time at which the clocks of tests start.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Clock is a clock whose time changes only by calls of Advance.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Page is a page that a test publishes. If it has neither a title nor a body, it is stored as a page without
// text, and no word finds it.
type Page struct {
	URL, MIME, Data   string
	Title, Body, Lang string
	Outside           string // text outside of the main part; Body is the main part
	Waits             bool   // whether the page waits to be indexed
	Asset             bool   // whether the page is an asset of other pages, and so is not indexed
	Images            []segment.Image
	Date              time.Time // the page's own date
	Headings          []string
	Sections          []segment.Section
	Collections       []string
}

// Store is a bucket that tests fill with pages, packages (stored pages), books (outcomes of the crawl's
// requests) and segments (parts of the index), as the other functions of the search engine do.
type Store struct {
	T      testing.TB
	Bucket *memblob.Bucket
	Clock  *Clock
	Rules  rules.Document // storage strategy in force
	Token  uint64         // token of the versions that were published last
}

// NewStore returns an empty bucket with strategies for the given number of partitions.
func NewStore(t testing.TB, partitions int) *Store {
	s := &Store{T: t, Bucket: memblob.New(), Clock: &Clock{now: Noon}}
	s.Rules = rules.Even(rules.Storage, partitions, Noon)
	s.Check(rules.Publish(t.Context(), s.Bucket, rules.Even(rules.Crawl, 1, Noon)))
	s.Check(rules.Publish(t.Context(), s.Bucket, s.Rules))
	return s
}

// Check ends the test if err is not nil.
func (s *Store) Check(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// Publish stores a new version of each page, and adds the pages to the index. It increases s.Token by one.
// All pages of a partition are committed together, in one generation of its manifest.
func (s *Store) Publish(pages ...Page) {
	s.T.Helper()
	s.Token++
	parts := map[int][]Page{}
	for _, p := range pages {
		a, err := address.Parse(p.URL)
		s.Check(err)
		partition, err := s.Rules.Decide(a)
		s.Check(err)
		parts[partition] = append(parts[partition], p)
	}
	for partition, pages := range parts {
		s.PublishIn(layout.Partition(partition), pages)
	}
}

// PublishIn is like Publish for pages that all belong to the partition id. It does not change s.Token.
func (s *Store) PublishIn(id layout.Partition, pages []Page) {
	s.T.Helper()
	version := layout.Version{Epoch: 1, Token: s.Token}
	created := Noon.Add(time.Duration(s.Token) * time.Second)
	pkg := webobject.Package{Base: 2, Created: created, Expires: created.AddDate(0, 0, 1)}
	compressor := webobject.NewCompressor(webobject.DefaultLevel)
	for _, p := range pages {
		run, err := compressor.Compress(webobject.Object{
			URL: p.URL, MIME: p.MIME, Data: []byte(p.Data), Downloaded: created, Status: 200, Version: version, Collections: p.Collections,
		})
		s.Check(err)
		pkg.Runs = append(pkg.Runs, run)
	}
	spf, places, err := pkg.Build()
	s.Check(err)
	own, err := partition.Open(s.T.Context(), s.Bucket, id, s.Clock.Now)
	s.Check(err)
	pkgTicket, err := own.PutPackage(s.T.Context(), layout.PackageName{Base: 2, Created: created}, spf, len(pages))
	s.Check(err)
	key := pkgTicket.Key

	var learnt book.Book
	var documents []*segments.Page
	for i, p := range pages {
		a, err := address.Parse(p.URL)
		s.Check(err)
		learnt.Outcomes = append(learnt.Outcomes, book.Outcome{
			Version: version, URL: a.URL, Place: a.Place, State: book.Stored, Status: 200, Time: created,
			Package: key, Offset: places[i].Offset, Length: places[i].Length, Asset: p.Asset,
		})
		if p.Waits || p.Asset {
			continue
		}
		documents = append(documents, &segments.Page{Document: segment.Document{
			ID: a.ID, Version: version, URL: a.URL, Site: a.Site, Title: p.Title, Body: p.Body, Lang: p.Lang, MIME: p.MIME,
			Fetched: created, Package: key, Offset: places[i].Offset, Length: places[i].Length, Images: p.Images, Date: p.Date,
			Headings: p.Headings, Collections: p.Collections, Sections: p.Sections,
		}, Outside: p.Outside, Silent: p.Title+p.Body == ""})
	}
	content, err := book.Encode(learnt)
	s.Check(err)
	bookTicket, err := own.PutBook(s.T.Context(), content, len(learnt.Outcomes), 0)
	s.Check(err)
	var built partition.Segment
	if len(documents) > 0 {
		content, err = segments.Build(documents)
		s.Check(err)
		built, err = own.PutSegment(s.T.Context(), content)
		s.Check(err)
	}
	s.Check(own.Commit(s.T.Context(), func(e *partition.Edit) error {
		s.supersede(e, documents)
		added := e.Manifest().Next
		s.Check(errors.Join(e.AddPackage(pkgTicket), e.AddBook(bookTicket)))
		if len(documents) > 0 {
			s.Check(e.AddSegment(built, manifest.Part{Package: added, Documents: len(documents)}))
		}
		e.SetIndexed(added, true)
		return nil
	}))
}

// supersede marks the earlier versions of the documents as dead in all segments that the manifest lists.
func (s *Store) supersede(e *partition.Edit, documents []*segments.Page) {
	s.T.Helper()
	fresh := map[layout.Identity]bool{}
	for _, d := range documents {
		fresh[d.ID] = true
	}
	dead := map[string]*roaring.Bitmap{}
	for _, listed := range e.Manifest().Segments {
		newSegment, err := partition.OpenSegment(s.T.Context(), segment.Ranges{Bucket: s.Bucket}, &listed)
		s.Check(err)
		ids, err := newSegment.Identities(s.T.Context())
		s.Check(err)
		dead[listed.Key], err = partition.Dead(s.T.Context(), s.Bucket, &listed)
		s.Check(err)
		for doc, id := range ids {
			if fresh[id] {
				dead[listed.Key].AddInt(doc)
			}
		}
	}
	s.Check(e.Mask(s.T.Context(), dead))
}

// Put stores a book of a partition, and returns its key. No manifest lists the book yet.
func (s *Store) Put(learnt book.Book, id layout.Partition) (key string) {
	s.T.Helper()
	content, err := book.Encode(learnt)
	s.Check(err)
	key = layout.BookKey(id, layout.ContentHash(content))
	s.Check(s.Bucket.Create(s.T.Context(), key, content))
	return key
}

// Commit commits a new generation of a partition's manifest, which the function edit changes, and returns
// it.
func (s *Store) Commit(id layout.Partition, edit func(*manifest.Manifest) error) manifest.Manifest {
	s.T.Helper()
	m, err := manifest.Commit(s.T.Context(), s.Bucket, id, s.Clock.Now, edit)
	s.Check(err)
	return m
}

// Manual returns n pages with the title Manual, each of a site of its own: https://example0.org/manual and so on.
func Manual(n int) (pages []Page) {
	for i := range n {
		pages = append(pages, Page{
			URL: fmt.Sprintf("https://example%d.org/manual", i), MIME: "text/html", Data: "<h1>Manual</h1>",
			Title: "Manual", Body: fmt.Sprintf("Chapter %d of the manual.", i),
		})
	}
	return pages
}

// Settings returns a cache of the settings in the bucket. The cache reads them again after a minute. The
// parameter bucket is the reader through which they are read.
func (s *Store) Settings(bucket blob.Reader) *settings.Cache {
	return &settings.Cache{Bucket: bucket, Now: s.Clock.Now, Age: time.Minute}
}

// Address returns the address of a URL.
func (s *Store) Address(url string) address.Address {
	s.T.Helper()
	a, err := address.Parse(url)
	s.Check(err)
	return a
}
