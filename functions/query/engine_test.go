package query

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func totalOf(t *testing.T, e *engine.Engine, text string) int {
	t.Helper()
	found, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: text, Size: 10}})
	if err != nil {
		t.Fatal(err)
	}
	return found.Total
}

// TestNewGenerationShowsInTime checks how long the engine answers from manifests that it has read:
// two seconds while nothing is indexed, and then for Options.Age.
func TestNewGenerationShowsInTime(t *testing.T) {
	s := newStore(t, 2)
	e := s.engine(s.Bucket)
	if got := totalOf(t, e, "manual"); got != 0 {
		t.Fatalf("an empty bucket holds %d manuals", got)
	}
	pages := 0
	for _, age := range []time.Duration{2 * time.Second, e.Age, e.Age} {
		s.Publish(querytest.Manual(pages + 3)...) // some of these pages once more
		s.Clock.Advance(age - time.Nanosecond)
		if got := totalOf(t, e, "manual"); got != pages {
			t.Errorf("the manifests were read again in less than %v: %d manuals are found, want %d", age, got, pages)
		}
		s.Clock.Advance(time.Nanosecond)
		if pages += 3; totalOf(t, e, "manual") != pages {
			t.Errorf("not all of %d manuals are found after %v", pages, age)
		}
	}
}

// TestWeights checks that an engine scores by Options.Weights if they are set.
func TestWeights(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(3)...)
	score := func(e *engine.Engine) float64 {
		found, err := e.Search(t.Context(), engine.Query{Query: search.Query{Text: "manual", Size: 1}})
		s.Check(err)
		return found.Hits[0].Score
	}
	standard, other := s.engine(s.Bucket), s.engine(s.Bucket)
	weights := search.Standard()
	weights.Saturation *= 2
	other.Weights = &weights
	if a, b := score(standard), score(other); a == b {
		t.Errorf("with other weights the score is %v, too", a)
	}
}

func TestRequests(t *testing.T) {
	s := newStore(t, 1)
	s.Publish(querytest.Manual(3)...)
	s.Publish(querytest.Page{URL: "https://example.org/stored-only", MIME: "text/plain", Data: "words"})
	counting := countblob.New(s.Bucket)
	e := s.engine(counting)
	totalOf(t, e, "manual")
	gets := func(do func()) int64 {
		before := counting.Counts()
		do()
		after := counting.Counts()
		if after.List != before.List {
			t.Errorf("%d LIST requests", after.List-before.List)
		}
		return after.Get - before.Get
	}
	page := func(url string) func() {
		return func() {
			a, err := address.Parse(url)
			s.Check(err)
			_, err = e.Page(t.Context(), a, time.Time{})
			s.Check(err)
		}
	}
	if n := gets(func() { totalOf(t, e, "chapter") }); n != 0 {
		t.Errorf("a warm search takes %d GETs", n)
	}
	// the cache has the whole segment, and so the place of the page
	if n := gets(page("https://example0.org/manual")); n != 1 {
		t.Errorf("a page takes %d GETs, want 1", n)
	}
	s.Clock.Advance(e.Age)
	if n := gets(func() { totalOf(t, e, "chapter") }); n != 1 {
		t.Errorf("an unchanged manifest takes %d GETs, want 1", n)
	}
	s.Publish(querytest.Manual(1)...)
	s.Clock.Advance(e.Age)
	// two generations and the hint; the segment: dead documents are in the manifest
	if n := gets(func() { totalOf(t, e, "chapter") }); n != 4 {
		t.Errorf("a manifest with one new segment takes %d GETs, want 4", n)
	}
	page("https://example.org/stored-only")()
}

// TestNoLeafAnswers searches with leaves that all fail.
func TestNoLeafAnswers(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(4)...)
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	leaves, err := leaf.Parse(down.URL, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	e := s.engine(s.Bucket)
	e.Leaves = leaves.All
	w := querytest.AskJSON(handlerOf(e), "/search?q=manual")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "None of the servers that search the index answers") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
	}
}

// TestStoreDoesNotAnswer lets each request to the store fail in turn, and checks that the client gets
// an error, and the next client an answer.
func TestStoreDoesNotAnswer(t *testing.T) {
	s := newStore(t, 2)
	s.Publish(querytest.Manual(4)...)
	s.Publish(querytest.Page{URL: "https://example.org/stored-only", MIME: "text/plain", Data: "words"})
	for _, target := range []string{"/search?q=manual", "/page?url=https://example1.org/manual", "/page?url=https://example.org/stored-only"} {
		t.Run(target, func(t *testing.T) {
			faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
				h := s.handler(faultblob.New(s.Bucket, decide), io.Discard)
				w := querytest.AskJSON(h, target)
				if w.Code == http.StatusServiceUnavailable {
					if !strings.Contains(w.Body.String(), "store does not answer") || w.Header().Get("Retry-After") == "" {
						t.Errorf("%s %v", w.Body, w.Header())
					}
					w = querytest.AskJSON(h, target)
				}
				if w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		})
	}
}

// TestClientHangsUp ends the request of a client during its search, and checks that the search ends at
// once, and that the next client uses what was read for the first.
func TestClientHangsUp(t *testing.T) {
	for _, held := range []string{layout.Manifests, layout.Packages} {
		s := newStore(t, 1)
		s.Publish(querytest.Manual(1)...)
		reached, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		bucket := faultblob.New(s.Bucket, func(c faultblob.Call) faultblob.Fault {
			if strings.HasPrefix(c.Key, held) {
				fault := faultblob.None
				once.Do(func() {
					close(reached)
					if held == layout.Packages {
						fault = faultblob.Hang // until the client hangs up
						return
					}
					<-release
				})
				return fault
			}
			return faultblob.None
		})
		var log bytes.Buffer
		h := s.handler(bucket, &log)
		ctx, hangUp := context.WithCancel(t.Context())
		served := make(chan struct{})
		const target = "/page?url=https://example0.org/manual"
		go func() {
			defer close(served)
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil).WithContext(ctx))
		}()
		<-reached
		hangUp()
		<-served
		close(release)
		if w := querytest.Ask(h, "GET", target); w.Code != http.StatusOK {
			t.Errorf("%s: the next client gets %d %s", held, w.Code, w.Body)
		}
		if log.Len() > 0 {
			t.Errorf("%s: logged %s", held, &log)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	s := newStore(t, 3)
	s.Publish(querytest.Manual(20)...)
	h := s.serve()
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := range 20 {
				targets := []string{"/search?q=manual", fmt.Sprintf("/page?url=https://example%d.org/manual", n), "/search?q=chapter+%22the+manual%22", "/"}
				if w := querytest.Ask(h, "GET", targets[(n+i)%len(targets)]); w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
				s.Clock.Advance(time.Second)
			}
		})
	}
	for range 3 {
		s.Publish(querytest.Manual(20)...)
	}
	clients.Wait()
}
