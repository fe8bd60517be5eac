package fetch

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// TestCanonical fetches a page that names another address as its canonical one. The server has the
// same page at all addresses. The test checks of which canonical addresses the page becomes an alias.
func TestCanonical(t *testing.T) {
	for name, c := range map[string]struct{ head, there string }{
		"none":                    {"", ""},
		"fewer parameters":        {`<link rel=canonical href="?b=2">`, "/docs/index.html?b=2"},
		"no parameters":           {`<link rel=canonical href="index.html#x">`, "/docs/index.html"},
		"the directory":           {`<link rel=canonical href="./">`, "/docs/"},
		"relative to a base":      {`<base href=/docs/x><link rel=canonical href=".?a=1">`, "/docs/?a=1"},
		"behind a tracker":        {`<link rel=canonical href="/docs/?utm_source=feed">`, "/docs/"},
		"itself":                  {`<link rel=canonical href="">`, ""},
		"itself behind a tracker": {`<link rel=canonical href="?a=1&b=2&utm_source=feed">`, ""},
		"other parameters":        {`<link rel=canonical href="?c">`, "/docs/index.html?c"},
		"another page":            {`<link rel=canonical href="/docs/a">`, "/docs/a"},
		"the front page":          {`<link rel=canonical href="/">`, "/"},
		"without a slash":         {`<link rel=canonical href="/docs">`, "/docs"},
		"no address":              {`<link rel=canonical href="mailto:a">`, ""},
		"of another origin":       {`<link rel=canonical href="http://127.0.0.1:1/docs/">`, ""},
		"on another site":         {`<link rel=canonical href="http://a.test/docs/">`, ""},
		"excluded":                {`<link rel=canonical href="?a=1">`, ""},
		"not in a link":           {`<a rel=canonical href="/docs/">page</a>`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, respond(200, "text/html", c.head+"<p>page <a href=/next>next</a>"))
			w.publish(t, collection.Collection{
				Name: "c", Seeds: []collection.Seed{{URL: w.server.URL + "/", Scope: collection.Host, Depth: 4}}, Exclude: []string{"*html?a=1"},
			})
			b := w.batch("/docs/index.html?a=1&b=2")
			b.Targets[0].Hops, b.Targets[0].Weight = 2, 9
			got := w.run(t, b)
			if c.there == "" {
				follows := func(l book.Link) bool { return l.Target == w.server.URL+"/next" }
				if o := got.Ledger.Outcomes[0]; o.State != book.Stored || !slices.ContainsFunc(got.Ledger.Links, follows) {
					t.Errorf("%+v with links %+v", o, got.Ledger.Links)
				}
				return
			}
			here, there := parsed(t, b.Targets[0].URL), parsed(t, w.server.URL+c.there)
			want := []book.Link{{
				Source: here.ID, Target: w.server.URL + "/next", Place: parsed(t, w.server.URL+"/next").Place, Kind: book.Anchor, Region: book.Text,
				Anchor: "next", Around: "page", Depth: 5, Collection: "c",
			}, {
				Source: here.ID, Target: there.URL, Place: there.Place, Kind: book.Canonical, Region: book.Text, Rel: "canonical",
				Depth: 4, Hops: 3, Weight: 9, Collection: "c",
			}}
			slices.SortFunc(got.Ledger.Links, func(a, b book.Link) int { return int(a.Kind) - int(b.Kind) })
			if diff := cmp.Diff(want, got.Ledger.Links); diff != "" {
				t.Error(diff)
			}
			if o := got.Ledger.Outcomes[0]; o.State != book.Skipped || o.Reason != "canonical" || o.Detail != "to "+there.URL || len(got.Pages) != 0 {
				t.Errorf("%+v with %d pages", o, len(got.Pages))
			}
		})
	}
}

// proof serves pages by their paths, and counts the requests.
type proof struct {
	pages map[string]http.HandlerFunc
	asked map[string]int
}

