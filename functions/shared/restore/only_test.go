package restore

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// TestOnly lets an operator restrict the crawl to some collections for a while. It checks that
// the URLs of the other collections leave the frontier, and come back afterwards. URLs that only
// a removed collection wanted must not come back.
func TestOnly(t *testing.T) {
	w := newWorld(t, redistest.Server(t))
	const three = "http://three.example/"
	other := collection.Collection{Name: "other", HostConnections: 1, Agent: "testbot/1.0",
		Seeds: []collection.Seed{{URL: three, Scope: collection.Site, Depth: collection.Unlimited}}}
	functionstest.Republish(t, w.bucket, other, nil)
	choose := func(only *control.Only) {
		t.Helper()
		if _, err := control.Change(t.Context(), w.bucket, func(d *control.Document) bool { d.Only = only; return true }); err != nil {
			t.Fatal(err)
		}
	}
	pending := func() (all []string) {
		t.Helper()
		w.run()
		var err error
		if w.inForce, err = settings.Read(t.Context(), w.bucket, w.clock.Now()); err != nil {
			t.Fatal(err)
		}
		for _, crawl := range w.inForce.Crawl.Partitions() {
			all = append(all, w.frontier(crawl).Pending...)
		}
		return all
	}
	contains := func(step string, url string, want bool, of []string) {
		t.Helper()
		found := false
		for _, id := range of {
			found = found || id == ids(url)[0]
		}
		if found != want {
			t.Errorf("%s: %s waits in a frontier: %v, want %v", step, url, found, want)
		}
	}
	before := pending()
	contains("at first", three, true, before)
	contains("at first", one+"new", true, before)
	choose(&control.Only{{Collection: "other"}})
	if diff := cmp.Diff(ids(three), pending()); diff != "" {
		t.Errorf("only another collection (-want +got):\n%s", diff)
	}
	choose(&control.Only{{Collection: functionstest.Collection, Seeds: []string{two}}})
	if diff := cmp.Diff(ids(two), pending()); diff != "" {
		t.Errorf("only a seed (-want +got):\n%s", diff)
	}
	choose(nil)
	if diff := cmp.Diff(len(before), len(pending())); diff != "" {
		t.Errorf("all again (-want +got):\n%s", diff)
	}
	if _, err := collection.Remove(t.Context(), w.bucket, "other"); err != nil {
		t.Fatal(err)
	}
	after := pending()
	contains("removed", three, false, after)
	contains("removed", one+"new", true, after)
}
