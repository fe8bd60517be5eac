package fetch

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

func TestTogether(t *testing.T) {
	many := make([]string, book.MaxCollections+9)
	for i := range many {
		many[i] = fmt.Sprintf("%03d", i)
	}
	for _, c := range []struct{ names, others, want []string }{
		{nil, nil, nil},
		{[]string{"c"}, nil, []string{"c"}},
		{[]string{"c"}, []string{"a"}, []string{"c", "a"}},
		{[]string{"c", "d", "c"}, []string{"b", "d", "c", "a"}, []string{"c", "a", "b", "d"}},
		{nil, []string{"b", "a"}, []string{"b", "a"}},
		{[]string{"z"}, many, append([]string{"z"}, many[:book.MaxCollections-1]...)},
	} {
		names := slices.Clone(c.names)
		if diff := cmp.Diff(c.want, together(names, c.others...)); diff != "" || !slices.Equal(names, c.names) {
			t.Errorf("%q and %q: %s", c.names, c.others, diff)
		}
	}
}

// overlap publishes four collections, so that a page of the server may belong to several. "docs"
// has its own User-Agent, "less" has only the pages in one directory, and "databases" and "cooking"
// have only the pages on a topic.
func (w *world) overlap(t *testing.T) {
	t.Helper()
	publish := func(name, path string, c collection.Collection) {
		c.Name, c.Seeds = name, []collection.Seed{{URL: w.server.URL + path, Scope: collection.Prefix, Depth: collection.Unlimited}}
		w.publish(t, c)
	}
	publish("docs", "/", collection.Collection{Agent: "docsbot"})
	publish("less", "/less/", collection.Collection{})
	publish("databases", "/", collection.Collection{Topic: &collection.Topic{Words: []string{"database", "index"}, Threshold: 0.5}})
	publish("cooking", "/", collection.Collection{Topic: &collection.Topic{Words: []string{"soup"}, Threshold: 0.5}})
}

// TestUnchangedForOneOfSeveral requests an unchanged page that several collections have. The
// collection for which it is requested must be the first in the outcome.
func TestUnchangedForOneOfSeveral(t *testing.T) {
	w := newWorld(t, sent(304, ""))
	b := w.batch("/")
	b.Targets[0].Collections = []string{"c"}
	b.Targets[0].Last = &batch.Look{ETag: `"e"`, Digest: 1, Collections: []string{"b", "c", "d"}}
	o := w.run(t, b).Ledger.Outcomes[0]
	if diff := cmp.Diff([]string{"c", "b", "d"}, o.Collections); diff != "" || o.State != book.Unchanged {
		t.Errorf("%v of (-want +got):\n%s", o.State, diff)
	}
}

// TestClaims checks that a page is stored for all collections whose rules admit it. A collection
// with a topic must get only pages on that topic.
func TestClaims(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", aboutDatabases))
	w.overlap(t)
	for i, c := range []struct {
		path               string
		target, last, want []string
	}{
		{"/", []string{"c"}, nil, []string{"c", "databases", "docs"}},
		{"/less/", []string{"c"}, nil, []string{"c", "databases", "docs", "less"}},
		{"/", []string{"docs"}, nil, []string{"docs", "databases"}},
		{"/", []string{"cooking"}, nil, []string{"cooking", "databases", "docs"}},
		{"/", []string{"docs", "c"}, []string{"less", "closed"}, []string{"docs", "c", "databases", "less"}},
	} {
		b := w.batch(c.path)
		b.Version.Token = uint64(i)
		b.Targets[0].Collections = c.target
		if c.last != nil {
			b.Targets[0].Last = &batch.Look{Digest: 1, Collections: c.last}
		}
		got := w.run(t, b)
		object, err := got.Pages[0].Run.Object()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got.Ledger.Outcomes[0].Collections) + cmp.Diff(c.want, object.Collections); diff != "" {
			t.Errorf("%s for %q, before for %q: %s", c.path, c.target, c.last, diff)
		}
		for _, l := range got.Ledger.Links {
			if l.Collection != c.target[0] {
				t.Errorf("for %q: a link on behalf of %s", c.target, l.Collection)
			}
		}
	}
}

