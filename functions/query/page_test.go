package query

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
)

// flipped returns the object's content with 40 bytes near its end changed.
func (s *store) flipped(key string) []byte {
	s.T.Helper()
	content, err := s.Bucket.Get(s.T.Context(), key, blob.Range{})
	s.Check(err)
	damaged := bytes.Clone(content)
	for i := len(damaged) - 50; i < len(damaged)-10; i++ {
		damaged[i] ^= 0xFF
	}
	return damaged
}

// TestDamagedBook damages or deletes a book (an object that lists stored pages). It checks that
// pages which the index or another book lists are still shown. For any other page the answer must
// be that no copy is stored. Whenever books are needed for an answer, this answer, the log and the
// vital signs must also say what is missing.
func TestDamagedBook(t *testing.T) {
	for name, harm := range map[string]func(s *store, key string) error{
		"bytes flipped": func(s *store, key string) error { return s.Bucket.Replace(t.Context(), key, s.flipped(key)) },
		"empty":         func(s *store, key string) error { return s.Bucket.Replace(t.Context(), key, nil) },
		"gone":          func(s *store, key string) error { return s.Bucket.Delete(t.Context(), key) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, 1)
			s.Publish(querytest.Page{URL: "https://example.org/indexed", MIME: "text/html", Data: "indexed", Title: "Indexed"})
			s.Publish(querytest.Page{URL: "https://example.org/lost", MIME: "text/plain", Data: "lost", Waits: true})
			s.Publish(querytest.Page{URL: "https://example.org/sound", MIME: "text/plain", Data: "sound", Waits: true})
			key := s.Commit(0, func(*manifest.Manifest) error { return manifest.ErrUnchanged }).Books[1].Key
			s.Check(harm(s, key))
			var log bytes.Buffer
			recorder := vitals.New(vitals.Options{Now: s.Clock.Now})
			e := s.logging(s.Bucket, &log)
			h := recorder.WatchHTTP("query", handlerOf(e))
			for path, want := range map[string]struct {
				code   int
				body   string
				lacked bool // whether an object that may list the page is missing
			}{
				"indexed": {200, "indexed", false},
				"sound":   {200, "sound", true},
				"lost":    {404, "once it is repaired", true},
				"unknown": {404, "once it is repaired", true},
			} {
				log.Reset()
				w := querytest.Ask(h, "GET", "/page?url=https://example.org/"+path)
				if w.Code != want.code || !strings.Contains(w.Body.String(), want.body) {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
				if told := w.Header().Get(vitals.Incomplete) != ""; told != want.lacked || strings.Contains(log.String(), key) != want.lacked {
					t.Errorf("%s: told %v, want %v; log: %s", path, told, want.lacked, &log)
				}
			}
			if _, err := e.PageInBooks(t.Context(), s.Address("https://example.org/sound"), time.Time{}); err != nil {
				t.Errorf("in the books: %v", err)
			}
			var metrics bytes.Buffer
			s.Check(recorder.WritePrometheus(&metrics))
			if !strings.Contains(metrics.String(), `failures_total{function="query"} 3`) {
				t.Errorf("vital signs:\n%s", &metrics)
			}
		})
	}
}

// TestBooksOfAStoreThatIsDown lets the store fail while books are read. It checks that this does
// not count as a damaged book, and that no answer says that a page is unknown.
func TestBooksOfAStoreThatIsDown(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Page{URL: "https://example.org/waits", MIME: "text/plain", Data: "x", Waits: true})
	bucket := faultblob.New(s.Bucket, func(c faultblob.Call) faultblob.Fault {
		if strings.HasPrefix(c.Key, layout.Books) {
			return faultblob.Before
		}
		return faultblob.None
	})
	w := querytest.Ask(s.handler(bucket, io.Discard), "GET", "/page?url=https://example.org/unknown")
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestPageAsOf requests the copy of a page as of a past moment. It checks that the copy is found,
// both by the index and by the books (the records of the crawl).
func TestPageAsOf(t *testing.T) {
	s := newStore(t, 2)
	h := s.serve()
	e := s.engine(s.Bucket)
	urls := []string{"https://example.org/indexed", "https://example.org/waits"}
	moments := []time.Time{s.Clock.Now()}
	for n := 1; n <= 3; n++ {
		s.Clock.Advance(time.Hour)
		data := fmt.Sprint("version ", n)
		s.Publish(querytest.Page{URL: urls[0], MIME: "text/plain", Data: data, Title: "Manual", Body: data})
		s.Publish(querytest.Page{URL: urls[1], MIME: "text/plain", Data: data, Waits: true})
		s.Clock.Advance(time.Hour)
		moments = append(moments, s.Clock.Now())
	}
	target := func(of string, at time.Time) string {
		return "/page?url=" + of + "&asof=" + url.QueryEscape(at.Format(time.RFC3339))
	}
	for _, of := range urls {
		for n, at := range moments {
			w := querytest.Ask(h, "GET", target(of, at))
			if n == 0 {
				if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "was stored on 21 November 2026 at 12:00:00 UTC.") {
					t.Errorf("%s before it was there: %d %s", of, w.Code, w.Body)
				}
				continue
			}
			if want := fmt.Sprint("version ", n); w.Code != http.StatusOK || w.Body.String() != want {
				t.Errorf("%s as of %s: %d %s, want %s", of, at, w.Code, w.Body, want)
			}
			if page, err := e.PageInBooks(t.Context(), s.Address(of), at); err != nil || string(page.Data) != fmt.Sprint("version ", n) {
				t.Errorf("%s as of %s in the books: %q, %v", of, at, page.Data, err)
			}
		}
		if w := querytest.Ask(h, "GET", "/page?url="+of); w.Body.String() != "version 3" {
			t.Errorf("%s now: %s", of, w.Body)
		}
	}
	if w := querytest.Ask(h, "GET", "/page?url="+urls[0]+"&asof=yesterday"); w.Code != http.StatusBadRequest {
		t.Errorf("of no time: %d %s", w.Code, w.Body)
	}

	// The results of a past day link to the copies of that day.
	results := parse(t, querytest.Ask(h, "GET", "/search?q=manual&asof="+url.QueryEscape(moments[1].Format(time.RFC3339))).Body.String())
	link, _ := results.Find(".more a").Attr("href")
	frame, _ := parse(t, querytest.Ask(h, "GET", link).Body.String()).Find("iframe").Attr("src")
	if w := querytest.Ask(h, "GET", frame); w.Code != http.StatusOK || w.Body.String() != "version 1" {
		t.Errorf("%s: %d %s", link, w.Code, w.Body)
	}
	results = parse(t, querytest.Ask(h, "GET", "/search?q=manual").Body.String())
	if link, _ := results.Find(".more a").Attr("href"); strings.Contains(link, "asof") {
		t.Errorf("a result of today leads to %s", link)
	}
}

