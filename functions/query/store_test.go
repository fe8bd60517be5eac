package query

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock is a clock whose time changes only by calls of advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// testPage is a page to be published. A page without title and body is stored as one that has no
// text, and no word finds it.
type testPage struct {
	url, mime, data   string
	title, body, lang string
	outside           string // text outside of the main part; body is the main part
	waits             bool   // whether the page waits to be indexed
	asset             bool   // whether the page is an asset of other pages, and so is not indexed
	images            []segment.Image
}

// store is a bucket that tests fill with pages, packages, books and segments, as the other
// functions of the search engine do.
type store struct {
	t      testing.TB
	bucket *memblob.Bucket
	clock  *clock
	rules  rules.Document
	token  uint64
}

func newStore(t testing.TB, partitions int) *store {
	s := &store{t: t, bucket: memblob.New(), clock: &clock{now: noon}}
	s.rules = rules.Even(rules.Storage, partitions, noon)
	s.check(rules.Publish(t.Context(), s.bucket, rules.Even(rules.Crawl, 1, noon)))
	s.check(rules.Publish(t.Context(), s.bucket, s.rules))
	return s
}

func (s *store) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// publish packs and indexes a new version of each page. All that belongs to one partition is
// committed together, in one generation of its manifest.
func (s *store) publish(pages ...testPage) {
	s.t.Helper()
	s.token++
	parts := map[int][]testPage{}
	for _, p := range pages {
		a, err := address.Parse(p.url)
		s.check(err)
		partition, err := s.rules.Decide(a)
		s.check(err)
		parts[partition] = append(parts[partition], p)
	}
	for partition, pages := range parts {
		s.publishIn(layout.Partition(partition), pages)
	}
}

func (s *store) publishIn(id layout.Partition, pages []testPage) {
	s.t.Helper()
	version := layout.Version{Epoch: 1, Token: s.token}
	created := noon.Add(time.Duration(s.token) * time.Second)
	pkg := webobject.Package{Base: 2, Created: created, Expires: created.AddDate(0, 0, 1)}
	compressor := webobject.NewCompressor(webobject.DefaultLevel)
	for _, p := range pages {
		run, err := compressor.Compress(webobject.Object{
			URL: p.url, MIME: p.mime, Data: []byte(p.data), Downloaded: created, Status: 200, Version: version,
		})
		s.check(err)
		pkg.Runs = append(pkg.Runs, run)
	}
	spf, places, err := pkg.Build()
	s.check(err)
	own, err := partition.Open(s.t.Context(), s.bucket, id, s.clock.Now)
	s.check(err)
	pkgTicket, err := own.PutPackage(s.t.Context(), layout.PackageName{Base: 2, Created: created}, spf, len(pages))
	s.check(err)
	key := pkgTicket.Key

	var learnt book.Book
	var documents []*segments.Page
	for i, p := range pages {
		a, err := address.Parse(p.url)
		s.check(err)
		learnt.Outcomes = append(learnt.Outcomes, book.Outcome{
			Version: version, URL: a.URL, Place: a.Place, State: book.Stored, Status: 200, Time: created,
			Package: key, Offset: places[i].Offset, Length: places[i].Length, Asset: p.asset,
		})
		if p.waits || p.asset {
			continue
		}
		documents = append(documents, &segments.Page{Document: segment.Document{
			ID: a.ID, Version: version, URL: a.URL, Site: a.Site, Title: p.title, Body: p.body, Lang: p.lang, MIME: p.mime,
			Fetched: created, Package: key, Offset: places[i].Offset, Length: places[i].Length, Images: p.images,
		}, Outside: p.outside, Silent: p.title+p.body == ""})
	}
	content, err := book.Encode(learnt)
	s.check(err)
	bookTicket, err := own.PutBook(s.t.Context(), content, len(learnt.Outcomes), 0)
	s.check(err)
	var built partition.Segment
	if len(documents) > 0 {
		content, err = segments.Build(documents)
		s.check(err)
		built, err = own.PutSegment(s.t.Context(), content)
		s.check(err)
	}
	s.check(own.Commit(s.t.Context(), func(e *partition.Edit) error {
		s.supersede(e, documents)
		added := e.Manifest().Next
		s.check(errors.Join(e.AddPackage(pkgTicket), e.AddBook(bookTicket)))
		if len(documents) > 0 {
			s.check(e.AddSegment(built, manifest.Part{Package: added, Documents: len(documents)}))
		}
		e.SetIndexed(added, true)
		return nil
	}))
}

// supersede marks the earlier versions of the documents, in older segments, as dead.
func (s *store) supersede(e *partition.Edit, documents []*segments.Page) {
	s.t.Helper()
	fresh := map[layout.Identity]bool{}
	for _, d := range documents {
		fresh[d.ID] = true
	}
	dead := map[string]*roaring.Bitmap{}
	for _, listed := range e.Manifest().Segments {
		newSegment, err := partition.OpenSegment(s.t.Context(), segment.Ranges{Bucket: s.bucket}, &listed)
		s.check(err)
		ids, err := newSegment.Identities(s.t.Context())
		s.check(err)
		dead[listed.Key], err = partition.Dead(s.t.Context(), s.bucket, &listed)
		s.check(err)
		for doc, id := range ids {
			if fresh[id] {
				dead[listed.Key].AddInt(doc)
			}
		}
	}
	s.check(e.Mask(s.t.Context(), dead))
}

func (s *store) put(learnt book.Book, id layout.Partition) (key string) {
	s.t.Helper()
	content, err := book.Encode(learnt)
	s.check(err)
	key = layout.BookKey(id, layout.ContentHash(content))
	s.check(s.bucket.Create(s.t.Context(), key, content))
	return key
}

func (s *store) commit(id layout.Partition, edit func(*manifest.Manifest) error) manifest.Manifest {
	s.t.Helper()
	m, err := manifest.Commit(s.t.Context(), s.bucket, id, s.clock.Now, edit)
	s.check(err)
	return m
}

// engine returns an engine that reads the store through bucket.
func (s *store) engine(bucket blob.Reader) *Engine { return s.logging(bucket, s.t.Output()) }

func (s *store) logging(bucket blob.Reader, log io.Writer) *Engine {
	e, err := NewEngine(bucket, Options{
		Settings: &settings.Cache{Bucket: bucket, Now: s.clock.Now, Age: time.Minute},
		Now:      s.clock.Now,
		Age:      10 * time.Second,
		Log:      slog.New(slog.NewTextHandler(log, nil)),
	})
	s.check(err)
	return e
}

// handler returns an HTTP handler that reads the store through bucket, and writes its log to log.
func (s *store) handler(bucket blob.Reader, log io.Writer) http.Handler {
	return Handler(s.logging(bucket, log))
}

// serve returns a handler that reads the store directly, without injected faults, and logs to the
// test's output.
func (s *store) serve() http.Handler { return s.handler(s.bucket, s.t.Output()) }

// ask sends a request. The parameter header has header lines such as "Accept: text/html".
func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func askJSON(h http.Handler, target string) *httptest.ResponseRecorder {
	return ask(h, "GET", target, "Accept: application/json")
}
