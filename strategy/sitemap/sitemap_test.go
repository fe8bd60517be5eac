package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func parsed(t testing.TB, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read returns the entries that Parse yields for a list, each as a line, and Parse's error.
func read(t testing.TB, r io.Reader) (lines []string, err error) {
	t.Helper()
	for e, failure := range Parse(r, parsed(t, "https://a.example/maps/1.xml")) {
		if failure != nil {
			if err != nil {
				t.Fatalf("a second error: %v", failure)
			}
			err = failure
			continue
		}
		if err != nil {
			t.Fatalf("%s comes behind the error", e.Address.URL)
		}
		line := e.Address.URL
		if e.Index {
			line += " index"
		}
		if !e.Modified.IsZero() {
			line += " " + e.Modified.Format(time.RFC3339)
		}
		if e.Priority != DefaultPriority {
			line += fmt.Sprintf(" %g", e.Priority)
		}
		lines = append(lines, line)
	}
	return lines, err
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"sitemap", `<?xml version="1.0" encoding="UTF-8"?>
			<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
			<url><loc> http://www.example.com/ </loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq><priority>0.8</priority></url>
			<url><loc>http://www.example.com/catalog?item=12&amp;desc=vacation_hawaii</loc></url>
			</urlset>`,
			[]string{"http://www.example.com/ 2005-01-01T00:00:00Z 0.8", "http://www.example.com/catalog?item=12&desc=vacation_hawaii"}},
		{"index", `<sitemapindex><sitemap><loc>http://a/1.xml.gz</loc><lastmod>2004-10-01T18:23:17+02:00</lastmod></sitemap><sitemap><loc>/2</loc></sitemap></sitemapindex>`,
			[]string{"http://a/1.xml.gz index 2004-10-01T16:23:17Z", "https://a.example/2 index"}},
		{"prefixes", `<s:urlset xmlns:s="x"><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>`, []string{"http://a/"}},
		{"other vocabularies", `<urlset><url><xhtml:link rel="alternate" hreflang="de" href="http://a/de"/><image:image><image:loc>http://a/i.png</image:loc><image:title/></image:image>
			<loc>http://a/</loc><news:news><news:publication_date>2020-01-01</news:publication_date></news:news></url></urlset>`, []string{"http://a/"}},
		{"elsewhere", `<urlset><loc>http://a/0</loc><x><url><loc>http://a/1</loc></url></x><url><y><loc>http://a/2</loc></y></url></urlset>`, nil},
		{"empty", `<urlset/>`, nil},
		{"empty elements", `<urlset><url/><url><loc/></url><url><loc></loc><priority/><lastmod/></url><url><loc>http://a/</loc></url></urlset>`, []string{"http://a/"}},
		{"the first holds", `<urlset><url><loc></loc><loc>http://a/1</loc><loc>http://a/2</loc></url></urlset>`, []string{"http://a/1"}},
		{"bad addresses", `<urlset><url><loc>http://</loc></url><url><loc>mailto:a@b</loc></url><url><loc>http://a/` + strings.Repeat("a", 3000) + `</loc></url><url><loc>http://a/</loc></url></urlset>`, []string{"http://a/"}},
		{"relative", `<urlset><url><loc>2?a</loc></url><url><loc>//b.example/</loc></url></urlset>`, []string{"https://a.example/maps/2?a", "https://b.example/"}},
		{"priorities", `<urlset><url><loc>http://a/1</loc><priority>7</priority></url><url><loc>http://a/2</loc><priority>-1</priority></url><url><loc>http://a/3</loc><priority>NaN</priority></url><url><loc>http://a/4</loc><priority>high</priority></url></urlset>`,
			[]string{"http://a/1 1", "http://a/2 0", "http://a/3", "http://a/4"}},
		{"entities", `<urlset><url><loc>http://a/?a&#38;b&#x26;c&lt;&apos;&quot;&gt;</loc></url></urlset>`, []string{"http://a/?a&b&c%3C%27%22%3E"}},
		{"unescaped", `<urlset><url><loc>http://a/?a=1&section=2&b;&</loc></url><url><loc>http://a/?&&unknown;&#xZ;&#;</loc></url></urlset>`, []string{"http://a/?a=1&section=2&b;&", "http://a/?&&unknown;&"}},
		{"CDATA and comments", `<urlset><!-- <url><loc>http://a/0</loc></url> --><url><loc><![CDATA[http://a/?a&amp;]]><!-- x --><![CDATA[<b>]]></loc></url></urlset>`, []string{"http://a/?a&amp;%3Cb%3E"}},
		{"document type", `<!DOCTYPE urlset [<!ENTITY a "http://evil/"><!ENTITY b SYSTEM "file:///etc/passwd">]><urlset><url><loc>&a;</loc></url><url><loc>http://a/&b;</loc></url></urlset>`,
			[]string{"https://a.example/maps/&a;", "http://a/&b;"}},
		{"behind the root", `<urlset><url><loc>http://a/</loc></url></urlset></urlset><rss>`, []string{"http://a/"}},
		{"mark and space", "\uFEFF \r\n\t<urlset><url><loc>http://a/</loc></url></urlset>", []string{"http://a/"}},
		{"Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a/\xe9</loc></url></urlset>", []string{"http://a/%C3%A9"}},
		{"unknown encoding", "<?xml version='1.0' encoding='klingon'?><urlset><url><loc>http://a/</loc></url></urlset>", []string{"http://a/"}},
		{"RSS 2.0", `<rss version="2.0"><channel><title>t</title><link>http://a/</link><atom:link href="http://a/feed" rel="self"/>
			<item><title/><atom:link rel="self" href="http://a/0"/><link>http://a/1</link><guid>http://a/g</guid><pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate><description><![CDATA[<a href="x">]]></description></item>
			<item><link></link><guid>http://a/2</guid></item><item><guid isPermaLink="false">http://a/no</guid></item><item><guid>77</guid></item></channel></rss>`,
			[]string{"http://a/1 2003-06-03T09:39:21Z", "http://a/2"}},
		{"RSS 0.91", `<rss version="0.91"><channel><item><title>t</title><link>http://a/1</link></item></channel></rss>`, []string{"http://a/1"}},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="x"><channel rdf:about="http://a/"><link>http://a/</link><items><rdf:Seq><rdf:li resource="http://a/1"/></rdf:Seq></items></channel>
			<item rdf:about="http://a/1"><link>http://a/1</link><dc:date>2001-02-03</dc:date></item></rdf:RDF>`, []string{"http://a/1 2001-02-03T00:00:00Z"}},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a/"/><updated>2003-12-13T18:30:02Z</updated>
			<entry><link rel="self" href="http://a/s"/><link rel="enclosure" href="http://a/e"/><link rel="alternate" href="/1?a&amp;b"/><link href="http://a/x"/><published>2002-01-01T00:00:00Z</published><updated>2003-12-13T18:30:02.25Z</updated>
			<content type="xhtml"><div><a href="http://a/c"/></div></content><source><link href="http://b/"/></source></entry>
			<entry><link href="http://a/2"></link><published>2002-01-01T00:00:00Z</published></entry></feed>`,
			[]string{"https://a.example/1?a&b 2003-12-13T18:30:02Z", "http://a/2 2002-01-01T00:00:00Z"}},
		{"text", "\uFEFFhttp://a/1\r\n  http://a/2  \n\n# no address\n/relative\nftp://a/\nhttp://a/3", []string{"http://a/1", "http://a/2", "http://a/3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"plain": strings.NewReader(test.text), "by bytes": iotest.OneByteReader(strings.NewReader(test.text)), "gzip": bytes.NewReader(zipped(test.text)),
			} {
				got, err := read(t, r)
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: %s", how, diff)
				}
			}
		})
	}
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

func TestBroken(t *testing.T) {
	const one = "<urlset><url><loc>http://a/1</loc></url>"
	for _, test := range []struct {
		name string
		in   io.Reader
		want string // text in the error; entries before the fault are yielded
	}{
		{"nothing", strings.NewReader(""), "neither XML nor a list of addresses"},
		{"space", strings.NewReader(" \n "), "neither XML nor a list of addresses"},
		{"a page", strings.NewReader("<!doctype html><html><body>not found"), "behind byte 15: begins with <html>"},
		{"binary", bytes.NewReader(make([]byte, 2*bufferSize)), "behind line 0: bufio.Scanner: token too long"},
		{"comment alone", strings.NewReader("<!-- -->"), "behind byte 8: ends before it begins"},
		{"cut", strings.NewReader(one + "<url><loc>http://a/2"), "behind byte 60: ends within <loc>"},
		{"cut in a tag", strings.NewReader(one + "<url><lo"), "ends within <url>"},
		{"wrong end", strings.NewReader(one + "<url><loc>http://a/2</url></urlset>"), "behind byte 60: </url> closes no <loc>"},
		{"end too many", strings.NewReader("</urlset>" + one), "behind byte 0: </urlset> closes no <>"},
		{"deep", strings.NewReader(one + strings.Repeat("<a>", 200)), "behind byte 337: more than 100 elements within each other"},
		{"long token", strings.NewReader(one + "<url><loc>" + strings.Repeat("a", 2*maxToken)), "max buffer exceeded"},
		{"long attribute", strings.NewReader(one + "<url a='" + strings.Repeat("a", 2*maxToken)), "behind byte 40: max buffer exceeded"},
		{"cut gzip", bytes.NewReader(zipped(one)[:60]), "unexpected EOF"},
		{"bad gzip", strings.NewReader("\x1f\x8bnonsense"), "gzip: invalid header"},
		{"failing reader", io.MultiReader(strings.NewReader(one), iotest.ErrReader(errors.New("line cut"))), "behind byte 40: line cut"},
		{"reader fails at once", iotest.ErrReader(errors.New("line cut")), "line cut"},
		{"too large", io.MultiReader(strings.NewReader("http://a/1\n"), longLines()), ": more than 52428800 bytes"},
		{"too large behind gzip", bytes.NewReader(bomb(t)), ": more than 52428800 bytes"},
		{"too many", io.MultiReader(strings.NewReader("<urlset>"), filler("<url><loc>http://a/1</loc></url>")), "more than 50000 entries"},
		{"too many lines", filler("http://a/1\n"), "more than 50000 entries"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := read(t, test.in)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "cannot read sitemap https://a.example/maps/1.xml: ") {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if len(got) > MaxEntries || len(got) > 1 && !strings.HasPrefix(test.name, "too many") {
				t.Errorf("%d entries", len(got))
			}
		})
	}
	for _, tail := range []string{"<url>", "</x>", "<url><loc>http://a/2</loc>"} {
		if got, err := read(t, strings.NewReader(one+tail)); err == nil || !cmp.Equal(got, []string{"http://a/1"}) {
			t.Errorf("before %q: %q, %v", tail, got, err)
		}
	}
}

// filler returns a reader that repeats a text without end.
func filler(text string) io.Reader { return &endless{text: text} }

func longLines() io.Reader { return filler(strings.Repeat("0", bufferSize-1) + "\n") }

type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.text[e.at:])
		n, e.at = n+c, (e.at+c)%len(e.text)
	}
	return n, nil
}

func bomb(t *testing.T) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = io.WriteString(z, "http://a/1\n")
	if _, err := io.CopyN(z, longLines(), MaxBytes); err != nil {
		t.Fatal(err)
	}
	_ = z.Close()
	return b.Bytes()
}

func TestStop(t *testing.T) {
	n := 0
	for range Parse(filler("http://a/1\n"), parsed(t, "http://a/")) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d entries", n)
	}
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"2005":                              "2005-01-01T00:00:00Z",
		"2005-06":                           "2005-06-01T00:00:00Z",
		"2005-06-07":                        "2005-06-07T00:00:00Z",
		"2005-06-07T19:20+01:00":            "2005-06-07T18:20:00Z",
		"2005-06-07T19:20:30Z":              "2005-06-07T19:20:30Z",
		"2005-06-07T19:20:30.45+01:00":      "2005-06-07T18:20:30Z",
		"2005-06-07T19:20:30+0100":          "2005-06-07T18:20:30Z",
		"2005-06-07T19:20:30":               "2005-06-07T19:20:30Z",
		"2005-06-07 19:20:30":               "2005-06-07T19:20:30Z",
		"2005-06-07 19:20:30 +0100":         "2005-06-07T18:20:30Z",
		"Sun, 06 Nov 1994 08:49:37 GMT":     "1994-11-06T08:49:37Z",
		"Sun, 6 Nov 1994 08:49:37 +0200":    "1994-11-06T06:49:37Z",
		"06 Nov 94 08:49 EST":               "1994-11-06T13:49:00Z",
		"Sunday, 06-Nov-94 08:49:37 GMT":    "1994-11-06T08:49:37Z",
		"Wed, 02 Oct 2002 08:00:00 PDT":     "2002-10-02T15:00:00Z",
		"":                                  "",
		"yesterday":                         "",
		"2005-13-01":                        "",
		"Sun, 06 Nov 1994 08:49:37 Klingon": "",
	} {
		got := parseDate(text)
		if want == "" && !got.IsZero() || want != "" && got.Format(time.RFC3339) != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<urlset><url><loc>http://a/?a&amp;b</loc><lastmod>2005-01-01</lastmod><priority>0.8</priority></url>`))
	f.Add([]byte(`<rss><channel><item><link>x</link><guid isPermaLink=false>http://a/</guid><pubDate>Sun, 06 Nov 94 08:49 GMT</pubDate></item>`))
	f.Add([]byte(`<feed><entry><link href='/&#x26;'/></entry></feed>`))
	f.Add([]byte("<?xml encoding='utf-16'?><sitemapindex><sitemap><loc><![CDATA[a]]></loc></sitemap>"))
	f.Add([]byte("http://a/\r\nhttp://b"))
	f.Add(zipped("<rdf:RDF><item><link>http://a/"))
	f.Fuzz(func(t *testing.T, text []byte) {
		failed := false
		for e, err := range Parse(bytes.NewReader(text), parsed(t, "https://a.example/")) {
			if failed {
				t.Fatal("something comes behind the error")
			}
			failed = err != nil
			if failed {
				continue
			}
			if again, err := address.Parse(e.Address.URL); err != nil || again != e.Address {
				t.Errorf("address %q is not canonical: %v", e.Address.URL, err)
			}
			if !(e.Priority >= 0 && e.Priority <= 1) {
				t.Errorf("priority %g", e.Priority)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	var text bytes.Buffer
	text.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	const entries = 10_000
	for i := range entries {
		fmt.Fprintf(&text, "<url>\n  <loc>https://a.example/docs/16/page-%d.html</loc>\n  <lastmod>2024-05-06T07:08:09+00:00</lastmod>\n  <changefreq>weekly</changefreq>\n  <priority>0.8</priority>\n</url>\n", i)
	}
	text.WriteString("</urlset>")
	list := parsed(b, "https://a.example/sitemap.xml")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Parse(bytes.NewReader(text.Bytes()), list) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*entries), "ns/entry")
}
