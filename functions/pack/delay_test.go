package pack

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestSettledWhereItBelongs settles a batch (applies its outcomes to the frontier) that was leased
// by a crawl partition which no longer exists. The partition that has its URLs now must get the
// outcomes.
func TestSettledWhereItBelongs(t *testing.T) {
	w := embedded(t)
	functionstest.Admit(t, w.Redis, w.inForce, site+"1", site+"2")
	l := w.stored(1)
	l.Crawl, l.Rest = 6, w.clock.Now().Add(time.Minute)
	w.spool(l)
	w.settle(1)
	if got := functionstest.Counts(t, w.Redis, 0); got.Stored != 1 {
		t.Errorf("%+v, want one page stored", got)
	}
	for _, when := range []time.Duration{time.Minute - time.Millisecond, time.Minute} {
		w.clock.Advance(l.Ended.Add(when).Sub(w.clock.Now()))
		for {
			lease, leased := w.lease()
			if !leased {
				break
			}
			if lease.Host == host && when < time.Minute {
				t.Errorf("%s is asked after %v", host, when)
			}
		}
	}
}

// TestDelayOfCollections checks the delay of a host after a batch. It must be the longest delay
// that any collection of the batch's URLs sets, or that robots.txt sets for the User-Agents of
// these collections.
func TestDelayOfCollections(t *testing.T) {
	w := embedded(t)
	for name, delay := range map[string]time.Duration{"slow": 2 * time.Second, "slower": 9 * time.Second} {
		w.inForce = functionstest.Republish(t, w.store, collection.Collection{
			Name: name, HostConnections: 1, Agent: name + "bot", Delay: collection.Duration(delay),
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
