package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/querytest"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// TestAbout checks the numbers and examples on the start page. They must be right, change with the index and
// with takedowns, and cost no further request to the bucket while nothing changes.
func TestAbout(t *testing.T) {
	s := newStore(t, 2)
	e := s.engine(meter.Bucket(s.Bucket))
	about := func(want engine.About) (requests int64) {
		t.Helper()
		costs := new(meter.Meter)
		got, err := e.About(meter.With(t.Context(), costs))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("about (-want +got):\n%s", diff)
		}
		return costs.Cost(meter.Prices{}, 0).Requests
	}
	about(engine.About{})
	s.Publish(
		querytest.Page{URL: "https://example.org/a", MIME: "text/html", Title: "4.2. White storks | Example", Body: "storks", Lang: "en"},
		querytest.Page{URL: "https://example.org/b", MIME: "text/html", Title: `"Quoted"`, Body: "quotes", Lang: "en"},
		querytest.Page{URL: "https://example.com/", MIME: "text/html", Title: "Störche", Body: "Störche", Lang: "de"},
		querytest.Page{URL: "https://example.com/waits", MIME: "text/html", Waits: true},
	)
	s.Clock.Advance(11e9)
	full := engine.About{Pages: 3, Sites: 2, Languages: 2, Largest: []string{"example.org", "example.com"}, Examples: []string{"Störche", "White storks"}}
	if about(full) == 0 {
		t.Error("counting anew costs nothing")
	}
	if n := about(full); n > 0 {
		t.Errorf("counting again costs %d requests", n)
	}
	_, err := takedown.Forget(t.Context(), s.Bucket, takedown.Site("example.org", querytest.Noon))
	s.Check(err)
	s.Clock.Advance(61e9)
	about(engine.About{Pages: 1, Sites: 1, Languages: 1, Largest: []string{"example.com"}, Examples: []string{"Störche"}})
}
