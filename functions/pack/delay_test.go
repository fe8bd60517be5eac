package pack

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestDelayOfCollections: a batch is followed by the longest delay that the
// collections of its URLs ask for, and the one of robots.txt for their agents.
func TestDelayOfCollections(t *testing.T) {
	w := embedded(t)
	for name, delay := range map[string]time.Duration{"slow": 2 * time.Second, "slower": 9 * time.Second} {
		w.inForce = functionstest.Republish(t, w.store, collection.Collection{
			Name: name, Connections: 1, Agent: name + "bot", DelayMillis: delay.Milliseconds(),
			Seeds: []collection.Seed{{URL: site, Scope: collection.Host}},
		}, nil)
	}
	body := []byte("User-agent: slowbot\nCrawl-delay: 5\n")
	if err := frontier.NewRobotsCache(w.Redis).Put(t.Context(), "http://"+host, 200, body, w.clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url         string
		collections []string
		want        time.Duration
	}{
		{site + "1", []string{functionstest.Collection}, 0},
		{site + "1", []string{functionstest.Collection, "slower"}, 9 * time.Second},
		{"http://b.example/", []string{"slow"}, 2 * time.Second},
		{site + "1", []string{"slow"}, 5 * time.Second},
		{site + "1", []string{"deleted"}, 0},
		{site + "1", nil, 0},
	} {
		o := functionstest.Outcome(t, version(1), test.url, book.NotAsked)
		o.Collections = test.collections
		pages, err := membership.ParsePages([]book.Outcome{o})
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.delay(t.Context(), w.inForce, pages, 0)
		if err != nil || got != test.want {
			t.Errorf("%s of %q: %s, %v, want %s", test.url, test.collections, got, err, test.want)
		}
	}
}
