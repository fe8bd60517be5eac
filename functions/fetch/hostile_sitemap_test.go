package fetch

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/sitemap"
)

// zippedThen returns a text followed by 60 MB of repetitions of a piece, compressed by gzip.
func zippedThen(t testing.TB, text, piece string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, io.MultiReader(strings.NewReader(text), io.LimitReader(repeat([]byte(piece), nil), 60*megabyte))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileSitemap reads sitemaps that attack the reader. Reading must end within the limits, and
// the entries before the attack must count.
func TestHostileSitemap(t *testing.T) {
	const (
		ok    = "HTTP/1.1 200 OK\r\n\r\n"
		one   = "<urlset><url><loc>http://wanted.test/</loc></url>"
		entry = "<url><loc>http://wanted.test/</loc></url>"
		child = "<sitemap><loc>http://wanted.test/</loc></sitemap>"
		long  = 64 << 10
	)
	read, none := end{book.Skipped, "sitemap"}, end{book.Failed, "no sitemap"}
	spaces := strings.Repeat(" ", long)
	bomb := sync.OnceValue(func() []byte { return zippedThen(t, one, spaces) })
	plain := func(reply http.HandlerFunc) func() http.HandlerFunc {
		return func() http.HandlerFunc { return reply }
	}
	attacks := map[string]struct {
		// handler of the attack; made when needed, because bombs take long to make
		answer func() http.HandlerFunc
		want   end
		links  int
	}{
		"entries without end":            {plain(rawThen(ok+"<urlset>", []byte(entry))), read, sitemap.MaxEntries},
		"lines without end":              {plain(rawThen(ok, []byte("http://wanted.test/\n"))), read, sitemap.MaxEntries},
		"sitemaps without end":           {plain(rawThen(ok+"<sitemapindex>", []byte(child))), read, maxSitemaps},
		"10 million entries in a bomb":   {func() http.HandlerFunc { return respond(200, "application/gzip", string(zippedThen(t, one, entry))) }, read, sitemap.MaxEntries},
		"space without end":              {plain(rawThen(ok+one, []byte(spaces))), read, 1},
		"space before all":               {plain(rawThen(ok, []byte(spaces))), end{book.Skipped, "too big"}, 0},
		"depth without end":              {plain(rawThen(ok+one, []byte("<url>"))), read, 1},
		"attributes without end":         {plain(rawThen(ok+one+"<url ", []byte("a=b "))), read, 1},
		"a name without end":             {plain(rawThen(ok+"<", []byte("a"))), none, 0},
		"a comment without end":          {plain(rawThen(ok+one+"<!--", []byte("x"))), read, 1},
		"an address without end":         {plain(rawThen(ok+one+"<url><loc>http://wanted.test/", []byte("a"))), read, 1},
		"an address of many pieces":      {plain(respond(200, "", one+"<url><loc>http://wanted.test/"+strings.Repeat("<!---->"+strings.Repeat("a", 1000), 3000)+"</loc></url></urlset>")), read, 1},
		"a bomb of space":                {func() http.HandlerFunc { return respond(200, "", string(bomb())) }, read, 1},
		"an encoded bomb":                {func() http.HandlerFunc { return encoding("gzip", bomb()) }, read, 1},
		"an encoded bomb before all":     {func() http.HandlerFunc { return encoding("gzip", zippedThen(t, "", spaces)) }, end{book.Skipped, "bomb"}, 0},
		"a bomb in a bomb":               {func() http.HandlerFunc { return encoding("gzip", gzipped(t, bytes.NewReader(bomb()))) }, read, 1},
		"entities within each other":     {plain(respond(200, "", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><urlset><url><loc>http://wanted.test/&b;</loc></url></urlset>`)), read, 1},
		"other sites":                    {plain(respond(200, "", "<urlset>"+numbered("<url><loc>http://site%d.test/</loc></url>", 10_000)+"</urlset>")), read, 0},
		"sitemaps of other sites":        {plain(respond(200, "", "<sitemapindex>"+numbered("<sitemap><loc>http://site%d.test/</loc></sitemap>", 10_000)+"</sitemapindex>")), read, 0},
		"no addresses":                   {plain(respond(200, "", "<urlset>"+strings.Repeat("<url><loc>http://[</loc></url>", 10_000)+"</urlset>")), read, 0},
		"trickle":                        {plain(trickle(200, "text/xml")), end{book.Retry, "too slow"}, 0},
		"never comes":                    {plain(hang(ok)), end{book.Retry, "timeout"}, 0},
		"more behind the end, for ever":  {plain(rawThen(ok+one+"</urlset>", []byte(spaces))), read, 1},
		"binary":                         {plain(rawThen(ok, make([]byte, long))), none, 0},
		"UTF-16 of odd length":           {plain(respond(200, "", "<?xml version='1.0' encoding='utf-16'?>"+strings.Repeat("\xd8", 100_001))), none, 0},
		"an error that lists, for ever":  {plain(rawThen("HTTP/1.1 404 No\r\n\r\n<urlset>", []byte(entry))), end{book.Failed, "http 404"}, 0},
		"a redirect that lists, as well": {plain(raw("HTTP/1.1 302 Go\r\nLocation: /\r\nContent-Length: 49\r\n\r\n" + one)), end{book.Skipped, "redirect"}, 1},
	}
	for i, name := range slices.Sorted(maps.Keys(attacks)) {
		if i%racetest.Rounds(1, 5) != 0 {
			continue
		}
		c := attacks[name]
		t.Run(name, func(t *testing.T) {
			w := hostileWorld(t, "/map", hostile{name, c.answer(), c.want})
			w.publishHost(t, "http://wanted.test/")
			b := w.batch("/map", "/after")
			b.Targets[0].Sitemap, b.Deadline = true, time.Now().Add(time.Minute)
			w.Limits.Batch = 64 * megabyte
			w.runWithin(t, b, 100*megabyte, 128*megabyte)
			got := w.stored(t, b)
			if diff := cmp.Diff([]end{c.want, {book.Stored, ""}}, ends(got)); diff != "" {
				t.Errorf("%s\n%s", diff, got.Ledger.Outcomes[0].Detail)
			}
			if n := len(got.Ledger.Links); n != c.links {
				t.Errorf("%d links, want %d", n, c.links)
			}
		})
	}
}

// publishHost publishes a collection that admits the host of the given seed.
func (w *world) publishHost(t testing.TB, seed string) {
	t.Helper()
	w.publish(t, collection.Collection{Name: "c", Seeds: []collection.Seed{{URL: seed, Scope: collection.Host, Depth: 9}}})
}
