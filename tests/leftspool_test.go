package tests

import (
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/fetch"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// A program may die when every page is fetched and none is packed: then the pages are left in
// spool objects, and no URL waits. The next crawl must pack and index these pages before it
// ends.
func TestSpoolLeftBehind(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, func(int, []string) http.Handler {
		return host{"/": {status: http.StatusOK, contentType: "text/html", body: "<title>Alone</title><p>Alone on an island."}}
	})
	p := newPlace(t)
	p.fetchOnly(s.origins[0] + "/")
	p.crawl("--chaos", "1", s.origins[0]+"/") // late events must not make the crawl end too early
	p.verify()
	if status := p.status(); status.Stored != 1 || status.Documents != 1 {
		t.Errorf("%d pages are stored, %d documents indexed; want 1 and 1", status.Stored, status.Documents)
	}
	pages := 0
	for _, v := range s.forget() {
		if v.url == s.origins[0]+"/" {
			pages++
		}
	}
	if pages != 1 {
		t.Errorf("the page was fetched %d times", pages)
	}
}

// fetchOnly starts a crawl of one page and fetches the page, but does not pack it, like a
// system that dies after fetching.
func (p place) fetchOnly(url string) {
	p.t.Helper()
	ctx := p.t.Context()
	s, err := system.Open(ctx, system.Options{
		Data: p.data, Self: []string{program, "serve-store"}, Agent: "test", AllowPrivate: true, Getenv: os.Getenv,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			p.t.Error(err)
		}
	}()
	seed, err := collection.ParseSeed(url)
	if err != nil {
		p.t.Fatal(err)
	}
	plan := system.Plan{HostConnections: 1, Seeds: []collection.Seed{{URL: seed.URL, Scope: collection.Host, Depth: collection.Unlimited}}}
	if err := s.Plan(ctx, plan); err != nil {
		p.t.Fatal(err)
	}
	f := &fetch.Function{
		Bucket: s.Bucket, Settings: s.Settings, Transport: fetch.Transport(true), Now: time.Now, Sleep: blob.Sleep,
		Agent: "test", Worker: "test", Limits: fetch.DefaultLimits(), Log: slog.New(slog.DiscardHandler),
	}
	err = f.Run(ctx, batch.Batch{
		Version: layout.Version{Epoch: 1, Token: 1000}, Host: seed.Host, Deadline: time.Now().Add(time.Minute),
		Robots: []string{seed.Origin}, Targets: []batch.Target{{URL: seed.URL, Collections: []string{"default"}}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
