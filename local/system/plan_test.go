package system

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// file returns a collection with this name and these seeds, as if it was read from a file.
func file(name string, addresses ...collection.Seed) collection.Collection {
	return collection.Collection{Name: name, Seeds: addresses, HostConnections: 1, Connections: 30, Allow: []string{"127.0.0.1"}}
}

// TestTrackingSite crawls a site that adds parameters for tracking and session ids to its links, so
// that many links differ only in these. Two pages redirect to an address with such a parameter.
// Each page must be requested and stored only once.
func TestTrackingSite(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := make(map[string]int)
	links := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Page</title><p>A page of words.`)
		for i := range 5 {
			fmt.Fprintf(w, `<a href="/a?utm_source=%d">a</a> <a href="/b;jsessionid=8F3A2B1C9D4E5F6%d">b</a> <a href="/session">s</a> <a href="/moved?gclid=%d">m</a>`, i, i, i)
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.String()]++
		mu.Unlock()
		switch {
		case r.URL.Path == "/session" && r.URL.RawQuery == "":
			http.Redirect(w, r, "/session?PHPSESSID=1c9d4e5f608f3a2b", http.StatusFound)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/a?utm_source=moved", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/robots"):
			http.NotFound(w, r)
		default:
			links(w)
		}
	}))
	defer web.Close()
	s := open(t, options(t))
	plan := Plan{Collections: []collection.Collection{file("tracking", collection.Seed{URL: web.URL + "/?utm_source=seed", Scope: collection.Host, Depth: 9})}}
	summary := crawl(t, s, plan)
	if summary.New != 4 || len(summary.Seeds) != 1 || !summary.Seeds[0].Stored() {
		t.Errorf("%d pages stored, seeds %+v", summary.New, summary.Seeds)
	}
	want := []string{"/", "/a", "/b", "/moved", "/robots.txt", "/session", "/session?PHPSESSID=1c9d4e5f608f3a2b"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(asked))); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	for url, n := range asked {
		if n > 1 {
			t.Errorf("%s was asked for %d times", url, n)
		}
	}
	mustVerify(t, s.Bucket)
}

// TestRenew: a plan with Renew requests stored pages again. A plan with collections does so for the
// pages of these collections, and a plan with seeds for the pages of DefaultCollection. A plan
// without both does so for the pages of all collections.
func TestRenew(t *testing.T) {
	t.Parallel()
	o := options(t)
	again := func(p Plan) Summary {
		t.Helper()
		s := open(t, o)
		defer closeSystem(t, s)
		summary := crawl(t, s, p)
		mustVerify(t, s.Bucket)
		return summary
	}
	s := open(t, o)
	if err := s.Plan(t.Context(), Plan{Renew: true}); !errors.Is(err, ErrEmpty) {
		t.Errorf("nothing to ask again for: %v, want %v", err, ErrEmpty)
	}
	closeSystem(t, s)
	one, two := newSite(t, 5), newSite(t, 7)
	other := file("other", collection.Seed{URL: two.URL + "/", Scope: collection.Host, Depth: collection.Unlimited})
	again(Plan{Seeds: seeds(one.URL + "/"), Collections: []collection.Collection{other}})
	for _, c := range []struct {
		plan          Plan
		unchanged     int
		first, second int // numbers of requests so far for a page of each site
	}{
		{Plan{Seeds: seeds(one.URL + "/")}, 0, 1, 1},
		{Plan{Renew: true}, 12, 2, 2},
		{Plan{Renew: true, Seeds: seeds(one.URL + "/")}, 5, 3, 2},
		{Plan{Renew: true, Collections: []collection.Collection{other}}, 7, 3, 3},
		{Plan{Collections: []collection.Collection{other}}, 0, 3, 3},
	} {
		if got := again(c.plan); got.New != 0 || got.Unchanged != c.unchanged || got.Stored != 12 {
			t.Errorf("%+v: %d new, %d unchanged, %d stored; want 0, %d, 12", c.plan, got.New, got.Unchanged, got.Stored, c.unchanged)
		}
		if first, second := one.asked["/3.html"], two.asked["/3.html"]; first != c.first || second != c.second {
			t.Errorf("%+v: asked %d and %d times, want %d and %d", c.plan, first, second, c.first, c.second)
		}
	}
}

// TestCollections crawls the collections of two files at once, and then seeds of the command
// line. The limit of an earlier crawl must not stop a later one.
func TestCollections(t *testing.T) {
	t.Parallel()
	one, two := newSite(t, 5), newSite(t, 7)
	o := options(t)
	o.AllowPrivate = false
	s := open(t, o)
	seed := func(w *site, depth int) collection.Seed {
		return collection.Seed{URL: w.URL + "/", Scope: collection.Host, Depth: depth}
	}
	other := file("two", seed(two, 1))
	other.Agent = "other/1.0"
	crawl(t, s, Plan{Collections: []collection.Collection{file("one", seed(one, collection.Unlimited)), other}})
	inForce, err := s.Settings.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if one, two := inForce.Collection("one"), inForce.Collection("two"); one.Agent != o.Agent || two.Agent != "other/1.0" || one.Again.IsZero() {
		t.Errorf("published %+v and %+v", one, two)
	}
	stored := func(name string, want int) {
		t.Helper()
		status, err := ReadStatus(t.Context(), s.Bucket, countblob.Counts{}, name)
		if err != nil {
			t.Fatal(err)
		}
		if status.Stored != want {
			t.Errorf("collection %q: %+v, want %d pages", name, status, want)
		}
	}
	stored("one", 5)
	stored("two", 3)
	stored("", 8)
	if _, err := ReadStatus(t.Context(), s.Bucket, countblob.Counts{}, "three"); err == nil || !strings.Contains(err.Error(), "there are: one, two") {
		t.Errorf("a collection that is none: %v", err)
	}
	closeSystem(t, s)

	s = open(t, o)
	three := newSite(t, 4)
	crawl(t, s, Plan{Seeds: seeds(three.URL + "/"), HostConnections: 1, MaxPages: 2})
	stored(DefaultCollection, 2)
	closeSystem(t, s)

	s = open(t, o)
	other.Seeds = []collection.Seed{seed(two, 2)}
	summary := crawl(t, s, Plan{Collections: []collection.Collection{other}})
	if summary.Seeds[0].Final.State != account.Stored {
		t.Errorf("seeds %+v", summary.Seeds)
	}
	stored("two", 7)
	mustVerify(t, s.Bucket)
}
