package feed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News &amp; more</title><link>http://a/</link>
<description>All of it</description><language>en-GB</language><image><title>logo</title></image>
<item><title>First &lt;b&gt;story&lt;/b&gt;</title><link> http://a/1 </link>
<description><![CDATA[<p>It <a href="/x">began</a> &amp; ended.</p><script>no()</script><!-- never closed]]></description></item>
<item><title>Second</title><guid>http://a/2</guid><description>short</description><content:encoded>long &lt;br&gt;text</content:encoded></item>
</channel></rss>`

const atomFeed = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title type="html">Blatt</title>
<entry><title>Eins</title><link rel="edit" href="/e"/><link href="/1"/><author><name>Anna</name></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Ganz <b>kurz</b></p></div></content></entry>`

const rdf = `<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><title>Old</title></channel><item><title>One</title><link>http://a/1</link></item></rdf:RDF>`

func TestHTML(t *testing.T) {
	for name, c := range map[string]struct {
		feed string
		want []string // in order
	}{
		"RSS": {rss, []string{
			`lang="en-GB"`, "<title>News &amp; more</title>", "All of it",
			`<h2><a href="http://a/1">First story</a></h2>`, `It <a href="/x">began</a> &amp; ended.`,
			`<h2><a href="http://a/2">Second</a></h2>`, "long <br>\ntext",
		}},
		"Atom": {atomFeed, []string{`lang="de"`, "<title>Blatt</title>", `<h2><a href="/1">Eins</a></h2>`, "Ganz kurz"}},
		"RDF":  {rdf, []string{"<title>Old</title>", `<h2><a href="http://a/1">One</a></h2>`}},
	} {
		t.Run(name, func(t *testing.T) {
			page := string(HTML([]byte(c.feed)).HTML)
			at := 0
			for _, want := range c.want {
				i := strings.Index(page[at:], want)
				if i < 0 {
					t.Fatalf("no %q after byte %d of\n%s", want, at, page)
				}
				at += i
			}
			for _, unwanted := range []string{"no()", "logo", "Anna", "never", "short"} {
				if strings.Contains(page, unwanted) {
					t.Errorf("%q in\n%s", unwanted, page)
				}
			}
		})
	}
}

func TestIs(t *testing.T) {
	got := map[string]bool{}
	for _, text := range []string{rss, atomFeed, rdf, "<!-- a feed --><rss/>", "<html><rss>", "<urlset>", "feed", ""} {
		got[text] = Is([]byte(text))
	}
	want := map[string]bool{rss: true, atomFeed: true, rdf: true, "<!-- a feed --><rss/>": true, "<html><rss>": false, "<urlset>": false, "feed": false, "": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte(rss))
	f.Add([]byte(atomFeed))
	f.Add([]byte(rdf))
	f.Fuzz(func(t *testing.T, text []byte) {
		if page := HTML(text); len(page.HTML) > 20*len(text)+200 {
			t.Errorf("%d bytes became %d", len(text), len(page.HTML))
		}
	})
}
