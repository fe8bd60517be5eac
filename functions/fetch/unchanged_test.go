package fetch

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/spool"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// again fetches the only target of a batch once more. The parameter looks is the spool object of
// its last fetch.
func (w *world) again(t testing.TB, b batch.Batch, looks spool.Spool) spool.Spool {
	t.Helper()
	b.Version.Token++
	b.Targets = slices.Clone(b.Targets)
	b.Targets[0].Last = batch.LookOf(looks.Ledger.Outcomes[0])
	return w.run(t, b)
}

// twice fetches a page or a sitemap twice, and returns both spool objects. One handler serves the
// first fetch, and another one the second.
func twice(t *testing.T, isSitemap bool, before, after http.HandlerFunc) (was, is spool.Spool) {
	t.Helper()
	handler := before
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler(w, r) }))
	b := w.batch("/x")
	b.Targets[0].Sitemap = isSitemap
	was = w.run(t, b)
	handler = after
	return was, w.again(t, b, was)
}

// TestSamePage fetches a page twice. If only its navigation has changed, the page must count as
// unchanged, and its links must be recorded again. If its bytes are the same, no links may be
// recorded.
func TestSamePage(t *testing.T) {
	const text, menu, added = `<title>Title</title><p>What the page says.`, `<nav><a href=/1>one</a></nav>`, `<nav><a href=/1>one</a> <a href=/2>two</a></nav>`
	kept, stored := end{book.Unchanged, ""}, end{book.Stored, ""}
	for name, c := range map[string]struct {
		before, after http.HandlerFunc
		want          end
		links         int
		sameBody      bool
	}{
		"same bytes":       {sent(200, text+menu), sent(200, text+menu), kept, 0, true},
		"same, packed":     {sent(200, text+menu), encoding("gzip", gzipped(t, strings.NewReader(text+menu))), kept, 0, true},
		"not modified":     {sent(200, text+menu, "ETag", `"e"`), sent(304, ""), kept, 0, true},
		"other date":       {sent(200, text+menu, "Date", "then"), sent(200, text+menu, "Date", "now"), kept, 0, true},
		"other navigation": {sent(200, text+menu), sent(200, text+added), kept, 2, false},
		"other text":       {sent(200, text+menu), sent(200, text+"Now."+menu), stored, 1, false},
		"other type":       {sent(200, text+menu), sent(200, text+menu, "Content-Type", "text/plain"), stored, 0, false},
		"hidden now":       {sent(200, text+menu), sent(200, text+menu, "X-Robots-Tag", "noindex"), stored, 1, false},
		"not followed now": {sent(200, text+menu), sent(200, text+menu, "X-Robots-Tag", "nofollow"), kept, 0, false},
		"missing":          {sent(200, text+menu), sent(404, ""), end{book.Unchanged, "http 404"}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := twice(t, false, c.before, c.after)
			old, o := was.Ledger.Outcomes[0], is.Ledger.Outcomes[0]
			if diff := cmp.Diff(c.want, ends(is)[0]); diff != "" || len(is.Ledger.Links) != c.links {
				t.Errorf("%s%d links, want %d", diff, len(is.Ledger.Links), c.links)
			}
			if len(was.Ledger.Links) != 1 || old.Body == 0 || o.Body == 0 || (old.Body == o.Body) != c.sameBody {
				t.Errorf("%d links and body %x became body %x", len(was.Ledger.Links), old.Body, o.Body)
			}
		})
	}
}

// TestEditsAreStored changes a page a little between two fetches: any change must be stored. If only
// numbers, words beside numbers, or upper and lower case have changed, the page must be requested
// less often.
func TestEditsAreStored(t *testing.T) {
	const before = `<title>Prices</title><main><p>Version 17.4 costs 99 dollars. Take 5 milligrams at 20 °C. 库存12件 </main>`
	for name, c := range map[string]struct {
		old, changed string
		exponent     int16
	}{
		"version":         {"17.4", "17.5", 4},
		"price and money": {"99 dollars", "79 euros", 4},
		"dose":            {"5 milligrams", "50 micrograms", 4},
		"sign":            {"20 °C", "-20 °C", 4},
		"case":            {"costs", "COSTS", 4},
		"Chinese stock":   {"12件", "0件", 4},
		"title":           {"Prices", "New prices", 2},
		"order of words":  {"Version 17.4 costs", "costs Version 17.4", 2},
		"words":           {"</main>", "<p>It is sold out.</main>", 2},
	} {
		t.Run(name, func(t *testing.T) {
			after := strings.Replace(before, c.old, c.changed, 1)
			_, is := twice(t, false, sent(200, before), sent(200, after))
			if o := is.Ledger.Outcomes[0]; o.State != book.Stored || len(is.Pages) != 1 || o.Exponent != c.exponent {
				t.Errorf("%s with %d pages, of class %d; want it stored, of class %d", o.State, len(is.Pages), o.Exponent, c.exponent)
			}
		})
	}
}