// TestPageNotKept requests a past version of a page. If pages were erased from its package since,
// the package is found under its new key; if the package was deleted, the answer says that the copy
// is no longer kept.
func TestPageNotKept(t *testing.T) {
	s := newStore(t, 1)
	const url = "https://example.org/manual"
	s.Publish(querytest.Page{URL: url, MIME: "text/plain", Data: "words", Title: "Manual"})
	at := s.Clock.Now()
	s.Clock.Advance(time.Hour)
	target := "/page?url=" + url + "&asof=" + at.Format(time.RFC3339)
	h := s.serve()
	renamed := s.Commit(0, func(m *manifest.Manifest) error {
		listed := &m.Packages[0]
		content, err := s.Bucket.Get(t.Context(), listed.Key, blob.Range{})
		s.Check(err)
		s.Check(s.Bucket.Delete(t.Context(), listed.Key))
		listed.Formerly = []string{listed.Key}
		listed.Key = strings.TrimSuffix(listed.Key, ".spf") + "_1.spf"
		return s.Bucket.Create(t.Context(), listed.Key, content)
	})
	if w := querytest.Ask(h, "GET", target); w.Code != http.StatusOK || w.Body.String() != "words" {
		t.Errorf("renamed: %d %s", w.Code, w.Body)
	}
	s.Check(s.Bucket.Delete(t.Context(), renamed.Packages[0].Key))
	if w := querytest.Ask(h, "GET", target); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "Nothing is kept of that moment any more") {
		t.Errorf("deleted: %d %s", w.Code, w.Body)
	}
}

// TestPageIsNoMore requests the stored copy of a page that is gone, and checks that the copy is
// shown, with the time since which the page is gone. For a page that redirects, the answer must
// name the destination.
func TestPageIsNoMore(t *testing.T) {
	s := newStore(t, 1)
	const gone, moved, target = "https://example.org/gone", "https://example.org/moved", "https://example.org/there"
	s.Publish(querytest.Page{URL: gone, MIME: "text/plain", Data: "words", Waits: true})
	since := querytest.Noon.Add(time.Hour)
	outcome := func(url string, state book.State, reason, detail string) book.Outcome {
		a := s.Address(url)
		return book.Outcome{Version: layout.Version{Epoch: 1, Token: 9}, URL: a.URL, Place: a.Place, State: state, Reason: reason, Detail: detail, Time: since}
	}
	key := s.Put(book.Book{Outcomes: []book.Outcome{
		outcome(gone, book.Failed, "http 404", "Not Found"), outcome(moved, book.Skipped, "redirect", "to "+target),
		outcome(moved+"/too", book.Skipped, "too big", "to big"),
	}}, 0)
	s.Commit(0, func(m *manifest.Manifest) error { m.Books = append(m.Books, manifest.Book{Key: key}); return nil })
	h, e := s.serve(), s.engine(s.Bucket)

	if w := querytest.Ask(h, "GET", "/page?url="+gone); w.Code != http.StatusOK || w.Body.String() != "words" || w.Header().Get("X-Gone-Since") != since.Format(http.TimeFormat) {
		t.Errorf("gone: %d %s %v", w.Code, w.Body, w.Header())
	}
	page, err := e.PageInBooks(t.Context(), s.Address(gone), time.Time{})
	if err != nil || page.Gone == nil || page.Gone.Reason != "http 404" || !page.Gone.Time.Equal(since) {
		t.Errorf("gone: %+v, %v", page.Gone, err)
	}
	for url, want := range map[string]string{moved: "It leads to " + target + ".", moved + "/too": "is stored.", target: "is stored."} {
		w := querytest.AskJSON(h, "/page?url="+url)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "leads") != (url == moved) {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
	if _, err := e.PageInBooks(t.Context(), s.Address(moved), time.Time{}); !errors.Is(err, engine.ErrNoPage) || !strings.HasSuffix(err.Error(), ", which leads to "+target) {
		t.Errorf("moved: %v", err)
	}
}