func (p proof) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.asked[r.URL.Path]++
	if one, found := p.pages[r.URL.Path]; found {
		one(w, r)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

const prose = "A connection pool keeps connections to the server open, so that whoever needs one next does not wait until it is made; its size is set once for all."

// called returns a handler for a page with the given text. The page names the given path as its
// canonical address.
func called(path, text string) http.HandlerFunc {
	return sent(200, "<title>Pools</title><link rel=canonical href="+path+"><main><p>"+text+"</main>", "ETag", `"e"`)
}

// TestCanonicalIsProved checks that a page becomes an alias of the path that it names as canonical
// if the same page is served there, and is stored otherwise.
func TestCanonicalIsProved(t *testing.T) {
	const other = "Das Wetter wird morgen im Norden sonnig, im Süden regnet es bis in die Nacht, und auf den Bergen fällt der erste Schnee."
	one := called("/c", prose)
	for name, c := range map[string]struct {
		pages  map[string]http.HandlerFunc
		robots string
		also   []string // targets of the batch in addition to /p, which is the first
		alias  string   // path of which /p becomes an alias; "" for none
		asked  map[string]int
		again  bool // /p is requested again without validators
	}{
		"the same":             {pages: map[string]http.HandlerFunc{"/c": called("/c", prose)}, alias: "/c", asked: map[string]int{"/c": 1}},
		"names nobody":         {pages: map[string]http.HandlerFunc{"/c": sent(200, "<title>Pools</title><main><p>"+prose+"</main>")}, alias: "/c", asked: map[string]int{"/c": 1}},
		"a word more":          {pages: map[string]http.HandlerFunc{"/c": called("/c", prose+" Print.")}, alias: "/c", asked: map[string]int{"/c": 1}},
		"another navigation":   {pages: map[string]http.HandlerFunc{"/c": called("/c", prose+"<nav>Home, About, Print</nav>")}, alias: "/c", asked: map[string]int{"/c": 1}},
		"another text":         {pages: map[string]http.HandlerFunc{"/c": called("/c", other)}, asked: map[string]int{"/c": 1}},
		"no text":              {pages: map[string]http.HandlerFunc{"/c": called("/c", "")}, asked: map[string]int{"/c": 1}},
		"missing":              {asked: map[string]int{"/c": 1}},
		"redirects back":       {pages: map[string]http.HandlerFunc{"/c": sent(301, "", "Location", "/p")}, asked: map[string]int{"/c": 1}},
		"hidden":               {pages: map[string]http.HandlerFunc{"/c": sent(200, "<main>"+prose, "X-Robots-Tag", "noindex")}, asked: map[string]int{"/c": 1}},
		"of another type":      {pages: map[string]http.HandlerFunc{"/c": sent(200, "\x89PNG\r\n\x1a\n", "Content-Type", "image/png")}, asked: map[string]int{"/c": 1}},
		"busy":                 {pages: map[string]http.HandlerFunc{"/c": sent(503, "")}, asked: map[string]int{"/c": 1}, again: true},
		"forbidden":            {robots: "User-agent: *\nDisallow: /c", pages: map[string]http.HandlerFunc{"/c": one}},
		"each other":           {pages: map[string]http.HandlerFunc{"/c": called("/p", prose)}, asked: map[string]int{"/c": 1}},
		"a chain":              {pages: map[string]http.HandlerFunc{"/c": called("/d", prose), "/d": called("/d", prose)}, alias: "/d", asked: map[string]int{"/c": 1, "/d": 1}},
		"a chain that breaks":  {pages: map[string]http.HandlerFunc{"/c": called("/d", prose)}, asked: map[string]int{"/c": 1, "/d": 1}},
		"a chain too long":     {pages: map[string]http.HandlerFunc{"/c": called("/d", prose), "/d": called("/e", prose), "/e": called("/f", prose), "/f": called("/f", prose)}, asked: map[string]int{"/c": 1, "/d": 1, "/e": 1}},
		"a cycle beside it":    {pages: map[string]http.HandlerFunc{"/c": called("/d", prose), "/d": called("/c", prose)}, asked: map[string]int{"/c": 1, "/d": 1}},
		"excluded":             {pages: map[string]http.HandlerFunc{"/c": called("/no", prose)}, alias: "/c", asked: map[string]int{"/c": 1}},
		"asked for two":        {pages: map[string]http.HandlerFunc{"/c": called("/c", prose), "/q": one, "/r": one}, also: []string{"/q", "/r"}, alias: "/c", asked: map[string]int{"/c": 1, "/q": 1, "/r": 1}},
		"front page of all":    {pages: map[string]http.HandlerFunc{"/c": called("/c", other), "/q": one}, also: []string{"/q"}, asked: map[string]int{"/c": 1, "/q": 1}},
		"of the batch":         {pages: map[string]http.HandlerFunc{"/c": called("/c", prose)}, also: []string{"/c"}, alias: "/c", asked: map[string]int{"/c": 1}},
		"of the batch, chain":  {pages: map[string]http.HandlerFunc{"/c": called("/d", prose), "/d": called("/d", prose)}, also: []string{"/d", "/c"}, alias: "/d", asked: map[string]int{"/c": 1, "/d": 1}},
		"of the batch, none":   {also: []string{"/c"}, asked: map[string]int{"/c": 1}},
		"the chain comes back": {pages: map[string]http.HandlerFunc{"/c": called("/d", prose), "/d": called("/p", prose)}, asked: map[string]int{"/c": 1, "/d": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			home := proof{map[string]http.HandlerFunc{"/p": one, "/robots.txt": sent(200, c.robots, "Content-Type", "text/plain")}, map[string]int{}}
			maps.Copy(home.pages, c.pages)
			w := newWorld(t, home)
			w.publish(t, collection.Collection{
				Name: "c", Seeds: []collection.Seed{{URL: w.server.URL + "/", Scope: collection.Host, Depth: 9}}, Exclude: []string{"*/no"},
			})
			got := w.run(t, w.batch(append([]string{"/p"}, c.also...)...))
			o := got.Ledger.Outcomes[0]
			alias := c.alias
			if alias == "" {
				alias = "/c"
			}
			to := func(l book.Link) bool {
				return l.Source == parsed(t, o.URL).ID && l.Kind == book.Canonical && l.Target == w.server.URL+alias
			}
			if !slices.ContainsFunc(got.Ledger.Links, to) {
				t.Errorf("no link among %+v", got.Ledger.Links)
			}
			if c.alias == "" {
				if o.State != book.Stored || len(got.Pages) == 0 || (o.Body == 0) != c.again || (o.ETag == "") != c.again {
					t.Errorf("%+v", o)
				}
			} else if o.State != book.Skipped || o.Reason != "canonical" || o.Detail != "to "+w.server.URL+c.alias || o.Exponent != 4 {
				t.Errorf("%+v", o)
			}
			delete(home.asked, "/robots.txt")
			if diff := cmp.Diff(c.asked, without(home.asked, "/p"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if home.asked["/p"] != 1 {
				t.Errorf("the page was asked for %d times", home.asked["/p"])
			}
		})
	}
}

func without(counts map[string]int, key string) map[string]int {
	rest := maps.Clone(counts)
	delete(rest, key)
	return rest
}

// TestAlias requests the same URL several times. At first it is an alias. When the page at its
// canonical address is missing, the URL must be stored as a page of its own. When the canonical
// page is back, the URL must become an alias again, and its stored page must count as gone, so that
// searches do not find it.
func TestAlias(t *testing.T) {
	const own = "/p"
	home := proof{map[string]http.HandlerFunc{"/p": called("/c", prose), "/c": called("/c", prose)}, map[string]int{}}
	w := newWorld(t, home)
	b := w.batch(own)
	first := w.run(t, b)
	if o := first.Ledger.Outcomes[0]; o.State != book.Skipped || o.Reason != "canonical" {
		t.Fatalf("%s: %+v", own, o)
	}
	second := w.again(t, b, first)
	if o := second.Ledger.Outcomes[0]; o.State != book.Skipped || o.Reason != "canonical" || o.Digest != 0 {
		t.Errorf("%s again: %+v", own, o)
	}
	home.pages["/c"] = sent(404, "")
	b.Version.Token++
	third := w.again(t, b, second)
	if o := third.Ledger.Outcomes[0]; o.State != book.Stored || len(third.Pages) != 1 || o.Digest == 0 {
		t.Errorf("%s when /c is gone: %+v", own, o)
	}
	home.pages["/c"] = called("/c", prose)
	home.pages["/p"] = called("/c", prose+" ")
	b.Version.Token++
	last := third
	last.Ledger.Outcomes[0].Body, last.Ledger.Outcomes[0].ETag = 0, ""
	fourth := w.again(t, b, last)
	if o := fourth.Ledger.Outcomes[0]; o.State != book.Skipped || o.Digest != third.Ledger.Outcomes[0].Digest || len(fourth.Pages) != 0 {
		t.Errorf("%s when /c is back: %+v", own, o)
	}
}

// TestCanonicalWithoutTime lets the time run out before the canonical address can be requested. The
// page must be stored, without ETag and checksum, so that the next request for it is unconditional.
func TestCanonicalWithoutTime(t *testing.T) {
	home := proof{map[string]http.HandlerFunc{"/p": called("/c", prose), "/c": called("/c", prose)}, map[string]int{}}
	w := newWorld(t, home)
	b := w.batch("/p")
	b.DelayMillis = 3_600_000
	if o := w.run(t, b).Ledger.Outcomes[0]; o.State != book.Stored || o.Body != 0 || o.ETag != "" || o.Digest == 0 {
		t.Errorf("%+v", o)
	}
	if home.asked["/c"] != 0 {
		t.Error("it was asked")
	}
}