// TestLacking requests a page or sitemap again. The request must be conditional only if all
// collections to which the page or sitemap belongs have it already. If one of them still lacks it,
// the request must be unconditional, so that a page is stored again, and a sitemap is read again.
func TestLacking(t *testing.T) {
	var conditional bool
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conditional = r.Header.Get("If-None-Match") != ""; conditional {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"e"`)
		_, _ = w.Write([]byte(map[string]string{"/page": "<html>" + oldPage, "/map": "<urlset><url><loc>/1</loc></url></urlset>"}[r.URL.Path]))
	}))
	w.overlap(t)
	for i, c := range []struct {
		path  string
		first []string // collections that have the page after the first look
		again string   // collection on behalf of which the page is requested again
		want  []string // collections that have the page after that
		anew  bool
	}{
		{"/page", []string{"c", "docs"}, "c", []string{"c", "docs"}, false},
		{"/page", []string{"c", "docs"}, "docs", []string{"docs", "c"}, false},
		{"/page", []string{"c", "docs"}, "less", []string{"less", "c", "docs"}, true},
		{"/page", []string{"c"}, "c", []string{"c", "docs"}, true},
		{"/page", []string{"c", "closed", "docs"}, "c", []string{"c", "closed", "docs"}, false},
		{"/page", []string{"c", "closed"}, "c", []string{"c", "docs"}, true},
		{"/map", []string{"c", "cooking", "databases", "docs", "less"}, "docs", []string{"c", "cooking", "databases", "docs", "less"}, false},
		{"/map", []string{"cooking", "databases", "docs", "less"}, "c", []string{"c", "cooking", "databases", "docs", "less"}, true},
		{"/map", []string{"closed", "databases"}, "databases", []string{"databases", "cooking", "docs", "less"}, true},
	} {
		b := w.batch(c.path)
		b.Version.Epoch = uint64(i)
		b.Targets[0].Sitemap = c.path == "/map"
		looks := w.run(t, b)
		last := &looks.Ledger.Outcomes[0]
		last.Collections = c.first
		b.Targets[0].Collections = []string{c.again}
		got := w.again(t, b, looks)
		o := got.Ledger.Outcomes[0]
		if diff := cmp.Diff(c.want, o.Collections); diff != "" || conditional == c.anew {
			t.Errorf("case %d: asked conditionally: %v: %s", i, conditional, diff)
		}
		if anew := len(got.Pages)+len(got.Ledger.Links) > 0; anew != c.anew || o.Body != last.Body || o.Digest != last.Digest || o.ETag != last.ETag {
			t.Errorf("case %d: brought anew: %v, %+v, before %+v", i, anew, o, last)
		}
		if want := map[bool]int16{false: 4, true: 3}[c.anew]; o.Exponent != want {
			t.Errorf("case %d: exponent %d, want %d", i, o.Exponent, want)
		}
	}
}

// TestKeptForOthers requests a stored page for the collection docs. robots.txt forbids the page to
// the User-Agent of docs. If the page is stored for other collections only, they must keep it. If
// it is stored for docs, too, its URL must be skipped.
func TestKeptForOthers(t *testing.T) {
	w := newWorld(t, site(respond(200, "", "User-agent: docsbot\nDisallow: /")))
	w.overlap(t)
	for i, c := range []struct {
		sitemap bool
		last    []string
		want    end
		kept    bool
	}{
		{false, []string{"less", "c"}, end{book.Unchanged, "robots"}, true},
		{false, []string{"c", "docs"}, end{book.Skipped, "robots"}, false},
		{true, []string{"less", "c"}, end{book.Skipped, "sitemap"}, true},
		{true, []string{"c", "docs"}, end{book.Skipped, "robots"}, false},
	} {
		b := w.batch("/page")
		b.Version.Epoch, b.Robots = uint64(i), []string{w.server.URL}
		b.Targets[0].Sitemap, b.Targets[0].Collections = c.sitemap, []string{"docs"}
		b.Targets[0].Last = &batch.Look{ETag: `"e"`, Digest: 5, Body: 6, Collections: c.last}
		o := w.run(t, b).Ledger.Outcomes[0]
		kept := slices.Equal(o.Collections, c.last) && o.Body == 6 && o.ETag == `"e"` && o.Exponent == 3
		if got := (end{o.State, o.Reason}); got != c.want || kept != c.kept {
			t.Errorf("case %d: %+v", i, o)
		}
	}
}

// TestShared fetches a URL whose page is not stored, for example because it redirects. The page
// belongs to several collections. Some reasons, such as a redirect, hold for all of them: then the
// outcome must name them all, so that none requests the URL again. Other reasons, such as
// robots.txt, hold only for the collection that requested the URL: then the outcome must name only
// this one. A link to another address (by a redirect or as canonical) must be on behalf of the
// collection that requested the URL.
func TestShared(t *testing.T) {
	shared := []string{"c", "docs"}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		path    string
		change  func(*batch.Target)
		want    end
		names   []string
		links   int
	}{
		"moved":     {hops(0, "/new"), "/old", nil, end{book.Skipped, "redirect"}, shared, 1},
		"canonical": {sent(200, `<link rel=canonical href="/page">`), "/page?by=date", nil, end{book.Skipped, "canonical"}, shared, 1},
		"moved for less": {hops(0, "/new"), "/less/old", func(t *batch.Target) { t.Collections = []string{"less"} },
			end{book.Skipped, "redirect"}, []string{"less", "docs"}, 1},
		"asked for before": {hops(0, "/new"), "/old", func(t *batch.Target) { t.Last = &batch.Look{Collections: []string{"closed", "cooking"}} },
			end{book.Skipped, "redirect"}, []string{"c", "cooking", "docs"}, 1},
		"gone": {hops(0, "/new"), "/old", func(t *batch.Target) { t.Last = &batch.Look{Digest: 5, Collections: []string{"cooking"}} },
			end{book.Skipped, "redirect"}, []string{"c", "cooking", "docs"}, 1},
		"missing":   {sent(404, ""), "/page", nil, end{book.Failed, "http 404"}, shared, 0},
		"denied":    {sent(200, newPage), "/page", func(t *batch.Target) { t.Denied = "pages alike" }, end{book.Skipped, "pages alike"}, shared[:1], 0},
		"forbidden": {sent(200, newPage), "/no", nil, end{book.Skipped, "robots"}, shared[:1], 0},
		"again":     {sent(503, ""), "/page", nil, end{book.Retry, "http 503"}, []string{"c"}, 0},
		"a sitemap": {hops(0, "/new"), "/old", func(t *batch.Target) { t.Sitemap = true }, end{book.Skipped, "redirect"}, []string{"c"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/robots.txt", respond(200, "", "User-agent: *\nDisallow: /no"))
			mux.HandleFunc("/", c.handler)
			w := newWorld(t, mux)
			w.overlap(t)
			b := w.batch(c.path)
			b.Robots = []string{w.server.URL}
			if c.change != nil {
				c.change(&b.Targets[0])
			}
			got := w.run(t, b)
			if diff := cmp.Diff(c.want, ends(got)[0]) + cmp.Diff(c.names, got.Ledger.Outcomes[0].Collections); diff != "" {
				t.Error(diff)
			}
			if len(got.Ledger.Links) != c.links {
				t.Errorf("%d links, want %d", len(got.Ledger.Links), c.links)
			}
			for _, l := range got.Ledger.Links {
				if l.Collection != c.names[0] {
					t.Errorf("a link on behalf of %s", l.Collection)
				}
			}
		})
	}
}

// TestSharedSeed fetches a URL that is a seed of two collections, on behalf of one of them. If the
// URL redirects, the outcome must name both collections. If fetches of the URL crash until it
// fails, the outcome must name both, too.
func TestSharedSeed(t *testing.T) {
	w := newWorld(t, hops(0, "/new"))
	for _, name := range []string{"a", "b"} {
		w.publish(t, collection.Collection{Name: name, HostPages: 9, Seeds: []collection.Seed{{URL: w.server.URL + "/old", Scope: collection.Host, Depth: 0}}})
	}
	b := w.batch("/old", "/old/page")
	for i := range b.Targets {
		b.Targets[i].Depth, b.Targets[i].Collections = uint16(i), []string{"b"}
	}
	collections := func(outcomes []book.Outcome) (names [][]string) {
		for _, o := range outcomes {
			names = append(names, o.Collections)
		}
		return names
	}
	if diff := cmp.Diff([][]string{{"b", "a"}, {"b"}}, collections(w.run(t, b).Ledger.Outcomes)); diff != "" {
		t.Error(diff)
	}
	b.Version.Token++
	b.Targets = b.Targets[:1]
	b.Targets[0].Attempts = MaxAttempts - 1
	w.clock.now = b.Deadline
	w.deliver(t, b, 2)
	ledger, _ := w.ledger(t, b)
	if diff := cmp.Diff([][]string{{"b", "a"}}, collections(ledger.Outcomes)); diff != "" {
		t.Errorf("died: %s", diff)
	}
}