// TestGonePageHasNoBody fetches a stored page whose URL now redirects or serves an image, so that
// the page is gone. The outcome must have no checksum of the answer. Otherwise a later answer with
// the same bytes would count as unchanged.
func TestGonePageHasNoBody(t *testing.T) {
	for _, after := range []http.HandlerFunc{sent(301, "", "Location", "/elsewhere"), sent(200, "\x89PNG\r\n\x1a\n", "Content-Type", "image/png")} {
		_, is := twice(t, false, sent(200, oldPage), after)
		if o := is.Ledger.Outcomes[0]; o.State != book.Skipped || o.Digest == 0 || o.Body != 0 {
			t.Errorf("%+v", o)
		}
	}
}

// TestSameSitemap fetches a sitemap twice: if it has the same bytes, no links may be recorded, even
// if the server sends no validators.
func TestSameSitemap(t *testing.T) {
	const text, last, wrong = "<urlset><url><loc>/1</loc></url><url><loc>/2</loc></url>", "</urlset>", "</wrong>and more"
	zip := func(text string) string { return string(gzipped(t, strings.NewReader(text))) }
	cut := raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + text)
	for name, c := range map[string]struct {
		before, after http.HandlerFunc
		links         int
		exponent      int16
	}{
		"same":              {respond(200, "", text+last), respond(200, "text/html", text+last), 0, 4},
		"same file":         {respond(200, "", zip(text+last)), respond(200, "", zip(text+last)), 0, 4},
		"behind a coding":   {respond(200, "", text+last), encoding("gzip", []byte(zip(text+last))), 0, 4},
		"broken as before":  {respond(200, "", text+wrong), respond(200, "", text+wrong), 0, 4},
		"otherwise broken":  {respond(200, "", text+wrong), respond(200, "", text+wrong+"!"), 2, 3},
		"one more":          {respond(200, "", text+last), respond(200, "", text+"<url><loc>/3</loc></url>"+last), 3, 3},
		"could not be had":  {respond(200, "", text+last), respond(404, "", text+last), 0, 3},
		"could not be read": {respond(200, "", text+last), cut, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := twice(t, true, c.before, c.after)
			old, o := was.Ledger.Outcomes[0], is.Ledger.Outcomes[0]
			if len(was.Ledger.Links) != 2 || old.Body == 0 || len(is.Ledger.Links) != c.links || o.Exponent != c.exponent {
				t.Errorf("%d links and body %x became %d links, want %d, and exponent %d, want %d",
					len(was.Ledger.Links), old.Body, len(is.Ledger.Links), c.links, o.Exponent, c.exponent)
			}
			if same := c.exponent == 4; same != (o.Body == old.Body) || same != (o.Detail == "not modified") {
				t.Errorf("body %x became %x, %q", old.Body, o.Body, o.Detail)
			}
		})
	}
}

// TestRemarks fetches pages whose text is incomplete or uncertain: they must be stored, and the
// outcome must say why.
func TestRemarks(t *testing.T) {
	const french = "L'\xE9t\xE9 d\xE9j\xE0 pass\xE9, le ch\xE2teau est ferm\xE9 \xE0 c\xF4t\xE9 de la for\xEAt."
	links := strings.Repeat("<a href=/x>y</a>", 100_001)
	for name, c := range map[string]struct {
		answer         http.HandlerFunc
		reason, detail string
	}{
		"in full":       {sent(200, "<p>text"), "", ""},
		"many links":    {sent(200, links), book.Cut, "without 1 of 100001 links"},
		"other charset": {sent(200, "<p>"+french, "Content-Type", "text/html; charset=utf-8"), book.Recoded, "the charset is not utf-8 but windows-1252"},
		"two reasons": {sent(200, links+french, "Content-Type", "text/html; charset=utf-8"), book.Cut,
			"without 1 of 100001 links; the charset is not utf-8 but windows-1252"},
		"scripts alone": {sent(200, "<script>x()</script>"), book.NeedsScripts, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.answer)
			o := w.run(t, w.batch("/x")).Ledger.Outcomes[0]
			got := [...]string{o.State.String(), o.Reason, o.Detail}
			if want := [...]string{"stored", c.reason, c.detail}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
