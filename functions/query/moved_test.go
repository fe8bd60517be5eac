package query

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
)

// TestStrategyDropsPartition: what a storage strategy names no longer is found as
// before, and a page that was fetched again into another partition once, as it
// was fetched last, whichever partition that is.
func TestStrategyDropsPartition(t *testing.T) {
	for _, moved := range []layout.Partition{1, 5} { // before and behind the old ones
		s := newStore(t, 7)
		old := testPage{url: "http://site.example/old", title: "Rotor", body: "rotor blades of old", mime: "text/html", data: "old"}
		again := testPage{url: "http://site.example/again", title: "Rotor first", body: "rotor blades", mime: "text/html", data: "first"}
		s.token++
		s.publishIn(3, []testPage{old, again})
		next := rules.Even(rules.Storage, 1, noon)
		next.Version, next.Rules[0].Partition = 2, int(moved)
		s.check(rules.Publish(t.Context(), s.bucket, next))
		s.rules = next
		again.title, again.data = "Rotor second", "second"
		s.publish(again)
		e := s.engine(s.bucket)
		found, err := e.Search(t.Context(), Query{Query: search.Query{Text: "rotor", Size: 10}})
		s.check(err)
		titles := make(map[string]string)
		for _, h := range found.Hits {
			titles[h.URL] = h.Title
		}
		if len(found.Hits) != 2 || found.Total != 2 || titles[old.url] != "Rotor" || titles[again.url] != "Rotor second" {
			t.Errorf("moved to %s: %d hits of %d: %q", moved, len(found.Hits), found.Total, titles)
		}
		for url, want := range map[string]string{old.url: "old", again.url: "second"} {
			a, err := address.Parse(url)
			s.check(err)
			page, err := e.Page(t.Context(), a, time.Time{})
			if err != nil || string(page.Data) != want {
				t.Errorf("moved to %s: page %s is %q, %v, want %q", moved, url, page.Data, err, want)
			}
		}
	}
}
